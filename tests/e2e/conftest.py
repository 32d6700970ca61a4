"""Fixtures of the tests with the real Claude Code CLI: its versions, a user, two scripted models."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e.claude_code import (
    VERSIONS,
    ClaudeCode,
    NotServed,
    free_port,
    installed_cli,
    is_listening,
    plugin_copy,
    tools_folder,
)
from support.two_models import TwoModels

CART = "class Cart:\n    def __init__(self, prices):\n        self.prices = prices\n\n    def total(self):\n        return sum(self.prices)\n"
CHECKOUT = "from shop.cart import Cart\n\ndef checkout(prices):\n    return Cart(prices).total()\n"

Made = Callable[..., ClaudeCode]


@pytest.fixture(scope="session")
def clis() -> dict[str, Path]:
    """The versions that the npm registry serves; those that it does not are named loudly."""
    found = {}
    for version in VERSIONS:
        try:
            found[version] = installed_cli(version)
        except NotServed as error:
            print(f"\n*** {error}: what it would show is NOT shown ***", file=sys.__stderr__)
    return found


@pytest.fixture(scope="session")
def ready_data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the packages in place and no server: installing them once is enough."""
    folder = tmp_path_factory.mktemp("ready")
    plugin = plugin_copy(folder / "plugin")
    tools = tools_folder(folder / "tools", "uv")
    user = ClaudeCode(Path("unused"), folder / "home", plugin, folder, free_port(), tools, "http://127.0.0.1:9")
    user.data_dir.mkdir(parents=True)
    for command in (["ensure"], ["stop"]):
        done = user.live_memory(*command)
        assert done.returncode == 0, done.stderr
    return user.data_dir


@pytest.fixture
def models() -> Iterator[TwoModels]:
    playing = TwoModels()
    yield playing
    playing.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small shop in a git repository."""
    folder = tmp_path / "project"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "cart.py").write_text(CART)
    (folder / "shop" / "checkout.py").write_text(CHECKOUT)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    return folder


@pytest.fixture(params=VERSIONS)
def user(
    request: pytest.FixtureRequest, clis: dict[str, Path], models: TwoModels, project: Path, tmp_path: Path
) -> Iterator[Made]:
    """Makes the one user of a test; everything that user started is ended with the test."""
    program = clis.get(request.param) or next(iter(clis.values()))
    made: list[ClaudeCode] = []

    def make(*tools: str) -> ClaudeCode:
        folder = tools_folder(tmp_path / "tools", *tools)
        plugin = plugin_copy(tmp_path / "plugin")
        (tmp_path / "home").mkdir()
        made.append(ClaudeCode(program, tmp_path / "home", plugin, project, free_port(), folder, models.address))
        return made[-1]

    yield make
    for one in made:
        one.live_memory("stop")
        assert not is_listening(one.port)


@pytest.fixture
def ready_user(user: Made, ready_data_dir: Path) -> ClaudeCode:
    """A user whose packages are in place."""
    made = user()
    made.data_dir.mkdir(parents=True)
    for venv in ready_data_dir.glob("venv-*"):
        shutil.copytree(venv, made.data_dir / venv.name, symlinks=True, copy_function=os.link)
    return made
