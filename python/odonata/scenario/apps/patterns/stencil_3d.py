"""Stencil in three dimensions: six messages to the neighbours in a periodic grid (K15)."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from odonata.document import input_error_as_problem
from odonata.errors import InputError
from odonata.scenario.apps.app import Ranks
from odonata.scenario.apps.patterns.pattern import LoadedPattern


def _grid(value: Any) -> tuple[int, ...]:
    right = isinstance(value, list | tuple) and len(value) == 3
    if not right or not all(type(n) is int and 1 <= n < 2**32 for n in value):
        raise InputError(f"expected three numbers of ranks such as [12, 12, 16], found `{value!r}`")
    return tuple(value)


class Stencil3d(LoadedPattern):
    """At every interval each rank sends one message to each of its six neighbours.

    The grid is periodic and x runs fastest. Source: K15; the grid of 12 x 12 x 16 for 2,304
    ranks is its authors'.
    """

    pattern: Literal["stencil-3d"]
    grid: Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_grid))] | None = Field(
        None, description="ranks along x, y and z (default: as near to a cube as possible)"
    )

    def per_interval(self) -> int:
        """One to each neighbour."""
        return 6

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The grid, whose product is the number of ranks."""
        grid = self.grid or near_cubic(ranks.count)
        x, y, z = grid
        if x * y * z != ranks.count:
            raise InputError(
                f"a grid of {x} x {y} x {z} has {x * y * z} points for {ranks.count} ranks",
                hint="{} x {} x {} would fit".format(*near_cubic(ranks.count)),
                path=("grid",),
            )
        return {"grid": list(grid)}


def near_cubic(ranks: int) -> tuple[int, int, int]:
    """The grid of that many points with the smallest surface, in ascending order."""
    best, least = (1, 1, ranks), 2 * ranks + 1
    x = 1
    while x**3 <= ranks:
        if ranks % x == 0:
            rest = ranks // x
            y = next(y for y in range(int(rest**0.5) + 1, 0, -1) if rest % y == 0)
            sides = sorted((x, y, rest // y))
            surface = sides[0] * sides[1] + sides[1] * sides[2] + sides[0] * sides[2]
            if surface < least:
                best, least = (sides[0], sides[1], sides[2]), surface
        x += 1
    return best
