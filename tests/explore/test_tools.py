"""The tools as the model calls them: what they find, how they page, and what they say when they cannot."""

from __future__ import annotations

import json
import os
import random
import string
from collections.abc import Callable
from pathlib import Path

import pytest

from live_memory.errors import ToolRefusal
from live_memory.explore import ripgrep
from live_memory.explore.paging import MAX_ANSWER_CHARS
from live_memory.explore.search import FileList
from live_memory.explore.toolbox import TOOL_SPECS, run_tool

Write = Callable[[str, str | bytes], Path]
Ask = Callable[..., str]


def refusal(ask: Ask, tool: str, **arguments: object) -> str:
    with pytest.raises(ToolRefusal) as caught:
        ask(tool, **arguments)
    return str(caught.value)


def drawn(length: int) -> str:
    return "k9" + "".join(random.Random(length).choices(string.ascii_letters + string.digits, k=length))


# Read


def test_read_numbers_the_lines(write: Write, ask: Ask) -> None:
    write("app.py", "import os\r\n\r\nprint(os)\n")
    assert ask("Read", file_path="app.py") == "1\timport os\n2\t\n3\tprint(os)"
    assert ask("Read", path="app.py", offset="3") == "3\tprint(os)"


def test_read_says_how_to_go_on(write: Write, ask: Ask) -> None:
    write("long.txt", "".join(f"line {n}\n" for n in range(1, 5001)))
    text = ask("Read", file_path="long.txt")
    assert text.endswith("2000\tline 2000\n(Lines 1-2000 of 5000; go on with offset=2001.)")
    assert ask("Read", file_path="long.txt", offset=4999) == "4999\tline 4999\n5000\tline 5000"
    assert "there is no line 6000" in refusal(ask, "Read", file_path="long.txt", offset=6000)


def test_read_holds_to_its_size_whatever_is_asked(write: Write, ask: Ask) -> None:
    write("wide.txt", ("x" * 1000 + "\n") * 300)
    text = ask("Read", file_path="wide.txt", limit=100_000)
    assert len(text) < MAX_ANSWER_CHARS + 200
    assert "go on with offset=40" in text


def test_read_cuts_a_line_without_end(write: Write, ask: Ask) -> None:
    write("bundle.js", "a" * 1_000_000)
    assert ask("Read", file_path="bundle.js").endswith("a… (this line has 1000000 characters)")


def test_read_of_an_empty_file_says_so(write: Write, ask: Ask) -> None:
    write("empty.txt", "")
    assert ask("Read", file_path="empty.txt") == "(empty.txt is empty.)"


def test_read_suggests_what_may_have_been_meant(write: Write, ask: Ask) -> None:
    write("src/auth/session.ts", "x")
    write("web/auth/session.ts", "x")
    assert "Did you mean src/auth/session.ts" in refusal(ask, "Read", file_path="src/session.ts")
    assert "Did you mean src/auth/session.ts" in refusal(ask, "Read", file_path="src/auth/sesion.ts")
    assert "Glob or find_paths" in refusal(ask, "Read", file_path="nothing/alike.rs")


def test_read_stamps_what_it_showed(root: Path, write: Write) -> None:
    write("app.py", "x = 1\n")
    answer = run_tool(root, "Read", '{"file_path": "app.py"}')
    assert [stamp.path for stamp in answer.files] == ["app.py"]


def test_read_takes_secrets_out_and_leaves_the_rest(write: Write, ask: Ask) -> None:
    secret = drawn(30)
    write("config.py", f'DEBUG = True\napi_key = "{secret}"\nPORT = 80\n')
    assert ask("Read", file_path="config.py") == '1\tDEBUG = True\n2\tapi_key = "[redacted: secret]"\n3\tPORT = 80'


def test_read_from_inside_a_private_key_shows_none_of_it(write: Write, ask: Ask) -> None:
    body = [drawn(60 + n) for n in range(10)]
    dashes = "-" * 5
    write("key.ts", "\n".join([f"{dashes}BEGIN PRIVATE KEY{dashes}", *body, f"{dashes}END PRIVATE KEY{dashes}", "end"]))
    text = ask("Read", file_path="key.ts", offset=5)
    assert body[5] not in text
    assert text.endswith("13\tend")


