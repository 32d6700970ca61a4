"""Notes in the real Claude Code: saved in one session, there in the next when they matter, and not when they do not."""

from __future__ import annotations

import json

from e2e.claude_code import TOOL, ClaudeCode
from support.two_models import Call, Scripted, TwoModels

SAVE, SEARCH, GET = (TOOL.replace("ask_live_memory", f"memory_{name}") for name in ("save", "search", "get"))
TOOL_SEARCH = "ToolSearch"
OURS = TOOL.removesuffix("ask_live_memory")
NOTE = {
    "title": "Catalog pagination in production uses a cursor model",
    "body": "Offsets made the last pages of the catalog slow; the cursor is the id of the last article.",
    "kind": "decision",
}
NOTE_ID = "catalog-pagination-in-production-uses-a-cursor-model"
CHINESE = {"title": "会话令牌的有效期是八小时", "body": "刷新在后台进行。", "kind": "reference"}
RECALLED = "UserPromptSubmit hook additional context"
LISTED = "SessionStart hook additional context: Live Memory"


def loading(user: ClaudeCode, models: TwoModels, *tools: str) -> list[Scripted]:
    """The turns that bring deferred tools in: none where the CLI offers them all from the start."""
    models.script("claude", ["Hello."])
    user.ask("Say hello.")
    offered = {tool["name"] for tool in models.heard["claude"][-1]["tools"]}
    return [Call(TOOL_SEARCH, {"query": "select:" + ",".join(tools)})] if TOOL_SEARCH in offered else []


def play(user: ClaudeCode, models: TwoModels, prompt: str, *turns: Scripted) -> str:
    """What Claude was sent with `prompt` in a new session, as text."""
    asked_before = len(models.heard["claude"])
    models.script("claude", [*turns, "Thanks."])
    outcome = user.ask(prompt)
    assert outcome.result["permission_denials"] == []
    return json.dumps(models.heard["claude"][asked_before]["messages"], ensure_ascii=False)


def ready(user: ClaudeCode, **settings: str) -> None:
    """The plugin installed and its server up, with nothing learned from sessions by itself."""
    user.install()
    changes = [f"{name}={value}" for name, value in {"capture": "off", **settings}.items()]
    for command in (["ensure", "--wait", "60"], ["config", "set", *changes]):
        done = user.live_memory(*command)
        assert done.returncode == 0, done.stderr


def test_a_note_saved_in_one_session_is_there_in_the_next_when_it_matters(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    ready(ready_user, recall_langs="en,it")
    load = loading(ready_user, models, SAVE)
    play(ready_user, models, "Remember why the catalog is paginated by cursor.", *load, Call(SAVE, NOTE))
    assert models.tool_results("claude", SAVE) == [f"Created #{NOTE_ID}."]

    unrelated = play(ready_user, models, "Write a haiku about the sea in autumn, please.")
    assert LISTED in unrelated
    assert f"#{NOTE_ID} (decision)" in unrelated
    assert RECALLED not in unrelated
    assert NOTE["body"] not in unrelated

    on_topic = play(ready_user, models, "Why does catalog pagination in production use a cursor?")
    assert RECALLED in on_topic
    assert NOTE["body"] in on_topic

    italian = play(ready_user, models, "Quale modello usa la paginazione del catalogo in produzione?")
    assert NOTE["body"] in italian


def test_two_chinese_characters_find_a_chinese_note(ready_user: ClaudeCode, models: TwoModels) -> None:
    ready(ready_user)
    load = loading(ready_user, models, SAVE, SEARCH, GET)
    play(ready_user, models, "记住这一点。", *load, Call(SAVE, CHINESE), Call(SEARCH, {"query": "令牌"}))
    saved, found = models.tool_results("claude", SAVE)[0], models.tool_results("claude", SEARCH)[0]
    note_id = saved.removeprefix("Created #").rstrip(".")
    assert f"- #{note_id} (reference): {CHINESE['title']} [bm25]" in found
    play(ready_user, models, "读一下。", *load, Call(GET, {"ids": [note_id]}))
    assert CHINESE["body"] in models.tool_results("claude", GET)[0]
    assert ready_user.live_memory("search", "令牌").stdout.startswith(note_id)


def test_only_the_question_s_tool_takes_room_from_the_first_turn_on_where_tools_can_be_searched(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    ready(ready_user)
    searchable = bool(loading(ready_user, models, SAVE))
    offered = {tool["name"] for tool in models.heard["claude"][-1]["tools"] if tool["name"].startswith(OURS)}
    assert TOOL in offered
    assert (offered == {TOOL}) == searchable
    assert {SAVE, SEARCH, GET} <= offered or SAVE in json.dumps(models.heard["claude"][-1])


def test_saves_that_are_to_be_approved_are_left_to_claude_code_s_own_question(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    ready(ready_user, approve_saves="on")
    load = loading(ready_user, models, SAVE)
    models.script("claude", [*load, Call(SAVE, NOTE), "Well."])
    denied = ready_user.ask("Remember this.").result["permission_denials"]
    assert [denial["tool_name"] for denial in denied] == [SAVE]
    assert ready_user.live_memory("log").stdout == ""
    models.script("claude", [*load, Call(SAVE, NOTE), "Well."])
    assert ready_user.ask("Remember this.", "--allowedTools", SAVE).result["permission_denials"] == []
    assert models.tool_results("claude", SAVE) == [f"Created #{NOTE_ID}."]
