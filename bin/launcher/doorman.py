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
from live_memory import configuration, wiring  # the path above leads to them
from live_memory.__main__ import log_to_file
from live_memory.clock import SystemClock
from live_memory.errors import LiveMemoryError
from live_memory.server.state import Phase, ServerState
from live_memory.text.secrets import redact

QUIET_LIMIT_S = 10.0  # how long answers in flight may take to finish
CLOSE_GRACE_S = 1.0
IDLE_CHECK_S = 60.0
NO_MODEL = "The packages that talk to models are not installed; `live-memory doctor` says why."

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
        self._configuration = configuration.load(Path(place.data_dir))
        log_to_file(Path(place.data_dir), self._configuration.settings)
        self._leash = Leash()
        now_s = self._clock.monotonic_s()
        data_dir = Path(place.data_dir)
        assembly = wiring.assemble(data_dir, self._configuration, clock=self._clock, model_absence=NO_MODEL)
        self._state = ServerState(
            version=paths.plugin_version(),
            token=_client.read_token(place.data_dir),
            data_dir=data_dir,
            port=place.port,
            clock=self._clock,
            started_s=now_s,
            desk=assembly.desk,
            library=assembly.library,
            capture=assembly.capture,
            dreams=assembly.dreams,
            phase=Phase("installing", step="starting"),
            shutdown=asyncio.Event(),
            last_request_s=now_s,
            settings=self._configuration.settings,
            token_file=Path(place.data_dir, _client.TOKEN_FILE),
        )

    async def serve(self, listener: socket.socket) -> Outcome:
        _on_end_signals(self._state.drain)
        server = PlainServer(self._state)
        await server.start(listener)
        self._state.capture.start()
        self._state.dreams.start()
        try:
            await self._install_until_whole()
            await server.wait_until_quiet(QUIET_LIMIT_S)
        finally:
            await server.close(CLOSE_GRACE_S)
            await self._state.capture.close()
            await self._state.dreams.close()
            await self._state.library.close()
            await self._state.desk.close(CLOSE_GRACE_S)
        return "stopped" if self._state.shutdown.is_set() else "whole"

    async def _install_until_whole(self) -> None:
        """Install, and install again, until it is done or nobody wants it any more."""
        while not self._state.shutdown.is_set():
            with self._state.serving():  # work, as far as the idle exit goes
                failure = await self._install()
            if failure is None:
                return
            if not self._state.shutdown.is_set():
                self._degrade(failure)
                await self._wait_for_the_next_try()

    async def _install(self) -> str | None:
        """Build the environment; the reason when it cannot be built."""
        loop = asyncio.get_running_loop()

        began_s = self._clock.monotonic_s()

        def report(step: str) -> None:
            sys.stderr.write(f"live-memory: {step} ({self._clock.monotonic_s() - began_s:.0f} s)\n")
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
            return redact(str(error))  # an index's address may hold a password
        return None

    def _show_step(self, step: str) -> None:
        if self._state.phase.status == "installing":
            self._state.phase = Phase("installing", step=step)

    def _degrade(self, reason: str) -> None:
        sys.stderr.write(f"live-memory: the packages could not be installed ({reason})\n")
        self._state.library.start()  # not before: an installation is enough at a time
        self._state.phase = Phase("degraded", reason=f"The packages could not be installed: {reason}.")

    async def _wait_for_the_next_try(self) -> None:
        """Wait until it is time, or the server is told to end; a server that nobody has used for long ends."""
        retry_at_s = self._clock.monotonic_s() + self._state.settings.install_retry_s
        while not self._state.shutdown.is_set():
            retry_left_s = retry_at_s - self._clock.monotonic_s()
            if self._state.idle_left_s <= 0:
                self._state.drain()
            elif retry_left_s <= 0:
                return
            else:
                with contextlib.suppress(TimeoutError):
                    left_s = min(retry_left_s, self._state.idle_left_s, IDLE_CHECK_S)
                    await asyncio.wait_for(self._state.shutdown.wait(), left_s)


def _on_end_signals(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(end))
        else:
            loop.add_signal_handler(number, end)
