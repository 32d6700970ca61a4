"""Facts out of what a summarizer wrote: each with the files that it rests on, as they were when it was learned. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from live_memory.agent.summarizer import Learned
from live_memory.notes.note import Fact, new_fact
from live_memory.notes.provenance import Provenance
from live_memory.window.files import FileContext
from live_memory.window.window import Exchange, Window

Subject: TypeAlias = FileContext | Exchange  # what facts are distilled from


def facts_of(learned: Iterable[Learned], subjects: Sequence[Subject], window: Window, at_s: float) -> tuple[Fact, ...]:
    """A fact for each line: it rests on the files it names among those it was distilled from, else among all that `window`
    knows, else on the one file it was distilled from. One whose file has changed by now is stale from the beginning."""
    known = Provenance({path: file.sha256 for path, file in window.files.items()})
    facts: dict[str, Fact] = {}
    for each in learned:
        near = _files_of(subjects[number] for number in sorted(each.numbers))
        sources = Provenance(near).sources(each.line) or known.sources(each.line)
        if not sources and len(near) == 1:
            sources = dict(near)
        fact = new_fact(each.line, sources, at_s)
        facts[fact.id] = replace(
            fact, changed=frozenset(p for p, sha256 in sources.items() if _has_changed(window, p, sha256))
        )
    return tuple(facts.values())


def _files_of(subjects: Iterable[Subject]) -> Mapping[str, str]:
    files: dict[str, str] = {}
    for subject in subjects:
        files.update({subject.path: subject.sha256} if isinstance(subject, FileContext) else dict(subject.sources))
    return files


def _has_changed(window: Window, path: str, sha256: str) -> bool:
    file = window.files.get(path)
    return file is not None and (file.state != "fresh" or file.sha256 != sha256)
