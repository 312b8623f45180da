"""Analyses series of times: spread, tail, peaks, distribution, and correlation with another quantity."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from odonata.analysis import correlation as correlations
from odonata.analysis.dispersion import LEAST, Dispersion, describe
from odonata.analysis.fits import CRITERIA, LIMIT_S, Fits, fit_all, unfit
from odonata.analysis.peaks import Peaks, count_peaks
from odonata.errors import InputError, unknown
from odonata.iterations.table import TIME, Iterations, read_iterations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from odonata.analysis.correlation import Correlation

MOST_FITTED = 4
"""Most series for which distributions are fitted by default. A series takes about a minute of one processor."""

POINTS = "run"
"""Default column whose values are the points of a correlation."""


@dataclass(frozen=True)
class Series:
    """One series of times, in picoseconds."""

    key: dict[str, Any]
    """Column -> its value in this series."""
    times_ps: NDArray[np.float64]
    dispersion: Dispersion
    peaks: Peaks | None
    """`None` if the test is not possible (`odonata.analysis.peaks`)."""
    fits: Fits | None
    """`None` if distributions were not to be fitted, or cannot be."""
    unfit: str
    """Why they cannot be; empty if they can."""

    @property
    def label(self) -> str:
        """The values of its key."""
        return ", ".join(str(value) for value in self.key.values()) or "all"


@dataclass(frozen=True)
class Related:
    """The correlation of the mean times of a series with another quantity."""

    key: dict[str, Any]
    column: str
    points: str
    """Column whose values are the points."""
    x: NDArray[np.float64]
    """Mean of the column at each point."""
    y_ps: NDArray[np.float64]
    """Mean time at each point."""
    correlation: Correlation
    time_of_day: str | None
    """Column that the partial correlation leaves out the time of day of."""

    @property
    def label(self) -> str:
        """The values of its key."""
        return ", ".join(str(value) for value in self.key.values()) or "all"


@dataclass(frozen=True)
class Analysis:
    """The result of `analyse`. `str()` gives a text for people."""

    value: str
    """Column of the times."""
    keys: tuple[str, ...]
    series: tuple[Series, ...]
    related: tuple[Related, ...]
    left_out: dict[str, str]
    """Series that were not analysed, or not related -> why."""
    unfinished: int
    """Rows that were left out because nothing arrived before the end of the run."""
    slowest_rank: bool = False
    """Whether a time is that of the slowest rank of an iteration, because the table has a row for each rank."""

    def as_dict(self) -> dict[str, Any]:
        """Return the analysis as `--json` prints it.

        Returns
        -------
        dict
            Times in picoseconds.
        """
        facts: dict[str, Any] = {"value": self.value, "by": list(self.keys), "unit": "ps"}
        facts["series"] = [_series_as_json(series) for series in self.series]
        if self.related:
            facts["correlations"] = [_relation_as_json(relation) for relation in self.related]
            facts["note"] = correlations.CAUSE
        counted = {"unfinished": self.unfinished, "slowest_rank": self.slowest_rank}
        return {**facts, "left_out": self.left_out, **counted}

    def frame(self) -> pl.DataFrame:
        """Return the analysis as a table.

        Returns
        -------
        polars.DataFrame
            A row for each series: its key, dispersion, peaks and best family.
        """
        import polars as pl

        rows = []
        for series in self.series:
            best = series.fits.best() if series.fits else None
            numbers = {name: value for name, value in asdict(series.dispersion).items() if name not in _PAIRS}
            rows.append(
                {
                    **{name: str(value) for name, value in series.key.items()},
                    **{_TIMES.get(name, name): value for name, value in numbers.items()},
                    **{
                        f"{name}_{end}_ps": pair[at] if (pair := getattr(series.dispersion, name)) else None
                        for name in _PAIRS
                        for at, end in enumerate(("low", "high"))
                    },
                    "peaks": series.peaks.count if series.peaks else None,
                    "p_one_peak": series.peaks.p_one if series.peaks else None,
                    "family": best.family if best else None,
                    "ks": best.ks if best else None,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None)

    def __str__(self) -> str:
        from odonata.iterations.text import as_text

        return as_text(self)


_PAIRS = ("notch", "interval")
_TIMES = {
    name: f"{name}_ps" for name in ("minimum", "q1", "median", "q3", "p85", "p99", "maximum", "mean", "iqr", *_PAIRS)
}


def analyse(
    source: str | Path | pl.DataFrame,
    *,
    value: str | None = None,
    unit: str | None = None,
    by: Sequence[str] | None = None,
    where: Mapping[str, str] | None = None,
    skip: int = 0,
    fit: bool | None = None,
    families: Sequence[str] | None = None,
    limit_s: float = LIMIT_S,
    workers: int = 1,
    correlate: str | None = None,
    points: str | None = None,
    time_of_day: str | None = None,
    seed: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Analyses times of iterations, measured or simulated.

    Parameters
    ----------
    source
        A CSV or Parquet file, a folder of `odonata cluster probe`, or a frame of polars such as `run.messages`: a row
        for each iteration. If it has columns `iteration` and `rank`, the slowest rank of each iteration counts, unless
        `by` or `where` names `rank`.
    value
        Column of the times; without it, the one whose name ends in a unit of time.
    unit
        Unit of the times, where the name of the column does not say it.
    by
        Columns that distinguish series; without it, those of text and those with a known name such as `bytes`, but none
        of moments.
    where
        Column -> value: only the rows with these values.
    skip
        Rows that are left out at the beginning of each series.
    fit
        Whether distributions are fitted; `None`: if there are at most four series, and no correlation is asked for.
    families
        Names of families of `scipy.stats` to fit; `None`: all.
    limit_s
        Processor time in seconds for one family and series.
    workers
        Processes that fit.
    correlate
        Column of numbers to correlate with the mean time, such as `b`.
    points
        Column whose values are the points of the correlation; without it, `run`.
    time_of_day
        Column with the moment of each row (ISO 8601, or seconds since 1970), for a partial correlation.
    seed
        Of the bootstrap.
    report
        Called with the number of fits that are done, and of all.

    Returns
    -------
    Analysis
        A description of each series, and the correlations.

    Raises
    ------
    InputError
        For a file that cannot be read or analysed; it names the line.
    RunError
        If the processes that fit do not start.

    Examples
    --------
    >>> import polars as pl
    >>> import odonata as od
    >>> times = pl.DataFrame({"bytes": [4] * 8 + [64] * 8, "time_us": [9, 8, 10, 11, 12, 9, 8, 30] + [20] * 8})
    >>> found = od.cluster.analyse(times, fit=False)
    >>> [(one.label, one.dispersion.qcd, one.dispersion.outliers_high) for one in found.series]
    [('4', 0.125, 1), ('64', 0.0, 0)]
    """
    if points is not None and correlate is None:
        raise InputError("points are for a correlation", hint="say with what: --correlate COLUMN")
    if time_of_day is not None and correlate is None:
        raise InputError("the time of day is for a correlation", hint="say with what: --correlate COLUMN")
    points = points or (POINTS if correlate is not None else None)
    apart = [name for name in (correlate, points, time_of_day) if name is not None]
    read = read_iterations(source, value=value, unit=unit, by=by, where=where, skip=skip, keep=apart)
    left_out: dict[str, str] = {}
    parts = []
    for key, rows in _parts(read):
        if rows.height < LEAST:
            left_out[_label(key)] = f"{rows.height} rows, fewer than {LEAST}"
        else:
            parts.append((key, rows))
    if not parts:
        most = max(rows.height for _, rows in _parts(read))
        hint = f"--by chooses the columns that tell series apart; now: {', '.join(read.keys)}" if read.keys else None
        said = f"no series has {LEAST} rows; the longest has {most}"
        raise InputError(said, file=read.file, hint=hint)
    related: tuple[Related, ...] = ()
    if correlate is not None and points is not None:
        related = _related(read, parts, correlate, points, time_of_day, seed, left_out)
    samples = [rows[TIME].to_numpy() for _, rows in parts]
    reasons = [unfit(sample) for sample in samples]
    fitted: dict[int, Fits] = {}
    if fit if fit is not None else correlate is None and len(parts) <= MOST_FITTED:
        able = [number for number, why in enumerate(reasons) if not why]
        distributions = fit_all(
            [samples[number] for number in able], names=families, limit_s=limit_s, workers=workers, report=report
        )
        fitted = dict(zip(able, distributions, strict=True))
    series = tuple(
        Series(key, sample, describe(sample), count_peaks(sample, seed=seed), fitted.get(number), reasons[number])
        for number, ((key, _), sample) in enumerate(zip(parts, samples, strict=True))
    )
    return Analysis(read.value, read.keys, series, related, left_out, read.unfinished, read.slowest)


