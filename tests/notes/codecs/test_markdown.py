"""Folders of Markdown: ours, other people's, and Claude Code's own memory."""

from __future__ import annotations

import pytest

from live_memory.notes.codecs import claude_memory, front_matter, markdown
from live_memory.notes.codecs.base import HOME
from live_memory.notes.note import GLOBAL, Note

NOW_S = 1_800_000_000.0
DAY_S = 86_400.0


def note_of(text: str, path: str = "a note.md") -> Note:
    (note,) = markdown.decode({path: text}, NOW_S).notes
    return note


def test_a_note_is_a_file_that_people_and_other_programs_read() -> None:
    note = Note(
        HOME, "port-7711", "decision", "The port: 7711", "We bind it first.\n", refs=("doorman",), sources={"a.py": "00"},
        priority="P0", updated_at_s=1_782_345_600.25, symbols=("serve",),
    )  # fmt: skip
    assert markdown.encode([note]) == {
        "port-7711.md": (
            '---\nid: port-7711\ntitle: "The port: 7711"\nkind: decision\nrefs: ["[[doorman]]"]\npriority: P0\norigin: user\n'
            'updated: 2026-06-25T00:00:00.25Z\nsources: {"a.py": "00"}\nsymbols: ["serve"]\n---\nWe bind it first.\n\n'
        )
    }


def test_names_of_files_are_safe_everywhere_and_no_two_are_the_same_to_any_file_system() -> None:
    ids = ["con", "Readme", "readme", "a.b", "nul.x"]
    notes = [Note(HOME, name, "project", "T", "b") for name in ids] + [Note(GLOBAL, "con", "project", "T", "b")]
    assert sorted(markdown.encode(notes)) == [
        "Readme.md", "a.b.md", "con-note.md", "global/con-note.md", "nul.x-note.md", "readme-2.md"
    ]  # fmt: skip


def test_somebody_elses_page_has_its_title_its_day_and_its_links() -> None:
    note = note_of(
        "---\n# from a vault\ntags: [db, ops]\ntype: reference\ndate: 2026-06-25\nstatus: todo\n---\n\n"
        "# Backups of the database\n\nNightly, see [[Restore Steps|how to restore]] and [[folder/Cron#daily]].\n"
    )
    assert (note.id, note.title, note.kind, note.status) == ("a-note", "Backups of the database", "reference", "open")
    assert note.refs == ("restore-steps", "cron")
    assert (note.created_at_s, note.updated_at_s, note.origin) == (1_782_345_600.0, 1_782_345_600.0, "import")
    assert note.expires_at_s == NOW_S + 90 * DAY_S


def test_a_page_without_front_matter_is_a_note_too() -> None:
    note = note_of("Only words.", "deep/In Some Folder.md")
    assert (note.id, note.title, note.body) == ("in-some-folder", "In Some Folder", "Only words.")


def test_an_empty_file_and_one_of_another_kind_are_reported() -> None:
    decoded = markdown.decode({"a.md": " \n", "b.txt": "x"}, NOW_S)
    assert [(each.where, each.reason) for each in decoded.omissions] == [
        ("a.md", "an empty file"),
        ("b.txt", "no Markdown file"),
    ]


@pytest.mark.parametrize(
    ("yaml", "value"),
    [
        ("key: plain words # a comment", "plain words"),
        ("key: 'it''s # here'", "it's # here"),
        (r'key: "tab\t\x41\u00e9\U0001F600 \e"', "tab\tA\u00e9\U0001f600 \x1b"),
        ("key: [a, 'b, c', \"d\"]", ("a", "b, c", "d")),
        ("key:\n- a\n- \"b\"\n", ("a", "b")),
        ("key:\n  - a # first\n\n  - b", ("a", "b")),
        ("key:\n  type: user\n  more: 'x'", {"type": "user", "more": "x"}),
        ("key: |\n  one\n    two\n\n  three\n", "one\n  two\n\nthree"),
        ("key: >-\n  one\n  two\n\n  three\n", "one two\nthree"),
        ("key: first\n  and more", "first and more"),
        ("key: ~", ""),
        ("key: {\"a\": 1}", {"a": "1"}),
    ],
)  # fmt: skip
def test_the_yaml_that_others_write_is_read(yaml: str, value: front_matter.Value) -> None:
    page = front_matter.read(f"---\nbefore: x\n{yaml}\nafter: y\n---\nbody\n")
    assert page.named == {"before": "x", "key": value, "after": "y"}
    assert page.body == "body"


MEMORY = {
    "MEMORY.md": (
        "# Memory index\n\n- [Terse answers](feedback_terse.md) — no summaries at the end\n- [Gone](gone.md) — was here\n\n"
        "## Build\n\nRun `make check` before each commit; see [[release-freeze]].\n"
    ),
    "feedback_terse.md": (
        "---\nname: feedback-terse\ndescription: >-\n  Terse answers,\n  no recap\nmetadata:\n  type: feedback\n---\n\n"
        "No recap at the end.\n\n**Why:** the diff says it. See [[release-freeze]].\n"
    ),
    "release-freeze.md": "---\nname: Release freeze\ndescription: Freeze from 2026-03-05\ntype: project\n---\nNo merges.\n",
    "notes.md": "# Debugging\n\nUse rr.\n",
}


def test_claude_codes_memory_folder_is_read_whole() -> None:
    decoded = claude_memory.decode(MEMORY, NOW_S)
    notes = {note.id: note for note in decoded.notes}
    assert {name: (note.kind, note.title) for name, note in notes.items()} == {
        "feedback-terse": ("preference", "Terse answers"),
        "release-freeze": ("project", "Release freeze"),
        "notes": ("project", "Debugging"),
        "build": ("project", "Build"),
    }
    assert notes["feedback-terse"].description == "Terse answers, no recap"
    assert notes["feedback-terse"].refs == notes["build"].refs == ("release-freeze",)
    assert [(each.where, each.reason) for each in decoded.omissions] == [
        ("gone.md", "the index names it, but it is not there")
    ]


def test_a_memory_without_topics_is_one_note_for_each_section() -> None:
    text = "Always use pnpm.\n\n# Style\n\n- tabs\n- no semicolons\n\n## Empty\n"
    read = claude_memory.decode({"MEMORY.md": text}, NOW_S).notes
    assert [(note.id, note.body) for note in read] == [
        ("memory", "Always use pnpm."),
        ("style", "- tabs\n- no semicolons"),
    ]
