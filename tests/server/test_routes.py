"""The routes as values: what each answers, and what it refuses with which sentence."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from pathlib import Path

import pytest
from server.desks import TOKEN, HandDesk, request_of, state_of

from live_memory.agent.answers import Question
from live_memory.clock import ManualClock
from live_memory.configuration import Configuration
from live_memory.errors import ConfigError, ModelError, QuestionError, StoreError
from live_memory.server.http import Response
from live_memory.server.routes import ROUTES, body_limit_bytes, dispatch
from live_memory.server.state import Phase
from live_memory.settings import Settings

QUESTION = {"question": "where is main?", "cwd": "/repo"}


def body_of(response: Response) -> dict[str, object]:
    value = json.loads(response.body)
    assert isinstance(value, dict)
    return value


def error_of(response: Response) -> tuple[int, str, str]:
    error = body_of(response)["error"]
    assert isinstance(error, dict)
    assert set(error) == {"code", "message"}
    return response.status, error["code"], error["message"]


async def ask(desk: HandDesk, body: object, phase: Phase | None = None) -> Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await dispatch(state_of(desk, phase=phase), request_of("POST", "/ask", raw))


async def test_health_says_who_and_how_the_server_is_without_a_token() -> None:
    clock = ManualClock()
    state = state_of(HandDesk(), clock=clock)
    clock.advance(2.5)
    body = body_of(await dispatch(state, request_of("GET", "/health", authorization="")))
    assert body["name"] == "live-memory"
    assert body["version"] == "1.2.3"
    assert body["status"] == "ok"
    assert body["uptime_s"] == 2.5
    assert body["data_dir"] == "/data"
    assert isinstance(body["pid"], int)
    assert not {"proof", "step", "reason"} & set(body)


async def test_health_proves_that_it_knows_the_token() -> None:
    body = body_of(await dispatch(state_of(HandDesk()), request_of("GET", "/health?challenge=c4a11", authorization="")))
    assert body["proof"] == hmac.new(TOKEN.encode(), b"c4a11", hashlib.sha256).hexdigest()


async def test_health_refuses_a_challenge_that_is_too_long() -> None:
    response = await dispatch(state_of(HandDesk()), request_of("GET", "/health?challenge=" + "c" * 257))
    assert error_of(response)[:2] == (400, "bad-field")


async def test_health_tells_the_step_while_installing_and_the_reason_when_degraded() -> None:
    installing = state_of(HandDesk(), phase=Phase("installing", step="downloading"))
    assert body_of(await dispatch(installing, request_of("GET", "/health")))["step"] == "downloading"
    degraded = state_of(HandDesk(), phase=Phase("degraded", reason="no network"))
    assert body_of(await dispatch(degraded, request_of("GET", "/health")))["reason"] == "no network"


async def test_a_data_folder_whose_name_is_no_text_is_named_byte_for_byte() -> None:
    state = state_of(HandDesk())
    state.data_dir = Path(os.fsdecode(b"/data/\xff"))
    body = body_of(await dispatch(state, request_of("GET", "/health")))
    assert os.fsencode(str(body["data_dir"])) == b"/data/\xff"


async def test_a_health_probe_is_no_request_that_keeps_the_server_alive() -> None:
    clock = ManualClock()
    state = state_of(HandDesk(), clock=clock)
    started_s = state.last_request_s
    clock.advance(60)
    await dispatch(state, request_of("GET", "/health"))
    await dispatch(state, request_of("GET", "/stats?cwd=/repo", authorization=""))
    assert state.last_request_s == started_s
    await dispatch(state, request_of("GET", "/stats?cwd=/repo"))
    assert state.last_request_s == started_s + 60


async def test_ask_returns_the_answer_with_its_account() -> None:
    desk = HandDesk()
    response = await ask(desk, {**QUESTION, "max_answer_tokens": 512})
    assert response.status == 200
    assert body_of(response) == {
        "answer": "about: where is main?",
        "model": "hand-1",
        "latency_ms": 12,
        "timed_out": False,
        "tool_calls": 1,
        "files_read": 1,
        "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_tokens": 5, "cache_write_tokens": 6},
        "cost_usd": 0.25,
        "context": {"used_tokens": 100, "max_tokens": 1000, "ratio": 0.1},
        "citations": [],
    }
    assert desk.asked == [Question("where is main?", "/repo", 512)]


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (b"", "bad-json", "not JSON"),
        (b"question", "bad-json", "not JSON"),
        (b"\xff\xfe", "bad-json", "UTF-8"),
        (b'["question"]', "bad-json", "object"),
        (b"[" * 200_000, "bad-json", "nested"),
        (b'{"a":' * 200_000, "bad-json", "nested"),
        (b'{"question": NaN, "cwd": "/repo"}', "bad-json", "NaN"),
        (b'{"question": "q", "cwd": "/repo", "max_answer_tokens": Infinity}', "bad-json", "Infinity"),
        (b'{"max_answer_tokens": ' + b"9" * 5000 + b"}", "bad-json", "not JSON"),
        (b'{"question": "\\ud800", "cwd": "/repo"}', "bad-field", "surrogate"),
        ({"cwd": "/repo"}, "bad-field", "question is missing"),
        ({"question": "q"}, "bad-field", "cwd is missing"),
        ({"question": 7, "cwd": "/repo"}, "bad-field", "question must be text, not a number"),
        ({"question": ["q"], "cwd": "/repo"}, "bad-field", "question must be text, not a list"),
        ({"question": {"q": 1}, "cwd": "/repo"}, "bad-field", "question must be text, not an object"),
        ({"question": True, "cwd": "/repo"}, "bad-field", "question must be text, not true or false"),
        ({"question": " \n", "cwd": "/repo"}, "bad-field", "question is empty"),
        ({"question": "q", "cwd": ""}, "bad-field", "cwd is empty"),
        ({**QUESTION, "max_answer_tokens": "many"}, "bad-field", "max_answer_tokens must be"),
        ({**QUESTION, "max_answer_tokens": -1}, "bad-field", "max_answer_tokens must be"),
        ({**QUESTION, "max_answer_tokens": True}, "bad-field", "max_answer_tokens must be"),
        ({**QUESTION, "max_answer_tokens": 0.5}, "bad-field", "max_answer_tokens must be"),
    ],
)
async def test_a_body_that_cannot_be_used_is_refused_with_a_sentence(body: object, code: str, words: str) -> None:
    desk = HandDesk()
    status, given_code, message = error_of(await ask(desk, body))
    assert (status, given_code) == (400, code)
    assert words in message
    assert not desk.asked


async def test_a_body_over_the_bound_is_refused_whether_announced_or_not() -> None:
    desk = HandDesk()
    state = state_of(desk)
    size_bytes = body_limit_bytes(state) + 1
    announced = request_of("POST", "/ask", content_length=str(size_bytes))
    assert error_of(await dispatch(state, announced))[:2] == (413, "too-large")
    astronomic = request_of("POST", "/ask", content_length="9" * 10_000)
    assert error_of(await dispatch(state, astronomic))[:2] == (413, "too-large")
    lying = request_of("POST", "/ask", b" " * size_bytes, content_length="2")
    assert error_of(await dispatch(state, lying))[:2] == (413, "too-large")
    nonsense = request_of("POST", "/ask", content_length="-1")
    assert error_of(await dispatch(state, nonsense))[:2] == (400, "bad-length")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (QuestionError("too-busy", "Come back later.", status=429), 429, "too-busy"),
        (ModelError("The provider said no."), 502, "model"),
        (StoreError("The disk is full."), 500, "store"),
    ],
)
async def test_an_error_meant_for_people_keeps_its_sentence(error: Exception, status: int, code: str) -> None:
    desk = HandDesk()
    desk.error = error
    assert error_of(await ask(desk, QUESTION)) == (status, code, str(error))


async def test_an_unforeseen_error_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    desk = HandDesk()
    desk.error = RuntimeError("sk-secret")
    response = await ask(desk, QUESTION)
    assert error_of(response)[:2] == (500, "internal")
    assert b"sk-secret" not in response.body
    assert "request failed path=/ask" in caplog.text


async def test_the_files_to_watch_are_those_of_the_workspace_named() -> None:
    response = await dispatch(state_of(HandDesk()), request_of("GET", "/watch?cwd=/repo"))
    assert body_of(response) == {"paths": ["/repo/a.py"]}


async def test_what_a_user_has_to_know_of_a_workspace_is_told_with_them() -> None:
    response = await dispatch(state_of(HandDesk()), request_of("GET", "/watch?cwd=/open"))
    assert body_of(response)["concern"] == "Redaction is OFF."


async def test_stats_clear_and_reset_go_to_the_workspace_named() -> None:
    desk = HandDesk()
    state = state_of(desk)
    body = b'{"cwd": "/repo"}'
    assert body_of(await dispatch(state, request_of("GET", "/stats?cwd=/repo")))["root"] == "/repo"
    assert (await dispatch(state, request_of("POST", "/clear", body))).status == 200
    assert (await dispatch(state, request_of("POST", "/reset", body))).status == 200
    assert (await dispatch(state, request_of("GET", "/stats"))).status == 200
    assert desk.calls == [("stats", "/repo"), ("clear", "/repo"), ("reset", "/repo"), ("stats", "")]
    assert error_of(await dispatch(state, request_of("POST", "/reset", b"{}")))[:2] == (400, "bad-field")


async def test_reload_takes_new_settings_and_keeps_the_old_ones_when_they_are_bad() -> None:
    desk = HandDesk(Configuration(Settings(max_body_bytes=2048), {}))
    state = state_of(desk)
    assert (await dispatch(state, request_of("POST", "/reload"))).status == 200
    assert body_limit_bytes(state) == 2048
    desk.error = ConfigError("The setting port cannot be 'x'.")
    assert error_of(await dispatch(state, request_of("POST", "/reload"))) == (400, "bad-setting", str(desk.error))
    assert body_limit_bytes(state) == 2048


async def test_shutdown_answers_first_and_lets_no_new_question_in() -> None:
    desk = HandDesk()
    state = state_of(desk)
    assert (await dispatch(state, request_of("POST", "/shutdown"))).status == 200
    assert state.shutdown.is_set()
    assert body_of(await dispatch(state, request_of("GET", "/health")))["status"] == "draining"
    for path in ("/ask", "/mcp", "/clear", "/reset"):
        response = await dispatch(state, request_of("POST", path, json.dumps(QUESTION).encode()))
        assert error_of(response)[:2] == (503, "draining")
        assert int(response.headers["Retry-After"]) > 0
    assert (await dispatch(state, request_of("POST", "/shutdown"))).status == 200
    assert not desk.asked


async def test_while_installing_a_question_waits_only_for_a_model() -> None:
    desk = HandDesk()
    installing = Phase("installing", step="unpacking")
    assert (await ask(desk, QUESTION, installing)).status == 200
    desk.is_model = True
    response = await ask(desk, QUESTION, installing)
    status, code, message = error_of(response)
    assert (status, code) == (503, "installing")
    assert "unpacking" in message
    assert response.headers["Retry-After"] == "1"


async def test_a_degraded_server_answers_questions() -> None:
    degraded = Phase("degraded", reason="The package index cannot be reached.")
    desk = HandDesk()
    desk.is_model = True
    assert (await ask(desk, QUESTION, degraded)).status == 200


async def test_an_unknown_path_is_404_and_a_wrong_method_405() -> None:
    state = state_of(HandDesk())
    for path in ("/", "/nope", "/ask/", "//ask", "/ASK", "/../ask"):
        assert error_of(await dispatch(state, request_of("GET", path)))[:2] == (404, "not-found")
    for method, path in ROUTES:
        wrong = await dispatch(state, request_of("PUT", path))
        assert error_of(wrong)[:2] == (405, "bad-method")
        assert method in wrong.headers["Allow"].split(", ")
