"""`live-memory export`, `import` and `merge`, against the real routes over a library that is forgotten with the test."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.command_line import environment, run
from cli.stand_in import Answering, Asked, Reply, StandIn, refusal
from server.desks import HandDesk, request_of, state_of
from store.am_database import make

from launcher.commands import note_formats
from live_memory.server.routes import dispatch

FORTY_BLOCKS = Path(__file__).parents[1] / "notes" / "codecs" / "forty_blocks.agd"


def real_routes() -> Answering:
    """What the server's own routes answer."""
    state = state_of(HandDesk())

    def answer(asked: Asked) -> Reply:
        request = request_of(asked.method, asked.path, json.dumps(asked.body).encode())
        response = asyncio.run(dispatch(state, request))
        return Reply(json.loads(response.body), response.status)

    return answer


class Shell:
    """A user's shell: `run` in the repository `here`, whose notes the server keeps apart from those of `there`."""

    def __init__(self, folder: Path, server: StandIn) -> None:
        self.folder, self.server = folder, server
        self.here, self.there = folder / "here", folder / "there"
        for repository in (self.here, self.there):
            (repository / ".git").mkdir(parents=True)
        self.env = environment(server.data_dir, server.port)
        self.home = Path(self.env["HOME"])

    def run(self, *words: str, cwd: Path | None = None, code: int = 0) -> str:
        """What the command printed; on stderr where it failed."""
        done = run(self.env, *words, cwd=cwd or self.here)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout if code == 0 else done.stderr

    def imported(self, *words: str, cwd: Path | None = None) -> dict[str, object]:
        value = json.loads(self.run("import", *words, "--json", cwd=cwd))
        assert isinstance(value, dict)
        return value


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with StandIn(tmp_path / "data").running() as server:
        answer = real_routes()
        server.routes |= {f"POST {path}": answer for path in ("/export", "/import", "/merge", "/notes", "/undo")}
        yield Shell(tmp_path, server)


def test_a_memory_of_agd_goes_round_through_every_format(shell: Shell) -> None:
    first = shell.run("import", str(FORTY_BLOCKS))
    assert first.startswith("Imported: 40 new, 0 updated, 0 unchanged.\nLeft out, a heading: #root")
    shell.run("export", "out.json")
    for target in (["out.agd"], ["--to", "notes"], ["--to", "vault", "--format", "json"]):
        shell.run("export", *target)
    for source in ("out.json", "out.agd", "notes", "vault/notes.json"):
        assert shell.imported(source)["unchanged"] == 40
    assert shell.imported(str(shell.here / "out.json"), cwd=shell.there)["created"] == 40
    shell.run("export", "again.json", cwd=shell.there)
    assert (shell.there / "again.json").read_bytes() == (shell.here / "out.json").read_bytes()
    assert str(shell.folder) not in (shell.here / "out.json").read_text()


def test_an_import_is_taken_back_by_its_batch(shell: Shell) -> None:
    batch = str(shell.imported(str(FORTY_BLOCKS))["batch"])
    assert "Taken back" in shell.run("forget", "--undo", batch)
    assert shell.imported(str(FORTY_BLOCKS), "--dry-run")["created"] == 40


def test_parts_are_bounded_and_of_one_batch(shell: Shell) -> None:
    notes = [
        {"scope": "repo", "id": f"n{number}", "kind": "project", "title": f"Note {number}", "body": "x" * 4000}
        for number in range(300)
    ]
    (shell.here / "many.json").write_text(json.dumps(notes))
    assert shell.imported("many.json")["created"] == 300
    bodies = shell.server.bodies("/import")
    assert len(bodies) > 2
    assert max(len(json.dumps(body)) for body in bodies) < 300_000
    assert len({body["batch"] for body in bodies[1:]}) == 1
    assert {body["source"] for body in bodies} == {"many.json"}


def test_without_a_file_it_is_printed_and_facts_stay_out_of_what_people_read(shell: Shell) -> None:
    fact = {"scope": "tree", "id": "fact-1", "kind": "fact", "title": "", "body": "It is so.", "created_at_s": 1.0}
    (shell.here / "fact.json").write_text(json.dumps([fact]))
    shell.imported("fact.json")
    assert [note["id"] for note in json.loads(shell.run("export"))["notes"]] == ["fact-1"]
    assert "fact-1" not in shell.run("export", "--format", "agd")


