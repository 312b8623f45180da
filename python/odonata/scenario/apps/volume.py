"""What the bandwidths of a collective refer to, as the NCCL tests define them (`doc/PERFORMANCE.md` of nccl-tests)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from odonata.scenario.apps.app import App

#: Collectives of which `message` is the part of one rank (all-gather) or of one pair (all-to-all): their size is that
#: of the data of all ranks.
_OF_ALL = ("allgather", "alltoall")


class Volume(NamedTuple):
    """The size of a collective, and the bus bandwidth over the algorithm bandwidth."""

    bytes: int
    factor: Fraction


def volume_of(app: App, ranks: int) -> Volume | None:
    """That of an application; None if it is no collective with data, or computes as well, or has one rank."""
    if (collective := getattr(app, "collective", None)) is None:
        return None
    from odonata.scenario.apps.collective import Collective

    if not isinstance(app, Collective) or not app.size or app.compute or app.jitter or ranks < 2:
        return None
    factors = {"broadcast": Fraction(1), "reduce": Fraction(1), "allreduce": Fraction(2 * (ranks - 1), ranks)}
    size = app.size * (ranks if collective in _OF_ALL else 1)
    return Volume(size, factors.get(collective, Fraction(ranks - 1, ranks)))
