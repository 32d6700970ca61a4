"""Search and recall by meaning: what no shared word would find, and words alone where meaning fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from live_memory.agent.explorers import Threads
from live_memory.clock import ManualClock
from live_memory.embed.scripted import ScriptedEmbedder
from live_memory.memory.embedding import Embedder
from live_memory.memory.meaning import RETRY_S, Meaning, Source
from live_memory.memory.place import Place
from live_memory.memory.recall import Recall
from live_memory.memory.search import Search, SearchQuery
from live_memory.notes.note import Note
from live_memory.notes.vectors import Vector
from live_memory.settings import Settings
from live_memory.store.note_store import Change
from live_memory.store.sqlite import SqliteStore

REPO, ROOT = "git:example.com/owner/name", Path("/code/name")
PLACE = Place(ROOT, REPO)
CART = Note(REPO, "cart", "decision", "Baskets are kept for thirty days", "Shoppers come back late.")
HORN = Note(REPO, "horn", "decision", "The horn sounds in fog", "Twice a minute.")
LAMP = Note(REPO, "lamp", "decision", "The lamp burns oil", "Whale oil.")
MEANINGS = {"basket": 0, "carrello": 0, "horn": 1, "sirena": 1, "lamp": 2, "faro": 2}
ITALIAN = "quanto dura il carrello di un cliente"
T = TypeVar("T")


class NoStates:
    async def states(self, notes: Sequence[Note], place: Place, within_s: float = 1.0) -> dict[str, str]:
        return {}


class Scene:
    """A store with three notes, and meaning over a scripted embedder."""

    def __init__(self, folder: Path, embedder: Embedder | None = None) -> None:
        self.store = SqliteStore(folder / "live-memory.db")
        self.store.note_store.apply([Change("create", None, note, 1.0, "test") for note in (CART, HORN, LAMP)])
        self.clock, self.settings = ManualClock(), Settings(semantic="local")
        self.scripted = ScriptedEmbedder(MEANINGS)
        self.embedder: Embedder = embedder or self.scripted
        self.made = 0
        source = Source(self._made, self.store.note_vectors, Threads(2))
        self.meaning = Meaning(source, lambda: self.settings, self.clock)
        self.search = Search(self.store.note_store, self.clock, lambda: self.settings, self.meaning)
        self.recall = Recall(self.store.note_store, NoStates(), self.clock, lambda: self.settings, self.meaning)

    def _made(self, settings: Settings) -> Embedder | None:
        self.made += 1
        return None if settings.semantic == "off" else self.embedder

    async def found(self, text: str) -> list[tuple[str, str]]:
        hits = await self.search.find(PLACE, SearchQuery(text))
        return [(hit.note.id, hit.stage) for hit in hits]

    async def recalled(self, prompt: str) -> list[str]:
        recalled = await self.recall.recall(PLACE, prompt, "")
        await self.recall.settled()
        return [note.id for note in recalled.notes]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    asyncio.run(scene.meaning.close())
    scene.store.close()


async def after_step(scene: Scene, wanted: Awaitable[T]) -> T:
    await scene.meaning.step()
    return await wanted


def test_a_note_is_found_by_what_it_means_where_no_word_is_shared(scene: Scene) -> None:
    assert asyncio.run(after_step(scene, scene.found(ITALIAN)))[0] == ("cart", "semantic")
    assert asyncio.run(after_step(scene, scene.recalled(ITALIAN))) == ["cart"]


def test_who_asks_for_much_nearness_is_given_no_note_that_is_less_near(scene: Scene) -> None:
    async def found(nearness: float) -> list[str]:
        query = SearchQuery("carrello sirena", nearness=nearness)
        return [hit.note.id for hit in await scene.search.find(PLACE, query) if hit.stage == "semantic"]

    assert sorted(asyncio.run(after_step(scene, found(0.5)))) == ["cart", "horn"]
    assert asyncio.run(after_step(scene, found(0.9))) == []


def test_a_prompt_that_means_something_else_is_given_nothing(scene: Scene) -> None:
    assert asyncio.run(after_step(scene, scene.recalled("rename this variable to something clearer"))) == []


def test_turned_off_nothing_is_asked_and_words_find_what_they_find(scene: Scene) -> None:
    scene.settings = replace(scene.settings, semantic="off")
    assert asyncio.run(after_step(scene, scene.found("fog horn"))) == [("horn", "bm25")]
    assert scene.scripted.asked == []
    assert scene.meaning.figures() == {"state": "off"}


def test_figures_say_how_many_notes_have_a_vector(scene: Scene) -> None:
    asyncio.run(scene.meaning.step())
    assert scene.meaning.figures() == {"state": "on", "model": "scripted", "embedded": 3, "notes": 3}


def test_a_note_is_read_once_and_again_when_it_changes(scene: Scene) -> None:
    async def twice() -> None:
        await scene.meaning.step()
        await scene.meaning.step()

    asyncio.run(twice())
    assert len(scene.scripted.asked) == 3
    changed = replace(HORN, body="Once a minute.")
    scene.store.note_store.apply([Change("update", HORN, changed, 2.0, "test")])
    asyncio.run(scene.meaning.step())
    assert scene.scripted.asked[3:] == ["The horn sounds in fog\nOnce a minute."]


def test_an_embedder_sees_no_secret(scene: Scene) -> None:
    secret = "ghp_" + "a1B2" * 9
    held = replace(HORN, id="held", body=f"The token is {secret}.")
    scene.store.note_store.apply([Change("create", None, held, 2.0, "test")])
    asyncio.run(after_step(scene, scene.found(f"where does {secret} belong")))
    assert len(scene.scripted.asked) == 5
    assert not any(secret in text for text in scene.scripted.asked)


def test_offline_words_find_what_they_find_and_it_is_said_and_tried_again(scene: Scene) -> None:
    scene.scripted.failure = "the index cannot be reached"
    assert asyncio.run(after_step(scene, scene.found("fog horn"))) == [("horn", "bm25")]
    figures = scene.meaning.figures()
    assert (figures["state"], figures["reason"]) == ("offline", "the index cannot be reached")
    scene.scripted.failure = ""
    asyncio.run(scene.meaning.step())
    assert scene.meaning.figures()["state"] == "offline"
    scene.clock.advance(RETRY_S)
    asyncio.run(scene.meaning.step())
    assert scene.meaning.figures() == {"state": "on", "model": "scripted", "embedded": 3, "notes": 3}


def test_an_installation_that_failed_is_tried_again_as_late_as_the_servers_own(scene: Scene) -> None:
    scene.scripted.needs_installation, scene.scripted.failure = True, "offline"
    asyncio.run(scene.meaning.step())
    scene.scripted.failure = ""
    scene.clock.advance(RETRY_S)
    asyncio.run(scene.meaning.step())
    assert scene.meaning.figures()["state"] == "offline"
    scene.clock.advance(scene.settings.install_retry_s)
    asyncio.run(scene.meaning.step())
    assert scene.meaning.figures()["state"] == "on"


def test_a_prompt_whose_vector_fails_goes_by_words(scene: Scene) -> None:
    async def asked() -> list[tuple[str, str]]:
        await scene.meaning.step()
        scene.scripted.failure = "gone"
        return await scene.found("fog horn")

    assert asyncio.run(asked()) == [("horn", "bm25")]
    assert scene.meaning.figures()["state"] == "offline"


def test_other_settings_bring_another_embedder_and_close_the_one_before(scene: Scene) -> None:
    asyncio.run(scene.meaning.step())
    first, scene.embedder = scene.scripted, ScriptedEmbedder(MEANINGS, name="other")
    scene.settings = replace(scene.settings, semantic_model="other")
    asyncio.run(scene.meaning.step())
    assert first.is_closed
    assert scene.meaning.figures() == {"state": "on", "model": "other", "embedded": 3, "notes": 3}
    assert scene.made == 2


def test_a_restart_finds_the_vectors_that_are_there(tmp_path: Path) -> None:
    first = Scene(tmp_path)
    asyncio.run(first.meaning.step())
    again = Meaning(
        Source(lambda _: first.scripted, first.store.note_vectors, Threads(2)), lambda: first.settings, first.clock
    )
    asyncio.run(again.step())
    near = asyncio.run(again.near(ITALIAN, [REPO], (), 1.0))
    assert near is not None
    assert max(near, key=lambda key: near[key]) == (REPO, "cart")
    assert len(first.scripted.asked) == 4
    for meaning in (first.meaning, again):
        asyncio.run(meaning.close())
    first.store.close()


class Slow(ScriptedEmbedder):
    """Answers a prompt only when let go."""

    gate = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[Vector[float]]:
        if texts[0] == ITALIAN:
            self.gate.wait(10.0)
        return ScriptedEmbedder.embed(self, texts)


def test_a_vector_that_comes_late_is_not_waited_for_and_serves_the_next(tmp_path: Path) -> None:
    slow = Slow(MEANINGS)
    scene = Scene(tmp_path, slow)

    async def asked() -> tuple[object, object]:
        await scene.meaning.step()
        late = await scene.meaning.near(ITALIAN, [REPO], (), 0.0)
        slow.gate.set()
        await scene.meaning.near("sirena", [REPO], (), 10.0)  # its turn comes after
        return late, await scene.meaning.near(ITALIAN, [REPO], (), 10.0)

    late, then = asyncio.run(asked())
    assert late is None
    assert then
    asyncio.run(scene.meaning.close())
    scene.store.close()
