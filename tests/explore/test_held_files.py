"""Files as the window holds them: which are found, how they are read, and what is seen without a read."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from live_memory.errors import ToolRefusal
from live_memory.explore.held_files import is_gone, locate, matching, prepare, read, signature, standing
from live_memory.explore.spelling import ignores_case
from live_memory.explore.walk import is_ignored

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    (place / ".git" / "info").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return place.resolve()


def write(root: Path, files: Iterable[str], text: str = "text\n") -> None:
    for path in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def test_a_path_is_named_by_its_real_place_below_the_root(root: Path) -> None:
    write(root, ["src/a.py"])
    (root / "link").symlink_to("src")
    for path in ("src/a.py", "./src/../src/a.py", "link/a.py", str(root / "src" / "a.py")):
        assert locate(root, path) == "src/a.py"
    assert locate(root, "not/there/yet.py") == "not/there/yet.py"


@pytest.mark.parametrize("path", ["../x.py", "/etc/passwd", ".env", ".git/config", "~/x", "caf\udce9.py", "a\0b"])
def test_what_is_outside_secret_or_no_text_has_no_place(root: Path, path: str) -> None:
    with pytest.raises(ToolRefusal):
        locate(root, path)


def test_a_text_is_read_as_it_is_and_stamped_with_its_bytes(root: Path) -> None:
    write(root, ["a.py"], f'KEY = "{SECRET}"\r\n')
    seen = read(root, "a.py", 1000)
    assert seen.text.startswith(f'KEY = "{SECRET}"')
    assert seen.stamp.size_bytes == len(SECRET) + 10
    assert prepare("a.py", f'KEY = "{SECRET}"\r\n', 1000).stamp.sha256 == seen.stamp.sha256
    assert prepare("a.py", f'KEY = "{SECRET}"\r\n', 1000).text == seen.text


def test_what_is_too_large_binary_or_no_file_is_not_read(root: Path) -> None:
    write(root, ["big.py"], "x" * 101)
    (root / "blob").write_bytes(b"a\0b")
    os.mkfifo(root / "pipe")
    for path in ("big.py", "blob", "pipe", "missing.py", "."):
        with pytest.raises(ToolRefusal):
            read(root, path, 100)
    for text in ("x" * 101, "a\0b"):
        with pytest.raises(ToolRefusal):
            prepare("a.py", text, 100)


def test_a_file_looks_different_after_any_write_even_one_that_restores_its_time_and_size(root: Path) -> None:
    write(root, ["a.py"], "one")
    before, times = signature(root, "a.py"), (root / "a.py").stat()
    write(root, ["b.py"], "two")
    os.utime(root / "b.py", ns=(times.st_atime_ns, times.st_mtime_ns))
    (root / "b.py").replace(root / "a.py")
    assert signature(root, "a.py") != before
    assert signature(root, "missing.py") is None
    assert signature(root, ".git") is None


def test_ignored_is_what_git_ignores_by_itself_or_with_a_folder_above_it(root: Path) -> None:
    write(root, [".gitignore"], "*.log\nbuild/\n!keep.log\n/top.py\n")
    write(root, ["sub/.gitignore"], "local.py\n")
    write(root, [".git/info/exclude"], "mine.py\n")
    ignored = ["a.log", "sub/a.log", "build/x/y.py", "sub/build/z.py", "top.py", "sub/local.py", "mine.py"]
    kept = ["a.py", "keep.log", "sub/top.py", "local.py", "build.py", "sub/deep/new.py"]
    assert [path for path in (*ignored, *kept) if is_ignored(root, path)] == ignored


def test_a_workspace_inside_a_checkout_obeys_the_rules_above_it(root: Path) -> None:
    write(root, [".gitignore"], "*.log\n")
    (root / "sub").mkdir()
    assert is_ignored(root / "sub", "a.log")
    assert not is_ignored(root / "sub", "a.py")


def test_outside_of_git_nothing_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, [".gitignore"], "*.log\n")
    assert not is_ignored(tmp_path, "a.log")


def test_globs_name_files_from_the_root_the_first_globs_first_each_once(root: Path) -> None:
    write(root, ["README.md", "docs/b.md", "docs/a.md", "docs/deep/c.md", "src/x.md", "docs/secrets.yml", "docs/c.md"])
    write(root, [".gitignore"], "docs/b.md\n")
    found = ["docs/a.md", "docs/c.md", "README.md", "docs/deep/c.md"]
    assert list(matching(root, ["docs/*.md", "*.md", "docs/a.md", "docs/**/*.md"])) == found
    assert list(matching(root, ["docs/*.yml"])) == []


@pytest.mark.parametrize("glob", ["../*.md", "/etc/*", "/etc/passwd", "[", "missing.md", ".env", ""])
def test_a_glob_that_leads_nowhere_names_nothing(root: Path, glob: str) -> None:
    write(root, ["a.md", ".env"])
    assert list(matching(root, [glob])) == []


def test_all_spellings_of_a_name_are_one_where_the_disk_ignores_case_and_two_where_it_does_not(root: Path) -> None:
    write(root, ["Src/Main.py"])
    assert locate(root, "src/MAIN.py", lambda _root: True) == "Src/Main.py"
    assert locate(root, "src/MAIN.py", lambda _root: False) == "src/MAIN.py"
    assert locate(root, "src/Gone.py", lambda _root: True) == "Src/Gone.py"
    write(root, ["src/MAIN.py"])
    assert locate(root, "src/MAIN.py", lambda _root: True) == "src/MAIN.py"


def test_a_disk_is_asked_whether_it_ignores_case(root: Path) -> None:
    assert ignores_case(root) is (root / ".GIT").exists()
    assert ignores_case(root / "missing") is False


def test_what_is_gone_is_told_from_what_cannot_be_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, ["a.py", "folder/b.py"])
    assert not is_gone(root, "a.py")
    for path in ("c.py", "a.py/below", "folder", "a\0b"):
        assert is_gone(root, path)
    for number in (errno.EACCES, errno.EIO, errno.ESTALE, errno.ENOTCONN):
        error = OSError(number, os.strerror(number))
        monkeypatch.setattr(os, "lstat", functools.partial(_raise, error))
        assert not is_gone(root, "a.py")


def _raise(error: OSError, _path: str) -> os.stat_result:
    raise error


def test_a_tree_is_a_checkout_a_folder_or_out_of_reach(root: Path) -> None:
    assert standing(root) == "checkout"
    (root / ".git" / "HEAD").unlink()
    assert standing(root) == "folder"
    (root / "empty").mkdir()
    assert standing(root / "empty") == "unreachable"
    assert standing(root / "missing") == "unreachable"
    (root / "empty" / ".git").write_text("gitdir: elsewhere\n")
    assert standing(root / "empty") == "checkout"


@pytest.mark.parametrize(
    "path", ["../out.py", "a/../../out.py", ".git/HEAD", ".env", "link.py", "folder/x.py", "/etc/passwd"]
)
def test_the_short_way_to_a_file_leads_nowhere_that_the_long_one_does_not(root: Path, path: str) -> None:
    (root.parent / "out.py").write_text("not ours\n")
    (root / ".env").write_text("KEY=value\n")
    (root / "link.py").symlink_to(root.parent / "out.py")
    (root / "folder").symlink_to(root.parent)
    (root.parent / "x.py").write_text("not ours\n")
    with pytest.raises(ToolRefusal):
        read(root, path, 1000)
