"""Inputs bent out of shape: JSON values whose parts are replaced by what nobody expects, and bytes that are no JSON any more.
Everything follows from a `random.Random`, so that a case is known by its number."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

# In place of a path: out of the tree by every road there is.
PATHS: tuple[str, ...] = (
    "",
    ".",
    "..",
    "/",
    "//",
    "../canary.py",
    "../../../../../../etc/passwd",
    "/etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "/dev/stdin",
    "~",
    "~/.ssh/id_rsa",
    "src/../../canary.py",
    "link_out/canary.py",
    "link_file.py",
    "link_loop",
    "pipe",
    ".env",
    ".ENV",
    ".git/config",
    ".GIT/HEAD",
    "git~1/config",
    "src\\..\\..\\canary.py",
    "C:\\Windows\\win.ini",
    "\\\\host\\share\\x",
    "//host/share/x",
    "file:///etc/passwd",
    "a\0b.py",
    "caf\udce9.py",
    "\ud800.py",
    "e\u0301.py",
    "line\nbreak.py",
    "\u202egnp.py",
    "x" * 300,
    "x/" * 3000,
    "*",
    "src/**/*.py",
    "-rf",
    "--pre=sh",
    "$(id)",
    "`id`;id",
    "%2e%2e/canary.py",
)
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1e308,
    -0.0,
    2**63,
    10**400,
    "",
    " ",
    "\0",
    "\ud83d",
    "x" * 5000,
    "\u0301" * 50,
    [],
    {},
    [[]],
    [None],
    {"": None},
    [[[[[[[[[[[[]]]]]]]]]]]],
)
DEEP = 3000  # brackets inside each other


class Mutator:
    """Makes one input of another. `paths` are added to PATHS: absolute ones of the place at hand."""

    def __init__(self, luck: random.Random, paths: Sequence[str] = ()) -> None:
        self.luck = luck
        self._paths = (*PATHS, *paths)

    def path(self) -> str:
        return self.luck.choice(self._paths)

    def bent(self, value: Any) -> Any:
        """`value` with one to three of its parts replaced, dropped, doubled or renamed."""
        bent = deepcopy(value)
        for _ in range(self.luck.choice((1, 1, 2, 3))):
            bent = self._bend(bent)
        return bent

    def encoded(self, value: Any) -> bytes:
        """`value` as JSON in UTF-8, now and then broken."""
        text = json.dumps(value, ensure_ascii=self.luck.random() < 0.5)
        content = text.encode("utf-8", "surrogatepass")
        if self.luck.random() < 0.8:  # four of five stay whole
            return content
        return self.luck.choice(self._breaks())(content)

    def _bend(self, value: Any) -> Any:
        if isinstance(value, dict) and value and self.luck.random() < 0.85:  # else all of it
            return self._bend_fields(value)
        if isinstance(value, list) and value and self.luck.random() < 0.85:  # else all of it
            return self._bend_items(value)
        if isinstance(value, str) and self.luck.random() < 0.7:  # else something odd
            return self._bend_text(value)
        return self.luck.choice((self.path(), deepcopy(self.luck.choice(ODD))))

    def _bend_fields(self, value: dict[str, Any]) -> dict[str, Any]:
        name = self.luck.choice(list(value))
        deed = self.luck.randrange(6)
        if deed == 0:
            del value[name]
        elif deed == 1:
            value[self._bend_text(name)] = value.pop(name)
        else:
            value[name] = self._bend(value[name])
        return value

    def _bend_items(self, value: list[Any]) -> list[Any]:
        at = self.luck.randrange(len(value))
        deed = self.luck.randrange(6)
        if deed == 0:
            return value[:at]
        if deed == 1:
            return value * self.luck.choice((2, 3, 40))
        value[at] = self._bend(value[at])
        return value

    def _bend_text(self, text: str) -> str:
        at = self.luck.randrange(len(text) + 1)
        other = self.luck.choice((self.path(), "\0", "\n", "..", "/", "\\", "\ud800", "\u2028", "'", '"', "</file>"))
        return self.luck.choice((other, text[:at] + other + text[at:], text[:at], text * 2, text.swapcase()))

    def _breaks(self) -> tuple[Callable[[bytes], bytes], ...]:
        luck = self.luck

        def cut(content: bytes) -> bytes:
            return content[: luck.randrange(len(content) + 1)]

        def flipped(content: bytes) -> bytes:
            flipped = bytearray(content)
            for _ in range(luck.choice((1, 4, 30))):
                if flipped:
                    flipped[luck.randrange(len(flipped))] = luck.randrange(256)
            return bytes(flipped)

        return (
            cut,
            flipped,
            lambda content: b"\xef\xbb\xbf" + content,
            lambda content: content * 2,
            lambda content: content.decode("utf-8", "replace").encode("utf-16"),
            lambda content: b"[" * DEEP + content + b"]" * DEEP,
            lambda content: content.replace(b'"', b"'"),
            lambda content: content.replace(b":", b": NaN, ", 1),
            lambda _content: luck.randbytes(luck.randrange(200)),
            lambda _content: b"",
        )
