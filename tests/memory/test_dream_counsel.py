"""The model's part of a dream: what it proposes counts only where the files and the notes bear it out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from memory.dream_scene import DreamScene

from live_memory.llm.base import BadKey, CompletionRequest
from live_memory.llm.scripted import ScriptedModel, Step
from live_memory.window.messages import Text

HTTP = "class Client:\n    timeout_s = 10\n    def fetch(self):\n        return self.retry(times=4)\n"
Maker = Callable[..., DreamScene]


@pytest_asyncio.fixture
async def make(tmp_path: Path) -> AsyncIterator[Maker]:
    made: list[DreamScene] = []

    def maker(*script: Step) -> DreamScene:
        made.append(DreamScene(tmp_path, script))
        made[0].file("src/http.py", HTTP)
        return made[0]

    yield maker
    await made[0].close()


def review(note_id: str, verdict: str, evidence: str = "    timeout_s = 10", text: str = "") -> str:
    return json.dumps({"reviews": [{"id": note_id, "verdict": verdict, "text": text, "evidence": evidence}]})


def sent(scene: DreamScene, number: int = 0) -> str:
    model = scene.seat.model
    assert isinstance(model, ScriptedModel)
    return "\n".join(b.text for turn in model.requests[number].prompt.turns for b in turn.blocks if isinstance(b, Text))


def of_statement(verdict: str, **fields: str) -> Callable[[CompletionRequest], str]:
    """A review of the one statement that is asked about."""

    def reply(request: CompletionRequest) -> str:
        shown = "\n".join(b.text for turn in request.prompt.turns for b in turn.blocks if isinstance(b, Text))
        return review(shown.partition('<statement id="')[2].partition('"')[0], verdict, **fields)

    return reply


async def test_a_fact_is_rewritten_after_its_file_and_rests_on_it_as_it_is(make: Maker) -> None:
    scene = make(of_statement("changed", text="`timeout_s` of the client in src/http.py is 10"))
    old = scene.fact("`timeout_s` in src/http.py is 30 unless a caller wishes otherwise", "src/http.py")
    assert await scene.counts() == {"rewritten": 1}
    (fact,) = scene.store.notes.facts(str(scene.folder))
    assert fact.text == "`timeout_s` of the client in src/http.py is 10"
    assert not fact.is_stale
    assert fact.id != old
    assert scene.store.account(purpose="dream").requests == 1
    assert '<file path="src/http.py">' in sent(scene)
    await scene.dream("undo")
    assert [fact.id for fact in scene.store.notes.stale(str(scene.folder))] == [old]


@pytest.mark.parametrize(
    ("verdict", "fields", "why"),
    [
        ("holds", {"evidence": "timeout_s = 30"}, "its evidence does not stand in the file"),
        ("holds", {"evidence": ""}, "its evidence does not stand in the file"),
        ("gone", {"evidence": "it is nowhere"}, "its evidence does not stand in the file"),
        (
            "changed",
            {"text": "`timeout_s` is 10 and `retries_max` is 4"},
            "it names what the file does not: retries_max",
        ),
        ("changed", {"text": ""}, "it says not what is true instead"),
    ],
)
async def test_what_the_file_does_not_bear_out_is_refused(
    make: Maker, verdict: str, fields: dict[str, Any], why: str
) -> None:
    scene = make(of_statement(verdict, **fields))
    fact = scene.fact("The timeout of the client in src/http.py is generous", "src/http.py")
    before = scene.bytes()
    answer = await scene.dream()
    assert answer["report"]["listed"]["refused"] == [{"ids": [fact], "why": why}]
    assert scene.bytes() == before


async def test_a_fact_that_holds_is_verified_and_one_that_is_gone_is_retired(make: Maker) -> None:
    scene = make(of_statement("unsure"))
    holds = scene.fact("`Client.fetch` in src/http.py retries", "src/http.py")
    gone = scene.fact("`Client.close` in src/http.py flushes", "src/http.py")
    told = [(holds, "holds", "return self.retry(times=4)"), (gone, "gone", "def fetch(self):")]
    reviews = [{"id": each, "verdict": verdict, "text": "", "evidence": quote} for each, verdict, quote in told]
    scene.seat.model = ScriptedModel([json.dumps({"reviews": reviews})])
    assert await scene.counts() == {"verified": 1, "retired": 1}
    assert [fact.id for fact in scene.store.notes.facts(str(scene.folder))] == [holds]


async def test_a_stale_note_is_reworded_but_a_decision_is_nobodys_to_reword(make: Maker) -> None:
    new = "The client gives up after 10 seconds: `timeout_s` in src/http.py."
    scene = make(of_statement("changed", text=new))
    stale = {"src/http.py": "0" * 64}
    scene.put(
        "found",
        "The client gives up after 30 seconds: `timeout_s` in src/http.py.",
        "Give-up",
        kind="root-cause",
        sources=stale,
    )
    scene.put("decided", "We wait long for slow peers: see src/http.py.", "Patience", kind="decision", sources=stale)
    assert await scene.counts() == {"reworded": 1}
    assert scene.kept("found").body == new
    assert scene.kept("found").sources != stale
    assert scene.kept("decided").sources == stale


ONE = "Releases are cut on Tuesdays by whoever is on call. The tag is v2 and the branch is `release`."
TWO = "Releases are cut on Tuesdays by whoever is on call. Dana signs the packages with her own key at home."


async def test_two_notes_that_are_nearly_one_are_merged_as_the_model_words_it(make: Maker) -> None:
    body = "Releases are cut on Tuesdays by whoever is on call; Dana signs the packages with her own key. The tag is v2, the branch `release`."
    scene = make(json.dumps({"merges": [{"pair": 1, "title": "How a release is cut and signed", "body": body}]}))
    scene.put("one", ONE, "How a release is cut")
    scene.put("two", TWO, "How a release is cut and signed")
    scene.put("citing", "See there.", "Tuesdays", refs=("one", "two"))
    assert await scene.counts() == {"merged": 1}
    (kept,) = [note for note in scene.notes.notes() if note.id in ("one", "two")]
    assert kept.body == body
    assert len(kept.supersedes) == 1
    assert scene.kept("citing").refs == (kept.id,)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("Releases are cut on Tuesdays by whoever is on call; Dana signs the packages at home.", "leaves out"),
        (f"{ONE} {TWO} The key is kept in Vault7.", "makes up"),
    ],
)
async def test_a_merged_note_that_loses_or_makes_up_what_tells_is_refused(make: Maker, body: str, why: str) -> None:
    scene = make(json.dumps({"merges": [{"pair": 1, "title": "How a release is cut", "body": body}]}))
    scene.put("one", ONE, "How a release is cut")
    scene.put("two", TWO, "How a release is cut and signed")
    before = scene.bytes()
    answer = await scene.dream()
    assert why in answer["report"]["listed"]["refused"][0]["why"]
    assert scene.bytes() == before


async def test_a_reply_out_of_shape_is_repaired_once_and_a_failing_model_ends_nothing(make: Maker) -> None:
    scene = make("I think it holds.", of_statement("unsure"), BadKey("The key is refused."))
    scene.fact("The timeout of the client in src/http.py is generous", "src/http.py")
    assert await scene.counts() == {}
    scene.put("over", "The demo is on Friday.", "Demo", expires_at_s=1.0)
    answer = await scene.dream()
    assert answer["report"]["counts"] == {"expired": 1}
    assert "The key is refused." in answer["report"]["left_undone"]["model"]


async def test_a_dry_run_and_a_spent_share_ask_no_model(make: Maker) -> None:
    scene = make(of_statement("holds"))
    scene.fact("The timeout of the client in src/http.py is generous", "src/http.py")
    answer = await scene.dream("dry-run")
    assert answer["report"]["left_undone"]["model"] == "a dry run asks no model"
    scene.set(background_budget_ratio=0.0)
    answer = await scene.dream()
    assert "share" in answer["report"]["left_undone"]["model"]
    scene.set(background_budget_ratio=0.25, dream_max_requests=0)
    assert "dream_max_requests" in (await scene.dream())["report"]["left_undone"]["model"]
    model = scene.seat.model
    assert isinstance(model, ScriptedModel)
    assert model.requests == []
