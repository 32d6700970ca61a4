"""`live-memory doctor`: every part of the installation, one line each, and what to do."""

from __future__ import annotations

import json
import sys

from launcher import paths
from launcher.commands import options
from launcher.commands.check import Check
from launcher.commands.checks import all_checks
from launcher.errors import UsageError
from launcher.terminal import coloured, printable

USAGE = "doctor [prompts DIR] [--json]"
COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}
NAME_WIDTH = 12
STATUS_WIDTH = 8


def run(arguments: list[str]) -> int:
    """0, or 1 when any check found a problem."""
    parsed = options.parse(arguments, USAGE, options.JSON, max_words=2)
    if parsed.words:
        return _run_prompts(parsed)
    found = []
    for check in all_checks(paths.place()):
        found.append(check)
        if options.form(parsed) == "text":
            sys.stdout.write(_lines(check))
            sys.stdout.flush()
    is_well = all(check.status != "problem" for check in found)
    if options.form(parsed) == "json":
        shown = {"ok": is_well, "checks": [check._asdict() for check in found]}
        sys.stdout.write(json.dumps(shown) + "\n")
    return 0 if is_well else 1


def _run_prompts(parsed: options.Parsed) -> int:
    if parsed.words[0] != "prompts" or len(parsed.words) == 1:
        raise UsageError(f"usage: live-memory {USAGE}")
    from launcher.commands import prompts

    return prompts.report(parsed.words[1], options.form(parsed))


def _lines(check: Check) -> str:
    mark = coloured(check.status.ljust(STATUS_WIDTH), COLOURS[check.status])
    line = f"{mark} {check.name.ljust(NAME_WIDTH)} {printable(check.text)}\n"
    return line + (f"{' ' * (STATUS_WIDTH + NAME_WIDTH + 2)}→ {check.advice}\n" if check.advice else "")
