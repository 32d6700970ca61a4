"""Globs as ripgrep and .gitignore read them, turned into regular expressions. Pure.

`*` and `?` stay within a path component, `**` as a whole component crosses them, `{a,b}` and `[a-z]` choose.
"""

from __future__ import annotations

import re


class GlobInvalid(ValueError):
    """The text is no glob; the message says why."""


def to_regex(glob: str) -> str:
    """The regular expression, for `fullmatch`, of paths that `glob` names. GlobInvalid."""
    parts: list[str] = []
    depth, at = 0, 0
    while at < len(glob):
        char = glob[at]
        if char == "\\":
            if at + 1 == len(glob):
                raise GlobInvalid("it ends in a lone backslash")
            parts.append(re.escape(glob[at + 1]))
            at += 2
        elif char == "*":
            text, at = _stars(glob, at)
            parts.append(text)
        elif char == "[":
            text, at = _class(glob, at)
            parts.append(text)
        elif char in "{},":
            if char == "}" and not depth:
                raise GlobInvalid("a } has no {")
            depth += {"{": 1, "}": -1}.get(char, 0)
            parts.append({"{": "(?:", "}": ")", ",": "|" if depth else ","}[char])
            at += 1
        else:
            parts.append("[^/]" if char == "?" else re.escape(char))
            at += 1
    if depth:
        raise GlobInvalid("a { is not closed")
    return "".join(parts)


def _stars(glob: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(glob) and glob[end] == "*":
        end += 1
    starts = at == 0 or glob[at - 1] in "/{,"
    if end - at != 2 or not starts:  # noqa: PLR2004  # only `**` alone crosses folders
        return "[^/]*", end
    if end == len(glob):
        return ".*", end
    if glob[end] == "/":
        return "(?:.*/)?", end + 1
    return "[^/]*", end


def _class(glob: str, at: int) -> tuple[str, int]:
    inside = at + 1
    negated = glob[inside : inside + 1] in {"!", "^"} and glob[inside : inside + 1] != ""
    inside += negated
    end = glob.find("]", inside + 1)  # a `]` that comes first is a member
    if end < 0:
        raise GlobInvalid("a [ is not closed")
    members = glob[inside:end]
    for low, high in re.findall(r"(.)-(.)", members, re.DOTALL):
        if low > high:
            raise GlobInvalid(f"the range {low}-{high} runs backwards")
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
    return f"[{'^/' if negated else ''}{escaped}]", end + 1
