"""llama.cpp's own server in a process of its own: `python llama_server.py MODEL.gguf CONTEXT_TOKENS [TEMPLATE.jinja]`.

Run by the interpreter of the environment that support/llama.py makes. Prints its address as the first line, and ends
when its standard input does, so that it never outlives the test that started it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import xllamacpp  # type: ignore[import-not-found]  # lives in the environment that runs this


def main(model: str, context_tokens: str, template: str = "") -> None:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = int(context_tokens)
    params.n_parallel = 1
    params.cache_ram_mib = 0  # one prefix is kept, so cached tokens measure prefix discipline alone
    params.use_jinja = True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) // 2)  # threads spin
    if template:
        params.chat_template = Path(template).read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main(*sys.argv[1:])
