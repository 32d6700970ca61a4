"""What callers send, parsed once into values; whatever cannot be used is refused with a sentence. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from live_memory.agent.answers import Question
from live_memory.agent.ingest import Event, FileNotice
from live_memory.errors import QuestionError
from live_memory.server.fields import bad_field, is_broken

MAX_NOTICED_PATHS = 1000
# What hooks call it → what it means for the window.
EVENTS: Mapping[str, Event] = {
    "read": "touched",
    "write": "touched",
    "edit": "touched",
    "change": "changed",
    "add": "added",
    "unlink": "changed",
    "delete": "changed",
}


def json_object(body: bytes) -> Mapping[str, object]:
    """The JSON object in `body`; QuestionError (`bad-json`) when it is anything else."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise _bad_json("The body is not UTF-8; send a JSON object in UTF-8.") from None
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except QuestionError:
        raise
    except RecursionError:
        raise _bad_json("The body is nested too deeply; send a flat JSON object.") from None
    except ValueError as error:
        raise _bad_json(f"The body is not JSON ({error}); send a JSON object.") from None
    if not isinstance(value, dict):
        raise _bad_json('The body must be a JSON object, like {"cwd": "/path/of/the/repository"}.')
    return value


def question(fields: Mapping[str, object]) -> Question:
    """The question in `fields` (`question`, `cwd`, `max_answer_tokens`); QuestionError names the first bad field."""
    text = required_text(fields, "question", "the question about the code, as a sentence")
    return Question(text, cwd(fields), _token_count(fields.get("max_answer_tokens")))


def file_notice(fields: Mapping[str, object]) -> FileNotice:
    """The notice in `fields` (`cwd`, `event`, `paths`, `contents`); QuestionError names the first bad field."""
    event = EVENTS.get(required_text(fields, "event", "what happened: " + ", ".join(EVENTS)).strip().lower())
    if event is None:
        raise bad_field("event must be one of " + ", ".join(EVENTS) + ".")
    paths = fields.get("paths")
    if not isinstance(paths, list) or not all(isinstance(path, str) and path for path in paths):
        raise bad_field("paths must be a list of the files' paths.")
    if len(paths) > MAX_NOTICED_PATHS:
        raise bad_field(f"paths may name {MAX_NOTICED_PATHS} files at most; send the rest in another notice.")
    return FileNotice(cwd(fields), event, tuple(paths), _contents(fields.get("contents"), paths))


def _contents(value: object, paths: Sequence[str]) -> Mapping[str, str]:
    """Texts by path: an object as it is, or a list in the order of `paths`, null where a text is missing."""
    if value is None:
        return {}
    if isinstance(value, list) and len(value) == len(paths):
        value = dict(zip(paths, value, strict=True))
    if not isinstance(value, dict):
        raise bad_field("contents must be an object of texts by path, or a list of texts, one for each of paths.")
    texts = {path: text for path, text in value.items() if text is not None}
    if not all(isinstance(text, str) for text in texts.values()):
        raise bad_field("contents must hold texts only.")
    return texts


def cwd(fields: Mapping[str, object]) -> str:
    """The folder that a request is about; what kind of folder it may be is the desk's to say."""
    return required_text(fields, "cwd", "the absolute path of the repository's root")


def required_text(fields: Mapping[str, object], name: str, meaning: str) -> str:
    """The non-blank text in `fields[name]`; QuestionError says what it should have been."""
    value = fields.get(name)
    if value is None:
        raise bad_field(f"{name} is missing: pass {meaning}.")
    if not isinstance(value, str):
        raise bad_field(f"{name} must be text, not {_kind(value)}: pass {meaning}.")
    if not value.strip():
        raise bad_field(f"{name} is empty: pass {meaning}.")
    if is_broken(value):
        raise bad_field(f"{name} holds half of a surrogate pair, which is no character: pass {meaning}.")
    return value


def _token_count(value: object) -> int:
    """A number of tokens, 0 where none is named."""
    if value is None:
        return 0
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise bad_field("max_answer_tokens must be a whole number of tokens, 0 or left out for the usual length.")
    return value


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"


def _refuse_constant(word: str) -> object:
    raise _bad_json(f"The body holds {word}, which is not JSON; send null or leave the field out.")


def _bad_json(message: str) -> QuestionError:
    return QuestionError("bad-json", message)
