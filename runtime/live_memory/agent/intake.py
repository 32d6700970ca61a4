"""Where notices of files come in: taken in the order they came, many at once where they come faster than they are read.
Whoever told of a file and hung up takes nothing back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from live_memory.agent.equipment import Equipment
from live_memory.agent.ingest import FileNotice, Ingest, News, Scope
from live_memory.agent.places import Places
from live_memory.agent.workspaces import Workspaces
from live_memory.configuration import Configuration
from live_memory.errors import QuestionError
from live_memory.window.files import Observation

logger = logging.getLogger(__name__)

READ_TIMEOUT_S = 10.0  # for a file system that hangs
GATHER_S = 0.01
CATCH_UP_S = 0.1  # what a question waits at most for what was told before it
MAX_WAITING = 20_000  # paths told of and not yet read, over all workspaces
MAX_WAITING_CHARS = 64_000_000  # of the texts that were sent along
MAX_AT_ONCE = 256  # paths of one batch


Seen: TypeAlias = tuple[Observation, int]  # with the number of the notice that it came with


@dataclass(frozen=True, slots=True)
class _Letter:
    notice: FileNotice
    taken: asyncio.Future[int]

    @property
    def chars(self) -> int:
        return sum(len(text) for text in self.notice.contents.values())


@dataclass(frozen=True, slots=True)
class _Reading:
    seen: Mapping[Path, list[Seen]]
    unread: Mapping[Path, Mapping[News, int]]


class Intake:
    """Owns the notices on their way into windows. Those from one folder keep their order."""

    def __init__(
        self, equipment: Equipment, configuration: Callable[[], Configuration], workspaces: Workspaces
    ) -> None:
        self._equipment = equipment
        self._configuration = configuration
        self._workspaces = workspaces
        self._letters: dict[str, list[_Letter]] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._waiting = self._waiting_chars = 0
        self._newest: asyncio.Future[int] | None = None

    async def take(self, notice: FileNotice) -> int:
        """How many files it brought something new of, once that is saved. QuestionError where its folder is no workspace,
        or too much waits already."""
        letter = _Letter(notice, asyncio.get_running_loop().create_future())
        if self._waiting + len(notice.paths) > MAX_WAITING or self._waiting_chars + letter.chars > MAX_WAITING_CHARS:
            raise QuestionError("busy", f"News of {self._waiting} files wait to be read: tell again later.", status=503)
        letter.taken.add_done_callback(
            lambda taken: taken.cancelled() or taken.exception()
        )  # nobody may be there to ask
        self._newest = letter.taken
        self._waiting += len(notice.paths)
        self._waiting_chars += letter.chars
        self._letters.setdefault(notice.cwd, []).append(letter)
        if notice.cwd not in self._workers:
            self._workers[notice.cwd] = asyncio.create_task(self._work(notice.cwd))
        return await asyncio.shield(letter.taken)

    async def catch_up(self) -> None:
        """Let what came in so far be read before a question, within CATCH_UP_S."""
        if self._newest is not None and not self._newest.done():
            await asyncio.wait((self._newest,), timeout=CATCH_UP_S)

    async def close(self, grace_s: float) -> None:
        """Let what came in be read for up to `grace_s`."""
        workers = tuple(self._workers.values())
        if workers:
            _, late = await asyncio.wait(workers, timeout=grace_s)
            for worker in late:
                worker.cancel()
            if late:
                await asyncio.wait(late, timeout=grace_s)

    async def _work(self, cwd: str) -> None:
        try:
            await self._deliver(cwd, self._batch(cwd))
            while self._letters.get(cwd):
                await asyncio.sleep(GATHER_S)  # they come fast: what a batch costs is shared by more of them
                await self._deliver(cwd, self._batch(cwd))
        finally:
            del self._workers[cwd]
            for letter in self._letters.pop(cwd, ()):
                self._let_go(letter)
                letter.taken.cancel()

    def _batch(self, cwd: str) -> list[_Letter]:
        """The oldest letters, as many as are read at once."""
        letters, paths, count = self._letters[cwd], 0, 0
        while count < len(letters) and (count == 0 or paths + len(letters[count].notice.paths) <= MAX_AT_ONCE):
            paths += len(letters[count].notice.paths)
            count += 1
        self._letters[cwd] = letters[count:]
        for letter in letters[:count]:
            self._let_go(letter)
        return letters[:count]

    def _let_go(self, letter: _Letter) -> None:
        self._waiting -= len(letter.notice.paths)
        self._waiting_chars -= letter.chars

    async def _deliver(self, cwd: str, batch: list[_Letter]) -> None:
        try:
            counts = await self._counts(cwd, [letter.notice for letter in batch])
            for letter, count in zip(batch, counts, strict=True):
                letter.taken.set_result(count)
        except Exception as error:  # a background task's runner: whoever told of it is told
            for letter in batch:
                letter.taken.set_exception(error)
        finally:
            for letter in batch:
                letter.taken.cancel()  # where the server ended meanwhile

    async def _counts(self, cwd: str, notices: list[FileNotice]) -> list[int]:
        configuration, counts = self._configuration(), [0] * len(notices)
        places, threads = Places(cwd, configuration), self._equipment.threads
        try:
            reading = await threads.run(READ_TIMEOUT_S, self._read, places, notices)
            for root in reading.unread:
                self._workspaces.of(root).known_window()  # from the store, which is no thread's
            late = await threads.run(READ_TIMEOUT_S, self._read_each, reading.unread) if reading.unread else {}
        except TimeoutError:
            message = f"The files of {cwd} do not answer: tell again later."
            raise QuestionError("busy", message, status=503) from None
        for root, seen in {**reading.seen, **late}.items():
            changed = self._workspaces.of(root).observe(observation for observation, _ in seen)
            numbers = {observation.path: number for observation, number in seen}
            for path in numbers.keys() & set(changed):  # others change where older texts make room
                counts[numbers[path]] += 1
            logger.info("observed root=%s notices=%d files=%d new=%d", root, len(notices), len(seen), len(changed))
        return counts

    def _read(self, places: Places, notices: list[FileNotice]) -> _Reading:
        """What the notices bring to the windows that are in memory, and what they tell of others. Blocking."""
        told = places.news(notices)
        if not places.configuration.settings.passive_ingestion:
            return _Reading({}, {})
        here = {root: news for root, news in told.items() if self._is_in_memory(root)}
        return _Reading(self._read_each(here), {root: news for root, news in told.items() if root not in here})

    def _read_each(self, told: Mapping[Path, Mapping[News, int]]) -> dict[Path, list[Seen]]:
        scope, seen = Scope.of(self._configuration().settings), {}
        for root, news in told.items():
            workspace = self._workspaces.get(root)
            if workspace is not None and workspace.known is not None:
                ingest = Ingest(workspace.freshness, scope, workspace.known, workspace.departed)
                seen[root] = [(each, number) for one, number in news.items() for each in ingest.observations(one)]
        return seen

    def _is_in_memory(self, root: Path) -> bool:
        workspace = self._workspaces.get(root)
        return workspace is not None and workspace.known is not None
