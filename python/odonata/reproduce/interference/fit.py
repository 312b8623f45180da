"""Costs of the host by size, fitted to victims alone and to nothing else.

The unknowns are two times at each of some sizes: the CPU time of a message (of sender and receiver together) and the
delay in which no CPU works. A linear all-to-all tells the first, a ring of blocking exchanges their sum. The fit
minimises a robust loss of the logarithms of simulated by measured median times (Gauss-Newton; a weak penalty of the
logarithms keeps near its start what the measurements do not tell). A cost at a size moves only the loops whose messages
lie next to it: what it changes through the barriers of others is left out of the slopes, and not of the errors.
"""

from __future__ import annotations

from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.resources import files
from io import BytesIO
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata import machine, runner
from odonata.calibration.fit import soft_roots
from odonata.reproduce.interference.loops import Loop, Model, made, times_us

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

START_US = {
    8: (0.33, 0.25),
    512: (0.45, 0.7),
    4_096: (0.62, 1.9),
    16_384: (1.2, 3.5),
    65_536: (2.0, 6.0),
    262_144: (2.0, 8.0),
    1 << 20: (2.0, 10.0),
    4 << 20: (2.0, 20.0),
}
"""Size -> where the fit of CPU time and delay begins, in microseconds: read off the measured times of Leonardo by hand.
Between these sizes costs are linear."""
START_OF_US = {
    "lumi": {
        8: (1.0, 1.2),
        512: (1.2, 1.2),
        4_096: (1.4, 1.8),
        32_768: (3.2, 2.0),
        262_144: (6.0, 3.0),
        2 << 20: (10.0, 10.0),
        16 << 20: (100.0, 50.0),
    }
}
"""The same for machines whose hosts differ."""
SENDER = 0.4
"""Part of the CPU time that is the sender's. Assumed: a linear all-to-all tells the sum only."""
PRIOR = 0.03
"""Weight of the start against a measurement, in squared natural logarithms. Assumed: weak."""
SOFT = 0.15
"""Logarithm of simulated by measured time above which a measurement counts less."""
ROUNDS = 3
WARM_UP, MEASURED = 5, 10
"""Iterations of a loop alone that are left out, as in the measurements, and those that count."""
LARGE, FEW = 16 << 20, 3
"""Bytes that a rank sends from which on a loop alone has so few iterations, of which the first is left out."""
FARTHEST = 1.0
"""Largest change of a logarithm in a round: a factor of 2.7."""


@dataclass(frozen=True)
class Alone:
    """A victim alone, and its measured median."""

    loop: Loop
    measured_us: float


def host(logs: Vector, base: Mapping[str, Any], sizes: Sequence[int]) -> dict[str, Any]:
    """The costs as `[host]` takes them; what is not fitted is that of `base`."""
    count = len(sizes)
    cpu, delay = np.exp(logs[:count]), np.exp(logs[count:])
    rows = [
        {
            "size": f"{size} B",
            "send": f"{SENDER * c * 1e3:.0f} ns",
            "receive": f"{(1 - SENDER) * c * 1e3:.0f} ns",
            "delay": f"{d * 1e3:.0f} ns",
        }
        for size, c, d in zip(sizes, cpu, delay, strict=True)
    ]
    return {**base, "by_size": rows}


def host_of_system(system: str) -> dict[str, Any]:
    """The costs of a preset as `[host]` has them, with those by size that were fitted last (`costs.csv`)."""
    host = machine.load(system).table.host
    assert host is not None
    table = pl.read_csv(BytesIO((files(__package__) / "costs.csv").read_bytes())).filter(pl.col("system") == system)
    rows = [{key: value for key, value in row.items() if key != "system"} for row in table.iter_rows(named=True)]
    return {**host.document(), **({"by_size": rows} if rows else {})}


@dataclass(frozen=True)
class Times:
    """What an iteration takes, in microseconds, once windows of congestion control have settled."""

    median: float
    mean: float


def warm(times: Sequence[float]) -> Sequence[float]:
    """Iterations without the first ones, as the measurements leave five out; of a few, without a quarter."""
    return times[min(WARM_UP, len(times) // 4) :]


def times(alone: Sequence[Loop], model: Model, workers: int) -> list[Times]:
    """The times of each loop alone, of so few iterations as its size allows.

    The same loop is simulated once.
    """

    def of(loop: Loop) -> Times:
        iterations = FEW if loop.message * len(loop.nodes) > LARGE else WARM_UP + MEASURED
        done = times_us(runner.run(made(loop, model, iterations=iterations, us=1e6), threads=1))
        measured = done[min(WARM_UP, len(done) - 1) :] if iterations > FEW else done[1:]
        return Times(float(median(measured)), float(fmean(measured)))

    distinct = list(dict.fromkeys(alone))
    with ThreadPoolExecutor(workers) as pool:
        by_loop = dict(zip(distinct, pool.map(of, distinct), strict=True))
    return [by_loop[loop] for loop in alone]


def between(message: int, sizes: Sequence[int]) -> set[int]:
    """The numbers of the sizes between whose costs those of a message lie."""
    above = bisect_left(sizes, message)
    if above == len(sizes):
        return {above - 1}
    return {above} if above == 0 or sizes[above] == message else {above - 1, above}


def fit(
    rows: Sequence[Alone],
    model: Model,
    *,
    workers: int = 1,
) -> dict[str, Any]:
    """The costs of the host with which the loops alone take as long as measured; `model.host` is not fitted."""
    from scipy.optimize import least_squares

    begin = START_OF_US.get(model.system, START_US)
    sizes = list(begin)
    measured = np.log([row.measured_us for row in rows])
    loops = [row.loop for row in rows]

    def errors(at: Vector, of: Sequence[int]) -> Vector:
        """Logarithms of simulated by measured times of some rows."""
        done = times([loops[row] for row in of], replace(model, host=host(at, model.host, sizes)), workers)
        simulated: Vector = np.log([time.median for time in done])
        return simulated - measured[of]

    start = np.log(np.array([cpu for cpu, _ in begin.values()] + [delay for _, delay in begin.values()]))
    at, step = start, 0.15
    all_rows = range(len(rows))
    here = errors(at, all_rows)
    for _ in range(ROUNDS):
        slopes = np.zeros((len(rows), len(at)))
        for number, unit in enumerate(np.eye(len(at))):
            moved = [row for row, loop in enumerate(loops) if number % len(sizes) in between(loop.message, sizes)]
            slopes[moved, number] = (errors(at + step * unit, moved) - here[moved]) / step

        def residuals(change: Vector, at: Vector = at, here: Vector = here, slopes: Vector = slopes) -> Vector:
            soft = SOFT * soft_roots(here + slopes @ change, SOFT)
            return np.concatenate([soft, np.sqrt(PRIOR) * (at + change - start)])

        change = least_squares(residuals, np.zeros(len(at)), bounds=(-FARTHEST, FARTHEST)).x
        for shrink in (1.0, 0.5, 0.25):
            there = errors(at + shrink * change, all_rows)
            if np.abs(there).mean() < np.abs(here).mean():
                at, here = at + shrink * change, there
                break
        else:
            break
    return host(at, model.host, sizes)
