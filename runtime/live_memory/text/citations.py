"""The places that an answer names: `path:line` in all the ways models write it. Pure: whether a place exists is not known here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CITATIONS = 100  # of one answer; nobody follows more, and each costs a look at a file
BARE_NAME = re.compile(
    "BUILD|Brewfile|Containerfile|Dockerfile|Gemfile|Jenkinsfile|[Jj]ustfile|LICENSE|[Mm]akefile|NOTICE|Procfile|"
    "README|Rakefile|Vagrantfile|WORKSPACE"
)
HOST_ENDING = re.compile("ai|app|cloud|com|dev|edu|eu|gov|internal|io|lan|local|localhost|net|org", re.IGNORECASE)

URL = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}://[^\s<>`\"')\]]+")
NAME = r"[\w.+@$~-]"
FOLDER = rf"(?:{NAME}+|\({NAME}+\)|\[{NAME}+\])"  # `app/(auth)/[id]/page.tsx`: route folders carry brackets
PATH = rf"(?:[A-Za-z]:[\\/]+|[\\/])?(?:{FOLDER}[\\/]+)*{NAME}+"
LINES = r"(?::L?|#L)(?P<start>\d{1,7})(?:[-\u2013]L?(?P<end>\d{1,7}))?(?::\d+)?(?P<more>(?:,\d{1,7}(?:-\d{1,7})?)*)"
END = r"(?![A-Za-z0-9_]|[.:,/-]\d|[\\/][A-Za-z0-9_])"
# Inside backticks and in a link's target a path may hold spaces and brackets; in prose it may not.
QUOTED = re.compile(rf"`(?P<path>[^`\n]{{1,300}}?){LINES}`")
LINKED = re.compile(rf"\]\(<?(?P<path>[^\n<>]{{1,300}}?){LINES}>?\)")
WORDED = re.compile(
    r"`(?P<path>[^`\n]{1,300})`,?\s\(?(?:lines?|L\.)\s(?P<start>\d{1,7})(?:\s?[-\u2013]\s?(?P<end>\d{1,7}))?(?P<more>)"
)
PLAIN = re.compile(rf"(?<!{NAME})(?<![\\/\])])(?P<path>{PATH}){LINES}{END}")
ORDER = (QUOTED, LINKED, WORDED, PLAIN)
LEADING_PROSE = re.compile(r"^[^\x00-\x7f]+(?=[A-Za-z0-9_.@~])")
EXTENSION = re.compile(r"\.[A-Za-z][\w+-]{0,15}$")


@dataclass(frozen=True, slots=True)
class Reference:
    """A place as it was written, with `/` between folders. `paths` holds the readings of the path, likeliest first:
    where no space parts them, prose in Chinese can stick to a path's front."""

    paths: tuple[str, ...]
    line_start: int
    line_end: int


def find_references(text: str) -> tuple[Reference, ...]:
    """The places that `text` names, in order, each once, at most MAX_CITATIONS; URLs, times, hosts and versions are none."""
    found: list[tuple[int, Reference]] = []
    rest = URL.sub(_blank, text)
    for pattern in ORDER:
        for match in pattern.finditer(rest):
            found += [(match.start(), reference) for reference in _references(match)]
        rest = pattern.sub(lambda match: _blank(match) if _is_path(match["path"]) else match[0], rest)
    found.sort(key=lambda place: place[0])
    return tuple(dict.fromkeys(reference for _, reference in found))[:MAX_CITATIONS]


def _references(match: re.Match[str]) -> Iterator[Reference]:
    written = match["path"]
    if not _is_path(written):
        return
    path = written.strip().replace("\\", "/")
    shorter = LEADING_PROSE.sub("", path)
    paths = (path,) if shorter == path else (path, shorter)
    start = int(match["start"])
    yield Reference(paths, start, max(start, int(match["end"] or start)))
    for span in filter(None, match["more"].split(",")):
        first, _, last = span.partition("-")
        yield Reference(paths, int(first), max(int(first), int(last or first)))


def _is_path(written: str) -> bool:
    """Whether the text before the line number can be a file: it has folders, an ending, or a name known to go without."""
    path = written.strip().replace("\\", "/")
    name = path.rpartition("/")[2]
    if not any(char.isalpha() for char in name) or "://" in path or "::" in path:
        return False
    if BARE_NAME.fullmatch(name):
        return True
    ending = EXTENSION.search(name)
    if ending and (ending.start() == 0 or not HOST_ENDING.fullmatch(ending[0][1:])):
        return True
    return "/" in path and " " not in name


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
