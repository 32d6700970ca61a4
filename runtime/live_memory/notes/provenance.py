"""Which files a fact rests on: those that it names, in full or by the end of their path. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

MAX_NAMESAKES = 4  # a name that more files than this bear says nothing about any of them
# A path as prose writes it, up to a line number or closing punctuation.
NAME = re.compile(r"[\w.@+~$-]+(?:[/\\][\w.@+~$()\[\]-]+)*")


class Provenance:
    """The files that facts may be attributed to: path → SHA-256 of what was seen of them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._by_name: dict[str, list[str]] = {}
        for path in files:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def sources(self, line: str) -> dict[str, str]:
        """The files that `line` names, with their hashes; empty when it names none, or only names that many bear."""
        found: dict[str, str] = {}
        for match in NAME.finditer(line):
            for path in self._named(match.group()):
                found[path] = self._files[path]
        return found

    def _named(self, written: str) -> Iterator[str]:
        name = written.replace("\\", "/").strip("-").removeprefix("./").lstrip("/").rstrip(".")
        tail = "/" + name
        paths = [path for path in self._by_name.get(name.rpartition("/")[2], ()) if ("/" + path).endswith(tail)]
        if name in self._files:
            yield name
        elif len(paths) <= MAX_NAMESAKES:
            yield from paths
