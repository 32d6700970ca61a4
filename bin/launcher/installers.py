"""How packages get into a new environment: with uv, with the user's pip, or with the pip that Python carries along.

The proxy, the certificates and the index that the environment names for one installer are handed to the other as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from launcher import interpreter, paths

PIP_WITH_PYTHON_OPTION = (22, 3)
LOOKUP_TIMEOUT_S = 30.0
# (from, to, how the list's separator changes), in this order; what the environment sets itself is left as it is.
TRANSLATIONS = (
    ("UV_INDEX_URL", "UV_DEFAULT_INDEX", None),
    ("UV_EXTRA_INDEX_URL", "UV_INDEX", None),
    ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", None),
    ("PIP_EXTRA_INDEX_URL", "UV_INDEX", None),
    ("PIP_FIND_LINKS", "UV_FIND_LINKS", ","),
    ("PIP_NO_INDEX", "UV_NO_INDEX", None),
    ("PIP_TRUSTED_HOST", "UV_INSECURE_HOST", None),
    ("PIP_CERT", "SSL_CERT_FILE", None),
    ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", None),
    ("PIP_PROXY", "ALL_PROXY", None),
    ("UV_DEFAULT_INDEX", "PIP_INDEX_URL", None),
    ("UV_INDEX", "PIP_EXTRA_INDEX_URL", None),
    ("SSL_CERT_FILE", "PIP_CERT", None),
)
# What would send the packages elsewhere than into the new environment.
DIVERSIONS = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_PYTHON",
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
)


class Installer(NamedTuple):
    """A way to make an environment: its name, and the commands for a folder and the interpreter that will be in it.
    `addition` is the command that puts the packages of a lock file into a folder, for the Python that runs us."""

    name: str
    commands: Callable[[str, str], Sequence[list[str]]]
    addition: Callable[[str, str], list[str]]


def at_hand() -> list[Installer]:
    """The installers of this machine, the quickest first."""
    found = []
    uv = shutil.which("uv")
    if uv:
        found.append(
            Installer(
                "uv",
                lambda venv, python: _uv_commands(uv, venv, python),
                lambda lock, folder: [uv, "pip", "install", "--python", sys.executable, *_target(lock, folder)],
            )
        )
    if _has_fit_pip():
        found.append(
            Installer("pip", _pip_commands, lambda lock, folder: _pip_addition(interpreter.real(), lock, folder))
        )
    else:  # an environment that this pip has made carries it
        found.append(
            Installer(
                "Python's own pip",
                _ensurepip_commands,
                lambda lock, folder: _pip_addition(sys.executable, lock, folder),
            )
        )
    return found


def environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The installers' environment: the user's proxy, certificates and index for each of them, nothing that diverts."""
    given = dict(os.environ if environ is None else environ)
    result = {name: value for name, value in given.items() if name not in DIVERSIONS and not name.startswith("PYTHON")}
    for source, target, separator in TRANSLATIONS:
        if result.get(source) and target not in result:
            result[target] = separator.join(result[source].split()) if separator else result[source]
    result.update(
        PIP_USER="0",
        PIP_DISABLE_PIP_VERSION_CHECK="1",
        PIP_NO_INPUT="1",
        PIP_RETRIES=given.get("PIP_RETRIES", "2"),
        UV_PYTHON_DOWNLOADS="never",
        UV_NO_PROGRESS="1",
    )
    return result


def _pip_addition(python: str, lock: str, folder: str) -> list[str]:
    return [python, "-m", "pip", "install", "--no-compile", *_target(lock, folder)]


def _target(lock: str, folder: str) -> list[str]:
    return ["--target", folder, *_requirements(lock)]


def _requirements(lock: str) -> list[str]:
    """A lock file with its hashes; complete, so nothing needs to be resolved."""
    wheelhouse = os.environ.get("LIVE_MEMORY_WHEELHOUSE")
    offline = ["--no-index", "--find-links", os.path.abspath(wheelhouse)] if wheelhouse else []
    return ["--quiet", "--no-deps", "--require-hashes", *offline, "-r", lock]


def _uv_commands(uv: str, venv: str, python: str) -> Sequence[list[str]]:
    return (
        [uv, "venv", "--quiet", "--no-project", "--python", interpreter.real(), venv],
        [uv, "pip", "install", "--python", python, *_requirements(paths.REQUIREMENTS)],
    )


def _pip_commands(venv: str, python: str) -> Sequence[list[str]]:
    return (
        [interpreter.real(), "-m", "venv", "--without-pip", venv],
        # Bytecode is made by the import check, of what is used only: half the time of compiling everything.
        [
            interpreter.real(),
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--no-compile",
            *_requirements(paths.REQUIREMENTS),
        ],
    )


def _ensurepip_commands(venv: str, python: str) -> Sequence[list[str]]:
    return (
        [interpreter.real(), "-m", "venv", venv],
        [python, "-m", "pip", "install", "--no-compile", *_requirements(paths.REQUIREMENTS)],
    )


def _has_fit_pip() -> bool:
    """Whether the user's Python has a pip that can install into another environment."""
    try:
        version = subprocess.run(
            [interpreter.real(), "-c", "import pip; print(pip.__version__)"],
            capture_output=True,
            text=True,
            check=False,
            timeout=LOOKUP_TIMEOUT_S,
        ).stdout.split(".")
    except (OSError, subprocess.TimeoutExpired):
        return False
    numbers = tuple(int(part) for part in version[:2] if part.strip().isdigit())
    return numbers >= PIP_WITH_PYTHON_OPTION