def _parts(read: Iterations) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    """The rows of each series, in the order of the keys; keys that are numbers by their value."""
    if not read.keys:
        return [({}, read.table)]
    groups = read.table.partition_by(read.keys, as_dict=True, maintain_order=True)
    ordered = sorted(groups.items(), key=lambda item: [_order(level) for level in item[0]])
    return [(dict(zip(read.keys, values, strict=True)), rows) for values, rows in ordered]


def _order(value: Any) -> tuple[int, float, str]:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 1, 0.0, str(value)
    return (1, 0.0, str(value)) if math.isnan(number) else (0, number, "")


def _label(key: Mapping[str, Any]) -> str:
    return ", ".join(str(value) for value in key.values()) or "all"


def _related(
    read: Iterations,
    parts: list[tuple[dict[str, Any], pl.DataFrame]],
    column: str,
    points: str,
    time_of_day: str | None,
    seed: int,
    left_out: dict[str, str],
) -> tuple[Related, ...]:
    import polars as pl

    if points in read.keys:
        raise InputError(f"`{points}` tells series apart, so that each has one point only", hint="leave it out of --by")
    values = read.numbers(column)
    table = read.table.with_columns(values.alias("_x"))
    moments = _moments(read, time_of_day) if time_of_day is not None else None
    table = table.with_columns(_at=pl.lit(0.0) if moments is None else moments)
    relations = []
    problem: InputError | None = None
    for key, _ in parts:
        mine = table.filter(pl.all_horizontal(pl.lit(True), *(pl.col(name) == key[name] for name in read.keys)))
        means = mine.group_by(points, maintain_order=True).agg(
            pl.col("_x").mean(), pl.col(TIME).mean(), pl.col("_at").first()
        )
        x, y = means["_x"].to_numpy(), means[TIME].to_numpy()
        controls = None if moments is None else correlations.time_of_day(means["_at"].to_numpy())
        try:
            of = (f"`{column}`", f"the mean of `{read.value}`")
            correlation = correlations.correlate(x, y, controls, names=of, seed=seed)
        except InputError as e:
            problem = problem or e
            left_out[f"correlation of {_label(key)}"] = e.message
            continue
        relations.append(Related(key, column, points, x, y, correlation, time_of_day))
    if problem is not None and not relations:
        hint = f"a point is a value of `{points}`; --points chooses another column"
        raise InputError(f"cannot correlate `{column}` with `{read.value}`: {problem.message}", hint=hint)
    return tuple(relations)


