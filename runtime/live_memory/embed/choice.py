"""Which embedder the settings ask for."""

from __future__ import annotations

from live_memory.embed.http import (
    OLLAMA,
    OLLAMA_ADDRESS,
    OLLAMA_MODEL,
    OPENAI,
    OPENAI_ADDRESS,
    OPENAI_MODEL,
    HttpEmbedder,
)
from live_memory.embed.local import LocalEmbedder, Packages
from live_memory.memory.embedding import Embedder
from live_memory.settings import Settings


def embedder_of(settings: Settings, packages: Packages) -> Embedder | None:
    """The embedder that `semantic` names; None where it is off."""
    address, model, key = settings.semantic_base_url, settings.semantic_model, settings.semantic_api_key
    match settings.semantic:
        case "local":
            return LocalEmbedder(packages)
        case "ollama":
            return HttpEmbedder(OLLAMA, address or OLLAMA_ADDRESS, model or OLLAMA_MODEL, key)
        case "endpoint":
            return HttpEmbedder(OPENAI, address or OPENAI_ADDRESS, model or OPENAI_MODEL, key)
        case _:
            return None
