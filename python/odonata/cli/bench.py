"""`odonata bench`: how fast the simulator is on this machine, and how much memory it takes.

Every repetition is a process of its own that holds the core and NumPy but not polars, so that its peak memory is the
simulation's. Numbers are medians over the repetitions; the simulated results of all are equal.
"""

import json as json_module
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from odonata.text import aligned

_CHILD = "from odonata.runner import benchmark; benchmark()"
# What is measured, and how the scenario differs from bench.toml.
_CASES: dict[str, list[str]] = {
    "main": [],
    "overload": ['job.target.place={ policy = "contiguous", groups = "3-8" }'],
    "occupancy": ['sensing="occupancy"'],
}


def bench(
    *,
    repetitions: Annotated[
        int | None, Parameter(name=["--repetitions", "-n"], validator=validators.Number(gte=1))
    ] = None,
    messages: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None,
    instructions: Annotated[bool, Parameter(negative=())] = False,
    limits: Path | None = None,
    machines: Annotated[bool, Parameter(negative=())] = False,
    sweep: Annotated[bool, Parameter(negative=())] = False,
    large: Annotated[bool, Parameter(negative=())] = False,
    blame: Annotated[bool, Parameter(negative=())] = False,
    scaling: Annotated[bool, Parameter(negative=())] = False,
    threads: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=1024))] = 1,
    record: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Measure the simulator on this machine.

    3,456 nodes, 4 KB to a random process every 1 us on 2,304 nodes, background on 144, every message recorded.
    The main case spreads the job over all groups; the overloaded one packs it into six, whose links fill up. Both
    sense backlogs. The case `occupancy` is the main one with the congestion metric of fpar.

    Parameters
    ----------
    repetitions
        Runs of each case (default: 5); the numbers are their medians. Not with `--instructions` or `--scaling`.
    messages
        Messages of each process (default: 200). Not with `--sweep` or `--large`.
    instructions
        Count instructions instead: per packet-hop of patterns with two metrics, and per message of two programs (needs
        valgrind; takes a few minutes).
    limits
        Count the instructions of the cases in this file (TOML: case = number), and fail if there are more.
    machines
        Measure every machine with every routing instead, and the time to prepare 100,000 nodes.
    sweep
        Measure instead the cost of a small run of a sweep in addition to its simulation.
    large
        Measure machines of about 105,000 and 1,000,000 nodes instead, whose nodes all send (needs 3 GB of memory).
    blame
        Measure instead how much longer runs with `measure.blame` take, for several kinds of runs.
    scaling
        Count instead what more threads could gain: windows, and the events of the busiest thread in each, for 2, 4, 8
        and 16 threads. It needs no more than two processors.
    threads
        Threads that share each run. Only alone, with `--large`, or with `--scaling`, where it is the most.
    record
        Append a row for each case to this table (CSV), to compare versions. Not with `--machines`, `--sweep`,
        `--blame` or `--scaling`.
    json
        Print one JSON object instead of the table.
    """
    from odonata.errors import InputError

    kinds = {
        "--machines": machines,
        "--sweep": sweep,
        "--large": large,
        "--blame": blame,
        "--scaling": scaling,
        "--instructions": instructions or limits is not None,
    }
    asked = [name for name, given in kinds.items() if given]
    if len(asked) > 1:
        raise InputError(f"`{asked[0]}` and `{asked[1]}` exclude each other: each measures something else")
    for option, given, others in (
        ("--record", record is not None, ("--machines", "--sweep", "--blame", "--scaling")),
        ("--repetitions", repetitions is not None, ("--instructions", "--scaling")),
        ("--messages", messages is not None, ("--sweep", "--large", "--instructions")),
        ("--threads", threads > 1, ("--machines", "--sweep", "--blame", "--instructions")),
    ):
        if given and asked and asked[0] in others:
            raise InputError(f"`{option}` does not apply to `{asked[0]}`")
    if threads > 1 and record is not None:
        raise InputError("`--threads` excludes `--record`, which is for one thread")
    messages, repetitions = messages or 200, repetitions or 5
    if instructions or limits is not None:
        return _instructions(limits, record, json=json)
    if sweep:
        return _sweep(repetitions, json=json)
    if machines:
        return _machines(repetitions, messages, json=json)
    if blame:
        return _blame(repetitions, messages, json=json)
    if scaling:
        return _scaling(messages, threads, json=json)
    if large:
        return _large(repetitions, record, threads, json=json)
    measured = {case: _measure(case, repetitions, messages, threads) for case in _CASES}
    if json:
        print(
            json_module.dumps(
                {**measured["main"], "overload": measured["overload"], "occupancy": measured["occupancy"]}
            )
        )
    else:
        print(_as_text(measured))
    if record is not None:
        _record(record, measured)
    return 0


def _machines(rounds: int, messages: int, *, json: bool) -> int:
    from odonata.cli.bench_machines import as_text, measure, preparation

    _, main = _spec("main", messages)
    measured = measure(rounds, messages, main, lambda spec: _child([], spec)[0])
    prepared = preparation(rounds)
    if json:
        rows = [{"system": system, "routing": routing, **case} for (system, routing), case in measured.items()]
        large = {name: {"nodes": nodes, "prepare_s": seconds} for name, (nodes, seconds) in prepared.items()}
        print(json_module.dumps({"cases": rows, "large": large}))
    else:
        print(as_text(measured, prepared))
    return 0


def _large(repetitions: int, record: Path | None, threads: int, *, json: bool) -> int:
    from odonata.cli.bench_large import as_text, measure

    measured = measure(repetitions, lambda spec: _child([], spec, threads)[0], summarise)
    print(json_module.dumps(measured) if json else as_text(measured))
    if record is not None:
        _record(record, measured)
    return 0


def _scaling(messages: int, threads: int, *, json: bool) -> int:
    from odonata.cli.bench_scaling import MOST, as_text, measure

    cases = {case: _spec(case, messages)[1] for case in _CASES}
    rows = measure(cases, threads if threads > 1 else MOST, lambda spec, of: _child([], spec, of)[0])
    print(json_module.dumps(rows) if json else as_text(rows))
    return 0


def _blame(rounds: int, messages: int, *, json: bool) -> int:
    from odonata.cli.bench_blame import as_text, measure

    measured = measure(rounds, lambda overrides: _resolved(overrides, messages)[1], lambda spec: _child([], spec)[0])
    print(json_module.dumps(measured) if json else as_text(measured))
    return 0


def _instructions(limits: Path | None, record: Path | None, *, json: bool) -> int:
    from odonata.cli.bench_instructions import CASES, MESSAGE, above, as_text, count, read_limits
    from odonata.errors import RunError

    allowed = {} if limits is None else read_limits(limits)
    counted = count({name: CASES[name] for name in allowed or CASES}, resolved_file, _child)
    print(json_module.dumps(counted) if json else as_text(counted))
    if record is not None:
        names = {
            name: f"instructions_per_{'message' if CASES[name].per == MESSAGE else 'packet_hop'}" for name in counted
        }
        _record(record, {name: {names[name]: value} for name, value in counted.items()})
    broken = above(counted, allowed)
    if broken:
        raise RunError("; ".join(broken))
    return 0


def _record(file: Path, measured: dict[str, dict[str, Any]]) -> None:
    from odonata.cli.bench_record import append

    append(file, measured)


def _sweep(rounds: int, *, json: bool) -> int:
    from odonata.cli.bench_sweep import as_text, measure

    measured = measure(rounds)
    print(json_module.dumps(measured) if json else as_text(measured))
    return 0


def _spec(case: str, messages: int) -> tuple[str, str]:
    """The id and the specification of a case."""
    return _resolved(_CASES[case], messages)


def _resolved(overrides: Iterable[str], messages: int) -> tuple[str, str]:
    """The id and the specification of bench.toml with overrides."""
    return resolved_file("bench.toml", [f"job.target.app.messages={messages}", *overrides])


def resolved_file(file: str, overrides: Iterable[str]) -> tuple[str, str]:
    from odonata import scenario

    with as_file(files("odonata.cli") / file) as path:
        resolved = scenario.load(path, overrides=list(overrides)).resolve()
    return resolved.id, json_module.dumps(resolved.spec)


def _measure(case: str, repetitions: int, messages: int, threads: int) -> dict[str, Any]:
    run_id, spec = _spec(case, messages)
    runs = []
    for number in range(1, repetitions + 1):
        print(f"{case}: repetition {number} of {repetitions}", file=sys.stderr, flush=True)
        runs.append(_child([], spec, threads)[0])
    return {"id": run_id, **summarise(runs)}


def _child(wrapper: list[str], spec: str, threads: int = 1) -> tuple[dict[str, Any], str]:
    """Runs one specification in a process of its own: what it measured, and what went to standard error."""
    from odonata.errors import RunError

    command = [*wrapper, sys.executable, "-c", _CHILD, str(threads)]
    # Python draws its hash seed at random, which moves the instructions of its start by some millions.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    child = subprocess.run(command, input=spec, text=True, capture_output=True, check=False, env=environment)
    if child.returncode == 130:
        raise KeyboardInterrupt
    if child.returncode != 0:
        last = (child.stderr.strip().splitlines() or [f"exit status {child.returncode}"])[-1]
        raise RunError(f"the simulation failed: {last}")
    printed: dict[str, Any] = json_module.loads(child.stdout)
    return printed, child.stderr


def summarise(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over repetitions. Rates are of the median time; memory is the greatest of all."""
    events, hops = runs[0]["events"], runs[0]["packet_hops"]
    if any((run["events"], run["packet_hops"]) != (events, hops) for run in runs):
        raise AssertionError("repetitions of one scenario differ")
    times = [run["wall_s"] for run in runs]
    median = statistics.median(times)
    return {
        "repetitions": len(runs),
        "sim_time_ps": runs[0]["end_ps"],
        "messages": runs[0]["messages"],
        "events": events,
        "packet_hops": hops,
        "threads": runs[0]["threads"],
        "wall_s": median,
        "wall_s_min": min(times),
        "wall_s_max": max(times),
        "events_per_s": events / median,
        "packet_hops_per_s": hops / median,
        "ns_per_packet_hop": median / hops * 1e9,
        "events_per_packet_hop": events / hops,
        "peak_rss_bytes": max(run["peak_rss_bytes"] for run in runs),
        "idle_rss_bytes": max(run["idle_rss_bytes"] for run in runs),
    }


