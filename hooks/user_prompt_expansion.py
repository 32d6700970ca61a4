"""The UserPromptExpansion hook on our own slash commands: runs `live-memory …` and shows what it prints, with no model in between.

Where hooks are turned off, the command's own text runs the same program and a model passes the result on.
"""

from __future__ import annotations

import os
import sys

import _quick

LAUNCHER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "live-memory")
COMMANDS = ("stats", "config", "doctor", "reset", "empty")
LIMIT_S = 110  # below the hook's own limit in hooks.json


def main(told: object) -> str:
    """What the command printed; empty for a command that is not ours."""
    event = told if isinstance(told, dict) else {}
    name = str(event.get("command_name", "")).rpartition(":live-memory-")[2]
    if name not in COMMANDS:
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
    printed = main(_quick.parse(sys.stdin.buffer.read().decode()))
    if printed:
        shown_alone = {"hookEventName": "UserPromptExpansion", "suppressOriginalPrompt": True}
        answer = {"decision": "block", "reason": printed, "hookSpecificOutput": shown_alone}
        sys.stdout.write(_quick.render(answer))
