"""Requests written as they are sent, and the doctor's word on whether each continued the one before it."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from support.prompts import anthropic_choice, assistant, openai_choice, request, tool_round, user

from live_memory.llm.anthropic import AnthropicModel
from live_memory.llm.base import CompletionRequest, Model
from live_memory.llm.openai import OpenAIModel
from live_memory.llm.scripted import ScriptedModel
from live_memory.llm.trace import Pair, Sent, TracedModel, WireModel, numbered, pairs, traced
from live_memory.window.messages import Turn

URL = "https://provider.test"
HISTORY = (user("Where is the port?"), assistant("In server.py:1."))


class Deaf(ScriptedModel):
    """Answers like the scripted model, whatever protocol its requests are rendered in."""

    def __init__(self, renderer: WireModel) -> None:
        super().__init__()
        self._renderer = renderer

    def wire(self, request: CompletionRequest) -> dict[str, object]:
        return dict(self._renderer.wire(request))


@pytest.fixture(params=["scripted", "anthropic", "openai"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Model:
    renderers: dict[str, WireModel] = {
        "scripted": ScriptedModel(),
        "anthropic": AnthropicModel(anthropic_choice(URL)),
        "openai": OpenAIModel(openai_choice(URL)),
    }
    return traced(Deaf(renderers[request.param]), str(tmp_path / "trace"))


async def sent(model: Model, folder: Path, *requests: CompletionRequest) -> list[Pair]:
    for each in requests:
        await model.complete(each, lambda _piece: None)
    return list(pairs(Sent.read(path) for path in numbered(folder / "trace")))


async def test_a_window_that_grows_holds_its_prefix_also_through_tool_rounds(model: Model, tmp_path: Path) -> None:
    found = await sent(
        model,
        tmp_path,
        request(user("Where is the port?", "Hints: 60 s.")),
        request(user("Where is the port?", "Hints: 60 s."), *tool_round("t1")),
        request(*HISTORY, user("And the token?", "Hints: 59 s."), prefix_turns=2),
    )
    assert [(pair.earlier, pair.later, pair.held) for pair in found] == [
        ("000001", "000002", True),
        ("000002", "000003", True),
    ]


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ((user("Where is the PORT?"), assistant("In server.py:1.")), "message"),
        ((user("Where is the port?"), assistant("In auth.py:1.")), "message"),
    ],
)
async def test_a_history_that_was_rewritten_is_broken_at_its_first_other_byte(
    model: Model, tmp_path: Path, changed: tuple[Turn, ...], place: str
) -> None:
    (pair,) = await sent(
        model,
        tmp_path,
        request(*HISTORY, user("Q2"), prefix_turns=2),
        request(*changed, user("Q3"), prefix_turns=2),
    )
    assert not pair.held
    assert pair.place.startswith(place)
    start = len(os.path.commonprefix((pair.was, pair.is_now)))  # noqa: RUF071  # characters are what is compared
    assert 0 < start < len(pair.was)


async def test_a_changed_system_text_is_named_as_such(model: Model, tmp_path: Path) -> None:
    (pair,) = await sent(
        model,
        tmp_path,
        request(*HISTORY, user("Q2"), prefix_turns=2, system=("You answer.", "File a is 1.")),
        request(*HISTORY, user("Q3"), prefix_turns=2, system=("You answer.", "File a is 2.")),
    )
    assert pair.place.startswith(("system 2", "message 1 (system)"))
    assert "File a is 1." in pair.was
    assert "File a is 2." in pair.is_now


async def test_of_two_questions_at_once_the_one_that_began_sooner_breaks_nothing(model: Model, tmp_path: Path) -> None:
    longer = (*HISTORY, user("Q2"), assistant("A2"))
    found = await sent(
        model,
        tmp_path,
        request(*HISTORY, user("Q2"), prefix_turns=2),
        request(*longer, user("Q3"), prefix_turns=4),
        request(*HISTORY, user("Q2"), *tool_round("t"), prefix_turns=2),
    )
    assert [pair.held for pair in found] == [True, True]


async def test_other_windows_and_summaries_are_not_compared(model: Model, tmp_path: Path) -> None:
    found = await sent(
        model,
        tmp_path,
        request(*HISTORY, user("Q2"), prefix_turns=2, cache_key="one"),
        request(user("Else?"), cache_key="another"),
        replace(request(user("Distil."), system=("Summarise.",), cache_key="one"), purpose="compaction"),
        request(*HISTORY, user("Q2"), assistant("A2"), user("Q3"), prefix_turns=4, cache_key="one"),
    )
    assert [(pair.earlier, pair.later, pair.held) for pair in found] == [("000001", "000004", True)]


async def test_what_is_written_is_for_the_owner_only_and_numbered_on(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    for _ in range(2):
        await traced(ScriptedModel(), str(folder)).complete(request(), lambda _piece: None)
    assert [path.name for path in numbered(folder)] == ["000001.json", "000002.json"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in numbered(folder)] == [0o600, 0o600]
    assert json.loads((folder / "000001.json").read_text())["request"]["system"] == ["You answer.", "The frozen block."]


async def test_a_folder_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("a file")
    completion = await traced(ScriptedModel(["Yes."]), str(tmp_path / "trace")).complete(request(), lambda _piece: None)
    assert completion.text == "Yes."


def test_nothing_is_traced_unless_a_folder_is_named() -> None:
    model = ScriptedModel()
    assert traced(model, "") is model
    assert isinstance(traced(model, "/somewhere"), TracedModel)
