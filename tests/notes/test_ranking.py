"""Which notes answer a question best."""

from __future__ import annotations

from dataclasses import replace

from live_memory.memory.finding import Finder, Words
from live_memory.notes.candidates import Vocabulary
from live_memory.notes.note import Note
from live_memory.notes.query import query_of
from live_memory.notes.ranking import Ranked, idf_of
from live_memory.store.in_memory_note_store import InMemoryNoteStore
from live_memory.store.note_store import Change


def note(note_id: str, title: str, body: str = "", at_s: float = 0.0) -> Note:
    return Note("repo", note_id, "decision", title, body, updated_at_s=at_s)


def ranked(question: str, *notes: Note, words: Words = "related") -> list[Ranked]:
    store = InMemoryNoteStore()
    store.apply([Change("create", None, each, 0.0, "test") for each in notes])
    return list(Finder(store, words).find(("repo",), query_of(question)).ranked)


def ids(question: str, *notes: Note, words: Words = "related") -> list[str]:
    return [each.note.id for each in ranked(question, *notes, words=words)]


def test_a_word_in_the_title_counts_more_than_one_in_the_body() -> None:
    assert ids("deadlock", note("body", "Locks", "a deadlock"), note("title", "A deadlock", "locks")) == [
        "title",
        "body",
    ]


def test_rare_words_count_more_than_common_ones() -> None:
    common = [note(f"c{i}", "Parser speed", "parser") for i in range(5)]
    assert ids("parser flamegraph", *common, note("rare", "Flamegraph"))[0] == "rare"


def test_a_relative_of_a_word_finds_a_note_in_another_language_but_counts_less() -> None:
    english, italian = note("en", "Catalog pagination"), note("it", "Paginazione del catalogo")
    assert ids("paginazione del catalogo", english, italian) == ["it", "en"]
    assert ids("paginazione del catalogo", english, italian, words="exact") == ["it"]


def test_a_word_of_another_language_finds_the_english_one_it_stands_for() -> None:
    english = note("en", "Queue of the printer")
    assert ids("perche la coda delle stampe non si muove", english) == ["en"]
    assert ids("为什么队列不动", english) == ["en"]
    assert ids("perche la coda delle stampe non si muove", english, words="exact") == []


def test_words_side_by_side_count_more_than_words_apart() -> None:
    apart = note("apart", "x", "budget things and others and more, then a retry")
    beside = note("beside", "x", "things and others and more, then a retry budget")
    assert ids("retry budget", apart, beside)[0] == "beside"


def test_a_note_beside_a_good_one_is_a_little_better() -> None:
    lonely, cited = note("a-lonely", "Timeout", "x"), note("b-cited", "Timeout", "x")
    citing = replace(note("citing", "Timeout of the bank gateway"), refs=("b-cited",))
    order = ids("timeout bank gateway", lonely, cited, citing)
    assert order == ["citing", "b-cited", "a-lonely"]


def test_of_two_alike_the_newer_comes_first() -> None:
    assert ids("timeout", note("old", "Timeout", at_s=1.0), note("new", "Timeout", at_s=2.0)) == ["new", "old"]


def test_what_a_term_tells_is_never_negative_and_most_for_a_word_never_seen() -> None:
    idf = idf_of(Vocabulary(10, 100, {"everywhere": 10, "rare": 1}, {}))
    assert 0.0 < idf("everywhere") < idf("rare") < idf("unseen")
