"""What is written in a format and read again is the same notes, whatever they hold; and nothing that is read is raised on."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st
from notes.codecs.anything import SPECIAL, characters, shelves

from live_memory.errors import QuestionError
from live_memory.notes.codecs import agd, claude_memory, json_codec, markdown, stamps
from live_memory.notes.codecs.base import in_order
from live_memory.notes.note import Note

NOW_S = 1_800_000_000.0


@given(shelves)
def test_json_loses_nothing_and_is_the_same_bytes_the_second_time(notes: list[Note]) -> None:
    text = json_codec.encode(notes)
    decoded = json_codec.decode(text)
    assert list(decoded.notes) == in_order(notes)
    assert json_codec.encode(reversed(decoded.notes)) == text


@given(shelves)
def test_agd_gives_the_same_notes_back(notes: list[Note]) -> None:
    decoded = agd.decode(agd.encode(notes), NOW_S)
    assert (list(decoded.notes), decoded.omissions) == (in_order(notes), ())


@given(shelves)
def test_agd_with_the_line_ends_of_windows_is_the_same(notes: list[Note]) -> None:
    assert agd.decode(agd.encode(notes).replace("\n", "\r\n"), NOW_S) == agd.decode(agd.encode(notes), NOW_S)


@given(shelves)
def test_markdown_gives_the_same_notes_back(notes: list[Note]) -> None:
    files = markdown.encode(notes)
    decoded = markdown.decode(files, NOW_S)
    assert (list(decoded.notes), decoded.omissions) == (in_order(notes), ())
    assert len({path.lower() for path in files}) == len(notes)


@given(shelves)
def test_claudes_memory_folder_keeps_the_words_of_every_note(notes: list[Note]) -> None:
    files = claude_memory.encode(notes)
    read = claude_memory.decode(files, NOW_S).notes
    assert len(files) == len(notes) + 1
    assert {each.id for each in read} == {note.id for note in notes}
    bodies = "\n".join(each.body for each in read)
    if len({note.id for note in notes}) == len(notes):
        assert all(note.body.strip("\n") in bodies for note in notes)


@given(st.floats(0.001, 2e11))
def test_an_instant_comes_back_to_the_last_bit(at_s: float) -> None:
    assert stamps.read(stamps.written(at_s)) == at_s


lines = st.one_of(
    st.sampled_from([*SPECIAL, '@x-project desc="a', "  - b", "metadata:", "  type: user", "key: |"]),
    st.text(characters, max_size=20),
)


@given(st.lists(lines, max_size=30).map("\n".join))
def test_no_text_is_raised_on(text: str) -> None:
    agd.decode(text, NOW_S)
    markdown.decode({"a.md": text, "b.md": f"---\n{text}\n---\n{text}"}, NOW_S)
    claude_memory.decode({"MEMORY.md": text, "a.md": f"---\n{text}\n---\n{text}"}, NOW_S)
    with suppress(QuestionError):
        json_codec.decode(text)
