"""The laws of the window, over random histories."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from live_memory.window.budget import first_entry_below
from live_memory.window.files import FileContext
from live_memory.window.messages import Prompt, Text, ToolSpec, Turn
from live_memory.window.prompt import build_prompt, trailing_turn
from live_memory.window.window import Exchange, Window

TOOLS = (ToolSpec("Read", "Read a file.", {"type": "object"}),)
INSTRUCTIONS = "You are the memory."
texts = st.text(min_size=1, max_size=40)


@dataclass(frozen=True)
class Step:
    """A question that forks the window, and commits after `overtaken_by` others have."""

    question: str
    answer: str
    overtaken_by: int
    path: str


steps = st.builds(Step, texts, texts, st.integers(0, 3), st.sampled_from(["a.py", "b.py", "c.py"]))


def prompt_of(window: Window, question: str) -> Prompt:
    return build_prompt(INSTRUCTIONS, window, TOOLS, (trailing_turn(question, "hints"),))


def stable_blocks(prompt: Prompt) -> list[object]:
    """Everything a provider caches, in the order it is sent, without the trailing turn."""
    turns = [(turn.role, block) for turn in prompt.turns[: prompt.prefix_turns] for block in turn.blocks]
    return [prompt.tools, *prompt.system, *turns]


def commit(window: Window, number: int, step: Step) -> Window:
    file = FileContext(step.path, str(number), 1, 1, float(number))
    return window.with_exchange(Exchange(number, step.question, step.answer), (file,))


@given(st.lists(steps, max_size=12))
def test_what_stands_before_the_trailing_turn_only_ever_grows_at_its_end(history: list[Step]) -> None:
    window, earlier = Window("tree", "frozen"), stable_blocks(prompt_of(Window("tree", "frozen"), "q"))
    for number, step in enumerate(history, 1):
        window = commit(window, number, step)
        now = stable_blocks(prompt_of(window, step.question))
        assert now[: len(earlier)] == earlier
        earlier = now


@given(st.lists(steps, min_size=1, max_size=12))
def test_the_question_enters_the_history_with_the_very_block_that_was_sent_first_in_its_turn(
    history: list[Step],
) -> None:
    window = Window("tree")
    for number, step in enumerate(history, 1):
        sent = prompt_of(window, step.question)
        window = commit(window, number, step)
        kept = prompt_of(window, "next")
        assert kept.turns[sent.prefix_turns].blocks == (sent.turns[-1].blocks[0],) == (Text(step.question),)
        assert kept.turns[sent.prefix_turns + 1] == Turn("assistant", (Text(step.answer),))


@given(st.lists(steps, max_size=12))
def test_a_fork_never_alters_its_parent(history: list[Step]) -> None:
    parents: list[tuple[Window, tuple[object, ...], dict[str, FileContext]]] = []
    window = Window("tree")
    for number, step in enumerate(history, 1):
        parents.append((window, window.history.turns, dict(window.files)))
        commit(window, 1000 + number, step)  # a fork that goes its own way
        window = commit(window, number, step)
    for parent, turns, files in parents:
        assert (parent.history.turns, parent.files) == (turns, files)


@given(st.lists(steps, max_size=12), st.randoms(use_true_random=False))
def test_questions_that_commit_in_any_order_all_keep_their_pair(history: list[Step], rng: object) -> None:
    shuffled = list(enumerate(history, 1))
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    window = Window("tree")
    for number, step in shuffled:
        window = commit(window, number, step)
    assert sorted((entry.question, entry.answer) for entry in window.history.exchanges) == sorted(
        (step.question, step.answer) for step in history
    )
    assert set(window.files) == {step.path for step in history}


@given(st.lists(st.text(min_size=1, max_size=400), min_size=1, max_size=60), st.integers(0, 2000))
def test_the_newest_entries_that_fit_stay(answers: list[str], max_tokens: int) -> None:
    window = Window("tree")
    for number, answer in enumerate(answers, 1):
        window = window.with_exchange(Exchange(number, "q", answer))
    first = first_entry_below(window, max_tokens)
    assert first is not None
    shorter = window.without_before(first)
    assert shorter.left_out + len(shorter.history.entries) == len(answers)
    assert shorter.history.tokens <= max_tokens
    assert shorter.history.entries == window.history.entries[shorter.left_out :]
    if shorter.left_out:
        assert window.without_before(first - 1).history.tokens > max_tokens


def test_an_empty_frozen_block_is_not_sent() -> None:
    assert prompt_of(Window("tree"), "q").system == ("You are the memory.\n\n<tree>\ntree\n</tree>",)
    assert prompt_of(Window("tree", "frozen"), "q").system == ("You are the memory.\n\n<tree>\ntree\n</tree>", "frozen")
