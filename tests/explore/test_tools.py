"""The tools as the model calls them: Glob and find_paths, where all of them stop, and what they say of a wrong call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from explore.asking import Ask, Write, refusal

from live_memory.errors import ToolRefusal
from live_memory.explore import ripgrep
from live_memory.explore.search import FileList
from live_memory.explore.toolbox import TOOL_SPECS, run_tool


@pytest.mark.usefixtures("engine")
def test_glob_lists_files_by_path(write: Write, ask: Ask) -> None:
    for name in ("b.ts", "src/a.ts", "src/x/a.tsx", ".hidden/a.ts"):
        write(name, "")
    assert ask("Glob", pattern="**/*.ts") == ".hidden/a.ts\nb.ts\nsrc/a.ts"
    assert ask("Glob", pattern="*.{ts,tsx}", path="src") == "src/a.ts\nsrc/x/a.tsx"
    assert ask("Glob", file_pattern="src/*.ts", max_results=5) == "src/a.ts"


def test_glob_pages(write: Write, ask: Ask) -> None:
    for number in range(25):
        write(f"f{number:02}.txt", "")
    assert ask("Glob", pattern="*.txt", limit=10).endswith("f09.txt\n(25 files match; go on with offset=10.)")
    assert ask("Glob", pattern="*.txt", limit=10, offset=20).split("\n") == [f"f{n}.txt" for n in range(20, 25)]
    assert "nothing at offset 99" in refusal(ask, "Glob", pattern="*.txt", offset=99)


def test_glob_offers_other_case_when_it_finds_nothing(write: Write, ask: Ask) -> None:
    write("README.md", "")
    assert "there is README.md" in ask("Glob", pattern="readme.md")
    assert "Ignored files" in ask("Glob", pattern="nothing")


@pytest.mark.parametrize(
    "pattern", ["../**", "../*", "/etc/*", "src/../../outside/*", "linked/*", "**/private.txt", "..", "linked/**"]
)
@pytest.mark.usefixtures("engine")
def test_no_glob_names_anything_outside(root: Path, tmp_path: Path, write: Write, ask: Ask, pattern: str) -> None:
    write("src/app.py", "")
    (root / "linked").symlink_to(tmp_path / "outside")
    for tool, arguments in (
        ("Glob", {"pattern": pattern}),
        ("find_paths", {"name": pattern}),
        ("Grep", {"pattern": "model", "glob": pattern}),
    ):
        try:
            text = ask(tool, **arguments)
        except ToolRefusal as refused:
            text = str(refused)
        assert "private.txt" not in text.replace(pattern, "")
        assert "passwd" not in text


@pytest.mark.parametrize("path", ["..", "../outside", "linked", "/", "/etc", "linked/..", ".git"])
@pytest.mark.parametrize("tool", ["Glob", "Grep", "find_paths", "get_changed_files", "git_search"])
def test_no_tool_starts_outside(root: Path, tmp_path: Path, ask: Ask, tool: str, path: str) -> None:
    (root / ".git").mkdir()
    (root / "linked").symlink_to(tmp_path / "outside")
    assert "private.txt" not in refusal(ask, tool, pattern="*", path=path)


def test_a_glob_that_is_none_is_refused_with_an_example(ask: Ask) -> None:
    for pattern in ("[", "{a", "a}", "[z-a]", "x\\", "y" * 2000):
        assert "lob" in refusal(ask, "Glob", pattern=pattern)


def test_the_name_of_a_secret_file_is_no_secret(write: Write, ask: Ask) -> None:
    write(".env", "x")
    assert ask("Glob", pattern=".env*") == ask("find_paths", name=".env*") == ".env"


def test_find_paths_lists_two_levels_without_a_name(write: Write, ask: Ask) -> None:
    write("src/api/routes/users.py", "")
    write("README.md", "")
    assert ask("find_paths") == "README.md\nsrc/\nsrc/api/"
    assert ask("find_paths", path="src", max_depth=1) == "src/api/"


def test_find_paths_by_name_and_kind(root: Path, write: Write, ask: Ask) -> None:
    write("src/Auth/auth_token.py", "")
    write("docs/auth.md", "")
    (root / "auth-link").symlink_to("docs")
    assert ask("find_paths", name="*auth*") == "auth-link@\ndocs/auth.md\nsrc/Auth/\nsrc/Auth/auth_token.py"
    assert ask("find_paths", name="*auth*", type="dir") == "src/Auth/"
    assert ask("find_paths", pattern="*.py", type="f", max_results=1) == "src/Auth/auth_token.py"
    assert "Nothing named zzz" in ask("find_paths", name="zzz")
    assert "read it with Read" in refusal(ask, "find_paths", path="docs/auth.md")


def test_find_paths_shows_names_on_one_line_each(write: Write, ask: Ask) -> None:
    write("two\nlines.txt", "")
    assert ask("find_paths") == "two\\nlines.txt"


def test_the_tools_and_their_order_are_fixed() -> None:
    assert [spec.name for spec in TOOL_SPECS] == [
        "Read",
        "Grep",
        "Glob",
        "find_paths",
        "get_changed_files",
        "git_search",
    ]
    for spec in TOOL_SPECS:
        assert spec.input_schema["type"] == "object"
        json.dumps(spec.input_schema)
        assert set(spec.input_schema.get("required", [])) <= set(spec.input_schema["properties"])  # type: ignore[call-overload]


@pytest.mark.parametrize("arguments", ["", "{", "[]", "null", "1", '"x"', "[" * 100_000])
def test_bad_arguments_are_refused_with_a_sentence(root: Path, arguments: str) -> None:
    with pytest.raises(ToolRefusal, match="Read"):
        run_tool(root, "Read", arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": 1},
        {"file_path": ["a"]},
        {"file_path": ""},
        {"file_path": "a", "offset": "x"},
        {"file_path": "a", "limit": {}},
        {"file_path": "a" * 5000},
    ],
)
def test_arguments_of_a_wrong_type_are_refused_by_name(write: Write, ask: Ask, arguments: dict[str, object]) -> None:
    write("a", "x\n")
    assert any(name in refusal(ask, "Read", **arguments) for name in ("`file_path`", "`offset`", "`limit`"))


def test_an_unknown_tool_is_refused_with_the_list(root: Path) -> None:
    with pytest.raises(ToolRefusal, match="Read, Grep, Glob"):
        run_tool(root, "Bash", "{}")


def test_odd_numbers_are_held_to_their_range(write: Write, ask: Ask) -> None:
    write("a.txt", "x\n")
    for number in (-5, 0, 1e300, "3.7", "", None, 10**30):
        assert "a.txt" in ask("Glob", pattern="*.txt", limit=number)
    assert "whole number" in refusal(ask, "Glob", pattern="*", limit="inf")


def test_a_listing_that_was_cut_short_says_so(write: Write, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.txt", "x\n")
    monkeypatch.setattr(ripgrep, "list_files", lambda *_: FileList(("a.txt",), is_whole=False))
    assert "too large to list whole" in ask("Glob", pattern="*.txt")
