"""The results of a study, in memory or in a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata import files, reading
from odonata.analysis.by_axis import arrange, usual_axes
from odonata.analysis.compare import SEED as SEED_OF_BOOTSTRAP
from odonata.analysis.compare import check_column, compare
from odonata.analysis.cut_off import saturated, without_cut_off
from odonata.analysis.derived import with_derived
from odonata.document.plain import plain
from odonata.errors import Attributes, InputError, unknown
from odonata.store.manifest import MANIFEST
from odonata.store.other_folders import of_another_kind
from odonata.study.axis import label, text
from odonata.study.folder import AGAIN, is_study_folder, read_manifest, unfinished
from odonata.study.plan import OF_MESSAGES, OF_PROGRAMS, SEED, Show
from odonata.study.task import POINT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from odonata.analysis.compare import Comparison

_FILES = ("study.toml", "scenario.toml", "runs.parquet", "jobs.parquet")


class Study(Attributes):
    """The results of a sweep: `runs`, one row per point, and `jobs`, one per point and job (polars frames). Immutable.

    Both have a column for each axis, named by its key. `odonata.sweep` makes a study, `odonata.open` reads one.

    Examples
    --------
    >>> import odonata as od
    >>> study = od.sweep("examples/quick.toml", {"routing": ["fpar", "minimal"]}, workers=1)
    >>> study.runs["routing"].to_list()
    ['fpar', 'minimal']
    """

    def __init__(
        self, manifest: Mapping[str, Any], tables: Mapping[str, pl.DataFrame], path: Path | None = None
    ) -> None:
        self.__dict__.update({"_manifest": manifest, "_tables": tables, "_path": path})

    _manifest: Mapping[str, Any]
    _tables: Mapping[str, pl.DataFrame]
    _path: Path | None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a study cannot be changed: `{name}`")

    @property
    def path(self) -> Path | None:
        """The folder of the study; `None` if it is in memory only."""
        return self._path

    @property
    def manifest(self) -> Mapping[str, Any]:
        """`manifest.json`."""
        return self._manifest

    @property
    def name(self) -> str:
        """The name of the study: its file without the ending."""
        return str(self._manifest["name"])

    @property
    def axes(self) -> tuple[str, ...]:
        """Keys of all axes."""
        return tuple(key for axis in self._manifest["axes"] for key in axis["keys"])

    @property
    def show(self) -> Show:
        """The default contents of summaries, comparisons and pictures."""
        given = self._manifest["show"]
        columns, by = (None if given[key] is None else tuple(given[key]) for key in ("columns", "by"))
        return Show(columns, by, given["job"])

    @property
    def runs(self) -> pl.DataFrame:
        """One row per point: its number, axes, run id, status, error, seed and totals."""
        return self._tables["runs"]

    @property
    def jobs(self) -> pl.DataFrame:
        """One row per point and job: the point's number, axes, and the columns of a run's `jobs`."""
        return self._tables["jobs"]

    @property
    def failed(self) -> pl.DataFrame:
        """The points that failed, with their errors."""
        return self.runs.filter(pl.col("status") == "failed")

    @property
    def engines(self) -> tuple[str, ...]:
        """Fingerprints of the engines that simulated the runs (`odonata.store.engine`); `not recorded` if unknown."""
        recorded = self.runs.filter(pl.col("id").is_not_null())["engine"]
        return tuple(sorted(recorded.unique()))

    @property
    def finished(self) -> bool:
        """Whether every point is settled."""
        return bool(self._manifest["settled"] == self._manifest["points"])

    def compare(
        self,
        by: str,
        value: str | None = None,
        baseline: Any = None,
        *,
        job: str | None = None,
        where: Mapping[str, Any] | None = None,
        seed: int = SEED_OF_BOOTSTRAP,
        include_incomplete: bool = False,
    ) -> Comparison:
        """Compare the runs by the values of an axis: medians with intervals, ratios, a paired test.

        Parameters
        ----------
        by
            The axis, by its key.
        value
            A column of `jobs`, or of `runs` such as a value under `[keep]`; by default the first that the study shows.
        baseline
            The value of the axis that the others are compared with; by default its first.
        job
            The job; it may be left out if only one job is not background.
        where
            Take only runs with these values of other axes, by key.
        seed
            Seed of the bootstrap.
        include_incomplete
            Also compare latencies, times and slowdowns of runs that are cut off.

        Returns
        -------
        Comparison
            Bootstrap intervals (Efron 1987, BCa) and Wilcoxon's signed-rank test, as docs/sweeps.md describes them.

        Raises
        ------
        InputError
            For an axis, column, job or value that does not exist.

        Examples
        --------
        >>> import odonata as od
        >>> axes = {"routing": ["fpar", "minimal"], "run.seed": [1, 2]}
        >>> study = od.sweep("examples/quick.toml", axes, workers=1)
        >>> comparison = study.compare("routing", value="latency_mean_ps", baseline="minimal")
        """
        baseline, where = plain(baseline), plain(where)
        for key in where or {}:
            if key not in self.axes:
                raise unknown("axis", key, self.axes)
        chosen = self._with_totals(self.rows_of(job, where))
        if by not in self.axes:
            raise unknown("axis", by, self.axes)
        # Points with the same run count once (equal values in different notation, an axis without effect).
        points = _narrowed(self.runs, where).unique([by, "id"], keep="first")
        chosen = chosen.join(points.select(POINT), on=POINT, how="semi")
        if isinstance(baseline, dict | list | tuple):
            baseline = label(baseline)
        others = [key for axis in self._manifest["axes"] if by not in axis["keys"] for key in axis["keys"]]
        values = _narrowed(self.runs, where)[by].unique(maintain_order=True).to_list()
        of = chosen["name"][0] if chosen.height else job
        column = value or self.columns(chosen)[0]
        chosen, left_out = (chosen, 0) if include_incomplete else self._whole(chosen, column)
        comparison = compare(chosen, by, column, others=others, job=of, baseline=baseline, values=values, seed=seed)
        return replace(comparison, cut_off=left_out, saturated=saturated(chosen, column))

    def _with_totals(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of `jobs` with the numbers of `runs`: totals and kept values."""
        totals = [name for name in self.runs.columns if name not in rows.columns and self.runs[name].dtype.is_numeric()]
        return rows.join(self.runs.select(POINT, *totals), on=POINT, how="left", maintain_order="left")

    def _whole(self, rows: pl.DataFrame, column: str) -> tuple[pl.DataFrame, int]:
        """The rows that are not cut off, and the number of those that are. Raises InputError if all are cut off."""
        kept, left_out = without_cut_off(rows, column)
        if left_out and not kept.height:
            hint = "give them a longer `run.horizon`, or include them with --include-incomplete"
            raise InputError(f"all runs are cut off, so `{column}` covers only the messages that arrived", hint=hint)
        return kept, left_out

    def plot(
        self,
        by: str | None = None,
        value: str | None = None,
        series: str | None = None,
        *,
        job: str | None = None,
        log: bool | None = None,
        include_incomplete: bool = False,
    ) -> Figure:
        """Draw a column by an axis: lines for numbers and quantities, boxes for names.

        Parameters
        ----------
        by
            The axis, by its key; by default the one with the most numbers.
        value
            A column of `jobs`, or of `runs` such as a value under `[keep]`; by default the first that the study shows.
        series
            An axis; each of its values has its own colour.
        job
            The job; it may be left out if only one job is not background.
        log
            Whether the axis of values is logarithmic; by default if they spread widely.
        include_incomplete
            Also draw latencies, times and slowdowns of runs that are cut off.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        InputError
            For an axis, column or job that does not exist.

        Examples
        --------
        >>> import odonata as od
        >>> study = od.sweep("examples/quick.toml", {"routing": ["fpar", "minimal"]}, workers=1)
        >>> figure = study.plot(value="latency_mean_ps")
        """
        from odonata.plot.study import plot_arranged

        rows = self._with_totals(self.rows_of(job))
        column = value or self.columns(rows)[0]
        check_column(rows, column, self.axes)
        for key in (by, series):
            if key is not None and key not in self.axes:
                raise unknown("axis", key, self.axes)
        if by is not None and by == series:
            raise InputError(f"`{by}` cannot be both the axis and the series")
        usual, next_axis = usual_axes([key for key in self.axes if key not in (by, series)] or self.axes, rows, SEED)
        if by is None:
            by, series = usual, series or next_axis
        elif series is None and usual not in (by, SEED):
            series = usual
        rows, left_out = (rows, 0) if include_incomplete else self._whole(rows, column)
        notes = [f"{left_out} runs that are cut off are not drawn"] * bool(left_out)
        notes += [f"saturated in {saturated(rows, column)} of {rows.height} runs"] * bool(saturated(rows, column))
        failed = self.failed.height
        notes += [f"{failed} point{'s' * (failed > 1)} failed"] * bool(failed)
        title = "; ".join([self.name, *notes])
        return plot_arranged(arrange(rows, by, column, series), job=rows["name"][0], log=log, title=title)

    def report(self, out: str | Path) -> Path:
        """Write the report as one HTML file, as `odonata report` does.

        Parameters
        ----------
        out
            The file; one that is there is overwritten.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        InputError
            If a file of the study is damaged.
        RunError
            If the file cannot be written.
        """
        from odonata.report import report_of_study, write_report

        target = Path(out)
        write_report(target, report_of_study(self))
        return target

    def rows_of(self, job: str | None, where: Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Return the rows of `jobs` of one job.

        Parameters
        ----------
        job
            The job; None if only one job is not background.
        where
            Take only runs with these values of axes, by key.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        InputError
            If there is no such job, axis or value, and if there are several jobs to choose from.
        """
        rows = jobs_of(self.jobs, job or self.show.job)
        names = rows["name"].unique(maintain_order=True).to_list()
        if len(names) > 1:
            raise InputError("which job?", hint=f"choose one with `job`: {', '.join(names)}")
        return _narrowed(rows, where)

    def columns(self, rows: pl.DataFrame) -> tuple[str, ...]:
        """Return the columns that are shown of rows of `jobs`: those of `[show]`, or what suits the jobs.

        Parameters
        ----------
        rows
            As `rows_of` gives them.

        Returns
        -------
        tuple of str
        """
        if self.show.columns is not None:
            return self.show.columns
        programs = "iterations" in rows.columns and rows.height and rows["iterations"].null_count() == 0
        usual = OF_PROGRAMS if programs else OF_MESSAGES
        return (*usual, "slowdown") if self._manifest.get("alone") else usual

    def grouped(self) -> tuple[str, ...]:
        """Return the axes that the summary groups by: those of `[show]`, or all but the seed.

        Returns
        -------
        tuple of str
        """
        return self.show.by if self.show.by is not None else tuple(key for key in self.axes if key != SEED)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table `jobs` as a data frame of pandas, which `odonata[notebook]` has.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        from odonata.store.pandas import to_pandas

        return to_pandas(self.jobs)

    def to_xarray(self, columns: Sequence[str] | None = None) -> xr.Dataset:
        """Return columns of `jobs` as arrays over the jobs and the axes, for xarray, which `odonata[notebook]` has.

        Keys that vary together are one dimension. A point that is missing or failed is NaN.

        Parameters
        ----------
        columns
            Columns of numbers; by default those that the study shows.

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        InputError
            If xarray is not installed, and for a column that is no number.
        """
        from odonata.study.xarrays import to_xarray

        return to_xarray(self, columns)

    def _repr_html_(self) -> str:
        from odonata.study.summary import as_html

        return as_html(self)

    def __repr__(self) -> str:
        axes = " x ".join(f"{axis['values']} {' with '.join(axis['keys'])}" for axis in self._manifest["axes"])
        settled, points = self._manifest["settled"], self._manifest["points"]
        failed = f", {self._manifest['failed']} failed" if self._manifest["failed"] else ""
        where = "in memory" if self._path is None else str(self._path)
        return f"<Study {self.name}: {axes}; {settled} of {points} points done{failed}; {where}>"


def _narrowed(rows: pl.DataFrame, where: Mapping[str, Any] | None) -> pl.DataFrame:
    for key, wanted in (where or {}).items():
        texts = [text(value) for value in rows[key].to_list()]
        if text(wanted) not in texts:
            raise unknown(f"value of {key}", text(wanted), texts)
        rows = rows.filter(pl.Series([value == text(wanted) for value in texts], dtype=pl.Boolean))
    return rows


def jobs_of(jobs: pl.DataFrame, job: str | None) -> pl.DataFrame:
    """The rows of one job, or of all that are not background. Raises InputError for an unknown job."""
    jobs = with_derived(jobs)
    if jobs.is_empty():
        raise InputError("no run of the study is done")
    if job is None:
        front = jobs.filter(~pl.col("background"))
        return front if front.height else jobs
    names = jobs["name"].unique(maintain_order=True).to_list()
    if job not in names:
        raise unknown("job", job, names)
    return jobs.filter(pl.col("name") == job)


def open_study(path: str | Path, *, verify: bool = True) -> Study:
    """Open the folder of a study; `odonata.open` opens runs as well.

    Parameters
    ----------
    path
        The folder.
    verify
        Compare each file with its checksum.

    Returns
    -------
    Study
        What the folder holds.

    Raises
    ------
    InputError
        If it holds no study, if its sweep was killed before its tables were written, if it has another format, and
        if a file of it is missing or damaged.

    Examples
    --------
    >>> import odonata as od
    >>> study = od.sweep("examples/quick.toml", {"run.seed": [1]}, workers=1, out=folder / "study")
    >>> od.open(folder / "study").axes
    ('run.seed',)
    """
    folder = Path(path)
    if not folder.is_dir():
        if folder.exists() and (other := of_another_kind(folder, "a study")) is not None:
            raise other
        what = "is a file, expected the folder of a study" if folder.exists() else "does not exist"
        hint = f"`odonata sweep {folder}` turns it into a study" if folder.suffix == ".toml" else None
        raise InputError(f"`{folder}` {what}", hint=hint)
    if not is_study_folder(folder):
        if (other := of_another_kind(folder, "a study")) is not None:
            raise other
        raise InputError(f"`{folder}` is not the folder of a study", hint=_near(folder))
    if not (folder / MANIFEST).is_file():
        raise unfinished(folder)
    manifest = read_manifest(folder, _FILES, verify=verify)
    tables = {}
    for name in _FILES:
        file = folder / name
        data = file.read_bytes() if file.is_file() else None
        if data is None:
            raise InputError("the file is missing from the study", file=file, hint=AGAIN)
        if verify and files.size_and_digest(data)["sha256"] != manifest["files"][name]["sha256"]:
            raise InputError("the file was cut off or changed", file=file, hint=AGAIN)
        if name.endswith(".parquet"):
            tables[file.stem] = _table(data, file)
    return Study(manifest, tables, folder)


def _table(data: bytes, file: Path) -> pl.DataFrame:
    try:
        return reading.read_parquet(file, data)
    except InputError as e:
        raise e.but(hint=AGAIN) from None


def _near(folder: Path) -> str | None:
    if (folder / MANIFEST).is_file():
        return "it is a run folder"
    studies = sorted(child for child in folder.iterdir() if child.is_dir() and is_study_folder(child))
    return f"did you mean `{studies[0]}`?" if studies else None
