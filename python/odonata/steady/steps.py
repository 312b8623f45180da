"""Programs of one collective around rings, of which some steps are skipped in place of whole iterations.

A ring of n ranks repeats the same step n - 1 times, an all-reduce twice as often (Patarasuk and Yuan 2009): on 2,048
GPUs that is 4,094 steps, of which a few show the time of all. In `unrolled` specifications such a job has as many
iterations as its collective has steps, so that all else counts them like iterations. `played` makes from it what the
core simulates: the collective with so many steps (`ring-steps`), and a record of the tasks of the CPUs, for they tell
when a rank has received what belongs to a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.steady.shorten import with_programs

if TYPE_CHECKING:
    from collections.abc import Mapping

RINGS = {"allreduce": 2, "reduce-scatter": 1, "allgather": 1}
"""Collective around a ring -> how often it goes around."""


def steps_of(job: Mapping[str, Any]) -> int | None:
    """How many steps the only iteration of a job has; `None` if it is not one collective around rings."""
    program = job.get("program")
    if program is None or program["iterations"] != 1:
        return None
    counts = {_steps(phase, len(job["nodes"])) for phase in _rings(program["body"]).values()}
    return counts.pop() if len(counts) == 1 else None


def counted_in_steps(spec: Mapping[str, Any], least: int) -> dict[int, int]:
    """The jobs of a specification whose steps are counted, and their numbers of steps, which are more than `least`."""
    counts = {number: steps_of(job) for number, job in enumerate(spec["jobs"])}
    return {number: count for number, count in counts.items() if count is not None and count > least}


def unrolled(spec: Mapping[str, Any], steps: Mapping[int, int]) -> dict[str, Any]:
    """The specification in which these jobs have as many iterations as steps."""
    return with_programs(spec, {number: {"iterations": count} for number, count in steps.items()})


def played(spec: Mapping[str, Any], steps: Mapping[int, int]) -> dict[str, Any]:
    """What the core simulates for an unrolled specification; the same if no job is counted in steps."""
    if not steps:
        return dict(spec)
    made = with_programs(spec, {number: _with_steps(spec["jobs"][number]["program"]) for number in steps})
    return {**made, "measure": {**spec["measure"], "operations": True}}


def orders_of_rings(body: Mapping[str, Any]) -> dict[int, list[int]]:
    """The rings of a program by CPU: the ranks of each node in the order in which they visit them."""
    return {cpu: phase["what"].get("order", [0]) for cpu, phase in _rings(body).items()}


def has_two_parts(body: Mapping[str, Any]) -> bool:
    """Whether a program around rings is an all-reduce: a reduce-scatter and an all-gather."""
    return any(_work(phase["what"]) == "allreduce" for phase in _rings(body).values())


def _rings(body: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """The phases of a program that is one ring, or rings side by side after a call, by CPU; none of any other."""
    if body["name"] == "phases" and not body.get("untimed"):
        rings = [phase for phase in body["phases"] if not _computes(phase)]
        return {0: rings[0]} if len(rings) == 1 and "along" not in rings[0] else {}
    if body["name"] != "stages" or len(body["stages"]) > 1:
        return {}
    (nodes,) = body["stages"]
    first, *rest = nodes
    by_cpu = {
        node["cpu"]: body["collectives"][node["what"]["number"]]["phases"]
        for node in rest
        if node["what"]["name"] == "collective" and node["after"] == [0]
    }
    alone = all(len(phases) == 1 and "along" not in phases[0] for phases in by_cpu.values())
    if first["what"]["name"] != "compute" or len(by_cpu) < len(rest) or not alone:
        return {}
    return {cpu: phase for cpu, (phase,) in by_cpu.items()}


def _computes(phase: Mapping[str, Any]) -> bool:
    return phase["what"]["name"] == "compute" and not phase["what"]["jitter_ps"]


def _work(what: Mapping[str, Any]) -> str | None:
    """The collective that a phase does around a ring; `None` if it does none."""
    if what["name"] == "ring-channel":
        return str(what["work"])
    return str(what["name"]) if what["name"] in RINGS and what["algorithm"] == "ring" else None


def _steps(phase: Mapping[str, Any], ranks: int) -> int | None:
    work = _work(phase["what"])
    return None if work is None else RINGS[work] * (ranks - 1)


def _with_steps(program: Mapping[str, Any]) -> dict[str, Any]:
    """What changes of a program: one iteration of so many steps as it has iterations."""
    body, count = program["body"], program["iterations"]

    def some(phases: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [phase if _computes(phase) else {**phase, "what": _some(phase["what"], count)} for phase in phases]

    if body["name"] == "phases":
        shorter = {**body, "phases": some(body["phases"])}
    else:
        shorter = {**body, "collectives": [{**of, "phases": some(of["phases"])} for of in body["collectives"]]}
    return {"iterations": 1, "body": shorter}


def _some(what: Mapping[str, Any], count: int) -> dict[str, Any]:
    order = what.get("order", [0])
    return {"name": "ring-steps", "work": _work(what), "order": order, "bytes": what["bytes"], "steps": count}
