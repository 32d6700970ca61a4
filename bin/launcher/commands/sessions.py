"""`live-memory session list|show`: which sessions were told of, and what was distilled of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from launcher import paths
from launcher.commands import facts, note_lines, note_server, options
from launcher.errors import LaunchError, UsageError
from launcher.terminal import printable

USAGE = "session list | session show ID [--cwd DIR] [--json]"
LIST_WORDS, SHOW_WORDS = 1, 2
ID_CHARS = 8
COUNTS = ("captured", "merged", "disputed", "refused")


def run(arguments: list[str]) -> int:
    parsed = options.parse(arguments, USAGE, {**options.CWD, **options.JSON}, max_words=SHOW_WORDS)
    words, form = parsed.words, options.form(parsed)
    if words[:1] == ["list"] and len(words) == LIST_WORDS:
        return _list(options.folder(parsed), form)
    if words[:1] == ["show"] and len(words) == SHOW_WORDS:
        return _show(words[1], form)
    raise UsageError(f"usage: live-memory {USAGE}")


def _list(folder: str, form: str) -> int:
    answer = note_server.ask(paths.place(), "GET", note_server.path("/sessions", {"cwd": folder}))
    if form == "json":
        return note_lines.print_json(answer)
    sessions = note_lines.objects(answer, "sessions")
    if not sessions:
        note_lines.print_lines(["No session was told of here yet."])
    note_lines.print_lines(note_lines.table([list(_row(each)) for each in sessions]))
    return 0


def _show(session_id: str, form: str) -> int:
    answer = note_server.ask(paths.place(), "GET", note_server.path("/sessions", {"session_id": session_id}))
    sessions = note_lines.objects(answer, "sessions")
    if not sessions:
        raise LaunchError(f"There is no session {printable(session_id)}; `live-memory session list` shows those here.")
    if form == "json":
        return note_lines.print_json(answer)
    for number, session in enumerate(sessions):
        note_lines.print_lines([""] if number else [])
        note_lines.print_lines(printable(line) for line in facts.lines(session))
    return 0


def _row(session: Mapping[str, object]) -> Iterator[str]:
    yield note_lines.text(session, "session_id")[:ID_CHARS]
    yield note_lines.text(session, "last_seen")
    yield note_lines.text(session, "state")
    counted = ", ".join(f"{session[name]} {name}" for name in COUNTS if session.get(name))
    yield "; ".join(each for each in (counted, note_lines.text(session, "why")) if each)
