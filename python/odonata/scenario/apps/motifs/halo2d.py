"""Halo2d: an exchange with four neighbours."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.grid import Cells2, Grid2
from odonata.scenario.apps.motifs.halo import Halo, Order


class Halo2d(Halo):
    """Each rank exchanges with its four neighbours in a grid.

    `message` is the size of each message. With `cells` = [nx, ny] of a rank, messages along x have ny x
    fields x width bytes and those along y nx x fields x width. Source: ember's Halo2D as Zhang 2018 ran it (L13).
    """

    dimensions: ClassVar[int] = 2

    motif: Literal["halo2d"]
    grid: Grid2 | None = Field(None, description="ranks along x and y (default: as MPI_Dims_create)")
    cells: Cells2 | None = Field(None, description="cells of a rank along x and y, from which sizes follow")
    order: Order = Field(
        "even-receives-first", description="the order in which a rank exchanges (L: even-receives-first)"
    )
