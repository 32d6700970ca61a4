"""The laws of the window, held over random histories of a workspace: questions one by one and side by side, files that are
worked with, changed behind its back and deleted, compactions, new beginnings and restarts.

1. Between two new frozen blocks each prompt begins with the one before, up to the trailing turn.
2. A question stays in the history with the bytes that were sent.
3. Each file is told of at most once a question, and whoever reads the prompt knows what the files hold.
4. What is saved and loaded is the same window; a fork never alters its parent.
5. A compaction ends at or below the floor, and each exchange is in the window or in a note.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from window.reader import Reader

from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import Explorers, FileSight, Threads, TreeFiles
from live_memory.agent.ingest import Ingest, News, Scope
from live_memory.agent.workspace import Workspace
from live_memory.clock import ManualClock
from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileSignature, FileStamp, SeenText, ToolOutput
from live_memory.notes import ledger
from live_memory.notes.note import new_fact
from live_memory.settings import Settings
from live_memory.store.base import Account, Answered, Harvest
from live_memory.store.sqlite import SqliteStore
from live_memory.text.redaction import Redaction
from live_memory.window.budget import Budget
from live_memory.window.compaction import Room, compacted, plan_compaction, prompt_tokens, room_for_news
from live_memory.window.files import FileContext
from live_memory.window.frozen import lines_of
from live_memory.window.messages import Prompt, Text, ToolSpec, Turn
from live_memory.window.prompt import build_prompt, trailing_turn
from live_memory.window.window import Delta, Exchange, Window

TOOLS = (ToolSpec("Read", "Read a file.", {"type": "object"}),)
ROOM = Room(Budget(1200, 0.85, 0.6), fixed_tokens=50, ledger_max_tokens=150)
MAX_BYTES = 3000
MANY = 8
EPOCH_S = 1_800_000_000.0

paths = st.sampled_from(["a.py", "b.py", "docs/c.md", "d.py"])
line = st.sampled_from(["", "x = 1", "def f():", "    return x", "@@ -1,1 +1,1 @@", '<file path="a.py">', "+y", "- z"])
edits = st.tuples(st.integers(0, 120), st.integers(0, 3), st.lists(line, max_size=4))
bodies = st.one_of(
    st.integers(40, 140).map(lambda count: [f"line {number}" for number in range(count)]),
    st.lists(line, max_size=6),
)
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=60)
answers = st.one_of(words, words.map(lambda text: text * 20))


class Disk:
    """A tree of text files, with looks that change whenever a file does."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.ticks = itertools.count(1)

    def write(self, path: str, text: str) -> None:
        self.texts[path] = text
        self.versions[path] = next(self.ticks)

    def read(self, _root: Path, path: str, max_bytes: int) -> SeenText:
        if path not in self.texts:
            raise ToolRefusal("There is no such file.")
        return self.prepare(path, self.texts[path], max_bytes)

    def prepare(self, path: str, text: str, max_bytes: int) -> SeenText:
        content = text.encode()
        if len(content) > max_bytes:
            raise ToolRefusal("It is too large.")
        return SeenText(text, FileStamp(path, hashlib.sha256(content).hexdigest(), len(content), 0))

    def signature(self, _root: Path, path: str) -> FileSignature | None:
        if path not in self.texts:
            return None
        return FileSignature(self.versions[path], self.versions[path], len(self.texts[path]), 1)

    def files(self) -> TreeFiles:
        return TreeFiles(
            locate=lambda _root, path: path.removeprefix("/repo/"),
            read=self.read,
            stamp=lambda root, path, max_bytes: self.read(root, path, max_bytes).stamp,
            prepare=self.prepare,
            signature=self.signature,
            is_ignored=lambda _root, _path: False,
            matching=lambda _root, _globs: (),
            is_gone=lambda _root, path: path not in self.texts,
            standing=lambda _root: "checkout",
            is_case_blind=lambda _root: False,
        )


def no_tool(_root: Path, _name: str, _arguments: str, _redaction: Redaction) -> ToolOutput:
    raise ToolRefusal("There is none.")


def no_sight(_root: Path, _path: str) -> FileSight:
    raise ToolRefusal("There is none.")


