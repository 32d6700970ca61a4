"""What of agd-memory's files becomes what: a whole memory of forty blocks, and the corners of the format."""

from __future__ import annotations

from pathlib import Path

from live_memory.notes.codecs import agd, agd_prose
from live_memory.notes.codecs.base import HOME, Decoded
from live_memory.notes.note import GLOBAL, Note

FORTY_BLOCKS = Path(__file__).parent / "forty_blocks.agd"
NOW_S = 1_800_000_000.0  # January 2027
JUNE_25_S = 1_782_345_600.0  # 2026-06-25


def read(text: str) -> Decoded:
    return agd.decode(text, NOW_S)


def block(attributes: str = "", body: str = "Text.", tag: str = "x-project", name: str = "a-note") -> str:
    return f"@{tag}{attributes} [#{name}]\n~~~\n{body}\n~~~\n"


def note_of(text: str) -> Note:
    (note,) = read(text).notes
    return note


def test_a_memory_of_forty_blocks_is_read_whole() -> None:
    decoded = read(FORTY_BLOCKS.read_text(encoding="utf-8"))
    notes = {note.id: note for note in decoded.notes}
    assert len(notes) == 40
    assert {omission.reason for omission in decoded.omissions} == {"a heading"}
    by_kind = [note.kind for note in notes.values()]
    assert {kind: by_kind.count(kind) for kind in set(by_kind)} == {"preference": 14, "project": 19, "reference": 7}
    catalogue = notes["catalogo-unico"]
    assert (catalogue.status, catalogue.created_at_s) == ("done", JUNE_25_S)
    assert catalogue.title == "FATTO 2026-06-25: dedup Cod+Extra nel catalogo unico"
    assert notes["produzione-swap"].refs == ("catalogo-unico", "deploy-checklist")
    assert notes["tariffe-2025"].status == "superseded"
    assert notes["tariffe-2026"].supersedes == ("tariffe-2025",)
    assert notes["migrazione-postgres"].status == "open"
    assert all(note.origin == "import" and note.body for note in notes.values())
    assert all(ref in notes for note in notes.values() for ref in note.refs)


def test_the_four_conventional_kinds_become_ours_and_come_back_as_themselves() -> None:
    for tag, kind in {
        "user": "preference",
        "feedback": "preference",
        "project": "project",
        "reference": "reference",
    }.items():
        note = note_of(block(tag=f"x-{tag}", name=f"{tag}-note"))
        assert note.kind == kind
        assert f"@x-{tag} " in agd.encode([note])


def test_a_citation_becomes_a_ref_only_where_the_file_holds_such_a_block() -> None:
    text = (
        block(body="See #b-note, #fff, #123 and #elsewhere.\n`#c-note` is code.")
        + block(name="b-note")
        + block(name="c-note")
    )
    assert [note.refs for note in read(text).notes] == [("b-note",), (), ()]


def test_refs_are_listed_with_commas_or_spaces() -> None:
    assert note_of(block(' refs="#x,#y-z" supersedes="#o #p"')).refs == ("x", "y-z")
    assert note_of(block(' refs="#x,#y-z" supersedes="#o #p"')).supersedes == ("o", "p")


def test_attributes_that_are_there_win_over_prose() -> None:
    note = note_of(block(' desc="FATTO 2026-06-25: x" status=open created=2026-01-02 updated=2026-01-03'))
    assert (note.status, note.created_at_s, note.updated_at_s) == ("open", 1_767_312_000.0, 1_767_398_400.0)


def test_a_day_that_has_not_come_is_no_stamp() -> None:
    assert note_of(block(' desc="Scade il 2031-01-01, rinnovata 2026-06-25"')).created_at_s == JUNE_25_S


def test_marks_of_what_is_done_stand_at_the_beginning() -> None:
    marks = {
        "FATTO 2026-06-25: dedup": "done",
        "✅ Done: rollout": "done",
        "Completato il passaggio a Postgres": "done",
        "CLOSED the gap": "done",
        "Fixed: the leak": "done",
        "Fixed addresses of the cluster": "",
        "Todo rotate the keys": "open",
        "da fare: il backup": "open",
        "Open source licences in use": "",
        "Open, waits for review": "open",
        "SUPERATO da tariffe-2026": "superseded",
        "Il lavoro fatto finora": "",
    }
    assert {described: agd_prose.status(described) for described in marks} == marks


def test_what_has_no_title_is_called_by_its_description_its_words_or_its_id() -> None:
    assert note_of(block(' desc="Short"')).title == "Short"
    assert note_of(block(body="First line\nsecond")).title == "First line"
    assert note_of(block(body="", name="only-an-id")).title == "only-an-id"
    long = note_of(block(f' desc="The beginning. {"word " * 60}"'))
    assert (long.title, len(long.description)) == ("The beginning.", 315)


def test_a_block_without_an_end_is_reported_and_those_after_it_are_read() -> None:
    decoded = read("@x-project [#torn]\n~~~\nText.\n\n@x-project [#whole]\nOn its line.\n")
    assert [(omission.where, omission.reason) for omission in decoded.omissions] == [
        ("#torn", "its body never ends: the closing ~~~ is missing")
    ]
    assert [(note.id, note.body) for note in decoded.notes] == [("whole", "On its line.")]


def test_of_two_blocks_with_one_id_the_newer_one_is_taken_and_the_other_reported() -> None:
    decoded = read(block(" updated=2026-06-25", "New.") + block(" updated=2025-01-01", "Old."))
    assert [note.body for note in decoded.notes] == ["New."]
    assert [omission.reason for omission in decoded.omissions] == [
        "the id a-note is there twice, and the newer one is taken"
    ]


def test_other_blocks_with_an_id_and_a_text_are_notes_and_headings_are_none() -> None:
    decoded = read(
        "@h1 Head [#root]\n\n@p Words here. [#para]\n\n@code lang=sh [#cmd]\n~~~\nmake\n~~~\n@ul [#list]\n- a\n- b\n\n@! no\n"
    )
    assert {note.id: note.body for note in decoded.notes} == {"para": "Words here.", "cmd": "make", "list": "- a\n- b"}


def test_what_agd_has_no_word_for_is_written_so_that_its_readers_pass_over_it() -> None:
    note = Note(GLOBAL, "1st", "decision", "A title", "a\n~~~\nb", "What\nit is", priority="P0", updated_at_s=JUNE_25_S)
    text = agd.encode([note])
    assert text == (
        "@meta format=agd version=1 [#meta]\n\n"
        '@x-project id="1st" desc-json="\\"What\\\\nit is\\"" title="A title" kind=decision scope=global priority=P0 '
        'origin=user updated="2026-06-25T00:00:00Z" escaped=true [#n-1st]\n~~~\na\n\\~~~\nb\n~~~\n'
    )
    assert read(text).notes == (note,)


def test_an_id_that_two_scopes_share_is_written_twice_and_read_twice() -> None:
    notes = (Note(GLOBAL, "same", "project", "G", "g"), Note(HOME, "same", "project", "H", "h"))
    assert {note.body for note in read(agd.encode(notes)).notes} == {"g", "h"}
    assert agd.encode(notes).count("[#same]") == 1
