"""The records: samples, and the slowdowns of all jobs. They survive a full disk, and have a bound."""

from __future__ import annotations

import contextlib
import io
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from odonata import files
from odonata.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from odonata.background.watch import Recorder, Sample
    from odonata.monitor.state import Judgement

MOST_WAITING = 4096
"""Most samples that wait for room on the disk (assumed: almost three days of one a minute)."""

_MOMENT = "%Y%m%dT%H%M%SZ"
_SLOWDOWNS = {
    "job": "String",
    "nodes": "Int64",
    "slowdown": "Float64",
    "low": "Float64",
    "high": "Float64",
    "by": "String",
    "share": "Float64",
}
"""Columns of the slowdowns besides `time`, the end of the simulation: the fields of `Slowdown`."""


class Records:
    """Files of one folder."""

    def __init__(self, recorder: Recorder, keep: timedelta) -> None:
        self._recorder = recorder
        self._keep = keep
        self._waiting: list[Sample] = []
        self._pruned: datetime | None = None

    def add(self, sample: Sample) -> tuple[str | None, int]:
        """Write a sample, and those that waited: why not all are written, and how many are lost for good."""
        self._waiting.append(sample)
        lost = max(0, len(self._waiting) - MOST_WAITING)
        del self._waiting[:lost]
        try:
            while self._waiting:
                self._recorder.add(self._waiting[0])
                del self._waiting[0]
        except (RunError, OSError) as problem:
            return str(problem), lost
        self._prune(sample.time)
        return None, lost

    def add_judgement(self, judgement: Judgement) -> str | None:
        """Write the slowdowns of all jobs, in a file of their own: why that failed."""
        import polars as pl

        moment = datetime.fromtimestamp(judgement.time, UTC)
        rows = [(moment, *astuple(job)) for job in judgement.jobs]
        schema = {"time": pl.Datetime("us", "UTC"), **{name: getattr(pl, of) for name, of in _SLOWDOWNS.items()}}
        buffer = io.BytesIO()
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(buffer, compression="zstd")
        try:
            files.write(self._recorder.folder / f"slowdowns-{moment:{_MOMENT}}.parquet", buffer.getvalue())
        except RunError as problem:
            return str(problem)
        return None

    def _prune(self, now: datetime) -> None:
        """Once a day, removes files of samples that are too old."""
        if self._pruned is not None and timedelta(0) <= now - self._pruned < timedelta(days=1):
            return
        self._pruned = now
        for path in self._older(now - self._keep):
            with contextlib.suppress(OSError):  # it is in the way of nothing
                path.unlink()

    def _older(self, limit: datetime) -> Iterator[Path]:
        """Files whose names say that they began a day before the limit, so that all in them is older."""
        for kind in ("background", "slowdowns"):
            bound = f"{kind}-{limit - timedelta(days=1):{_MOMENT}}"
            yield from (path for path in self._recorder.folder.glob(f"{kind}-*.parquet") if path.name < bound)
