"""`live-memory export`, `import` and `merge`: notes into files and out of them, and two identities' notes together."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from launcher import paths
from launcher.commands import files_written, note_formats, note_lines, note_server, options, runtime_package
from launcher.errors import LaunchError, UsageError
from launcher.terminal import coloured, printable, progress

if TYPE_CHECKING:
    from typing import Literal

    from live_memory.notes.note import Note

    Tense = Literal["did", "would"]

EXPORT_USAGE = (
    "export [FILE] [--format json|agd|markdown|claude] [--to DIR] [--scope all|repo|global|everything] [--cwd DIR]"
)
IMPORT_USAGE = (
    "import [FILE | DIR] [--format json|agd|markdown|claude|am-memory] [--scope repo|global] [--project NAME] [--dry-run] "
    "[--cwd DIR] [--json]"
)
MERGE_USAGE = "merge FROM TO [--dry-run] [--json]   (repo ids or folders)"
IDENTITIES = ("git:", "commit:", "path:")
PART_NOTES = 200
PART_BYTES = 256 << 10
MAX_REASONS = 12
MAX_EXAMPLES = 3
MAX_NAMED = 20
Answer = dict[str, object]


def run_export(arguments: list[str]) -> int:
    """Write the notes that are seen from a folder into a file, into a folder, or on stdout."""
    kinds = {**options.CWD, "--format": "value", "--to": "value", "--scope": "value"}
    parsed = options.parse(arguments, EXPORT_USAGE, kinds, max_words=1)
    target, folder = "".join(parsed.words), parsed.options.get("--to", "")
    if target and folder:
        raise UsageError(f"a file or --to, not both; usage: live-memory {EXPORT_USAGE}")
    form = _export_format(parsed.options.get("--format", ""), target, folder)
    notes = list(_exported(options.folder(parsed), parsed.options.get("--scope", "all")))
    facts = 0 if form == "json" else sum(note.kind == "fact" for note in notes)
    written = note_formats.write([note for note in notes if form == "json" or note.kind != "fact"], form)
    if folder:
        files = written.files or {f"notes.{form}": written.text}
        is_ours = note_formats.is_our_page if form == "markdown" else lambda text: not written.files
        left_over = files_written.write_folder(os.path.expanduser(folder), files, is_ours)
        _say_what_is_left_over(folder, left_over)
    elif target and target != note_formats.STDIN:
        files_written.write_file(os.path.expanduser(target), written.text)
    else:
        sys.stdout.write(written.text)
        return 0
    note_lines.print_lines([printable(f"Exported: {_count(len(notes) - facts)} to {folder or target} ({form}).")])
    if facts:
        _remark(f"{_count(facts, 'fact')} of the window stayed here; --format json takes them along.")
    return 0


def run_import(arguments: list[str]) -> int:
    """Keep the notes of a file or folder."""
    kinds = {
        **options.CWD,
        **options.JSON,
        "--format": "value",
        "--scope": "value",
        "--project": "value",
        "--dry-run": "flag",
    }
    parsed = options.parse(arguments, IMPORT_USAGE, kinds, max_words=1)
    form = note_formats.named(parsed.options.get("--format", ""), note_formats.READABLE)
    folder = options.folder(parsed)
    if parsed.words:
        sources = [note_formats.source(os.path.expanduser(parsed.words[0]), form)]
    elif form:
        sources = note_formats.usual_places(form, folder)
    else:
        raise UsageError(f"the file or folder is missing; usage: live-memory {IMPORT_USAGE}")
    total = {"batch": "", "created": 0, "updated": 0, "unchanged": 0, "omissions": []}
    for source in sources:
        decoded = note_formats.read(source, parsed.options.get("--project", ""))
        omissions = _omissions(total)
        omissions += [{"where": each.where, "reason": each.reason} for each in decoded.omissions]
        if not decoded.notes and not decoded.omissions:
            raise LaunchError(f"{source.path} holds no notes.")
        more: Answer = {"cwd": folder, "source": os.path.basename(os.path.abspath(source.path))}
        more["scope"] = parsed.options.get("--scope", "global" if os.path.basename(source.path) == "global.agd" else "")
        more["dry_run"] = "--dry-run" in parsed.options
        _send(decoded.notes, more, total)
    if options.form(parsed) == "json":
        return note_lines.print_json(total)
    note_lines.print_lines(_import_lines(total, _tense(parsed)))
    return 0


def run_merge(arguments: list[str]) -> int:
    """Bring the notes of one identity of a repository to another."""
    parsed = options.parse(arguments, MERGE_USAGE, {**options.JSON, "--dry-run": "flag"}, max_words=2)
    if len(parsed.words) != len(("FROM", "TO")):
        raise UsageError(f"it takes two; usage: live-memory {MERGE_USAGE}")
    source, target = map(_identity, parsed.words)
    tense = _tense(parsed)
    body = {"from": source, "to": target, "dry_run": tense == "would"}
    answer = note_server.ask(paths.place(), "POST", "/merge", body)
    if options.form(parsed) == "json":
        return note_lines.print_json(answer)
    note_lines.print_lines(map(printable, _merge_lines(answer, tense)))
    return 0


def _export_format(word: str, target: str, folder: str) -> str:
    """The format named, else that of the file's ending; Markdown where only a folder is named."""
    suffix = os.path.splitext(target)[1].lower()
    by_look = note_formats.BY_SUFFIX.get(suffix, "json") if not folder else "markdown"
    form = note_formats.named(word or by_look, note_formats.WRITABLE)
    if form in note_formats.IN_FOLDERS and not folder:
        raise UsageError(f"{form} is a folder of files: say --to DIR; usage: live-memory {EXPORT_USAGE}")
    return form


