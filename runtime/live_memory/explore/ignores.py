"""The rules of a .gitignore file, matched as ripgrep matches them. Pure: it is given the file's lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

from live_memory.explore.globs import GlobInvalid, to_regex

Verdict: TypeAlias = Literal["ignored", "kept"]


@dataclass(frozen=True, slots=True)
class _Rule:
    regex: str
    verdict: Verdict
    is_for_folders: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring rules of one verdict, as one expression for folders and one for files."""

    verdict: Verdict
    folders: re.Pattern[str]
    files: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one file; the last that matches a path decides."""

    groups: tuple[_Group, ...] = ()

    def verdict(self, path: str, kind: Literal["file", "folder"]) -> Verdict | None:
        """What the rules say of `path`, relative to the folder they lie in; None when they say nothing."""
        path = _in_bytes(path)
        for group in self.groups:
            regex = group.folders if kind == "folder" else group.files
            if regex is not None and regex.fullmatch(path):
                return group.verdict
        return None


def parse(lines: Iterable[str]) -> IgnoreRules:
    """The rules in `lines`; a line that is no glob counts as none."""
    rules = [rule for rule in map(_rule, lines) if rule]
    groups = []
    for verdict, same in groupby(reversed(rules), key=lambda rule: rule.verdict):
        members = list(same)
        files = [rule.regex for rule in members if not rule.is_for_folders]
        groups.append(_Group(verdict, _either(r.regex for r in members), _either(files) if files else None))
    return IgnoreRules(tuple(groups))


def _in_bytes(text: str) -> str:
    """One character a byte: `?` and `[…]` take a byte in git's globs."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


def _either(regexes: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{regex})" for regex in regexes), re.DOTALL)


def _rule(line: str) -> _Rule | None:
    glob = _in_bytes(line.rstrip("\r\n"))
    stripped = glob.rstrip(" \t")
    glob = stripped + glob[len(stripped) :][:1] if stripped.endswith("\\") else stripped
    if not glob or glob.startswith("#"):
        return None
    verdict: Verdict = "ignored"
    if glob.startswith("!"):
        verdict, glob = "kept", glob[1:]
    is_for_folders = glob.endswith("/")
    glob = glob.removesuffix("/") if is_for_folders else glob
    if glob.startswith("/"):
        glob = glob[1:]
    elif "/" not in glob:
        glob = f"**/{glob}"
    if glob.endswith("/**"):
        glob += "/*"
    try:
        regex = to_regex(glob)
        re.compile(regex)
    except (GlobInvalid, re.error):
        return None
    return _Rule(regex, verdict, is_for_folders)
