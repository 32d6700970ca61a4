"""What one line of a transcript says: who spoke, and the words, without what was only put there for Claude to read.

Injected notes, our own answers, reminders, thoughts, summaries and slash commands' output are no part of it. Secrets are
taken out. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from live_memory.text.secrets import redact
from live_memory.text.surrogates import whole_characters

Speaker: TypeAlias = Literal["user", "claude", "tool"]

READ_CHARS = 200_000  # of one speech; more is a paste
SPEECH_HEAD_CHARS = 6000
SPEECH_TAIL_CHARS = 2000
RESULT_READ_CHARS = 4000
RESULT_CHARS = 300
ERROR_CHARS = 600
TARGET_CHARS = 160
EDITING_TOOLS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
TARGET_NAMES = ("file_path", "notebook_path", "path", "command", "pattern", "query", "url", "description", "prompt")
OWN_TOOLS = re.compile(r"(?:^|__)(?:ask_live_memory\w*|memory_(?:search|get|save|toc))$")
OWN_COMMAND = re.compile(r"(?:^|[\s;&|/])live-memory\s+(?:ask|search|get|toc|save|view|session)\b")
OWN_TRAILER = "[live-memory] model="
OWN_FENCE = "live-memory"
# Whatever stands in these was not typed by the user.
_OPENING = re.compile(
    r"<(live-memory[\w-]*|system-reminder|local-command-[a-z]+|command-(?:name|message|contents)|bash-[a-z]+|ide_[a-z_]+"
    r"|task-notification|user-prompt-submit-hook)(?:\s[^<>]{0,500})?>"
)
_ARGUMENTS = re.compile(r"</?command-args>")
ASKING_TOOL = "AskUserQuestion"
_ANSWERED = re.compile(
    r"(?:Your questions have been answered|User has answered your questions|The user (?:answered|responded)): "
    r"(?P<answers>.*?)(?:\. (?:You can now continue|Read the answers)[^\n]*)?\Z",
    re.DOTALL,
)
_INTERRUPTED = "[Request interrupted by user"
UNSAID = ("isMeta", "isVirtual", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
OWN_ORIGINS = (
    "human",
    "sdk",
    "unknown",
)  # of a prompt; a schedule, a notice or another session's agent is not the user


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said, as it may be shown to a model. `edited` is the file that a tool call was told to change."""

    speaker: Speaker
    text: str
    edited: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a transcript, parsed. `own_calls` are calls of our own tools, whose results are not to be shown;
    `questions` those by which Claude asks the user, whose results are the user's answers."""

    uuid: str = ""
    turns: tuple[Turn, ...] = ()
    own_calls: frozenset[str] = frozenset()
    questions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Hearing:
    """Whom to listen to: `subagents` whether what Claude's subagents say counts; `own_calls` the calls of our tools so far,
    `questions` those that ask the user."""

    subagents: Literal["heard", "unheard"] = "unheard"
    own_calls: frozenset[str] = frozenset()
    questions: frozenset[str] = frozenset()

    def after(self, line: Line) -> Hearing:
        """With the calls that a line holds."""
        if not (line.own_calls or line.questions):
            return self
        return replace(self, own_calls=self.own_calls | line.own_calls, questions=self.questions | line.questions)


def parse_line(raw: bytes, hearing: Hearing) -> Line:
    """What the line says; nothing where it is malformed, or of no kind that speaks."""
    value = _record(raw)
    uuid, message, kind = value.get("uuid"), value.get("message"), value.get("type")
    uuid = uuid if isinstance(uuid, str) else ""
    is_aside = bool(value.get("isSidechain"))
    is_unsaid = any(value.get(name) for name in UNSAID) or (is_aside and hearing.subagents == "unheard")
    if is_unsaid or not isinstance(message, dict):
        return Line(uuid)
    blocks = _blocks(message.get("content"))
    if kind == "assistant":
        own = frozenset(str(block.get("id")) for block in blocks if _is_own_call(block))
        questions = frozenset(str(block.get("id")) for block in blocks if block.get("name") == ASKING_TOOL)
        return Line(uuid, tuple(_said_by_claude(blocks)), own, questions)
    if kind == "user":
        return Line(uuid, tuple(_said_by_user(blocks, _prompter(value), hearing)))
    return Line(uuid)


def _prompter(value: Mapping[str, object]) -> Speaker:
    """Whose words the text of a user's line is: what a subagent is told, Claude wrote; what others send counts as little as
    what tools bring."""
    if value.get("isSidechain"):
        return "claude"
    origin, turn_origin = value.get("origin"), value.get("turnOrigin", OWN_ORIGINS[0])
    kind = origin.get("kind") if isinstance(origin, dict) else OWN_ORIGINS[0]
    is_own = turn_origin in OWN_ORIGINS and kind in OWN_ORIGINS and not value.get("textNotTyped")
    return "user" if is_own else "tool"


