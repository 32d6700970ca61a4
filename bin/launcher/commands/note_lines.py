"""Notes and their changes as lines for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from launcher.terminal import coloured, printable

GAP = "  "
CONNECTIONS = (("refs", "refs"), ("backlinks", "cited by"), ("supersedes", "supersedes"))


def print_json(value: object) -> int:
    """Print `value` on one line; the exit code for that."""
    sys.stdout.write(json.dumps(value) + "\n")
    return 0


def print_lines(lines: Iterable[str]) -> None:
    sys.stdout.writelines(line + "\n" for line in lines)


def listed(answer: Mapping[str, object], name: str) -> list[object]:
    """The list in a field; empty where there is none."""
    value = answer.get(name)
    return value if isinstance(value, list) else []


def objects(answer: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """The JSON objects in a field."""
    return [each for each in listed(answer, name) if isinstance(each, dict)]


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows with their columns in line, all but the last."""
    cells = [[printable(" ".join(cell.split())) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]) - 1)] if cells else []
    for row in cells:
        first, *rest = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)] + [row[-1]]
        yield GAP.join([coloured(first, "bold"), *rest]).rstrip()


def found(results: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """A line for each result: id, marks, title, and what found it."""
    return table(
        [[text(each, "id"), marks(each), f"{text(each, 'title')} [{text(each, 'stage')}]"] for each in results]
    )


def changes(entries: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """A line for each change: number, time, what was done to which note by whom, and why."""
    rows = []
    for each in entries:
        why = text(each, "reason") or text(each, "title")
        rows.append(
            [
                text(each, "number"),
                moment(each.get("at_s")),
                text(each, "action"),
                text(each, "id"),
                text(each, "actor"),
                why,
            ]
        )
    return table(rows)


def whole(note: Mapping[str, object]) -> Iterator[str]:
    """A note with all that a reader wants of it."""
    yield coloured(printable(f"# {text(note, 'id')}: {text(note, 'title')}"), "bold")
    yield coloured(
        printable(f"{marks(note)} · {text(note, 'scope')} · updated {moment(note.get('updated_at_s'))}"), "dim"
    )
    if text(note, "description"):
        yield printable(text(note, "description"))
    yield ""
    yield printable(text(note, "body").rstrip("\n"))
    disputes = [printable(str(line)) for line in listed(note, "disputes")]
    if disputes:
        yield ""
        yield from disputes
    connected = [
        f"{label}: {', '.join(map(str, listed(note, name)))}" for name, label in CONNECTIONS if listed(note, name)
    ]
    sources = note.get("sources")
    if isinstance(sources, dict) and sources:
        connected.append(f"files: {', '.join(sorted(map(str, sources)))}")
    if connected:
        yield ""
        yield from (coloured(printable(line), "dim") for line in connected)


def marks(note: Mapping[str, object]) -> str:
    """Kind, status, reach and the state of the files, as far as they say something."""
    words = [text(note, "kind"), text(note, "status"), "global" if note.get("scope") == "global" else ""]
    state = text(note, "state")
    return ", ".join(word for word in [*words, "" if state == "FRESH" else state] if word)


def text(fields: Mapping[str, object], name: str) -> str:
    """A field as text; empty where there is none."""
    value = fields.get(name)
    return "" if value is None else str(value)


def moment(at_s: object) -> str:
    """An instant (Unix seconds) in UTC, to the minute."""
    if not isinstance(at_s, (int, float)):
        return ""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M")