def _exported(cwd: str, scope: str) -> Iterator[Note]:
    runtime_package.reachable()
    from live_memory.notes.note_json import from_json

    place, after = paths.place(), None
    while True:
        body = {"cwd": cwd, "scope": scope, "after": after}
        page = note_server.ask(place, "POST", "/export", body)
        yield from map(from_json, note_lines.objects(page, "notes"))
        after = page.get("after")
        if after is None:
            return


def _send(notes: Sequence[Note], more: Answer, total: Answer) -> None:
    """Send `notes` part by part and add what became of them to `total`. LaunchError says how far it came."""
    place, sent = paths.place(), 0
    with progress() as show:
        for part in _parts(notes):
            show({"step": f"importing, {sent:,} of {len(notes):,}"})
            try:
                answer = note_server.ask(place, "POST", "/import", {**more, "notes": part, "batch": total["batch"]})
            except LaunchError as error:
                done = f" {sent:,} of {len(notes):,} notes are done; run it again to go on." if sent else ""
                raise LaunchError(f"{error}{done}") from None
            sent += len(part)
            total["batch"] = answer.get("batch", "")
            for name in ("created", "updated", "unchanged"):
                total[name] = _number(total, name) + _number(answer, name)
            _omissions(total).extend(note_lines.objects(answer, "omissions"))
            elsewhere = _names(answer, "elsewhere")
            total["elsewhere"] = {
                scope: _number(_names(total, "elsewhere"), scope) + _number(elsewhere, scope)
                for scope in (*_names(total, "elsewhere"), *elsewhere)
            }


def _parts(notes: Iterable[Note]) -> Iterator[list[dict[str, object]]]:
    from live_memory.notes.note_json import to_json

    part, size_bytes = list[dict[str, object]](), 0
    for note in notes:
        fields = to_json(note)
        note_bytes = len(json.dumps(fields))
        if part and (len(part) == PART_NOTES or size_bytes + note_bytes > PART_BYTES):
            yield part
            part, size_bytes = [], 0
        part.append(fields)
        size_bytes += note_bytes
    if part:
        yield part


def _identity(word: str) -> str:
    return word if word.startswith(IDENTITIES) else os.path.abspath(os.path.expanduser(word))


def _tense(parsed: options.Parsed) -> Tense:
    return "would" if "--dry-run" in parsed.options else "did"


def _import_lines(total: Answer, tense: Tense) -> Iterator[str]:
    counts = [
        f"{_number(total, name):,} {word}"
        for name, word in (("created", "new"), ("updated", "updated"), ("unchanged", "unchanged"))
    ]
    yield f"{'Imported' if tense == 'did' else 'Would be imported'}: {', '.join(counts)}."
    for scope in sorted(_names(total, "elsewhere")):
        count = _count(_number(_names(total, "elsewhere"), scope))
        seen = "every repository sees" if scope == "global" else f"{scope} sees"
        remark = f"Of them {count} that {seen}; --scope repo keeps an import in this one."
        yield coloured(printable(remark), "yellow")
    by_reason: dict[str, list[str]] = {}
    for each in _omissions(total):
        by_reason.setdefault(note_lines.text(each, "reason"), []).append(note_lines.text(each, "where"))
    for reason, places in list(by_reason.items())[:MAX_REASONS]:
        more = "" if len(places) <= MAX_EXAMPLES else f" and {len(places) - MAX_EXAMPLES:,} more"
        yield coloured(printable(f"Left out, {reason}: {', '.join(places[:MAX_EXAMPLES])}{more}"), "yellow")
    if len(by_reason) > MAX_REASONS:
        yield coloured(f"Left out for {len(by_reason) - MAX_REASONS:,} other reasons: --json lists them all.", "yellow")
    if tense == "did" and _number(total, "created") + _number(total, "updated"):
        yield coloured(f"`live-memory forget --undo {total['batch']}` takes it back.", "dim")


def _merge_lines(answer: Answer, tense: Tense) -> Iterator[str]:
    verb = "Moved" if tense == "did" else "Would move"
    yield f"{verb} {_count(_number(answer, 'moved'))} from {answer.get('from')} to {answer.get('to')}."
    joined = _names(answer, "joined")
    if joined:
        yield f"{_count(len(joined))} said what notes there say already, and {'are' if tense == 'did' else 'would be'} one with them."
    others = [f"  #{old} is #{new}" for old, new in joined.items() if old != new]
    others += [
        f"  #{old} says something else than #{old} there: it is #{new}"
        for old, new in _names(answer, "renamed").items()
    ]
    yield from others[:MAX_NAMED]
    if len(others) > MAX_NAMED:
        yield f"  and {len(others) - MAX_NAMED:,} more: --json lists them all"
    if tense == "did":
        yield f"`live-memory forget --undo {answer.get('batch')}` takes it back."


def _names(answer: Answer, field: str) -> dict[str, object]:
    value = answer.get(field)
    return value if isinstance(value, dict) else {}


def _say_what_is_left_over(folder: str, names: Sequence[str]) -> None:
    if names:
        shown = ", ".join(names[:MAX_EXAMPLES]) + ("" if len(names) <= MAX_EXAMPLES else ", …")
        _remark(f"{folder} also holds {_count(len(names), 'file')} of notes that are not here: {shown}")


def _remark(sentence: str) -> None:
    sys.stderr.write(coloured(printable(sentence), "yellow", sys.stderr) + "\n")


def _count(number: int, noun: str = "note") -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _number(answer: Answer, name: str) -> int:
    value = answer.get(name)
    return value if isinstance(value, int) else 0


def _omissions(answer: Answer) -> list[Mapping[str, object]]:
    value = answer.setdefault("omissions", [])
    assert isinstance(value, list)
    return value
