"""Sweep3d: wavefronts through a grid."""

from typing import Any, Literal, Self

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.grid import Cells3, Grid2, decided_grid
from odonata.scenario.apps.motifs.cells import DOUBLE, checked_bytes
from odonata.scenario.apps.motifs.motif import Motif
from odonata.scenario.apps.values import Duration, MessageSize


class Sweep3d(Motif):
    """Wavefronts run through a grid of ranks from each of its corners in turn.

    Each is cut into blocks along z. `message` is the size of each message. With `cells` = [nx, ny, nz] of a
    rank there are nz / `planes` blocks, and messages along x have ny x planes x fields x width bytes, those along y nx
    x planes x fields x width. Sources: Koch, Baker and Alcouffe 1992; ember's Sweep3D.
    """

    motif: Literal["sweep3d"]
    message: MessageSize | None = Field(None, description="size of each message (or give `cells`)")
    blocks: Count | None = Field(
        None, description="with `message`: blocks along z of a wavefront (default: 10; assumed)"
    )
    cells: Cells3 | None = Field(None, description="cells of a rank along x, y and z, from which sizes follow")
    planes: Count | None = Field(None, description="with `cells`: cells along z of a block, ember's kba (default: 1)")
    fields: Count | None = Field(None, description="with `cells`: values of a cell that are sent (default: 1; assumed)")
    width: Count | None = Field(None, description="with `cells`: bytes of a value (default: 8, double precision)")
    grid: Grid2 | None = Field(None, description="ranks along x and y (default: as MPI_Dims_create)")
    sweeps: Count = Field(8, description="sweeps of an iteration: 8 for all octants (ember)")
    compute: Duration = Field(0, description="computing on each block (default: none; L13)")

    def decided(self, ranks: int) -> Self:
        """With its grid filled in, and everything that sizes follow from."""
        grid = decided_grid(self.grid, ranks, 2)
        filled: dict[str, Any] = {"grid": grid}
        if self.message is not None:
            for key in ("cells", "planes", "fields", "width"):
                if getattr(self, key) is not None:
                    raise InputError(f"`message` and `{key}` exclude each other", path=(key,))
            filled["blocks"] = self.blocks or 10
        elif self.cells is None:
            raise InputError("the size of the messages is missing: give `message` or `cells`")
        else:
            if self.blocks is not None:
                message = "`cells` and `blocks` exclude each other: blocks follow from `planes`"
                raise InputError(message, path=("blocks",))
            planes = self.planes or 1
            if self.cells[2] % planes:
                message = f"{self.cells[2]} cells along z cannot be cut into blocks of {planes} planes"
                raise InputError(message, path=("planes",))
            filled |= {"planes": planes, "fields": self.fields or 1, "width": self.width or DOUBLE}
        return self.model_copy(update=filled)

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """A single phase."""
        assert self.grid is not None
        blocks, x_bytes, y_bytes = self.blocks, self.message, self.message
        if self.cells is not None:
            x, y, z = self.cells
            column = (self.planes or 1) * (self.fields or 1) * (self.width or DOUBLE)
            blocks, x_bytes, y_bytes = z // (self.planes or 1), checked_bytes(y * column), checked_bytes(x * column)
        sweep = {
            "name": "sweep",
            "grid": list(self.grid),
            "blocks": blocks,
            "x_bytes": x_bytes,
            "y_bytes": y_bytes,
            "compute_ps": self.compute,
            "sweeps": self.sweeps,
        }
        return [{"what": sweep}]
