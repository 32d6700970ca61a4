"""`live-memory search`, `toc` and `log`: find notes, list them, and see how they came to be."""

from __future__ import annotations

import sys

from launcher import paths
from launcher.commands import note_lines, note_server, options
from launcher.errors import UsageError
from launcher.terminal import coloured, printable

SEARCH_USAGE = (
    "search QUERY… [-k N] [--kind K,…] [--status S,…] [--since DAY|7d] [--scope all|repo|global] [--symbol S] [--path P] "
    "[--cwd DIR] [--json]"
)
TOC_USAGE = "toc [--kind K,…] [--status S,…] [--since DAY|7d] [--cwd DIR] [--json]"
LOG_USAGE = "log [--limit N] [--cwd DIR] [--json]"
COMMON = {**options.CWD, **options.JSON}
NARROWING = ("--kind", "--status", "--since")


def run_search(arguments: list[str]) -> int:
    """Find notes; exit code 1 where there are none."""
    kinds = {**COMMON, **dict.fromkeys((*NARROWING, "--scope", "--symbol", "--path", "-k"), "value")}
    parsed = options.parse(arguments, SEARCH_USAGE, kinds, max_words=None)
    query = " ".join(parsed.words).strip()
    if not query:
        raise UsageError(f"the query is missing; usage: live-memory {SEARCH_USAGE}")
    wanted = {
        "cwd": options.folder(parsed),
        "q": query,
        **_chosen(parsed, (*NARROWING, "--scope", "--symbol", "--path")),
    }
    if count := options.whole_number(parsed, "-k"):
        wanted["k"] = str(count)
    answer = note_server.ask(paths.place(), "GET", note_server.path("/search", wanted))
    results = note_lines.objects(answer, "results")
    if options.form(parsed) == "json":
        note_lines.print_json(answer)
    else:
        note_lines.print_lines(note_lines.found(results))
    if not results:
        sys.stderr.write(coloured("live-memory: no note fits.", "yellow", sys.stderr) + "\n")
    return 0 if results else 1


def run_toc(arguments: list[str]) -> int:
    """Show the table of contents as a session is given it."""
    parsed = options.parse(arguments, TOC_USAGE, {**COMMON, **dict.fromkeys(NARROWING, "value")})
    wanted = {"cwd": options.folder(parsed), **_chosen(parsed, NARROWING)}
    answer = note_server.ask(paths.place(), "GET", note_server.path("/toc", wanted))
    if options.form(parsed) == "json":
        return note_lines.print_json(answer)
    context = note_lines.text(answer, "context")
    if context:
        note_lines.print_lines([printable(context)])
    else:
        sys.stderr.write(coloured("live-memory: there are no such notes yet.", "yellow", sys.stderr) + "\n")
    return 0


def run_log(arguments: list[str]) -> int:
    """Show the newest writes, each of which `forget --undo N` takes back."""
    parsed = options.parse(arguments, LOG_USAGE, {**COMMON, "--limit": "value"})
    wanted = {"cwd": options.folder(parsed), "limit": str(options.whole_number(parsed, "--limit") or "")}
    answer = note_server.ask(paths.place(), "GET", note_server.path("/log", wanted))
    if options.form(parsed) == "json":
        return note_lines.print_json(answer)
    note_lines.print_lines(note_lines.changes(note_lines.objects(answer, "changes")))
    return 0


def _chosen(parsed: options.Parsed, names: tuple[str, ...]) -> dict[str, str]:
    """The options that were given, as fields of a query."""
    return {name.lstrip("-"): parsed.options[name] for name in names if name in parsed.options}
