"""MILC: conjugate gradients of quarks on a lattice of four dimensions."""

from math import prod
from typing import Any, Literal, Self

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.grid import Cells4, Grid4, by, decided_grid
from odonata.scenario.apps.skeletons.skeleton import Skeleton, added_up

#: Numbers of a vector: three complex ones.
VECTOR = 6
#: Layers of sites that a neighbour needs: one for the nearest sites, and three for the third nearest.
LAYERS = (1, 3)


class Milc(Skeleton):
    """A step of MILC's solver (su3_rmd): two exchanges with eight neighbours in four dimensions, and two sums.

    The matrix is applied to the even sites and to the odd ones. Each time a rank sends each neighbour the vectors of
    the nearest sites and of the third nearest, in two messages of half their bytes each (in MILC the second is three
    times the first). The lattice is periodic. Sources: MILC, dslash_fn.c and d_congrad5_fn_milc.c (asqtad).
    """

    motif: Literal["milc"]
    sites: Cells4 = Field(
        (9, 9, 9, 18),
        description="sites of a rank along x, y, z and t "
        "(default: 9, 9, 9, 18: 36 x 36 x 36 x 72 on 256 ranks, NERSC's medium benchmark)",
    )
    width: Count = Field(4, description="bytes of a number (default: 4, single precision; assumed)")
    grid: Grid4 | None = Field(None, description="ranks along x, y, z and t (default: as MPI_Dims_create)")

    def decided(self, ranks: int) -> Self:
        """With its grid filled in."""
        if min(self.sites) < max(LAYERS):
            message = f"ranks of {by(self.sites)} sites would need sites from beyond their neighbours"
            raise InputError(message, hint=f"{max(LAYERS)} sites or more along each axis", path=("sites",))
        return self.model_copy(update={"grid": decided_grid(self.grid, ranks, 4)})

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Two exchanges, and two sums."""
        pairs = self._pairs(ranks)
        gathers = self.exchange({"name": "matrix", "pairs": pairs}) if pairs else self.computing()
        return [*gathers, *gathers, *added_up(ranks), *added_up(ranks)]

    def _pairs(self, ranks: int) -> list[list[int]]:
        """Rank, neighbour, bytes and messages. Both neighbours along an axis of two ranks are the same rank."""
        assert self.grid is not None
        sent: dict[tuple[int, int], list[int]] = {}
        stride = 1
        for axis, extent in enumerate(self.grid):
            for rank in range(ranks) if extent > 1 else ():
                at = rank // stride % extent
                for step in (-1, 1):
                    of = sent.setdefault((rank, rank + ((at + step) % extent - at) * stride), [0, 0])
                    of[0] += self._bytes(axis)
                    of[1] += len(LAYERS)
            stride *= extent
        return [[*pair, *of] for pair, of in sorted(sent.items())]

    def _bytes(self, axis: int) -> int:
        """Bytes to one neighbour along an axis: sites of one parity, rounded up."""
        layer = -(-prod(self.sites) // self.sites[axis] // 2)
        return sum(LAYERS) * layer * VECTOR * self.width
