"""Process grids are those of MPI_Dims_create."""

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from odonata.scenario.apps.grid import dims_create


def test_known_grids():
    known = {
        (1, 3): (1, 1, 1),
        (6, 2): (3, 2),
        (7, 2): (7, 1),
        (7, 3): (7, 1, 1),
        (12, 2): (4, 3),
        (16, 2): (4, 4),
        (24, 3): (4, 3, 2),
        (36, 3): (4, 3, 3),
        (64, 3): (4, 4, 4),
        (72, 3): (6, 4, 3),
        (1056, 2): (33, 32),
        (2304, 3): (16, 12, 12),
    }
    assert {case: dims_create(*case) for case in known} == known


@given(st.integers(1, 3_000), st.integers(1, 3))
def test_grids_fall_and_no_other_is_flatter(ranks, dimensions):
    grid = dims_create(ranks, dimensions)
    assert prod(grid) == ranks
    assert len(grid) == dimensions
    assert list(grid) == sorted(grid, reverse=True)
    if dimensions == 2:
        assert grid[0] == min(d for d in range(1, ranks + 1) if ranks % d == 0 and d * d >= ranks)
