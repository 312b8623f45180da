"""What is known of the cluster now."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.background.utilisation import Background


@dataclass(frozen=True)
class Slowdown:
    """What a job loses to others, as the last simulation of all jobs says."""

    job: str
    """Its id."""
    nodes: int
    slowdown: float
    low: float | None
    """Least and greatest slowdown over the assumptions; None without several."""
    high: float | None
    by: str | None
    """The id of the job for which it waits longest."""
    share: float | None
    """Share of that job in all waiting for other jobs."""


@dataclass(frozen=True)
class Judgement:
    """A finished simulation of all jobs."""

    time: float
    """When it ended (seconds since 1970)."""
    seconds: float
    """How long it took."""
    jobs: tuple[Slowdown, ...]
    not_judged: int

    @classmethod
    def of(cls, result: Mapping[str, Any], time: float, seconds: float) -> Judgement:
        """From what `odonata cluster impact --json` prints. Raises LookupError, TypeError or ValueError for others."""
        ids = {row["job"]: str(row["id"]) for row in [*result["jobs"], *result["not_judged"]]}
        return cls(time, seconds, tuple(_slowdown(row, ids) for row in result["jobs"]), len(result["not_judged"]))


def _slowdown(row: Mapping[str, Any], ids: Mapping[str, str]) -> Slowdown:
    low, high = row["range"] or (None, None)
    by = row["by"]
    whom = (None, None) if by is None else (ids.get(by["job"]), by["share_of_others"])
    return Slowdown(str(row["id"]), int(row["nodes"]), float(row["slowdown"]), low, high, *whom)


@dataclass
class State:
    """What is known now. The loop sets fields as a whole; the metrics are read from another thread."""

    background: Background | None = None
    """The last sample; None if it failed."""
    sampled: float | None = None
    """When the last sample succeeded (seconds since 1970)."""
    risks: Mapping[str, int] | None = None
    """Running jobs by their risk of the long tail; None without a predictor."""
    judgement: Judgement | None = None
    counts: Counter[str] = field(default_factory=Counter)
    """Events so far, by the names of `metrics.EVENTS`."""
