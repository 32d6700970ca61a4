"""Which places are found in an answer, and which look-alikes are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.text.citations import MAX_CITATIONS, find_references


def places(text: str) -> list[tuple[str, int, int]]:
    return [(reference.paths[-1], reference.line_start, reference.line_end) for reference in find_references(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It starts in src/main.py:12.", [("src/main.py", 12, 12)]),
        ("It starts in `src/main.py:12-40`, as said.", [("src/main.py", 12, 40)]),
        ("(src/main.py:12\u201340)", [("src/main.py", 12, 40)]),
        ("**src/main.py:12**", [("src/main.py", 12, 12)]),
        ("[the start](src/main.py:12)", [("src/main.py", 12, 12)]),
        ("[the start](<docs/read me.md:3-4>)", [("docs/read me.md", 3, 4)]),
        ("[the start](src/main.py#L12-L40)", [("src/main.py", 12, 40)]),
        ("[src/main.py:12](src/main.py#L12)", [("src/main.py", 12, 12)]),
        ("`docs/read me.md:3`", [("docs/read me.md", 3, 3)]),
        ("`src/main.py` (lines 12-40)", [("src/main.py", 12, 40)]),
        ("`src/main.py`, line 12", [("src/main.py", 12, 12)]),
        ("src/main.py:12:5 is a column", [("src/main.py", 12, 12)]),
        ("main.go:1,5,7-9 and more", [("main.go", 1, 1), ("main.go", 5, 5), ("main.go", 7, 9)]),
        ("a.py:1, b.py:2", [("a.py", 1, 1), ("b.py", 2, 2)]),
        ("./src/main.py:12", [("./src/main.py", 12, 12)]),
        ("/srv/repo/src/main.py:12", [("/srv/repo/src/main.py", 12, 12)]),
        (r"C:\repo\src\main.ts:10-12", [("C:/repo/src/main.ts", 10, 12)]),
        (r"src\main.ts:4", [("src/main.ts", 4, 4)]),
        ("bin/live-memory:12", [("bin/live-memory", 12, 12)]),
        ("Makefile:3 and Dockerfile:7", [("Makefile", 3, 3), ("Dockerfile", 7, 7)]),
        (".github/workflows/ci.yml:8", [(".github/workflows/ci.yml", 8, 8)]),
        (".gitignore:2", [(".gitignore", 2, 2)]),
        ("app/(auth)/[id]/page.tsx:3", [("app/(auth)/[id]/page.tsx", 3, 3)]),
        ("它在src/main.py:12中定义", [("src/main.py", 12, 12)]),
        ("`文档/说明.md:3`", [("文档/说明.md", 3, 3)]),
        ("lib/c++/vector.h:9", [("lib/c++/vector.h", 9, 9)]),
        ("a.py:9-3 is turned round", [("a.py", 9, 9)]),
    ],
)
def test_a_place_is_found_however_it_is_written(text: str, found: list[tuple[str, int, int]]) -> None:
    assert places(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "at 12:30 or 2026-11-30T12:30:15",
        "http://localhost:7711/main.py:3 and https://github.com/a/b/blob/main/x.py#L12",
        "127.0.0.1:7711, localhost:8080, example.com:443, db.internal:5432",
        "python:3.11, node:20, v1.2:3, library/python:3.11-slim",
        "std::vector:3, Foo::bar:12, key: 12, {'a':1}",
        "a ratio of 3:1, Genesis 1:1",
        "src/main.py without a line",
        "",
    ],
)
def test_times_addresses_versions_and_the_like_are_no_places(text: str) -> None:
    assert places(text) == []


def test_a_place_named_twice_is_one() -> None:
    assert places("a.py:1, then `a.py:1` again") == [("a.py", 1, 1)]


@pytest.mark.parametrize("unit", ["a.", "a-", "a+", "sk-", "a", "a/", "`a ", "[a]("])
def test_a_text_that_never_ends_a_word_is_read_in_time_that_grows_with_its_length_alone(unit: str) -> None:
    # No clock: with time that grows with the square of the length this would take an hour.
    assert places(unit * (200_000 // len(unit)) + " see a.py:1") in ([("a.py", 1, 1)], [])


def test_no_more_places_are_taken_than_anybody_follows() -> None:
    assert len(find_references(" ".join(f"a.py:{number}" for number in range(1, 500)))) == MAX_CITATIONS


@given(st.text(alphabet="a./\\:`[]()#L-1 ,中é", max_size=200))
def test_any_text_is_read_without_error_and_every_range_is_in_order(text: str) -> None:
    for reference in find_references(text):
        assert reference.paths
        assert reference.line_start <= reference.line_end