# Grep


@pytest.mark.usefixtures("engine")
def test_grep_finds_lines_whatever_their_case(write: Write, ask: Ask) -> None:
    write("src/a.py", "def Login():\n    pass\n")
    write("src/b.py", "login()\nx = login\n")
    assert ask("Grep", pattern="login") == (
        "src/a.py:1:def Login():\nsrc/b.py:1:login()\nsrc/b.py:2:x = login\n(3 matching lines in 2 files.)"
    )
    assert "src/a.py" not in ask("Grep", pattern="login", __i=False)


@pytest.mark.usefixtures("engine")
def test_grep_s_other_modes(write: Write, ask: Ask) -> None:
    write("a.py", "x\nx\n")
    write("b.py", "x\n")
    assert ask("Grep", pattern="x", output_mode="files_with_matches") == "a.py\nb.py\n(3 matching lines in 2 files.)"
    assert ask("Grep", pattern="x", output_mode="count") == "a.py: 2\nb.py: 1\n(3 matching lines in 2 files.)"
    assert "output_mode" in refusal(ask, "Grep", pattern="x", output_mode="json")


def test_grep_takes_the_older_names_of_its_parameters(write: Write, ask: Ask) -> None:
    write("a.py", "x\n" * 9)
    write("a.ts", "x\n")
    text = ask("Grep", regex="x", file_pattern="*.py", max_results="2", multiline=True, type="py")
    assert text == "a.py:1:x\na.py:2:x\n(9 matching lines in 1 file; go on with offset=2.)"


@pytest.mark.usefixtures("engine")
def test_grep_pages_through_everything_once_and_in_order(write: Write, ask: Ask) -> None:
    for name in ("c.txt", "a.txt", "b/d.txt"):
        write(name, "".join(f"match {n}\nother\n" for n in range(7)))
    seen: list[str] = []
    for offset in range(0, 21, 4):
        seen += ask("Grep", pattern="match", head_limit=4, offset=offset).split("\n")[:-1]
    assert seen == [f"{name}:{2 * n + 1}:match {n}" for name in ("a.txt", "b/d.txt", "c.txt") for n in range(7)]
    assert "nothing at offset 21" in refusal(ask, "Grep", pattern="match", offset=21)


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("src/**", ["src/b.py", "src/b.ts", "src/deep/c.py"]),
        ("src/", ["src/b.py", "src/b.ts", "src/deep/c.py"]),
        ("**/deep/*", ["src/deep/c.py"]),
        ("*.{ts,tsx}", ["src/b.ts"]),
        ("*.ts, a.*", ["a.py", "src/b.ts"]),
        ("!*.py", ["src/b.ts"]),
        ("src/** !*.py", ["src/b.ts"]),
        ("/a.py", ["a.py"]),
        ("?.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("[ab].py", ["a.py", "src/b.py"]),
    ],
)
@pytest.mark.usefixtures("engine")
def test_grep_looks_only_into_files_of_the_glob(write: Write, ask: Ask, glob: str, found: list[str]) -> None:
    for name in ("a.py", "src/b.py", "src/b.ts", "src/deep/c.py"):
        write(name, "needle\n")
    assert ask("Grep", pattern="needle", glob=glob, output_mode="files").split("\n")[:-1] == found


def test_grep_says_why_it_finds_nothing(write: Write, ask: Ask) -> None:
    write("a.ts", "needle\n")
    assert ask("Grep", pattern="nowhere") == "Nothing matches nowhere."
    assert "Files outside of the glob do match: a.ts" in ask("Grep", pattern="needle", glob="**/*.ts,!a.ts")
    assert "write `|`" in ask("Grep", pattern=r"a\|b")
    assert "had to agree" in ask("Grep", pattern="NEEDLE", __i=False)


@pytest.mark.usefixtures("engine")
def test_grep_takes_what_is_no_expression_as_text(write: Write, ask: Ask) -> None:
    write("main.go", "var x interface{}\nfoo(\n")
    assert ask("Grep", pattern="interface{}").startswith("main.go:1:var x interface{}\n")
    assert "searched for as plain text" in ask("Grep", pattern="foo(")


