"""`live-memory save`, `get` and `forget`: write notes, read them, and drop them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from launcher import paths
from launcher.commands import note_lines, note_server, options
from launcher.errors import LaunchError, UsageError
from launcher.terminal import coloured, printable

SAVE_USAGE = (
    "save TITLE [BODY | -] [--kind K] [--description D] [--id ID] [--status S] [--priority P0|P1|P2] [--scope repo|global] "
    "[--refs ID,…] [--supersedes ID,…] [--files PATH,…] [--cwd DIR] [--json]"
)
GET_USAGE = "get ID… [--follow-refs] [--backlinks] [--depth N] [--cwd DIR] [--json]"
FORGET_USAGE = "forget ID… | forget --undo [N | BATCH] [--cwd DIR] [--json]"
TEXT_FIELDS = ("kind", "description", "id", "status", "priority", "scope")
LIST_FIELDS = ("refs", "supersedes", "files")
MAX_SHOWN = 20  # changes taken back, of a large batch
COMMON = {**options.CWD, **options.JSON}


def run_save(arguments: list[str]) -> int:
    """Keep a note; its body is an argument, or comes on stdin."""
    kinds = {**COMMON, **{f"--{name}": "value" for name in (*TEXT_FIELDS, *LIST_FIELDS)}}
    parsed = options.parse(arguments, SAVE_USAGE, kinds, max_words=2)
    if not parsed.words:
        raise UsageError(f"the title is missing; usage: live-memory {SAVE_USAGE}")
    note: dict[str, object] = {"cwd": options.folder(parsed), "title": parsed.words[0], "actor": "user"}
    note["body"] = _body(parsed.words[1:])
    for name in TEXT_FIELDS:
        if f"--{name}" in parsed.options:
            note[name] = parsed.options[f"--{name}"]
    for name in LIST_FIELDS:
        if f"--{name}" in parsed.options:
            note[name] = [each for each in parsed.options[f"--{name}"].split(",") if each.strip()]
    saved = note_server.ask(paths.place(), "POST", "/notes", note)
    if options.form(parsed) == "json":
        return note_lines.print_json(saved)
    note_lines.print_lines([f"{str(saved.get('outcome', 'saved')).capitalize()}: {saved.get('id', '')}"])
    for remark in note_lines.listed(saved, "remarks"):
        sys.stderr.write(coloured(printable(str(remark)), "yellow", sys.stderr) + "\n")
    return 0


def run_get(arguments: list[str]) -> int:
    """Show notes whole; exit code 1 where one of them does not exist."""
    kinds = {**COMMON, "--follow-refs": "flag", "--backlinks": "flag", "--depth": "value"}
    parsed = options.parse(arguments, GET_USAGE, kinds, max_words=None)
    if not parsed.words:
        raise UsageError(f"an id is missing; usage: live-memory {GET_USAGE}")
    query = {"cwd": options.folder(parsed), "ids": ",".join(parsed.words)}
    query |= {name: "1" for name in ("follow_refs", "backlinks") if "--" + name.replace("_", "-") in parsed.options}
    if depth := options.whole_number(parsed, "--depth"):
        query["depth"] = str(depth)
    read = note_server.ask(paths.place(), "GET", note_server.path("/notes", query))
    missing = [str(each) for each in note_lines.listed(read, "missing")]
    if options.form(parsed) == "json":
        note_lines.print_json(read)
    else:
        note_lines.print_lines(_notes(note_lines.objects(read, "notes"), read.get("left_out")))
    if missing:
        raise LaunchError(f"There is no note {', '.join(missing)}; `live-memory search` finds ids.")
    return 0


def run_forget(arguments: list[str]) -> int:
    """Drop notes, or take a change back; exit code 1 where nothing was dropped."""
    parsed = options.parse(arguments, FORGET_USAGE, {**COMMON, "--undo": "flag"}, max_words=None)
    if "--undo" in parsed.options:
        return _undo(parsed)
    if not parsed.words:
        raise UsageError(f"an id is missing; usage: live-memory {FORGET_USAGE}")
    body = {"cwd": options.folder(parsed), "ids": parsed.words, "actor": "user"}
    answer = note_server.ask(paths.place(), "POST", "/forget", body)
    gone = [str(each) for each in note_lines.listed(answer, "forgotten")]
    missing = [str(each) for each in note_lines.listed(answer, "missing")]
    if options.form(parsed) == "json":
        note_lines.print_json(answer)
    elif gone:
        note_lines.print_lines([f"Forgotten: {', '.join(gone)}. `live-memory forget --undo` brings back the last one."])
    if missing:
        raise LaunchError(f"There is no note {', '.join(missing)}; `live-memory search` finds ids.")
    return 0


def _undo(parsed: options.Parsed) -> int:
    if len(parsed.words) > 1 or not all(word.isdecimal() or "-" in word for word in parsed.words):
        raise UsageError(f"--undo takes one change or batch, as `log` shows it; usage: live-memory {FORGET_USAGE}")
    body: dict[str, object] = {"cwd": options.folder(parsed)}
    for word in parsed.words:
        is_number = word.isascii() and word.isdigit()
        body |= {"number": int(word)} if is_number else {"batch": word}
    answer = note_server.ask(paths.place(), "POST", "/undo", body)
    if options.form(parsed) == "json":
        return note_lines.print_json(answer)
    changes = note_lines.objects(answer, "changes")
    lines = [f"Taken back, for {change.get('id')} ({change.get('reason')})." for change in changes[:MAX_SHOWN]]
    rest = len(changes) - len(lines)
    note_lines.print_lines([*lines, f"And {rest:,} more."] if rest else lines)
    return 0


def _body(words: list[str]) -> str:
    """What the note says: the argument, or stdin where that is `-` or missing."""
    if words and words[0] != "-":
        return words[0]
    if sys.stdin is None or (not words and sys.stdin.isatty()):
        raise UsageError(f"the body is missing; usage: live-memory {SAVE_USAGE}")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _notes(notes: Iterable[Mapping[str, object]], left_out: object) -> Iterable[str]:
    for number, note in enumerate(notes):
        if number:
            yield ""
        yield from note_lines.whole(note)
    if left_out:
        yield ""
        yield coloured(f"{left_out} more had no room.", "dim")
