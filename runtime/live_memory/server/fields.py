"""The fields of a request, one by one: what is there is checked, what is missing has a default. Pure.

A body's fields are typed, a query's are text; both are read by the same functions, so that `ids` may be a list or `a,b`,
`depth` 2 or "2", and a flag true or "1". QuestionError (`bad-field`) names the first field that cannot be used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from live_memory.errors import QuestionError

Fields = Mapping[str, object]

YES, NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")
UNITS_S = {"h": 3600.0, "d": 86400.0, "w": 604800.0}
LARGEST = 10**9


def bad_field(message: str) -> QuestionError:
    return QuestionError("bad-field", message)


def text(fields: Fields, name: str) -> str:
    """The text of a field, empty where there is none."""
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, (list, dict)) or not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise bad_field(f"{name} must be text.")
    return checked(name, str(value))


def checked(name: str, value: str) -> str:
    """`value`, refused where it `is_broken`."""
    if is_broken(value):
        raise bad_field(f"{name} holds half of a surrogate pair, which is no character.")
    return value


def is_broken(value: str) -> bool:
    """Whether a text holds half of a surrogate pair: JSON can spell it, and no file, database or provider takes it."""
    return not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)


def texts(fields: Fields, name: str) -> tuple[str, ...]:
    """The texts of a field: a list, or one text that is parted by commas."""
    value = fields.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise bad_field(f"{name} must be a list of texts.")
    return tuple(checked(name, each).strip() for each in value if each.strip())


def ids(fields: Fields, name: str) -> tuple[str, ...]:
    """Ids of notes, as they are or cited as `#id`."""
    return tuple(each.removeprefix("#") for each in texts(fields, name))


def words(fields: Fields, name: str, allowed: Collection[str]) -> tuple[str, ...]:
    """Some of the `allowed` words; none means all."""
    chosen = tuple(each.lower() for each in texts(fields, name))
    for each in chosen:
        if each not in allowed:
            raise bad_field(f"{name} cannot be {each!r}: it takes {', '.join(word for word in allowed if word)}.")
    return chosen


def word(fields: Fields, name: str, allowed: Collection[str], default: str) -> str:
    """One of the `allowed` words."""
    chosen = text(fields, name).strip().lower() or default
    if chosen not in allowed:
        raise bad_field(f"{name} cannot be {chosen!r}: it takes {', '.join(allowed)}.")
    return chosen


def number(fields: Fields, name: str, default: int, maximum: int = LARGEST) -> int:
    """A whole number from 1 to `maximum`; one above counts as the maximum."""
    value = fields.get(name)
    if value is None or value == "":
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value.strip()[: len(str(LARGEST))])
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise bad_field(f"{name} must be a whole number from 1 on.")
    return min(value, maximum)


def flag(fields: Fields, name: str) -> bool:
    """Whether a field says yes."""
    value = fields.get(name)
    if isinstance(value, bool):
        return value
    said = "" if value is None else str(value).strip().lower()
    if said in YES:
        return True
    if said in NO:
        return False
    raise bad_field(f"{name} must be true or false.")


def instant_s(fields: Fields, name: str, now_s: float) -> float:
    """An instant in Unix seconds: a day (`2026-05-01`) or time in ISO 8601, `7d`, `12h` or `2w` ago, or the seconds
    themselves; 0 where there is none."""
    said = text(fields, name).strip()
    if not said:
        return 0.0
    amount, unit = said[:-1], said[-1].lower()
    if unit in UNITS_S and amount.isascii() and amount.isdigit() and len(amount) < len(str(LARGEST)):
        return max(0.0, now_s - int(amount) * UNITS_S[unit])
    if said.isascii() and said.isdigit() and len(said) > len("20260501"):
        return float(said[:12])
    try:
        moment = datetime.fromisoformat(said)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise bad_field(f"{name} cannot be {said!r}: it takes a day like 2026-05-01, or an age like 7d.") from None
