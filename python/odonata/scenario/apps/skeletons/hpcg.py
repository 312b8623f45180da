"""HPCG: conjugate gradients with a multigrid preconditioner."""

from typing import Any, Literal, Self

from pydantic import Field

from odonata.errors import InputError
from odonata.scenario.apps.grid import Cells3, Grid3, by, decided_grid
from odonata.scenario.apps.skeletons.skeleton import Skeleton, added_up, box

#: The grid of each exchange of a V-cycle, 0 is the finest: on the way down a smoother and a residual, on the coarsest
#: grid a smoother, and a smoother on the way up.
V_CYCLE = (0, 0, 1, 1, 2, 2, 3, 2, 1, 0)
#: The coarsest grid has so many times fewer cells along each axis.
COARSEST = 2 ** max(V_CYCLE)


class Hpcg(Skeleton):
    """An iteration of HPCG: 11 exchanges with 26 neighbours on four grids, and three sums.

    A V-cycle of four grids, each with half the cells of the finer one along each axis, then a product with the matrix
    on the finest grid. Each exchange sends a value in double precision of each outer cell. Sources: HPCG,
    ComputeMG_ref.cpp, CG_ref.cpp, ExchangeHalo.cpp; sends block there, here all begin at once.
    """

    motif: Literal["hpcg"]
    cells: Cells3 = Field(
        (104, 104, 104), description="cells of a rank along x, y and z, multiples of 8 (default: 104 each; hpcg.dat)"
    )
    grid: Grid3 | None = Field(None, description="ranks along x, y and z (default: as MPI_Dims_create)")

    def decided(self, ranks: int) -> Self:
        """With its grid filled in."""
        if any(along % COARSEST for along in self.cells):
            message = f"{by(self.cells)} cells cannot be halved {max(V_CYCLE)} times along each axis"
            raise InputError(message, hint=f"multiples of {COARSEST}, such as 104", path=("cells",))
        return self.model_copy(update={"grid": decided_grid(self.grid, ranks, 3)})

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """The V-cycle, a sum, the product, and two sums."""
        down = [phase for level in V_CYCLE for phase in self._exchange(level)]
        return [*down, *added_up(ranks), *self._exchange(0), *added_up(ranks), *added_up(ranks)]

    def _exchange(self, level: int) -> list[dict[str, Any]]:
        assert self.grid is not None
        return self.exchange(box(self.grid, [along >> level for along in self.cells]))