@pytest.mark.usefixtures("engine")
def test_grep_says_what_a_pattern_cannot_do(write: Write, ask: Ask) -> None:
    write("a.txt", "x\n")
    assert "look-around and backreferences are not supported" in refusal(ask, "Grep", pattern="(?<=a)b")
    assert "within one line" in refusal(ask, "Grep", pattern=r"a\nb")


def test_grep_in_one_file_says_what_is_wrong_with_it(root: Path, write: Write, ask: Ask) -> None:
    write("logo.png", b"\x89PNG\0needle")
    write(".env", "needle")
    os.mkfifo(root / "pipe")
    with (root / "huge.log").open("wb") as file:
        file.truncate(1 << 30)
    assert "binary file" in refusal(ask, "Grep", pattern="needle", path="logo.png")
    assert "may hold secrets" in refusal(ask, "Grep", pattern="needle", path=".env")
    assert "named pipe" in refusal(ask, "Grep", pattern="needle", path="pipe")
    assert "too large" in refusal(ask, "Grep", pattern="needle", path="huge.log")
    assert "outside" in refusal(ask, "Grep", pattern="needle", path="../outside")
    assert "There is no gone.txt" in refusal(ask, "Grep", pattern="needle", path="gone.txt")


@pytest.mark.usefixtures("engine")
def test_grep_never_shows_a_line_of_a_secret_file(write: Write, ask: Ask) -> None:
    write(".env", "needle=1\n")
    write("deploy/id_rsa", "needle\n")
    write("config/.env.local", "needle\n")
    write(".env.example", "needle=\n")
    assert ask("Grep", pattern="needle") == ".env.example:1:needle=\n(1 matching line in 1 file.)"


@pytest.mark.usefixtures("engine")
def test_grep_redacts_what_it_shows(write: Write, ask: Ask) -> None:
    secret = drawn(30)
    body = [drawn(60 + n)[::-1] for n in range(5)]
    dashes = "-" * 5
    write("a.py", f'api_key = "{secret}"\n')
    write(
        "b.txt", "\n".join([f"{dashes}BEGIN RSA PRIVATE KEY{dashes}", *body, f"{dashes}END RSA PRIVATE KEY{dashes}\n"])
    )
    assert secret not in ask("Grep", pattern="api_key")
    assert not any(line in ask("Grep", pattern="[a-z0-9]{20}", path="b.txt") for line in body)


@pytest.mark.usefixtures("engine")
def test_grep_shows_the_part_of_a_long_line_that_matches(write: Write, ask: Ask) -> None:
    write("bundle.js", "é" * 50_000 + "needle" + "b" * 50_000)
    text = ask("Grep", pattern="needle")
    assert "needle" in text
    assert len(text) < 500


def test_grep_of_very_many_matches_stays_bounded(write: Write, ask: Ask) -> None:
    write("many.txt", ("x" * 250 + "\n") * 20_000)
    text = ask("Grep", pattern="x", head_limit=1000)
    assert len(text) < MAX_ANSWER_CHARS + 200
    assert "go on with offset=" in text


def test_grep_stamps_the_files_of_its_page(root: Path, write: Write) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        write(name, "x\nx\n")
    answer = run_tool(root, "Grep", '{"pattern": "x", "head_limit": 3}')
    assert [stamp.path for stamp in answer.files] == ["a.txt", "b.txt"]


# Glob


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


# find_paths


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


# All of them


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


def test_a_file_that_vanishes_while_it_is_searched_is_left_out(
    root: Path, write: Write, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.txt", "x\n")
    write("b.txt", "x\n")
    find = ripgrep.find

    def find_and_remove(*arguments: object, **more: object) -> object:
        hits = find(*arguments, **more)  # type: ignore[arg-type]
        (root / "a.txt").unlink()
        return hits

    monkeypatch.setattr(ripgrep, "find", find_and_remove)
    assert ask("Grep", pattern="x").startswith("b.txt:1:x\n")


def test_a_listing_that_was_cut_short_says_so(write: Write, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.txt", "x\n")
    monkeypatch.setattr(ripgrep, "list_files", lambda *_: FileList(("a.txt",), is_whole=False))
    assert "too large to list whole" in ask("Glob", pattern="*.txt")
