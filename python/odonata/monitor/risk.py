"""Which running jobs may fall into the long tail, by a predictor that `odonata cluster train` wrote."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from odonata.prediction.predictor import Prediction, Predictor
    from odonata.queue.records import Job


@dataclass(frozen=True)
class Predicted:
    """What was predicted of a job when it was seen for the first time."""

    job: str
    """Its id."""
    nodes: int
    b: float
    probability: float
    """Of the long tail."""
    flagged: bool
    threshold_s: float
    """Where its tail begins."""
    median_s: float
    """Median of its history."""
    began: bool
    """Whether it was not running one sample before: then the prediction is that of its start."""


@dataclass
class Risks:
    """Predicts running jobs, and remembers which of them it has seen."""

    predictor: Predictor
    least_nodes: int
    counts: Mapping[str, int] = field(default_factory=dict)
    """Jobs that communicate by risk now: `high` where the predictor would flag a run that is submitted now, `low`
    where it would not, `unknown` where it has no history or would need to know more.
    """
    _seen: frozenset[str] | None = None

    def look(self, jobs: Iterable[Job], b: float) -> list[Predicted]:
        """Predicts the running jobs that communicate, and returns those that were not seen before.

        A job is its name, as records with a column `job` have it.
        """
        running = [job for job in jobs if job.running and len(job.nodes) >= self.least_nodes]
        known = [(job, self._predict(job, b)) for job in running]
        self.counts = Counter("unknown" if of is None else "high" if of.flagged else "low" for _, of in known)
        before, self._seen = self._seen, frozenset(job.id for job in running)
        return [
            _predicted(job, b, of, began=before is not None)
            for job, of in known
            if of is not None and (before is None or job.id not in before)
        ]

    def _predict(self, job: Job, b: float) -> Prediction | None:
        try:
            return self.predictor.predict({"b": b, "nodes": len(job.nodes), "job": job.name or ""})
        except InputError:
            return None


def _predicted(job: Job, b: float, of: Prediction, *, began: bool) -> Predicted:
    return Predicted(
        job.id, len(job.nodes), b, of.probability, of.flagged, of.threshold_ps / 1e12, of.median_ps / 1e12, began
    )
