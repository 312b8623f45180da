"""`odonata cluster analyse`: times of iterations in, their spread, tail, peaks and distribution out."""

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from odonata.cli.arguments import pairs, write_table
from odonata.cli.cluster_options import Flag, FromZero, Out, Quiet, Several
from odonata.errors import InputError


def analyse(
    file: Path,
    /,
    *,
    value: str | None = None,
    unit: str | None = None,
    by: Several = None,
    where: Several = None,
    skip: FromZero = 0,
    fit: bool | None = None,
    family: Several = None,
    time_limit: Annotated[float, Parameter(validator=validators.Number(gt=0, lte=3600))] = 5.0,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    correlate: str | None = None,
    points: str | None = None,
    time_of_day: str | None = None,
    seed: FromZero = 1,
    out: Out = None,
    plot: Path | None = None,
    kind: Literal["density", "histogram", "scatter", "qcd"] | None = None,
    force: Flag = False,
    json: Flag = False,
    quiet: Quiet = False,
) -> int:
    """Analyse times of iterations: spread, tail, peaks, distribution, correlation with another column.

    The file is CSV with a header, or Parquet: a row for each iteration. `messages.parquet` and `iterations.parquet` of
    a run folder are such files. Of a folder of `odonata cluster probe`, all kept runs are read. If there is a row for
    each rank, the slowest rank of each iteration counts, unless --by or --where names `rank`.

    Parameters
    ----------
    file
        The table.
    value
        Column of the times; without it the one whose name ends in a unit of time, such as `time_us`.
    unit
        Unit of the times (ps, ns, us, ms, s), where the name of the column does not say it.
    by
        A column that tells series apart; may be repeated. Without it those of text, and `bytes`, `nodes`, `job` etc.,
        but none of moments.
    where
        Only rows with this value, as in `--where machine=leonardo`; may be repeated.
    skip
        Leave out so many rows at the beginning of each series.
    fit
        Fit all continuous distribution families of SciPy (a minute of a processor for each series). Without it, if
        there are at most four series and no --correlate.
    family
        Fit this family only; may be repeated.
    time_limit
        Processor time for one family and series, in seconds.
    workers
        Processes that fit: one for each processor without it. The result does not depend on it.
    correlate
        A column of numbers, such as `b`, to correlate with the mean time.
    points
        Column whose values are the points of the correlation (default: `run`).
    time_of_day
        Column with the moment of each row; a partial correlation leaves out what the time of day explains.
    seed
        Of the bootstrap and of the test of peaks.
    out
        Also write a row for each series to a table (.parquet or .csv).
    plot
        Also draw a picture: .png, .pdf or .svg.
    kind
        What is drawn. `density`: the fitted densities in one panel, without fits histograms. `histogram`: a panel for
        each series. `scatter`: the points of each correlation, the default with --correlate. `qcd`: the quartile
        coefficient of dispersion against `bytes` or another number.
    force
        Overwrite a file that is not a picture of odonata.
    json
        Print one JSON object, with all families.
    quiet
        No progress on standard error.
    """
    from odonata.iterations.analysis import analyse as run
    from odonata.processors import processors

    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise InputError(f"expected a file that ends in .parquet or .csv, found `{out}`")
    if plot is None and (kind is not None or force):
        raise InputError(f"{'--kind' if kind else '--force'} goes with --plot")
    if kind == "scatter" and correlate is None:
        raise InputError("a scatter plot needs --correlate COLUMN")
    if plot is not None:
        from odonata.plot.style import check_free, check_target

        check_target(plot)
        check_free(plot, force=force)
    progress = None if quiet else _Progress()
    analysis = run(
        file,
        value=value,
        unit=unit,
        by=by,
        where=pairs(where or []),
        skip=skip,
        fit=True if fit is None and (family or (kind == "density" and correlate is not None)) else fit,
        families=family,
        limit_s=time_limit,
        workers=workers or processors(),
        correlate=correlate,
        points=points,
        time_of_day=time_of_day,
        seed=seed,
        report=progress,
    )
    if out is not None:
        write_table(analysis.frame(), out)
    if plot is not None:
        from odonata.iterations.figures import figure_of
        from odonata.plot.style import save

        save(figure_of(analysis, kind or ("scatter" if analysis.related else "density")), plot)
    if json:
        print(json_module.dumps(analysis.as_dict(), default=str))
        return 0
    print(analysis)
    if fit is None and family is None and all(series.fits is None for series in analysis.series):
        print(f"\nno distributions fitted to {len(analysis.series)} series; --fit fits them, --where chooses some")
    if out is not None:
        print(f"{len(analysis.series):,} series in {out}")
    if plot is not None:
        print(plot)
    return 0


class _Progress:
    """The number of finished fits: one line that is overwritten on a terminal, few lines elsewhere."""

    def __init__(self) -> None:
        self._shown = 0

    def __call__(self, done: int, of: int) -> None:
        terminal = sys.stderr.isatty()
        if terminal or done == of or done >= self._shown + max(of // 4, 100):
            self._shown = done
            end = "\r" if terminal and done < of else "\n"
            print(f"{done:,} of {of:,} fits done", file=sys.stderr, end=end, flush=True)
