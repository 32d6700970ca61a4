"""The running server: the application under uvicorn on a socket that is open already, from start to drained end.

`/health` is answered before the MCP SDK is imported, which takes longer than all the rest together.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, ModuleType

import uvicorn

from live_memory.server.asgi import Application, McpEndpoint
from live_memory.server.state import Phase, ServerState

logger = logging.getLogger(__name__)

DRAIN_S = 10.0  # what answers in flight get to finish, and with them the server that takes over
SAVE_S = 2.0
FLUSH_S = 2  # what clients get to take their answers
KEEP_ALIVE_S = 75  # longer than clients keep a connection: they close it, and never find it closed when they use it
BACKLOG = 2048
IDLE_CHECK_S = 60.0
DATE_S = 1.0  # how old the Date of an answer may be
END_SIGNALS = (signal.SIGTERM, signal.SIGINT)
MCP_MODULE = "live_memory.server.mcp"
NO_MCP = "The package mcp cannot be imported; `live-memory logs` shows why, `live-memory restart` may mend it."


class QuietServer(uvicorn.Server):
    """uvicorn without its signal handling, which ends a process by the signal instead of with 0, and without waking up ten
    times a second to look whether it should end."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ending = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        while not await self.on_tick(0):  # it writes the Date of the answers
            with suppress(TimeoutError):
                async with asyncio.timeout(DATE_S):
                    await self._ending.wait()

    def end(self) -> None:
        """Take no more connections, flush those that are there, and let `serve` return."""
        self.should_exit = True
        self._ending.set()


async def serve(state: ServerState, listener: socket.socket) -> None:
    """Serve on `listener` until told to end (signal, `/shutdown`, idleness); then drain, save, and close it."""
    # Accepted connections inherit it. asyncio sets it only on sockets that were made naming TCP, and without it the second
    # piece of an answer waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    mcp: asyncio.Future[McpEndpoint] = asyncio.get_running_loop().create_future()
    server = QuietServer(_uvicorn_config(Application(state, mcp)))
    served = asyncio.Event()
    with _ending_on_signals(state):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_run_mcp(state, mcp, served))
            serving = tasks.create_task(server.serve(sockets=[listener]))
            state.capture.start()
            state.dreams.start()
            state.library.start()
            await _until_told_to_end(state)
            await _drain(state)
            server.end()
            await serving
            served.set()


def _uvicorn_config(application: Application) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        interface="asgi3",
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=FLUSH_S,
    )


@contextmanager
def _ending_on_signals(state: ServerState) -> Iterator[None]:
    """The first signal drains; a second one finds the system's own handling, and ends the process at once."""
    loop = asyncio.get_running_loop()

    def end(number: int, _frame: FrameType | None) -> None:
        for each in END_SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        logger.info("draining signal=%d", number)
        loop.call_soon_threadsafe(state.drain)

    before = {each: signal.signal(each, end) for each in END_SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


async def _until_told_to_end(state: ServerState) -> None:
    while not state.shutdown.is_set():
        if state.idle_left_s <= 0:
            logger.info("draining idle_s=%d", state.settings.idle_exit_s)
            return state.drain()
        if state.is_orphan:  # the plugin was uninstalled: nobody will come who could end it
            logger.warning("draining: the token in the data folder is another's")
            return state.drain()
        try:
            async with asyncio.timeout(min(state.idle_left_s, IDLE_CHECK_S)):
                await state.shutdown.wait()
        except TimeoutError:
            continue
    return None


async def _drain(state: ServerState) -> None:
    """Let answers in flight finish, and save. New questions have been refused since the phase says so."""
    try:
        async with asyncio.timeout(DRAIN_S + SAVE_S):
            await state.capture.close()
            await state.dreams.close()
            await state.library.close()
            await state.desk.close(DRAIN_S)
    except TimeoutError:
        logger.warning("gave up saving timeout_s=%d", DRAIN_S + SAVE_S)


async def _run_mcp(state: ServerState, mcp: asyncio.Future[McpEndpoint], served: asyncio.Event) -> None:
    """Import the MCP endpoint beside the server that answers already, and keep it running until all is served."""
    try:
        module = await asyncio.to_thread(_import_mcp)
    except Exception as error:
        logger.exception("no MCP: its package cannot be imported")
        if state.phase.status == "ok":
            state.phase = Phase("degraded", reason=NO_MCP)
        mcp.set_exception(ImportError(str(error)))
        mcp.exception()  # so that asyncio does not complain when nobody asks for MCP
        return
    endpoint = module.Endpoint(state)
    async with endpoint.running():
        mcp.set_result(endpoint)
        await served.wait()


def _import_mcp() -> ModuleType:
    # What is imported stays. Looking for garbage in it takes a quarter of the import, and later 100 ms of some question.
    gc.disable()
    try:
        return importlib.import_module(MCP_MODULE)
    finally:
        gc.freeze()
        gc.enable()
