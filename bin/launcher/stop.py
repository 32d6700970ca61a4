"""`stop` and `restart`: our own server only, asked first, ended by its pid record when it does not answer."""

from __future__ import annotations

import sys

import _client
from launcher import claim, holder, identity, paths
from launcher.errors import LaunchError


def run(arguments: list[str]) -> int:
    """`stop [--data-dir DIR]`: end the server after its answers in flight; done as well when none runs."""
    place = paths.place(paths.parse_flags(arguments, {"--data-dir": "value"}).get("--data-dir"))
    pid = stop(place)
    sys.stdout.write(f"Stopped the server (pid {pid}).\n" if pid else "No server was running.\n")
    return 0


def stop(place: paths.Place) -> int:
    """The pid of the server that was ended; 0 when none ran. LaunchError when the port is somebody else's."""
    record = _client.read_record(place.data_dir)
    is_recorded = identity.is_running(record)
    port = record.get("port")
    if is_recorded and isinstance(port, int):
        place = place.on(port)  # wherever it runs: the settings may have changed since
    seen = identity.probe(place)
    pid = seen.health.get("pid") if seen.kind == "ours" else record.get("pid")
    if seen.kind == "ours":
        claim.retire(place)
    elif seen.kind == "orphan":
        pid = seen.health.get("pid")
        claim.retire_orphan(place, seen.health)
    elif is_recorded:
        claim.end(record)
    elif seen.kind == "absent":
        return 0
    else:
        raise holder.held(place.port, seen.health)
    if not isinstance(pid, int):
        raise LaunchError("The server names no pid.")
    return pid


def run_restart(arguments: list[str]) -> int:
    """`restart [--json] [--data-dir DIR]`: `stop`, then `ensure` with the same arguments."""
    flags = paths.parse_flags(arguments, {"--json": "flag", "--wait": "value", "--data-dir": "value"})
    place = paths.place(flags.get("--data-dir"))
    stop(place)
    from launcher import ensure

    return ensure.run([*arguments, "--data-dir", place.data_dir])
