"""The report of a study, as one document for `payload.pack`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.analysis.by_axis import is_logarithmic, numeric, usual_axes
from odonata.analysis.compare import higher_is_better
from odonata.analysis.compare_text import sentences
from odonata.errors import InputError
from odonata.report.run import NOT_MODELLED
from odonata.store import columns_of
from odonata.study.axis import text
from odonata.study.plan import SEED
from odonata.study.task import POINT

if TYPE_CHECKING:
    from odonata.study.study import Study

MOST_VALUES = 4_000_000
"""Numbers of the table of jobs that a report has; of a larger study it has the shown columns only."""
MOST_COMPARISONS = 24
"""Most comparisons in a report, each with bootstraps; `odonata compare` makes the others."""
MOST_POINTS = 20_000
"""Points up to which axes are compared."""

_NOT_RESULTS = ("job", "background", "bin_lower_ps", "bin_upper_ps", "bin_count", "class_bytes")


def study_document(study: Study) -> dict[str, Any]:
    """All that the report shows of a study.

    Raises InputError if no run of it is done.
    """
    left_out: list[str] = []
    if study.jobs.is_empty():
        raise InputError("no run of the study is done", hint="`odonata sweep` runs it")
    jobs = study.jobs
    front = study.rows_of(_first_job(study))
    shown = [column for column in study.columns(front) if column in jobs.columns]
    columns = _columns(jobs, study.axes, shown, left_out)
    by, series = usual_axes(study.axes, front, SEED)
    # An axis may be named like a column.
    axes = {f"axis_{number}": key for number, key in enumerate(study.axes)}
    return {
        "name": study.name,
        "axes": [_axis(study, key) for key in study.axes],
        "repetition": SEED,
        "points": _texts(study.runs, axes).select(POINT, *axes, *_known(study.runs, "id", "status", "error")),
        "jobs": jobs.select(POINT, "name", "complete", *[column["name"] for column in columns]),
        "columns": columns,
        "by": by,
        "series": series,
        "column": shown[0] if shown else columns[0]["name"],
        "job": front["name"][0],
        "comparisons": _comparisons(study, shown, left_out),
        "facts": _facts(study),
        "study": _file(study, "study.toml"),
        "scenario": _file(study, "scenario.toml"),
        "not_modelled": NOT_MODELLED,
        "left_out": left_out,
    }


def _first_job(study: Study) -> str:
    rows = study.jobs if study.show.job is None else study.jobs.filter(name=study.show.job)
    front = rows.filter(~pl.col("background"))
    return str((front if front.height else rows)["name"][0])


def _axis(study: Study, key: str) -> dict[str, Any]:
    """An axis with its values as texts: numbers and quantities ascending, names as they come.

    Numbers and quantities have `positions` too, where a picture shows them: the numbers, or their logarithms.
    """
    values = study.runs[key].unique(maintain_order=True).to_list()
    kind, numbers = numeric(values)
    order = sorted(range(len(values)), key=lambda index: numbers[index])
    positions: list[float] | None = None
    if kind != "name":
        ascending = [numbers[index] for index in order]
        positions = [math.log10(number) for number in ascending] if is_logarithmic(kind, numbers) else ascending
    return {"key": key, "kind": kind, "values": [text(values[index]) for index in order], "positions": positions}


def _texts(runs: pl.DataFrame, axes: dict[str, str]) -> pl.DataFrame:
    return runs.with_columns(
        pl.Series(name, [text(value) for value in runs[key].to_list()], dtype=pl.String) for name, key in axes.items()
    )


def _known(frame: pl.DataFrame, *names: str) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.String).fill_null("") for name in names if name in frame.columns]


def _columns(jobs: pl.DataFrame, axes: tuple[str, ...], shown: list[str], left_out: list[str]) -> list[dict[str, Any]]:
    """The numbers of the table of jobs, with unit, meaning and which of two is better."""
    known = {column.name: column for column in columns_of("jobs", collective=True, reordering=True)}
    names = [
        name
        for name in jobs.columns
        if jobs[name].dtype.is_numeric() and name not in (*axes, *_NOT_RESULTS, POINT) and jobs[name].count()
    ]
    if len(names) * jobs.height > MOST_VALUES:
        left_out.append(
            f"The study has {jobs.height:,} rows: of their {len(names)} numbers, {', '.join(shown)} are here."
        )
        names = shown
    return [
        {
            "name": name,
            "unit": known[name].unit if name in known else "",
            "meaning": known[name].meaning if name in known else "",
            "more_is_better": higher_is_better(name),
        }
        for name in names
    ]


def _comparisons(study: Study, shown: list[str], left_out: list[str]) -> list[dict[str, Any]]:
    """Each axis compared, as `odonata compare` does, for the shown columns and all jobs that are not background."""
    if study.runs.height > MOST_POINTS:
        left_out.append(f"Axes are not compared: more than {MOST_POINTS:,} points. `odonata compare` compares them.")
        return []
    front = study.jobs.filter(~pl.col("background"))
    names = (front if front.height else study.jobs)["name"].unique(maintain_order=True).to_list()
    several = [key for key in study.axes if study.runs[key].n_unique() > 1 and key != SEED]
    wanted = [(column, name, key) for column in shown for name in names for key in several]
    if len(wanted) > MOST_COMPARISONS:
        left_out.append(
            f"Of {len(wanted)} comparisons of axes, {MOST_COMPARISONS} are here. `odonata compare` makes the others."
        )
    comparisons = []
    for column, name, key in wanted[:MOST_COMPARISONS]:
        try:
            comparison = study.compare(key, column, job=name)
        except InputError:
            continue  # without numbers in this column, or all cut off
        rows = [{**row, "value": text(row["value"])} for row in comparison.as_dict()["rows"]]
        baseline, said = text(comparison.baseline), sentences(comparison)
        comparisons.append({"by": key, "column": column, "job": name, "baseline": baseline, "rows": rows, "said": said})
    return comparisons


def _facts(study: Study) -> list[tuple[str, str]]:
    manifest = study.manifest
    axes = " x ".join(f"{axis['values']} {' with '.join(axis['keys'])}" for axis in manifest["axes"])
    failed = f", {manifest['failed']:,} failed" if manifest["failed"] else ""
    return [
        ("axes", axes),
        ("points", f"{manifest['settled']:,} of {manifest['points']:,} done{failed}"),
        ("version", f"{manifest.get('version', '')}, engines {', '.join(study.engines)}"),
    ]


def _file(study: Study, name: str) -> str:
    return "" if study.path is None else (study.path / name).read_text(encoding="utf-8")
