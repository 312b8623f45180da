"""FFT3d: transposes on a pencil decomposition."""

from typing import Any, Literal, Self

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.grid import Cells3, Grid2, decided_grid
from odonata.scenario.apps.motifs.cells import checked_bytes
from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MessageSize

#: Bytes of a complex number in double precision.
COMPLEX = 16


class Fft3d(ComputingMotif):
    """A Fourier transform in three dimensions and back, on a grid of pencils.

    Forward: an all-to-all along the rows of the grid and one along its columns, then a barrier. Back: along columns and
    rows, then a barrier. That is four all-to-alls and two barriers. `compute` comes before each all-to-all. `message`
    is the size that a rank sends to each other rank in an all-to-all. With `cells` = [nx, ny, nz] of the whole
    transform, which is of real numbers, its result has (nx / 2 + 1) x ny x nz complex ones. Each of P ranks holds the
    P-th part of them, `width` bytes each, and sends each of the n ranks of its row (column) the n-th part of that,
    rounded up. Source: ember's FFT3D as Zhang 2018 ran it (L13), with its all-to-all and its barrier.
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
