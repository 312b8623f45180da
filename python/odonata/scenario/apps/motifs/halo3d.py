"""Halo3d: an exchange with six neighbours."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.grid import Cells3, Grid3
from odonata.scenario.apps.motifs.halo import Halo, Order


class Halo3d(Halo):
    """Each rank exchanges with its six neighbours in a grid.

    `message` is the size of each message. With `cells` = [nx, ny, nz] of a rank, messages along x have ny x
    nz x fields x width bytes, and so on. Source: ember's Halo3D as Zhang 2018 ran it (L13).
    """

    dimensions: ClassVar[int] = 3

    motif: Literal["halo3d"]
    grid: Grid3 | None = Field(None, description="ranks along x, y and z (default: as MPI_Dims_create)")
    cells: Cells3 | None = Field(None, description="cells of a rank along x, y and z, from which sizes follow")
    order: Order = Field("axis-by-axis", description="the order in which a rank exchanges (L: axis-by-axis)")
