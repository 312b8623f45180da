"""Motifs of neighbours in a grid of ranks, whose messages have a size that is given or follows from cells."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.app import ComputingMotif
from odonata.scenario.apps.grid import Cells2, Cells3, Grid2, Grid3, decided_grid
from odonata.scenario.apps.values import MAX_MESSAGE_BYTES, MessageSize

#: Bytes of a value: double precision.
DOUBLE = 8


class CellsMotif(ComputingMotif):
    """A motif whose messages have a size that is given (`message`), or follows from the cells of a rank (`cells`)."""

    message: MessageSize | None = Field(None, description="size of each message (or give `cells`)")
    cells: tuple[int, ...] | None
    fields: Count | None = Field(None, description="with `cells`: values of a cell that are sent (default: 1; assumed)")
    width: Count | None = Field(None, description="with `cells`: bytes of a value (default: 8, double precision)")

    def cell_bytes(self) -> int | None:
        """Bytes of a cell, fields x width; None if the size of messages is given.

        Raises InputError (path into the app's table) if both are given, or neither.
        """
        if self.message is None and self.cells is None:
            raise InputError("the size of the messages is missing: give `message` or `cells`")
        if self.message is not None:
            for key in ("cells", "fields", "width"):
                if getattr(self, key) is not None:
                    raise InputError(f"`message` and `{key}` exclude each other", path=(key,))
            return None
        return (self.fields or 1) * (self.width or DOUBLE)

    def filled(self) -> dict[str, Any]:
        """`fields` and `width` with their defaults, if they have a meaning."""
        if self.cell_bytes() is None:
            return {}
        return {"fields": self.fields or 1, "width": self.width or DOUBLE}


def checked_bytes(size: int) -> int:
    """The size of a message, if the core can send it; else InputError (path `cells`)."""
    if not 1 <= size <= MAX_MESSAGE_BYTES:
        raise InputError(f"these cells make messages of {size:,} B, not between 1 B and 2^40 B", path=("cells",))
    return size


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
        False,
        description="whether an all-reduce of 8 B on a binary tree follows, as ember's doreduce "
        "(default: no, as Zhang 2018 ran it)",
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


class Halo2d(Halo):
    """Each rank exchanges with its four neighbours in a grid.

    `message` is the size of each message. With `cells` = [nx, ny] of a rank, messages along x have ny x
    fields x width bytes and those along y nx x fields x width. Source: ember's Halo2D as Zhang 2018 ran it.
    """

    dimensions: ClassVar[int] = 2

    motif: Literal["halo2d"]
    grid: Grid2 | None = Field(None, description="ranks along x and y (default: as MPI_Dims_create)")
    cells: Cells2 | None = Field(None, description="cells of a rank along x and y, from which sizes follow")
    order: Order = Field(
        "even-receives-first", description="the order in which a rank exchanges (L: even-receives-first)"
    )


class Halo3d(Halo):
    """Each rank exchanges with its six neighbours in a grid.

    `message` is the size of each message. With `cells` = [nx, ny, nz] of a rank, messages along x have ny x
    nz x fields x width bytes, and so on. Source: ember's Halo3D as Zhang 2018 ran it.
    """

    dimensions: ClassVar[int] = 3

    motif: Literal["halo3d"]
    grid: Grid3 | None = Field(None, description="ranks along x, y and z (default: as MPI_Dims_create)")
    cells: Cells3 | None = Field(None, description="cells of a rank along x, y and z, from which sizes follow")
    order: Order = Field("axis-by-axis", description="the order in which a rank exchanges (L: axis-by-axis)")


class Halo3d26(Halo):
    """Each rank exchanges with its 26 neighbours in a grid: across faces, edges and corners.

    `message` is the size of all of them (assumed). With `cells` = [nx, ny, nz] of a rank, messages
    across a face x have ny x nz x fields x width bytes, across an edge parallel to x nx x fields x width, across a
    corner fields x width. Source: ember's Halo3D26 as Zhang 2018 ran it.
    """

    dimensions: ClassVar[int] = 3
    corners: ClassVar[bool] = True

    motif: Literal["halo3d26"]
    grid: Grid3 | None = Field(None, description="ranks along x, y and z (default: as MPI_Dims_create)")
    cells: Cells3 | None = Field(None, description="cells of a rank along x, y and z, from which sizes follow")
    order: Literal["all-at-once"] = Field(
        "all-at-once", description="the order in which a rank exchanges (L: all at once)"
    )
