"""Three sessions of the real Claude Code: what the first two found out and decided is there in the third, unasked."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from e2e.claude_code import ClaudeCode
from support.two_models import Call, TwoModels

LIMIT_S = 90.0
WRITTEN_S = 1.5  # until the CLI has written down what it did
CART = "shop/cart.py"
ASKED = "The total of a cart is off by a cent now and then. Find out why, and mend it in shop/cart.py."
CAUSE = "Cart.total summed binary floats, so that 0.1 + 0.2 carried an error of one cent into the invoice"
FOUND = (
    f"The root cause: {CAUSE}. I round each price half-even before it is added up. The error showed only for carts of three "
    "lines or more, because the sums of two prices happened to be printed with two digits, which hid the last bits. The "
    "checkout calls Cart.total once for each order, so that nothing else had to change, and prices that are whole numbers "
    "never were affected by it in the first place."
)
DECIDED = "VAT is computed per line and not per order, because the tax office compares lines"
TOLD = (
    f"Let us settle it: {DECIDED}. We talked to the accountants at length, and computing it per order was turned down for "
    "good. Write a comment that says so at the top of shop/checkout.py, nothing else; the computation itself comes next week, "
    "when the rates of the other countries are known to us, and until then the shop sells to customers from here alone."
)
LISTED = "SessionStart hook additional context"
RECALLED = "UserPromptSubmit hook additional context"


def note(kind: str, title: str, evidence: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "title": title,
        "description": title,
        "body": f"{evidence}.",
        "evidence": evidence,
        "files": [],
    }


def distilled(found: dict[str, Any], topic: str, open_: str) -> str:
    return json.dumps({"notes": [found], "session": {"topic": topic, "done": [topic], "open": [open_]}})


ROOT_CAUSE = distilled(
    note("root-cause", "Cart totals drift by a cent", CAUSE), "Mended the cent in cart totals", "tests"
)
DECISION = distilled(
    note("decision", "VAT is computed per line", DECIDED), "Settled how VAT is computed", "write the VAT"
)


def until(user: ClaudeCode, holds: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """The sessions of the project, once `holds` is so of them."""
    deadline_s = time.monotonic() + LIMIT_S
    while True:
        done = user.live_memory("session", "list", "--json")
        assert done.returncode == 0, done.stderr
        sessions: list[dict[str, Any]] = json.loads(done.stdout)["sessions"]
        if holds(sessions):
            return sessions
        assert time.monotonic() < deadline_s, sessions
        time.sleep(0.5)


def killed_session(user: ClaudeCode, models: TwoModels, prompt: str, *turns: Call) -> None:
    """A session that works and whose CLI is killed while Claude thinks: no hook tells of its end."""
    is_thinking, is_dead = threading.Event(), threading.Event()

    def thinking() -> str:
        is_thinking.set()
        is_dead.wait(LIMIT_S)
        return "Never heard."

    models.script("claude", [*turns, thinking])
    command = [str(user.program), "-p", prompt, "--allowedTools", "Read,Edit,Write", "--output-format", "json"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=user.project, env=user.environment, **pipes)  # type: ignore[call-overload]
    try:
        assert is_thinking.wait(LIMIT_S)
        time.sleep(WRITTEN_S)
    finally:
        process.kill()
        process.wait()
        is_dead.set()


def test_what_two_sessions_learned_is_there_in_the_third_without_anybody_having_asked(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    user = ready_user
    user.install()
    for command in (["ensure", "--wait", "60"],):
        done = user.live_memory(*command)
        assert done.returncode == 0, done.stderr

    mend = {"old_string": "return sum(self.prices)", "new_string": "return sum(round(p, 2) for p in self.prices)"}
    models.script("distiller", [ROOT_CAUSE, DECISION])
    path = str(user.project / CART)
    models.script("claude", [Call("Read", {"file_path": path}), Call("Edit", {"file_path": path, **mend}), FOUND])
    user.ask(ASKED, "--allowedTools", "Read,Edit")
    until(user, lambda sessions: [each["state"] for each in sessions] == ["done"])
    assert len(models.heard["distiller"]) == 1

    checkout = str(user.project / "shop" / "checkout.py")
    comment = {"old_string": "def checkout", "new_string": "# VAT: per line.\ndef checkout"}
    edit = Call("Edit", {"file_path": checkout, **comment})
    killed_session(user, models, TOLD, Call("Read", {"file_path": checkout}), edit)
    sessions = until(user, lambda sessions: len(sessions) == 2 and all(each["state"] == "done" for each in sessions))
    assert [each["captured"] for each in sessions] == [1, 1], json.dumps(sessions, indent=1)

    asked_before = len(models.heard["claude"])
    models.script("claude", ["Rounding."])
    user.ask("Why did the totals of carts drift by a cent?")
    (request,) = models.heard["claude"][asked_before:]
    said = json.dumps(request["messages"], ensure_ascii=False)
    listed = said[said.index(LISTED) :]
    assert "#cart-totals-drift-by-a-cent (root-cause)" in listed
    assert "#vat-is-computed-per-line (decision)" in listed
    assert "Settled how VAT is computed" in listed  # where the last session left off
    assert "Mended the cent in cart totals" not in listed
    recalled = said[said.index(RECALLED) :].split("additional context", 2)[1]
    assert CAUSE in recalled
    assert DECIDED not in recalled

    figures = json.loads(user.live_memory("stats", "--json").stdout)
    assert figures["capture"]["captured"] == 2
    assert figures["cost_of"]["capture_usd"] > 0
    asked = json.dumps(models.heard["distiller"], ensure_ascii=False)
    assert "SessionStart hook" not in asked
    assert "<system-reminder>" not in asked
