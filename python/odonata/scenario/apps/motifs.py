"""Motifs as a scenario names them, listed in `listed.MOTIFS`. `docs/applications.md` has the table.

Exchanges with neighbours, `training`, `phases` and the skeletons of applications are in files of their own.
"""

from typing import Any, Literal, Self

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.app import ComputingMotif, Motif
from odonata.scenario.apps.collectives import checked_root
from odonata.scenario.apps.grid import Cells3, Grid2, decided_grid
from odonata.scenario.apps.halos import DOUBLE, checked_bytes
from odonata.scenario.apps.values import Duration, MessageSize


class PingPong(ComputingMotif):
    """Pairs of ranks send each other messages back and forth.

    Rank r of the first half of each block of 2 x stride ranks exchanges messages with r + stride. Source: ember's
    PingPong (there two ranks); De Sensi 2019.
    """

    motif: Literal["ping-pong"]
    message: MessageSize = Field(description="size of each message")
    stride: Count = Field(1, description="distance of partners in ranks (ember: 1)")
    rounds: Count = Field(1, description="messages each way in an iteration (ember: 1)")

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Computing, and the exchange."""
        if ranks % (2 * self.stride):
            raise InputError(
                f"with a stride of {self.stride:,}, {ranks:,} ranks are not whole blocks of {2 * self.stride:,}: some "
                "have no partner",
                hint=f"stride = {ranks // 2} pairs the first half with the second" if ranks % 2 == 0 else None,
                path=("stride",),
            )
        rally = {"name": "ping-pong", "stride": self.stride, "bytes": self.message, "rounds": self.rounds}
        return [*self.computing(), {"what": rally}]


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
    compute: Duration = Field(0, description="computing on each block (default: none, as Zhang 2018 ran it)")

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


#: Bytes of a complex number in double precision.
COMPLEX = 16


class Fft3d(ComputingMotif):
    """A Fourier transform in three dimensions and back, on a grid of pencils.

    Forward: an all-to-all along the rows of the grid and one along its columns, then a barrier. Back: along columns and
    rows, then a barrier. That is four all-to-alls and two barriers. `compute` comes before each all-to-all. `message`
    is the size that a rank sends to each other rank in an all-to-all. With `cells` = [nx, ny, nz] of the whole
    transform, which is of real numbers, its result has (nx / 2 + 1) x ny x nz complex ones. Each of P ranks holds the
    P-th part of them, `width` bytes each, and sends each of the n ranks of its row (column) the n-th part of that,
    rounded up. Source: ember's FFT3D as Zhang 2018 ran it, with its all-to-all and its barrier.
    """

    motif: Literal["fft3d"]
    message: MessageSize | None = Field(
        None, description="size of the message to each other rank in an all-to-all (or give `cells`)"
    )
    cells: Cells3 | None = Field(None, description="points of the whole transform along x, y and z")
    width: Count | None = Field(
        None, description="with `cells`: bytes of a point of the result (default: 16, complex double precision)"
    )
    grid: Grid2 | None = Field(
        None, description="ranks of a row and of a column, npRow x npCol (default: as MPI_Dims_create)"
    )
    algorithm: Literal["pairwise", "linear-shift", "bruck"] = Field(
        "linear-shift", description="algorithm of the all-to-alls (L: linear-shift)"
    )

    def decided(self, ranks: int) -> Self:
        """With its grid filled in."""
        filled: dict[str, Any] = {"grid": decided_grid(self.grid, ranks, 2)}
        if self.message is not None:
            for key in ("cells", "width"):
                if getattr(self, key) is not None:
                    raise InputError(f"`message` and `{key}` exclude each other", path=(key,))
        elif self.cells is None:
            raise InputError("the size of the messages is missing: give `message` or `cells`")
        else:
            filled["width"] = self.width or COMPLEX
        return self.model_copy(update=filled)

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Four transposes and two barriers."""
        barrier = {"what": {"name": "barrier", "algorithm": "binary"}}
        row, column = self._transpose(0, ranks), self._transpose(1, ranks)
        return [*row, *column, barrier, *column, *row, barrier]

    def _transpose(self, axis: int, ranks: int) -> list[dict[str, Any]]:
        assert self.grid is not None
        size = self.message
        if size is None:
            x, y, z = self.cells or (0, 0, 0)
            size = checked_bytes(-(-(x // 2 + 1) * y * z * (self.width or COMPLEX) // (ranks * self.grid[axis])))
        what = {"name": "alltoall", "algorithm": self.algorithm, "bytes": size}
        return [*self.computing(), {"along": {"grid": list(self.grid), "axis": axis}, "what": what}]


class AllToAllLinear(ComputingMotif):
    """Every rank begins to send to and to receive from all others, in order from rank 0, then waits for all.

    Source: the loop of MPI_Isend and MPI_Irecv with one MPI_Waitall of Piarulli et al., arXiv 2604.11432. Without the
    `call` of a collective.
    """

    motif: Literal["all-to-all-linear"]
    message: MessageSize = Field(description="size of the data of one rank for one other")

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Computing, and the exchange."""
        what = {"name": "alltoall", "algorithm": "linear", "bytes": self.message}
        return [*self.computing(), {"what": what, "call": False}]


class Incast(ComputingMotif):
    """All ranks but the root send one message to the root, at the same time.

    Each waits for its own message.

    Source: the congestor of GPCNeT (Chunduri et al., SC 2019) and of Piarulli et al., arXiv 2604.11432.
    """

    motif: Literal["incast"]
    message: MessageSize = Field(description="size of each message")
    root: int = Field(0, description="the rank that receives (default: 0)")

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Computing, and the messages."""
        what = {"name": "incast", "root": checked_root(self.root, ranks), "bytes": self.message}
        return [*self.computing(), {"what": what}]
