"""Larger packets whose error is measured: `[run] packets = { error = "5 %" }` (docs/results.md, "Larger packets").

A part of the run, in which every program has a few iterations, is simulated with packets as they are, and of two, four,
eight ... times their size. The largest size with which the time of an iteration of every program differs by less than
three quarters of the bound is that of the run; gaps between iterations count or not, whichever differs more. Nothing
else changes: headers, buffers, windows and all other sizes stay in bytes.
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

    from odonata.scenario import Resolved

    Simulate = Callable[[Mapping[str, Any], str], dict[str, Any]]
    """From a specification and what it is for, to the result of the core."""

Times = tuple[float, float]
"""Of a program: the two times of an iteration that `times` gives."""
KEY = ("run", "packets")
FEW = 4
"""Iterations of each program in the part (assumed; docs/results.md has what was measured)."""
MOST_COST = 0.5
"""All trials together, the part with packets as they are included, simulate at most this share of the packet-hops of
the run with packets as they are (assumed). A trial that is expected to exceed it is not begun."""
MOST_SHARE = MOST_COST / 1.5
"""The part is at most this share of the run: a trial with packets of twice the size costs about half as much again."""
LEAST = 16
"""Fewest iterations, of the job with the most that the run waits for (assumed). If all jobs have as many, the part is
at most a quarter of the run, and all trials, of a half, a quarter ... of the packets, cost about `MOST_COST`. If some
have fewer, what the jobs send is counted (`share_of_part`)."""
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
    """By the name of a job: how much longer its iterations take than with packets as they are, as a share. Of the two
    times of `times`, that which changes more."""
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
    if spec["measure"].get("reordering"):
        return "`measure.reordering` counts packets"
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
    without = [jobs[number]["name"] for number in spec["stop"]["jobs"] if "program" not in jobs[number]]
    if without:
        return f"the run ends with `{without[0]}`, which has no iterations"
    longest = max(spec["stop"]["jobs"], key=lambda number: jobs[number]["program"]["iterations"])
    count = jobs[longest]["program"]["iterations"]
    if count < LEAST:
        had = "1 iteration" if count == 1 else f"{count} iterations"
        return f"`{jobs[longest]['name']}` has {had}, and with fewer than {LEAST} no part is much shorter than the run"
    return None


def of_study() -> InputError:
    """The error about a study whose runs have the key."""
    hint = "set `system.fabric.packet` to the size that one run has chosen"
    message = "a study cannot choose packets (`run.packets`), for its rows do not say what was measured"
    return InputError(message, hint=hint, path=(*KEY, "error"))


def share_of_part(resolved: Resolved, specs: Mapping[str, Mapping[str, Any]]) -> float:
    """The share of the run that the part is, at most: of the packet-hops of the programs that the run waits for, as
    they are counted before a run (`odonata.expectation`).

    `specs` are those of `choose`. Raises InputError if it is more than `MOST_SHARE`, or not known.
    """
    spec = resolved.spec
    waited = [(number, spec["jobs"][number]["program"]["iterations"]) for number in spec["stop"]["jobs"]]
    least = min(iterations for _, iterations in waited)
    if least >= LEAST:  # how many iterations `run.steady` skips is not known before the run
        return FEW / (least if resolved.steady is None else LEAST)
    from odonata.expectation.counts import counted
    from odonata.expectation.distances import Distances

    whole = few = 0.0
    distances = Distances(resolved)
    for number, iterations in waited:
        count = counted(resolved, number, distances)
        if count.unknown:
            message = f"a program has fewer than {LEAST} iterations, and what `{count.name}` sends is not counted "
            message += "before the run, so no part is known to be short"
            raise InputError(f"the size of packets cannot be chosen: {message}", path=KEY)
        runs = 1 + (count.name in specs)  # also alone
        whole += runs * count.packet_hops
        few += runs * count.packet_hops * min(1.0, FEW / iterations)
    share = few / whole if whole else 1.0
    if share > MOST_SHARE:
        message = f"{FEW} iterations of each program are {100 * share:.3g} % of what the run sends, and trials of more "
        message += f"than {100 * MOST_SHARE:.3g} % cost more than they save"
        raise InputError(f"the size of packets cannot be chosen: {message}", path=KEY)
    return share if resolved.steady is None else max(share, FEW / LEAST)


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


def choose(specs: Mapping[str, Mapping[str, Any]], error: float, simulate: Simulate, share: float) -> Packets:
    """The largest packets within the bound, for specifications of one fabric; `check` accepts the first one.

    The others are those of jobs alone, by their names; the first one has no name. `share` is that of `share_of_part`.
    """
    parts = {job: part(spec) for job, spec in specs.items()}
    given = next(iter(parts.values()))["fabric"]["packet_bytes"]

    shares = [share]

    def measured(size: int) -> tuple[dict[str, Times], int]:
        means: dict[str, Times] = {}
        hops = 0
        for job, short in parts.items():
            trial, alone = of_size(short, size), " alone" if job else ""
            result = simulate(trial, f"{job}{alone} (packets of {units.format_bytes(size)})".strip())
            means |= {f"{name}{alone}": of for name, of in times(trial, result).items()}
            hops += int(result["packet_hops"])
            if size == given:
                shares.append(_share_of_time(specs[job], result, means))
        return means, hops

    whole, hops = measured(given)
    left = MOST_COST * hops / max(shares) - hops
    tried: list[Tried] = []
    chosen, why = given, "no iteration of a program ended in the part"
    while whole:
        size = 2 * (tried[-1].bytes if tried else given)
        if size > MOST_BYTES:
            why = f"packets have at most {units.format_bytes(MOST_BYTES)}"
            break
        before = tried[-1].packet_hops if tried else hops
        # Packets per message are halved, except for the last one of each and short messages.
        twice_before = tried[-2].packet_hops if len(tried) > 1 else hops
        expected = before - (twice_before - before) / 2 if tried else before / 2
        if expected > left:
            why = (
                f"with trials of {units.format_bytes(size)}, all trials would cost more than {_percent(MOST_COST, 0)} "
            )
            why += "of the run"
            break
        try:
            means, of_trial = measured(size)
        except InputError as problem:
            why = f"those of {units.format_bytes(size)} are refused: {problem.message}"
            break
        if means.keys() != whole.keys():
            why = f"with {units.format_bytes(size)} other programs end an iteration in the part"
            break
        left -= of_trial
        tried.append(Tried(size, changes(whole, means), of_trial))
        if tried[-1].error >= MARGIN * error:
            why = f"with {units.format_bytes(size)} it is {_percent(tried[-1].error)}, and {_percent(MARGIN * error)} "
            why += "are three quarters of the bound"
            break
        if tried[-1].packet_hops >= before:
            why = "no message has more packets"
            break
        chosen = size
    return Packets(error, given, chosen, tuple(tried), hops, why)


def times(spec: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Times]:
    """By the name of each program that has ended an iteration, in ps: the time from its start to the end of the last
    one, over their number; and the mean of their times (`iteration_mean_ps`), in which no `gap` between them counts."""
    of_jobs = {job["name"]: progress(result, spec, number) for number, job in enumerate(spec["jobs"])}
    return {
        name: (1e12 / of.per_s, of.times.mean)
        for name, of in of_jobs.items()
        if of is not None and of.per_s and of.times is not None
    }


def changes(given: Mapping[str, Times], larger: Mapping[str, Times]) -> dict[str, float]:
    """By the name of each program, as a share: the change of that of its two times which changes more."""
    return {
        name: max((after / before - 1 for before, after in zip(of, larger[name], strict=True)), key=abs)
        for name, of in given.items()
    }


def _share_of_time(spec: Mapping[str, Any], result: Mapping[str, Any], known: Mapping[str, Times]) -> float:
    """The share of the time of the run that the part with this result takes, if jobs go on for as long as the run does;
    else 0."""
    waited = spec["stop"]["jobs"]
    programs = {spec["jobs"][number]["name"]: spec["jobs"][number]["program"] for number in waited}
    if len(waited) == len(spec["jobs"]) or not programs.keys() <= known.keys():
        return 0.0
    whole = max(of["start_ps"] + of["iterations"] * known[name][0] for name, of in programs.items())
    return float(result["end_ps"] / whole)


def _percent(share: float, digits: int = 2) -> str:
    return f"{share:.{digits}%}".replace("%", " %")
