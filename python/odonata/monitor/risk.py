"""How many running jobs may fall into the long tail, by a predictor that `odonata cluster train` wrote."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from odonata.prediction.predictor import Predictor
    from odonata.queue.records import Job


def by_risk(predictor: Predictor, jobs: Iterable[Job], b: float, least_nodes: int) -> Mapping[str, int]:
    """The number of running jobs that communicate, by risk: `high` where the predictor would flag a run that is
    submitted now, `low` where it would not, `unknown` where it has no history or would need to know more.

    A job is its name, as records with a column `job` have it.
    """
    counts: Counter[str] = Counter()
    for job in jobs:
        if job.running and len(job.nodes) >= least_nodes:
            try:
                of = predictor.predict({"b": b, "nodes": len(job.nodes), "job": job.name or ""})
            except InputError:
                counts["unknown"] += 1
            else:
                counts["high" if of.flagged else "low"] += 1
    return counts
