"""The UserPromptExpansion hook on our own slash commands: runs `live-memory …` and shows what it prints, with no model in between.

Where hooks are turned off, the command's own text runs the same program and a model passes the result on.
"""

from __future__ import annotations

import os
import sys

import _event

PLUGIN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAUNCHER = os.path.join(PLUGIN, "bin", "live-memory")
LIMIT_S = 110  # below the hook's own limit in hooks.json


def main(event: dict[str, object]) -> str:
    """What the command printed; empty for a command that is not ours."""
    name = _event.text(event, "command_name").rpartition(":live-memory-")[2]
    page = os.path.join(PLUGIN, "commands", "live-memory-%s.md" % name)
    if not name.isalpha() or not os.path.isfile(page):
        return ""
    import shlex
    import subprocess

    given = str(event.get("command_args") or "")
    try:
        words = shlex.split(given)
    except ValueError:
        words = given.split()
    program = [LAUNCHER + ".cmd"] if sys.platform == "win32" else ["sh", LAUNCHER]
    try:
        done = subprocess.run(
            [*program, name, *words],
            cwd=str(event.get("cwd") or "."),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "live-memory %s did not end within %d s; `live-memory doctor` says more." % (name, LIMIT_S)
    return done.stdout.decode("utf-8", "replace").strip() or "Done."


if __name__ == "__main__":
    with _event.harmless:
        printed = main(_event.told())
        if printed:
            shown_alone = {"hookEventName": "UserPromptExpansion", "suppressOriginalPrompt": True}
            _event.answer({"decision": "block", "reason": printed, "hookSpecificOutput": shown_alone})