def _moments(read: Iterations, column: str) -> pl.Series:
    """Seconds since 1970, of local time or any other that the column is in."""
    import polars as pl

    if column not in read.table.columns:
        raise unknown("column", column, read.names())
    moments = read.table[column]
    if moments.dtype.is_numeric():
        return moments.cast(pl.Float64)
    if moments.dtype.is_temporal():
        return moments.cast(pl.Datetime("us")).dt.epoch("us") / 1e6
    try:
        return read.numbers(column)
    except InputError:
        pass
    from datetime import UTC, datetime

    def seconds(text: Any) -> float:
        try:
            moment: datetime = datetime.fromisoformat(str(text))
        except ValueError:
            said = f"expected moments such as 2026-05-01T12:30:00 in `{column}`, found `{text}`"
            raise InputError(said, file=read.file) from None
        # The hour counts as written, in any time zone.
        return moment.replace(tzinfo=UTC).timestamp()

    of = {text: seconds(text) for text in moments.unique()}
    return pl.Series([of[text] for text in moments], dtype=pl.Float64)


def _series_as_json(series: Series) -> dict[str, Any]:
    numbers = {_TIMES.get(name, name): value for name, value in asdict(series.dispersion).items()}
    peaks = None
    if series.peaks is not None:
        peaks = asdict(series.peaks)
        peaks["at_ps"] = peaks.pop("at")
    fits = None
    if series.fits is not None:
        places = {name: series.fits.ranks(name) for name in CRITERIA}
        fits = {
            "fitted_values": series.fits.n,
            "families": [
                {
                    **asdict(fit),
                    **{f"rank_{name}": place[fit.family] for name, place in places.items()},
                }
                for fit in series.fits.fits
            ],
            "failures": series.fits.failures,
            "rejected": series.fits.rejected,
        }
    return {"key": series.key, **numbers, "peaks": peaks, "fits": fits, "unfit": series.unfit or None}


def _relation_as_json(relation: Related) -> dict[str, Any]:
    return {
        "key": relation.key,
        "column": relation.column,
        "points": relation.points,
        "time_of_day": relation.time_of_day,
        **asdict(relation.correlation),
    }
