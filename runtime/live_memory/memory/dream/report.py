"""What a dream did, or would do: counted whole, listed as far as anybody reads it. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Deed: TypeAlias = Literal[
    "disputed",  # two notes that contradict each other
    "settled",  # a dispute that is none any more
    "merged",  # the second note went into the first
    "reworded",  # a note whose files had changed
    "given grace",  # most of what it names is gone: it expires in some days
    "given up",  # as above, and expired at once
    "doubtful",  # as above, but kept whatever it names
    "verified",  # a fact that still stands in its changed file
    "rewritten",  # a fact
    "retired",  # a fact
    "indexed",  # a concept note was made or brought up to date
    "unindexed",  # a concept note lost its notes
    "expired",
    "passed over",  # somebody else wrote the note meanwhile
    "refused",  # what a model proposed and the files did not bear out
]
Phase: TypeAlias = Literal["orient", "gather", "consolidate", "health check", "prune", "done"]
MAX_LISTED = 100  # of each deed
DISPUTED: Deed = "disputed"


@dataclass(slots=True)
class Report:
    """`why` says why something was left undone, by what it was."""

    phase: Phase = "orient"
    notes: int = 0
    sessions: int = 0
    changes: int = 0
    log_trimmed: int = 0
    took_s: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    listed: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def add(self, deed: Deed, *ids: str, why: str = "") -> None:
        self.counts[deed] += 1
        listed = self.listed.setdefault(deed, [])
        if len(listed) < MAX_LISTED:
            listed.append({"ids": list(ids)} | ({"why": why} if why else {}))

    def figures(self) -> dict[str, object]:
        """As HTTP shows it."""
        return {
            "phase": self.phase,
            "notes": self.notes,
            "sessions": self.sessions,
            "changes": self.changes,
            "log_trimmed": self.log_trimmed,
            "took_s": round(self.took_s, 3),
            "counts": dict(self.counts),
            "listed": self.listed,
            "left_undone": self.why,
        }

    def to_json(self) -> str:
        return json.dumps(self.figures(), ensure_ascii=False)


def parse_figures(text: str) -> Mapping[str, Any]:
    """The figures that `to_json` wrote; none for anything else."""
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
