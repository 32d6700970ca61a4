"""What opens the gate of recall, and what must not."""

from __future__ import annotations

from live_memory.memory.finding import Finder
from live_memory.notes.gate import Evidence, Gate, evidence_of, prior_coverage
from live_memory.notes.note import Note
from live_memory.notes.prompt_gate import PromptGate
from live_memory.notes.query import query_of
from live_memory.store.in_memory_note_store import InMemoryNoteStore
from live_memory.store.note_store import Change

OPEN_AT_A_FIFTH = Gate(0.2)
NOTES = (
    Note(
        "repo", "far-lamps", "root-cause", "Lamps at the far end of the hall did not answer", "Mesh TTL was 5, 8 hops."
    ),
    Note("repo", "sms", "decision", "Text messages go through Sinch and Twilio", "Vilnius asked for it."),
    Note("repo", "colours", "preference", "Colours of the palette", "Lamps stay green."),
    Note("repo", "catalog", "decision", "Catalog compression of product variants", "By cursor."),
)


def evidence(prompt: str, note_id: str) -> Evidence | None:
    store = InMemoryNoteStore()
    store.apply([Change("create", None, note, 0.0, "test") for note in NOTES])
    found = Finder(store).find(("repo",), query_of(prompt))
    return next((evidence_of(found.query, e, found.vocabulary) for e in found.ranked if e.note.id == note_id), None)


def why_shut(prompt: str, note_id: str, gate: Gate = OPEN_AT_A_FIFTH) -> str:
    seen = evidence(prompt, note_id)
    return gate.why_shut(seen) if seen else "not found"


def test_a_prompt_about_the_matter_of_a_note_opens() -> None:
    assert not why_shut("the lamps at the end of the hall don't answer", "far-lamps")


def test_one_word_or_two_in_common_do_not() -> None:
    assert why_shut("which lamps are on sale in the hall of fame gift shop", "far-lamps") == "few words"


def test_words_that_no_note_has_ever_held_count_against_a_note() -> None:
    near = evidence("lamps hall answer", "far-lamps")
    far = evidence("lamps hall answer zeppelin orchid glacier", "far-lamps")
    assert near
    assert far
    assert near.coverage > far.coverage


def test_names_alone_do_not_open() -> None:
    assert why_shut("please ask Sinch or Twilio or Vilnius", "sms") in ("few words", "names alone")


def test_what_stands_in_a_body_alone_opens_only_where_that_is_wished() -> None:
    prompt = "mesh ttl hops"
    assert why_shut(prompt, "far-lamps") == "body alone"
    assert not why_shut(prompt, "far-lamps", Gate(0.2, body="alone"))


def test_relatives_open_where_there_are_enough_of_them() -> None:
    prompt = "cataloghi: compressori delle varianti"
    assert not why_shut(prompt, "catalog")
    assert why_shut(prompt, "catalog", Gate(0.2, min_relatives=4)) == "few relatives"


def test_a_higher_precision_asks_for_more() -> None:
    assert prior_coverage(0.9) < prior_coverage(0.99) < prior_coverage(0.999)
    assert prior_coverage(1.0) == prior_coverage(0.9999)


def test_who_aims_at_less_is_asked_for_fewer_words() -> None:
    gate = Gate(0.0)
    assert gate.aiming_at(0.99) == gate
    loose = gate.aiming_at(0.9)
    assert loose.min_words < gate.min_words
    assert loose.min_matches < gate.min_matches


def test_prompts_that_are_long_short_or_code_are_left_alone() -> None:
    gate = PromptGate(min_words=3, max_chars=100, max_code_ratio=0.4)
    assert gate.why_shut("x" * 101, query_of("x")) == "long"
    assert gate.why_shut("hello there", query_of("hello there")) == "few words"
    code = "def f():\n  one\n  two\n  three\n"
    assert gate.why_shut(code, query_of("alpha beta gamma delta")) == "code"
    assert not gate.why_shut("alpha beta\n  gamma", query_of("alpha beta gamma"))
