"""One line of the doctor."""

from __future__ import annotations

from typing import Literal, NamedTuple

Status = Literal["ok", "warning", "problem"]


class Check(NamedTuple):
    """`text` says what was found, `advice` what to do about it (empty where nothing is to be done)."""

    name: str
    status: Status
    text: str
    advice: str = ""
