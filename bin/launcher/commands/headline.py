"""What a person wants of `/stats` first, in a few lines: who answers, how full the window is, how many notes
there are, what it cost; and, before all, whether secrets are left in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from launcher.commands.trailer import money


def headline(stats: Mapping[str, object]) -> Iterator[str]:
    """The lines; one is left out where the server says nothing for it."""
    redaction = stats.get("redaction")
    if isinstance(redaction, Mapping) and redaction.get("state") == "off":
        yield "REDACTION IS OFF here (redaction_off_roots): secrets in files are kept and sent to the model"
    if stats.get("model"):
        yield f"{stats['model']}, because {stats['why']}" if stats.get("why") else str(stats["model"])
    window = list(_window(stats))
    if window:
        yield " · ".join(window)
    notes = list(_notes(stats))
    if notes:
        yield " · ".join(notes)
    semantic = stats.get("semantic")
    if isinstance(semantic, Mapping) and semantic.get("state") != "off":
        yield meaning(semantic)
    if "cost_usd" in stats:
        yield " · ".join(_cost(stats))


def meaning(semantic: Mapping[str, object]) -> str:
    """How search by meaning stands, from its figures in `/stats`."""
    reason = f": {semantic['reason']}" if semantic.get("reason") else ""
    embedded = f"{semantic.get('embedded', 0)} of {semantic.get('notes', 0)} notes"
    return f"search by meaning is {semantic['state']}{reason} · {embedded} have vectors of {semantic.get('model')}"


def _notes(stats: Mapping[str, object]) -> Iterator[str]:
    notes = stats.get("notes")
    if isinstance(notes, Mapping) and notes.get("notes"):
        yield _counted(notes["notes"], "note")
        yield from (f"{notes[name]} {name}" for name in ("open", "disputed", "expired") if notes.get(name))


def _window(stats: Mapping[str, object]) -> Iterator[str]:
    context, files = stats.get("context"), stats.get("files")
    if isinstance(context, Mapping) and isinstance(context.get("ratio"), (int, float)):
        yield f"window {context['ratio']:.0%} full"
    if "questions" in stats:
        yield _counted(stats["questions"], "question")
    if isinstance(files, Mapping):
        yield f"{stats.get('files_known', 0)} files, {files.get('stale', 0)} stale"


def _counted(count: object, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _cost(stats: Mapping[str, object]) -> Iterator[str]:
    """A cost is only as good as the prices: questions without one are counted beside it."""
    if "cost_today_usd" in stats:
        yield f"{money(stats['cost_today_usd'])} today"
    yield f"{money(stats['cost_usd'])} in all"
    if stats.get("unpriced_questions"):
        yield f"{_counted(stats['unpriced_questions'], 'question')} without a known price (n/a)"
    if stats.get("saved_by_cache_usd"):
        yield f"the cache saved {money(stats['saved_by_cache_usd'])}"
