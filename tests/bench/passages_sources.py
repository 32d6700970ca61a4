"""Real source trees for the passages benchmark: packages at fixed versions from PyPI and npm, kept under build/.

PyPI's source archives are found through uv's lock format and only unpacked: nothing of them is built or run.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
import tomllib
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "build" / "bench-sources"

FROM_PYPI = {
    "click": "8.3.0",
    "httpx": "0.28.1",
    "starlette": "0.48.0",
    "tokenizers": "0.22.1",
    "wandb": "0.22.2",
    "jpype1": "1.6.0",
    "psutil": "7.1.0",
}
# What the archive holds beside the sources (compiled copies of them) is not in the project's repository.
KEPT_FOLDER = {"zod": "src"}
FROM_NPM = {"express": "5.1.0", "commander": "14.0.1", "zod": "4.1.12", "bats": "1.12.0", "react-native": "0.82.0"}


def fetch_all() -> dict[str, Path]:
    """Package name → its unpacked tree, each a git repository of its own so that no ignore rule of ours reaches in."""
    SOURCES.mkdir(parents=True, exist_ok=True)
    missing = {name: version for name, version in FROM_PYPI.items() if not _tree(name, version).exists()}
    if missing:
        for name, url, sha256 in _source_archives(missing):
            _unpack(_download(url, sha256), _tree(name, FROM_PYPI[name]))
    for name, version in FROM_NPM.items():
        if not _tree(name, version).exists():
            _unpack(_npm_archive(name, version), _tree(name, version))
            if name in KEPT_FOLDER:
                _keep_only(_tree(name, version), KEPT_FOLDER[name])
    return {name: _tree(name, version) for name, version in (FROM_PYPI | FROM_NPM).items()}


def assemble(trees: list[Path], target: Path, file_count: int) -> Path:
    """One repository of at least `file_count` files: the trees copied again and again under different folders."""
    marker = target / ".git" / f"assembled-{file_count}"
    if marker.exists():
        return target
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    copied = 0
    turn = 0
    while copied < file_count:
        for tree in trees:
            place = target / f"team{turn}" / tree.name
            shutil.copytree(tree, place, ignore=shutil.ignore_patterns(".git"), symlinks=True)
            copied += sum(1 for path in place.rglob("*") if path.is_file())
            if copied >= file_count:
                break
        turn += 1
    _git_init(target)
    marker.touch()
    return target


def _tree(name: str, version: str) -> Path:
    return SOURCES / f"{name}-{version}"


def _source_archives(wanted: dict[str, str]) -> list[tuple[str, str, str]]:
    """(name, address, SHA-256) of each source archive, from a lock that uv resolves without building anything."""
    pins = "\n".join(f"{name}=={version}" for name, version in wanted.items())
    command = ["uv", "pip", "compile", "--quiet", "--no-deps", "--format", "pylock.toml", "-"]
    uv = ROOT / ".venv" / "bin" / "uv"
    command[0] = str(uv) if uv.exists() else "uv"
    done = subprocess.run(command, input=pins, capture_output=True, text=True, check=True, timeout=300, cwd=SOURCES)
    packages = tomllib.loads(done.stdout)["packages"]
    return [(p["name"], p["sdist"]["url"], p["sdist"]["hashes"]["sha256"]) for p in packages]


def _download(url: str, sha256: str) -> bytes:
    with urllib.request.urlopen(url, timeout=300) as reply:
        content = bytes(reply.read())
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{url} is not the archive that the lock names")
    return content


def _npm_archive(name: str, version: str) -> bytes:
    command = ["npm", "pack", f"{name}@{version}", "--silent", "--pack-destination", str(SOURCES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, cwd=SOURCES)
    archive = SOURCES / done.stdout.strip().splitlines()[-1]
    content = archive.read_bytes()
    archive.unlink()
    return content


def _unpack(archive: bytes, tree: Path) -> None:
    """The archive's one top folder becomes `tree`, whole or not at all."""
    staging = tree.with_name(tree.name + ".partial")
    shutil.rmtree(staging, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(staging, filter="data")
    (top,) = staging.iterdir()
    _git_init(top)
    top.rename(tree)
    staging.rmdir()


def _keep_only(tree: Path, folder: str) -> None:
    for path in tree.iterdir():
        if path.is_dir() and path.name not in {folder, ".git"}:
            shutil.rmtree(path)


def _git_init(folder: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True, timeout=60)
