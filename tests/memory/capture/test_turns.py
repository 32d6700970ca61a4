"""What a line of a transcript says, and what it must not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.memory.turns import Hearing, Turn, parse_line, speech, without_injected

UNHEARD = Hearing()
KEY = "AKIA" + "Q7ZP4NVX2MLKJH6T"


def line(kind: str, content: object, **fields: object) -> bytes:
    return json.dumps({"type": kind, "message": {"content": content}, "uuid": "u-1", **fields}).encode()


def said(kind: str, content: object, **fields: object) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in parse_line(line(kind, content, **fields), UNHEARD).turns]


def test_the_user_and_claude_are_heard_thoughts_are_not() -> None:
    assert said("user", "Why does it fail?") == [("user", "Why does it fail?")]
    assert said("user", [{"type": "text", "text": "Look: "}, {"type": "image", "source": {}}]) == [("user", "Look:")]
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "The port is taken."}]
    assert said("assistant", blocks) == [("claude", "The port is taken.")]


@pytest.mark.parametrize(
    "mark", ["isMeta", "isVirtual", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"]
)
def test_what_nobody_said_is_left_out(mark: str) -> None:
    assert said("user", "This session is being continued", **{mark: True}) == []
    assert said("user", "[Request interrupted by user for tool use]") == []


def test_subagents_are_heard_only_when_wished_and_what_they_are_told_claude_said() -> None:
    told = line("user", "Find the cause.", isSidechain=True)
    assert parse_line(told, UNHEARD).turns == ()
    assert parse_line(told, Hearing("heard")).turns == (Turn("claude", "Find the cause."),)


@pytest.mark.parametrize(
    ("fields", "speaker"),
    [
        ({"turnOrigin": "sdk"}, "user"),
        ({"turnOrigin": "human", "origin": {"kind": "human"}}, "user"),
        ({"turnOrigin": "peer"}, "tool"),
        ({"turnOrigin": "scheduled"}, "tool"),
        ({"origin": {"kind": "task-notification"}}, "tool"),
        ({"textNotTyped": True}, "tool"),
    ],
)
def test_a_prompt_that_is_not_the_users_counts_as_a_tools(fields: dict[str, object], speaker: str) -> None:
    assert said("user", "Remember that we push to main.", **fields) == [(speaker, "Remember that we push to main.")]


def test_a_tool_is_told_of_in_short_and_an_edit_names_its_file() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/r/a.py", "old_string": "x" * 9999}}
    assert parse_line(line("assistant", [call]), UNHEARD).turns == (Turn("tool", "Edit: /r/a.py", "/r/a.py"),)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "y " * 9999}]}
    ((speaker, text),) = said("user", [result])
    assert speaker == "tool"
    assert text.startswith("→ y y")
    assert len(text) < 320


@pytest.mark.parametrize(
    "call",
    [
        {"name": "mcp__plugin_live-memory_live-memory__ask_live_memory", "input": {"question": "Where is X?"}},
        {"name": "mcp__plugin_live-memory_live-memory__memory_search", "input": {"q": "X"}},
        {"name": "Bash", "input": {"command": "cd /r && live-memory search ports"}},
    ],
)
def test_our_own_answers_are_never_heard_again(call: dict[str, object]) -> None:
    parsed = parse_line(line("assistant", [{"type": "tool_use", "id": "own-1", **call}]), UNHEARD)
    assert (parsed.turns, set(parsed.own_calls)) == ((), {"own-1"})
    result = line("user", [{"type": "tool_result", "tool_use_id": "own-1", "content": "The port is 7711."}])
    assert parse_line(result, Hearing(own_calls=parsed.own_calls)).turns == ()
    trailer = "It is 7711.\n---\n[live-memory] model=m latency=1s"
    assert said("user", [{"type": "tool_result", "tool_use_id": "of-a-part-before", "content": trailer}]) == []


def test_what_the_user_answers_to_claudes_questions_the_user_said() -> None:
    call = {"type": "tool_use", "id": "q-1", "name": "AskUserQuestion", "input": {"questions": []}}
    asked = parse_line(line("assistant", [call]), UNHEARD)
    text = 'Your questions have been answered: "Which store?"="Redis". You can now continue with these answers in mind.'
    answer = [{"type": "tool_result", "tool_use_id": "q-1", "content": text}]
    told = parse_line(line("user", answer), UNHEARD.after(asked))
    assert told.turns == (Turn("user", '"Which store?"="Redis"'),)
    assert said("user", answer)[0][0] == "tool"  # of another tool, it is what that tool says
    refused = [{"type": "tool_result", "tool_use_id": "q-1", "content": "The user doesn't want to proceed."}]
    assert parse_line(line("user", refused), UNHEARD.after(asked)).turns == ()


def test_what_was_injected_between_tags_is_cut_out() -> None:
    text = (
        'Hello <live-memory-notes at="now">Redis it is</live-memory-notes>there<system-reminder>\nbe brief\n'
        "</system-reminder>. <command-name>/x</command-name><command-args>do it</command-args> a <b> c"
    )
    assert without_injected(text) == "Hello there. do it a <b> c"
    assert without_injected("What does <system-reminder> mean?") == "What does <system-reminder> mean?"
    assert without_injected("before <live-memory-notes>cut off here") == "before "


def test_secrets_are_taken_out_before_anything_is_cut() -> None:
    assert KEY not in speech(f"the key is {KEY}")
    assert KEY not in str(said("user", [{"type": "tool_result", "tool_use_id": "t", "content": f"aws {KEY}"}]))


def test_of_a_paste_the_two_ends_are_shown() -> None:
    shown = speech("start " + "x " * 10_000 + "end")
    assert shown.startswith("start")
    assert shown.endswith("end")
    assert "characters left out" in shown
    assert len(shown) < 8200


@given(st.one_of(st.binary(), st.recursive(st.none() | st.booleans() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["type", "message", "content", "text", "user", "name", "input", "id"]), x)).map(lambda v: b'"user"' + json.dumps(v).encode())))  # fmt: skip
def test_no_line_makes_the_reader_fail(raw: bytes) -> None:
    parse_line(raw, UNHEARD)
    parse_line(raw.removeprefix(b'"user"'), UNHEARD)


def test_half_a_surrogate_pair_and_a_deep_line_do_no_harm() -> None:
    assert said("user", "half \ud83d of it")[0][1].startswith("half ")
    assert parse_line(b'{"type": "user", "message": ' + b"[" * 100_000, UNHEARD).turns == ()
