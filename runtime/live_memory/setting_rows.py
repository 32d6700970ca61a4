"""What a row of the settings' table is: how it is written there, and how it takes a value or refuses it. Knows no setting."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, cast

from live_memory.errors import ConfigError

SHOWN_CHARS = 500  # of a value that is refused
ENV_PREFIX = "LIVE_MEMORY_"
BOOLEAN_WORDS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}

Value = str | int | float | bool | None


def setting(  # noqa: PLR0913  # a row has as many columns as it has
    default: Value,
    help_text: str,
    *,
    choices: tuple[str, ...] = (),
    several: tuple[str, ...] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    secret: bool = False,
    topic: str = "",
) -> Any:  # the field's own annotation says the type
    """A dataclass field that is also a row of the table. A value is one of `choices`, or names any of `several`, parted by
    commas. A row without a `topic` has that of the row before."""
    row = {
        "help": help_text,
        "choices": choices,
        "several": several,
        "minimum": minimum,
        "maximum": maximum,
        "secret": secret,
        "topic": topic,
    }
    return field(default=default, metadata=row, repr=not secret)


def finite(word: str) -> float:
    """`word` as a number that is neither infinite nor NaN; ValueError otherwise."""
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(word)
    return number


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    default: Value
    kind: type
    help: str
    choices: tuple[str, ...]
    several: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    secret: bool
    topic: str

    @property
    def env_name(self) -> str:
        return ENV_PREFIX + self.name.upper()

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.choices:
            return "one of " + ", ".join(choice or "(empty)" for choice in self.choices)
        if self.several:
            return "any of " + ", ".join(self.several) + ", parted by commas"
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            return "text on one line"
        noun = "a whole number" if self.kind is int else "a number"
        bounds = [f"at least {self.minimum:g}"] if self.minimum is not None else []
        bounds += [f"at most {self.maximum:g}"] if self.maximum is not None else []
        return " ".join([noun, " and ".join(bounds)]).strip()

    def parse(self, raw: object) -> Value:
        """`raw` (text, or a JSON value) as this row's type; ConfigError when it is not allowed."""
        value = self._converted(raw)
        try:
            inside = value is None or (
                (not self.choices or value in self.choices)
                and (not self.several or _words(value) <= {*self.several})
                and (self.minimum is None or float(value) >= self.minimum)
                and (self.maximum is None or float(value) <= self.maximum)
            )
        except OverflowError:  # a whole number of hundreds of digits
            inside = False
        if not inside:
            raise self._refusal(raw)
        return value

    def _converted(self, raw: object) -> Value:
        if raw is None or (raw == "" and self.kind is not str):
            return self.default
        if (isinstance(raw, bool) and self.kind is not bool) or not isinstance(raw, (str, int, float)):
            raise self._refusal(raw)
        word = str(raw).strip()
        try:
            if self.kind is bool:
                return BOOLEAN_WORDS[word.lower()]
            if self.kind is int:
                return int(word)
            if self.kind is float:
                return finite(word)
        except (KeyError, ValueError):
            raise self._refusal(raw) from None
        if not word.isprintable():  # control characters, and bytes that are no text
            raise self._refusal(raw)
        return word

    def _refusal(self, raw: object) -> ConfigError:
        shown = (
            "(hidden)"
            if self.secret
            else ascii(raw)
            if len(str(raw)) <= SHOWN_CHARS
            else f"{str(raw)[:SHOWN_CHARS]!a}…"
        )
        return ConfigError(f"The setting {self.name} cannot be {shown}: it takes {self.allowed}.")


def _words(value: Value) -> set[str]:
    return {word.strip().lower() for word in str(value).split(",") if word.strip()}


def rows_of(table: type) -> tuple[Row, ...]:
    """The rows of a dataclass whose fields are `setting`s, in their order, each under its topic."""
    kinds: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool}
    rows: list[Row] = []
    topic = ""
    for f in dataclasses.fields(table):
        topic = f.metadata["topic"] or topic
        kind = kinds[str(f.type).split(" ")[0]]
        rows.append(Row(f.name, cast(Value, f.default), kind, **{**f.metadata, "topic": topic}))
    return tuple(rows)
