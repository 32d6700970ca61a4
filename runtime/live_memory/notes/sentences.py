"""A note's text as sentences: by full stops, lines and list marks of any script. Pure."""

from __future__ import annotations

import re

_END = re.compile(r"(?<=[.!?])\s+|[\n。！？；;]+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of `text` in order, without the marks of list items; empty ones left out."""
    parts = (_BULLET.sub("", part).strip() for part in _END.split(text))
    return tuple(part for part in parts if part)
