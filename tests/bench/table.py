"""The figures' table: one row a measurement, beside its baseline from the same run and its target."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement in words and units; `is_met` is None where there is no target."""

    what: str
    figure: str
    baseline: str = ""
    target: str = ""
    is_met: bool | None = None


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of `values` (share in 0..1)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered) + 0.5) - 1))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def render(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    mark = {True: "yes", False: "NO", None: ""}
    lines = [("what", "measured", "baseline, same run", "target", "met")]
    lines += [(r.what, r.figure, r.baseline, r.target, mark[r.is_met]) for r in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)
