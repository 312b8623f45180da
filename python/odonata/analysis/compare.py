"""Comparison of the runs of a study by the values of one axis.

Two runs are a pair if they agree in all other axes, including the seed: then they differ only by the compared value and
not by chance, and a small effect shows in few runs. Where several runs with one value agree in all other axes (values
were drawn together, or are listed twice), no run has a unique partner, so there are no pairs: pairing all with all
would count each run many times. A ratio is the median of the ratios of the pairs, with a bootstrap over the pairs;
without pairs, the ratio of the medians. The test is Wilcoxon's signed-rank test (two-sided; Wilcoxon, "Individual
comparisons by ranking methods", Biometrics 1, 1945) of the logarithms of the ratios, or of the differences where a
value is 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.analysis.bootstrap import interval, ratio_interval
from odonata.analysis.derived import DERIVED, VARIATION, extrapolated
from odonata.errors import InputError, unknown
from odonata.store.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SEED = 1
"""Seed of the bootstrap where none is given."""


@dataclass(frozen=True)
class Row:
    """The results for one value of the axis."""

    value: Any
    """The value; a table or list as text."""
    n: int
    """Runs with this value that are done and have the compared number."""
    median: float | None
    q25: float | None
    q75: float | None
    interval: tuple[float, float] | None
    """95 % bootstrap interval of the median; `None` from a single run."""
    ratio: float | None = None
    """To the baseline: the median of the ratios of the pairs; `None` for the baseline itself."""
    ratio_interval: tuple[float, float] | None = None
    pairs: int = 0
    """Runs of it and of the baseline that agree in all other axes; 0: the ratio is that of the medians."""
    better: int = 0
    """Pairs in which it is better than the baseline (lower, for a column without an orientation)."""
    worse: int = 0
    equal: int = 0
    p: float | None = None
    """Of the paired test; `None` if there is nothing to test."""
    overlap: bool | None = None
    """Whether the intervals of the two medians overlap."""
    variation: float | None = None
    """Of a program: the median over the runs of the 99 % quantile of the times of its iterations over their median."""
    variation_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Comparison:
    """A comparison of all values of an axis."""

    by: str
    column: str
    job: str | None
    baseline: Any
    higher_is_better: bool | None
    """`None` for a column without an orientation."""
    rows: tuple[Row, ...]
    seed: int
    cut_off: int = 0
    """Runs that are left out because they are cut off and would look fast."""
    saturated: int = 0
    """Runs among those compared in which the job is saturated, so that its latency depends on how long it sends."""
    extrapolated: int = 0
    """Runs among those compared of which iterations were skipped (`run.steady`)."""

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {**asdict(self), "confidence": 0.95}

    def __str__(self) -> str:
        from odonata.analysis.compare_text import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from odonata.analysis.compare_text import as_html

        return as_html(self)


def compare(
    jobs: pl.DataFrame,
    by: str,
    column: str,
    *,
    others: Sequence[str],
    job: str | None = None,
    baseline: Any = None,
    values: Sequence[Any] = (),
    seed: int = SEED,
) -> Comparison:
    """Compares the rows of one job by the axis `by`, in the order of its values.

    `jobs` has a column for each axis; `others` are the axes in which two runs must agree to be a pair. The baseline is
    the first value if none is given; `values` may name values without a finished run. Raises InputError for a column
    without numbers, for an unknown baseline, and for a negative seed.
    """
    check_column(jobs, column, (by, *others))
    if seed < 0:
        raise InputError(f"expected a seed from 0 on, found {seed}")
    values = list(values) or jobs[by].unique(maintain_order=True).to_list()
    if not values:
        raise InputError("no run of the study is done, so there is nothing to compare")
    start = values[0] if baseline is None else _found(baseline, values, by)
    present = jobs.filter(pl.col(column).is_not_null())
    if not present.height:
        raise InputError(f"no run of the study has a number in `{column}`", hint="choose another with --value")
    samples = {value: present.filter(pl.col(by) == value) for value in values}
    rows = []
    for index, value in enumerate(values):
        row = _described(value, _numbers(samples[value], column), seed + 2 * index)
        if value != start:
            row = _against(row, samples[value], samples[start], column, others, seed + 2 * index + 1)
        rows.append(row)
    of_baseline = rows[values.index(start)].interval
    rows = [_overlapping(row, of_baseline) if row.value != start else row for row in rows]
    if VARIATION in jobs.columns and column != VARIATION:
        rows = [_varying(row, samples[row.value], seed + 2 * len(values) + at) for at, row in enumerate(rows)]
    return Comparison(
        by, column, job, start, higher_is_better(column), tuple(rows), seed, extrapolated=extrapolated(present)
    )


def _varying(row: Row, sample: pl.DataFrame, seed: int) -> Row:
    numbers = _numbers(sample.filter(pl.col(VARIATION).is_not_null()), VARIATION)
    if not len(numbers):
        return row
    return replace(row, variation=float(np.median(numbers)), variation_interval=interval(numbers, seed=seed))


def higher_is_better(column: str) -> bool | None:
    """The orientation of a column of `jobs` in the registry; `None` if it has none or is not listed."""
    better = next((of.better for of in (*COLUMNS, *DERIVED) if (of.table, of.name) == ("jobs", column)), "neither")
    return None if better == "neither" else better == "more"


def check_column(jobs: pl.DataFrame, column: str, axes: Sequence[str]) -> None:
    """Raises InputError if there is no such column of numbers."""
    numbers = [name for name in jobs.columns if jobs[name].dtype.is_numeric() and name not in (*axes, "point", "job")]
    if column not in numbers:
        raise unknown("column", column, numbers)


def _found(given: Any, values: Sequence[Any], by: str) -> Any:
    for value in values:
        if value == given or str(value).lower() == str(given).lower():
            return value
    error = unknown("value", str(given), map(str, values))
    raise InputError(f"`{by}` has no value `{given}` in this study", hint=error.hint)


def _numbers(rows: pl.DataFrame, column: str) -> NDArray[np.float64]:
    return rows[column].cast(pl.Float64).to_numpy()


def _described(value: Any, numbers: NDArray[np.float64], seed: int) -> Row:
    if not len(numbers):
        return Row(value, 0, None, None, None, None)
    low, middle, high = (float(q) for q in np.quantile(numbers, [0.25, 0.5, 0.75]))
    return Row(value, len(numbers), middle, low, high, interval(numbers, seed=seed))


def _against(row: Row, here: pl.DataFrame, there: pl.DataFrame, column: str, others: Sequence[str], seed: int) -> Row:
    # Without other axes there is one run for each value, and these are a pair.
    keys = list(others) or ["name"]
    if here.select(keys).is_duplicated().any() or there.select(keys).is_duplicated().any():
        return _unpaired(row, _numbers(here, column), _numbers(there, column), seed)
    paired = here.select(*keys, pl.col(column).alias("_here")).join(
        there.select(*keys, pl.col(column).alias("_there")), on=keys, how="inner", maintain_order="left"
    )
    if not paired.height:
        return _unpaired(row, _numbers(here, column), _numbers(there, column), seed)
    ours, theirs = _numbers(paired, "_here"), _numbers(paired, "_there")
    less, more = int((ours < theirs).sum()), int((ours > theirs).sum())
    better, worse = (more, less) if higher_is_better(column) else (less, more)
    ratio = between = None
    if theirs.all():
        ratios = ours / theirs
        ratio, between = float(np.median(ratios)), interval(ratios, seed=seed)
    counts = {"pairs": len(ours), "better": better, "worse": worse, "equal": len(ours) - less - more}
    return _with(row, ratio=ratio, ratio_interval=between, p=_wilcoxon(ours, theirs), **counts)


def _unpaired(row: Row, ours: NDArray[np.float64], theirs: NDArray[np.float64], seed: int) -> Row:
    if not len(ours) or not len(theirs) or not np.median(theirs):
        return row
    between = ratio_interval(ours, theirs, seed=seed)
    return _with(row, ratio=float(np.median(ours) / np.median(theirs)), ratio_interval=between)


def _wilcoxon(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float | None:
    """The p-value; `None` for fewer than two pairs that differ."""
    if int((ours != theirs).sum()) < 2:
        return None
    from scipy.stats import wilcoxon

    positive = bool((ours > 0).all() and (theirs > 0).all())
    differences = np.log(ours / theirs) if positive else ours - theirs
    return float(wilcoxon(differences[ours != theirs]).pvalue)


def _overlapping(row: Row, baseline: tuple[float, float] | None) -> Row:
    if row.interval is None or baseline is None:
        return row
    return _with(row, overlap=row.interval[0] <= baseline[1] and baseline[0] <= row.interval[1])


def _with(row: Row, **changes: Any) -> Row:
    from dataclasses import replace

    return replace(row, **changes)
