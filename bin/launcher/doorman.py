"""The server while the packages are missing: the runtime's own routes on the standard library, and the installation.

It answers from the first moment, ends as soon as the environment stands, and stays as the degraded server where it
cannot be built, trying again from time to time.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from launcher import paths, venv
from launcher.errors import InstallFailed, LaunchError
from launcher.leash import Leash

sys.path.insert(0, paths.RUNTIME)

import _client
from launcher.plain_http import PlainServer
from live_memory import settings, wiring  # the path above leads to them
from live_memory.agent.desk import QuestionDesk
from live_memory.clock import SystemClock
from live_memory.errors import LiveMemoryError
from live_memory.server.state import Phase, ServerState

QUIET_LIMIT_S = 10.0  # how long answers in flight may take to finish
CLOSE_GRACE_S = 1.0
NOT_YET = "the packages that talk to models are still being installed"

Outcome = Literal["whole", "stopped"]


def serve(place: paths.Place, listener: socket.socket) -> Outcome:
    """Serve on `listener` until the environment is "whole", or until the server was "stopped" (asked to, or idle).

    LaunchError when the settings or the database cannot be used. The listener stays open.
    """
    try:
        return asyncio.run(_Doorman(place).serve(listener))
    except LiveMemoryError as error:
        raise LaunchError(str(error)) from error


class _Doorman:
    def __init__(self, place: paths.Place) -> None:
        self._place = place
        self._clock = SystemClock()
        self._configuration = settings.load(Path(place.data_dir))
        self._leash = Leash()
        now_s = self._clock.monotonic_s()
        self._state = ServerState(
            version=paths.plugin_version(),
            token=_client.read_token(place.data_dir),
            data_dir=Path(place.data_dir),
            port=place.port,
            clock=self._clock,
            started_s=now_s,
            desk=self._desk(NOT_YET),
            phase=Phase("installing", step="starting"),
            shutdown=asyncio.Event(),
            last_request_s=now_s,
            settings=self._configuration.settings,
        )

    def _desk(self, absence: str) -> QuestionDesk:
        return wiring.assemble(
            Path(self._place.data_dir), self._configuration, clock=self._clock, model_absence=absence
        )

    async def serve(self, listener: socket.socket) -> Outcome:
        _on_end_signals(self._state.drain)
        server = PlainServer(self._state)
        await server.start(listener)
        try:
            outcome = await self._until_whole()
            await server.wait_until_quiet(QUIET_LIMIT_S)
        finally:
            await server.close(CLOSE_GRACE_S)
            await self._state.desk.close(CLOSE_GRACE_S)
        return outcome

    async def _until_whole(self) -> Outcome:
        """Install, and install again, until it is done or nobody wants it any more."""
        while True:
            failure = await self._install()
            if failure is None:
                return "whole"
            if self._state.shutdown.is_set():
                return "stopped"
            await self._degrade(failure)
            if not await self._is_worth_another_try():
                return "stopped"

    async def _install(self) -> str | None:
        """Build the environment; the reason when it cannot be built."""
        loop = asyncio.get_running_loop()

        def report(step: str) -> None:
            sys.stderr.write(f"live-memory: {step}\n")
            loop.call_soon_threadsafe(self._show_step, step)

        building = asyncio.create_task(asyncio.to_thread(venv.build, self._place.data_dir, report, self._leash))
        stopping = asyncio.create_task(self._state.shutdown.wait())
        await asyncio.wait({building, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not building.done():
            self._leash.end()
        try:
            await building
        except (InstallFailed, LaunchError, OSError) as error:
            return str(error)
        return None

    def _show_step(self, step: str) -> None:
        if self._state.phase.status == "installing":
            self._state.phase = Phase("installing", step=step)

    async def _degrade(self, reason: str) -> None:
        sys.stderr.write(f"live-memory: the packages could not be installed ({reason})\n")
        absence = f"the packages that talk to models could not be installed ({reason})"
        if self._state.phase.reason != absence:
            earlier, self._state.desk = self._state.desk, self._desk(absence)
            self._state.phase = Phase("degraded", reason=absence)
            await earlier.close(QUIET_LIMIT_S)

    async def _is_worth_another_try(self) -> bool:
        """Wait for the time of the next try; False when the server was stopped or nobody has used it for long."""
        retry_at_s = self._clock.monotonic_s() + self._state.settings.install_retry_s
        while not self._state.shutdown.is_set():
            now_s = self._clock.monotonic_s()
            idle_at_s = self._state.last_request_s + self._state.settings.idle_exit_s
            if now_s >= idle_at_s:
                self._state.drain()
                return False
            if now_s >= retry_at_s:
                return True
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._state.shutdown.wait(), min(idle_at_s, retry_at_s) - now_s)
        return False


def _on_end_signals(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(end))
        else:
            loop.add_signal_handler(number, end)
