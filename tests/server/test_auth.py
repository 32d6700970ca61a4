"""Who is let in: the token, the Host and the Origin, on every path."""

from __future__ import annotations

import json

import pytest
from server.desks import PORT, TOKEN, HandDesk, request_of, state_of

from live_memory.server.routes import ROUTES, dispatch

GUARDED = sorted(key for key, route in ROUTES.items() if route.access == "token")
BODY = b'{"question": "q", "cwd": "/repo"}'


async def status_and_code(desk: HandDesk, method: str, path: str, **headers: str) -> tuple[int, str]:
    state = state_of(desk)
    response = await dispatch(state, request_of(method, path, BODY, **headers))
    assert not state.shutdown.is_set()
    assert not any(name.lower().startswith("access-control-") for name in response.headers)
    if response.status == 401:
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    body = json.loads(response.body)
    return response.status, body.get("error", {}).get("code", "")


def test_only_health_is_open() -> None:
    assert [key for key, route in ROUTES.items() if route.access == "open"] == [("GET", "/health")]


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer " + TOKEN[:-1],
        "Bearer " + TOKEN + "t",
        "Bearer " + TOKEN[:-1] + "ü",
        "Bearer " + TOKEN[:-1] + "\udcff",
        "Basic " + TOKEN,
        TOKEN,
        f"Bearer {TOKEN} {TOKEN}",
    ],
)
async def test_without_the_very_token_nothing_is_done(authorization: str) -> None:
    desk = HandDesk()
    for method, path in (*GUARDED, ("GET", "/nope"), ("PUT", "/ask")):
        assert await status_and_code(desk, method, path, authorization=authorization) == (401, "unauthorized")
    assert not desk.asked
    assert not desk.calls


async def test_an_empty_token_of_the_server_opens_nothing() -> None:
    state = state_of(HandDesk())
    state.token = ""
    assert (await dispatch(state, request_of("GET", "/stats?cwd=/repo", authorization="Bearer "))).status == 401


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:80",
        f"127.0.0.2:{PORT}",
        f"0.0.0.0:{PORT}",
        f"127.0.0.1:{PORT}@evil.example",
        f"localhost.:{PORT}",
        f"::1:{PORT}",
    ],
)
async def test_a_host_that_is_not_ours_is_refused(host: str) -> None:
    desk = HandDesk()
    for method, path in (*GUARDED, ("GET", "/health")):
        assert await status_and_code(desk, method, path, host=host) == (403, "foreign-host")
    assert not desk.asked


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
async def test_every_loopback_name_with_our_port_is_ours(host: str) -> None:
    assert await status_and_code(HandDesk(), "GET", "/health", host=host) == (200, "")


async def test_the_port_may_be_left_out_only_where_http_does_so() -> None:
    state = state_of(HandDesk())
    state.port = 80
    assert (await dispatch(state, request_of("GET", "/health", host="127.0.0.1"))).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "https://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:8080",
        f"https://127.0.0.1:{PORT}",
        f"http://127.0.0.1:{PORT}.evil.example",
        f"http://127.0.0.1:{PORT}/",
        "file://",
    ],
)
async def test_a_page_of_another_origin_is_refused(origin: str) -> None:
    desk = HandDesk()
    for method, path in (*GUARDED, ("GET", "/health")):
        assert await status_and_code(desk, method, path, origin=origin) == (403, "foreign-origin")
    assert not desk.asked


async def test_our_own_page_is_let_in() -> None:
    for origin in (f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT}"):
        assert await status_and_code(HandDesk(), "POST", "/ask", origin=origin) == (200, "")
