"""The unit that starts the server at login: what it runs, and that nothing stays when it cannot be switched on."""

from __future__ import annotations

import plistlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lifecycle.command import Machine, machine

from launcher import paths, service


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Machine]:
    """A machine with a systemctl that notes what it is asked."""
    with machine(tmp_path) as made:
        made.extra["PATH"] = f"{tmp_path / 'bin'}:{made.environment['PATH']}"
        give_systemctl(made, "exit 0")
        yield made


def give_systemctl(made: Machine, ending: str) -> None:
    folder = made.folder / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "systemctl").write_text(f'#!/bin/sh\necho "$*" >>"{made.folder}/asked"\n{ending}\n')
    (folder / "systemctl").chmod(0o755)


def unit_file(made: Machine) -> Path:
    return made.home / ".config" / "systemd" / "user" / "live-memory.service"


def test_install_writes_the_unit_and_switches_it_on(desktop: Machine) -> None:
    done = desktop.run("service", "install")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Restart=on-failure" in unit_file(desktop).read_text()
    assert (desktop.folder / "asked").read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable --now live-memory.service",
    ]


def test_the_unit_starts_the_launcher_that_was_used_last(place: paths.Place, tmp_path: Path) -> None:
    """A plugin's folder changes with each version; the unit does not."""
    launcher = tmp_path / "a plugin's folder" / "live-memory"
    launcher.parent.mkdir()
    launcher.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    launcher.chmod(0o755)
    (Path(place.data_dir) / "launcher").write_text(f"{launcher}\n")
    done = subprocess.run(["/bin/sh", "-c", service.shell_line(place)], capture_output=True, text=True, check=True)
    assert done.stdout == f"serve|--data-dir|{place.data_dir}|"


def test_systemd_hands_the_line_to_the_shell_as_it_is() -> None:
    unit = service.systemd_unit(paths.Place("/data 100%", 7))
    started = next(line for line in unit.content.splitlines() if line.startswith("ExecStart="))
    assert (
        started
        == """ExecStart=/bin/sh -c "exec \\"$$(cat '/data 100%%/launcher')\\" serve --data-dir '/data 100%%'\""""
    )


def test_a_unit_that_cannot_be_switched_on_is_not_left(desktop: Machine) -> None:
    give_systemctl(desktop, 'echo "Failed to connect to bus" >&2; exit 1')
    done = desktop.run("service", "install")
    assert done.returncode == 1
    assert done.stderr == "live-memory: `systemctl --user daemon-reload` failed: Failed to connect to bus.\n"
    assert not unit_file(desktop).exists()


def test_remove_switches_it_off_and_is_done_when_there_is_none(desktop: Machine) -> None:
    desktop.run("service", "install")
    done = desktop.run("service", "remove")
    assert done.stdout == f"Removed {unit_file(desktop)}.\n"
    assert not unit_file(desktop).exists()
    assert (desktop.folder / "asked").read_text().splitlines()[2:] == [
        "--user disable --now live-memory.service",
        "--user daemon-reload",
    ]
    assert desktop.run("service", "remove").stdout == "No unit was installed.\n"


def test_the_launchd_agent_starts_at_login_and_stays_ended_after_a_clean_end() -> None:
    unit = service.launchd_agent(paths.Place("/data", 7), 501)
    agent = plistlib.loads(unit.content.encode())
    assert agent["RunAtLoad"] is True
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert unit.on == (("launchctl", "bootstrap", "gui/501", unit.path),)


@pytest.mark.parametrize("arguments", [[], ["start"]])
def test_anything_else_is_wrong_usage(desktop: Machine, arguments: list[str]) -> None:
    assert desktop.run("service", *arguments).returncode == 2
