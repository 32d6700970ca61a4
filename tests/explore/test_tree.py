"""The directory tree: what is in it, how it is cut, and that it is the same twice."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from explore.asking import Write
from hypothesis import given
from hypothesis import strategies as st

from live_memory.explore import folders as folders_module
from live_memory.explore import tree
from live_memory.explore.child import Bounds
from live_memory.explore.folders import Folders, split_paths
from live_memory.explore.tree import SCAN_CUT, UNTRACKED_LEFT_OUT, directory_tree
from live_memory.explore.tree_text import render
from live_memory.text.tokens import estimate_tokens

Git = Callable[..., str]


def drawn(paths: list[str], max_tokens: int = 2000) -> str:
    folders = Folders()
    folders.add(os.fsencode(path) for path in paths)
    return render(folders.top, max_tokens, "")


def test_the_tree_of_a_checkout_is_git_s(root: Path, write: Write, git: Git) -> None:
    write(".gitignore", "*.log\nbuild/\n")
    write("src/app.py", "")
    write("src/api/routes.py", "")
    write("README.md", "")
    git("add", ".")
    write("untracked.txt", "")
    write("debug.log", "")
    write("build/out.js", "")
    assert directory_tree(root, 1000) == "./: .gitignore, README.md, untracked.txt\nsrc/: app.py\n  api/: routes.py"


def test_a_folder_inside_a_checkout_has_its_own_part_of_the_tree(root: Path, write: Write, git: Git) -> None:
    write("packages/web/index.ts", "")
    write("packages/api/main.go", "")
    git("add", ".")
    assert directory_tree(root / "packages", 1000) == "./\napi/: main.go\nweb/: index.ts"


def test_nested_worktrees_and_what_submodules_hold_are_left_out(
    root: Path, write: Write, git: Git, tmp_path: Path
) -> None:
    write("app.py", "")
    git("add", ".")
    git("commit", "--quiet", "-m", "Start")
    git("worktree", "add", "--quiet", ".trees/topic")
    library = tmp_path / "library"
    subprocess.run(["git", "init", "--quiet", str(library)], check=True)
    (library / "inner.py").write_text("")
    git("add", ".", cwd=library)
    git("commit", "--quiet", "-m", "Start", cwd=library)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "vendor/library")
    subprocess.run(["git", "clone", "--quiet", str(library), str(root / "clone")], check=True)
    text = directory_tree(root, 1000)
    assert "inner.py" not in text
    assert ".trees" not in text
    assert "vendor/: library" in text
    assert "clone" in text


def test_outside_of_a_checkout_the_folder_is_scanned(root: Path, write: Write, tmp_path: Path) -> None:
    write("app/main.py", "")
    write("app/node_modules/x/index.js", "")
    write(".hidden", "")
    (root / "link").symlink_to(tmp_path / "outside")
    assert directory_tree(root, 1000) == "./: .hidden, link\napp/: main.py"


def test_an_empty_folder_and_an_empty_repository_have_a_tree(root: Path, git: Git) -> None:
    assert directory_tree(root, 100) == "./"
    assert directory_tree(root, 0) == ""


def test_a_checkout_that_git_cannot_read_is_scanned(root: Path, write: Write, git: Git) -> None:
    write(".gitignore", "*.log\n")
    write("a.py", "")
    write("a.log", "")
    (root / ".git" / "index").write_bytes(b"broken")
    assert directory_tree(root, 100) == "./: .gitignore, a.py"


def test_a_scan_that_takes_too_long_says_so(root: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        write(f"folder-{number}/file", "")
    monkeypatch.setattr(tree, "SCAN_ENTRIES", 10)
    assert directory_tree(root, 1000).endswith(SCAN_CUT)


def test_untracked_files_beyond_the_bounds_are_said_to_be_left_out(
    root: Path, write: Write, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("tracked.py", "")
    git("add", ".")
    for number in range(100):
        write(f"untracked-{number:03}.txt", "")
    monkeypatch.setattr(tree, "UNTRACKED_BOUNDS", Bounds(timeout_s=30, max_bytes=100))
    text = directory_tree(root, 1000)
    assert "tracked.py" in text
    assert text.endswith(UNTRACKED_LEFT_OUT)


def test_files_are_counted_where_they_are_cut() -> None:
    paths = [f"src/part-{n}/file-{m}.py" for n in range(30) for m in range(40)] + ["README.md"]
    assert drawn(paths, 20) == "./: README.md\nsrc/ (1,200 files)"
    assert "  part-9/ (40 files)" in drawn(paths, 250)
    assert "… 37 more" in drawn(paths, 500)
    assert ", … " not in drawn(["a/b", "c/d"])


def test_broad_comes_before_deep() -> None:
    deep = ["deep/" + "/".join(f"level-{n}" for n in range(depth)) + "/x/file" for depth in range(1, 30)]
    broad = [f"project-{n:02}/main.py" for n in range(40)]
    text = drawn(deep + broad, 300)
    assert all(f"project-{n:02}/" in text for n in range(40))
    assert "level-20" not in text


def test_a_chain_of_folders_is_one_line() -> None:
    assert drawn(["src/main/java/com/example/App.java"]) == "./\nsrc/main/java/com/example/: App.java"


def test_a_wide_folder_is_thinned_out_to_its_largest_folders() -> None:
    paths = [f"packages/p{n:04}/f{m}" for n in range(3000) for m in range(2 if n == 1234 else 1)]
    text = drawn(paths, 200)
    assert "  p1234/" in text
    assert "packages/ (3,001 files)" in text


def test_names_cannot_forge_lines(root: Path, write: Write) -> None:
    write("a\n../../etc/\x1b[31m/b", "")
    text = directory_tree(root, 500)
    assert text.count("\n") <= 4
    assert "\x1b" not in text


NAMES = st.text("abcé中 .\n", min_size=1, max_size=8).filter(lambda name: name not in {".", ".."})
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=5).map("/".join), max_size=60, unique=True)


@given(paths=PATHS, max_tokens=st.integers(0, 300))
def test_every_tree_fits_its_tokens_and_is_the_same_in_any_order(paths: list[str], max_tokens: int) -> None:
    text = drawn(paths, max_tokens)
    assert estimate_tokens(text) <= max_tokens
    assert drawn(paths[::-1], max_tokens) == text


@given(paths=PATHS, weight=st.integers(3, 40))
def test_folding_deep_levels_loses_no_file_from_the_count(paths: list[str], weight: int) -> None:
    folders = Folders()
    limit, folders_module.MAX_WEIGHT = folders_module.MAX_WEIGHT, weight
    try:
        folders.add(os.fsencode(path) for path in paths)
    finally:
        folders_module.MAX_WEIGHT = limit
    assert folders.top.count_files() == len(paths)


@given(pieces=st.lists(st.binary(max_size=9), max_size=9))
def test_paths_are_split_however_the_stream_is_cut(pieces: list[bytes]) -> None:
    whole = b"".join(pieces) + b"\0"
    assert list(split_paths([*pieces, b"\0"])) == whole.split(b"\0")[:-1]
