"""Nearness in meaning: the notes' vectors, computed in the background and kept in the store, and how near a text is to them.

Nothing waits for it: where a vector is not to be had in time, search and recall go by words, and `figures` says so.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from live_memory.agent.explorers import Threads
from live_memory.clock import Clock
from live_memory.errors import StoreError
from live_memory.memory.embedding import MAX_TEXT_CHARS, Embedder, EmbeddingError
from live_memory.memory.nearest import Nearest
from live_memory.notes.vectors import Vector, cosine
from live_memory.settings import Settings
from live_memory.store.note_store import Key
from live_memory.store.note_vectors import NoteVectors, WantedText
from live_memory.text.secrets import redact

logger = logging.getLogger(__name__)

BATCH = 8  # a prompt's vector waits for no more
PAUSE_S = 3.0  # between two looks at the settings, and for notes that lack a vector
REST_RATIO = 1.0  # of the time a batch takes: half of a core is for others
RETRY_S = 30.0  # after an embedder failed
EMBED_TIMEOUT_S = 60.0
PREPARE_TIMEOUT_S = 960.0  # an installation has its own, shorter bound
NEAREST = 64
MAX_CACHED = 64
PAGE = 2000
THREADS = 2  # one for the notes, one for the prompts

State: TypeAlias = Literal["off", "installing", "starting", "on", "offline"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where vectors come from: the embedder of the settings in force, which notes lack one, and the threads to ask it in."""

    embedder_of: Callable[[Settings], Embedder | None]
    vectors: NoteVectors
    threads: Threads


