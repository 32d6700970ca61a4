"""A llama model of random weights with SmolLM2's tokenizer: junk for words, but a real prefill and a real cache, at once.

`python random_model.py SMOLLM2.gguf OUT.gguf`, run by the interpreter of the environment that support/llama.py makes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gguf  # type: ignore[import-not-found]  # lives in the environment that runs this
import numpy as np  # type: ignore[import-not-found]

LAYERS, WIDTH, HEADS, KV_HEADS, INNER = 2, 128, 4, 2, 256
CONTEXT_TOKENS = 32768


def _write(source: gguf.GGUFReader, path: Path) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    words = len(source.fields["tokenizer.ggml.tokens"].data)
    writer.add_context_length(CONTEXT_TOKENS)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(100000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(words)
    for name, field in source.fields.items():
        if name.startswith("tokenizer."):
            element = field.types[1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), field.types[0], sub_type=element)
    for name, shape in _tensors(words).items():
        writer.add_tensor(name, _weights(name, shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(words: int) -> dict[str, tuple[int, ...]]:
    tensors: dict[str, tuple[int, ...]] = {"token_embd.weight": (words, WIDTH), "output_norm.weight": (WIDTH,)}
    narrow = KV_HEADS * WIDTH // HEADS
    for layer in range(LAYERS):
        shapes = {
            "attn_norm": (WIDTH,),
            "ffn_norm": (WIDTH,),
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (narrow, WIDTH),
            "attn_v": (narrow, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_gate": (INNER, WIDTH),
            "ffn_up": (INNER, WIDTH),
            "ffn_down": (WIDTH, INNER),
        }
        tensors |= {f"blk.{layer}.{name}.weight": shape for name, shape in shapes.items()}
    return tensors


def _weights(name: str, shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) == 1:
        return np.ones(shape, np.float32)
    seed = sum(name.encode())
    return (np.random.default_rng(seed).standard_normal(shape) * 0.05).astype(np.float16)


def main(source: str, made: str) -> None:
    staging = Path(made).with_suffix(".new")
    _write(gguf.GGUFReader(source), staging)
    staging.replace(made)


main(*sys.argv[1:])
