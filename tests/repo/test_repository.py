"""What keeps the repository honest: versions, twin files, pages that must follow the code."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from repo.settings_page import page

from live_memory import __version__
from live_memory.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]


def tracked_files() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name for name in listing.decode().split("\0") if name and (ROOT / name).is_file()]


def test_the_version_is_the_same_everywhere() -> None:
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    market = json.loads((ROOT / "marketplace.json").read_text())
    versions = {plugin["version"], project["version"], __version__}
    versions |= {entry["version"] for entry in market["plugins"] if "version" in entry}
    assert versions == {__version__}
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_two_marketplace_files_are_byte_equal() -> None:
    assert (ROOT / "marketplace.json").read_bytes() == (ROOT / ".claude-plugin" / "marketplace.json").read_bytes()


def test_the_settings_page_is_the_settings_table() -> None:
    assert (ROOT / "docs" / "settings.md").read_text() == page(), "run `make docs`"


def test_every_plugin_option_is_a_setting_of_the_same_default() -> None:
    options = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())["userConfig"]
    assert set(options) == {"port", "provider", "model", "api_key", "base_url"}
    for name, option in options.items():
        assert option.get("default", SETTINGS[name].default) == SETTINGS[name].default, name
        assert bool(option.get("sensitive")) == SETTINGS[name].secret, name


def test_the_locked_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = (ROOT / "runtime" / "requirements.lock").read_text()
    for requirement in project["dependencies"]:
        name, low = re.match(r"([a-z-]+)>=([0-9.]+)", requirement).groups()  # type: ignore[union-attr]
        pinned = re.search(rf"^{name}==([0-9.]+)", lock, re.MULTILINE)
        assert pinned, f"{name} is not locked: run `make lock`"
        assert tuple(map(int, pinned[1].split(".")[:2])) >= tuple(map(int, low.split(".")[:2]))
    unhashed = [block for block in re.split(r"\n(?=\S)", lock) if "==" in block and "--hash=sha256:" not in block]
    assert not unhashed


def test_every_path_that_the_architecture_names_exists() -> None:
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    named = re.findall(r"`((?:[\w.-]+/)+[\w.*-]*|[\w-]+\.(?:py|md|json|lock|toml))`", text)
    missing = [name for name in named if not (list(ROOT.glob(name)) or list((ROOT / "runtime/live_memory").glob(name)))]
    assert not missing
    assert len(text.splitlines()) <= 200


@pytest.mark.parametrize("kind", ["hooks", "commands", "skills"])
def test_every_hook_command_and_skill_is_named_in_the_architecture(kind: str) -> None:
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    names = {"hooks": "*.py", "commands": "*.md", "skills": "*"}[kind]
    for path in (ROOT / kind).glob(names):
        if path.name not in ("__pycache__",):
            assert path.stem in text, f"{path} is not in docs/ARCHITECTURE.md"


def test_every_command_of_the_command_line_is_in_the_readme() -> None:
    from launcher.__main__ import COMMANDS

    readme = (ROOT / "README.md").read_text()
    for name in COMMANDS:
        assert re.search(rf"`(live-memory )?{name}\b", readme), f"{name} is not in README.md"


def test_every_route_is_in_the_architecture() -> None:
    from live_memory.server.routes import ROUTES

    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    for _, path in ROUTES:
        assert f"`{path}`" in text or f" {path}`" in text, f"{path} is not in docs/ARCHITECTURE.md"


def test_an_adr_has_its_three_parts_and_fits_a_page() -> None:
    pages = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    assert pages
    for path in pages:
        text = path.read_text()
        assert re.match(r"\d{4}-[a-z0-9-]+\.md$", path.name)
        assert all(f"## {part}" in text for part in ("Context", "Decision", "Consequences")), path
        assert len(text.splitlines()) <= 60, path


def test_nothing_is_left_for_later_without_an_owner() -> None:
    words = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"))
    for path in tracked_files():
        if path.suffix in (".py", ".sh", ".md", ".toml", ".json", ""):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not re.search(rf"\b({words})\b", text), path


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    for path in tracked_files():
        if path.suffix == ".py" and "tests" in path.parts and path != Path(__file__):
            text = path.read_text()
            assert not re.search(r"pytest\.(skip|mark\.(skip|xfail))|importorskip", text), path
