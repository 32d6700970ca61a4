"""Recall: the few notes that a prompt needs, and otherwise nothing."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live_memory.clock import ManualClock
from live_memory.memory.place import Place
from live_memory.memory.recall import Recall, Recalled
from live_memory.notes.note import GLOBAL, Note
from live_memory.settings import Settings
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.note_store import Change
from live_memory.text.tokens import estimate_tokens

REPO, ROOT = "git:example.com/owner/name", Path("/code/name")
PLACE = Place(ROOT, REPO)
TTL_PROMPT = "the lamps at the far end of the warehouse don't answer, is the mesh TTL too low?"
TTL = Note(REPO, "mesh-ttl", "root-cause", "Lamps at the far end of the hall did not answer", "The mesh TTL was 5.")
CURVE = Note(REPO, "dim-curve", "decision", "Dimming follows a logarithmic curve", "Linear flickers below 30 %.")
STYLE = Note(GLOBAL, "style", "preference", "Commit subjects are imperative sentences", "No ticket number in subjects.")
STYLE_PROMPT = "write the commit subjects as imperative sentences with the ticket number"


class States:
    """States as told; every other note rests on no file."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self.within_s = 0.0

    async def states(self, notes: Sequence[Note], place: Place, within_s: float = 1.0) -> Mapping[str, str]:
        self.within_s = within_s
        return {note.id: self.told.get(note.id, "") for note in notes}


class Scene:
    """A recall over a store in memory, in which `settings` may be changed."""

    def __init__(self, *notes: Note, **changes: Any) -> None:
        self.store = InMemoryStore().note_store
        self.store.apply([Change("create", None, note, 1.0, "test") for note in notes or (TTL, CURVE, STYLE)])
        self.clock, self.states, self.settings = ManualClock(), States(), replace(Settings(), **changes)
        self.recall = Recall(self.store, self.states, self.clock, lambda: self.settings)

    def ask(self, prompt: str, session_id: str = "") -> Recalled:
        async def asked() -> Recalled:
            try:
                return await self.recall.recall(PLACE, prompt, session_id)
            finally:
                await self.recall.settled()

        return asyncio.run(asked())

    def ids(self, prompt: str, session_id: str = "") -> list[str]:
        return [note.id for note in self.ask(prompt, session_id).notes]


def test_a_prompt_is_given_the_note_it_needs_fenced_as_data() -> None:
    recalled = Scene().ask(TTL_PROMPT)
    (note,) = recalled.notes
    assert (note.id, note.title, note.state) == ("mesh-ttl", TTL.title, "")
    assert note.score > 0
    assert "The mesh TTL was 5." in recalled.context
    assert "<live-memory-notes>" in recalled.context
    assert recalled.context.rstrip().endswith("</live-memory-notes>")


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "thanks",
        "rename this variable and update all usages",
        "plan a trip to Lisbon with small children in the far south",
        "add a retry with exponential backoff to this http client",
        "correggi gli errori di tipo in questo file",
        "帮我写一个单元测试",
        '\x00\ud800 NEAR( * " 🐛',
    ],
)
def test_other_prompts_are_given_nothing(prompt: str) -> None:
    assert Scene().ask(prompt) == Recalled()


def test_an_italian_prompt_is_given_an_english_note_by_relatives_of_its_words() -> None:
    note = Note(REPO, "catalog", "decision", "Catalog pagination for product variants", "By cursor.")
    prompt = "come funziona la paginazione del catalogo con le varianti?"
    assert Scene(note).ids(prompt) == ["catalog"]
    assert Scene(note, recall_no_fuzzy=True).ids(prompt) == []
    assert Scene(note, recall_anchor_min=4).ids(prompt) == []


def test_a_chinese_prompt_is_given_a_chinese_note() -> None:
    note = Note(REPO, "令牌", "root-cause", "会话令牌过期后没有刷新", "移动端需要重新登录。")
    assert Scene(note).ids("会话令牌过期了怎么刷新") == ["令牌"]


def test_a_session_is_not_given_the_same_twice_until_its_context_is_gone() -> None:
    scene = Scene()
    assert scene.ids(TTL_PROMPT, "one") == ["mesh-ttl"]
    assert scene.ids(TTL_PROMPT, "one") == []
    assert scene.ids(TTL_PROMPT, "two") == ["mesh-ttl"]
    scene.recall.session_started("one", "resume")
    assert scene.ids(TTL_PROMPT, "one") == []
    scene.recall.session_started("one", "compact")
    assert scene.ids(TTL_PROMPT, "one") == ["mesh-ttl"]


