"""What skeletons share: computing before each exchange, exchanges with neighbours, and global sums."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from odonata.document import validate
from odonata.scenario.apps.app import ComputingMotif
from odonata.scenario.apps.collectives import Allreduce
from odonata.scenario.apps.halos import DOUBLE
from odonata.scenario.apps.values import Duration


class Skeleton(ComputingMotif):
    """The messages of one iteration of an application. It computes only if it is told for how long."""

    compute: Duration = Field(
        0, description="computing before each exchange with neighbours (default: none: the messages alone)"
    )

    def exchange(self, what: dict[str, Any]) -> list[dict[str, Any]]:
        """Computing, and an exchange with neighbours."""
        return [*self.computing(), {"what": what}]


def halo(
    grid: Sequence[int],
    faces: Sequence[int],
    *,
    periodic: bool = False,
    edges: Sequence[int] = (0, 0, 0),
    corner: int = 0,
    order: str = "all-at-once",
) -> dict[str, Any]:
    """An exchange as the core reads it: bytes across the faces, edges and corners of a grid of three axes."""
    return {
        "name": "halo",
        "grid": list(grid),
        "periodic": periodic,
        "face_bytes": list(faces),
        "edge_bytes": list(edges),
        "corner_bytes": corner,
        "order": order,
    }


def box(grid: Sequence[int], cells: Sequence[int], *, order: str = "all-at-once") -> dict[str, Any]:
    """An exchange of one value in double precision of each outer cell with all 26 neighbours."""
    x, y, z = (cells_along * DOUBLE for cells_along in cells)
    faces = (y * cells[2], x * cells[2], x * cells[1])
    return halo(grid, faces, edges=(x, y, z), corner=DOUBLE, order=order)


def added_up(ranks: int) -> list[dict[str, Any]]:
    """A global sum of one number in double precision, by the algorithm that MPICH chooses."""
    table = validate(Allreduce, {"collective": "allreduce", "message": f"{DOUBLE} B"})
    return table.decided(ranks).phases(ranks)
