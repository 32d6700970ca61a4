"""What a person sees while waiting, and what a script does not."""

from __future__ import annotations

import io
import sys

import pytest

from launcher import terminal


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_one_line_written_over_and_cleared_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with terminal.progress() as show:
        show({"status": "installing", "step": "installing the packages with uv"})
        show({"status": "installing", "step": "checking the packages"})
    assert screen.getvalue() == (
        "\r\x1b[2KLive Memory: installing the packages with uv … 0 s"
        "\r\x1b[2KLive Memory: checking the packages … 0 s"
        "\r\x1b[2K"
    )


@pytest.mark.parametrize("screen", [io.StringIO(), Terminal()])
def test_nothing_is_drawn_on_what_is_no_terminal_or_a_dumb_one(
    monkeypatch: pytest.MonkeyPatch, screen: io.StringIO
) -> None:
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "dumb")
    with terminal.progress() as show:
        show({"status": "installing"})
    assert screen.getvalue() == ""


def test_colours_are_for_terminals_of_people_who_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.coloured("ok", "green", Terminal()) == "\x1b[32mok\x1b[0m"
    assert terminal.coloured("ok", "green", io.StringIO()) == "ok"
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal.coloured("ok", "green", Terminal()) == "ok"


def test_no_text_turns_a_line_around_or_hides_in_it() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "rm")
    assert terminal.printable(f"safe\u202egpj.exe\u2069 {hidden}") == "safe\\u202egpj.exe\\u2069 \\U000e0072\\U000e006d"
    assert terminal.printable("שלום \u200f é 👩\u200d👧\n\t") == "שלום \u200f é 👩\u200d👧\n\t"
