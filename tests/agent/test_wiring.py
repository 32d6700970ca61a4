"""The desk as it is put together for real: real explorers, a real database, a real repository."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from agent.scene import make_tree

from live_memory import wiring
from live_memory.agent.answers import Question
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import Threads
from live_memory.agent.seat import Models
from live_memory.clock import SystemClock
from live_memory.configuration import Configuration
from live_memory.llm.choice import Choice
from live_memory.llm.scripted import ScriptedModel, ScriptedReply
from live_memory.settings import Settings
from live_memory.store.sqlite import SqliteStore
from live_memory.window.messages import Prompt, ToolCall, ToolResult


def configuration(tmp_path: Path, provider: str = "passages") -> Configuration:
    return Configuration(Settings(provider=provider), {}, {}, home=tmp_path / "home")


def desk_over(tmp_path: Path, model: ScriptedModel) -> QuestionDesk:
    chosen = configuration(tmp_path, "scripted")
    choice = Choice("scripted", "a test", "scripted", model.name)
    return QuestionDesk(
        chosen,
        lambda: chosen,
        Models(lambda _configuration, _now_s: choice, lambda _choice: model),
        SqliteStore(tmp_path / wiring.DATABASE_FILE),
        Equipment(wiring.explorers(), Threads(), SystemClock(), wiring.tree_files()),
    )


def prefix_bytes(prompt: Prompt) -> str:
    return repr((prompt.tools, prompt.system, prompt.turns[: prompt.prefix_turns]))


async def test_with_nothing_configured_a_question_finds_its_place(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "repo")
    desk = wiring.assemble(tmp_path, configuration(tmp_path), clock=SystemClock()).desk
    answer = await desk.ask(Question("Where is the PORT that the server listens on?", str(root)))
    assert answer.text.startswith("No model answered, because the setting provider is passages.")
    assert any(c.path == "server.py" and c.state == "FRESH" for c in answer.citations)
    await desk.close(1)


async def test_passages_show_no_secret_and_no_secret_file(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "repo")
    (root / "upload.py").write_text('def upload():\n    return client("ghp_aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA2bC4")\n')
    (root / ".env").write_text("UPLOAD_PASSWORD=hunter2hunter2\n")
    desk = wiring.assemble(tmp_path, configuration(tmp_path), clock=SystemClock()).desk
    answer = await desk.ask(Question("Which upload password and client does upload use?", str(root)))
    assert "upload.py" in answer.text
    assert "ghp_" not in answer.text
    assert "hunter2" not in answer.text
    await desk.close(1)


async def test_the_reason_why_there_is_no_model_is_told_and_the_choice_is_kept(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "repo")
    chosen = Configuration(Settings(provider="anthropic", api_key="k"), {}, {}, home=tmp_path / "home")
    absence = "the packages could not be installed"
    desk = wiring.assemble(tmp_path, chosen, clock=SystemClock(), model_absence=absence).desk
    assert desk.needs_packages()
    answer = await desk.ask(Question("What does serve do?", str(root)))
    assert answer.text.startswith("No model answered, because the packages could not be installed.")
    await desk.close(1)


async def test_settings_that_name_no_reachable_provider_leave_passages_and_say_what_to_do(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "repo")
    desk = wiring.assemble(tmp_path, configuration(tmp_path, "openai"), clock=SystemClock()).desk
    answer = await desk.ask(Question("What does serve do?", str(root)))
    assert "provider=openai needs a key" in answer.text
    await desk.close(1)


async def test_the_model_s_tool_calls_read_the_real_tree_inside_the_jail(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "repo")
    calls = ScriptedReply(
        tool_calls=(
            ToolCall("1", "Read", json.dumps({"file_path": "server.py"})),
            ToolCall("2", "Grep", json.dumps({"pattern": "secret", "output_mode": "content"})),
            ToolCall("3", "Read", json.dumps({"file_path": "../outside.txt"})),
        )
    )
    (tmp_path / "outside.txt").write_text("not yours")
    model = ScriptedModel([calls, "The port is 7711, server.py:1."])
    desk = desk_over(tmp_path, model)
    answer = await desk.ask(Question("Which port?", str(root)))
    results = [block for block in model.requests[1].prompt.turns[-1].blocks if isinstance(block, ToolResult)]
    assert "PORT = 7711" in results[0].text
    assert "auth.py" in results[1].text
    assert results[2].is_error
    assert "not yours" not in results[2].text
    assert [c.state for c in answer.citations] == ["FRESH"]
    await desk.close(1)


async def test_after_a_restart_the_prefix_is_the_same_bytes_and_carries_the_earlier_question_and_answer(
    tmp_path: Path,
) -> None:
    root = make_tree(tmp_path / "repo")
    before = ScriptedModel(["First, server.py:1.\n", "Second — ‘quoted’ 🙂."])
    desk = desk_over(tmp_path, before)
    await desk.ask(Question("One?  ", str(root)))
    await desk.ask(Question("Two — “why”?", str(root)))
    await desk.close(1)
    (root / "added_meanwhile.py").write_text("")

    after = ScriptedModel(["Third."])
    desk = desk_over(tmp_path, after)
    await desk.ask(Question("Three?", str(root)))
    old, new = before.requests[-1].prompt, after.requests[0].prompt
    assert (new.tools, new.system) == (old.tools, old.system)
    assert new.turns[:2] == old.turns[:2]
    assert new.turns[2].blocks == old.turns[2].blocks[:1]
    assert [block.text for turn in new.turns[:4] for block in turn.blocks] == [  # type: ignore[union-attr]
        "One?",
        "First, server.py:1.",
        "Two — “why”?",
        "Second — ‘quoted’ 🙂.",
    ]
    figures = desk.stats(str(root))
    assert (figures["questions"], figures["messages"]) == (3, 6)
    await desk.close(1)


async def test_the_desk_can_be_assembled_and_asked_in_another_thread_than_the_one_that_made_it(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "repo")
    desk = wiring.assemble(tmp_path, configuration(tmp_path), clock=SystemClock()).desk

    def elsewhere() -> str:
        async def ask() -> str:
            answer = await desk.ask(Question("What does serve do?", str(root)))
            await desk.close(1)
            return answer.text

        return asyncio.run(ask())

    assert "server.py" in await asyncio.to_thread(elsewhere)


def test_the_whole_desk_imports_with_the_standard_library_alone() -> None:
    runtime = Path(wiring.__file__).parents[1]
    program = f"import sys; sys.path.insert(0, {str(runtime)!r}); import live_memory.wiring"
    subprocess.run([sys.executable, "-ESsc", program], check=True, timeout=30, env={"PATH": ""})
