"""Larger packets whose error is measured: `[run] packets = { error = "5 %" }` (docs/results.md, "Larger packets").

A part of the run, in which every program has a few iterations, is simulated with packets as they are, and of two, four,
eight ... times their size. The largest size with which the time of an iteration of every program differs by less than
three quarters of the bound is that of the run. Nothing else changes: headers, buffers, windows and all other sizes stay
in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata import units
from odonata.core_options import most
from odonata.errors import InputError
from odonata.steady.shorten import with_programs
from odonata.store.columns import RECORDS
from odonata.store.programs import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Simulate = Callable[[Mapping[str, Any], str], dict[str, Any]]
    """From a specification and what it is for, to the result of the core."""

KEY = ("run", "packets")
FEW = 4
"""Iterations of each program in the part (assumed; docs/results.md has what was measured)."""
LEAST = 16
"""Fewest iterations, of the job with the most that the run waits for. Assumed: all trials together simulate at most
twice what the part does, so they cost at most half of the run."""
MARGIN = 0.75
"""The change on the part may be at most this share of the bound, as that of the run differs a little (assumed;
docs/results.md has what was measured)."""
TOGETHER = ("allreduce", "barrier")
"""In an iteration with one of these, every rank waits for all others. Without it ranks move apart over many iterations,
and a part says little of the run: measured differences of up to 8 points."""
MOST_BYTES = most("fabric.packet_bytes")


@dataclass(frozen=True)
class Tried:
    """A larger size of packets that was simulated on the part."""

    bytes: int
    """Payload of a packet."""
    errors: Mapping[str, float]
    """By the name of a job: how much longer its iterations take than with packets as they are, as a share."""
    packet_hops: int

    @property
    def error(self) -> float:
        """The largest of them, whatever its sign."""
        return max(map(abs, self.errors.values()))


@dataclass(frozen=True)
class Packets:
    """What was chosen for a run with `run.packets`, and what was measured for it."""

    error: float
    """The bound."""
    given: int
    """Payload of packets as they are."""
    bytes: int
    """Payload of those that are simulated."""
    tried: tuple[Tried, ...]
    trial_hops: int
    """Packet-hops of the part with packets as they are."""
    why: str
    """Why they are not larger, as the end of a sentence."""

    def applied(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The specification with the size that was chosen."""
        return of_size(spec, self.bytes)

    def facts(self) -> dict[str, Any]:
        """The entry of the manifest."""
        return {
            "error": self.error,
            "given_bytes": self.given,
            "simulated_bytes": self.bytes,
            "part": {"iterations": FEW, "packet_hops": self.trial_hops},
            "tried": [
                {"bytes": of.bytes, "errors": dict(of.errors), "packet_hops": of.packet_hops} for of in self.tried
            ],
            "why_not_larger": self.why,
        }


def of_size(spec: Mapping[str, Any], size: int) -> dict[str, Any]:
    """The specification with packets of so much payload."""
    return {**spec, "fabric": {**spec["fabric"], "packet_bytes": size}}


def check(spec: Mapping[str, Any], targets: Sequence[str]) -> None:
    """Raises InputError for a run in which the size of a packet is what is measured, or of which no part is short."""
    reason = _refusal(spec, targets)
    if reason is not None:
        raise InputError(f"the size of packets cannot be chosen: {reason}", path=KEY)


def _refusal(spec: Mapping[str, Any], targets: Sequence[str]) -> str | None:
    jobs = spec["jobs"]
    if spec["compat"] is not None:
        return f"the model of `{spec['compat']}` has packets of its own"
    if "aries" in spec["fabric"]["nic"]:
        return "NICs of Aries count packets of `nic.packet`, and `fabric.packet` says how many are simulated as one"
    if spec["measure"].get("blame"):
        return "`measure.blame` attributes the waiting of single packets"
    for job in jobs:
        if "program" not in job and job["name"] in targets:
            return f"`{job['name']}` sends messages of a pattern, and latencies of messages depend on packets"
        if "bursts" in job:
            return f"`{job['name']}` has bursts, so no part stands for the run"
        if "program" in job and not _together(job["program"]["body"]):
            why = (
                "has no barrier or all-reduce of all ranks in an iteration, so they may move apart, and no part stands"
            )
            return f"`{job['name']}` {why} for the run"
    if not spec["stop"]["jobs"]:
        return "the run ends at a time, not with a program"
    longest = max(spec["stop"]["jobs"], key=lambda number: jobs[number]["program"]["iterations"])
    count = jobs[longest]["program"]["iterations"]
    if count < LEAST:
        had = "1 iteration" if count == 1 else f"{count} iterations"
        return f"`{jobs[longest]['name']}` has {had}, and with fewer than {LEAST} no part is much shorter than the run"
    return None