def test_am_memorys_database_and_claude_codes_folder_are_known_by_their_look_and_found_where_they_live(
    shell: Shell,
) -> None:
    (shell.home / ".am-memory").mkdir()
    make(shell.home / ".am-memory" / "memory.db")
    made = shell.imported("--format", "am-memory")["created"]
    assert shell.imported(str(shell.home / ".am-memory" / "memory.db"))["unchanged"] == made != 0
    memory = shell.home / ".claude" / "projects" / str(shell.here).replace("/", "-").replace("_", "-") / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- [One](one.md) — the one\n")
    (memory / "one.md").write_text("---\nname: one\ntype: feedback\n---\nWords.\n")
    assert shell.imported("--format", "claude")["created"] == 1
    assert shell.imported(str(memory))["unchanged"] == 1
    (memory / "memory.agd").write_text("@x-project [#two]\n~~~\nHere.\n~~~\n")
    (shell.home / ".claude" / "memory").mkdir()
    (shell.home / ".claude" / "memory" / "global.agd").write_text("@x-user [#three]\n~~~\nEverywhere.\n~~~\n")
    assert shell.imported("--format", "agd")["created"] == 2
    assert "three" in [note["id"] for note in json.loads(shell.run("export", "--scope", "global"))["notes"]]


def test_the_memory_of_agd_is_found_under_a_name_with_dots_where_only_slashes_were_replaced(shell: Shell) -> None:
    dotted = shell.folder / "my.shop_2"
    (dotted / ".git").mkdir(parents=True)
    memory = shell.home / ".claude" / "projects" / str(dotted).replace("/", "-") / "memory"
    memory.mkdir(parents=True)
    (memory / "memory.agd").write_text("@x-project [#two]\n~~~\nHere.\n~~~\n")
    assert shell.imported("--format", "agd", cwd=dotted)["created"] == 1


def test_a_hand_off_folder_takes_no_file_of_somebody_elses_place_and_writes_through_no_link(shell: Shell) -> None:
    shell.imported(str(FORTY_BLOCKS))
    notes = shell.here / "notes"
    notes.mkdir()
    (notes / "user-role.md").write_text("# mine\n")
    assert "is none of our files" in shell.run("export", "--to", "notes", code=1)
    assert [path.name for path in notes.iterdir()] == ["user-role.md"]
    (notes / "user-role.md").unlink()
    (shell.here / "g.json").write_text(
        json.dumps([{"scope": "global", "id": "g", "kind": "project", "title": "G", "body": "g"}])
    )
    shell.imported("g.json")
    outside = shell.folder / "outside"
    outside.mkdir()
    (notes / "global").symlink_to(outside)
    assert "a link out of the folder" in shell.run("export", "--to", "notes", code=1)
    assert list(outside.iterdir()) == []
    (notes / "global").unlink()
    shell.run("export", "--to", "notes")
    (notes / "old.md").write_text("---\nid: old\norigin: user\n---\nOld.\n")
    done = run(shell.env, "export", "--to", "notes", cwd=shell.here)
    assert (done.returncode, "1 file of notes that are not here: old.md" in done.stderr) == (0, True)


def test_a_folder_of_traps_is_read_around_them(shell: Shell) -> None:
    vault = shell.here / "vault"
    (vault / "deep" / ".hidden").mkdir(parents=True)
    (vault / "deep" / "good.md").write_text("# Good\n\nWords, [[../../etc/passwd]] and [[other]].\n")
    (vault / "deep" / ".hidden" / "no.md").write_text("no")
    (vault / "latin.md").write_bytes(b"caf\xe9")
    (vault / "secret.md").symlink_to("/etc/hostname")
    (vault / "loop").symlink_to(vault)
    (vault / "nul.md").write_bytes(b"---\nid: ../../up\ntitle: a\0b\n---\nzero \0 here\n")
    os.mkfifo(vault / "pipe.md")
    answer = shell.imported("vault")
    assert answer["created"] == 2
    omissions = answer["omissions"]
    assert isinstance(omissions, list)
    assert {each["where"]: each["reason"] for each in omissions} == {
        "latin.md": "it is not UTF-8",
        "secret.md": "a link, which is not followed",
        "pipe.md": "no regular file",
    }
    notes = {note["id"]: note for note in json.loads(shell.run("export"))["notes"]}
    assert sorted(notes) == ["good", "up"]
    assert notes["good"]["refs"] == ["passwd", "other"]
    assert notes["up"]["title"] == "a\ufffdb"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b"[" * 200_000, "nested too deeply"),
        ("a.json", b"not json", "is not JSON"),
        ("a.json", b'{"format": "live-memory-notes", "version": 9, "notes": []}', "newer Live Memory"),
        ("a.json", b"[1, 2]", "Left out"),
        ("a.json", b'{"a": 1}', "holds no notes"),
        ("a.agd", b"\xff\xfe@", "is not UTF-8"),
        ("a.agd", b"", "holds no notes"),
        ("a.zip", b"PK\x03\x04....", "looks like no format"),
        ("a.json", b"\x1f\x8b\x08....", "packed with gzip"),
        ("a.db", b"SQLite format 3\0" + b"x" * 200, "cannot be read as a database"),
        ("a.db", b"no database", "cannot be read as a database"),
    ],
)
def test_a_file_that_is_none_is_one_sentence(shell: Shell, name: str, content: bytes, words: str) -> None:
    (shell.here / name).write_bytes(content)
    done = run(shell.env, "import", name, cwd=shell.here)
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1


