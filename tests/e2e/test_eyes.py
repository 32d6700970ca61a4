"""What the real Claude Code reads, edits and finds changed, in the very next request to the model behind Live Memory."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from e2e.claude_code import TOOL, ClaudeCode
from support.two_models import Call, TwoModels

ANSWER = "It does (shop/cart.py:6)."
FILE_TOOLS = ("--allowedTools", "Read,Edit,Write,Bash")


def texts(request: dict[str, Any]) -> list[str]:
    """Every text of a request to the model behind Live Memory, in order."""
    turns = [turn["content"] for turn in request["messages"]]
    blocks = [*request["system"], *(block for turn in turns for block in ([turn] if isinstance(turn, str) else turn))]
    return [block if isinstance(block, str) else str(block.get("text", "")) for block in blocks]


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def ask(question: str) -> Call:
    return Call(TOOL, {"question": question})


def read(path: Path) -> Call:
    return Call("Read", {"file_path": str(path)})


def test_what_claude_reads_and_edits_and_what_changes_behind_its_back_is_in_the_next_request(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    project = ready_user.project
    a, b, c, d = (project / f"{name}.py" for name in "abcd")
    for path in (a, b, c, d):
        path.write_text(f"NAME = '{path.stem}'\nVALUE = 'first'\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "All four")
    git(project, "checkout", "-qb", "without-d")
    git(project, "rm", "-q", "d.py")
    git(project, "commit", "-qm", "Drop d")
    git(project, "checkout", "-q", "-")

    def save_in_another_editor() -> Call:
        (project / ".c.py.swp").write_text(c.read_text().replace("first", "by an editor"))
        os.replace(project / ".c.py.swp", c)
        return Call("Bash", {"command": "git checkout -q without-d", "description": "Switch"})

    change = {"file_path": str(b), "old_string": "VALUE = 'first'", "new_string": "VALUE = 'edited'"}
    turns = [read(a), read(b), read(c), read(d), Call("Edit", change), ask("What are the values?")]
    turns += [Call("Bash", {"command": "sed -i s/edited/by-sed/ b.py", "description": "Change"})]
    models.script("claude", [*turns, save_in_another_editor, ask("And now?"), "Thanks."])
    models.script("backend", ["They are (a.py:2).", "Others (b.py:2)."])
    ready_user.install()
    outcome = ready_user.ask("Look at the values.", *FILE_TOOLS)
    assert outcome.result["result"] == "Thanks."
    assert not d.exists()

    first, second = models.heard["backend"]  # no Read call of its own: one request a question
    known = "\n".join(texts(first))
    assert "1\tNAME = 'a'\n2\tVALUE = 'first'" in known
    assert "1\tNAME = 'b'\n2\tVALUE = 'edited'" in known
    news = "\n".join(text for text in texts(second) if text not in texts(first))
    assert "VALUE = 'by-sed'" in news
    assert "VALUE = 'by an editor'" in news
    assert re.search(r"These files are no longer there .*: d\.py\.", news)


def subfolder(project: Path) -> Path:
    return project / "shop"


def worktree(project: Path) -> Path:
    git(project, "commit", "-qm", "A shop")
    git(project, "worktree", "add", "-q", "-b", "other", str(project.parent / "other"))
    cart = project.parent / "other" / "shop" / "cart.py"
    cart.write_text("# Of the worktree.\n" + cart.read_text())
    return project.parent / "other"


def link(project: Path) -> Path:
    (project.parent / "link").symlink_to(project)
    return project.parent / "link"


@pytest.mark.parametrize(
    ("place", "cart"), [(subfolder, "cart.py"), (worktree, "shop/cart.py"), (link, "shop/cart.py")]
)
def test_a_session_anywhere_in_a_checkout_teaches_the_window_of_that_checkout(
    ready_user: ClaudeCode, models: TwoModels, place: Any, cart: str
) -> None:
    folder: Path = place(ready_user.project)
    ready_user.project = folder
    ready_user.more["PWD"] = str(folder)
    models.script("claude", [read(folder / cart), ask("Where is the price?"), "Thanks."])
    models.script("backend", [ANSWER])
    ready_user.install()
    ready_user.ask("Where is the price?", *FILE_TOOLS)
    (request,) = models.heard["backend"]
    known = "\n".join(texts(request))
    assert known.count("return sum(self.prices)") == 1
    assert '<file path="shop/cart.py">' in known
    assert ("# Of the worktree." in known) == (place is worktree)
    assert "1 fresh, 0 stale, 0 unverified" in models.tool_results("claude", TOOL)[-1]