def _as_text(measured: dict[str, dict[str, Any]]) -> str:
    def row(name: str, cell: Any) -> list[str]:
        return [name, *(cell(case) for case in measured.values())]

    def memory(case: dict[str, Any]) -> str:
        return f"{case['peak_rss_bytes'] / 1e6:.0f} MB ({case['idle_rss_bytes'] / 1e6:.0f} before)"

    rows = [
        ["", *measured],
        row("packet-hops per second", lambda case: f"{case['packet_hops_per_s'] / 1e6:.2f} M"),
        row("events per second", lambda case: f"{case['events_per_s'] / 1e6:.2f} M"),
        row("time per packet-hop", lambda case: f"{case['ns_per_packet_hop']:.1f} ns"),
        row("events per packet-hop", lambda case: f"{case['events_per_packet_hop']:.3f}"),
        row("peak memory", memory),
        row("wall time", lambda case: f"{case['wall_s']:.3f} s"),
        row("shortest, longest", lambda case: f"{case['wall_s_min']:.3f}, {case['wall_s_max']:.3f} s"),
        row("packet-hops", lambda case: f"{case['packet_hops']:,}"),
        row("messages recorded", lambda case: f"{case['messages']:,}"),
        row("threads", lambda case: f"{case['threads']}"),
        row("repetitions", lambda case: f"{case['repetitions']}"),
    ]
    return "\n".join(aligned(rows, [False, *[True] * len(measured)]))
