"""Neighbours of a job: who sends through its leaf switches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.allocation.neighbours import neighbours


def leaf(node: int) -> int:
    return node // 4


def test_by_hand() -> None:
    mine = [0, 1, 4]
    # Two nodes of four on leaf 0, so each counts a half; a job on leaf 0 alone counts nothing; leaf 2 is not mine.
    assert neighbours(mine, [[2, 3, 8, 12]], leaf) == pytest.approx(2 / 3 * 2 * (1 - 2 / 4))
    assert neighbours(mine, [[2, 3]], leaf) == 0
    assert neighbours(mine, [[8, 12]], leaf) == 0
    assert neighbours([4, 5], [[2, 3, 6], [7, 8]], leaf) == pytest.approx(1 * (1 - 1 / 3) + 1 * (1 - 1 / 2))
    assert neighbours([], [[1, 5]], leaf) == 0


@given(
    st.lists(st.integers(0, 40), min_size=1, unique=True),
    st.lists(st.lists(st.integers(0, 40), min_size=1, unique=True), max_size=4),
)
def test_jobs_add_up_and_never_count_more_than_their_nodes(mine: list[int], jobs: list[list[int]]) -> None:
    total = neighbours(mine, jobs, leaf)
    assert total == pytest.approx(sum(neighbours(mine, [job], leaf) for job in jobs))
    assert 0 <= total <= sum(map(len, jobs))
    assert neighbours(mine, jobs, lambda _: 0) == 0
