"""A finished run, in memory or in its folder."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.errors import InputError
from odonata.store.summary import as_html, as_text, summary_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Run:
    """What a scenario gave: tables (polars frames) and a summary. Immutable.

    Columns are in `odonata.store.COLUMNS` with their units; times are picoseconds. `messages`, `links`,
    `iterations`, `ranks` and `counters` are read when first asked for; `scan` gives a lazy frame of any table instead.
    """

    _manifest: Mapping[str, Any]
    _resolved: Mapping[str, Any]
    _scenario: str
    _tables: Mapping[str, pl.DataFrame | pl.LazyFrame]
    _path: Path | None

    def __init__(
        self,
        manifest: Mapping[str, Any],
        resolved: Mapping[str, Any],
        scenario: str,
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
        """Hash of the resolved scenario and the version: equal ids mean equal results."""
        return str(self._manifest["id"])

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
        """`scenario.toml`: the scenario as given."""
        return self._scenario

    def scan(self, table: str) -> pl.LazyFrame:
        """A lazy frame of a table by its name."""
        return self._tables[table].lazy()

    def _frame(self, table: str) -> pl.DataFrame:
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
        """Traffic between groups by window, job and group (K21)."""
        return self._frame("counters")

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `odonata run --json` prints."""
        return summary_of(self._manifest, self.jobs)

    def __repr__(self) -> str:
        where = "in memory" if self._path is None else str(self._path)
        return f"<Run {self.id}: {', '.join(self.jobs['name'])}; {where}>"

    def __str__(self) -> str:
        return as_text(self.summary)

    def _repr_html_(self) -> str:
        return as_html(self.summary)
