"""`live-memory ask`: a question from a terminal or a script, answered by the one server; it is started where there is none.

Interrupted (^C), the connection is dropped, which cancels the work in the server. On a first run an answer that needs no
package is printed at once, and the command ends when the packages are there.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from launcher import paths
from launcher.commands import options, servers
from launcher.commands.trailer import trailer
from launcher.errors import UsageError
from launcher.terminal import coloured, printable, progress

USAGE = "ask QUESTION [--cwd DIR] [--max-answer-tokens N] [--json]"
LENGTH = "--max-answer-tokens"
# Above the longest time limit that a question may have (170 s): the server answers before this, or it hangs.
ANSWER_TIMEOUT_S = 200.0
MAX_TRIES = 4
TICK_S = 1.0
PASSING = ("installing", "draining")  # refusals of a server that soon serves, or whose successor does


def run(arguments: list[str]) -> int:
    parsed = options.parse(arguments, USAGE, {**options.CWD, **options.JSON, LENGTH: "value"}, max_words=None)
    question = " ".join(parsed.words).strip()
    if not question:
        raise UsageError(f"the question is missing; usage: live-memory {USAGE}")
    body: dict[str, object] = {"question": question, "cwd": options.folder(parsed)}
    length = options.whole_number(parsed, LENGTH)
    if length:
        body["max_answer_tokens"] = length
    place = paths.place()
    answer, health = _answer(place, body)
    if options.form(parsed) == "json":
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    else:
        _print(answer)
    _tell_what_is_missing(_set_up(place, health))
    return 0


def _set_up(place: paths.Place, health: servers.Health) -> servers.Health:
    """The server's health once it has done installing, so that one command sets everything up; the answer is out by now."""
    if health.get("status") != "installing":
        return health
    with progress() as on_progress:
        return servers.settled(place, on_progress).health


def _answer(place: paths.Place, body: dict[str, object]) -> tuple[dict[str, object], servers.Health]:
    """The answer, and the health of the server that gave it."""
    with progress() as on_progress:
        live = servers.started(place)
        for tries_left in reversed(range(MAX_TRIES)):
            try:
                with _ticking(on_progress):
                    return servers.call(live.address, "POST", "/ask", body, ANSWER_TIMEOUT_S), live.health
            except servers.ServerLost:
                if not tries_left:
                    raise
            except servers.Refusal as refusal:
                if not tries_left or refusal.code not in PASSING:
                    raise
            live = servers.settled(place, on_progress)
    raise AssertionError("the last try returns or raises")


@contextmanager
def _ticking(on_progress: Callable[[servers.Health], None]) -> Iterator[None]:
    """Tell `on_progress` every second that the answer is on its way."""
    answered = threading.Event()

    def tick() -> None:
        while not answered.wait(TICK_S):
            on_progress({"step": "looking for the answer"})

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        answered.set()
        ticker.join()


def _print(answer: dict[str, object]) -> None:
    sys.stdout.write(printable(str(answer.get("answer", ""))).rstrip("\n") + "\n")
    sys.stdout.flush()
    sys.stderr.write(coloured(trailer(answer), "dim", sys.stderr) + "\n")


def _tell_what_is_missing(health: servers.Health) -> None:
    if health.get("status") == "degraded":
        reason = health.get("reason") or "the packages could not be installed"
        sys.stderr.write(
            coloured(f"live-memory: the server runs without its packages: {reason}", "yellow", sys.stderr) + "\n"
        )
