"""Claude Code's own subscription token: read where Claude Code keeps it, at each use, and never written or kept.

Refreshing it is deliberately absent: a refresh token works once, so using it here would log Claude Code out.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TOKEN_VARIABLE = "CLAUDE_CODE_OAUTH_TOKEN"  # noqa: S105  # a variable's name
CONFIG_DIR_VARIABLE = "CLAUDE_CONFIG_DIR"
CREDENTIALS_FILE = ".credentials.json"
KEYCHAIN_ITEM = "Claude Code-credentials"
KEYCHAIN_TIMEOUT_S = 2
INFERENCE_SCOPE = "user:inference"
EXPIRY_MARGIN_S = 60
TOKEN_PREFIX = "sk-ant-oat"  # noqa: S105  # what such a token starts with


@dataclass(frozen=True, slots=True)
class Subscription:
    """The token, empty when there is none to use, and why: where it came from, or what is wrong."""

    token: str = field(repr=False)
    why: str


def read_subscription(
    variables: Mapping[str, str], home: Path, now_s: float, *, platform: str = sys.platform
) -> Subscription:
    """The token as it is now: the variable's, else the credentials file's, else (macOS) the keychain's. Blocking."""
    if token := variables.get(TOKEN_VARIABLE):
        return Subscription(token, f"the Claude subscription token in {TOKEN_VARIABLE}")
    folder = Path(variables.get(CONFIG_DIR_VARIABLE) or home / ".claude")
    try:
        text = (folder / CREDENTIALS_FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = _keychain_text() if platform == "darwin" else ""
    return _parsed(text, now_s) if text else Subscription("", "Claude Code is not logged in with a subscription")


def _parsed(text: str, now_s: float) -> Subscription:
    try:
        login = json.loads(text)["claudeAiOauth"]
        token, expires_s = str(login["accessToken"]), float(login.get("expiresAt") or 0) / 1000
        scopes = login.get("scopes") or [INFERENCE_SCOPE]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return Subscription("", "Claude Code's credentials hold no subscription token")
    if INFERENCE_SCOPE not in scopes:
        return Subscription("", "Claude Code's subscription token does not allow model calls")
    if expires_s and expires_s < now_s + EXPIRY_MARGIN_S:
        return Subscription("", "Claude Code's subscription token has expired (Claude Code renews it when it runs)")
    return Subscription(token, "Claude Code's subscription token")


def _keychain_text() -> str:
    """The keychain item's text; empty when there is none, it is locked, or the user would have to be asked."""
    security = shutil.which("security")
    if security is None:
        return ""
    try:
        found = subprocess.run(
            [security, "find-generic-password", "-s", KEYCHAIN_ITEM, "-w"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=KEYCHAIN_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