def _together(body: Any) -> bool:
    """Whether a part of a program is an all-reduce or a barrier of all its ranks."""
    if isinstance(body, dict):
        if body.get("along") is not None:  # of some ranks each
            return False
        return body.get("name") in TOGETHER or body.get("work") in TOGETHER or any(map(_together, body.values()))
    return isinstance(body, list) and any(map(_together, body))


def part(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The part on which sizes are compared: all programs at once, each with a few iterations, and nothing recorded."""
    programs = {number: job["program"] for number, job in enumerate(spec["jobs"]) if "program" in job}
    start = min(of["start_ps"] for of in programs.values())
    changed = {
        number: {"start_ps": start, "iterations": None if of["iterations"] is None else min(of["iterations"], FEW)}
        for number, of in programs.items()
    }
    measure = {key: value for key, value in spec["measure"].items() if key not in RECORDS}
    return {**with_programs(spec, changed), "measure": {**measure, "from_ps": 0, "until_ps": None}}


def choose(specs: Mapping[str, Mapping[str, Any]], error: float, simulate: Simulate) -> Packets:
    """The largest packets within the bound, for specifications of one fabric; `check` accepts the first one.

    The others are those of jobs alone, by their names; the first one has no name.
    """
    parts = {job: part(spec) for job, spec in specs.items()}
    given = next(iter(parts.values()))["fabric"]["packet_bytes"]

    def measured(size: int) -> tuple[dict[str, float], int]:
        means: dict[str, float] = {}
        hops = 0
        for job, short in parts.items():
            trial, alone = of_size(short, size), " alone" if job else ""
            result = simulate(trial, f"{job}{alone} (packets of {units.format_bytes(size)})".strip())
            means |= {f"{name}{alone}": mean for name, mean in paces(trial, result).items()}
            hops += int(result["packet_hops"])
        return means, hops

    whole, hops = measured(given)
    tried: list[Tried] = []
    chosen, why = given, "no iteration of a program ended in the part"
    while whole:
        size = 2 * (tried[-1].bytes if tried else given)
        if size > MOST_BYTES:
            why = f"packets have at most {units.format_bytes(MOST_BYTES)}"
            break
        try:
            means, of_trial = measured(size)
        except InputError as problem:
            why = f"those of {units.format_bytes(size)} are refused: {problem.message}"
            break
        if means.keys() != whole.keys():
            why = f"with {units.format_bytes(size)} other programs end an iteration in the part"
            break
        before = tried[-1].packet_hops if tried else hops
        tried.append(Tried(size, {name: means[name] / whole[name] - 1 for name in whole}, of_trial))
        if tried[-1].error >= MARGIN * error:
            why = f"with {units.format_bytes(size)} it is {_percent(tried[-1].error)}, and {_percent(MARGIN * error)} "
            why += "are three quarters of the bound"
            break
        if tried[-1].packet_hops >= before:
            why = "no message has more packets"
            break
        chosen = size
    return Packets(error, given, chosen, tuple(tried), hops, why)


def paces(spec: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, float]:
    """By the name of each program that has ended an iteration: the time from its start to the end of the last one, over
    their number, in ps."""
    of_jobs = {job["name"]: progress(result, spec, number) for number, job in enumerate(spec["jobs"])}
    return {name: 1e12 / of.per_s for name, of in of_jobs.items() if of is not None and of.per_s}


def _percent(share: float) -> str:
    return f"{share:.2%}".replace("%", " %")
