"""Where notices of files come in: taken in the order they came, many at once where they come faster than they are read.
Whoever told of a file and hung up takes nothing back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from live_memory.agent.equipment import Equipment
from live_memory.agent.ingest import FileNotice, Ingest, News, Scope
from live_memory.agent.places import Places
from live_memory.agent.workspace import Workspace
from live_memory.errors import QuestionError
from live_memory.settings import Configuration
from live_memory.window.files import Observation

logger = logging.getLogger(__name__)

PLACE_TIMEOUT_S = 5.0  # for folders on a file system that hangs
READ_TIMEOUT_S = 10.0
MAX_WAITING = 20_000  # paths told of and not yet read, over all workspaces
MAX_AT_ONCE = 256  # paths of one batch: what a question waits for that comes meanwhile


@dataclass(frozen=True, slots=True)
class _Letter:
    notice: FileNotice
    taken: asyncio.Future[int]


class Intake:
    """Owns the notices on their way into windows. Those from one folder keep their order."""

    def __init__(
        self,
        equipment: Equipment,
        configuration: Callable[[], Configuration],
        workspace: Callable[[Path], Workspace],
    ) -> None:
        self._equipment = equipment
        self._configuration = configuration
        self._workspace = workspace
        self._letters: dict[str, list[_Letter]] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._waiting = 0

    async def take(self, notice: FileNotice) -> int:
        """How many files it brought something new of, once that is saved. QuestionError where its folder is no workspace,
        or too much waits already."""
        if self._waiting + len(notice.paths) > MAX_WAITING:
            raise QuestionError("busy", f"News of {self._waiting} files wait to be read: tell again later.", status=503)
        letter = _Letter(notice, asyncio.get_running_loop().create_future())
        letter.taken.add_done_callback(
            lambda taken: taken.cancelled() or taken.exception()
        )  # nobody may be there to ask
        self._waiting += len(notice.paths)
        self._letters.setdefault(notice.cwd, []).append(letter)
        if notice.cwd not in self._workers:
            self._workers[notice.cwd] = asyncio.create_task(self._work(notice.cwd))
        return await asyncio.shield(letter.taken)

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
            while self._letters.get(cwd):
                await self._deliver(cwd, self._batch(cwd))
        finally:
            del self._workers[cwd]
            for letter in self._letters.pop(cwd, ()):
                self._waiting -= len(letter.notice.paths)
                letter.taken.cancel()

    def _batch(self, cwd: str) -> list[_Letter]:
        """The oldest letters, as many as are read at once."""
        letters, paths, count = self._letters[cwd], 0, 0
        while count < len(letters) and (count == 0 or paths + len(letters[count].notice.paths) <= MAX_AT_ONCE):
            paths += len(letters[count].notice.paths)
            count += 1
        self._letters[cwd] = letters[count:]
        self._waiting -= paths
        return letters[:count]

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
        threads, places = self._equipment.threads, Places(cwd, configuration)
        try:
            told = await threads.run(PLACE_TIMEOUT_S, places.news, notices)
        except TimeoutError:
            raise _too_slow(cwd) from None
        if not configuration.settings.passive_ingestion:
            return counts
        for root, news in told.items():
            workspace = self._workspace(root)
            async with workspace.ingesting:
                ingest = Ingest(
                    workspace.freshness,
                    Scope.of(configuration.settings),
                    workspace.known_window(),
                    dict(workspace.departed),
                )
                try:
                    seen = await threads.run(READ_TIMEOUT_S, _observations, ingest, news)
                except TimeoutError:
                    raise _too_slow(str(root)) from None
                changed = workspace.observe(observation for observation, _ in seen)
            numbers = {observation.path: number for observation, number in seen}
            for path in changed:
                counts[numbers[path]] += 1
            logger.info("observed root=%s paths=%d new=%d", root, len(news), len(changed))
        return counts


def _observations(ingest: Ingest, told: dict[News, int]) -> list[tuple[Observation, int]]:
    """What the news bring, each with the number of the notice that it came with. Blocking."""
    return [(seen, number) for news, number in told.items() for seen in ingest.observations(news)]


def _too_slow(place: str) -> QuestionError:
    return QuestionError("busy", f"The files of {place} do not answer: tell again later.", status=503)
