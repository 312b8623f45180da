"""How much longer the traffic of jobs takes that are known by their rates only: one short run of all of them.

A simulator of a whole machine knows of a running job its nodes and the bytes that a node sends in a second.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any

from odonata import units
from odonata.document import validate
from odonata.errors import InputError, unknown
from odonata.placement import format_ids
from odonata.runner import run
from odonata.scenario.apps.listed import PATTERNS, own_name
from odonata.scenario.apps.patterns import LoadedPattern
from odonata.store.saturation import FEWEST_INTERVALS

if TYPE_CHECKING:
    from collections.abc import Iterable

EVEN = {name: kind for name, kind in PATTERNS.items() if issubclass(kind, LoadedPattern)}
"""Patterns in which all nodes send equally much, so that a rate says all."""
INTERVAL = "5 us"
"""Assumed: some times as long as a message needs, and short enough for runs of a second."""
INTERVALS = 100
"""With so many a test of saturation was never wrong at 1.1 times the capacity (docs/results.md, "Saturated")."""

SMALLEST_SHARE = 1e-3
"""Below this share a run of some intervals cannot tell how little the network carries."""


@dataclass(frozen=True)
class Sending:
    """What a job sends.

    Parameters
    ----------
    nodes
        Its nodes, in the order of its ranks.
    rate
        Bytes that each node sends in a second.
    app
        The pattern and its options, as `app` of a job (docs/applications.md), without sizes and times.

    Examples
    --------
    >>> import odonata as od
    >>> od.Sending(range(8), 2e9, {"pattern": "stencil-3d", "grid": [2, 2, 2]}).rate
    2000000000.0
    """

    nodes: Iterable[int]
    rate: float
    app: Mapping[str, Any] = field(default_factory=lambda: {"pattern": "uniform-random"})


def slowdowns(
    system: str | PathLike[str] | Mapping[str, Any],
    jobs: Mapping[str, Sending],
    *,
    routing: str | Mapping[str, Any] | None = None,
    interval: str = INTERVAL,
    intervals: int = INTERVALS,
    seed: int = 1,
    threads: int | None = None,
) -> dict[str, float]:
    """How many times as long the traffic of each job takes because of contention, with the other jobs and with itself.

    All jobs send at their rates for `intervals` times `interval`. A network that carries what a job offers gives 1. If
    it carries a share s of it, the job's traffic takes 1 / s times as long. Latency does not count.

    Parameters
    ----------
    system
        The machine, as `system` of a scenario.
    jobs
        Name of each running job to what it sends. Jobs of one node and of rate 0 get 1.
    routing
        As `routing` of a scenario; by default that of the system.
    interval
        How often a node sends. A job sends what its rate gives for this time.
    intervals
        How often each node sends; at least 12. If a job does not get 1, all send twice as often in a second run.
    seed
        Seed of the run.
    threads
        As for `odonata.run`.

    Returns
    -------
    dict
        Name of each job to its factor, at least 1.

    Raises
    ------
    InputError
        For a rate that is negative or no number, for a pattern with other rates for some nodes, and for what a scenario
        refuses.

    Examples
    --------
    >>> import odonata as od
    >>> jobs = {"quiet": od.Sending(range(8), 1e9), "loud": od.Sending(range(8, 16), 40e9)}
    >>> factors = od.slowdowns("tiny", jobs)
    >>> factors["quiet"], factors["loud"] > 2
    (1.0, True)
    """
    if not _is(Integral, intervals) or intervals < FEWEST_INTERVALS:
        raise InputError(f"expected at least {FEWEST_INTERVALS} intervals, a whole number, found {intervals!r}")
    period = units.time_ps(interval)
    if period <= 0:
        raise InputError(f"expected an interval above 0, found `{interval}`")
    for name, job in jobs.items():
        if not isinstance(job, Sending):
            raise InputError(f"job `{name}`: expected `odonata.Sending`, found `{job!r}`")
    sending: dict[str, dict[str, Any]] = {}
    sizes: dict[str, int] = {}
    if not isinstance(system, str | PathLike | Mapping):
        raise InputError(f"expected a system (a name, a file or a table), found {system!r}")
    for name, job in jobs.items():
        nodes, size = _nodes(name, job), _message(name, job, period)
        if size > 0 and len(nodes) > 1:
            sizes[name] = size
            sending[name] = {
                "name": f"j{len(sending)}",
                "place": {"nodes": format_ids(nodes)},
                "app": {**job.app, "message": f"{size} B", "interval": interval, "arrival": "staggered"},
                "background": True,
            }
    if not sending:
        return dict.fromkeys(jobs, 1.0)
    given = str(system) if isinstance(system, str | PathLike) else dict(system)
    machine = {"system": given} if routing is None else {"system": given, "routing": routing}
    factors = dict.fromkeys(jobs, 1.0)
    # A queue that is still filling looks like a load above the capacity, so a longer run must confirm it.
    for count in (intervals, 2 * intervals):
        ends = {"seed": seed, "until": units.format_time(period * (count + 1))}
        try:
            table = run({**machine, "job": list(sending.values()), "run": ends}, threads=threads).jobs
        except InputError as e:
            raise _of_caller(e, list(sending)) from None
        rows = {row["name"]: row for row in table.iter_rows(named=True)}
        factors |= {name: _factor(rows[job["name"]], sizes[name]) for name, job in sending.items()}
        if all(factor == 1 for factor in factors.values()):
            break
    return factors


def _of_caller(error: InputError, names: list[str]) -> InputError:
    """The error without a place in data that the caller never saw, and with the name of the job that it is about."""
    if error.file is not None:
        return error
    about = names[error.path[1]] if error.path[:1] == ("job",) and isinstance(error.path[1], int) else None
    message = re.sub(r"`j(\d+)`", lambda made: f"`{names[int(made[1])]}`", error.message)
    return error.but(message=message if about is None else f"job `{about}`: {message}", key=None, path=())


def _is(kind: type, value: Any) -> bool:
    """Whether a value, also one of NumPy, is such a number. In Python, but for nobody else, True is one."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _nodes(name: str, job: Sending) -> list[int]:
    """The nodes of a job as whole numbers."""
    try:
        nodes = list(job.nodes)
    except TypeError:
        raise InputError(f"job `{name}`: expected numbers of nodes, found {job.nodes!r}") from None
    for node in nodes:
        if not _is(Integral, node) or node < 0:
            raise InputError(f"job `{name}`: expected the number of a node, at least 0, found {node!r}")
    return [int(node) for node in nodes]


