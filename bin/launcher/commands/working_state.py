"""`live-memory state get|set`: small values under a key, kept for the repository between sessions."""

from __future__ import annotations

import json
import sys

from launcher import paths
from launcher.commands import note_lines, note_server, options
from launcher.errors import LaunchError, UsageError
from launcher.terminal import printable

USAGE = "state get KEY | state set KEY VALUE [--cwd DIR] [--json]"
GET_WORDS, SET_WORDS = 2, 3


def run(arguments: list[str]) -> int:
    parsed = options.parse(arguments, USAGE, {**options.CWD, **options.JSON}, max_words=SET_WORDS)
    words, folder = parsed.words, options.folder(parsed)
    if words[:1] == ["get"] and len(words) == GET_WORDS:
        return _get(words[1], folder, options.form(parsed))
    if words[:1] == ["set"] and len(words) == SET_WORDS:
        body = {"cwd": folder, "key": words[1], "value": value(words[2]), "actor": "user"}
        answer = note_server.ask(paths.place(), "POST", "/state", body)
        if options.form(parsed) == "json":
            return note_lines.print_json(answer)
        note_lines.print_lines([f"Kept: {printable(words[1])}"])
        return 0
    raise UsageError(f"usage: live-memory {USAGE}")


def value(word: str) -> object:
    """The JSON value that `word` spells; the word itself where it spells none."""
    try:
        return json.loads(word)
    except (ValueError, RecursionError):
        return word


def _get(key: str, folder: str, form: str) -> int:
    answer = note_server.ask(paths.place(), "GET", note_server.path("/state", {"cwd": folder, "key": key}))
    if form == "json":
        note_lines.print_json(answer)
    if not answer.get("is_set"):
        raise LaunchError(f"There is no state {key!r} here; `live-memory state set {key} VALUE` keeps one.")
    if form == "text":
        kept = answer.get("value")
        sys.stdout.write(printable(kept if isinstance(kept, str) else json.dumps(kept, ensure_ascii=False)) + "\n")
    return 0
