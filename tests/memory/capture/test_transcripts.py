"""Reading a transcript from where one left off, whatever became of the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from memory.capture.scripts import Script

from live_memory.errors import QuestionError
from live_memory.memory import transcripts
from live_memory.memory.transcripts import TranscriptGone, checked_path, next_part, resumed_offset, survey
from live_memory.memory.turns import Hearing

UNHEARD = Hearing()


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "s.jsonl")


def texts(path: Path, offset_bytes: int = 0, max_tokens: int = 10_000) -> list[str]:
    part = next_part(str(path), offset_bytes, UNHEARD, max_tokens)
    return [turn.text for turn in part.turns] if part else []


def test_the_survey_counts_prompts_speech_and_edits(script: Script) -> None:
    script.user("Mend the port.").claude("On it.").tool("Edit", "ok", file_path="/r/server.py")
    script.tool("Read", "PORT = 1", file_path="/r/server.py").claude("Done.")
    counted = survey(str(script.path), 0, UNHEARD)
    assert (counted.turns, counted.edits, counted.edited) == (1, 1, ("/r/server.py",))
    assert counted.chars == len("Mend the port.On it.Done.")
    assert counted.end_bytes == script.size_bytes
    assert [text for _, text in counted.user_texts] == ["Mend the port."]


def test_parts_end_between_lines_and_go_on_where_the_last_one_ended(script: Script) -> None:
    for number in range(10):
        script.user(f"question {number} " + "x" * 400)
    seen, offset_bytes = [], 0
    while part := next_part(str(script.path), offset_bytes, UNHEARD, 300):
        seen += [turn.text.split()[1] for turn in part.turns]
        assert resumed_offset(str(script.path), part.end_bytes, part.mark) == part.end_bytes
        offset_bytes = part.end_bytes
    assert seen == [str(number) for number in range(10)]
    assert offset_bytes == script.size_bytes


def test_a_line_larger_than_a_part_is_a_part_of_its_own(script: Script) -> None:
    script.user("x" * 8000).user("after")
    assert len(texts(script.path, max_tokens=100)) == 1


def test_a_line_that_is_still_being_written_is_left_until_it_is_whole(script: Script) -> None:
    script.user("first")
    whole = script.size_bytes
    script.raw('{"type": "user", "message": {"content": "sec', end="")
    part = next_part(str(script.path), 0, UNHEARD, 1000)
    assert part is not None
    assert part.end_bytes == whole
    script.raw('ond"}}')
    assert texts(script.path, part.end_bytes) == ["second"]


def test_malformed_lines_and_lines_beyond_the_bound_are_passed_over(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "MAX_LINE_BYTES", 1000)
    script.user("one").raw('{"type": "user", ').raw("").raw("\x00\x01").user("y" * 5000).user("two")
    assert texts(script.path) == ["one", "two"]


def test_of_a_run_of_tools_the_last_ones_are_shown(script: Script) -> None:
    script.user("Look at all of it.")
    for number in range(50):
        script.tool("Read", f"content {number}", file_path=f"/r/{number}.py")
    script.claude("They agree.")
    shown = texts(script.path)
    assert (shown[0], shown[-1]) == ("Look at all of it.", "They agree.")
    assert len(shown) == 2 + transcripts.TOOL_RUN
    assert "content 49" in shown[-2]


def test_results_of_our_own_tools_are_not_shown(script: Script) -> None:
    script.user("Where?").tool("mcp__plugin_live-memory_live-memory__ask_live_memory", "In a.py.", question="Where?")
    assert texts(script.path) == ["Where?"]


def test_a_file_cut_at_its_end_holds_nothing_new(script: Script) -> None:
    script.user("one").user("two").user("three")
    part = next_part(str(script.path), 0, UNHEARD, 1000)
    assert part is not None
    os.truncate(script.path, part.end_bytes - 20)
    offset_bytes = resumed_offset(str(script.path), part.end_bytes, part.mark)
    assert texts(script.path, offset_bytes) == []
    assert offset_bytes < part.end_bytes


def test_a_file_written_anew_goes_on_behind_the_line_that_was_read_last(script: Script) -> None:
    script.user("one").user("two")
    part = next_part(str(script.path), 0, UNHEARD, 1000)
    assert part is not None
    lines = script.path.read_text().splitlines()
    script.path.write_text("\n".join(['{"type": "mode"}', *lines]) + "\n")
    script.user("three")
    assert texts(script.path, resumed_offset(str(script.path), part.end_bytes, part.mark)) == ["three"]


def test_another_file_at_the_same_place_is_read_from_its_beginning(script: Script) -> None:
    script.user("one " * 50)
    part = next_part(str(script.path), 0, UNHEARD, 1000)
    assert part is not None
    script.path.unlink()
    script.user("another").user("and more " * 50)
    assert resumed_offset(str(script.path), part.end_bytes, part.mark) == 0
    assert resumed_offset(str(script.path), part.end_bytes, "no mark") == 0


def test_a_file_that_is_gone_or_is_none_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(TranscriptGone):
        survey(str(tmp_path / "none.jsonl"), 0, UNHEARD)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to("/etc/passwd")
    for name in ("pipe.jsonl", "link.jsonl"):
        with pytest.raises(TranscriptGone):
            survey(str(tmp_path / name), 0, UNHEARD)
        with pytest.raises(QuestionError, match="regular"):
            checked_path(str(tmp_path / name))


@pytest.mark.parametrize("path", ["s.jsonl", "/etc/passwd", "/t/\0.jsonl", "/" + "x" * 5000 + ".jsonl", ""])
def test_only_the_absolute_path_of_a_transcript_is_taken(path: str) -> None:
    with pytest.raises(QuestionError, match="transcript_path"):
        checked_path(path)


def test_a_transcript_that_is_not_there_yet_may_be_named(tmp_path: Path) -> None:
    assert checked_path(str(tmp_path / "x" / ".." / "new.jsonl")) == str(tmp_path / "new.jsonl")
