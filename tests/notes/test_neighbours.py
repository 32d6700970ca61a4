"""Which texts are compared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.neighbours import neighbours

TEXTS = st.dictionaries(st.integers(0, 40), st.frozensets(st.sampled_from("abcdefghijklmnop"), max_size=8), max_size=30)


def pairs(texts: dict[int, frozenset[str]]) -> list[tuple[int, int]]:
    return [(one, other) for one, others in neighbours(texts) for other in others]


def test_who_shares_rare_words_is_found_among_many() -> None:
    texts = {number: frozenset((f"own{number}", f"more{number}", "common")) for number in range(500)}
    texts[3] = frozenset(("quokka", "wombat", "common", "own3"))
    texts[400] = frozenset(("quokka", "wombat", "common", "own400"))
    found = pairs(texts)
    assert (3, 400) in found
    assert len(found) < 10 * len(texts)


def test_a_flood_of_the_same_text_is_compared_with_its_next_alone() -> None:
    found = pairs({number: frozenset(("one", "and", "the", "same")) for number in range(300)})
    assert {(number, number + 1) for number in range(299)} <= set(found)
    assert len(found) < 4 * 300


@given(TEXTS)
def test_each_pair_comes_once_and_none_with_itself(texts: dict[int, frozenset[str]]) -> None:
    found = pairs(texts)
    assert len(set(map(frozenset, found))) == len(found)
    assert all(one != other for one, other in found)
