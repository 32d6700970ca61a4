"""The token, the proof, the pid record, and what a probe of the port finds."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from lifecycle.stand_in import foreign_http_server, stand_in

import _client
from launcher import identity, paths
from live_memory.server import auth


def test_the_token_is_long_private_and_made_once(tmp_path: Path) -> None:
    token = identity.read_or_create_token(str(tmp_path))
    assert len(token) == 43
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert identity.read_or_create_token(str(tmp_path)) == token
    assert os.listdir(tmp_path) == ["token"]


def test_processes_that_make_the_token_at_once_agree_on_one(tmp_path: Path) -> None:
    script = "import sys; sys.path[:0] = sys.argv[2:]\nfrom launcher import identity\nprint(identity.read_or_create_token(sys.argv[1]))"
    hooks = os.path.join(paths.PLUGIN_ROOT, "hooks")
    command = [sys.executable, "-c", script, str(tmp_path), os.path.join(paths.PLUGIN_ROOT, "bin"), hooks]
    with ThreadPoolExecutor(6) as threads:
        made = list(
            threads.map(lambda _: subprocess.run(command, capture_output=True, text=True, check=True).stdout, range(6))
        )
    assert len(set(made)) == 1


@pytest.mark.parametrize("content", [b"", b"\xff", b"a\r\nX: y", b'a"b', b"\0"])
def test_what_a_full_disk_or_a_stranger_left_for_a_token_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    assert len(identity.read_or_create_token(str(tmp_path))) == 43


def test_a_token_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / f"token.{os.getpid()}.new").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        identity.read_or_create_token(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_the_launcher_and_the_server_make_the_same_proof() -> None:
    assert identity.proof("token", "challenge") == auth.proof("token", "challenge")


def test_a_server_that_knows_our_token_is_ours(place: paths.Place) -> None:
    with stand_in(place, "0.1.0", "answers") as server:
        seen = identity.probe(place)
        assert (seen.kind, seen.health["pid"]) == ("ours", server.pid)


def test_a_server_that_knows_another_token_is_foreign(place: paths.Place, tmp_path: Path) -> None:
    identity.read_or_create_token(place.data_dir)
    with stand_in(paths.Place(str(tmp_path / "other"), place.port), "0.1.0", "answers"):
        seen = identity.probe(place)
        assert (seen.kind, seen.health["data_dir"]) == ("foreign", str(tmp_path / "other"))


def test_any_other_http_server_is_foreign(place: paths.Place) -> None:
    with foreign_http_server(place.port):
        seen = identity.probe(place)
        assert (seen.kind, seen.health) == ("foreign", {})


def test_who_accepts_and_says_nothing_is_silent(place: paths.Place) -> None:
    with socket.create_server(("127.0.0.1", place.port)):
        assert identity.probe(place, timeout_s=0.05).kind == "silent"


def test_a_proof_that_a_stranger_passes_on_from_our_server_is_foreign(place: paths.Place) -> None:
    with stand_in(place, "0.1.0", "answers"), relay_to(place.port) as port:
        assert identity.probe(place).kind == "ours"
        assert identity.probe(place.on(port)).kind == "foreign"


@contextmanager
def relay_to(port: int) -> Iterator[int]:
    """A port where a stranger passes one request on to `port`, and its reply back."""
    listener = socket.create_server(("127.0.0.1", 0))

    def relay() -> None:
        connection, _ = listener.accept()
        with connection, socket.create_connection(("127.0.0.1", port)) as server:
            server.sendall(connection.recv(65536))
            while part := server.recv(65536):
                connection.sendall(part)

    thread = threading.Thread(target=relay)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        thread.join(5)
        listener.close()


def test_where_nobody_listens_there_is_nobody(place: paths.Place) -> None:
    assert identity.probe(place).kind == "absent"


def test_a_folder_named_by_a_stranger_is_not_believed(place: paths.Place) -> None:
    """DESIGN §3.8: only a token that proves itself, in a file of this user, makes a served folder ours."""
    with stand_in(place, "0.1.0", "answers"):
        assert paths.served_data_dir(place.port) == place.data_dir
        token = Path(place.data_dir) / "token"
        token.rename(token.with_name("elsewhere"))
        token.symlink_to("elsewhere")
        assert paths.served_data_dir(place.port) == ""
        token.unlink()
        token.write_text("another")
        assert paths.served_data_dir(place.port) == ""


def test_a_pid_record_tells_whether_its_process_runs(place: paths.Place) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        identity.write_record(place, process.pid, "0.1.0")
        record = _client.read_record(place.data_dir)
        assert identity.is_running(record)
        assert not identity.is_running({**record, "started": "long ago"})
        process.kill()
    assert not identity.is_running(record)
    assert not identity.is_running({})


def test_a_zombie_does_not_run(place: paths.Place) -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert identity.process_start(process.pid) == ""
    process.wait()


def test_only_its_own_process_removes_a_pid_record(place: paths.Place) -> None:
    identity.write_record(place, os.getpid(), "0.1.0")
    identity.remove_record(place.data_dir, os.getpid() + 1)
    assert _client.read_record(place.data_dir)
    identity.remove_record(place.data_dir, os.getpid())
    assert not _client.read_record(place.data_dir)


@pytest.mark.parametrize(
    ("version", "than", "is_older"),
    [
        ("0.1.0", "0.1.0", False),
        ("0.9.0", "0.10.0", True),
        ("1.0", "0.9.9", False),
        (None, "0.1.0", True),
        ("0.2+x", "0.1", False),
    ],
)
def test_versions_compare_by_their_numbers(version: object, than: str, is_older: bool) -> None:
    assert identity.is_older(version, than) is is_older
