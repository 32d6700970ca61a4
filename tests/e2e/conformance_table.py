"""Which scenarios of the public MCP conformance suite this server is held to, and why not to the others."""

from __future__ import annotations

from collections.abc import Mapping

SUITE = "@modelcontextprotocol/conformance"
SUITE_VERSION = "0.2.0-alpha.12"

APPLYING: Mapping[str, str] = {
    "server-initialize": "the handshake of 2025-06-18 and 2025-11-25",
    "server-session-lifecycle": "what a session id may look like, and that ending a session may be refused",
    "server-stateless": "self-contained requests of 2026-07-28: discovery, envelope, errors and their HTTP statuses",
    "ping": "an empty answer",
    "tools-list": "the one tool, its name and its schema",
    "server-sse-multiple-streams": "several requests at once, each answered on its own stream",
    "server-sse-polling": "that a client offering to poll is served",
    "dns-rebinding-protection": "a foreign Host is refused, our own is not",
    "http-header-validation": "headers of 2026-07-28 that contradict the body are refused",
    "caching": "how long a client may keep the list of tools",
    "input-required-result-unsupported-methods": "nothing asks the client back where that is not allowed",
}

_FIXTURE = "calls a tool of the suite's own example server; {}"
_NO_INPUT = _FIXTURE.format("ask_live_memory never asks its caller back")
_NO_RESOURCES = "there are no resources"
_NO_PROMPTS = "there are no prompts"
_NO_TASKS = "the tasks extension is not offered: a question is answered within its call"
_NO_SKILLS = "the skills extension is not offered: the plugin brings its skills as files"
_OWN_TEST = "{} is shown with the real tool in tests/server/test_mcp.py"

NOT_APPLYING: Mapping[str, str] = {
    "tools-call-simple-text": _FIXTURE.format(_OWN_TEST.format("a text answer")),
    "tools-call-error": _FIXTURE.format(_OWN_TEST.format("an error answer")),
    "tools-call-with-progress": _FIXTURE.format(_OWN_TEST.format("progress")),
    "tools-call-image": _FIXTURE.format("answers are text only"),
    "tools-call-audio": _FIXTURE.format("answers are text only"),
    "tools-call-embedded-resource": _FIXTURE.format("answers are text only"),
    "tools-call-mixed-content": _FIXTURE.format("answers are text only"),
    "tools-call-with-logging": "logging over MCP is not offered (deprecated in 2026-07-28); there is a log file",
    "logging-set-level": "logging over MCP is not offered (deprecated in 2026-07-28); there is a log file",
    "tools-call-sampling": _FIXTURE.format("the caller's model is never asked to write the answer"),
    "tools-call-elicitation": _NO_INPUT,
    "elicitation-sep1034-defaults": _NO_INPUT,
    "elicitation-sep1330-enums": _NO_INPUT,
    "json-schema-2020-12": _FIXTURE.format("our schema needs no keyword beyond type, properties and required"),
    "http-custom-header-server-validation": "no argument of the tool travels in a header",
    "completion-complete": "there is nothing to complete: no prompts, no resource templates",
    "resources-list": _NO_RESOURCES,
    "resources-read-text": _NO_RESOURCES,
    "resources-read-binary": _NO_RESOURCES,
    "resources-templates-read": _NO_RESOURCES,
    "resources-subscribe": _NO_RESOURCES,
    "resources-unsubscribe": _NO_RESOURCES,
    "sep-2164-resource-not-found": _NO_RESOURCES,
    "prompts-list": _NO_PROMPTS,
    "prompts-get-simple": _NO_PROMPTS,
    "prompts-get-with-args": _NO_PROMPTS,
    "prompts-get-embedded-resource": _NO_PROMPTS,
    "prompts-get-with-image": _NO_PROMPTS,
    "sep-2640-skills-directory": _NO_SKILLS,
    "sep-2640-skills-enumeration": _NO_SKILLS,
    "sep-2640-skills-manifest": _NO_SKILLS,
    "tasks-lifecycle": _NO_TASKS,
    "tasks-capability-negotiation": _NO_TASKS,
    "tasks-wire-fields": _NO_TASKS,
    "tasks-request-state-removal": _NO_TASKS,
    "tasks-mrtr-input": _NO_TASKS,
    "tasks-request-headers": _NO_TASKS,
    "tasks-dispatch-and-envelope": _NO_TASKS,
    "tasks-status-notifications": _NO_TASKS,
    "tasks-required-task-error": _NO_TASKS,
    "tasks-mrtr-composition": _NO_TASKS,
    "input-required-result-basic-elicitation": _NO_INPUT,
    "input-required-result-basic-sampling": _NO_INPUT,
    "input-required-result-basic-list-roots": _NO_INPUT,
    "input-required-result-request-state": _NO_INPUT,
    "input-required-result-multiple-input-requests": _NO_INPUT,
    "input-required-result-multi-round": _NO_INPUT,
    "input-required-result-missing-input-response": _NO_INPUT,
    "input-required-result-non-tool-request": _NO_PROMPTS,
    "input-required-result-result-type": _NO_INPUT,
    "input-required-result-tampered-state": _NO_INPUT,
    "input-required-result-capability-check": _NO_INPUT,
    "input-required-result-ignore-extra-params": _NO_INPUT,
    "input-required-result-validate-input": _NO_INPUT,
}

# Single checks of an applying scenario that cannot pass here.
EXEMPT_CHECKS: Mapping[str, Mapping[str, str]] = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": _NO_INPUT,
        "sep-2575-missing-capability-http-400": _NO_INPUT,
        "sep-2575-http-server-no-independent-requests-on-stream": _NO_INPUT,
        "sep-2575-server-no-log-without-loglevel": "logging over MCP is not offered",
    },
    "caching": {
        "sep-2549-prompts-list-caching-hints": _NO_PROMPTS,
        "sep-2549-resources-list-caching-hints": _NO_RESOURCES,
        "sep-2549-resources-templates-list-caching-hints": _NO_RESOURCES,
    },
}

INTRODUCTION = f"""\
# MCP conformance

`make e2e` runs the server scenarios of the public suite `{SUITE}` {SUITE_VERSION} against a running server
(`tests/e2e/test_conformance.py`). The test fails when a scenario that applies fails, when one appears that is not listed here, and when a check
that is excused passes. The suite sends no token, so it talks through a small proxy that adds it; the server itself runs as always.
This page is written by `tests/e2e/conformance_table.py`; a test keeps the two equal.
"""


def page() -> str:
    """docs/conformance.md."""
    return "\n".join(
        (
            INTRODUCTION,
            _section("Scenarios that apply, and pass", ("scenario", "what it shows"), APPLYING),
            *(
                _section(f"Checks of `{scenario}` that do not apply", ("check", "why not"), checks)
                for scenario, checks in EXEMPT_CHECKS.items()
            ),
            _section("Scenarios that do not apply", ("scenario", "why not"), NOT_APPLYING),
        )
    )


def _section(title: str, columns: tuple[str, str], rows: Mapping[str, str]) -> str:
    lines = [f"## {title}", "", f"| {columns[0]} | {columns[1]} |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {text} |" for name, text in rows.items()), ""])
