"""Halo3d26: an exchange with twenty-six neighbours."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.grid import Cells3, Grid3
from odonata.scenario.apps.motifs.halo import Halo


class Halo3d26(Halo):
    """Each rank exchanges with its 26 neighbours in a grid: across faces, edges and corners.

    `message` is the size of all of them (assumed). With `cells` = [nx, ny, nz] of a rank, messages
    across a face x have ny x nz x fields x width bytes, across an edge parallel to x nx x fields x width, across a
    corner fields x width. Source: ember's Halo3D26 as Zhang 2018 ran it (L13).
    """

    dimensions: ClassVar[int] = 3
    corners: ClassVar[bool] = True

    motif: Literal["halo3d26"]
    grid: Grid3 | None = Field(None, description="ranks along x, y and z (default: as MPI_Dims_create)")
    cells: Cells3 | None = Field(None, description="cells of a rank along x, y and z, from which sizes follow")
    order: Literal["all-at-once"] = Field(
        "all-at-once", description="the order in which a rank exchanges (L: all at once)"
    )
