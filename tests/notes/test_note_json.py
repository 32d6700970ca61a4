"""Notes as JSON and back."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.errors import QuestionError
from live_memory.notes.note import Kind, Note, Priority, Status
from live_memory.notes.note_json import from_json, to_json

texts = st.text(max_size=20)
several = st.lists(texts, max_size=3).map(tuple)
seconds = st.floats(0, 1e12)
notes = st.builds(
    Note,
    texts,
    texts,
    st.sampled_from(get_args(Kind)),
    texts,
    texts,
    texts,
    st.sampled_from(get_args(Status)),
    st.sampled_from(get_args(Priority)),
    created_at_s=seconds,
    updated_at_s=seconds,
    verified_at_s=seconds,
    used_at_s=seconds,
    use_count=st.integers(0, 1 << 40),
    expires_at_s=st.none() | seconds,
    sources=st.dictionaries(texts, texts, max_size=3),
    symbols=several,
    refs=several,
    supersedes=several,
)


@given(notes)
def test_a_note_comes_back_from_json_as_it_was(note: Note) -> None:
    assert from_json(json.loads(json.dumps(to_json(note)))) == note


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"kind": "poem"}, "The kind of a note cannot be 'poem'; it is one of fact, decision"),
        ({"status": None}, "The status of a note must be text"),
        ({"title": 7}, "The title of a note must be text"),
        ({"refs": "a"}, "The refs of a note must be a list of texts"),
        ({"symbols": [1]}, "The symbols of a note must be a list of texts"),
        ({"sources": {"a": 1}}, "The sources of a note must map paths to SHA-256 sums"),
        ({"sources": []}, "The sources of a note must map paths"),
        ({"use_count": 1.5}, "The use_count of a note must be a whole number"),
        ({"created_at_s": "now"}, "The created_at_s of a note must be a number of seconds"),
        ({"expires_at_s": True}, "The expires_at_s of a note must be a number of seconds"),
    ],
)
def test_what_is_no_note_is_refused_with_a_sentence(wrong: dict[str, Any], sentence: str) -> None:
    read = to_json(Note("r", "a", "project", "A", "a")) | wrong
    with pytest.raises(QuestionError, match=sentence):
        from_json(read)


def test_what_a_note_needs_is_named_and_what_is_unknown_is_passed_over() -> None:
    with pytest.raises(QuestionError, match="A note needs id, body"):
        from_json({"scope": "r", "kind": "project", "title": "A"})
    assert from_json({**to_json(Note("r", "a", "project", "A", "a")), "mood": "good"}).id == "a"
