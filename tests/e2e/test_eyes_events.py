"""A session of the real Claude Code, as the server hears of it from the hooks."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.stand_in import StandIn, always
from e2e.claude_code import TOOL, ClaudeCode
from lifecycle.command import until
from support.two_models import Call, TwoModels

TABLE = "Open: #cart-total"
NOTE = "#cart-total: totals are in cents."
LIMIT_S = 20.0
SETTLING_S = 2.0  # Claude Code tells of a file once it has not changed for half a second


@pytest.fixture
def server(ready_user: ClaudeCode) -> Iterator[StandIn]:
    """A stand-in that holds the data folder of the user, and knows one note."""
    stand_in = StandIn(ready_user.data_dir)
    ready_user.port = stand_in.port
    stand_in.routes["GET /toc"] = always({"context": TABLE, "notes": 1})
    stand_in.routes["GET /watch"] = always({"paths": []})
    stand_in.routes["POST /recall"] = always({"context": NOTE, "notes": [{"id": "cart-total"}]})
    for path in ("/notify", "/session"):
        stand_in.routes[f"POST {path}"] = always({"status": "noted"})
    with subprocess.Popen(["sleep", "300"]) as process:
        stand_in.put_on_record(process.pid)
        with stand_in.running():
            yield stand_in
        (ready_user.data_dir / "server.json").unlink()
        process.kill()


def test_a_session_is_told_of_from_its_start_to_its_end_and_is_handed_the_notes(
    server: StandIn, ready_user: ClaudeCode, models: TwoModels
) -> None:
    cart = str(ready_user.project / "shop" / "cart.py")
    # A printed session ends what still runs for its last tool call: a model that thinks for a moment is more like it.
    think = Call("Bash", {"command": "sleep 2", "description": "Think"})
    models.script("claude", [Call("Read", {"file_path": cart}), think, "Summed up."])
    ready_user.install()
    ready_user.ask("Where is the total?", "--allowedTools", "Read,Bash")
    told = server.bodies
    until(lambda: len(told("/session")) == 3 and told("/notify"), "all is told of", LIMIT_S)
    (folder,) = {body["cwd"] for body in (*server.bodies("/session"), *server.bodies("/notify"))}
    assert folder == str(ready_user.project)
    assert server.bodies("/notify") == [{"cwd": folder, "event": "read", "paths": [cart]}]
    start, stop, end = sorted(server.bodies("/session"), key=lambda body: body["size_bytes"])
    assert (start["event"], start["source"]) == ("session-start", "startup")
    assert {stop["event"], end["event"]} == {"stop", "session-end"}
    assert start["session_id"] == stop["session_id"] == end["session_id"]
    assert Path(end["transcript_path"]).stat().st_size >= stop["size_bytes"] > 0
    assert [body["prompt"] for body in server.bodies("/recall")] == ["Where is the total?"]
    heard = json.dumps(models.heard["claude"][0])
    assert TABLE in heard
    assert NOTE in heard


def test_a_file_that_the_window_holds_is_watched_in_later_sessions(ready_user: ClaudeCode, models: TwoModels) -> None:
    held = ready_user.project / "shop" / "cart.py"
    read = Call("Read", {"file_path": str(held)})
    models.script("claude", [read, Call(TOOL, {"question": "Where is the total?"}), "Thanks.", "Hello."])
    models.script("backend", ["In Cart.total (shop/cart.py:5)."])
    ready_user.install()
    ready_user.ask("Where is the total?", "--allowedTools", "Read")
    assert changed_files(ready_user) == 0

    def change_until_noticed() -> str:
        deadline_s = time.monotonic() + LIMIT_S
        while not changed_files(ready_user) and time.monotonic() < deadline_s:
            held.write_text(held.read_text() + "# One more line.\n")  # again, for the watch may only be beginning
            time.sleep(SETTLING_S)
        return "Noticed."

    models.script("claude", [change_until_noticed])
    ready_user.ask("Wait.")
    assert changed_files(ready_user) == 1


def changed_files(user: ClaudeCode) -> int:
    """How many files are known to have changed since the last question."""
    count: int = json.loads(user.live_memory("stats", "--json").stdout)["files"]["changed"]
    return count