def _record(raw: bytes) -> Mapping[str, object]:
    if b'"user"' not in raw and b'"assistant"' not in raw:
        return {}  # most bytes of a transcript are records of requests
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def without_injected(text: str) -> str:
    """`text` without what stands between tags that Claude Code, its hooks or we put there."""
    kept: list[str] = []
    unclosed: set[str] = set()
    at = 0
    while opening := _OPENING.search(text, at):
        name = opening[1]
        closing = f"</{name}>"
        end = -1 if name in unclosed else text.find(closing, opening.end())
        kept.append(text[at : opening.start()])
        if end >= 0:
            at = end + len(closing)
        elif name.startswith(OWN_FENCE):
            return "".join(kept)  # cut off: all that follows is ours
        else:
            unclosed.add(name)
            kept.append(opening[0])
            at = opening.end()
    kept.append(text[at:])
    return _ARGUMENTS.sub("", "".join(kept))


def speech(text: str) -> str:
    """Words of a person or of Claude as they may be shown: nothing injected, no secrets, of a paste the two ends."""
    shown = redact(whole_characters(without_injected(text[:READ_CHARS]))).strip()
    left_out = len(shown) - SPEECH_HEAD_CHARS - SPEECH_TAIL_CHARS
    if left_out <= 0:
        return shown
    return f"{shown[:SPEECH_HEAD_CHARS]}\n[… {left_out} characters left out …]\n{shown[-SPEECH_TAIL_CHARS:]}"


def _blocks(content: object) -> tuple[Mapping[str, object], ...]:
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    return tuple(block for block in content if isinstance(block, dict)) if isinstance(content, list) else ()


def _texts(content: object) -> Iterator[str]:
    for block in _blocks(content):
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            yield text


def _said_by_claude(blocks: Iterable[Mapping[str, object]]) -> Iterator[Turn]:
    for block in blocks:
        if block.get("type") == "tool_use":
            if not _is_own_call(block):
                yield _call(block)
        else:
            for text in _texts([block]):
                if shown := speech(text):
                    yield Turn("claude", shown)


def _said_by_user(blocks: Iterable[Mapping[str, object]], speaker: Speaker, hearing: Hearing) -> Iterator[Turn]:
    for block in blocks:
        if block.get("type") == "tool_result":
            if block.get("tool_use_id") in hearing.questions:
                yield from _answer(block)
            elif block.get("tool_use_id") not in hearing.own_calls:
                yield from _result(block)
        else:
            for text in _texts([block]):
                shown = speech(text)
                if shown and not shown.startswith(_INTERRUPTED):
                    yield Turn(speaker, shown)


def _call(block: Mapping[str, object]) -> Turn:
    name, arguments = str(block.get("name")), block.get("input")
    arguments = arguments if isinstance(arguments, dict) else {}
    named = next((arguments[key] for key in TARGET_NAMES if isinstance(arguments.get(key), str)), "")
    target = redact(whole_characters(str(named)[:RESULT_READ_CHARS]))
    edited = target if name in EDITING_TOOLS else ""
    return Turn("tool", f"{name}: {_shortened(target, TARGET_CHARS)}", edited)


def _answer(block: Mapping[str, object]) -> Iterator[Turn]:
    """What the user answered to Claude's questions, each beside its question."""
    content = block.get("content")
    text = content if isinstance(content, str) else "\n".join(_texts(content))
    said = _ANSWERED.match(text[:READ_CHARS])
    if said and (shown := speech(said["answers"])):
        yield Turn("user", shown)


def _result(block: Mapping[str, object]) -> Iterator[Turn]:
    content = block.get("content")
    text = content if isinstance(content, str) else "\n".join(_texts(content))
    if OWN_TRAILER in text[-RESULT_READ_CHARS:]:
        return
    room = ERROR_CHARS if block.get("is_error") else RESULT_CHARS
    shown = _shortened(redact(whole_characters(without_injected(text[:RESULT_READ_CHARS]))), room)
    if shown:
        yield Turn("tool", f"→ {shown}")


def _is_own_call(block: Mapping[str, object]) -> bool:
    if block.get("type") != "tool_use":
        return False
    arguments = block.get("input")
    command = arguments.get("command") if isinstance(arguments, dict) else None
    is_own_command = isinstance(command, str) and OWN_COMMAND.search(command) is not None
    return is_own_command or OWN_TOOLS.search(str(block.get("name"))) is not None


def _shortened(text: str, room: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= room else f"{line[:room]} […]"
