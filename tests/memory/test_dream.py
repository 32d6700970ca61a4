"""Dreams: what they tidy, what they leave alone, and how they are taken back."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from memory.dream_scene import DreamScene
from memory.notes_scene import REPO

from live_memory.errors import QuestionError
from live_memory.memory.dream import workbook
from live_memory.memory.reading import Wanted, get, read
from live_memory.notes.lifecycle import DAY_S
from live_memory.notes.note import Note
from live_memory.notes.rendering import whole_text
from live_memory.store.dream_log import DreamRow
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.note_store import Change, NoteStore
from live_memory.store.sqlite import SqliteStore

SECRETS = "The deploy script reads its secrets from the vault at startup. It fails when the vault is sealed."
CODE = "class TokenStore:\n    def load_token(self):\n        return max_retries\n"


@pytest_asyncio.fixture
async def scene(tmp_path: Path) -> AsyncIterator[DreamScene]:
    made = DreamScene(tmp_path)
    made.file("src/tokens.py", CODE)
    yield made
    await made.close()


async def test_two_values_of_one_property_are_both_kept_and_marked_the_newest_first(scene: DreamScene) -> None:
    scene.put("old", "max_retries = 3", "Retries")
    scene.put("new", "`max_retries` is 5 now.", "Retries of the client")
    answer = await scene.dream()
    old, new = scene.kept("old"), scene.kept("new")
    assert (old.status, new.status) == ("disputed", "disputed")
    assert (old.refs, new.refs) == (("new",), ("old",))
    (told,) = answer["report"]["listed"]["disputed"]
    assert told["ids"] == ["new", "old"]
    assert told["why"] == "“`max_retries` is 5 now.” against “max_retries = 3”"
    assert await scene.counts() == {}


@pytest.mark.parametrize("settlement", ["superseded", "edited", "forgotten"])
async def test_a_dispute_that_somebody_has_settled_is_lifted(scene: DreamScene, settlement: str) -> None:
    scene.put("old", "max_retries = 3", "Retries")
    scene.put("new", "max_retries = 5", "Retries of the client")
    await scene.dream()
    if settlement == "superseded":
        await scene.notes.save("", "", id="new", supersedes=("old",))
    elif settlement == "edited":
        await scene.notes.save("", "max_retries = 5, since the peer resets connections that are idle.", id="old")
    else:
        await scene.notes.notebook.forget(scene.notes.place, ["old"])
    counts = await scene.counts()
    new = scene.kept("new")
    assert new.status == ""
    assert counts.get("settled")


async def test_what_says_the_same_becomes_one_note_and_nothing_of_it_is_lost(scene: DreamScene) -> None:
    scene.put("one", SECRETS, "Secrets of the deploy script", refs=("vault",), priority="P2", expires_at_s=9e9)
    scene.put("two", f"{SECRETS} Ask Dana for a token.", "Deploy script secrets", kind="decision", priority="P0")
    scene.put("vault", "The vault runs on a host of its own.", "Where the vault runs")
    scene.put("citing", "See there.", "How we deploy", refs=("one",))
    assert await scene.counts() == {"merged": 1}
    two, citing = scene.kept("two"), scene.kept("citing")
    assert scene.note("one") is None
    assert (two.kind, two.priority, two.expires_at_s) == ("decision", "P0", None)
    assert (two.refs, two.supersedes, citing.refs) == (("vault",), ("one",), ("two",))
    assert two.body.startswith(f"{SECRETS} Ask Dana for a token.")
    shown, missing, _ = read(scene.store.note_store, (REPO,), Wanted(("one",)))
    assert ([note.id for note in shown], missing) == (["two"], ())


async def test_a_sentence_that_only_the_smaller_note_has_goes_over(scene: DreamScene) -> None:
    body = "\n".join(f"Step {word} of the release runs before the tag is made." for word in ("alpha", "beta", "gamma"))
    scene.put("long", f"{body}\nThe changelog is written by hand by whoever releases.", "How a release is made")
    scene.put("short", f"{body}\nDana signs it.", "How a release is made here")
    assert await scene.counts() == {"merged": 1}
    long = scene.kept("long")
    assert "Dana signs it." in long.body
    assert "The changelog" in long.body


@pytest.mark.parametrize(
    ("body", "other"),
    [
        (
            "The request timeout is 30 s everywhere in the client.",
            "The request timeout is 60 s everywhere in the client.",
        ),
        ("The importer retries a failed batch.", "The importer never retries a failed batch."),
        ("The reader opens the file that the writer closed.", "The billing job opens the ledger that nobody closed."),
    ],
)
async def test_notes_that_differ_in_what_tells_are_never_merged(scene: DreamScene, body: str, other: str) -> None:
    scene.put("one", body, "About it")
    scene.put("two", other, "About it")
    assert "merged" not in await scene.counts()


async def test_notes_whose_code_is_gone_are_graded_by_their_priority(scene: DreamScene) -> None:
    gone = "The function compute_legacy_totals() in src/legacy/totals.py sums the rows."
    now_s = scene.notes.clock.wall_s()
    scene.put("p0", gone, "Totals of the first kind", priority="P0")
    scene.put("p1", gone.replace("rows", "lines of a bill"), "Totals of orders", expires_at_s=now_s + 90 * DAY_S)
    scene.put(
        "p2",
        "`LegacyQueue.drain()` waits for a lock.",
        "Why a drain waits",
        priority="P2",
        expires_at_s=now_s + 30 * DAY_S,
    )
    scene.put(
        "alive",
        "`TokenStore.load_token()` in src/tokens.py honours max_retries.",
        "Loading",
        priority="P2",
        expires_at_s=now_s + 30 * DAY_S,
    )
    counts = await scene.counts()
    assert counts == {"doubtful": 1, "given grace": 1, "given up": 1, "expired": 1}
    graced, p0 = scene.kept("p1"), scene.kept("p0")
    assert graced.expires_at_s == pytest.approx(scene.notes.clock.wall_s() + 7 * DAY_S)
    assert p0.expires_at_s is None
    assert scene.note("p2") is None
    assert scene.note("alive")


@pytest.mark.parametrize(
    "body",
    [
        "compute_legacy_totals() was removed in favour of load_token().",
        "GitHub, PostgreSQL and BigQuery are paid for by card; see https://example.com/a_b/c_d.html and AWS_PROFILE.",
        "Run `make build_everything --fast` twice. The data is in ~/data/raw_input.csv.",
        "TokenStore replaces the old_cache_layer; load_token and max_retries are read by it.",
        "`build/output.bin` is made by the build.",
    ],
)
async def test_what_is_no_name_of_code_or_is_said_to_be_gone_is_not_missed(scene: DreamScene, body: str) -> None:
    scene.file(".gitignore", "build/\n")
    (scene.folder / ".git").mkdir()
    (scene.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    scene.put("it", body, "How it is", priority="P2", expires_at_s=9e9)
    assert await scene.counts() == {}


async def test_nothing_is_missed_in_a_tree_that_cannot_be_seen(tmp_path: Path) -> None:
    scene = DreamScene(tmp_path / "unmounted")
    scene.put("it", "`LegacyQueue.drain()` waits for a lock.", "Why", priority="P2", expires_at_s=9e9)
    answer = await scene.dream()
    assert answer["report"]["counts"] == {}
    assert "cannot be seen" in answer["report"]["left_undone"]["code"]
    await scene.close()


async def test_a_name_that_another_tree_of_the_repository_has_is_not_gone(scene: DreamScene, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "queue.py").write_text("class LegacyQueue:\n    def drain(self): ...\n")
    (scene.folder / ".gitignore").write_text("elsewhere/\n")
    scene.store.note_store.know_tree(str(other), REPO, 1.0)
    (scene.folder / ".git").mkdir()
    (scene.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    scene.put("it", "`LegacyQueue.drain()` waits for a lock.", "Why", priority="P2", expires_at_s=9e9)
    assert await scene.counts() == {}


async def test_three_notes_of_one_topic_get_an_index_that_is_brought_up_to_date(scene: DreamScene) -> None:
    for name in ("eviction", "pooling", "failover"):
        scene.put(name, f"Redis needs {name} to be set with care.", f"Redis {name}")
    assert await scene.counts() == {"indexed": 1}
    (concept,) = [note for note in scene.notes.notes() if note.kind == "concept"]
    assert concept.refs == ("eviction", "failover", "pooling")
    assert "- #eviction: Redis eviction" in concept.body
    assert await scene.counts() == {}
    scene.put("memory", "Redis counts memory oddly.", "Redis memory")
    assert await scene.counts() == {"indexed": 1}
    grown = scene.kept(concept.id)
    assert grown.refs == ("eviction", "failover", "memory", "pooling")
    await scene.notes.notebook.forget(scene.notes.place, ["eviction", "memory"])
    assert await scene.counts() == {"unindexed": 1}
    assert scene.note(concept.id) is None


async def test_expired_notes_go_and_come_back_when_the_dream_is_undone(scene: DreamScene) -> None:
    scene.put("over", "The demo is on Friday.", "Demo", expires_at_s=scene.notes.clock.wall_s() - 1)
    scene.put("global", "Prefer tabs.", "Tabs", scope="global", kind="preference", expires_at_s=1.0)
    before = scene.bytes()
    assert await scene.counts() == {"expired": 2}
    assert scene.note("over") is None
    assert (await scene.dream("undo"))["changes"] == 2
    assert scene.bytes() == before


async def test_a_rehearsal_tells_what_a_dream_does_and_writes_nothing(scene: DreamScene) -> None:
    _planted(scene)
    before, log = scene.bytes(), scene.store.note_store.log((REPO, str(scene.folder)), 1000)
    rehearsed = await scene.counts("dry-run")
    assert (scene.bytes(), scene.store.note_store.log((REPO, str(scene.folder)), 1000)) == (before, log)
    assert scene.store.dreams.ended(10) == ()
    assert rehearsed == await scene.counts()


async def test_undo_restores_every_byte_and_a_second_undo_has_nothing_to_do(scene: DreamScene) -> None:
    _planted(scene)
    before = scene.bytes()
    await scene.dream()
    assert scene.bytes() != before
    await scene.dream("undo")
    assert scene.bytes() == before
    with pytest.raises(QuestionError) as refused:
        await scene.dream("undo")
    assert refused.value.code == "no-change"


async def test_undo_changes_nothing_once_a_note_was_changed_after_the_dream(scene: DreamScene) -> None:
    _planted(scene)
    await scene.dream()
    await scene.notes.save("", "max_retries = 7", id="new")
    after = scene.bytes()
    with pytest.raises(QuestionError) as refused:
        await scene.dream("undo")
    assert refused.value.code == "changed-since"
    assert scene.bytes() == after


async def test_the_gates_open_after_a_day_and_five_sessions(scene: DreamScene) -> None:
    for number in range(4):
        scene.session(f"s{number}")
    gated = await scene.dream("run")
    assert gated["state"] == "gated"
    assert gated["gate"]["why"] == "4 of 5 sessions have ended since the last one"
    scene.session("s4")
    assert (await scene.dream("run"))["state"] == "done"
    gated = await scene.dream("run")
    assert "24.0 of 24 hours are left" in gated["gate"]["why"]
    scene.notes.clock.advance(25 * 3600.0)
    scene.spend.note_client()
    for number in range(5):
        scene.session(f"t{number}")
    assert await scene.dreams.look() == 1
    assert await scene.dreams.look() == 0


async def test_no_dream_begins_by_itself_without_a_client_or_where_it_is_off(scene: DreamScene) -> None:
    for number in range(5):
        scene.session(f"s{number}")
    scene.notes.clock.advance(3600.0)
    assert await scene.dreams.look() == 0
    scene.spend.note_client()
    scene.set(dream_disabled=True)
    assert await scene.dreams.look() == 0
    scene.set(dream_disabled=False)
    assert await scene.dreams.look() == 1


async def test_one_dreams_at_a_time_and_the_status_says_so(scene: DreamScene) -> None:
    now_s = scene.notes.clock.wall_s()
    scene.store.dreams.claim(DreamRow("dream-x", REPO, f"{_living_pid()}-other", now_s, now_s), 60.0)
    assert (await scene.dream("force"))["state"] == "running"
    assert (await scene.dream("status"))["state"] == "running"
    scene.notes.clock.advance(61.0)
    assert (await scene.dream("status"))["state"] == "broken off"
    assert (await scene.dream("force"))["batch"] == "dream-x"


async def test_a_run_that_was_killed_is_gone_on_with_at_once_and_nothing_is_doubled(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "live-memory.db")
    scene = DreamScene(tmp_path / "tree", store=store)
    scene.file("a.py", "x = 1\n")
    _planted(scene)
    before = scene.bytes()
    whole = DreamScene(tmp_path / "tree")
    _planted(whole)
    expected = await whole.counts()
    now_s = scene.notes.clock.wall_s()
    store.dreams.claim(DreamRow("dream-killed", REPO, f"{_dead_pid()}-other", now_s, now_s), 60.0)
    old, new = scene.kept("old"), scene.kept("new")
    marked = [
        Change("dispute", each, replace(each, status="disputed", refs=(ref,)), now_s, "dream", "", "dream-killed")
        for each, ref in ((old, "new"), (new, "old"))
    ]
    store.note_store.apply(marked)
    assert (await scene.dream("status"))["state"] == "broken off"
    counts = await scene.counts()
    assert {**counts, "disputed": 1} == expected
    assert (await scene.dream("undo"))["batch"] == "dream-killed"
    assert scene.bytes() == before
    await scene.close()
    await whole.close()
    store.close()


class Meddling:
    """A store beside which another process writes, just before the first merge."""

    def __init__(self, store: NoteStore) -> None:
        self._store = store
        self._is_due = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        planned = tuple(changes)
        if self._is_due and planned[0].action == "merge":
            self._is_due = False
            twin = planned[1].before
            assert twin
            self._store.apply([Change("update", twin, replace(twin, body="Something else entirely."), 1.0, "user")])
        return self._store.apply(planned)


async def test_a_note_that_is_written_meanwhile_is_left_alone(scene: DreamScene) -> None:
    _planted(scene)
    scene.store._note_store = Meddling(scene.store.note_store)  # type: ignore[attr-defined]
    counts = await scene.counts()
    assert counts["passed over"] == 1
    assert "merged" not in counts
    assert "Something else entirely." in scene.bytes()


@pytest.mark.parametrize("kept_in", ["a file", "memory"])
async def test_a_demoted_fact_is_verified_only_where_its_files_say_so_beyond_doubt(
    tmp_path: Path, kept_in: str
) -> None:
    store = InMemoryStore() if kept_in == "memory" else SqliteStore(tmp_path / "live-memory.db")
    scene = DreamScene(tmp_path / "tree", store=store)
    scene.file("src/tokens.py", CODE)
    scene.file("src/http.py", "max_retries = 5\ntimeout_s = 10  # was 30\n")
    holds = scene.fact("`max_retries` is 5", "src/http.py")
    changed = scene.fact("`timeout_s` is 30", "src/http.py")
    vague = scene.fact("The client in src/http.py retries before it gives up", "src/http.py")
    gone = scene.fact("`LegacyQueue.drain` in src/legacy.py holds a lock", "src/legacy.py")
    moved = scene.fact("`TokenStore.load_token` in src/old_tokens.py counts", "src/old_tokens.py")
    answer = await scene.dream()
    assert answer["report"]["counts"] == {"verified": 1, "retired": 1}
    root = str(scene.folder)
    assert {fact.id for fact in scene.store.notes.stale(root)} == {changed, vague, moved}
    kept = scene.kept(holds, root)
    assert kept.sources == {"src/http.py": hashlib.sha256((scene.folder / "src/http.py").read_bytes()).hexdigest()}
    assert scene.note(gone, root) is None
    assert "2 demoted facts" in answer["report"]["left_undone"]["facts"]
    await scene.dream("undo")
    assert {fact.id for fact in scene.store.notes.stale(root)} == {holds, changed, vague, gone, moved}
    await scene.close()
    store.close()


async def test_a_run_that_is_full_leaves_the_rest_to_the_next(
    scene: DreamScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MAX_CHANGES", 3)
    for number in range(5):
        scene.put(f"over{number}", f"Demo {number} is on Friday.", f"Demo {number}", expires_at_s=1.0)
        scene.put(f"odd{number}", f"odd_{number}_limit = 3", f"Limit {number}")
    scene.put("other", "odd_1_limit = 4", "Limit 1")
    answer = await scene.dream()
    assert answer["report"]["changes"] == 3
    assert "at most" in answer["report"]["left_undone"]["the rest"]
    monkeypatch.undo()
    assert (await scene.counts())["expired"] == 5


async def test_a_long_run_answers_before_it_ends(scene: DreamScene) -> None:
    _planted(scene)
    scene.dreams._answer_s = 0.0
    answer = await scene.dream()
    assert answer["state"] == "running"
    for _ in range(1000):
        await asyncio.sleep(0.001)
        status = await scene.dream("status")
        if status["state"] == "idle":
            break
    assert status["last"]["report"]["phase"] == "done"
    assert scene.dreams.figures()["runs"] == 1


def _planted(scene: DreamScene) -> None:
    """Something for every check."""
    scene.put("old", "max_retries = 3", "Retries")
    scene.put("new", "max_retries = 5", "Retries of the client")
    scene.put("one", SECRETS, "Secrets of the deploy script")
    scene.put("two", f"{SECRETS} Ask Dana.", "Deploy script secrets")
    scene.put("citing", "See there.", "How we ship", refs=("one",))
    scene.put("dead", "`LegacyQueue.drain()` waits for a lock.", "Why a drain waits", priority="P2", expires_at_s=9e9)
    scene.put("over", "The demo is on Friday.", "Demo", expires_at_s=1.0)
    for name in ("eviction", "pooling", "failover"):
        scene.put(name, f"Redis needs {name} to be set with care.", f"Redis {name}")


def _living_pid() -> int:
    import os

    return os.getppid()


def _dead_pid() -> int:
    import subprocess

    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


async def test_both_sides_of_a_dispute_are_shown_together_the_newest_first(scene: DreamScene) -> None:
    scene.put("old", "max_retries = 3", "Retries")
    scene.put("new", "max_retries = 5", "Retries of the client")
    await scene.dream()
    reading = await get(scene.store.note_store, (REPO,), Wanted(("old",)), _no_states)
    assert [shown.note.id for shown in reading.shown] == ["new", "old"]
    day = "2027-01-15"
    assert reading.shown[1].disputes == (
        f"Disputed by #new (written later, {day}): here “max_retries = 3”, there “max_retries = 5”",
    )
    assert "Disputed by #old (written earlier" in whole_text(reading.shown[0].note, disputes=reading.shown[0].disputes)


async def _no_states(_notes: Sequence[Note]) -> dict[str, str]:
    return {}
