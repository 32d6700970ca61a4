"""A tool call's arguments, read leniently: other names for a parameter, numbers and booleans written as text.

Parameters nobody knows are ignored: a model trained on a larger tool may send them, and they only refine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from live_memory.errors import ToolRefusal

MAX_TEXT_CHARS = 4096
_YES_AND_NO = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class Arguments:
    """One tool's arguments."""

    tool: str
    values: Mapping[str, object]

    def text(self, *names: str, default: str = "") -> str:
        """The text under the first of `names` that is given."""
        value = self._first(names)
        if value is None:
            return default
        if not isinstance(value, str):
            raise ToolRefusal(f"{self.tool}: `{names[0]}` must be text.")
        if len(value) > MAX_TEXT_CHARS:
            raise ToolRefusal(f"{self.tool}: `{names[0]}` is too long; at most {MAX_TEXT_CHARS} characters.")
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            raise ToolRefusal(f"{self.tool}: `{names[0]}` holds what is no character of any file.")
        return value

    def needed_text(self, *names: str) -> str:
        """As `text`; ToolRefusal when it is missing or empty."""
        value = self.text(*names)
        if not value.strip():
            raise ToolRefusal(f"{self.tool} needs `{names[0]}`.")
        return value

    def number(self, *names: str, default: int, most: int) -> int:
        """The whole number under the first of `names` that is given, held between 0 and `most`."""
        value = self._first(names)
        if value is None or value == "":
            return default
        try:
            number = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else math.nan
            return min(most, max(0, int(number)))
        except (ValueError, OverflowError):
            raise ToolRefusal(f"{self.tool}: `{names[0]}` must be a whole number.") from None

    def is_set(self, *names: str, default: bool) -> bool:
        """The boolean under the first of `names` that is given."""
        value = self._first(names)
        if value is None or value == "":
            return default
        word = str(value).strip().lower()
        if word not in _YES_AND_NO:
            raise ToolRefusal(f"{self.tool}: `{names[0]}` must be true or false.")
        return _YES_AND_NO[word]

    def choice(self, *names: str, choices: Mapping[str, str], default: str) -> str:
        """The choice under the first of `names` that is given; `choices` maps each accepted word to what it means."""
        word = self.text(*names, default=default).strip().lower() or default
        if word not in choices:
            raise ToolRefusal(f"{self.tool}: `{names[0]}` is one of {', '.join(dict.fromkeys(choices.values()))}.")
        return choices[word]

    def _first(self, names: tuple[str, ...]) -> object | None:
        return next((self.values[name] for name in names if self.values.get(name) is not None), None)


def parsed(tool: str, arguments_json: str) -> Arguments:
    """The arguments the model wrote. ToolRefusal when they are no JSON object."""
    try:
        values = json.loads(arguments_json or "{}")
    except (ValueError, RecursionError):
        raise ToolRefusal(f"The arguments of {tool} are not valid JSON; send one JSON object.") from None
    if not isinstance(values, dict):
        raise ToolRefusal(f"The arguments of {tool} must be one JSON object.")
    return Arguments(tool, values)
