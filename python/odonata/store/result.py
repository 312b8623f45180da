"""A finished run, in memory or in its folder."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from odonata.errors import Attributes, InputError, unknown
from odonata.store.summary import as_html, as_text, jobs_of, summary_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

    from odonata.document import Document


class Run(Attributes):
    """The results of a scenario: tables (polars frames) and a summary. Immutable.

    `odonata.run` makes one, `odonata.open` reads one from its folder. `odonata show columns` lists the columns of all
    tables with their units; times are picoseconds. A table is read when it is first used.

    Examples
    --------
    >>> import odonata as od
    >>> run = od.run("examples/quick.toml")
    >>> run.jobs["name"].to_list()
    ['target', 'background']
    >>> run.table("links").height > 0
    True
    """

    _manifest: Mapping[str, Any]
    _resolved: Mapping[str, Any]
    _scenario: str | Document
    _tables: Mapping[str, pl.DataFrame | pl.LazyFrame]
    _path: Path | None

    def __init__(
        self,
        manifest: Mapping[str, Any],
        resolved: Mapping[str, Any],
        scenario: str | Document,
        tables: Mapping[str, pl.DataFrame | pl.LazyFrame],
        path: Path | None = None,
    ) -> None:
        self.__dict__.update(
            {"_manifest": manifest, "_resolved": resolved, "_scenario": scenario, "_tables": tables, "_path": path}
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a run cannot be changed: `{name}`")

    @property
    def path(self) -> Path | None:
        """The run folder; `None` if the run is in memory only."""
        return self._path

    @property
    def id(self) -> str:
        """Hash of the resolved scenario and the version. Equal ids and equal engines mean equal results."""
        return str(self._manifest["id"])

    @property
    def engine(self) -> str:
        """Fingerprint of the engine that simulated it (`odonata.store.engine`)."""
        return str(self._manifest["engine"])

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        return int(self._manifest["seed"])

    @property
    def manifest(self) -> Mapping[str, Any]:
        """`manifest.json`."""
        return self._manifest

    @property
    def resolved(self) -> Mapping[str, Any]:
        """`resolved.json`: the scenario with every default filled in, and the core's specification."""
        return self._resolved

    @property
    def scenario(self) -> str:
        """`scenario.toml`: the scenario as given; of data, as TOML."""
        return self._scenario if isinstance(self._scenario, str) else self._scenario.text

    def table(self, name: str) -> pl.DataFrame:
        """Return a table by its name: `run.table("jobs")` is `run.jobs`.

        Parameters
        ----------
        name
            `jobs`, `messages`, `links`, `iterations`, `ranks`, `counters`, `nics`, `nic_messages`,
            `blame`, `roots`, `series`, `routes`, `operations` or `flow_times`.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        InputError
            For an unknown name, and if the file of the table is damaged.
        """
        self._given(name)
        frame: pl.DataFrame = getattr(self, name)
        return frame

    def scan(self, name: str) -> pl.LazyFrame:
        """Return a lazy frame of a table, which reads only the columns and rows that a query needs.

        Parameters
        ----------
        name
            As for `table`.

        Returns
        -------
        polars.LazyFrame

        Raises
        ------
        InputError
            For an unknown name.

        Examples
        --------
        >>> import odonata as od
        >>> run = od.run("examples/quick.toml")
        >>> run.scan("messages").select("latency_ps").collect().width
        1
        """
        return self._given(name).lazy()

    def plot(
        self,
        kind: Literal["overview", "machine", "box", "iterations", "links", "arrivals"] = "overview",
        *,
        log: bool | None = None,
        way: Literal["in", "out", "both"] = "both",
        job: str | None = None,
    ) -> Figure:
        """Draw the run, as `odonata plot` does.

        Parameters
        ----------
        kind
            `overview`: latencies and links. `machine`: the nodes of each job, the loaded links between groups, and
            what each job suffers from the others. `box`: latencies of messages (Kang 2019, figures 5 to 7).
            `iterations`: times of the iterations of programs. `links`: how busy the links are. `arrivals`: traffic
            between groups over time (Kang 2019, figure 10).
        log
            Whether the axis of times is logarithmic; by default if they spread over more than a factor of 30.
        way
            For `arrivals`: traffic into a group, out of it, or the sum.
        job
            For `arrivals`: the traffic of this job only.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        InputError
            For an unknown kind or job, and if the run has not recorded what the picture shows.

        Examples
        --------
        >>> import odonata as od
        >>> figure = od.run("examples/quick.toml").plot("links")
        >>> figure.savefig("links.png")  # doctest: +SKIP
        """
        from odonata.plot.run import KINDS, plot_run

        if kind not in KINDS:
            raise unknown("kind of picture", str(kind), KINDS)
        return plot_run(self, kind, log=log, way=way, job=job)

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
            If a file of the run is damaged.
        RunError
            If the file cannot be written.
        """
        from odonata.report import report_of_runs, write_report

        target = Path(out)
        write_report(target, report_of_runs([self]))
        return target

    def _given(self, table: str) -> pl.DataFrame | pl.LazyFrame:
        if table not in self._tables:
            raise unknown("table", str(table), self._tables)
        return self._tables[table]

    def _frame(self, table: str) -> pl.DataFrame:
        import polars as pl

        frame = self._tables[table]
        if isinstance(frame, pl.DataFrame):
            return frame
        try:
            return frame.collect()
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
            file = f"{table}.parquet" if self._path is None else self._path / f"{table}.parquet"
            raise InputError(
                f"the file is damaged ({problem})", file=file, hint="run the scenario again with --force"
            ) from None

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """One row per job: totals, latency quantiles, and with `alone` the slowdown."""
        return self._frame("jobs")

    @cached_property
    def messages(self) -> pl.DataFrame:
        """One row per recorded message."""
        return self._frame("messages")

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per directed link."""
        return self._frame("links")

    @cached_property
    def iterations(self) -> pl.DataFrame:
        """One row per iteration of the jobs with a program."""
        return self._frame("iterations")

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """One row per rank of the jobs with a program."""
        return self._frame("ranks")

    @cached_property
    def counters(self) -> pl.DataFrame:
        """Traffic between groups by window, job and group (Kang 2019, section 4.4)."""
        return self._frame("counters")

    @cached_property
    def nics(self) -> pl.DataFrame:
        """Counters of the NICs; no rows unless `fabric.nic` answers packets (De Sensi 2019, sections 2.3 and 2.4)."""
        return self._frame("nics")

    @cached_property
    def nic_messages(self) -> pl.DataFrame:
        """What the NICs counted for each row of `messages`; no rows unless `fabric.nic` answers packets."""
        return self._frame("nic_messages")

    @cached_property
    def blame(self) -> pl.DataFrame:
        """Who makes whom wait, by kind of waiting and link; no rows without `measure.blame`."""
        return self._frame("blame")

    @cached_property
    def roots(self) -> pl.DataFrame:
        """Waits for room by where chains of full buffers end; no rows without `measure.roots`."""
        return self._frame("roots")

    @cached_property
    def series(self) -> pl.DataFrame:
        """The load of links by slice of time and job; no rows without `measure.series`."""
        return self._frame("series")

    @cached_property
    def routes(self) -> pl.DataFrame:
        """Packets by path, slice of time and job; no rows without `measure.series`."""
        return self._frame("routes")

    @cached_property
    def operations(self) -> pl.DataFrame:
        """The CPU tasks of the ranks of programs; no rows without `measure.operations`."""
        return self._frame("operations")

    @cached_property
    def flow_times(self) -> pl.DataFrame:
        """One row per flow of the jobs that send lists of flows: completion time, ideal time, slowdown."""
        return self._frame("flow_times")

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `odonata run --json` prints."""
        jobs = self._manifest.get("jobs")
        if jobs is None:
            jobs = jobs_of(self._manifest, self.jobs, self.flow_times, self._resolved.get("spec", {}).get("measure"))
        return summary_of(self._manifest, jobs)

    def to_pandas(self, table: str = "jobs") -> pd.DataFrame:
        """Return a table as a data frame of pandas, which `odonata[notebook]` has.

        Parameters
        ----------
        table
            Its name, such as `jobs` or `links`.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            If there is no such table, or pandas is not installed.
        """
        from odonata.store.pandas import to_pandas

        return to_pandas(self.table(table))

    def __repr__(self) -> str:
        where = "in memory" if self._path is None else str(self._path)
        return f"<Run {self.id}: {', '.join(job['name'] for job in self.summary['jobs'])}; {where}>"

    def __str__(self) -> str:
        return as_text(self.summary)

    def _repr_html_(self) -> str:
        return as_html(self.summary)