def _message(name: str, job: Sending, period: int) -> int:
    """Bytes of a message of the job's pattern, so that a node sends at the job's rate."""
    if not _is(Real, job.rate) or not 0 <= float(job.rate) < math.inf:
        raise InputError(f"job `{name}`: expected a number of bytes a second, at least 0, found {job.rate!r}")
    pattern = own_name("pattern", job.app.get("pattern"))
    if not isinstance(pattern, str) or pattern not in EVEN:
        raise unknown("pattern of a rate", str(pattern), EVEN)
    sized = sorted({"message", "interval", "load", "messages", "arrival"} & job.app.keys())
    if sized:
        raise InputError(f"job `{name}`: its rate says `{sized[0]}`", hint="leave it out")
    per_interval = validate(EVEN[pattern], {**job.app, "pattern": pattern, "message": "1 B"}).per_interval()
    each = float(job.rate) * period / 10**12 / per_interval
    return max(1, round(each)) if each else 0


def _factor(row: Mapping[str, Any], size: int) -> float:
    """One over the share of its offered load that the network carries; 1 if the load is not above the capacity.

    The backlog of a job that offers r times what the network carries grows by 1 - 1/r (odonata.store.saturation). If so
    few messages of this size (B) arrive that its growth is not known, the payload that arrived says the share.
    """
    if row["saturated"] is False:
        return 1.0
    growth = row["backlog_growth"]
    share = float(row["bytes"] / (row["messages_sent"] * size) if growth is None else 1 - growth)
    return 1 / min(1.0, max(share, SMALLEST_SHARE))
