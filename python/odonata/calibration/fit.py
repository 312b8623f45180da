"""The costs of the host under which simulated times agree best with measured ones.

A simulated time is piecewise linear in the costs if they are times: send, receive, call, rendezvous, and the times of a
byte to copy and to reduce. So we simulate every configuration at one point and with each cost changed, solve the linear
problem (a robust loss of the logarithms of simulated by measured time), and repeat at the solution. The eager limit is
the best of several. Two conditions hold. A larger message is not faster: at the eager limit the two copies cost no more
than the set-up, the RTS and the CTS of a rendezvous. And costs that the measurements do not determine stay near their
start: a weak penalty pulls each logarithm there.

Intervals are percentiles of a bootstrap: it resamples whole sets of measurements with the same collective, algorithm
and nodes, because their errors are correlated, and solves the linear problem at the solution for each resample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from odonata.calibration.measurements import Measurement
    from odonata.calibration.simulated import Simulator
    from odonata.machine.host import HostTable

    Vector = NDArray[np.float64]

NAMES = ("send", "receive", "copy", "rendezvous", "reduce", "call")
"""The costs that are fitted, beside the eager limit."""

#: Where the fit begins: send, receive, rendezvous and call in picoseconds, copy and reduce in picoseconds for a byte.
#: Assumed: orders of magnitude of an MPI library on a processor of 2020 to 2025.
START = np.array([500e3, 500e3, 100.0, 1e6, 200.0, 1e6])

#: Bounds: 1 ps to 1 ms (the most that the core takes), and 1 TB/s to 10 MB/s.
LOWEST = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
HIGHEST = np.array([1e9, 1e9, 1e5, 1e9, 1e5, 1e9])

#: Eager limits that are tried, in bytes.
EAGER = tuple(1 << bits for bits in range(8, 21, 2))

#: Weight of the start against a measurement, in squared natural logarithms. Assumed: weak. A parameter that the
#: measurements do not determine moves by less than changes their fit.
PRIOR = 0.02

#: Logarithm of simulated by measured time above which a measurement counts less (soft L1). Assumed: 25 %.
SOFT = 0.22

#: Successive linear problems, and resamples of the bootstrap.
ROUNDS, DRAWINGS = 3, 200

#: By how much the logarithm of a cost may change in a linear problem: a factor of 4.5.
FARTHEST = 1.5

#: Eager limits that are refined: the best after one linear problem each.
REFINED = 3

#: Correlation of the logarithms of two costs above which they cannot be distinguished.
INSEPARABLE = 0.75


@dataclass(frozen=True)
class Fitted:
    """The fitted costs."""

    host: HostTable
    intervals: dict[str, tuple[float, float]]
    """Cost -> its 95 % interval: picoseconds, for `copy` and `reduce` picoseconds for a byte."""
    undetermined: list[str]
    """Costs whose interval spans more than a factor of 10, or that no measurement depends on."""
    inseparable: list[tuple[str, str, float]]
    """Pairs of costs, and the correlation of their logarithms."""
    eager: dict[int, float]
    """Loss of each eager limit that was tried."""


def host_of(values: Vector, eager: int, usual: HostTable) -> HostTable:
    """The costs as a table; what is not fitted is that of `usual`."""
    send, receive, _, rendezvous, _, call = (round(float(value)) for value in values)
    copy, reduce = (round(float(f"{1e18 / max(float(values[k]), 1.0):.4g}")) for k in (2, 4))
    return usual.model_copy(
        update={
            "send": send,
            "receive": receive,
            "copy_": copy,
            "eager": eager,
            "rendezvous": rendezvous,
            "reduce": reduce,
            "call": call,
            "by_size": (),
            "reduce_by_size": (),
        }
    )


def fit(
    rows: Sequence[Measurement],
    simulator: Simulator,
    *,
    usual: HostTable,
    control_ps: float,
    seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> Fitted:
    """Fits the costs to measurements; `control_ps` is the shortest time of a control message.

    Raises InputError for a configuration that the system cannot hold.
    """
    measured = np.array([row.time_ps for row in rows])
    say = report or (lambda _: None)

    def linear(at: Vector, eager: int) -> tuple[Vector, Vector]:
        """Times at a point, and their slopes."""
        steps = np.maximum(at * 0.05, START * 0.02)
        points = [at, *(at + np.eye(len(at))[k] * steps[k] for k in range(len(at)))]
        wanted = [(row.configuration, host_of(point, eager, usual)) for point in points for row in rows]
        times = np.array(simulator.times(wanted)).reshape(len(points), len(rows))
        return times[0], ((times[1:] - times[0]) / steps[:, None]).T

    def solve(
        base: Vector, slopes: Vector, at: Vector, eager: int, weights: Vector, radius: float = FARTHEST
    ) -> Vector:
        def residuals(logs: Vector) -> Vector:
            x = np.exp(logs)
            times = np.maximum(base + slopes @ (x - at), base * 0.02)
            ends = 2 * eager * x[2] - x[3] - 2 * control_ps
            monotone = 10 * max(0.0, ends) / (x[3] + 2 * control_ps)
            pulled = np.sqrt(PRIOR) * (logs - np.log(START))
            return np.concatenate([np.sqrt(weights) * soft_roots(np.log(times / measured)), pulled, [monotone]])

        low = np.maximum(np.log(at) - radius, np.log(LOWEST) - 1e-9)
        high = np.minimum(np.log(at) + radius, np.log(HIGHEST) + 1e-9)
        solved: Vector = np.exp(least_squares(residuals, np.log(at), bounds=(low, high)).x)
        return solved

    def loss(at: Vector, eager: int) -> float:
        times = np.array(simulator.times([(row.configuration, host_of(at, eager, usual)) for row in rows]))
        pulled = PRIOR * float(np.sum(np.log(at / START) ** 2))
        return float(np.sum(soft_roots(np.log(times / measured)) ** 2)) + pulled

    ones = np.ones(len(rows))

    def descend(at: Vector, eager: int, rounds: int) -> tuple[float, Vector]:
        """The loss and the point after some linear problems, each within a region in which the last one helped."""
        best, radius = loss(at, eager), FARTHEST
        base, slopes = linear(at, eager)
        for _ in range(rounds):
            new = solve(base, slopes, at, eager, ones, radius)
            error = loss(new, eager)
            if error < best:
                gained, best, at = best - error, error, new
                if gained < 1e-2 * best:
                    break
                base, slopes = linear(at, eager)
            else:
                radius /= 3
        return best, at

    tried: dict[int, tuple[float, Vector]] = {}
    for eager in EAGER:
        tried[eager] = descend(START, eager, ROUNDS)
        say(f"eager limit {eager:,} B: loss {tried[eager][0]:.2f}")
    for eager in sorted(tried, key=lambda size: tried[size][0])[:REFINED]:
        tried[eager] = descend(tried[eager][1], eager, 2 * ROUNDS)
        say(f"eager limit {eager:,} B, refined: loss {tried[eager][0]:.2f}")
    eager = min(tried, key=lambda size: tried[size][0])
    at = tried[eager][1]
    base, slopes = linear(at, eager)

    rng = np.random.default_rng(seed)
    series = [(row.configuration.label, row.configuration.nodes) for row in rows]
    groups = [np.flatnonzero([other == key for other in series]) for key in dict.fromkeys(series)]
    drawn = []
    for _ in range(DRAWINGS):
        chosen = rng.integers(0, len(groups), len(groups))
        weights = np.zeros(len(rows))
        for number in chosen:
            weights[groups[number]] += 1
        drawn.append(np.log(solve(base, slopes, at, eager, weights)))
    logs = np.array(drawn)
    low, high = np.exp(np.percentile(logs, [2.5, 97.5], axis=0))
    matters = np.abs(slopes * at / base[:, None]).max(axis=0) > 0.01
    wide = [name for k, name in enumerate(NAMES) if not matters[k] or high[k] / low[k] > 10]
    return Fitted(
        host=host_of(np.array([float(f"{value:.3g}") for value in at]), eager, usual),
        intervals={name: (float(low[k]), float(high[k])) for k, name in enumerate(NAMES)},
        undetermined=wide,
        inseparable=_inseparable(slopes * at / base[:, None]),
        eager={size: value for size, (value, _) in tried.items()},
    )


def soft_roots(logs: Vector, scale: float = SOFT) -> Vector:
    """Signed roots of the soft L1 loss (shape `(n,)`), which grow like the square root beyond `scale`."""
    scaled = np.asarray(logs) / scale
    rooted: Vector = np.sign(scaled) * np.sqrt(2 * (np.sqrt(1 + scaled**2) - 1))
    return rooted


def _inseparable(relative: Vector) -> list[tuple[str, str, float]]:
    """Pairs whose effects on the times are alike: correlation of estimates from the slopes of the logarithms."""
    covariance = np.linalg.inv(relative.T @ relative / SOFT**2 + PRIOR * np.eye(relative.shape[1]))
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    return [
        (NAMES[a], NAMES[b], float(correlation[a, b]))
        for a in range(len(NAMES))
        for b in range(a + 1, len(NAMES))
        if abs(correlation[a, b]) > INSEPARABLE
    ]
