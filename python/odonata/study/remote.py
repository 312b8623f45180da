"""The functions that a worker of Dask runs for a sweep. They use nothing but their arguments."""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import TYPE_CHECKING

from odonata.errors import RunError
from odonata.store.engine import fingerprint
from odonata.study import task

if TYPE_CHECKING:
    import polars as pl

    from odonata.study.plan import Plan


def payload_of(plan: Plan) -> bytes:
    """The plan, which is sent with every batch because a worker may have just started."""
    return plan.packed()


def resolve_batch(payload: bytes, engine: str, numbers: list[int]) -> list[task.Resolution]:
    """The runs of these points. Raises RunError if another engine is installed here."""
    plan = _plan(payload, engine)
    return [task.resolve(plan, number)[0] for number in numbers]


def run_batch(
    payload: bytes, engine: str, granted: list[task.Granted]
) -> tuple[pl.DataFrame, list[tuple[int, float]], list[task.Resolution]]:
    """The rows of these points, the time for each, and the points that could be resolved elsewhere but not here.

    The points are resolved again, because another worker may have resolved them before.
    """
    plan = _plan(payload, engine)
    outcomes: list[task.Outcome] = []
    refused = []
    for task_ in granted:
        resolution, resolved = task.resolve(plan, task_[0])
        if resolved is None:
            refused.append(resolution)
        else:
            outcomes += task.run(plan, task_, resolved, None, resolution.spent_s)
    return (*task.handed_in(outcomes), refused)


@lru_cache(maxsize=2)
def _plan(payload: bytes, engine: str) -> Plan:
    if engine != fingerprint():
        raise RunError(
            f"a worker has the engine {fingerprint()}, expected {engine}: install the same sources everywhere"
        )
    plan: Plan = pickle.loads(payload)
    return plan
