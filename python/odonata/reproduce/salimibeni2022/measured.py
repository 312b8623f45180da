"""The measured series (README.md), each with its dispersion, its peaks and, for one size, fits of all families."""

from __future__ import annotations

import io
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import polars as pl

from odonata.analysis.dispersion import Dispersion, describe
from odonata.analysis.fits import Fits, fit_all
from odonata.analysis.peaks import Peaks, count_peaks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from odonata.reproduce.reproduction import Runs

FITTED = 2**20
"""Of each allocation and collective, the greatest size up to this one is fitted (Salimi Beni 2022, figure 5)."""
LIMIT_S = 2.0
"""Processor time of a family and series in seconds. Assumed: 20 times what most take, so that all take minutes."""
FEW = ("johnsonsu", "lognorm", "norm")
"""Families of the reduced form."""
_KEY = ("run", "collective", "bytes")


@dataclass(frozen=True)
class Measured:
    """One series: an allocation, a collective and a size."""

    run: str
    collective: str
    size: int
    """Bytes."""
    nodes: int
    groups: int
    leaves: int
    times_ps: NDArray[np.float64]
    dispersion: Dispersion
    peaks: Peaks | None
    fits: Fits | None
    """`None` for other sizes than the one that is fitted."""


def table() -> pl.DataFrame:
    """The iterations."""
    return pl.read_parquet(io.BytesIO((files(__package__) / "leonardo.parquet").read_bytes()))


def gather(reduced: bool, workers: int) -> Runs:
    """All series; in the reduced form a size of each allocation, 200 iterations and three families."""
    rows = table()
    chosen = fitted_sizes(rows)
    if reduced:
        least = rows.group_by("run").agg(pl.col("collective").first(), pl.col("bytes").min())
        rows = rows.join(least, on=_KEY, how="semi").filter(pl.col("iteration") < 210)
        chosen = [key[:3] for key in rows.select(_KEY).unique(maintain_order=True).rows()][:2]
    parts = rows.partition_by(_KEY, as_dict=True, maintain_order=True)
    times = {key: part["time_ns"].to_numpy() * 1e3 for key, part in parts.items()}
    fits = fit_all([times[key] for key in chosen], names=FEW if reduced else None, limit_s=LIMIT_S, workers=workers)
    of = dict(zip(chosen, fits, strict=True))
    return [{"series": _measured(key, part, of.get(key))} for key, part in parts.items()]


def series(runs: Runs) -> list[Measured]:
    """What `gather` found."""
    return [run["series"] for run in runs]


def fitted_sizes(rows: pl.DataFrame) -> list[tuple[str, str, int]]:
    """Allocation, collective and size of the series that are fitted."""
    chosen: list[tuple[str, str, int]] = []
    groups: Sequence[tuple[str, str, list[int]]] = (
        rows.group_by("run", "collective", maintain_order=True).agg(pl.col("bytes").unique().sort()).rows()
    )
    for run, collective, sizes in groups:
        chosen.append((run, collective, max(size for size in sizes if size <= FITTED)))
    return chosen


def _measured(key: tuple[str, str, int], part: pl.DataFrame, fits: Fits | None) -> Measured:
    times = part["time_ns"].to_numpy() * 1e3
    nodes, groups, leaves = (int(part[name][0]) for name in ("nodes", "groups", "leaves"))
    return Measured(*key, nodes, groups, leaves, times, describe(times), count_peaks(times), fits)
