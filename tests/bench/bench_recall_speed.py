"""How quick recall and search are in the server: one repository of 1,000, 10,000 and 100,000 notes, words spread as in a language.

Half of the prompts are about a note (words of its title), half are about nothing here.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path

from bench.recall_cases import cases, notes_of, projects
from bench.table import Row, median, percentile
from server.processes import listening, made_data_dir, port_of, serving

from _client import linux_start
from live_memory.clock import SystemClock
from live_memory.explore.repo_identity import repo_id
from live_memory.memory.place import Place
from live_memory.memory.recall import Recall
from live_memory.memory.search import Search, SearchQuery
from live_memory.notes.note import Note
from live_memory.settings import Settings
from live_memory.store.note_store import Change, NoteStore
from live_memory.store.sqlite import SqliteStore

SIZES = (1_000, 10_000, 100_000)
TARGETS_MS: Mapping[int, float] = {10_000: 10.0, 100_000: 30.0}
ASKED = 200
VOCABULARY = 60_000
TITLE_TERMS, BODY_TERMS = 7, 60
BATCH = 2_000
HOOKS = Path(__file__).resolve().parents[2] / "hooks"
PATIENCE_S = 60.0
INTERPRETER = str(getattr(sys, "_base_executable", sys.executable))  # a venv starts more slowly
HOOK_ROUNDS, HOOK_TARGET_MS, HOOK_P95_MS = 60, 40.0, 60.0
AT_S = 1_800_000_000.0


class NoStates:
    """No note rests on a file."""

    async def states(self, notes: Sequence[Note], place: Place, within_s: float = 1.0) -> Mapping[str, str]:
        return {}


def run() -> list[Row]:
    rows: list[Row] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            data_dir = made_data_dir(Path(folder).resolve())
            place = _place(data_dir)
            with closing(SqliteStore(data_dir / "live-memory.db")) as store:
                started_s = time.perf_counter()
                _fill(store.note_store, place, size)
                saved_s = time.perf_counter() - started_s
                rows += asyncio.run(_measured(store.note_store, place, size))
            rows.append(_through_the_hook(data_dir, size))
            rows.append(Row(f"{size} notes: saved and indexed, {BATCH} a transaction", f"{saved_s:.1f} s"))
    return rows


def _place(data_dir: Path) -> Place:
    root = data_dir.parent / "repo"
    return Place(root, repo_id(root))


def _through_the_hook(data_dir: Path, size: int) -> Row:
    """From the hook's start to its exit, with a server of its own that has been asked before."""
    prompts = _prompts(size)[:HOOK_ROUNDS]
    with listening() as listener, serving(data_dir, listener) as server:
        record = {"pid": server.pid, "started": linux_start(server.pid), "port": port_of(listener), "version": "0.1.0"}
        (data_dir / "server.json").write_text(json.dumps(record))
        (data_dir / "python").write_text(f"{INTERPRETER}\n")
        _hook_ms(data_dir, prompts[0])
        _wait_for_calibration(data_dir)
        pairs = [(_hook_ms(data_dir, prompt), _bare_ms()) for prompt in prompts]
        told = sum(bool(_hook_output(data_dir, prompt)) for prompt in _prompts(size)[-HOOK_ROUNDS:])
    hook_ms, bare_ms = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    p95 = percentile(hook_ms, 0.95)
    return Row(
        f"{size} notes: UserPromptSubmit hook, start to exit",
        f"p50 {median(hook_ms):.1f} ms, p95 {p95:.1f} ms ({told} of {HOOK_ROUNDS} prompts given notes)",
        f"python -ESs p50 {median(bare_ms):.1f} ms",
        f"p50 ≤ {HOOK_TARGET_MS:.0f} ms, p95 ≤ {HOOK_P95_MS:.0f} ms",
        median(hook_ms) <= HOOK_TARGET_MS and p95 <= HOOK_P95_MS,
    )


def _wait_for_calibration(data_dir: Path) -> None:
    log = data_dir / "logs" / "live-memory.log"
    give_up_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_s and not (log.exists() and "recall calibrated" in log.read_text()):
        time.sleep(0.1)
        _hook_ms(data_dir, "a prompt with words that no note has ever seen")


def _hook_ms(data_dir: Path, prompt: str) -> float:
    started_s = time.perf_counter()
    _hook_output(data_dir, prompt)
    return (time.perf_counter() - started_s) * 1000


