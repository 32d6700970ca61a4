"""What it takes to look for secrets in a text, how text made to be slow fares, how many random keys are passed over, and how much
of the standard library's source is taken for a secret."""

from __future__ import annotations

import hashlib
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from bench.table import Row, median
from support.secrets_corpus import ALNUM, B64, HEX, HOSTILE, LOWER, Maker, planted

from live_memory.text.randomness import is_random
from live_memory.text.secrets import cleaned, redact

SIZE_CHARS = 1 << 18
ROUNDS = 5
KEYS = 20_000
KEY_SHAPES = {"20 letters and digits": (ALNUM, 20), "30": (ALNUM, 30), "40 of base64": (B64, 40), "32 hex": (HEX, 32)}
LOWER_CHARS = 30


def run() -> list[Row]:
    sources = [
        path.read_text("utf-8", "replace") for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    ]
    code = "".join(sources)[:SIZE_CHARS]
    secrets = "\n".join(plant.text for seed in range(40) for plant in planted(seed))[:SIZE_CHARS]
    rows = [
        Row("256 KB of Python's own source, p50", _ms(redact, code), f"SHA-256 of it: {_ms(_digest, code)}"),
        Row("256 KB of nothing but secrets, p50", _ms(redact, secrets), f"SHA-256 of it: {_ms(_digest, secrets)}"),
        _slowest(),
    ]
    missed = {name: _missed(alphabet, length) for name, (alphabet, length) in KEY_SHAPES.items()}
    missed["30 of lower case and digits"] = _missed(LOWER, LOWER_CHARS)
    rows.append(Row("random values behind a secret's name that are passed over", _listed(missed)))
    found = sum(cleaned(text).count for text in sources)
    rows.append(Row(f"taken for secrets in {sum(map(len, sources)) / 1e6:.1f} MB of the standard library", f"{found}"))
    return rows


def _slowest() -> Row:
    """The slowest of the hostile texts at two sizes: time that grows with the length alone is four times as long."""
    took_s = {piece: _took_s(redact, _filled(piece, SIZE_CHARS)) for piece in HOSTILE}
    piece = max(took_s, key=lambda each: took_s[each])
    short_s = _took_s(redact, _filled(piece, SIZE_CHARS // 4))
    figure = f"{took_s[piece] * 1000:.0f} ms for {piece[:12]!r}"
    return Row("256 KB made to be slow, the slowest", figure, f"64 KB of it: {short_s * 1000:.0f} ms")


def _filled(piece: str, length: int) -> str:
    return (piece * (1 + length // len(piece)))[:length]


def _missed(alphabet: str, length: int) -> float:
    make = Maker(7)
    return sum(not is_random(make(alphabet, length)) for _ in range(KEYS)) / KEYS


def _listed(shares: dict[str, float]) -> str:
    return ", ".join(f"{name}: {share:.2%}" for name, share in shares.items())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _ms(work: Callable[[str], str], text: str) -> str:
    return f"{median([_took_s(work, text) for _ in range(ROUNDS)]) * 1000:.1f} ms"


def _took_s(work: Callable[[str], str], text: str) -> float:
    began_s = time.perf_counter()
    work(text)
    return time.perf_counter() - began_s
