"""The real Claude Code CLI with the plugin installed from a copy of this repository, offline, in a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "live-memory@live-memory"
TOOL = "mcp__plugin_live-memory_live-memory__ask_live_memory"
VERSIONS = ("2.1.332", "2.1.197")
DUMMY_KEY = "sk-ant-dummy-000"
NPM_LIMIT_S = 600
CLI_LIMIT_S = 180
SMALL_LIMIT_S = 60

# How the machine reaches package registries; everything else of the user's environment stays out.
NETWORK_PREFIXES = ("PIP_", "UV_", "NPM_CONFIG_", "SSL_CERT_")
NETWORK_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


class NotServed(Exception):
    """The npm registry does not have this version (any more)."""


def installed_cli(version: str) -> Path:
    """The program of a Claude Code version, installed below build/ when it is not there yet; NotServed."""
    folder = ROOT / "build" / f"claude-{version}"
    program = folder / "node_modules" / ".bin" / "claude"
    if not program.exists():
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder)]
        done = subprocess.run(
            [*command, f"@anthropic-ai/claude-code@{version}"],
            capture_output=True,
            text=True,
            timeout=NPM_LIMIT_S,
            check=False,
        )
        if any(code in done.stderr for code in ("E404", "ETARGET")):
            raise NotServed(f"the npm registry does not serve @anthropic-ai/claude-code@{version}")
        assert done.returncode == 0, done.stderr
    return program


def plugin_copy(folder: Path) -> Path:
    """What git holds of this repository, in a new folder."""
    archive = folder.with_suffix(".tar")
    subprocess.run(["git", "archive", "--output", str(archive), "HEAD"], cwd=ROOT, check=True)
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    archive.unlink()
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def tools_folder(folder: Path, *names: str) -> Path:
    """A folder for PATH with this Python as `python3`, and the programs `names` from beside it."""
    folder.mkdir(parents=True)
    own = Path(sys.executable).parent
    base = getattr(sys, "_base_executable", sys.executable)
    (folder / "python3").symlink_to(base)
    for name in names:
        program = own / name if (own / name).exists() else shutil.which(name)
        assert program is not None, f"{name} is not installed"
        (folder / name).symlink_to(program)
    return folder


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a `claude -p` run ended: its result's JSON, and everything it said."""

    result: Mapping[str, Any]
    stderr: str


@dataclass(slots=True)
class ClaudeCode:
    """One user: a home, a project, a plugin folder, a port, and which tools are on PATH."""

    program: Path
    home: Path
    plugin: Path
    project: Path
    port: int
    tools: Path
    model_address: str
    more: dict[str, str] = field(default_factory=dict)

    @property
    def config_dir(self) -> Path:
        return self.home / ".claude"

    @property
    def data_dir(self) -> Path:
        """Where Claude Code keeps this plugin's data."""
        return self.config_dir / "plugins" / "data" / "live-memory-live-memory"

    @property
    def environment(self) -> dict[str, str]:
        network = {
            name: value
            for name, value in os.environ.items()
            if name.upper().startswith(NETWORK_PREFIXES) or name.upper() in NETWORK_NAMES
        }
        return {
            **network,
            "PATH": f"{self.tools}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "CLAUDE_CONFIG_DIR": str(self.config_dir),
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "ANTHROPIC_BASE_URL": self.model_address,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "NO_PROXY": "127.0.0.1,localhost",
            "LIVE_MEMORY_IDLE_EXIT_S": "600",
            **self.more,
        }

    def install(self, **options: object) -> None:
        """Install the plugin from its folder as a marketplace, with our port and these options.

        The key goes into config.json: Claude Code keeps the environment's keys from a plugin's headersHelper.
        """
        self.data_dir.mkdir(parents=True, exist_ok=True)
        settings = {"provider": "anthropic", "base_url": self.model_address, "api_key": DUMMY_KEY}
        (self.data_dir / "config.json").write_text(json.dumps(settings))
        self.install_without_key(**options)

    def install_without_key(self, **options: object) -> None:
        """The same, the model's provider and key left to the options or the environment."""
        chosen = {"port": self.port, **options}
        words = [word for name, value in chosen.items() for word in ("--config", f"{name}={value}")]
        self.run("plugin", "marketplace", "add", str(self.plugin), limit_s=SMALL_LIMIT_S)
        self.run("plugin", "install", PLUGIN, *words, limit_s=SMALL_LIMIT_S)

    def ask(self, prompt: str, *arguments: str) -> Outcome:
        """Run one session on `prompt`."""
        done = self.run("-p", prompt, "--output-format", "json", *arguments)
        return Outcome(json.loads(done.stdout), done.stderr)

    def run(self, *arguments: str, limit_s: float = CLI_LIMIT_S) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(self.program), *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done

    def live_memory(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The plugin's own command in a terminal of this user."""
        return subprocess.run(
            [str(self.plugin / "bin" / "live-memory"), *arguments],
            cwd=self.project,
            env={**self.environment, "LIVE_MEMORY_DATA_DIR": str(self.data_dir), "LIVE_MEMORY_PORT": str(self.port)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CLI_LIMIT_S,
            check=False,
        )

    def server_record(self) -> Mapping[str, Any]:
        """The pid record of the running server."""
        record: Mapping[str, Any] = json.loads((self.data_dir / "server.json").read_text())
        return record

    def change_json(self, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change a JSON file of the plugin's copy."""
        path = self.plugin / name
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
