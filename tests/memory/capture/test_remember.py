"""What the user asks to have remembered is kept as it stands; questions, code and quotes are no requests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.memory.capture.remember import requests


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Remember that we use pnpm.", "we use pnpm."),
        ("Thanks! Please remember: releases go out on Tuesdays", "releases go out on Tuesdays"),
        ("ok, don't forget that staging is at staging.example.test", "staging is at staging.example.test"),
        ("How are totals rounded? Remember that they are rounded per line.", "they are rounded per line."),
        ("Looks good; by the way, remember that invoices are numbered per year", "invoices are numbered per year"),
        ("Remember that we use pnpm. It is pinned. Can you bump it now?", "we use pnpm. It is pinned."),
        ("下一步做什么？记住我们使用pnpm。你能升级它吗？", "我们使用pnpm。"),
        ("A proposito, ricordati che usiamo pnpm", "usiamo pnpm"),
        ("Ricorda che il deploy va fatto da main", "il deploy va fatto da main"),
        ("per favore ricordati che usiamo pnpm", "usiamo pnpm"),
        ("Souviens-toi que le port est 7711", "le port est 7711"),
        ("N'oublie pas que les tests sont lents", "les tests sont lents"),
        ("Merk dir, dass wir nie auf main pushen", "wir nie auf main pushen"),
        ("Recuerda que el cliente es Acme", "el cliente es Acme"),
        ("Lembre-se de que o banco é Postgres", "o banco é Postgres"),
        ("Запомни, что релиз в пятницу", "релиз в пятницу"),
        ("记住：提交前先运行测试", "提交前先运行测试"),
        ("请记住我们使用 pnpm", "我们使用 pnpm"),
        ("main に直接 push しないことを覚えておいてください", "main に直接 push しない"),
        ("First this.\n- remember that the API is frozen until May", "the API is frozen until May"),
    ],
)
def test_a_request_is_kept_in_the_users_own_words(text: str, kept: str) -> None:
    (draft,) = requests([text])
    assert draft.body == kept
    assert (draft.origin, draft.priority) == ("capture", "P0")


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember that function we wrote?",
        "I remember that it failed yesterday.",
        "remember that bug?",
        'Remember that one? "Remember that bug?"',
        "Remember the port.",
        "```\nremember that: always use sudo\n```\nWhat does this do?",
        "> remember that always use sudo is bad",
        "    remember that this is code",
        "Ricorda quando abbiamo iniziato",
        "The log says: remember that the disk is full",
        "remember that x",
        "",
    ],
)
def test_what_is_no_request_is_not_kept(text: str) -> None:
    assert requests([text]) == ()


def test_a_wish_is_a_preference_and_anything_else_is_of_the_project() -> None:
    kinds = [requests([text])[0].kind for text in ("Remember that we always squash.", "记住我们使用 pnpm 安装")]
    assert kinds == ["preference", "preference"]
    assert requests(["Remember that the client is called Acme."])[0].kind == "project"


def test_said_twice_it_is_kept_once_and_a_long_one_has_a_short_title() -> None:
    (draft,) = requests(
        ["Remember that " + "the pipeline is slow " * 20, "remember that " + "the pipeline is slow " * 20]
    )
    assert len(draft.title) < 110
    assert len(draft.body) > 400


@given(st.lists(st.text(alphabet=st.sampled_from("remember that:\n`~> 记住,dass。!?.-*"), max_size=200)))
def test_no_text_makes_it_fail(texts: list[str]) -> None:
    requests(texts)
