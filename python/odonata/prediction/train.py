"""Trains a predictor, and checks it on runs that came later than those it learnt from.

The tail of a job begins at a quantile of its own history (0.85: where Salimi Beni 2022 counts from, section 1.1). The
latest quarter of the runs is held out. Thresholds, weights, penalties and the cut of the flags come from the earlier
runs alone; the held-out runs are compared with the thresholds of the earlier ones. Then all runs make the predictor
that is kept. Two baselines are scored on the same runs: "always the median", which gives every run the median of its
history and the share of the tail that the earlier runs had, and b alone, fitted in the same way.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.analysis import forecasts
from odonata.errors import InputError
from odonata.prediction.fit import (
    EVENTS_PER_TERM,
    QUANTILES,
    Fitted,
    Labelled,
    fit,
    histories,
    label,
    least_history,
    predicted,
)
from odonata.prediction.predictor import FORMAT, VERSION, History, Predictor
from odonata.prediction.runs import read_runs

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from odonata.prediction.runs import Reading, Runs

TAIL = 0.85
HELD_OUT = 0.25
"""Share of the runs that is held out. Assumed: usual."""
MEDIAN, ONLY_B, OURS = "always the median", "b alone", "all that is known"


def train(
    records: str | Path | pl.DataFrame,
    how: Reading | None = None,
    *,
    tail: float = TAIL,
    held_out: float = HELD_OUT,
    flag_from: float | None = None,
    seed: int = 1,
) -> Predictor:
    """Train a predictor of the tail from records of runs, and check it on the latest of them.

    Parameters
    ----------
    records
        A table with a row for each run (CSV, Parquet or a frame), a folder of `odonata cluster probe`, or the folder
        of a study. It has a time such as `time_s`, when the run began (`started`), `b`, and some of `nodes`, `groups`,
        `leaves`, `pattern`, `bytes` and `job`.
    how
        How they are read: names of columns, a recording that says b, what makes the history of a job.
    tail
        The quantile of its history above which a run is in the tail.
    held_out
        Share of the runs, the latest, on which the predictor is checked.
    flag_from
        Probability from which a run is flagged. Without it, where the F1 score was largest on runs left out in
        training.
    seed
        Of the intervals (bootstrap).

    Returns
    -------
    Predictor

    Raises
    ------
    InputError
        For records that cannot be read, wrong arguments, and "not enough data".
    """
    for name, given, low, high in (("tail", tail, 0.5, 0.99), ("held_out", held_out, 0.05, 0.5)):
        if not low <= given <= high:
            raise InputError(f"expected `{name}` from {low:g} to {high:g}, found {given:g}")
    if flag_from is not None and not 0 < flag_from < 1:
        raise InputError(f"expected a probability between 0 and 1 from which runs are flagged, found {flag_from:g}")
    runs = read_runs(records, how)
    earlier, later = split(runs, held_out)
    of = histories(earlier, tail)
    known, fitted = _fitted(earlier, tail, "earlier ")
    simple = fit(known, only_b=True)
    assert simple is not None  # the larger fit has b
    report = _report(
        known,
        label(later, of),
        {OURS: fitted, ONLY_B: simple},
        later=len(later),
        cuts={
            OURS: fitted.cut if flag_from is None else flag_from,
            ONLY_B: simple.cut if flag_from is None else flag_from,
        },
        seed=seed,
    )
    _, last = _fitted(runs, tail, "")
    from odonata import __version__

    return Predictor(
        format=FORMAT,
        version=VERSION,
        odonata=__version__,
        source=runs.source,
        runs=len(runs),
        tail=tail,
        flag_from=last.cut if flag_from is None else flag_from,
        history_of=list(runs.key_columns),
        variables=last.variables,
        patterns=last.patterns,
        chance=last.chance,
        quantiles=last.quantiles,
        histories=[
            History(key=list(key), runs=n, median_ps=median, threshold_ps=threshold)
            for key, (n, median, threshold) in sorted(histories(runs, tail).items())
        ],
        left_out=last.left_out,
        report=report | {"rows_left_out": runs.left_out},
    )


def split(runs: Runs, held_out: float) -> tuple[Runs, Runs]:
    """Earlier and later runs; all runs of one moment are on one side. Raises InputError if there is one moment only."""
    at = int(np.ceil(len(runs) * (1 - held_out)))
    cut = runs.when[min(at, len(runs) - 1)]
    later = runs.when >= cut
    if later.all():
        cut = runs.when[-1]
        later = runs.when >= cut
    if later.all():
        raise InputError(
            f"not enough data: all {len(runs)} runs began at one moment, so none can be held out in time",
            hint="--column when=COLUMN says which column is the time",
        )
    return runs.take(np.flatnonzero(~later)), runs.take(np.flatnonzero(later))


def _fitted(runs: Runs, tail: float, which: str) -> tuple[Labelled, Fitted]:
    """Raises InputError if there is not enough data."""
    of = histories(runs, tail)
    needed = least_history(tail)
    if not of:
        counts = [runs.keys.count(key) for key in set(runs.keys)]
        raise InputError(
            f"not enough data: no job has {needed} {which}runs, the fewest that say where its tail begins; "
            f"the most is {max(counts)} ({len(counts):,} jobs)",
            hint="--history-of takes runs together, as in --history-of pattern",
        )
    known = label(runs, of)
    if "b" not in runs.numbers or np.ptp(known.runs.numbers["b"]) == 0:
        raise InputError(f"not enough data: b is the same in all {len(known.runs)} {which}runs")
    fitted = fit(known)
    if fitted is None:
        events = int(min(known.tail.sum(), len(known.tail) - known.tail.sum()))
        least = int(np.ceil(EVENTS_PER_TERM / (1 - tail)))
        raise InputError(
            f"not enough data: {events} of {len(known.runs)} {which}runs are in the tail of their jobs; "
            f"{EVENTS_PER_TERM} are needed for each quantity that is learnt from (about {least} {which}runs)"
        )
    return known, fitted


def _report(
    earlier: Labelled,
    test: Labelled,
    models: dict[str, Fitted],
    *,
    later: int,
    cuts: dict[str, float],
    seed: int,
) -> dict[str, Any]:
    """Scores of the predictor and the baselines on the held-out runs."""
    y, n = test.tail, len(test.tail)
    told: dict[str, Any] = {
        "earlier_runs": len(earlier.runs),
        "held_out_runs": n,
        "held_out_without_history": later - n,
        "held_out_from": float(test.runs.when[0]) if n else None,
        "tail_earlier": float(earlier.tail.mean()),
        "tail_held_out": float(y.mean()) if n else None,
    }
    if not n:
        return told | {"why": "no held-out run belongs to a job with enough earlier runs"}
    share = float(earlier.tail.mean())
    chances: dict[str, NDArray[np.float64]] = {MEDIAN: np.full(n, share)}
    ratios: dict[str, dict[float, NDArray[np.float64]]] = {MEDIAN: dict.fromkeys(QUANTILES, np.zeros(n))}
    for name, of in models.items():
        chances[name], ratios[name] = predicted(of, test.runs)
    losses = {name: (chance - y) ** 2 for name, chance in chances.items()}
    scores = {}
    for name, chance in chances.items():
        # The run time that is always the median is never in the tail.
        flagged = chance >= cuts[name] if name in cuts else np.zeros(n, dtype=bool)
        recall, precision = forecasts.recall_and_precision(flagged, y)
        scores[name] = {
            "brier": float(losses[name].mean()),
            "flag_from": cuts.get(name),
            "flagged": int(flagged.sum()),
            "recall": recall,
            "precision": precision,
            "quantiles": {
                f"{q:g}": {
                    "below": float((test.ratio <= row).mean()),
                    "pinball": forecasts.pinball(test.ratio, row, q),
                }
                for q, row in ratios[name].items()
            },
        }
    against = {
        name: {
            "brier_less": float((losses[OURS] - losses[name]).mean()),
            "interval": list(forecasts.difference_interval(losses[OURS], losses[name], test.runs.when, seed=seed)),
        }
        for name in (MEDIAN, ONLY_B)
    }
    bins = [asdict(of_bin) | {"interval": list(of_bin.interval)} for of_bin in forecasts.reliability(chances[OURS], y)]
    return told | {"scores": scores, "against": against, "reliability": bins}
