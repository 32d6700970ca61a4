"""The words after a command's name, read into options and the rest."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Literal, NamedTuple

from launcher.errors import LaunchError, UsageError

CWD = {"--cwd": "value"}
JSON = {"--json": "flag"}


class Parsed(NamedTuple):
    """`options` maps the name of each option found to its value ("1" for one that takes none); `words` are the others."""

    options: Mapping[str, str]
    words: list[str]


def parse(arguments: list[str], usage: str, kinds: Mapping[str, str], *, max_words: int | None = 0) -> Parsed:
    """The options named in `kinds` ("value" or "flag") and at most `max_words` other words (None: any number).

    `--` ends the options. Prints `usage` and exits on --help. UsageError on anything else.
    """
    found: dict[str, str] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, separator, inline = word.partition("=")
        if word == "--":
            words += rest
            break
        if word in ("-h", "--help"):
            sys.stdout.write(f"usage: live-memory {usage}\n")
            raise SystemExit(0)
        if not word.startswith("-") or word == "-":
            words.append(word)
        elif kinds.get(name) == "flag" and not separator:
            found[name] = "1"
        elif kinds.get(name) == "value" and (separator or rest):
            found[name] = inline if separator else rest.pop(0)
        else:
            problem = (
                f"{name} needs a value" if name in kinds and not separator else f"there is no option {word!r} here"
            )
            raise UsageError(f"{problem}; usage: live-memory {usage}")
    if max_words is not None and len(words) > max_words:
        raise UsageError(f"{words[max_words]!r} is one word too many; usage: live-memory {usage}")
    return Parsed(found, words)


def folder(parsed: Parsed) -> str:
    """The absolute path that `--cwd` names, else the working directory."""
    return os.path.abspath(os.path.expanduser(parsed.options.get("--cwd") or working_folder()))


def working_folder() -> str:
    """The working directory; LaunchError where it has been removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise LaunchError("The folder you are in is gone; change to one that exists.") from None


def whole_number(parsed: Parsed, name: str) -> int:
    """The value of option `name`, 0 where it was not given; UsageError when it is no whole number."""
    word = parsed.options.get(name, "0")
    if not (word.isascii() and word.isdigit()):
        raise UsageError(f"{name} takes a whole number, not {word!r}")
    return int(word)


def form(parsed: Parsed) -> Literal["json", "text"]:
    """What the command prints."""
    return "json" if "--json" in parsed.options else "text"
