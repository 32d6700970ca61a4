"""From a command's name to its function, and from every failure to one sentence and an exit code."""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib import import_module

from launcher.errors import LaunchError, UsageError

USAGE_EXIT = 2
INTERRUPTED_EXIT = 130
DISK_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission is denied",
    errno.EPERM: "permission is denied",
}


def dispatch(commands: dict[str, tuple[str, str]], arguments: list[str]) -> int:
    """The exit code of the command that `arguments` name: 0 done, 1 failed with one sentence on stderr, 2 usage."""
    name = arguments[0] if arguments else ""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a code base may hold what this terminal's encoding does not
    try:
        return _run(commands, name, arguments[1:])
    except UsageError as error:
        return _fail(str(error), USAGE_EXIT)
    except LaunchError as error:
        return _fail(str(error), 1)
    except BrokenPipeError:
        # The reader went away (`live-memory logs | head`); keep the interpreter's own flush at exit from complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(sentence(error), 1)
    except KeyboardInterrupt:
        return INTERRUPTED_EXIT


def _run(commands: dict[str, tuple[str, str]], name: str, arguments: list[str]) -> int:
    if name in ("help", "-h", "--help"):
        sys.stdout.write(overview(commands))
        return 0
    if name in ("version", "-V", "--version"):
        from launcher.paths import plugin_version

        sys.stdout.write(plugin_version() + "\n")
        return 0
    if not name:
        sys.stderr.write(overview(commands))
        return USAGE_EXIT
    if name not in commands:
        raise UsageError(f"there is no command {name!r}; see live-memory --help")
    module, _, function = commands[name][0].partition(":")
    code = getattr(import_module(module), function)(arguments)
    sys.stdout.flush()
    return int(code)


def sentence(error: OSError) -> str:
    """An error of the operating system in one sentence that names the file."""
    reason = DISK_WORDS.get(error.errno or 0) or error.strerror or str(error)
    return f"{error.filename}: {reason}." if error.filename else f"{reason[0].upper()}{reason[1:]}."


def overview(commands: dict[str, tuple[str, str]]) -> str:
    """What `--help` prints."""
    width = max(map(len, commands))
    lines = [f"  {name.ljust(width)}  {help_text}" for name, (_, help_text) in commands.items()]
    return "\n".join(["usage: live-memory COMMAND [--help]", "", *lines, ""])


def _fail(message: str, code: int) -> int:
    from launcher.terminal import printable

    sys.stderr.write(f"live-memory: {printable(message)}\n")
    return code
