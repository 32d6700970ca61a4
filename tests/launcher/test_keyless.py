"""Whether the environment a server starts in is one that Claude Code has taken the keys out of."""

from __future__ import annotations

import pytest

from launcher.identity import is_keyless

HELPER = {"CLAUDE_CODE_MCP_SERVER_URL": "http://127.0.0.1:7711/mcp"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (HELPER, True),
        ({**HELPER, "OPENAI_API_KEY": ""}, True),
        ({**HELPER, "OPENAI_API_KEY": "sk-dummy"}, False),
        ({**HELPER, "ANTHROPIC_AUTH_TOKEN": "dummy"}, False),
        ({}, False),
    ],
)
def test_only_a_headers_helper_s_environment_without_any_key_is_keyless(
    environ: dict[str, str], expected: bool
) -> None:
    assert is_keyless(environ) is expected
