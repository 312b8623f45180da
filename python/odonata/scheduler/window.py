"""A packet-level window: all jobs that run at one time, simulated until the time of an iteration of each is known.

Every job repeats its program. The time of an iteration is that from the end of one to the end of the next, after the
first ones (`WARM_UP`). The interval of its mean is Student's over the means of `BATCHES` batches of consecutive
iterations (Law, "Simulation Modeling and Analysis"; Schmeiser, Operations Research 30(3), 1982). The window is doubled
until the interval of each job is short enough.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from odonata.errors import OdonataError, RunError
from odonata.placement.ids import format_ids
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WARM_UP = 1
"""First iterations of a window, which do not count (assumed: all jobs begin at once, and then get out of step)."""
BATCHES = 5
LEAST, LEAST_BESIDE = 2 * BATCHES, BATCHES
"""Fewest iterations that count: of a job alone and with `window.exact`, and of a job beside others. Half as many make a
window half as long, and let what changes from one iteration to the next at the begin count for more (assumed)."""
STUDENT = 2.776
"""The quantile of 97.5 % of Student's distribution with `BATCHES` - 1 degrees of freedom."""
SLACK = 1.25
"""The first window is so much longer than the iterations take without other jobs."""


@dataclass(frozen=True)
class Member:
    """A job in a window: what it runs, and on which nodes."""

    keys: Mapping[str, Any] = field(hash=False)
    """Its application: keys and values of a `[[job]]`."""
    nodes: tuple[int, ...]
    program: bool
    """Whether it has iterations. A pattern sends at its own rate, whatever the network does."""
    content: str = ""
    """A hash of what its application resolves to, files included."""


@dataclass(frozen=True)
class Window:
    """What is simulated. Equal windows have equal results."""

    machine: Mapping[str, Any] = field(hash=False)
    """System, routing and so on: keys and values of a scenario."""
    folder: str
    """The folder that files in them are relative to."""
    members: tuple[Member, ...]
    """In ascending order of their lowest nodes."""
    seed: int
    error: float
    """The half width of an interval that is short enough, as a part of the mean."""
    first_ps: int
    """Length of the first window; 0 for one job alone, which runs until it has enough iterations."""
    longest_ps: int
    content: str = ""
    """A hash of what the machine resolves to, files included."""
    least: int = LEAST
    """Fewest iterations of a job that count."""

    @property
    def key(self) -> str:
        """Its identity, with that of the code that simulates it. Files count by their content, not by their names."""
        from odonata.store.engine import fingerprint

        text = json.dumps([fingerprint(), {**asdict(self), "folder": ""}], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Measured:
    """The iterations of each job in a window."""

    means_ps: tuple[float | None, ...]
    """Mean time of an iteration; None for a pattern."""
    errors: tuple[float | None, ...]
    """Half width of its 95 % interval, as a part of the mean; None if there are too few iterations."""
    length_ps: int
    """Length of the last window."""
    packet_hops: int
    """Of all windows, the shorter ones included."""
    wall_s: float


def simulate(window: Window) -> Measured:
    """Simulates a window.

    Parameters
    ----------
    window
        The jobs and their nodes.

    Returns
    -------
    Measured

    Raises
    ------
    OdonataError
        If the jobs cannot be simulated, and if a job ends no iteration in the longest window.
    """
    extent, hops, wall = window.first_ps or window.least, 0, 0.0
    while True:
        spec, result = _run(window, extent)
        hops, wall = hops + result["packet_hops"], wall + result["wall_s"]
        estimates = [
            _estimate(spec, result, job, window.least) if member.program else (None, 0.0)
            for job, member in enumerate(window.members)
        ]
        enough = all(error is not None and error <= window.error for _, error in estimates)
        length = int(result["end_ps"])
        if enough or length >= window.longest_ps:
            break
        extent = min(2 * extent, window.longest_ps)
    for member, (mean, _) in zip(window.members, estimates, strict=True):
        if member.program and mean is None:
            raise RunError(
                f"a job on {len(member.nodes):,} nodes ends no iteration after its first {WARM_UP} in "
                f"{format_time(length)}\n  hint: make `window.longest` longer, or its traffic lighter"
            )
    errors = tuple(
        error if member.program else None for member, (_, error) in zip(window.members, estimates, strict=True)
    )
    return Measured(tuple(mean for mean, _ in estimates), errors, length, hops, wall)


def scenario_of(window: Window, extent: int) -> dict[str, Any]:
    """The scenario of a window: of this length in ps, or for a job alone of so many iterations that count."""
    length = {"background": True} if window.first_ps else {"iterations": WARM_UP + extent + 1}
    jobs = [
        {"name": f"j{number}", "place": {"nodes": format_ids(member.nodes)}, **member.keys, **length}
        for number, member in enumerate(window.members)
    ]
    until = {"until": format_time(extent)} if window.first_ps else {}
    return {**window.machine, "job": jobs, "run": {**until, "seed": window.seed}}


def _run(window: Window, extent: int) -> tuple[Mapping[str, Any], dict[str, Any]]:
    from odonata import runner
    from odonata.scenario import Scenario

    resolved = Scenario.of(scenario_of(window, extent), folder=window.folder).resolve()
    if window.content and content_of_machine(resolved.spec) != window.content:
        raise RunError("a file that describes the machine is another one than at the begin of the schedule")
    return resolved.spec, runner.simulate(resolved.spec)


def content_of_machine(spec: Mapping[str, Any]) -> str:
    """A hash of the machine in a specification, its routing and its failures included."""
    of_window = ("jobs", "stop", "measure", "seed")
    return _hash({key: value for key, value in spec.items() if key not in of_window})


def content_of_job(spec: Mapping[str, Any]) -> str:
    """A hash of the first job of a specification: its program or its traffic."""
    return _hash(spec["jobs"][0])


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def _estimate(
    spec: Mapping[str, Any], result: Mapping[str, Any], job: int, least: int
) -> tuple[float | None, float | None]:
    """The mean time of an iteration, and the half width of its interval as a part of it."""
    from odonata.store.programs import of_job

    rows = of_job(result["iterations"], job)
    whole = rows["ranks"] == len(spec["jobs"][job]["nodes"])
    ends = sorted(int(end) for end in rows["last_end_ps"][whole])[WARM_UP:]
    if len(ends) < 2:
        return None, None
    return (ends[-1] - ends[0]) / (len(ends) - 1), half_width(ends, least)


def half_width(ends: Sequence[int], least: int = LEAST) -> float | None:
    """Half of the 95 % interval of the mean time between these ends, as a part of the mean; None for too few."""
    count = len(ends) - 1
    if count < least:
        return None
    mean = (ends[-1] - ends[0]) / count
    # The batches cover the end; what does not divide is left out at the begin.
    size = count // BATCHES
    cuts = [ends[count - size * (BATCHES - batch)] for batch in range(BATCHES + 1)]
    means = [(late - early) / size for early, late in pairwise(cuts)]
    middle = sum(means) / BATCHES
    variance = sum((batch_mean - middle) ** 2 for batch_mean in means) / (BATCHES - 1)
    return STUDENT * math.sqrt(variance / BATCHES) / mean if mean else 0.0


def safely(window: Window) -> tuple[Measured | None, str]:
    """As `simulate`, with the text of an error in place of it: for workers."""
    try:
        return simulate(window), ""
    except OdonataError as problem:
        return None, str(problem)