def test_superseded_expired_and_working_notes_are_not_given() -> None:
    superseded = replace(TTL, id="old", status="superseded")
    expired = replace(TTL, id="expired", expires_at_s=ManualClock().now_s - 1)
    working = replace(TTL, id="working", kind="state")
    fact = replace(TTL, id="fact", kind="fact", scope=str(ROOT))
    assert Scene(superseded, expired, working, fact).ids(TTL_PROMPT) == []
    assert Scene(superseded, recall_superseded=True).ids(TTL_PROMPT) == ["old"]


def test_facts_are_given_where_that_is_wished() -> None:
    fact = replace(TTL, id="fact", kind="fact", title="", body=f"{TTL.title}. {TTL.body}", scope=str(ROOT))
    assert Scene(fact, recall_facts=True, recall_body_only=True).ids(TTL_PROMPT) == ["fact"]


def test_a_stale_note_is_marked_not_hidden_and_waits_for_no_disk() -> None:
    scene = Scene(replace(TTL, sources={"src/mesh.c": "aa"}))
    scene.states.told = {"mesh-ttl": "STALE"}
    recalled = scene.ask(TTL_PROMPT)
    assert recalled.notes[0].state == "STALE"
    assert "STALE" in recalled.context.partition("<live-memory-notes>")[2]
    assert scene.states.within_s <= 0.02


def test_a_note_given_was_of_use_and_lives_longer() -> None:
    scene = Scene(replace(TTL, expires_at_s=ManualClock().now_s + 1))
    scene.ask(TTL_PROMPT)
    (note,) = scene.store.get([(REPO, "mesh-ttl")])
    assert note.use_count == 1
    assert note.expires_at_s == scene.clock.now_s + 90 * 86_400


@pytest.mark.parametrize(
    "changes",
    [
        {"recall_disabled": True},
        {"recall_min_words": 40},
        {"recall_max_prompt_chars": 20},
        {"recall_min_word_len": 30},
        {"recall_no_global": True},
    ],
)
def test_each_gate_keeps_a_note_away(changes: dict[str, Any]) -> None:
    assert Scene().ids(STYLE_PROMPT) == ["style"]
    assert Scene(**changes).ids(STYLE_PROMPT) == []


def test_what_looks_like_code_is_left_alone() -> None:
    code = "\n".join(f"    {TTL_PROMPT}" for _ in range(5))
    assert Scene().ids(code) == []
    assert Scene(recall_code_line_ratio=1.0).ids(code) == ["mesh-ttl"]


def test_words_of_a_body_alone_are_no_evidence_unless_that_is_wished() -> None:
    note = Note(REPO, "x", "reference", "Radio", "Lamps at the far end of the warehouse do not answer: mesh TTL.")
    assert Scene(note).ids(TTL_PROMPT) == []
    assert Scene(note, recall_body_only=True).ids(TTL_PROMPT) == ["x"]


def test_no_more_notes_and_tokens_than_allowed() -> None:
    notes = [replace(TTL, id=f"mesh-{i}", body=f"{TTL.body} {i} " + "detail " * 2_000) for i in range(5)]
    recalled = Scene(*notes).ask(TTL_PROMPT)
    assert estimate_tokens(recalled.context) <= 1_200 + 20
    assert len(recalled.context) < 10_000
    short = [replace(TTL, id=f"mesh-{i}") for i in range(5)]
    assert len(Scene(*short).ids(TTL_PROMPT)) == 3
    assert len(Scene(*short, recall_top_k=1).ids(TTL_PROMPT)) == 1


def test_a_secret_in_a_note_does_not_come_out() -> None:
    key = "sk-ant-api03-" + "Zq8Xw3Lr7Tn2Vb9Kd4Hf6Js1Pm5Gc0Ya" * 2
    assert key not in Scene(replace(TTL, body=f"The mesh TTL was 5. key={key}")).ask(TTL_PROMPT).context


def test_words_of_a_file_never_count(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("lamps mesh # ours\nwarehouse\nfar end ttl answer\nlow\n", encoding="utf-8")
    assert Scene(recall_stopwords_file=str(words)).ids(TTL_PROMPT) == []
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "none.txt"), str(tmp_path), str(tmp_path / "pipe"), "/dev/zero", "a\0b"):
        assert Scene(recall_stopwords_file=name).ids(TTL_PROMPT) == ["mesh-ttl"]


def test_the_log_says_why_where_that_is_wished(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        Scene(recall_debug=True).ask(TTL_PROMPT)
        Scene(recall_debug=True).ask("thanks")
    assert "shown=mesh-ttl" in caplog.text
    assert "skipped=few words" in caplog.text
    assert "warehouse" not in caplog.text


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200))
def test_no_prompt_is_too_strange(prompt: str) -> None:
    Scene().ask(prompt)
