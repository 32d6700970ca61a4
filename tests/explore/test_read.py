"""The tool Read: numbered lines, pages, bounds, and nothing of a secret."""

from __future__ import annotations

from pathlib import Path

from explore.asking import Ask, Write, drawn, refusal

from live_memory.explore.paging import MAX_ANSWER_CHARS
from live_memory.explore.toolbox import run_tool


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
