"""How good and how quick the answer without a model is: our own questions over real packages, and a repository of 10,000 files.

Half of the questions (`tuning`) were looked at while the search was made, the other half (`held-out`) was not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.passages_baselines import ChunkIndex, by_counts
from bench.passages_sources import SOURCES, assemble, fetch_all
from bench.table import Row, median, percentile

from live_memory.explore.passages import find_passages

QUESTIONS = Path(__file__).with_name("passages_questions.jsonl")
LARGE_FILES = 10_000
LARGE_PARTS = ("wandb", "react-native", "jpype1", "tokenizers", "psutil", "starlette", "click", "httpx")
TARGET_HIT = 0.9
TARGET_LARGE_P95_S = 1.0

Spot = tuple[str, int, int]  # path, first line, last line
Finder = Callable[[str, str], Sequence[Spot]]  # package, question → spots


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its gold places: path → line of the definition, 0 where any line will do."""

    package: str
    kind: str
    half: str
    text: str
    gold: dict[str, int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one finder did on one question."""

    asked: Asked
    is_hit: bool
    is_first: bool
    is_line: bool
    took_s: float


def run() -> list[Row]:
    trees = fetch_all()
    questions = _questions()
    indexes = {package: ChunkIndex(tree, SOURCES / f"{tree.name}.fts5") for package, tree in trees.items()}
    ours = _outcomes(questions, lambda package, text: _spots(trees[package], text))
    counts = _outcomes(questions, lambda package, text: by_counts(trees[package], text))
    chunks = _outcomes(questions, lambda package, text: indexes[package].best(text))
    rows = []
    for half in ("held-out", "tuning"):
        for kind in ("", "named", "descriptive", "other language"):
            chosen = [_chosen(outcomes, half, kind) for outcomes in (ours, counts, chunks)]
            rows.append(_quality_row(f"{half} half, {kind or 'named and descriptive'}", chosen, is_target=not kind))
    rows.append(_time_row("passages: one question, all packages", ours, counts, chunks))
    return [*rows, *_large(trees, questions)]


def _questions() -> list[Asked]:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    return [Asked(r["package"], r["kind"], r["half"], r["question"], dict(map(_gold, r["gold"]))) for r in rows]


def _gold(place: str) -> tuple[str, int]:
    path, _, line = place.partition(":")
    return path, int(line or 0)


def _spots(root: Path, text: str) -> list[Spot]:
    return [(found.path, found.line_start, found.line_end) for found in find_passages(root, text)]


def _outcomes(questions: Iterable[Asked], finder: Finder) -> list[Outcome]:
    outcomes = []
    for asked in questions:
        started_s = time.perf_counter()
        spots = finder(asked.package, asked.text)
        took_s = time.perf_counter() - started_s
        right = [path in asked.gold for path, _, _ in spots]
        line = any(
            path in asked.gold and (not asked.gold[path] or first <= asked.gold[path] <= last)
            for path, first, last in spots
        )
        outcomes.append(Outcome(asked, any(right), right[:1] == [True], line, took_s))
    return outcomes


def _chosen(outcomes: Iterable[Outcome], half: str, kind: str) -> list[Outcome]:
    return [
        outcome
        for outcome in outcomes
        if outcome.asked.half == half
        and (outcome.asked.kind == kind if kind else outcome.asked.kind != "other language")
    ]


def _quality_row(what: str, chosen: Sequence[list[Outcome]], *, is_target: bool) -> Row:
    ours, counts, chunks = chosen
    hit = _share([outcome.is_hit for outcome in ours])
    return Row(
        f"passages hit@5 / first is gold / gold line shown: {what} ({len(ours)})",
        _shares(ours),
        f"rg counts {_shares(counts).rpartition(' / ')[0]}; BM25 chunks {_shares(chunks)}",
        f"hit@5 >= {TARGET_HIT:.2f}" if is_target else "",
        hit >= TARGET_HIT if is_target else None,
    )


def _share(marks: Sequence[bool]) -> float:
    return sum(marks) / max(1, len(marks))


def _shares(outcomes: Sequence[Outcome]) -> str:
    columns = zip(*((outcome.is_hit, outcome.is_first, outcome.is_line) for outcome in outcomes), strict=True)
    return " / ".join(f"{_share(column):.2f}" for column in columns)


def _time_row(what: str, ours: Sequence[Outcome], counts: Sequence[Outcome], chunks: Sequence[Outcome]) -> Row:
    return Row(
        f"{what}, p50 / p95", _times(ours), f"rg counts {_times(counts)}; BM25 chunks, index ready {_times(chunks)}"
    )


def _times(outcomes: Sequence[Outcome]) -> str:
    taken = [outcome.took_s for outcome in outcomes]
    return f"{median(taken) * 1000:.0f} / {percentile(taken, 0.95) * 1000:.0f} ms"


def _large(trees: dict[str, Path], questions: Sequence[Asked]) -> list[Row]:
    """Nothing is kept between questions, so each is asked cold."""
    large = assemble([trees[name] for name in LARGE_PARTS], SOURCES / "assembled", LARGE_FILES)
    asked = [question for question in questions if question.package in LARGE_PARTS]
    ours = _outcomes(asked, lambda _, text: _spots(large, text))
    counts = _outcomes(asked, lambda _, text: by_counts(large, text))
    p95_s = percentile([outcome.took_s for outcome in ours], 0.95)
    what = f"passages in a repository of {LARGE_FILES:,} files, cold, p50 / p95 ({len(asked)} questions)"
    target = f"p95 <= {TARGET_LARGE_P95_S:g} s"
    return [Row(what, _times(ours), f"rg counts {_times(counts)}", target, p95_s <= TARGET_LARGE_P95_S)]
