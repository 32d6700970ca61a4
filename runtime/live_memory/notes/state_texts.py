"""The value of a working state as the text that a note keeps: JSON, before secrets and our own words are out of it and after.
Pure."""

from __future__ import annotations

import json

from live_memory.errors import QuestionError
from live_memory.notes.acceptance import own_words


def kept(key: str, value_json: str) -> str:
    """The JSON text as it is kept. QuestionError (`bad-state`) where it is no JSON, or cannot be kept as one."""
    try:
        # Text by text first: a fence or a key that is not closed would be cut out together with the rest of the value.
        text = json.dumps(_clean(_parsed(value_json)), ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        raise QuestionError(
            "bad-state", f"The value of {key!r} is no JSON ({error}): a text stands in quotation marks."
        ) from None
    text = own_words(text).text
    try:
        _parsed(text)
    except ValueError:
        sentence = f"The value of {key!r} holds a secret that cannot be taken out without the rest; leave it out."
        raise QuestionError("bad-state", sentence) from None
    return text


def as_json(body: str) -> str:
    """The body of a state's note as JSON text: itself, or the text that it is."""
    try:
        _parsed(body)
    except (ValueError, RecursionError):
        return json.dumps(body, ensure_ascii=False)
    return body


def _parsed(text: str) -> object:
    return json.loads(text, parse_constant=_refused)


def _refused(word: str) -> object:
    raise ValueError(f"{word} is no value of JSON")


def _clean(value: object) -> object:
    match value:
        case str():
            return own_words(value).text
        case list():
            return [_clean(each) for each in value]
        case dict():
            return {own_words(name).text: _clean(each) for name, each in value.items()}
    return value
