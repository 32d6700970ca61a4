"""A made store of notes with planted faults, each known: what a dream must find, and what looks like a fault and is none.

Every planted note speaks of a subject of its own, so that what is flagged can be told from what was planted.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from live_memory.notes.lifecycle import DAY_S
from live_memory.notes.note import Note

REPO = "git:example.com/made/store"
NOW_S = 1_800_000_000.0
MAX_SHARE = 35  # there are no more subjects
_AREAS = """billing ledger invoice payroll refund voucher catalog basket checkout parcel courier depot freight customs tariff quota
    tenant roster beacon sensor turbine valve reactor furnace harvest orchard nursery clinic ward triage dosage vaccine museum archive
    gallery studio theatre cinema podcast bulletin almanac atlas compass harbour ferry tram metro tunnel viaduct reservoir aqueduct"""
_PARTS = """importer exporter scheduler dispatcher reconciler indexer crawler mailer renderer printer archiver sampler sweeper
    auditor notifier resolver balancer collector encoder planner tracker verifier watcher throttler"""
AREAS, PARTS = _AREAS.split(), _PARTS.split()
_REASONS = """because the partner bank closes its gateway at night|after the outage of the northern region|since auditors asked for a trail
    |as the vendor bills by call|because phones lose their connection in lifts|since two teams share one cluster|after Priya measured it for a week
    |because the old hardware had no clock|as nobody reads the queue on weekends|since translators work in another time zone"""
REASONS = [reason.strip() for reason in _REASONS.split("|")]
_SAYINGS: tuple[Callable[[str, str, str], tuple[str, str]], ...] = (
    lambda a, p, r: (
        f"{a.title()} {p} runs at night",
        f"The {a} {p} starts after midnight {r}. Its log is kept for the {a} team alone.",
    ),
    lambda a, p, r: (f"Who owns the {a} {p}", f"Questions about the {a} {p} go to the people of the {a} desk {r}."),
    lambda a, p, r: (
        f"{a.title()} {p} writes in order",
        f"Order matters for the {a} {p}: it writes one row after the other {r}. Parallel writes of {a} rows were tried and given up.",
    ),
    lambda a, p, r: (
        f"Why the {a} {p} was split off",
        f"It was one program with the rest of {a} before. The {p} was split off {r}.",
    ),
    lambda a, p, r: (
        f"{a.title()} {p}: what users see",
        f"Users of {a} are told by mail when the {p} is late {r}. Nothing is shown on the {a} page.",
    ),
)


@dataclass(frozen=True, slots=True)
class Made:
    """The notes, and by check the ids (for pairs: id pairs) that must be found, and those that must not."""

    notes: list[Note] = field(default_factory=list)
    wanted: dict[str, set[Any]] = field(default_factory=dict)
    decoys: dict[str, set[Any]] = field(default_factory=dict)


def made(count: int, root: Path, seed: int = 7) -> Made:
    """`count` notes about a repository that is written to `root`; a fifth of them are planted faults, as many decoys."""
    maker = _Maker(random.Random(seed), root)
    share = min(MAX_SHARE, max(1, count // 100))
    for plant in (
        maker.dead,
        maker.half_dead,
        maker.said_gone,
        maker.contradictions,
        maker.agreements,
        maker.twins,
        maker.near_twins,
        maker.expired,
    ):
        plant(share)
    maker.fill(count)
    return maker.made


class _Maker:
    def __init__(self, chance: random.Random, root: Path) -> None:
        self.made = Made()
        self._chance = chance
        self._root = root
        subjects = list(product(AREAS, PARTS))
        chance.shuffle(subjects)
        self._subjects: Iterator[tuple[str, str]] = iter(subjects)
        self._spare = subjects

    def dead(self, share: int) -> None:
        """Notes most of whose code is gone, of each priority."""
        for number in range(3 * share):
            a, p = next(self._subjects)
            code = (
                f"`{a.title()}{p.title()}.flush_{a}()`",
                f"{a}_{p}_legacy()",
                f"src/{a}/old_{p}.py",
                f"`{a}::{p}::drain_{a}`",
            )[number % 4]
            priority = ("P0", "P1", "P2")[number % 3]
            note = self._note(
                f"Locking in the {a} {p}",
                f"The lock of the {a} is taken in {code} before anything is read.",
                priority=priority,
            )
            self._want("dead code", note.id)

    def half_dead(self, share: int) -> None:
        """Notes half of whose code is there, in any language."""
        for number in range(2 * share):
            a, p = next(self._subjects)
            name, text, ending = _LANGUAGES[number % len(_LANGUAGES)](a, p)
            self._file(f"src/{a}/{p}{ending}", text)
            note = self._note(
                f"Entry of the {a} {p}",
                f"`{name}` is where the {a} {p} begins; old_{a}_entry() was its name on paper.",
                priority="P2",
            )
            self._decoy("dead code", note.id)

    def said_gone(self, share: int) -> None:
        """Notes that name what is no code of this repository, or say themselves that it is gone."""
        for number in range(2 * share):
            a, p = next(self._subjects)
            body = (
                f"The {a} {p} was moved off BigQuery to PostgreSQL; set {a.upper()}_{p.upper()}_TOKEN before you start it.",
                f"{a}_{p}_v1() was removed from the {a} code for good.",
                f"The dashboard of the {a} {p} is at https://grafana.example.com/d/{a}_{p}/{a}.html for everybody.",
                f"To rebuild the {a} {p} run `make {a}_{p}_image --no_cache` on the build host.",
            )[number % 4]
            self._decoy("dead code", self._note(f"Moving the {a} {p}", body, priority="P2").id)

    def contradictions(self, share: int) -> None:
        for number in range(3 * share):
            a, p = next(self._subjects)
            one, other = _CLASHES[number % len(_CLASHES)](a, p)
            self._want("contradiction", self._pair(f"{a.title()} {p} settings", one, f"Settings of the {a} {p}", other))

    def agreements(self, share: int) -> None:
        """Pairs that look like contradictions."""
        for number in range(4 * share):
            a, p = next(self._subjects)
            one, other = _AGREEMENTS[number % len(_AGREEMENTS)](a, p)
            self._decoy(
                "contradiction", self._pair(f"{a.title()} {p} settings", one, f"Settings of the {a} {p}", other)
            )

    def twins(self, share: int) -> None:
        for number in range(2 * share):
            a, p = next(self._subjects)
            first = f"Batches of the {a} {p} are cut at noon, since the carrier collects at one."
            second = f"Whoever misses the cut of the {a} waits for the next day."
            third = f"Nobody may open a closed {a} batch."
            other = (
                f"{first} {second} {third}",
                f"{second} {third} {first}",
                f"- {first}\n- {second}\n- {third}\n- The {a} desk is told by mail.",
                f"{first.replace('noon, since', 'noon since')} {second} {third}",
            )[number % 4]
            pair = self._pair(
                f"When {a} {p} batches are cut", f"{first} {second} {third}", f"The cut of {a} {p} batches", other
            )
            self._want("near-duplicate", pair)

    def near_twins(self, share: int) -> None:
        """Pairs of the same words in which something that tells differs."""
        for number in range(3 * share):
            a, p = next(self._subjects)
            b, q = next(self._subjects)
            one, other = (
                (
                    f"Slots of the {a} {p} are given out by ticket in hall 4 to drivers.",
                    f"Slots of the {a} {p} are given out by ticket in hall 7 to drivers.",
                ),
                (
                    f"Forms of the {a} {p} go to Lisbon for a stamp each week.",
                    f"Forms of the {a} {p} go to Vienna for a stamp each week.",
                ),
                (
                    f"Drivers of the {a} {p} are called before they leave the yard.",
                    f"Drivers of the {b} {q} are called before they leave the yard.",
                ),
            )[number % 3]
            titles = (
                (f"{a.title()} {p} notes", f"{b.title()} {q} notes")
                if number % 3 == 2
                else (f"{a.title()} {p} yard", f"{a.title()} {p} yard again")
            )
            self._decoy("near-duplicate", self._pair(titles[0], one, titles[1], other))

    def expired(self, share: int) -> None:
        for number in range(4 * share):
            a, p = next(self._subjects)
            left_s = DAY_S if number % 2 else -DAY_S
            note = self._note(
                f"The {a} {p} freeze",
                f"The {a} {p} is frozen for the fair until everybody is back.",
                expires_at_s=NOW_S + left_s,
            )
            (self._decoy if number % 2 else self._want)("expiry", note.id)

    def fill(self, count: int) -> None:
        """Plain true notes, until there are as many."""
        number = 0
        while len(self.made.notes) < count:
            again, nth = divmod(number, len(self._spare))
            a, p = self._spare[nth]
            saying = _SAYINGS[(nth + again) % len(_SAYINGS)]
            title, body = saying(a, p, self._chance.choice(REASONS))
            if number >= len(self._spare) * len(_SAYINGS):
                title, body = f"{title} ({number})", f"{body} Case w{number} of x{number}."
            self._note(title, body)
            number += 1

    def _note(self, title: str, body: str, **fields: Any) -> Note:
        number = len(self.made.notes)
        at_s = NOW_S - 30 * DAY_S + number
        stamps = dict.fromkeys(("created_at_s", "updated_at_s", "verified_at_s"), at_s)
        note = Note(
            **{
                "scope": REPO,
                "id": f"n{number}",
                "kind": "project",
                "title": title,
                "body": body,
                "expires_at_s": NOW_S + 60 * DAY_S,
                **stamps,
                **fields,
            }
        )
        self.made.notes.append(note)
        return note

    def _pair(self, title: str, one: str, other_title: str, other: str) -> tuple[str, str]:
        for name in re.findall(r"[a-z]+_\w+", f"{one} {other}"):  # what it names is there
            self._file(f"config/{name}.ini", f"{name} = 1\n")
        return (self._note(title, one).id, self._note(other_title, other).id)

    def _want(self, check: str, found: object) -> None:
        self.made.wanted.setdefault(check, set()).add(found)

    def _decoy(self, check: str, found: object) -> None:
        self.made.decoys.setdefault(check, set()).add(found)

    def _file(self, path: str, text: str) -> None:
        place = self._root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


_LANGUAGES: tuple[Callable[[str, str], tuple[str, str, str]], ...] = (
    lambda a, p: (f"run_{a}_{p}", f"def run_{a}_{p}():\n    return 1\n", ".py"),
    lambda a, p: (f"{a}{p.title()}", f"export const {a}{p.title()} = () => 1\n", ".ts"),
    lambda a, p: (f"{a.title()}{p.title()}", f"package {a}\n\ntype {a.title()}{p.title()} struct{{}}\n", ".go"),
    lambda a, p: (f"{a}_{p}::start_{a}", f"mod {a}_{p} {{ pub fn start_{a}() {{}} }}\n", ".rs"),
    lambda a, p: (f"{a}_{p}_main", f"int {a}_{p}_main(void) {{ return 0; }}\n", ".c"),
    lambda a, p: (f"{a}_{p}_job", f"{a}_{p}_job:\n  image: alpine\n", ".yml"),
)
_CLASHES: tuple[Callable[[str, str], tuple[str, str]], ...] = (
    lambda a, p: (f"{a}_{p}_retries = 3", f"`{a}_{p}_retries` is 5 now."),
    lambda a, p: (f"The {a} {p} timeout is 30s.", f"The {a} {p} timeout is 600 s."),
    lambda a, p: (f"The {a} {p} uses Kafka for its events.", f"The {a} {p} does not use Kafka for its events."),
    lambda a, p: (f"The branch of the {a} {p} is `main`.", f"The branch of the {a} {p} is `release`."),
    lambda a, p: (f"{a}_{p}_enabled: true", f"{a}_{p}_enabled: false"),
    lambda a, p: (f"The {a} {p} limit is 10 MB.", f"The {a} {p} limit was raised from 10 MB to 25 MB."),
    lambda a, p: (f"The {a} {p} flag is enabled.", f"The {a} {p} flag is disabled."),
    lambda a, p: (f"{a}_{p}_pool defaults to 8.", f"`{a}_{p}_pool` defaults to sixteen, that is 16."),
)
_AGREEMENTS: tuple[Callable[[str, str], tuple[str, str]], ...] = (
    lambda a, p: (f"max_{a}_{p} = 3", f"min_{a}_{p} = 1"),
    lambda a, p: (f"{a}_{p}_timeout_ms = 500", f"{a}_{p}_timeout_s = 30"),
    lambda a, p: (f"The {a} {p} timeout is 30s.", f"The {a} {p} timeout is 30 s."),
    lambda a, p: (f"The {a} {p} timeout is 30 seconds.", f"The {a} {p} timeout is 30000 ms."),
    lambda a, p: (f"In 2025-03 the {a} {p} limit is 100.", f"In 2026-01 the {a} {p} limit is 200."),
    lambda a, p: (f"In staging the {a} {p} count is 2.", f"In production the {a} {p} count is 8."),
    lambda a, p: (f"The {a} {p} limit was 100 before the move.", f"The {a} {p} limit is 200."),
    lambda a, p: (f"The {a} {p} payload is at most 5 MB.", f"The {a} {p} payload is at least 1 MB."),
    lambda a, p: (f"The {a} {p} flag is on.", f"The {a} {p} flag is true."),
    lambda a, p: (f"The connect timeout of the {a} {p} is 5s.", f"The read timeout of the {a} {p} is 60s."),
    lambda a, p: (f"The {a} {p} port is between 7000 and 7100.", f"The {a} {p} port is 7711."),
    lambda a, p: (f"The {a} {p} should retry 5 times if the peer is busy.", f"Retries of the {a} {p} are 3."),
)
