"""Globs: what they match, and that no glob and no path takes more than a moment together."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from live_memory.explore.globs import GlobInvalid, to_regex


def is_named(glob: str, path: str) -> bool:
    return re.fullmatch(to_regex(glob), path, re.DOTALL) is not None


def plainly(glob: str) -> str:
    """The same by the book: every wildcard may take anything it can, and is tried again and again."""
    parts: list[str] = []
    depth = at = 0
    while at < len(glob):
        stars = re.match(r"\*+", glob[at:])
        if stars:
            end = at + len(stars[0])
            crosses = stars[0] == "**" and (at == 0 or glob[at - 1] in "/{,")
            if crosses and end == len(glob):
                parts.append(".*")
            elif crosses and glob[end] == "/":
                parts.append("(?:.*/)?")
                end += 1
            else:
                parts.append("[^/]*")
            at = end
            continue
        char = glob[at]
        depth += {"{": 1, "}": -1}.get(char, 0)
        parts.append(
            {"{": "(?:", "}": ")", "?": "[^/]"}.get(char) or ("|" if char == "," and depth else re.escape(char))
        )
        at += 1
    return "".join(parts)


@given(st.text(alphabet="ab*?/{},", max_size=12), st.text(alphabet="ab/", max_size=10))
@example("*a*ab", "aaab")
@example("**/a/**/b", "a/x/a/b")
@example("**/*a*b/**/b", "aab/x/b")
@example("{a,**/b}*a", "a/ba")
@example("**/a{**/b,c}", "a/ab")
@settings(max_examples=400, deadline=None)
def test_a_path_is_named_as_by_the_book(glob: str, path: str) -> None:
    try:
        regex = to_regex(glob)
    except GlobInvalid:
        assume(False)
    assert (re.fullmatch(regex, path, re.DOTALL) is None) == (re.fullmatch(plainly(glob), path, re.DOTALL) is None)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*[a/]*x", "ba/x", True),
        ("[!a]*[!b]*c", "bcac", True),
        ("\\*\\[", "*[", True),
        ("{src,lib}/**/*.{py,ts}", "lib/a/b/c.ts", True),
        ("{src,lib}/**/*.{py,ts}", "lib/a/b/c.js", False),
    ],
)
def test_classes_escapes_and_braces_choose(glob: str, path: str, expected: bool) -> None:
    assert is_named(glob, path) is expected


@pytest.mark.parametrize(
    "glob",
    [
        "*a" * 40 + "*b",
        "**/" + "*a" * 40 + "*b",
        "**/a/" * 40 + "b",
        "**/" * 40 + "b",
        "**/*a*/" * 20 + "b",
        "*?" * 100 + "b",
        "*[a-z]" * 40 + "*b",
        "{*a,*b}" * 8 + "c",
    ],
)
def test_no_glob_takes_more_than_a_moment(glob: str) -> None:
    # No clock: tried again and again these would take longer than the universe is old.
    for path in ("a" * 4000, "a/" * 2000, "aa/" * 1300):
        assert not is_named(glob, path)


@pytest.mark.parametrize(
    "glob", ["{a,b}" * 9, "{" * 5000, "{" * 300 + "}" * 299, "*[a/]" * 4, "[z-a]", "[a", "a\\", "}", "{a"]
)
def test_what_is_no_glob_or_stands_for_too_many_is_refused(glob: str) -> None:
    with pytest.raises(GlobInvalid):
        to_regex(glob)
