"""Who is there: the token, the challenge that proves it, the pid record, and what a probe of the port finds.

A client asks for proof first and shows the token after it. Only processes whose start time is the recorded one are ever
ended.
"""

from __future__ import annotations

import os
import sys

import _client
import _quick
from launcher import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    # Whether someone listens: "ours" (proved), "foreign" (answers, and is not ours), "silent" (no answer in time), "absent";
    # "orphan" names our folder and does not know the token in it, which was replaced or removed: it ends by itself.
    Kind = Literal["ours", "orphan", "foreign", "silent", "absent"]

# The C module behind hashlib: hashlib itself loads OpenSSL, which takes as long as the interpreter's own start.
try:
    from _sha2 import sha256  # type: ignore[import-not-found]  # private, so without stubs
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]  # before Python 3.12
    except ImportError:
        from hashlib import sha256

TOKEN_BYTES = 32  # 43 characters of urlsafe base64
CHALLENGE_BYTES = 16
SHA256_BLOCK_BYTES = 64
INNER_PAD, OUTER_PAD = 0x36, 0x5C


class Probe:
    """Who holds a port; `health` is the /health answer, empty when nothing answered."""

    __slots__ = ("health", "kind")

    def __init__(self, kind: Kind, health: dict[str, object]) -> None:
        self.kind = kind
        self.health = health


class Seen:
    """A /health answer with the challenge it was given."""

    def __init__(self, health: dict[str, object], challenge: str) -> None:
        self.health = health
        self.challenge = challenge

    def proves(self, folder: str) -> bool:
        """Whether the answer was made with the token of `folder`."""
        token = _client.read_token(folder)
        # Compared plainly: each challenge is new, so its time tells a stranger nothing to try again with.
        return bool(token) and self.health.get("proof") == proof(token, self.challenge)


def read_or_create_token(folder: str) -> str:
    """The token of `folder`, made when there is none; of two processes that make it at once, one wins for both."""
    token = _client.read_token(folder)
    if token:
        return token
    from base64 import urlsafe_b64encode

    path = os.path.join(folder, _client.TOKEN_FILE)
    staging = f"{path}.{os.getpid()}.new"
    try:
        with open(os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(urlsafe_b64encode(os.urandom(TOKEN_BYTES)).decode().rstrip("="))
        _publish(staging, path)
    finally:
        if os.path.exists(staging):
            os.unlink(staging)
    return _client.read_token(folder)


def _publish(staging: str, path: str) -> None:
    """Give `staging` its final name unless that is taken: exclusive, and never seen half-written."""
    if sys.platform == "win32":
        try:
            os.rename(staging, path)  # refuses to replace there
        except FileExistsError:
            return
        return
    if os.path.exists(path) and not _client.read_token(os.path.dirname(path)):
        os.unlink(path)  # an empty rest of a disk that was full
    try:
        os.link(staging, path)
    except FileExistsError:
        return
    except OSError:
        os.rename(staging, path)  # a file system without hard links


def proof(token: str, challenge: str) -> str:
    """hex HMAC-SHA256 of `challenge` under `token` (RFC 2104)."""
    key = token.encode()
    key = (sha256(key).digest() if len(key) > SHA256_BLOCK_BYTES else key).ljust(SHA256_BLOCK_BYTES, b"\0")
    inner = sha256(bytes(byte ^ INNER_PAD for byte in key) + challenge.encode()).digest()
    return str(sha256(bytes(byte ^ OUTER_PAD for byte in key) + inner).hexdigest())


def health_with_challenge(address: _client.Address, timeout_s: float) -> Seen:
    """What /health of a port answers to a fresh challenge, no token shown. Unreachable as `_client.call` raises it."""
    challenge = os.urandom(CHALLENGE_BYTES).hex()
    status, health = _client.call(
        _client.Address(address.port), "GET", "/health?challenge=" + challenge, timeout_s=timeout_s
    )
    return Seen(health if status == 200 else {}, challenge)  # noqa: PLR2004  # HTTP's OK


def probe(place: paths.Place, timeout_s: float = paths.PROBE_TIMEOUT_S) -> Probe:
    """Who holds the port; `health` is the answer, empty where none came."""
    try:
        seen = health_with_challenge(_client.Address(place.port), timeout_s)
    except _client.NoAnswer:
        return Probe("silent", {})
    except _client.Unreachable:
        return Probe("absent", {})
    if seen.proves(place.data_dir):
        return Probe("foreign" if _serves_elsewhere(place) else "ours", seen.health)
    names_us = seen.health.get("name") == "live-memory" and seen.health.get("data_dir") == place.data_dir
    return Probe("orphan" if names_us else "foreign", seen.health)


def _serves_elsewhere(place: paths.Place) -> bool:
    """Whether our server runs on another port: then a proof on this one was passed on from there by a stranger."""
    record = _client.read_record(place.data_dir)
    return record.get("port") != place.port and is_running(record)


def write_record(place: paths.Place, pid: int, version: str) -> None:
    """Record that process `pid` is the server of this place."""
    record: dict[str, object] = {"pid": pid, "started": process_start(pid), "port": place.port, "version": version}
    if is_keyless(os.environ):
        record["is_keyless"] = True
    paths.write_whole(os.path.join(place.data_dir, _client.RECORD_FILE), _quick.render(record) + "\n")


def is_keyless(environ: Mapping[str, str]) -> bool:
    """Whether this is the environment of headersHelper with the keys taken out; a hook, which sees them, starts the
    server again before the first question."""
    is_of_helper = "CLAUDE_CODE_MCP_SERVER_URL" in environ
    return is_of_helper and not any(name.endswith(("_API_KEY", "_TOKEN")) and environ[name] for name in environ)


def remove_record(folder: str, pid: int) -> None:
    """Remove the pid record if it is still the one of `pid`."""
    if _client.read_record(folder).get("pid") == pid:
        os.unlink(os.path.join(folder, _client.RECORD_FILE))


def is_running(record: dict[str, object]) -> bool:
    """Whether the process of a pid record still runs: the same pid with the same start time."""
    pid, started = record.get("pid"), str(record.get("started", ""))
    return isinstance(pid, int) and bool(started) and process_start(pid) == started


def process_start(pid: int) -> str:
    """When process `pid` began, comparable as text only; empty when it does not run."""
    if sys.platform == "linux":
        return _client.linux_start(pid)
    if sys.platform == "win32":
        from launcher.windows import process_start as windows_start

        return windows_start(pid)
    import subprocess

    listed = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C", "PATH": os.defpath},
    ).stdout.split()
    return "" if not listed or listed[0].startswith("Z") else " ".join(listed[1:])


def is_older(version: object, than: str) -> bool:
    """Whether dotted `version` is older than `than`; a version that says nothing is older than any."""
    return _numbers(str(version)) < _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("+")[0].split(".") if part.isdigit())
