"""Which workspace a folder belongs to: the canonical root of its git checkout, read from `.git` without running git."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from live_memory.errors import QuestionError
from live_memory.settings import Settings

MAX_PATH_BYTES = 1024  # MAXPATHLEN of macOS
MAX_DEPTH = 256  # folders between a cwd and its root; deeper paths do not exist on the systems served


def canonical_root(cwd: str, home: Path, settings: Settings) -> Path:
    """The real path of the workspace that `cwd` belongs to; QuestionError (`bad-cwd`) when there can be none.

    Two spellings of a folder, and two links to it, are one root. Blocking: a few `stat` calls.
    """
    folder = _existing_folder(cwd)
    root = _checkout_root(folder, settings.repo_root_mode) if settings.canonicalize_workspace else None
    real_home = home.resolve()
    if root is None or root in (real_home, Path(root.anchor)):
        root = folder  # dotfiles kept in git make no workspace of everything below them
    if root == Path(root.anchor):
        raise _refusal(f"{root} is the whole file system: pass the root of the repository you ask about as cwd.")
    if root == real_home:
        raise _refusal(f"{root} is your home folder: pass the root of the repository you ask about as cwd.")
    if not os.access(root, os.R_OK | os.X_OK):
        raise _refusal(f"{root} cannot be read by this user: change its permissions, or pass another folder as cwd.")
    return root


def _existing_folder(cwd: str) -> Path:
    if not cwd.strip():
        raise _refusal("cwd is missing: pass the absolute path of the repository you ask about.")
    if "\0" in cwd:
        raise _refusal("cwd holds a NUL character: pass the absolute path of the repository you ask about.")
    if not os.path.isabs(cwd):
        raise _refusal(f"cwd must be an absolute path, and {cwd!r} is relative: pass the repository's absolute root.")
    try:
        folder = _true_spelling(Path(cwd).resolve(strict=True))
    except (FileNotFoundError, NotADirectoryError):
        raise _refusal(f"There is no folder {cwd}: pass an existing folder's absolute path as cwd.") from None
    except (OSError, RuntimeError) as error:
        raise _refusal(f"{cwd} cannot be opened ({error}): pass a folder that this user may read as cwd.") from error
    if not folder.is_dir():
        raise _refusal(f"{cwd} is a file: pass the folder it lies in as cwd.")
    return folder


def _true_spelling(folder: Path) -> Path:
    """`folder` as the disk spells it: macOS opens `Repo` as `repo`, and both must be one workspace (Windows resolves so
    already)."""
    if sys.platform != "darwin":
        return folder
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return Path(os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(MAX_PATH_BYTES)).rstrip(b"\0")))
    finally:
        os.close(descriptor)


def _checkout_root(folder: Path, mode: str) -> Path | None:
    """The nearest folder upwards that holds a `.git`, or the outermost checkout around it; None outside of git."""
    nearest = next((place for place in (folder, *folder.parents)[:MAX_DEPTH] if holds_checkout(place)), None)
    if nearest is None or mode == "nearest":
        return nearest
    # A submodule lies inside the checkout that holds it; a worktree put inside another checkout is not part of it.
    outermost = nearest
    while _is_submodule(outermost):
        parent = next((place for place in outermost.parents if holds_checkout(place)), None)
        if parent is None:
            break
        outermost = parent
    return outermost


def holds_checkout(folder: Path) -> bool:
    """A `.git` file, or a `.git` folder with a HEAD, as git itself tells a repository from a folder of that name."""
    mark = folder / ".git"
    try:
        return mark.is_file() or (mark / "HEAD").exists()
    except OSError:
        return False


def _is_submodule(root: Path) -> bool:
    """Whether `.git` is a file that points into another repository's `modules` folder."""
    try:
        text = (root / ".git").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    target = text.partition("gitdir:")[2].strip().replace("\\", "/")
    return "/modules/" in target


def _refusal(message: str) -> QuestionError:
    return QuestionError("bad-cwd", message)
