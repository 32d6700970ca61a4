"""What recall and search find, and what recall keeps to itself: the project's own set, the half that was not tuned on.

False injections are dead-end prompts that were given a note, in the share of all of their kind.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.recall_baselines import Agd, Porter, bare_coverage
from bench.recall_cases import AT_S, Case, all_notes, cases, notes_of, projects
from bench.table import Row

from live_memory.clock import ManualClock
from live_memory.memory.finding import Finder
from live_memory.memory.place import Place
from live_memory.memory.recall import Recall, Recalled
from live_memory.notes.note import GLOBAL, Note
from live_memory.notes.query import query_of
from live_memory.settings import Settings
from live_memory.store.note_store import Change, NoteStore
from live_memory.store.sqlite import SqliteStore
from live_memory.text.tokens import estimate_tokens

ASKED = ("named", "told")
KINDS = ("foreign", "names", "generic", "elsewhere")
MAX_FALSE_RATIO = 0.01
TOP = 3

Shown = tuple[Sequence[str], int]  # ids, tokens
Rule = Callable[[Case], Awaitable[Shown]]


@dataclass(slots=True)
class Tally:
    """How one rule did: by kind of prompt how many there were, were shown something, and were shown the answer."""

    asked: Counter[str] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    tokens: int = 0

    def add(self, case: Case, shown: Shown) -> None:
        ids, tokens = shown
        for kind in dict.fromkeys((case.kind, f"{case.kind} {case.language}", "asked" if case.answers else "dead end")):
            self.asked[kind] += 1
            self.shown[kind] += bool(ids)
            self.right[kind] += any(note_id in case.answers for note_id in ids)
        self.tokens += tokens

    def false_ratio(self, kind: str) -> float:
        return self.shown[kind] / self.asked[kind]

    def recall(self, kind: str) -> float:
        return self.right[kind] / self.asked[kind]


class NoStates:
    """No note of the set rests on a file."""

    async def states(self, notes: Sequence[Note], place: Place, within_s: float = 1.0) -> Mapping[str, str]:
        return {}


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "notes.db").note_store
        store.apply([Change("create", None, note, AT_S, "bench") for note in all_notes()])
        return [*_ranking(store), *asyncio.run(_gates(store))]


def _ranking(store: NoteStore) -> list[Row]:
    """Search alone, with no gate: how often the answer is first, and among the first three."""
    ours = {name: Finder(store, words) for name, words in (("on", "related"), ("off", "exact"))}  # type: ignore[arg-type]
    porter = {project: Porter([*notes_of(project), *notes_of(GLOBAL)]) for project in projects()}
    rows = []
    for kind in ASKED:
        asked = [case for case in cases("held-out") if case.kind == kind]
        on, off = (_hits([_found(finder, case) for case in asked], asked) for finder in ours.values())
        plain = _hits([porter[case.project].best(case.text) for case in asked], asked)
        rows.append(Row(f"search, {len(asked)} {kind} questions: hit@1, recall@3", on, f"FTS5 porter {plain}"))
        rows.append(Row(f"search, {kind}, cognates off: hit@1, recall@3", off, f"cognates on {on}"))
    return rows


def _found(finder: Finder, case: Case) -> list[str]:
    ranked = finder.find((case.project, GLOBAL), query_of(case.text)).ranked
    return [each.note.id for each in ranked]


def _hits(found: Sequence[Sequence[str]], asked: Sequence[Case]) -> str:
    first = sum(ids[:1] != [] and ids[0] in case.answers for ids, case in zip(found, asked, strict=True))
    top = sum(any(i in case.answers for i in ids[:TOP]) for ids, case in zip(found, asked, strict=True))
    return f"{first / len(asked):.3f}, {top / len(asked):.3f}"


async def _gates(store: NoteStore) -> list[Row]:
    default = await _tally(await _recall_rule(store, Settings(), "held-out"), "held-out")
    tuning = await _tally(await _recall_rule(store, Settings(), "tuning"), "tuning")
    exact = await _tally(await _recall_rule(store, replace(Settings(), recall_no_fuzzy=True), "held-out"), "held-out")
    agd = {project: Agd([*notes_of(project), *notes_of(GLOBAL)]) for project in projects()}
    floors = await _tally(_at_once(lambda case: agd[case.project].shown(case.text)), "held-out")
    bare = await _tally(_at_once(lambda case: bare_coverage(store, (case.project, GLOBAL), case.text)), "held-out")
    rows = []
    for kind in ASKED:
        beside = f"agd's floors {floors.recall(kind):.3f}, bare coverage {bare.recall(kind):.3f}"
        figure = f"{default.recall(kind):.3f} (tuning half {tuning.recall(kind):.3f})"
        rows.append(Row(f"recall, {kind}: the answer is injected", figure, beside))
        rows.append(Row(f"recall, {kind}, cognates off", f"{exact.recall(kind):.3f}", f"on {default.recall(kind):.3f}"))
    for kind in (*KINDS, *sorted(k for k in default.asked if k.startswith("generic "))):
        beside = f"agd's floors {floors.false_ratio(kind):.1%}, bare coverage {bare.false_ratio(kind):.1%}"
        ratio = default.false_ratio(kind)
        figure = f"{ratio:.1%} of {default.asked[kind]}"
        rows.append(Row(f"false injections, {kind}", figure, beside, "≤ 1 %", ratio <= MAX_FALSE_RATIO))
    near = f"{default.shown['near']} of {default.asked['near']}"
    rows.append(
        Row("prompts on the project, nothing noted: given a note", near, f"agd's floors {floors.shown['near']}")
    )
    prompts = default.asked["asked"] + default.asked["dead end"]
    rows.append(Row(f"tokens injected, all {prompts} prompts", str(default.tokens), f"cognates off {exact.tokens}"))
    return [*rows, *await _strictness(store)]


async def _strictness(store: NoteStore) -> list[Row]:
    rows = []
    for precision in (0.9, 0.95, 0.98, 0.995, 0.999):
        settings = replace(Settings(), recall_precision=precision)
        tally = await _tally(await _recall_rule(store, settings, "held-out"), "held-out")
        false = ", ".join(f"{kind} {tally.false_ratio(kind):.1%}" for kind in KINDS)
        recalled = ", ".join(f"{kind} {tally.recall(kind):.3f}" for kind in ASKED)
        rows.append(Row(f"recall_precision {precision}", f"{recalled}; false: {false}"))
    return rows


async def _recall_rule(store: NoteStore, settings: Settings, half: str) -> Rule:
    """The product's recall, calibrated on the store."""
    recall = Recall(store, NoStates(), ManualClock(AT_S), lambda: settings)
    for project in projects(half):
        await recall.recall(Place(Path("/"), project), "this prompt begins the calibration of a project", "")
    await recall.settled()

    async def rule(case: Case) -> Shown:
        recalled: Recalled = await recall.recall(Place(Path("/"), case.project), case.text, "")
        return [note.id for note in recalled.notes], estimate_tokens(recalled.context) if recalled.context else 0

    return rule


def _at_once(shown: Callable[[Case], Sequence[str]]) -> Rule:
    async def rule(case: Case) -> Shown:
        return shown(case), 0

    return rule


async def _tally(rule: Rule, half: str) -> Tally:
    tally = Tally()
    for case in cases(half):
        tally.add(case, await rule(case))
    return tally
