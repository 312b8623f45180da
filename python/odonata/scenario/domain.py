"""Says in one sentence whether a scenario lies outside the measured slowdowns.

The error of a slowdown is known for an operation beside a neighbour, for a range of nodes and of message sizes, on the
unchanged machine of a preset (`machine/measured_slowdowns.toml`). Outside of this range the error is unknown.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from odonata.machine.measured_slowdowns import CHANGED, is_of_a_real_machine, measured_slowdowns
from odonata.units import size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from odonata.machine.measured_slowdowns import MeasuredSlowdown


def outside(scenario: Mapping[str, Any]) -> str | None:
    """A sentence about two jobs that were never measured beside each other on this machine. None if all pairs were
    measured, if there is one job only, or if the machine cannot be measured. `scenario` is that of `resolved.json`."""
    jobs, name = scenario["job"], scenario["system"]["name"]
    if len(jobs) < 2 or all(job.get("background") for job in jobs):
        return None
    preset = name.removesuffix(CHANGED)
    if not measured_slowdowns(preset):
        real = is_of_a_real_machine(preset)
        return f"no slowdown on `{preset}` was ever compared with a measured one" if real else None
    listed = f"`odonata show {preset}` lists what there is"
    if name.endswith(CHANGED):
        return f"measurements of `{preset}` say nothing about it with these changes ({listed})"
    for first, second in combinations(jobs, 2):
        if first.get("background") and second.get("background"):
            continue
        # The roles do not matter: an incast beside a collective counts as measured if the collective was measured
        # beside it.
        lacking = [_lacking(measured_slowdowns(preset), *pair) for pair in ((first, second), (second, first))]
        if all(lacking):
            longest = max(lacking, key=len)  # the longer text names nodes or messages, if the pair was measured at all
            return f"no measurement of `{preset}` has {longest}, so the error is not known ({listed})"
    return None


def _lacking(measured: Iterable[MeasuredSlowdown], victim: Mapping[str, Any], neighbour: Mapping[str, Any]) -> str:
    """What no measurement of a victim beside a neighbour covers; "" if one covers it."""
    operation, beside = _operations(victim), _operations(neighbour)
    pair = f"`{operation}` beside `{beside}`"
    fitting = [of for of in measured if (of.operation, of.neighbour) == (operation, beside)]
    if not fitting:
        return pair
    nodes = victim["nodes"] + neighbour["nodes"]
    low, high = min(of.nodes[0] for of in fitting), max(of.nodes[1] for of in fitting)
    if not low <= nodes <= high:
        return f"{pair} on {'more' if nodes > high else 'fewer'} than {high if nodes > high else low} nodes"
    for size in sorted(_sizes(victim), reverse=True):
        least = min((of.messages[0] for of in fitting), key=size_bytes)
        most = max((of.messages[1] for of in fitting), key=size_bytes)
        if not size_bytes(least) <= size <= size_bytes(most):
            above = size > size_bytes(most)
            return f"{pair} with messages {'above' if above else 'below'} {most if above else least}"
    return ""


def _sizes(job: Mapping[str, Any]) -> list[int]:
    """The sizes of its messages, of all phases, in bytes."""
    app = job["app"]
    given = [phase.get("message") for phase in app.get("phases") or [app]]
    return [size_bytes(message) for message in given if isinstance(message, str)]


def _operations(job: Mapping[str, Any]) -> str:
    """The operation of a job, in the names of measurements: a collective, motif or pattern, or those of its phases."""
    app = job["app"]
    phases = app.get("phases") or [app]
    return ", ".join(dict.fromkeys(_name(phase) for phase in phases))


def _name(app: Mapping[str, Any]) -> str:
    for key in ("collective", "motif", "pattern"):
        if isinstance(app.get(key), str):
            return str(app[key])
    return next(iter(app), "a program")
