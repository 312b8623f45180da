"""Whether a run falls into the tail, predicted at its submission (V17), on the queues of figure 4.

The paper says that most runs in the tail can be predicted, and names no classifier, threshold or accuracy. Here the
predictor of `odonata cluster train` learns from the runs beside four fifths of the queues and predicts those beside the
others, five times. A history is one collective and size; its tail begins at the 0.85 quantile of the earlier runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata import machine
from odonata.allocation.neighbours import neighbours
from odonata.analysis import forecasts
from odonata.prediction.train import train
from odonata.reproduce.salimibeni2022.queue import SYSTEM, allocations, others
from odonata.reproduce.salimibeni2022.runs import DRAWS, FAR, ROUTING, SIZES, utilisation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from odonata.prediction.predictor import Predictor
    from odonata.reproduce.reproduction import Runs

    Vector = NDArray[np.float64]

PAPER = "b, size and collective"
ALL = "these and neighbours"
WITHOUT: dict[str, tuple[str, ...]] = {PAPER: ("neighbours",), ALL: ()}
"""Predictor -> columns of the records that it does not get."""
FOLDS = 5
RESAMPLES = 1_000
HALF = 0.5
"""Share of the runs that is flagged for the share of the tail that is caught. Assumed: the paper names none."""


@dataclass(frozen=True)
class Forecast:
    """Held-out runs: what was predicted, and what happened."""

    chance: Vector
    """Probability of the tail (shape `(n,)`)."""
    tail: Vector
    """1 for a run in the tail of its history, else 0."""
    queue: Vector
    """Number of the queue of each run."""

    def area(self) -> tuple[float, float, float]:
        """Area under the receiver operating characteristic, and its 95 % interval."""
        return self._with_interval(lambda rows: forecasts.area(self.chance[rows], self.tail[rows]))

    def caught(self) -> tuple[float, float, float]:
        """Per cent of the tail among the half of the runs with the highest probabilities, and its 95 % interval."""
        return self._with_interval(lambda rows: 100 * _of_half(self.chance[rows], self.tail[rows])[0])

    def precision(self) -> float:
        """Per cent of that half that are in the tail."""
        return 100 * _of_half(self.chance, self.tail)[1]

    def _with_interval(self, value: Callable[[NDArray[np.int64]], float]) -> tuple[float, float, float]:
        """A value of all runs, and percentiles of a bootstrap of queues: runs beside one queue err together."""
        rows = [np.flatnonzero(self.queue == queue) for queue in np.unique(self.queue)]
        generator = np.random.default_rng(1)
        drawn = [
            value(np.concatenate([rows[at] for at in generator.integers(0, len(rows), len(rows))]))
            for _ in range(RESAMPLES)
        ]
        low, high = np.nanquantile(drawn, [0.025, 0.975])
        return value(np.concatenate(rows)), float(low), float(high)


def _of_half(chance: Vector, tail: Vector) -> tuple[float, float]:
    """Recall and precision of flagging the half with the highest probabilities; of equal ones the first."""
    flagged = np.zeros(len(chance), dtype=bool)
    flagged[np.argsort(-chance, kind="stable")[: int(len(chance) * HALF)]] = True
    recall, precision = forecasts.recall_and_precision(flagged, tail)
    return recall or 0.0, precision or 0.0


def records(runs: Runs) -> pl.DataFrame:
    """The runs of figure 4 as records: a row for each queue, collective and size."""
    queues = set(DRAWS)
    rows = [
        {
            "started": run["draw"],
            "time_ps": float(np.mean(run["times_ps"])),
            "b": utilisation(run["draw"], run["load"]),
            "neighbours": exposed(run["draw"], run["load"]),
            "pattern": run["app"],
            "bytes": SIZES[run["size"]],
        }
        for run in runs
        if (run["draw"], run["load"]) in queues and (run["locality"], run["routing"]) == (FAR, ROUTING)
    ]
    return pl.DataFrame(rows).sort("started", "pattern", "bytes")


@lru_cache
def exposed(draw: int, load: float) -> float:
    """Neighbours of the measured job on different islands, beside a queue."""
    jobs = [job.nodes for job in others(draw, load) if len(job.nodes) > 1]
    return neighbours(allocations()[FAR], jobs, machine.load(SYSTEM).shape.router_of)


def forecast(table: pl.DataFrame, without: Sequence[str] = ()) -> Forecast:
    """Held-out forecasts of all runs: each fifth of the queues is predicted from the others."""
    known = table.drop(without)
    queues = np.unique(table["started"].to_numpy())
    chance, tail, queue = [], [], []
    for fold in range(FOLDS):
        out = pl.col("started").is_in(queues[fold::FOLDS])
        predictor = train(known.filter(~out))
        for row in known.filter(out).iter_rows(named=True):
            prediction = predictor.predict(_known(row, predictor))
            chance.append(prediction.probability)
            tail.append(float(row["time_ps"] > prediction.threshold_ps))
            queue.append(float(row["started"]))
    return Forecast(np.array(chance), np.array(tail), np.array(queue))


def by_b(table: pl.DataFrame, of: Forecast) -> Forecast:
    """The same runs with b as the score: what b alone tells, without a predictor."""
    queues = dict(zip(table["started"].to_list(), table["b"].to_list(), strict=True))
    return Forecast(np.array([queues[int(number)] for number in of.queue]), of.tail, of.queue)


def _known(row: dict[str, Any], predictor: Predictor) -> dict[str, Any]:
    names = {*predictor.used, *predictor.history_of, "b"}
    return {name: value for name, value in row.items() if name in names}