class Meaning:
    """The Semantic port over an embedder. Owned by one event loop."""

    def __init__(self, source: Source, settings: Callable[[], Settings], clock: Clock) -> None:
        self._source = source
        self._settings = settings
        self._clock = clock
        self._chosen: tuple[str, ...] = ()
        self._embedder: Embedder | None = None
        self._nearest = Nearest(0.0)
        self._state: State = "off"
        self._reason = ""
        self._is_listed = False
        self._retry_at_s = 0.0
        self._asked: OrderedDict[str, Vector[float]] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Keep the vectors in step from now on, in the background."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._source.threads.close()

    @property
    def model(self) -> str:
        """What tells meanings now; empty while nothing does."""
        return self._embedder.name if self._embedder is not None and self._state == "on" else ""

    def figures(self) -> dict[str, object]:
        """What `/stats` tells."""
        if self._embedder is None:
            return {"state": "off"}
        embedded, notes = self._source.vectors.count(self._embedder.name)
        figures = {"state": self._state, "model": self._embedder.name, "embedded": embedded, "notes": notes}
        return {**figures, "reason": self._reason} if self._reason else figures

    async def near(
        self, text: str, scopes: Sequence[str], keys: Sequence[Key], within_s: float
    ) -> Mapping[Key, float] | None:
        """The notes of `keys`, and those of `scopes` that are nearest: 1 for the same meaning, about 0 for none in common.
        None when it cannot be told, or not in time."""
        embedder = self._embedder
        if embedder is None or self._state != "on":
            return None
        vector = await self._vector(embedder, redact(text)[:MAX_TEXT_CHARS], within_s)
        if vector is None or embedder is not self._embedder:
            return None
        return self._nearness(embedder.name, vector, scopes, keys)

    def near_note(self, key: Key, scopes: Sequence[str]) -> Mapping[Key, float] | None:
        """The notes of `scopes` that are nearest to a note; None when it cannot be told."""
        own = self._source.vectors.vectors(self.model, (), [key]).get(key) if self.model else None
        return None if own is None else self._nearness(self.model, own, scopes, ())

    def _nearness(
        self, model: str, vector: Vector[float], scopes: Sequence[str], keys: Sequence[Key]
    ) -> Mapping[Key, float]:
        numbers = self._nearest.numbers(scopes, vector, NEAREST)
        level = self._nearest.level(vector)
        held = self._source.vectors.vectors(model, numbers, keys)
        wanted = frozenset(keys)
        return {
            key: (cosine(vector, other) - level) / (1.0 - level)
            for key, other in held.items()
            if key in wanted or key[0] in scopes
        }

    async def _vector(self, embedder: Embedder, text: str, within_s: float) -> Vector[float] | None:
        if text in self._asked:
            self._asked.move_to_end(text)
            return self._asked[text]
        asking = self._source.threads.begin(embedder.embed, [text])
        asking.add_done_callback(lambda done: self._remember(embedder, text, done))
        await asyncio.wait({asking}, timeout=within_s)
        if not asking.done() or asking.cancelled() or asking.exception() is not None:
            return None
        return asking.result()[0]

    def _remember(self, embedder: Embedder, text: str, done: asyncio.Future[list[Vector[float]]]) -> None:
        """Keep a prompt's vector, late ones too: whoever searches for it next has it at once."""
        if done.cancelled() or embedder is not self._embedder:
            return
        error = done.exception()
        if isinstance(error, EmbeddingError):
            self._fail(error, RETRY_S)
        elif error is None:
            self._asked[text] = done.result()[0]
            while len(self._asked) > MAX_CACHED:
                self._asked.popitem(last=False)

    async def _run(self) -> None:
        while True:
            await self.step()
            await asyncio.sleep(PAUSE_S)

    async def step(self) -> None:
        """Follow the settings, and give every note that lacks one its vector."""
        self._choose()
        embedder = self._embedder
        if embedder is None or self._clock.monotonic_s() < self._retry_at_s:
            return
        try:
            await self._prepare(embedder)
            while embedder is self._embedder and (texts := self._source.vectors.wanted(BATCH)):
                await self._embed(embedder, texts)
                self._choose()
        except EmbeddingError as error:
            self._fail(error, self._settings().install_retry_s if embedder.needs_installation else RETRY_S)
        except TimeoutError:
            self._fail(EmbeddingError("it took too long"), RETRY_S)
        except StoreError as error:
            self._fail(EmbeddingError(str(error)), RETRY_S)
        except Exception:
            logger.exception("meaning failed")
            self._fail(EmbeddingError("it failed; the log says why"), RETRY_S)

    def _choose(self) -> None:
        """Take the embedder that the settings name by now."""
        settings = self._settings()
        chosen = (settings.semantic, settings.semantic_base_url, settings.semantic_model, settings.semantic_api_key)
        if chosen == self._chosen:
            return
        if self._embedder is not None:
            self._embedder.close()
        self._chosen = chosen
        self._embedder = self._source.embedder_of(settings)
        self._state, self._reason, self._retry_at_s, self._is_listed = "off", "", 0.0, False
        self._asked.clear()
        if self._embedder is not None:
            self._state = "starting"
            self._nearest = Nearest(self._embedder.level)

    async def _prepare(self, embedder: Embedder) -> None:
        if self._state == "on":
            return
        if embedder.needs_installation:
            self._state, self._reason = "installing", ""
        await self._source.threads.run(PREPARE_TIMEOUT_S, embedder.prepare)
        if embedder is not self._embedder:
            raise EmbeddingError("another one was chosen meanwhile")
        if not self._is_listed:
            self._source.vectors.want(embedder.name)
            await self._list(embedder.name)
            self._is_listed = True
        self._state, self._reason = "on", ""
        logger.info("meaning on model=%s", embedder.name)

    async def _list(self, model: str) -> None:
        """Read the signs of what is there already, a page at a time."""
        after = 0
        while page := self._source.vectors.signed(model, after, PAGE):
            self._nearest.put(page)
            if not after:
                numbers = [each.number for each in page[:NEAREST]]
                self._nearest.sample(self._source.vectors.vectors(model, numbers, ()).values())
            after = page[-1].number
            await asyncio.sleep(0)

    async def _embed(self, embedder: Embedder, texts: Sequence[WantedText]) -> None:
        said = [redact(each.text)[:MAX_TEXT_CHARS] for each in texts]
        began_s = self._clock.monotonic_s()
        vectors = await self._source.threads.run(EMBED_TIMEOUT_S, embedder.embed, said)
        if embedder is not self._embedder:
            return
        self._nearest.put(self._source.vectors.keep(embedder.name, list(zip(texts, vectors, strict=True))))
        self._nearest.sample(vectors)
        chars, took_s = sum(map(len, said)), self._clock.monotonic_s() - began_s
        logger.info("embedded model=%s notes=%d chars=%d took_s=%.2f", embedder.name, len(said), chars, took_s)
        await asyncio.sleep(REST_RATIO * (self._clock.monotonic_s() - began_s))

    def _fail(self, error: EmbeddingError, retry_s: float) -> None:
        self._state, self._reason = "offline", redact(str(error))
        self._retry_at_s = self._clock.monotonic_s() + retry_s
        logger.warning("meaning offline reason=%s retry_s=%d", self._reason, retry_s)
