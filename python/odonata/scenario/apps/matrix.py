"""Communication matrices as applications: what each rank sends to each other in an iteration."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.app import Program, computing
from odonata.scenario.apps.values import Duration, MessageSize

if TYPE_CHECKING:
    from odonata.scenario.apps.matrix_values import CommunicationMatrix


class Matrix(Program):
    """What each rank sends to each other, from a file: a communication matrix (JSON, CSV or an array of NumPy).

    In an iteration every rank computes, then begins all of its receives and sends, then waits for all. With `every`,
    the matrix is sent at a rate. It brings its number of ranks; without `nodes` the job gets as many nodes as they
    fill. `docs/matrices.md` has the formats.
    """

    matrix: str = Field(description="the file, relative to the scenario")
    format: Literal["json", "csv", "npz", "npy"] | None = Field(
        None, description="its format (default: by its ending: .json, .csv, .tsv, .txt, .npz or .npy)"
    )
    steps: Count = Field(
        1, description="how many steps of the application the matrix is the sum of; an iteration sends one of them"
    )
    message: MessageSize | None = Field(
        None, description="largest message (default: as many messages as the file says, else one for each pair)"
    )
    scale: Literal["weak", "strong"] | None = Field(
        None,
        description="for a multiple or a divisor of its ranks: keeps the bytes of each rank (weak), or of all (strong) "
        "(default: only the ranks of the file)",
    )
    compute: Duration = Field(0, description="computing at the start of each iteration (default: none)")
    jitter: Duration = Field(0, description="mean of an additional exponential computing time (default: none)")

    def own_ranks(self, folder: Path) -> int | None:
        """The number of ranks of the matrix; None if it is scaled."""
        return None if self.scale else self.read(folder).ranks

    def body(self, ranks: int, folder: Path) -> dict[str, Any]:
        """Computing, and the messages."""
        pairs = self.pairs(ranks, folder)
        phases = [computing(self.compute, self.jitter)] if self.compute or self.jitter else []
        return {"name": "phases", "phases": [*phases, {"what": {"name": "matrix", "pairs": pairs}}]}

    def read(self, folder: Path) -> "CommunicationMatrix":
        """The matrix in the file. Raises InputError with the file, or whose path leads into the app's table."""
        from odonata.scenario.apps.matrix_files import read_matrix

        try:
            return read_matrix(folder / self.matrix, self.format)
        except InputError as e:
            raise e if e.file is not None else e.under("matrix") from None

    def pairs(self, ranks: int, folder: Path) -> list[list[int]]:
        """Rank, other rank, bytes and messages of an iteration, for every pair of ranks that exchanges messages.

        Raises InputError as `read`, and if it cannot be scaled to `ranks`.
        """
        from odonata.scenario.apps.matrix_pairs import iteration_pairs

        return iteration_pairs(
            self.read(folder), ranks, steps=self.steps, message=self.message, strong=self.scale == "strong"
        )
