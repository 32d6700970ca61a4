"""Globs as ripgrep and .gitignore read them, turned into regular expressions. Pure.

`*` and `?` stay within a path component, `**` as a whole component crosses them, `{a,b}` and `[a-z]` choose.

A repository's .gitignore and a model's pattern are strangers' text, and Python's engine holds every thread while it matches. So
what a star has found is not looked for again (`(?>…)`): what follows another star of its kind may as well begin at the first
place, and time grows with the path's length, not with a power of it. Braces become a bounded list of globs without any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

MAX_CHOICES = 256
MAX_DEPTH = 20
MAX_LOOSE_CLASSES = 3  # a class that may be a `/` is looked for again and again

Kind: TypeAlias = Literal["char", "slash", "star", "folders", "rest"]


class GlobInvalid(ValueError):
    """The text is no glob; the message says why."""


@dataclass(frozen=True, slots=True)
class _Token:
    """`*` is a star, `**/` folders, a `**` at the end the rest; anything else takes one character."""

    kind: Kind
    regex: str = ""

    @property
    def is_loose(self) -> bool:
        """Whether it may be a `/` beside other characters."""
        return self.kind == "char" and re.fullmatch(self.regex, "/") is not None


_Tokens: TypeAlias = "tuple[_Token, ...]"


def to_regex(glob: str) -> str:
    """The regular expression, for `fullmatch`, of paths that `glob` names. GlobInvalid."""
    choices, at = _choices(glob, 0, depth=0)
    assert at == len(glob)
    if any(sum(token.is_loose for token in tokens) > MAX_LOOSE_CLASSES for tokens in choices):
        raise GlobInvalid("it has too many [ ] that a / fits")
    regexes = [_regex(tokens) for tokens in choices]
    return regexes[0] if len(regexes) == 1 else f"(?:{'|'.join(regexes)})"


def _choices(glob: str, at: int, depth: int) -> tuple[list[_Tokens], int]:
    """The token lists that the text from `at` stands for, up to its end or the `}` that closes its brace, and where
    that is."""
    if depth > MAX_DEPTH:
        raise GlobInvalid(f"its braces are nested more than {MAX_DEPTH} deep")
    done: list[_Tokens] = []
    here: list[_Tokens] = [()]
    while at < len(glob):
        char = glob[at]
        if char == "{":
            inner, at = _choices(glob, at + 1, depth + 1)
            here = [(*before, *after) for before in here for after in inner]
        elif char == "}":
            if not depth:
                raise GlobInvalid("a } has no {")
            return [*done, *here], at + 1
        elif char == "," and depth:
            done, here, at = [*done, *here], [()], at + 1
        else:
            token, at = _token(glob, at)
            here = [(*before, token) for before in here]
        if len(here) + len(done) > MAX_CHOICES:
            raise GlobInvalid(f"its braces stand for more than {MAX_CHOICES} globs")
    if depth:
        raise GlobInvalid("a { is not closed")
    return here, at


def _token(glob: str, at: int) -> tuple[_Token, int]:
    char = glob[at]
    if char == "\\":
        if at + 1 == len(glob):
            raise GlobInvalid("it ends in a lone backslash")
        return _plain(glob[at + 1]), at + 2
    if char == "*":
        return _stars(glob, at)
    if char == "[":
        return _class(glob, at)
    return (_Token("char", "[^/]") if char == "?" else _plain(char)), at + 1


def _plain(char: str) -> _Token:
    return _Token("slash", "/") if char == "/" else _Token("char", re.escape(char))


def _stars(glob: str, at: int) -> tuple[_Token, int]:
    end = at
    while end < len(glob) and glob[end] == "*":
        end += 1
    starts = at == 0 or glob[at - 1] in "/{,"
    if end - at != 2 or not starts:  # noqa: PLR2004  # only `**` alone crosses folders
        return _Token("star"), end
    if end == len(glob):
        return _Token("rest"), end
    if glob[end] == "/":
        return _Token("folders"), end + 1
    return _Token("star"), end


def _class(glob: str, at: int) -> tuple[_Token, int]:
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
    try:
        return _Token("char", _compiled(f"[{'^/' if negated else ''}{escaped}]")), end + 1
    except re.error as error:
        raise GlobInvalid(f"a [ ] is none ({error})") from None


def _compiled(regex: str) -> str:
    re.compile(regex)
    return regex


def _regex(tokens: _Tokens) -> str:
    """What stands before the first `**/`, and then each stretch between two of them, sought once if it is whole folders."""
    stretches: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == "folders":
            stretches.append([])
        else:
            stretches[-1].append(token)
    first, *others = stretches
    parts = ["".join(_components(first))]
    for number, stretch in enumerate(others, start=1):
        text = "".join(_components(stretch))
        is_whole = not stretch or (stretch[-1].kind == "slash" and not any(token.is_loose for token in stretch))
        is_last = number == len(others)
        parts.append(f"(?:.*/)?{text}" if is_last or not is_whole else f"(?>(?:.*?/)??{text})")
    return "".join(parts)


def _components(tokens: list[_Token]) -> Iterator[str]:
    for is_slash, group in groupby(tokens, key=lambda token: token.kind == "slash"):
        members = list(group)
        yield "/" * len(members) if is_slash else _component(members)


def _component(tokens: list[_Token]) -> str:
    """The text before the first star, and then each piece between two of them, sought once."""
    pieces: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == "star":
            pieces.append([])
        else:
            pieces[-1].append(token)
    first, *others = pieces
    parts = [_fixed(first)]
    for number, piece in enumerate(others, start=1):
        is_sought_once = number < len(others) and not any(token.is_loose for token in piece)
        parts.append(f"(?>[^/]*?{_fixed(piece)})" if is_sought_once else f"[^/]*{_fixed(piece)}")
    return "".join(parts)


def _fixed(tokens: list[_Token]) -> str:
    return "".join(".*" if token.kind == "rest" else token.regex for token in tokens)
