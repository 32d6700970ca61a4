"""Which names and paths a tree knows, with ripgrep and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from live_memory.explore import presence, ripgrep
from live_memory.explore.presence import names_in, paths_in


@pytest.fixture(params=["the engine of this machine", "plain"])
def tree(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "plain":
        monkeypatch.setattr(ripgrep, "find_ripgrep", lambda: None)
    root = tmp_path.resolve()
    for path, text in {
        "src/a.py": "def load_token(): ...\n",
        "lib/b.rs": "fn drain_all() {}\n",
        "c.weird": "OddOne\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_names_are_looked_for_in_every_language_and_folder_as_whole_words(tree: Path) -> None:
    found = names_in(tree, {"load_token", "drain_all", "OddOne", "load", "Load_Token", "nowhere"}, 10.0)
    assert found.found == {"load_token", "drain_all", "OddOne"}
    assert found.absent == {"load", "Load_Token", "nowhere"}


def test_thousands_of_names_take_a_few_searches_and_common_ones_do_not_hide_rare_ones(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "OUTPUT_MAX_BYTES", 2000)
    (tree / "big.txt").write_text("everywhere common\n" * 500 + "needle_in_it\n")
    names = {f"missing_{number}" for number in range(2000)} | {"everywhere", "common", "needle_in_it"}
    found = names_in(tree, names, 20.0)
    assert found.found == {"everywhere", "common", "needle_in_it"}
    assert len(found.absent) == 2000


def test_without_time_nothing_is_told(tree: Path) -> None:
    assert names_in(tree, {"load_token", "nowhere"}, 0.0) == presence.NOTHING


def test_paths_are_known_by_their_end_and_as_folders(tree: Path) -> None:
    found = paths_in(tree, {"src/a.py", "a.py", "src", "b.rs", "src/b.rs", "rc/a.py"}, 10.0)
    assert found.found == {"src/a.py", "a.py", "src", "b.rs"}
    assert found.absent == {"src/b.rs", "rc/a.py"}


def test_what_git_ignores_says_nothing_by_its_absence(tree: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tree / ".gitignore").write_text("dist/\n*.log\n")
    found = paths_in(tree, {"dist/app.js", "debug.log", "gone.py"}, 10.0)
    assert not found.found
    assert found.absent == {"gone.py"}


def test_a_tree_that_is_not_there_tells_nothing(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    assert names_in(missing, {"x_y"}, 5.0) == presence.NOTHING
    assert paths_in(missing, {"x/y.py"}, 5.0) == presence.NOTHING
    empty = tmp_path / "empty"
    empty.mkdir()
    assert paths_in(empty, {"x/y.py"}, 5.0) == presence.NOTHING