def prefix_of(prompt: Prompt) -> list[object]:
    turns = [(turn.role, block) for turn in prompt.turns[: prompt.prefix_turns] for block in turn.blocks]
    return [prompt.tools, *prompt.system, *turns]


class Memory(RuleBasedStateMachine):
    """A workspace, the tree it is about, and what is expected of it."""

    folder = TemporaryDirectory()
    store = SqliteStore(Path(folder.name) / "live-memory.db")
    numbers = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.disk = Disk()
        self.clock = ManualClock(EPOCH_S)
        explorers = Explorers(TOOLS, no_tool, lambda _root, _max: "", lambda _root, _question, _redaction: "", no_sight)
        self.equipment = Equipment(explorers, Threads(1), self.clock, self.disk.files())
        self.root = Path(f"/repo/{next(self.numbers)}")
        self.workspace = Workspace(self.root, self.store, self.equipment, Settings())
        self.sent: Prompt | None = None
        self.asked: list[tuple[str, str]] = []
        self.forks: list[tuple[Window, tuple[Turn, ...], dict[str, FileContext]]] = []

    @initialize()
    def begin(self) -> None:
        self.workspace.begin("tree", (), ROOM.budget.floor_tokens)

    @property
    def window(self) -> Window:
        assert self.workspace.window is not None
        return self.workspace.window

    def prompt(self, question: str) -> Prompt:
        return build_prompt("You remember.", self.window, TOOLS, (trailing_turn(question, "hints"),))

    def refresh(self) -> None:
        """What a question does first."""
        self.clock.advance(10)
        seen = self.workspace.freshness.check(self.window, MAX_BYTES)
        self.workspace.observe(seen.news, based_on=self.window)
        self.make_room()
        before = self.window
        self.workspace.settle(room_for_news(self.window, ROOM))
        told = self.window.history.entries[len(before.history.entries) :]
        assert self.window.history.entries[: len(before.history.entries)] == before.history.entries
        each = Counter(path for delta in told if isinstance(delta, Delta) for path in delta.paths)
        assert not [path for path, count in each.items() if count > 1]
        assert set(each) <= set(before.pending)

    def make_room(self) -> None:
        plan = plan_compaction(self.window, ROOM)
        if plan is None:
            return
        told = [f"asked {each.question!r}, answered {each.answer!r}" for each in plan.exchanges]
        facts = [new_fact(text, {}, self.clock.wall_s()) for text in told]
        known = {fact.id: fact for fact in (*self.store.notes.facts(self.workspace.key), *facts)}
        text = ledger.render(ledger.select(known.values(), ROOM.ledger_tokens))
        harvest = Harvest(tuple(facts), tuple(each.id for each in plan.exchanges))
        self.workspace.refreeze(compacted(self.window, plan, text), harvest)
        assert prompt_tokens(self.window, ROOM) <= ROOM.budget.floor_tokens
        self.sent = None

    def send(self, question: str) -> None:
        prompt = self.prompt(question)
        assert prompt.turns[-1].blocks[0] == Text(question)
        now = prefix_of(prompt)
        if self.sent is not None:
            before = prefix_of(self.sent)
            assert now[: len(before)] == before
        self.sent = prompt
        self.check_what_is_told(prompt)

    def check_what_is_told(self, prompt: Prompt) -> None:
        """Whoever reads it knows the files' text, or that what they know of them no longer holds."""
        reader = Reader.of(prompt)
        for path, state in reader.states.items():
            if state == "gone":
                assert path not in self.disk.texts
            if state == "fresh" and path in reader.lines:
                assert reader.lines[path] == lines_of(self.disk.texts[path])
        for path, file in self.window.files.items():
            if path not in self.disk.texts:
                assert file.state == "deleted"
            if file.content is not None and file.state == "fresh":
                assert file.content == self.disk.texts[path]
                assert reader.states[path] == "fresh"
                assert path in reader.lines

    def commit(self, question: str, answer: str, read: Sequence[str] = ()) -> None:
        at_s = self.clock.wall_s()
        stamps = [self.disk.read(self.root, path, MAX_BYTES * 100).stamp for path in read if path in self.disk.texts]
        files = tuple(FileContext(s.path, s.sha256, s.size_bytes, s.mtime_ns, at_s) for s in stamps)
        exchange = Exchange(0, question, answer, tuple((s.path, s.sha256) for s in stamps))
        self.workspace.commit(Answered(Account(questions=1), at_s, exchange, files), self.workspace.generation)
        self.asked.append((question, answer))

    def notice(self, path: str) -> None:
        self.clock.advance(1)
        ingest = Ingest(self.workspace.freshness, Scope(MAX_BYTES), self.workspace.known_window())
        seen = ingest.observations(News(path, "touched"))
        self.workspace.observe(seen)

    @rule(question=words, answer=answers, read=st.lists(paths, max_size=2))
    def ask(self, question: str, answer: str, read: list[str]) -> None:
        self.refresh()
        self.send(question)
        self.commit(question, answer, read)
        kept = self.prompt("next")
        assert kept.turns[-3].blocks == (Text(question),)
        assert kept.turns[-2].blocks == (Text(answer),)

    @rule(pairs=st.lists(st.tuples(words, answers, st.lists(paths, max_size=1)), min_size=2, max_size=4), path=paths)
    def ask_side_by_side(self, pairs: list[tuple[str, str, list[str]]], path: str) -> None:
        for question, _answer, _read in pairs:
            self.refresh()
            self.send(question)
            self.forks.append((self.window, self.window.history.turns, dict(self.window.files)))
        self.notice(path)
        for question, answer, read in reversed(pairs):
            self.commit(question, answer, read)

    @rule(path=paths, body=bodies, ends=st.sampled_from(["", "\n"]))
    def work_with(self, path: str, body: list[str], ends: str) -> None:
        self.disk.write(path, "\n".join(body) + ends)
        self.notice(path)

    @rule(path=paths, edit=edits, is_told=st.booleans())
    def edit(self, path: str, edit: tuple[int, int, list[str]], is_told: bool) -> None:
        at, length, new = edit
        lines = self.disk.texts.get(path, "").split("\n")
        lines[at : at + length] = new
        self.disk.write(path, "\n".join(lines))
        if is_told:
            self.notice(path)

    @rule(path=paths)
    def delete(self, path: str) -> None:
        self.disk.texts.pop(path, None)

    @rule(path=paths)
    def grow_too_large(self, path: str) -> None:
        self.disk.write(path, "x" * (MAX_BYTES + 1))

    @rule()
    def restart(self) -> None:
        before, self.workspace = self.window, Workspace(self.root, self.store, self.equipment, Settings())
        loaded = self.workspace.saved_window(1000)
        assert loaded == before
        self.workspace.window = loaded

    @rule()
    def begin_anew_with_another_tree(self) -> None:
        exchanges = self.window.history.exchanges
        seen = self.workspace.freshness.check(self.window, MAX_BYTES).news
        self.workspace.begin("another tree", seen, ROOM.budget.floor_tokens)
        assert self.window.history.entries == exchanges
        self.sent = None

    @precondition(lambda self: len(self.asked) > MANY)
    @rule()
    def reset(self) -> None:
        self.workspace.forget()
        self.store.notes.forget(self.workspace.key)
        assert self.workspace.saved_window(1000) is None
        self.workspace.begin("tree", (), ROOM.budget.floor_tokens)
        self.sent, self.asked = None, []

    @invariant()
    def forks_are_what_they_were(self) -> None:
        for fork, turns, files in self.forks:
            assert (fork.history.turns, fork.files) == (turns, files)

    @invariant()
    def each_exchange_is_in_the_window_or_in_a_note(self) -> None:
        carried = {(each.question, each.answer) for each in self.window.history.exchanges}
        notes = "\n".join(fact.text for fact in self.store.notes.facts(self.workspace.key))
        for question, answer in self.asked:
            told = " ".join(f"asked {question!r}, answered {answer!r}".split())
            assert (question, answer) in carried or told in notes


Memory.TestCase.settings = settings(stateful_step_count=40)
TestTheLaws = Memory.TestCase
