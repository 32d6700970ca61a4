"""The PreToolUse hook on Live Memory's own tools: sees to it that the call meets a server, fills in `cwd`, and allows it; but
for a save where `approve_saves` is on, which is left to Claude Code's own permission question.

Claude Code runs `headersHelper` when it connects, not before a call: a server that has gone since is brought back here.
"""

from __future__ import annotations

import os

import _client
import _event
import _quick
import _server

OUR_TOOLS = "mcp__plugin_live-memory_live-memory__"
SAVE_TOOL = OUR_TOOLS + "memory_save"
CONFIG_FILE = "config.json"
OFF = ("", "0", "no", "off", "false")  # what the settings take for off
START_WAIT_S = 10
INSTALL_WAIT_S = 100  # for the very first question of all; below the hook's own limit in hooks.json
# The keys that a server may answer with; Claude Code shows them to hooks and keeps them from headersHelper.
KEY_NAMES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "DEEPSEEK_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "MOONSHOT_API_KEY",
    "ZAI_API_KEY",
    "CEREBRAS_API_KEY",
    "DASHSCOPE_API_KEY",
    "LIVE_MEMORY_API_KEY",
)


def bring_server_up(folder: str) -> None:
    """Start the server where none answers, and again where it was started without the keys that this session has."""
    port = _server.port_in_force(folder)
    health = _server.probe(port)
    status = "" if health is None else health.get("status")
    wait_s = INSTALL_WAIT_S if status == "installing" else START_WAIT_S
    if status in ("", "installing", "draining"):
        remedy = "ensure"
    elif _client.read_record(folder).get("is_keyless") and any(os.environ.get(name) for name in KEY_NAMES):
        remedy = "restart"
    else:
        return
    _server.Start(folder, port, [remedy, "--wait", str(wait_s)]).has_ended(wait_s + 1)


def are_saves_approved(folder: str) -> bool:
    """Whether the setting `approve_saves` is on, by the environment, else the file in the data folder. What cannot be read
    counts as on: the question is the safe side."""
    said: object = os.environ.get("LIVE_MEMORY_APPROVE_SAVES", "")
    if not said and folder:
        try:
            with open(os.path.join(folder, CONFIG_FILE), encoding="utf-8") as file:
                config = _quick.parse(file.read())
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            return True
        said = config.get("approve_saves", "") if isinstance(config, dict) else "on"
    return str(said).strip().lower() not in OFF


def permission(event: dict[str, object], folder: str) -> dict[str, object]:
    """The hook's answer: allow (or no word on it), with `cwd` filled in where the model left it out or wrote a relative one.
    TypeError for a call that is none. ValueError for another's tool, whoever asks: allowing it is not ours."""
    tool = _event.text(event, "tool_name")
    if not tool.startswith(OUR_TOOLS):
        raise ValueError("%s is none of our tools" % tool)
    answer: dict[str, object] = {"hookEventName": "PreToolUse"}
    if not (tool == SAVE_TOOL and are_saves_approved(folder)):
        answer["permissionDecision"] = "allow"
    arguments = event.get("tool_input")
    if not isinstance(arguments, dict):
        raise TypeError("the call has no arguments")
    cwd = arguments.get("cwd")
    session_cwd = event.get("cwd")
    if isinstance(session_cwd, str) and session_cwd and not (isinstance(cwd, str) and os.path.isabs(cwd)):
        answer["updatedInput"] = {**arguments, "cwd": session_cwd}
    return {"hookSpecificOutput": answer}


if __name__ == "__main__":
    with _event.harmless:
        data_dir = _client.data_dir()
        allowed = permission(_event.told(), data_dir)
        with _event.harmless:
            if data_dir:
                bring_server_up(data_dir)
        _event.answer(allowed)