def _hook_output(data_dir: Path, prompt: str) -> bytes:
    told = {"cwd": str(data_dir.parent / "repo"), "prompt": prompt, "session_id": prompt[:40]}
    environment = {"PATH": os.environ["PATH"], "LIVE_MEMORY_DATA_DIR": str(data_dir)}
    command = ["sh", str(HOOKS / "run"), "user_prompt_submit"]
    done = subprocess.run(command, input=json.dumps(told).encode(), env=environment, capture_output=True, check=True)
    return done.stdout


def _bare_ms() -> float:
    started_s = time.perf_counter()
    subprocess.run([INTERPRETER, "-ESs", "-c", "pass"], check=True)
    return (time.perf_counter() - started_s) * 1000


def words() -> tuple[list[str], list[float]]:
    """Real words first, then made ones, with weights that fall as a language's do."""
    real = dict.fromkeys(word for project in projects() for note in notes_of(project) for word in note.body.split())
    rng = random.Random(7)
    letters = "etaoinshrdlucmfwypvbgk"
    made = ["".join(rng.choices(letters, k=rng.randint(5, 10))) for _ in range(VOCABULARY - len(real))]
    vocabulary = [*real, *made]
    rng.shuffle(vocabulary)
    return vocabulary, list(accumulate(1 / (rank + 8) for rank in range(len(vocabulary))))


def _fill(store: NoteStore, place: Place, size: int) -> None:
    for batch in _batches(_notes(size)):
        store.apply([Change("create", None, replace(note, scope=place.repo_id), AT_S, "bench") for note in batch])


def _notes(size: int) -> Iterator[Note]:
    rng = random.Random(11)  # the first notes of every size are the same
    vocabulary, weights = words()
    for number in range(size):
        said = rng.choices(vocabulary, cum_weights=weights, k=TITLE_TERMS + BODY_TERMS)
        title, body = " ".join(said[:TITLE_TERMS]), " ".join(said[TITLE_TERMS:])
        yield Note("", f"n-{number}", "decision", title, body, created_at_s=AT_S, updated_at_s=AT_S + number)


def _batches(notes: Iterator[Note]) -> Iterator[list[Note]]:
    batch: list[Note] = []
    for note in notes:
        batch.append(note)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


async def _measured(store: NoteStore, place: Place, size: int) -> list[Row]:
    settings = replace(Settings(), recall_body_only=True)
    recall = Recall(store, NoStates(), SystemClock(), lambda: settings)
    search = Search(store, SystemClock(), lambda: settings)
    prompts = _prompts(size)
    await recall.recall(place, prompts[0], "")
    began_s = time.perf_counter()
    await recall.settled()
    calibrated_s = time.perf_counter() - began_s
    target = TARGETS_MS.get(size)
    recalled = await _times([partial(recall.recall, place, prompt, "") for prompt in prompts])
    searched = await _times([partial(search.find, place, SearchQuery(prompt)) for prompt in prompts])
    await recall.close()
    return [
        _row(f"{size} notes: recall in the server", recalled, target),
        _row(f"{size} notes: search in the server", searched, None),
        Row(f"{size} notes: calibration in the background, in slices of one title", f"{calibrated_s:.2f} s"),
    ]


def _prompts(size: int) -> list[str]:
    rng = random.Random(3)
    about = [note.title for note in _notes(min(size, 1_000))]
    foreign = [case.text for case in cases("tuning") if case.kind != "near"]
    return [text for _ in range(ASKED // 2) for text in (rng.choice(about), rng.choice(foreign))]


async def _times(calls: Sequence[Callable[[], Coroutine[None, None, object]]]) -> list[tuple[float, float]]:
    """Milliseconds of each call, by the clock and of the processor: a busy machine shows in the former alone."""
    times_ms = []
    for call in calls:
        started_s, worked_s = time.perf_counter(), time.process_time()
        await call()
        times_ms.append(((time.perf_counter() - started_s) * 1000, (time.process_time() - worked_s) * 1000))
    return times_ms


def _row(what: str, times_ms: Sequence[tuple[float, float]], target_ms: float | None) -> Row:
    clock_ms, worked_ms = [each[0] for each in times_ms], [each[1] for each in times_ms]
    p95 = percentile(clock_ms, 0.95)
    figure = f"p50 {median(clock_ms):.1f} ms, p95 {p95:.1f} ms"
    beside = f"of the processor p50 {median(worked_ms):.1f} ms, p95 {percentile(worked_ms, 0.95):.1f} ms"
    if target_ms is None:
        return Row(what, figure, beside)
    return Row(what, figure, beside, f"p95 ≤ {target_ms:.0f} ms", p95 <= target_ms)