def test_what_cannot_be_opened_is_a_sentence_too(shell: Shell) -> None:
    os.mkfifo(shell.here / "pipe")
    assert "is no regular file" in shell.run("import", "pipe", code=1)
    assert "No such file" in shell.run("import", "gone.json", code=1)
    assert "There is nothing to import; looked for" in shell.run("import", "--format", "agd", code=1)
    assert "usage" in shell.run("import", code=2)
    assert "there is no format 'docx'" in shell.run("import", "x", "--format", "docx", code=2)
    assert "say --to DIR" in shell.run("export", "--format", "markdown", code=2)


def test_an_import_says_what_others_than_this_repository_will_see(shell: Shell) -> None:
    note = {"kind": "project", "title": "T", "body": "B"}
    notes = [
        {**note, "id": "a", "scope": "repo"},
        {**note, "id": "b", "scope": "global"},
        {**note, "id": "c", "scope": "git:x/y"},
    ]
    (shell.here / "notes.json").write_text(json.dumps({"notes": notes}))
    lines = shell.run("import", "notes.json").splitlines()
    assert lines[:3] == [
        "Imported: 3 new, 0 updated, 0 unchanged.",
        "Of them 1 note that git:x/y sees; --scope repo keeps an import in this one.",
        "Of them 1 note that every repository sees; --scope repo keeps an import in this one.",
    ]


def test_an_export_goes_where_its_name_leads_or_says_that_there_is_no_such_folder(shell: Shell) -> None:
    assert shell.run("export", "gone/notes.json", code=1).endswith(
        f"There is no folder {shell.here / 'gone'}; make it first.\n"
    )
    (shell.here / "link.json").symlink_to(shell.there / "notes.json")
    shell.run("export", "link.json")
    assert json.loads((shell.there / "notes.json").read_text())["notes"] == []
    assert (shell.here / "link.json").is_symlink()
    (shell.here / "broken.json").symlink_to(shell.there / "gone" / "notes.json")
    assert "There is no folder" in shell.run("export", "broken.json", code=1)


def test_an_import_that_breaks_off_says_how_far_it_came(shell: Shell) -> None:
    notes = [
        {"scope": "repo", "id": f"n{number}", "kind": "project", "title": f"N {number}", "body": "b"}
        for number in range(450)
    ]
    (shell.here / "many.json").write_text(json.dumps(notes))
    real = shell.server.routes["POST /import"]
    answers = iter([real, real])

    def answer(asked: Asked) -> Reply:
        kept = next(answers, None)
        return kept(asked) if kept else refusal(500, "store", "The disk is full.")

    shell.server.routes["POST /import"] = answer
    assert "The disk is full. 400 of 450 notes are done; run it again to go on." in shell.run(
        "import", "many.json", code=1
    )


def test_two_identities_are_merged_by_folder(shell: Shell) -> None:
    shell.imported(str(FORTY_BLOCKS))
    shell.imported(str(FORTY_BLOCKS), cwd=shell.there)
    (shell.there / "own.json").write_text(
        json.dumps([{"scope": "repo", "id": "own", "kind": "project", "title": "Own", "body": "Of its own."}])
    )
    shell.imported("own.json", cwd=shell.there)
    trial = shell.run("merge", "../there", str(shell.here), "--dry-run")
    assert trial.splitlines()[1] == "40 notes said what notes there say already, and would be one with them."
    done = shell.run("merge", "../there", str(shell.here))
    assert done.startswith(f"Moved 1 note from path:{shell.there} to path:{shell.here}.\n")
    assert len(json.loads(shell.run("export"))["notes"]) == 41
    assert "no notes" in shell.run("merge", "../there", ".", code=1)
    assert "it takes two" in shell.run("merge", "x", code=2)


def test_a_format_is_told_by_the_ending_or_by_the_look(tmp_path: Path) -> None:
    looks = {"a.agd": "agd", "b": "agd", "c.txt": "json", "d.md": "markdown"}
    for name, text in {"a.agd": "", "b": "\ufeff@meta", "c.txt": " [", "d.md": "x"}.items():
        (tmp_path / name).write_text(text)
    assert {name: note_formats.source(str(tmp_path / name), "").form for name in looks} == looks
    assert note_formats.source(str(tmp_path), "").form == "markdown"
    (tmp_path / "MEMORY.md").write_text("x")
    assert note_formats.source(str(tmp_path), "").form == "claude"
    assert note_formats.source(str(tmp_path / "MEMORY.md"), "") == (str(tmp_path), "claude")
