"""Make sure that a server is running: decide whether one already is, start one detached when none is, and wait for it.

A server is already running when whoever answers /health on the port proves by the challenge to know our token, is of
this plugin's version or a newer one, and is not about to end. What stands in the way becomes a sentence.

Absent on purpose: taking over from an old or hung server. The started process does that, because it needs the port.
"""

from __future__ import annotations

import os
import sys
import time

from launcher import identity, paths
from launcher.errors import LaunchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from launcher.detached import Detached

    Until = Literal["answering", "settled"]

DEFAULT_WAIT_S = 180.0  # the packages over a slow line
FIRST_PAUSE_S = 0.02
LAST_PAUSE_S = 0.2
PAUSE_GROWTH = 1.5
STARTING_PROBE_TIMEOUT_S = 0.7
LEAST_TIMEOUT_S = 0.05
SETTLED = ("ok", "degraded")


class Ensured:
    """`health` is the /health answer, proved to be ours; `started` is whether this call started the server."""

    __slots__ = ("health", "started")

    def __init__(self, health: dict[str, object], *, started: bool) -> None:
        self.health = health
        self.started = started


def ensure_server(
    place: paths.Place,
    *,
    until: Until = "settled",
    wait_s: float = DEFAULT_WAIT_S,
    on_progress: Callable[[dict[str, object]], None] = lambda health: None,
) -> Ensured:
    """A running server of at least this plugin's version, started when there is none.

    `until` "answering" returns at the first /health answer (its status may be "installing"), "settled" when it is "ok"
    or "degraded". When `wait_s` is over, whatever answers by then is returned; LaunchError when nothing does, or when
    the server cannot be started. `on_progress` gets every /health answer while waiting.
    """
    watch = _Watch(place, time.monotonic() + wait_s)
    try:
        health = _wait(watch, until, on_progress)
    finally:
        watch.let_go()
    if not health:
        raise LaunchError(f"The server did not answer on port {place.port} within {wait_s:g} s.")
    started = watch.child is not None and watch.child.pid == health.get("pid")
    if started and health["status"] == "ok":
        from launcher import claim, venv

        claim.end_grace(place.data_dir)
        venv.remove_old(place.data_dir)
    return Ensured(health, started=started)


def _wait(watch: _Watch, until: Until, on_progress: Callable[[dict[str, object]], None]) -> dict[str, object]:
    """The last /health answer when it was waited for or the time is up; empty when nobody answered."""
    pause_s = FIRST_PAUSE_S
    while True:
        health = watch.look()
        left_s = watch.deadline_s - time.monotonic()
        if left_s <= 0 or (health and (until == "answering" or health["status"] in SETTLED)):
            return health
        if health:
            on_progress(health)
        time.sleep(min(pause_s, left_s))
        pause_s = min(LAST_PAUSE_S, pause_s * PAUSE_GROWTH)


class _Watch:
    """One wait for a server: probes, and starts a process when nobody fit is there."""

    def __init__(self, place: paths.Place, deadline_s: float) -> None:
        self.place = place
        self.deadline_s = deadline_s
        self.version = paths.plugin_version()
        self.child: Detached | None = None

    def look(self) -> dict[str, object]:
        """The /health answer of a server that can stay; empty while there is none. LaunchError when there can be none."""
        # Shorter while we wait for a process of ours, which may have given up meanwhile.
        timeout_s = paths.PROBE_TIMEOUT_S if self.child is None else STARTING_PROBE_TIMEOUT_S
        seen = identity.probe(self.place, max(LEAST_TIMEOUT_S, min(timeout_s, self.deadline_s - time.monotonic())))
        is_staying = seen.kind == "ours" and seen.health.get("status") != "draining"
        if is_staying and not identity.is_older(seen.health.get("version"), self.version):
            return seen.health
        if seen.kind == "foreign":
            from launcher import holder, predecessor

            if predecessor.serving(self.place, os.environ) is None:
                raise holder.held(self.place.port, seen.health)
        self._start_unless_starting()
        return {}

    def _start_unless_starting(self) -> None:
        if self.child is not None:
            code = self.child.exit_code()
            if code is None:
                return
            if code != 0:
                raise LaunchError(self.child.last_words() or f"The server could not be started (exit code {code}).")
            self.let_go()  # it lost the port to another one, which has gone since
        from launcher.detached import Detached

        self.child = Detached(self.place)

    def let_go(self) -> None:
        """Leave the started process, if there is one, to itself."""
        if self.child is not None:
            self.child.release()


def run(arguments: list[str]) -> int:
    """`ensure [--json] [--wait SECONDS]`: print where the server runs once it can answer."""
    flags = paths.parse_flags(arguments, {"--json": "flag", "--wait": "value", "--data-dir": "value"})
    place = paths.place(flags.get("--data-dir"))
    wait_s = paths.parse_seconds(flags.get("--wait", ""), "--wait") or DEFAULT_WAIT_S
    from launcher.terminal import progress

    with progress() as on_progress:
        ensured = ensure_server(place, wait_s=wait_s, on_progress=on_progress)
    health = ensured.health
    shown = {"port": place.port, "pid": health.get("pid"), "version": health.get("version"), "status": health["status"]}
    if "--json" in flags:
        import json

        sys.stdout.write(json.dumps({**shown, "started": ensured.started}) + "\n")
    else:
        sys.stdout.write(describe(place, health) + "\n")
    return 0


def describe(place: paths.Place, health: dict[str, object]) -> str:
    """One line about a running server."""
    reason = f" ({health['reason']})" if health.get("reason") else ""
    return f"Live Memory {health.get('version')} is {health['status']}{reason} on 127.0.0.1:{place.port}, pid {health.get('pid')}."
