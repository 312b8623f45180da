"""A stream of jobs from the workload model of Lublin and Feitelson.

Sizes and run times follow the model for all jobs (without types) of Lublin and Feitelson, "The workload on parallel
supercomputers: modeling the characteristics of rigid jobs", JPDC 63(11), 2003: sizes are a two-stage uniform
distribution of the logarithm, more than half of them powers of two, and run times a hyper-gamma distribution of the
logarithm, in which larger jobs run longer. Arrivals are a Poisson process with the rate of the wanted load (assumed: no
daily cycle).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from odonata.placement.splitmix import SplitMix64, stream_seed
from odonata.scheduler.submission import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

SERIAL = 0.244
"""Share of jobs of one node."""
POWERS = 0.576
"""Share of the other jobs whose number of nodes is a power of two."""
LOW = 0.8
"""Smallest logarithm (base 2) of a number of nodes."""
MIDDLE = 2.5
"""The upper part of the logarithms is so long; the lower part is below it."""
LOWER = 0.86
"""Share of the lower part."""
SHAPES = ((4.2, 0.94), (312.0, 0.03))
"""Shape and scale of the two gamma distributions of the natural logarithm of a run time in seconds."""
SHARE = (-0.0054, 0.78)
"""The share of the first is the first number times the nodes, plus the second."""
LIMITS = (0.05, 0.95)
"""Limits of this share. Source: the program of the authors."""
LONGEST = 12.0
"""Largest logarithm of a run time: 45 hours. Source: the program of the authors."""


def stream(
    *, jobs: int, load: float, nodes: int, largest: int, names: Mapping[str, float], over: float, seed: int
) -> list[Told]:
    """Draws the jobs of a stream.

    Parameters
    ----------
    jobs
        Number of jobs.
    load
        Offered load: the nodes and times of all jobs, divided by the nodes of the machine and the mean time between
        the first and the last submission.
    nodes
        Nodes of the machine.
    largest
        Nodes of the largest job.
    names
        Names of jobs with their weights; the traffic book knows applications by names.
    over
        The requested time as a multiple of the run time.
    seed
        The same seed gives the same jobs. Another load changes only the times of submission.

    Returns
    -------
    list of Told
        In the order of submission.
    """
    draws = {name: SplitMix64(stream_seed(seed, "stream", name)) for name in ("size", "time", "arrival", "name")}
    sizes = [_size(draws["size"], largest) for _ in range(jobs)]
    times = [_time(draws["time"], size) for size in sizes]
    work = sum(size * time for size, time in zip(sizes, times, strict=True))
    mean = work / (load * nodes * jobs)
    made, now = [], 0.0
    for number, (size, time) in enumerate(zip(sizes, times, strict=True)):
        name = _choose(draws["name"], names)
        made.append(Told(str(number), now, size, time, time * over, name=name))
        now += -mean * math.log(1.0 - draws["arrival"].unit())
    return made


def _size(stream: SplitMix64, largest: int) -> int:
    serial, power, part, place = (stream.unit() for _ in range(4))
    if serial < SERIAL or largest < 2:
        return 1
    high = math.log2(largest)
    middle = max(high - MIDDLE, LOW)
    low, top = (LOW, middle) if part < LOWER else (middle, high)
    logarithm = low + place * (top - low)
    size = 2 ** round(logarithm) if power < POWERS else round(2**logarithm)
    return min(max(2, size), largest)


def _time(stream: SplitMix64, nodes: int) -> float:
    share = min(max(SHARE[0] * nodes + SHARE[1], LIMITS[0]), LIMITS[1])
    shape, scale = SHAPES[0] if stream.unit() < share else SHAPES[1]
    while (logarithm := _gamma(stream, shape) * scale) > LONGEST:
        pass
    return max(1.0, float(f"{math.exp(logarithm):.6g}"))


def _gamma(stream: SplitMix64, shape: float) -> float:
    """A gamma variate with scale 1, for a shape above 1.

    Source: Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000.
    """
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        normal = math.sqrt(-2 * math.log(1.0 - stream.unit())) * math.cos(2 * math.pi * stream.unit())
        cube = (1 + c * normal) ** 3
        if cube > 0 and math.log(1.0 - stream.unit()) < normal**2 / 2 + d - d * cube + d * math.log(cube):
            return d * cube


def _choose(stream: SplitMix64, names: Mapping[str, float]) -> str:
    point = stream.unit() * sum(names.values())
    for name, weight in names.items():
        point -= weight
        if point < 0:
            return name
    return list(names)[-1]
