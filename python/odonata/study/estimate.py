"""The remaining time of a sweep, estimated from its finished runs.

Runs differ: a run with twice the messages takes twice as long. The estimate for a run is the mean time of all finished
runs, multiplied by a factor for each of its values: the mean time of finished runs with this value, divided by the
mean of all. A factor from n runs is averaged with two runs of factor 1, so a factor from few runs stays near 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.study.plan import Plan

DRAWN = 2.0
"""Runs of factor 1 that are averaged with the finished runs of a value."""
SAMPLE = 500
"""The largest number of remaining points that are all estimated; of more, an evenly spread sample is."""


class Estimate:
    """Times of runs, by the values of the axes."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lengths = [len(axis) for axis in plan.axes]
        self._sums: list[dict[int, tuple[float, int]]] = [{} for _ in plan.axes]
        self._total = 0.0
        self.runs = 0
        """Number of runs behind the estimate."""

    def took(self, number: int, seconds: float) -> None:
        """Records the time of a run."""
        self.runs += 1
        self._total += seconds
        for sums, step in zip(self._sums, self._steps(number), strict=True):
            total, count = sums.get(step, (0.0, 0))
            sums[step] = (total + seconds, count + 1)

    def work_s(self, numbers: Sequence[int]) -> float | None:
        """Time of one worker for these points; `None` before a run is finished."""
        if not self.runs:
            return None
        chosen = numbers[:: max(1, len(numbers) // SAMPLE)]
        return sum(map(self.expected_s, chosen)) * (len(numbers) / len(chosen)) if chosen else 0.0

    @property
    def mean_s(self) -> float:
        """Mean time of the finished runs; 0 before there are any."""
        return self._total / self.runs if self.runs else 0.0

    def expected_s(self, number: int) -> float:
        """Expected time of the run of a point; 0 before any run is finished."""
        seconds = mean = self.mean_s
        if mean == 0:
            return 0.0
        for sums, step in zip(self._sums, self._steps(number), strict=True):
            total, count = sums.get(step, (0.0, 0))
            seconds *= (total / mean + DRAWN) / (count + DRAWN)
        return seconds

    def _steps(self, number: int) -> list[int]:
        steps = []
        for length in reversed(self._lengths):
            number, step = divmod(number, length)
            steps.append(step)
        return steps[::-1]
