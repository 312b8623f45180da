"""Nekbone: conjugate gradients on spectral elements."""

from typing import Any, Literal, Self

from pydantic import Field

from odonata.document import Count
from odonata.scenario.apps.grid import Cells3, Grid3, decided_grid
from odonata.scenario.apps.skeletons.skeleton import Skeleton, added_up, box


class Nekbone(Skeleton):
    """An iteration of Nekbone: an exchange of the points that ranks share, and three sums.

    A rank has a box of elements with `points` along each edge, of which neighbours share those between them: the box
    has elements x (points - 1) + 1 points along an axis. Sources: Nekbone, cg.f, prox_dssum.f and test/example1
    (data.rea); that it exchanges in pairs, of the three ways that its library tries, is assumed.
    """

    motif: Literal["nekbone"]
    elements: Cells3 = Field(
        (10, 10, 10), description="elements of a rank along x, y and z (default: 10 each, 1,000; example1)"
    )
    points: Count = Field(8, description="points along an edge of an element, nx1 (default: 8; example1)")
    grid: Grid3 | None = Field(None, description="ranks along x, y and z (default: as MPI_Dims_create)")

    def decided(self, ranks: int) -> Self:
        """With its grid filled in."""
        return self.model_copy(update={"grid": decided_grid(self.grid, ranks, 3)})

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """A sum, the exchange, and two sums."""
        assert self.grid is not None
        shared = box(self.grid, [along * (self.points - 1) + 1 for along in self.elements])
        return [*added_up(ranks), *self.exchange(shared), *added_up(ranks), *added_up(ranks)]
