"""Vectors: directions that compare, and signs that tell roughly as much."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.vectors import cosine, packed, signs, unit, unpacked

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40).filter(
    lambda values: any(abs(v) > 1e-3 for v in values)
)


@given(VALUES)
def test_a_vector_has_length_one_and_survives_being_packed(values: list[float]) -> None:
    vector = unit(values)
    assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-5)
    assert cosine(unpacked(packed(vector)), vector) == pytest.approx(1.0, abs=1e-3)


@given(VALUES)
def test_the_opposite_direction_differs_in_every_sign_that_is_not_zero(values: list[float]) -> None:
    one, other = unit(values), unit(-value for value in values)
    assert (signs(one) ^ signs(other)).bit_count() == sum(value != 0 for value in one)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [math.inf], [math.nan]])
def test_what_has_no_direction_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="no length"):
        unit(values)


def test_vectors_of_different_models_have_nothing_in_common() -> None:
    assert cosine(unit([1.0]), unit([1.0, 0.0])) == 0.0
