"""News of files over HTTP: what is taken, and what is refused with which sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from server.desks import HandDesk, request_of, state_of

from live_memory.agent.ingest import FileNotice
from live_memory.server.http import Response
from live_memory.server.routes import dispatch
from live_memory.server.state import Phase

NOTICE: dict[str, Any] = {"cwd": "/repo", "event": "write", "paths": ["/repo/a.py", "b.py"]}


class ListeningDesk(HandDesk):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.notices: list[FileNotice] = []

    async def observe(self, notice: FileNotice) -> int:
        self.notices.append(notice)
        return len(notice.paths)


async def tell(desk: ListeningDesk, phase: Phase | None = None, **fields: Any) -> Response:
    raw = json.dumps({key: value for key, value in {**NOTICE, **fields}.items() if value is not ...}).encode()
    return await dispatch(state_of(desk, phase=phase), request_of("POST", "/notify", raw))


async def test_a_notice_reaches_the_desk() -> None:
    desk = ListeningDesk()
    response = await tell(desk)
    assert (response.status, json.loads(response.body)) == (200, {"status": "noted", "observed": 2})
    assert desk.notices == [FileNotice("/repo", "touched", ("/repo/a.py", "b.py"))]


@pytest.mark.parametrize("contents", [{"b.py": "x", "/repo/a.py": None}, [None, "x"]], ids=["by path", "in order"])
async def test_texts_may_be_sent_along_by_path_or_in_order(contents: object) -> None:
    desk = ListeningDesk()
    await tell(desk, contents=contents)
    assert desk.notices[0].contents == {"b.py": "x"}


@pytest.mark.parametrize(
    ("event", "meaning"),
    [("Read", "touched"), ("edit", "touched"), ("change", "changed"), ("unlink", "changed"), ("add", "added")],
)
async def test_events_are_what_hooks_call_them(event: str, meaning: str) -> None:
    desk = ListeningDesk()
    await tell(desk, event=event)
    assert desk.notices[0].event == meaning


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"cwd": ...}, "cwd is missing"),
        ({"event": ...}, "event is missing"),
        ({"event": "explode"}, "event must be one of read, write"),
        ({"paths": ...}, "paths must be a list"),
        ({"paths": "a.py"}, "paths must be a list"),
        ({"paths": ["a.py", 7]}, "paths must be a list"),
        ({"paths": ["a.py"] * 1001}, "1000 files at most"),
        ({"contents": "text"}, "contents must be an object"),
        ({"contents": ["only one"]}, "contents must be an object"),
        ({"contents": {"a.py": 7}}, "contents must hold texts only"),
    ],
)
async def test_a_notice_that_is_none_is_refused(fields: dict[str, Any], sentence: str) -> None:
    response = await tell(ListeningDesk(), **fields)
    assert response.status == 400
    assert sentence in json.loads(response.body)["error"]["message"]


async def test_no_notice_is_taken_without_the_token_or_while_the_server_drains() -> None:
    desk = ListeningDesk()
    raw = json.dumps(NOTICE).encode()
    response = await dispatch(state_of(desk), request_of("POST", "/notify", raw, authorization=""))
    assert response.status == 401
    assert (await tell(desk, Phase("draining"))).status == 503
    assert not desk.notices


async def test_notices_are_taken_while_the_packages_are_being_installed() -> None:
    assert (await tell(ListeningDesk(), Phase("installing"))).status == 200
