"""Common code of the exchanges with neighbours in a grid."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.scenario.apps.grid import decided_grid
from odonata.scenario.apps.motifs.cells import CellsMotif, checked_bytes

#: Size of the all-reduce of `reduce`: a number in double precision.
REDUCED_BYTES = 8

Order = Literal["all-at-once", "axis-by-axis", "even-receives-first"]


class Halo(CellsMotif):
    """An exchange with the neighbours in a grid of ranks, x fastest."""

    #: Axes of the grid, and whether neighbours across edges and corners get messages too.
    dimensions: ClassVar[int]
    corners: ClassVar[bool] = False

    grid: tuple[int, ...] | None
    periodic: bool = Field(False, description="whether the last rank of an axis is a neighbour of the first (L: no)")
    order: Order
    reduce: bool = Field(
        False, description="whether an all-reduce of 8 B on a binary tree follows, as ember's doreduce (L13: no)"
    )

    def decided(self, ranks: int) -> Self:
        """With its grid filled in."""
        grid = decided_grid(self.grid, ranks, self.dimensions)
        return self.model_copy(update={"grid": grid, **self.filled()})

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Computing, the exchange, and the all-reduce."""
        faces, edges, corner = self._bytes()
        assert self.grid is not None
        halo = {
            "name": "halo",
            "grid": [*self.grid, 1][:3],
            "periodic": self.periodic,
            "face_bytes": faces,
            "edge_bytes": edges,
            "corner_bytes": corner,
            "order": self.order,
        }
        reduced = {"name": "allreduce", "algorithm": "binary", "bytes": REDUCED_BYTES}
        return [*self.computing(), {"what": halo}, *([{"what": reduced}] if self.reduce else [])]

    def _bytes(self) -> tuple[list[int], list[int], int]:
        """Bytes to a neighbour across x, y and z, across an edge parallel to them, and across a corner."""
        cell = self.cell_bytes()
        if cell is None:
            size = self.message or 0
            faces, edges, corner = [size] * 3, [size] * 3, size
        else:
            x, y, z = [*(self.cells or ()), 1][:3]
            faces = [checked_bytes(cells * cell) for cells in (y * z, x * z, x * y)]
            edges, corner = [checked_bytes(cells * cell) for cells in (x, y, z)], checked_bytes(cell)
        if self.dimensions == 2:
            faces[2] = 0
        return (faces, edges, corner) if self.corners else (faces, [0] * 3, 0)
