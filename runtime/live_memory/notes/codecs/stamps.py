"""Instants as text and back: ISO 8601 in UTC, exact to the last bit of a float. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_LAST_S = 253_402_300_800.0  # the year 10000
_DAY = re.compile(r"(?<![\d-])\d{4}-\d{2}-\d{2}(?![\d-])")
_STAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,30}))?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,30})?")


def written(at_s: float) -> str:
    """`at_s` as `2026-06-25T10:00:00.25Z`; a number where no calendar holds it."""
    whole, _, fraction = repr(float(at_s)).partition(".")
    if not (0 <= at_s < _LAST_S) or not (whole.isdigit() and fraction.isdigit()):
        return repr(float(at_s))
    day = datetime.fromtimestamp(int(whole), UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{day}Z" if fraction == "0" else f"{day}.{fraction}Z"


def read(text: str) -> float | None:
    """The instant that `text` names, in UTC where it names no zone; None when it is none."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text) if float(text) < _LAST_S else None
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    day, time, fraction, zone = match.groups()
    try:
        at = datetime.fromisoformat(f"{day}T{time or '00:00'}").replace(tzinfo=_zone(zone))
    except ValueError:
        return None
    whole_s = at.timestamp()
    return float(f"{int(whole_s)}.{fraction}") if fraction and whole_s >= 0 else max(0.0, whole_s)


def day_in(text: str, until_s: float) -> float | None:
    """The first day that `text` names as `2026-06-25`, of those that have come by `until_s`."""
    for match in _DAY.finditer(text):
        at_s = read(match.group())
        if at_s is not None and at_s <= until_s:
            return at_s
    return None


def _zone(word: str | None) -> timezone:
    if word is None or word.upper() in ("Z", "UTC"):
        return UTC
    digits = word[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if word[0] == "-" else offset)
