"""LAMMPS: molecular dynamics of a Lennard-Jones liquid."""

from math import ceil
from typing import Any, Literal, Self

from pydantic import Field

from odonata.errors import InputError
from odonata.scenario.apps.grid import Cells3, Grid3, by, decided_grid
from odonata.scenario.apps.halos import DOUBLE
from odonata.scenario.apps.skeletons.skeleton import Skeleton, halo

#: Atoms of a cell of the face-centred cubic lattice.
ATOMS = 4
#: Density of the liquid, and how far a rank must see: the cutoff and the skin of the lists of neighbours. Both are in
#: the units of the potential (LAMMPS, bench/in.lj).
DENSITY, REACH = 0.8442, 2.5 + 0.3
#: The same distance in cells of the lattice.
REACH_CELLS: float = REACH / (ATOMS / DENSITY) ** (1 / 3)
#: Bytes of a position, and of a force: three numbers in double precision.
VECTOR = 3 * DOUBLE


class Lammps(Skeleton):
    """A time step of LAMMPS: positions of ghost atoms to six neighbours, and their forces back.

    Atoms within the reach of a neighbour are sent axis by axis; what a rank received along an axis is sent on along the
    next, so that messages grow from x to z. Forces go back from z to x. Steps on which lists of neighbours are built
    (each 20th) send more and are left out. Sources: LAMMPS, comm_brick.cpp and bench/in.lj. These sizes are those of a
    uniform liquid: 4 % fewer ghost atoms than the log of that benchmark has.
    """

    motif: Literal["lammps"]
    cells: Cells3 = Field(
        (20, 20, 20),
        description="cells of the lattice of a rank along x, y and z, 4 atoms each (default: 20 each; in.lj)",
    )
    grid: Grid3 | None = Field(None, description="ranks along x, y and z (default: as MPI_Dims_create)")

    def decided(self, ranks: int) -> Self:
        """With its grid filled in."""
        if min(self.cells) < REACH_CELLS:
            message = f"ranks of {by(self.cells)} cells would need atoms from beyond their neighbours"
            raise InputError(message, hint=f"{ceil(REACH_CELLS)} cells or more along each axis", path=("cells",))
        return self.model_copy(update={"grid": decided_grid(self.grid, ranks, 3)})

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Three exchanges of positions, and three of forces."""
        forward = [self._along(axis) for axis in range(3)]
        first, *rest = forward
        last, *before = reversed(forward)
        return [
            *self.exchange(first),
            *({"what": what} for what in rest),
            *self.exchange(last),
            *({"what": what} for what in before),
        ]

    def _along(self, axis: int) -> dict[str, Any]:
        assert self.grid is not None
        faces = [0, 0, 0]
        faces[axis] = ghosts(self.cells, axis) * VECTOR
        return halo(self.grid, faces, periodic=True, order="axis-by-axis")


def ghosts(cells: tuple[int, ...], axis: int) -> int:
    """Atoms that a rank sends to a neighbour along an axis, rounded up."""
    atoms = ATOMS * REACH_CELLS
    for other, along in enumerate(cells):
        if other != axis:
            atoms *= along + (2 * REACH_CELLS if other < axis else 0)
    return ceil(atoms)
