"""The tool Grep: what it finds, how it pages, and what it says when it cannot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from explore.asking import Ask, Write, drawn, refusal

from live_memory.explore import ripgrep
from live_memory.explore.paging import MAX_ANSWER_CHARS
from live_memory.explore.toolbox import run_tool


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
    write("many.txt", ("x" * 250 + "\n") * 5_000)
    text = ask("Grep", pattern="x", head_limit=1000)
    assert len(text) < MAX_ANSWER_CHARS + 200
    assert "go on with offset=" in text


def test_grep_stamps_the_files_of_its_page(root: Path, write: Write) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        write(name, "x\nx\n")
    answer = run_tool(root, "Grep", '{"pattern": "x", "head_limit": 3}')
    assert [stamp.path for stamp in answer.files] == ["a.txt", "b.txt"]


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
