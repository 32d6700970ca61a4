"""The environment of the runtime's packages: one folder per lock file, built beside its place and renamed whole.

Absent on purpose: repairing or upgrading one in place. An environment is complete or it is built anew.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator

from launcher import installers, interpreter, paths
from launcher.errors import InstallFailed, LaunchError
from launcher.leash import Leash
from launcher.lock import FileLock

DIGEST_CHARS = 16
NEEDED_BYTES = 250 * 1024 * 1024  # measured: 100 MB of packages, and as much again while they are unpacked
STAGING_MARK = ".staging-"
INVENTORY_FILE = "inventory"
REMOVAL_TRIES = 5
REMOVAL_PAUSE_S = 0.1
# Imported once before the rename: proves them whole, and leaves the bytecode that makes the first start quick. Two
# processes, because that is the longest part of an installation and machines have two cores.
IMPORT_PROOFS = ("import uvicorn, starlette, mcp.server", "import anthropic, openai")

Report = Callable[[str], None]


def path(data_dir: str) -> str:
    """The folder of the environment that this plugin's lock file asks for."""
    from hashlib import sha256

    with open(paths.REQUIREMENTS, "rb") as file:
        digest = sha256(file.read()).hexdigest()[:DIGEST_CHARS]
    return os.path.join(data_dir, f"venv-{digest}")


def python(venv: str) -> str:
    """The interpreter of an environment."""
    return (
        os.path.join(venv, "Scripts", "python.exe") if sys.platform == "win32" else os.path.join(venv, "bin", "python")
    )


def is_ready(data_dir: str) -> bool:
    """Whether the environment stands as it was built, and the interpreter that it was made from still exists."""
    folder = path(data_dir)
    if not os.access(python(folder), os.X_OK):
        return False
    expected = paths.read_line(os.path.join(folder, INVENTORY_FILE))
    return not expected or expected == inventory(folder)


def inventory(folder: str) -> str:
    """How many files an environment has and how large they are together; without bytecode, which comes and goes.

    30 ms for 6,000 files: as long as nothing, beside a server that fails at every start for a package that is half gone.
    """
    files = size_bytes = 0
    pending = [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending += [] if entry.name == "__pycache__" else [entry.path]
                    elif entry.name != INVENTORY_FILE:
                        files += 1
                        size_bytes += entry.stat(follow_symlinks=False).st_size
        except OSError:
            return "unreadable"
    return f"{files} files, {size_bytes} bytes"


def build(data_dir: str, report: Report, leash: Leash) -> None:
    """Build the environment unless it stands. `report` is told each step in words, `leash` ends the work when asked.

    InstallFailed says why it cannot be built; nothing half-made is left, not even of an earlier build that was killed.
    """
    with FileLock(os.path.join(data_dir, paths.LOCK_FILE)) as lock:
        if not lock.is_held:
            report("waiting for another installation")
            lock.wait(leash.is_ended)
        if is_ready(data_dir):
            return
        remove_staging(data_dir)
        _require_room(data_dir)
        staging = f"{path(data_dir)}{STAGING_MARK}{os.getpid()}"
        try:
            _fill(staging, report, leash)
            report("checking the packages")
            leash.run_all([[python(staging), "-Es", "-c", proof] for proof in IMPORT_PROOFS])
            paths.write_whole(os.path.join(staging, INVENTORY_FILE), inventory(staging) + "\n")
            _put_in_place(staging, path(data_dir))
        finally:
            remove_tree(staging)


def _require_room(data_dir: str) -> None:
    free_bytes = shutil.disk_usage(data_dir).free
    if free_bytes < NEEDED_BYTES:
        raise InstallFailed(
            f"the disk is full: {data_dir} has {free_bytes >> 20} MB left and the packages need {NEEDED_BYTES >> 20} MB"
        )


def _fill(staging: str, report: Report, leash: Leash) -> None:
    """Make the environment with the first installer that manages to; InstallFailed carries the last one's reason."""
    failures: list[str] = []
    for installer in installers.at_hand():
        report(f"installing the packages with {installer.name}")
        remove_tree(staging)
        try:
            for command in installer.commands(staging, python(staging)):
                leash.run(command, installers.environment())
        except InstallFailed as error:
            failures.append(f"{installer.name}: {error}")
            if leash.is_ended():
                break
            continue
        return
    raise InstallFailed(
        "; ".join(failures) or "neither uv nor pip is at hand; install uv, or pip for " + interpreter.real()
    )


def _put_in_place(staging: str, final: str) -> None:
    if os.path.lexists(final):  # its interpreter has vanished, or some of its files
        remove_tree(final)
    os.rename(staging, final)


def remove_staging(data_dir: str) -> None:
    """Remove what killed installations left."""
    for name in _venvs(data_dir):
        if STAGING_MARK in name:
            remove_tree(os.path.join(data_dir, name))


def remove_old(data_dir: str) -> None:
    """Remove the environments of other versions, unless an installation is under way. For after a good start."""
    with contextlib.suppress(OSError), FileLock(os.path.join(data_dir, paths.LOCK_FILE)) as lock:
        if not lock.is_held:
            return
        for name in _venvs(data_dir):
            if name != os.path.basename(path(data_dir)):
                remove_tree(os.path.join(data_dir, name))


def _venvs(data_dir: str) -> Iterator[str]:
    return (name for name in os.listdir(data_dir) if name.startswith("venv-"))


def remove_tree(folder: str) -> None:
    """Remove a folder and what is in it; LaunchError when it will not go."""
    for _ in range(REMOVAL_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        time.sleep(REMOVAL_PAUSE_S)  # a killed installer's last file may still be on its way
    raise LaunchError(f"{folder} cannot be removed; remove it by hand.")
