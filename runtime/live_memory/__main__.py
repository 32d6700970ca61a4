"""The runtime's process: arguments, log file, exit code. Started by the launcher, which hands over its listening socket.

Nothing is written to stdout; what keeps the server from starting is one sentence on stderr, and in the log.
"""

from __future__ import annotations

import argparse
import logging
import logging.handlers
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

if not __package__:
    # Run as a folder: its modules must not shadow the standard library's, the package must be found.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from live_memory import __version__
from live_memory.configuration import Configuration, load
from live_memory.errors import LiveMemoryError, StoreError
from live_memory.settings import Settings
from live_memory.text.secrets import redact

LOOPBACK = "127.0.0.1"
TOKEN_FILE = "token"  # noqa: S105  # a file's name
LOG_FILE = Path("logs") / "server.log"
OLD_LOGS = 4
MAX_FILES = 4096
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"

logger = logging.getLogger("live_memory")
logger.addHandler(logging.NullHandler())  # without a log file yet, Python would write to stderr


def main(words: Sequence[str] | None = None) -> int:
    """Serve until told to end; the exit code."""
    arguments = _arguments(words)
    # Token, settings, database and log are for this user's eyes only, whatever creates them.
    os.umask(0o077)
    _allow_many_files()
    try:
        configuration = load(arguments.data_dir)
        log_to_file(arguments.data_dir, configuration.settings)
        _serve(arguments, configuration)
    except LiveMemoryError as error:
        logger.critical("ended by %s: %s", type(error).__name__, error)
        print(f"live-memory: {error}", file=sys.stderr)
        return 1
    except Exception:
        logger.exception("ended by a fault")
        print(f"live-memory: the server failed; {arguments.data_dir / LOG_FILE} says why.", file=sys.stderr)
        return 1
    return 0


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "live_memory", description="The Live Memory server; `live-memory serve` starts it."
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    listening = parser.add_mutually_exclusive_group(required=True)
    listening.add_argument("--socket-fd", type=int, help="a listening socket that was inherited")
    listening.add_argument("--port", type=int, help=f"a port on {LOOPBACK} to listen on")
    return parser.parse_args(words)


class CleanFormatter(logging.Formatter):
    """Lines and traces without secrets: paths, addresses and other packages' words may hold some."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def log_to_file(data_dir: Path, values: Settings) -> None:
    """Send our own log lines, and other packages' warnings, to the rotating file."""
    path = data_dir / LOG_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=values.log_max_bytes, backupCount=OLD_LOGS, encoding="utf-8"
        )
    except OSError as error:
        raise StoreError(
            f"The log {path} cannot be written ({error.strerror}); make the data folder writable."
        ) from error
    handler.setFormatter(CleanFormatter(LOG_FORMAT))
    # Other packages log requests and contents at lower levels.
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logger.setLevel(values.log_level.upper())
    logging.captureWarnings(capture=True)


def _allow_many_files() -> None:
    """macOS allows 256 open files, and each client, search and git takes some."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(MAX_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _serve(arguments: argparse.Namespace, configuration: Configuration) -> None:
    import asyncio

    from live_memory.clock import SystemClock
    from live_memory.server.app import serve
    from live_memory.server.state import Phase, ServerState
    from live_memory.wiring import assemble

    listener = _listener(arguments)
    clock = SystemClock()
    started_s = clock.monotonic_s()

    async def run() -> None:
        assembly = assemble(arguments.data_dir, configuration, clock=clock)
        state = ServerState(
            version=__version__,
            token=_token(arguments.data_dir),
            data_dir=arguments.data_dir,
            port=listener.getsockname()[1],
            clock=clock,
            started_s=started_s,
            desk=assembly.desk,
            library=assembly.library,
            capture=assembly.capture,
            dreams=assembly.dreams,
            phase=Phase("ok"),
            shutdown=asyncio.Event(),
            last_request_s=started_s,
            settings=configuration.settings,
            token_file=arguments.data_dir / TOKEN_FILE,
        )
        logger.info("serving version=%s port=%d pid=%d", __version__, state.port, os.getpid())
        await serve(state, listener)
        logger.info("ended pid=%d", os.getpid())

    asyncio.run(run())


def _listener(arguments: argparse.Namespace) -> socket.socket:
    """The listening socket, not inherited by any child of ours."""
    if arguments.socket_fd is not None:
        try:
            listener = socket.socket(fileno=arguments.socket_fd)
        except OSError as error:
            raise StoreError(f"There is no socket at descriptor {arguments.socket_fd} ({error.strerror}).") from error
    else:
        listener = socket.socket()
        if os.name == "posix":  # on Windows the option would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, arguments.port))
        except OSError as error:
            raise StoreError(f"Port {arguments.port} cannot be taken ({error.strerror}).") from error
    listener.set_inheritable(False)
    return listener


def _token(data_dir: Path) -> str:
    path = data_dir / TOKEN_FILE
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise StoreError(f"The token {path} cannot be read ({error}); `live-memory serve` makes one.") from error
    if not token:
        raise StoreError(f"The token {path} is empty; remove it, and `live-memory serve` makes a new one.")
    return token


if __name__ == "__main__":
    sys.exit(main())
