"""The records: samples, slowdowns of all jobs, and predictions of jobs that begin.

They survive a full disk, and have a bound.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from odonata import files
from odonata.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from odonata.background.watch import Recorder, Sample
    from odonata.monitor.risk import Predicted
    from odonata.monitor.state import Judgement

MOST_WAITING = 4096
"""Most samples that wait for room on the disk (assumed: almost three days of one a minute)."""

_MOMENT = "%Y%m%dT%H%M%SZ"
SLOWDOWNS = {
    "job": "String",
    "nodes": "Int64",
    "slowdown": "Float64",
    "low": "Float64",
    "high": "Float64",
    "by": "String",
    "share": "Float64",
}
"""Columns of the slowdowns besides `time`, the end of the simulation: the fields of `Slowdown`."""
PREDICTIONS = {
    "job": "String",
    "nodes": "Int64",
    "b": "Float64",
    "probability": "Float64",
    "flagged": "Boolean",
    "threshold_s": "Float64",
    "median_s": "Float64",
    "began": "Boolean",
}
"""Columns of the predictions besides `time`, when the job was first seen: the fields of `Predicted`."""
KINDS = ("background", "slowdowns", "predictions")
"""How the names of the files begin."""


class Records:
    """Files of one folder."""

    def __init__(self, recorder: Recorder, keep: timedelta) -> None:
        self._recorder = recorder
        self._keep = keep
        self._waiting: list[Sample] = []
        self._pruned: datetime | None = None
        self._predicted: list[tuple[Any, ...]] = []
        self._predictions: datetime | None = None
        self._unwritten = False

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
        moment = datetime.fromtimestamp(judgement.time, UTC)
        rows = [(moment, *astuple(job)) for job in judgement.jobs]
        return self._write("slowdowns", moment, rows, SLOWDOWNS)

    def add_predictions(self, moment: datetime, predicted: Sequence[Predicted]) -> str | None:
        """Write predictions, with those of the same day in one file: why that failed. They are tried again with the
        next ones.
        """
        if not predicted and not self._unwritten:
            return None
        if self._predictions is None or self._predictions.date() != moment.date():
            self._predictions, self._predicted = moment, self._predicted[-MOST_WAITING:] if self._unwritten else []
        self._predicted += [(moment, *astuple(of)) for of in predicted]
        why = self._write("predictions", self._predictions, self._predicted, PREDICTIONS)
        self._unwritten = why is not None
        return why

    def _write(
        self, kind: str, moment: datetime, rows: Sequence[tuple[Any, ...]], columns: Mapping[str, str]
    ) -> str | None:
        import polars as pl

        schema = {"time": pl.Datetime("us", "UTC"), **{name: getattr(pl, of) for name, of in columns.items()}}
        buffer = io.BytesIO()
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(buffer, compression="zstd")
        try:
            files.write(self._recorder.folder / f"{kind}-{moment:{_MOMENT}}.parquet", buffer.getvalue())
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
        for kind in KINDS:
            bound = f"{kind}-{limit - timedelta(days=1):{_MOMENT}}"
            yield from (path for path in self._recorder.folder.glob(f"{kind}-*.parquet") if path.name < bound)
