"""Whether a run falls into the tail, predicted at its submission (V17), on the queues of figure 4.

The paper says that most runs in the tail can be predicted, and names no classifier, threshold or accuracy. Here the
predictor of `odonata cluster train` learns from the runs beside four fifths of the queues and predicts those beside the
others, five times. A history is one collective and size; its tail begins at the 0.85 quantile of the earlier runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata import machine
from odonata.allocation.neighbours import neighbours
from odonata.analysis import forecasts
from odonata.plot.style import SERIES, figure, settings
from odonata.prediction.train import TAIL, train
from odonata.reproduce.markdown import reasons, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.reproduce.salimibeni2022.queue import NODES, SYSTEM, allocations, others
from odonata.reproduce.salimibeni2022.runs import (
    DRAWS,
    FAR,
    LONG,
    OFTEN,
    ROUTING,
    SIZES,
    keep,
    make,
    scattered,
    utilisation,
)
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from odonata.prediction.predictor import Predictor
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

    Vector = NDArray[np.float64]

MODEL = "simulated"
ALONE = "b alone"
PAPER = "b, size and collective"
NEIGHBOURS = "these and neighbours"
WITHOUT: dict[str, tuple[str, ...]] = {PAPER: ("neighbours",), NEIGHBOURS: ()}
"""Predictor -> columns of the records that it does not get."""
FOLDS = 5
HEAD = ("predicted from", "area under the ROC", "tail in the flagged half", "precision", "Brier")
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


def forecasts_of(table: pl.DataFrame) -> dict[str, Forecast]:
    """What is predicted from -> held-out forecasts of all runs."""
    made = {name: forecast(table, without) for name, without in WITHOUT.items()}
    return {ALONE: by_b(table, made[PAPER]), **made}


def by_b(table: pl.DataFrame, of: Forecast) -> Forecast:
    """The same runs with b as the score: what b alone tells, without a predictor."""
    queues = dict(zip(table["started"].to_list(), table["b"].to_list(), strict=True))
    return Forecast(np.array([queues[int(number)] for number in of.queue]), of.tail, of.queue)


def in_sample(table: pl.DataFrame) -> Forecast:
    """Few runs, ranked by b; the tail of each history is that of these runs."""
    threshold = pl.col("time_ps").quantile(TAIL, "linear").over("pattern", "bytes")
    tail = table.select(pl.col("time_ps") > threshold).to_series()
    numbers = (table["b"], tail.cast(pl.Float64), table["started"].cast(pl.Float64))
    return Forecast(*(column.to_numpy() for column in numbers))


def _known(row: dict[str, Any], predictor: Predictor) -> dict[str, Any]:
    names = {*predictor.used, *predictor.history_of, "b"}
    return {name: value for name, value in row.items() if name in names}


def compare(runs: Runs) -> list[Row]:
    """A row for each statement that the runs can answer."""
    table = records(runs)
    if table["started"].n_unique() < len(DRAWS):
        made = in_sample(table)
        area = forecasts.area(made.chance, made.tail)
        return [_row(f"area under the ROC, from {ALONE}", area, 0.5, "area", "> 0.5", None, len(made.tail))]
    rows = []
    of = forecasts_of(table)
    for name, made in of.items():
        area, *ends = made.area()
        what = f"area under the ROC, from {name}"
        rows.append(_row(what, area, 0.5, "area", "> 0.5", (ends[0], ends[1]), len(made.tail)))
        caught, *ends = made.caught()
        what = f"share of the tail in the half that is flagged, from {name}"
        rows.append(_row(what, caught, 100 * HALF, "%", f"> {100 * HALF:g}", (ends[0], ends[1]), len(made.tail)))
    return rows


OURS = "our own definition: the paper names no classifier, threshold or accuracy"


def of_ours(rows: Sequence[Row]) -> list[Row]:
    """The rows without a verdict: what they compare with is no value of the paper."""
    return [replace(row, verdict="not comparable", why=OURS, experiment="") for row in rows]


def _row(
    what: str, ours: float, theirs: float, unit: str, tolerance: str, interval: tuple[float, float] | None, n: int
) -> Row:
    row = statement(
        "V17", what, ours, theirs, unit, tolerance, "Salimi Beni 2022, abstract", model=MODEL, messages=1,
        interval=interval,
    )  # fmt: skip
    return replace(row, repetitions=n)


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "statements": side_by_side(rows, [MODEL]),
        "reasons": reasons(rows),
        "folds": str(FOLDS),
        "iterations": f"{OFTEN['4 B']} (of {LONG} {OFTEN[LONG]}; of all-to-all half as many)",
        "nodes": str(NODES),
        "half": fixed(HALF, ".0%"),
        "quantile": f"{TAIL:g}",
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    records_of_runs = records(runs)
    of = forecasts_of(records_of_runs)
    scores = [
        [
            name,
            "{:.2f} ({:.2f} to {:.2f})".format(*made.area()),
            "{:.0f} % ({:.0f} to {:.0f})".format(*made.caught()),
            f"{made.precision():.0f} %",
            "" if name == ALONE else f"{forecasts.brier(made.chance, made.tail):.4f}",
        ]
        for name, made in of.items()
    ]
    share = float(of[NEIGHBOURS].tail.mean())
    bins = [
        [
            f"{fixed(bin_.low, '.0%')} to {fixed(bin_.high, '.0%')}",
            f"{bin_.runs:,}",
            fixed(bin_.forecast, ".1%"),
            fixed(bin_.observed, ".1%"),
            " to ".join(fixed(end, ".1%") for end in bin_.interval),
        ]
        for bin_ in forecasts.reliability(of[NEIGHBOURS].chance, of[NEIGHBOURS].tail)
    ]
    return {
        "runs": f"{records_of_runs.height:,}",
        "queues": str(records_of_runs["started"].n_unique()),
        "share": fixed(share, ".1%"),
        "always": f"{share * (1 - share):.4f}",
        "scores": table(
            ["predicted from", "area under the ROC", "tail in the flagged half", "precision", "Brier"], scores, "lrrrr"
        ),
        "reliability": table(["probability", "runs", "predicted", "in the tail", "95 %"], bins, "lrrrr"),
    }


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """The receiver operating characteristics, and predicted against observed probability."""
    of = forecasts_of(records(runs))
    with settings():
        made = figure(10, 4.6)
        left, right = made.subplots(1, 2)
        for (name, this), colour in zip(of.items(), SERIES, strict=False):
            order = np.argsort(-this.chance, kind="stable")
            hits = np.append(0, np.cumsum(this.tail[order]) / this.tail.sum())
            others = np.append(0, np.cumsum(1 - this.tail[order]) / (1 - this.tail).sum())
            left.plot(100 * others, 100 * hits, label=f"{name}, {this.area()[0]:.2f}", color=colour)
        left.plot([0, 100], [0, 100], linestyle=":", color="0.5", label="chance")
        left.set(xlabel="other runs that are flagged (%)", ylabel="runs in the tail that are flagged (%)")
        left.legend(title="predicted from, area", loc="lower right")
        bins = forecasts.reliability(of[NEIGHBOURS].chance, of[NEIGHBOURS].tail)
        x, y = ([100 * getattr(bin_, name) for bin_ in bins] for name in ("forecast", "observed"))
        low, high = ([100 * abs(bin_.observed - bin_.interval[end]) for bin_ in bins] for end in (0, 1))
        right.errorbar(x, y, [low, high], marker="o", linestyle="none", capsize=3, color=SERIES[2], label=NEIGHBOURS)
        most = max(*x, *(a + b for a, b in zip(y, high, strict=True)))
        right.plot([0, most], [0, most], linestyle=":", color="0.5")
        right.set(xlabel="predicted probability of the tail (%)", ylabel="runs that were in the tail (%)")
        right.legend(loc="upper left")
    return made


REPRODUCTION = Reproduction(
    name="salimi-beni2022-tail",
    title="Whether a run falls into the tail, predicted at its submission (Salimi Beni 2022)",
    points=scattered,
    make=make,
    rows=compare,
    explain=of_ours,
    text=Page(lambda: (files("odonata.reproduce.salimibeni2022") / "tail.md").read_text("utf-8"), _of_rows, _of_runs),
    picture=draw,
    keep=keep,
    study="salimi-beni2022",
)
