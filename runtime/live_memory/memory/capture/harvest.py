"""What a model made of one part, checked, as it waits in the queue until all of it is saved. Pure.

It is kept before the first note is saved: a server that is killed in between is followed by one that saves the same words
again, which changes nothing, instead of one that asks again and gets others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from live_memory.memory.capture.proposal import Candidate, SessionAccount, parse_account

REST = ("end_bytes", "mark", "refused", "is_given_up")


@dataclass(frozen=True, slots=True)
class Harvest:
    """The notes to save of the bytes from `begin_bytes` to `end_bytes`, how many proposed ones were
    refused, and whether the model made anything of them at all."""

    begin_bytes: int
    end_bytes: int
    mark: str
    candidates: tuple[Candidate, ...]
    account: SessionAccount
    refused: int = 0
    is_given_up: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def parse_harvest(text: str, begin_bytes: int) -> Harvest | None:
    """The harvest that `to_json` wrote, if it begins there."""
    try:
        value = json.loads(text)
        if value["begin_bytes"] != begin_bytes:
            return None
        candidates = tuple(_candidate(each) for each in value["candidates"])
        account = parse_account(json.dumps(value["account"]))
        end_bytes, mark, refused, is_given_up = (value[name] for name in REST)
        return Harvest(begin_bytes, end_bytes, mark, candidates, account, refused, is_given_up)
    except (ValueError, KeyError, TypeError):
        return None


def _candidate(value: dict[str, object]) -> Candidate:
    files = value["files"]
    assert isinstance(files, Iterable)
    kind, title, description, body, evidence = (
        str(value[name]) for name in ("kind", "title", "description", "body", "evidence")
    )
    return Candidate(kind, title, description, body, evidence, tuple(map(str, files)))
