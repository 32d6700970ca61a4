"""The UserPromptExpansion hook: our own slash commands answered by the command line, without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hooks.calls import ROOT, Spoken, call, environment
from hooks.launchers import RecordingLauncher


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[RecordingLauncher]:
    recording = RecordingLauncher(tmp_path / "plugin", then='echo "window  12 %"; echo "a warning" >&2; pwd')
    yield recording
    recording.close()


def expand(launcher: RecordingLauncher, tmp_path: Path, name: str, words: str = "") -> Spoken:
    event = {"cwd": str(tmp_path), "command_name": name, "command_args": words}
    env = environment(tmp_path / "data", CLAUDE_PLUGIN_ROOT=str(launcher.root))
    return call("UserPromptExpansion", event, env)


def test_what_the_command_prints_is_shown_to_the_user_and_the_model_is_not_asked(
    launcher: RecordingLauncher, tmp_path: Path
) -> None:
    spoken = expand(launcher, tmp_path, "live-memory:live-memory-stats")
    assert spoken.answer == {
        "decision": "block",
        "reason": f"window  12 %\na warning\n{tmp_path}",
        "hookSpecificOutput": {"hookEventName": "UserPromptExpansion", "suppressOriginalPrompt": True},
    }
    assert launcher.next_call().startswith("stats port=")


@pytest.mark.parametrize(
    ("words", "passed"), [("set model='a b' x=1", "set model=a b x=1"), ("set model=it's", "set model=it's")]
)
def test_its_words_are_passed_on_as_a_shell_would(
    launcher: RecordingLauncher, tmp_path: Path, words: str, passed: str
) -> None:
    expand(launcher, tmp_path, "live-memory:live-memory-config", words)
    assert launcher.next_call().startswith(f"config {passed} port=")


@pytest.mark.parametrize("name", ["live-memory:live-memory-unheard-of", "other:live-memory", "review", ""])
def test_another_command_is_left_to_claude_code(launcher: RecordingLauncher, tmp_path: Path, name: str) -> None:
    assert expand(launcher, tmp_path, name).answer is None
    assert not launcher.has_been_called()


def test_every_command_page_is_answered_by_the_hook_and_names_the_same_program(tmp_path: Path) -> None:
    pages = sorted((ROOT / "commands").glob("*.md"))
    assert pages
    for page in pages:
        launcher = RecordingLauncher(tmp_path / page.stem)
        try:
            assert expand(launcher, tmp_path, f"live-memory:{page.stem}").answer
        finally:
            launcher.close()
        command = page.stem.removeprefix("live-memory-")
        text = page.read_text()
        assert f'!`"${{CLAUDE_PLUGIN_ROOT}}/bin/live-memory" {command}' in text
        assert "\ndisable-model-invocation: true\n" in text
