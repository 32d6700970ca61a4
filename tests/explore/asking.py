"""Words that the tests of the tools share."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from pathlib import Path

import pytest

from live_memory.errors import ToolRefusal

Write = Callable[[str, str | bytes], Path]
Ask = Callable[..., str]


def refusal(ask: Ask, tool: str, **arguments: object) -> str:
    """The sentence with which the tool refuses."""
    with pytest.raises(ToolRefusal) as caught:
        ask(tool, **arguments)
    return str(caught.value)


def drawn(length: int) -> str:
    """Random letters, the same for each length, that look like a secret."""
    return "k9" + "".join(random.Random(length).choices(string.ascii_letters + string.digits, k=length))
