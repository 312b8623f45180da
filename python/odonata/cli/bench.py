"""`odonata bench`: how fast the simulator is on this machine, and how much memory it takes.

Every repetition is a process of its own that holds the core and NumPy but not polars, so that its peak memory is the
simulation's. Numbers are medians over the repetitions; the simulated results of all are equal.
"""

import json as json_module
import statistics
import subprocess
import sys
from importlib.resources import as_file, files
from typing import Annotated, Any

from cyclopts import Parameter, validators

_CHILD = "from odonata.run import benchmark; benchmark()"


def bench(
    *,
    repetitions: Annotated[int, Parameter(name=["--repetitions", "-n"], validator=validators.Number(gte=1))] = 5,
    messages: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 200,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Measure the simulator on this machine.

    3,456 nodes, 4 KB to a random process every 1 us on 2,304 of them, background on 144 others, every message recorded.

    Parameters
    ----------
    repetitions
        Runs; the numbers are their medians.
    messages
        Messages of each process.
    json
        Print one JSON object instead of the table.
    """
    from odonata import scenario

    with as_file(files("odonata.cli") / "bench.toml") as path:
        resolved = scenario.load(path, overrides=[f"job.target.app.messages={messages}"]).resolve()
    spec = json_module.dumps(resolved.spec)
    runs = [_repetition(spec, number, repetitions) for number in range(1, repetitions + 1)]
    found = summarise(runs)
    if json:
        print(json_module.dumps({"id": resolved.id, **found}))
    else:
        print(_as_text(found))
    return 0


def _repetition(spec: str, number: int, of: int) -> dict[str, Any]:
    from odonata.errors import RunError

    print(f"repetition {number} of {of}", file=sys.stderr, flush=True)
    child = subprocess.run([sys.executable, "-c", _CHILD], input=spec, text=True, capture_output=True, check=False)
    if child.returncode == 130:
        raise KeyboardInterrupt
    if child.returncode != 0:
        last = (child.stderr.strip().splitlines() or [f"exit status {child.returncode}"])[-1]
        raise RunError(f"the simulation failed: {last}")
    found: dict[str, Any] = json_module.loads(child.stdout)
    return found


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


def _as_text(found: dict[str, Any]) -> str:
    lines = [
        ("packet-hops per second", f"{found['packet_hops_per_s'] / 1e6:.2f} M"),
        ("events per second", f"{found['events_per_s'] / 1e6:.2f} M"),
        ("time per packet-hop", f"{found['ns_per_packet_hop']:.1f} ns"),
        ("events per packet-hop", f"{found['events_per_packet_hop']:.3f}"),
        (
            "peak memory",
            f"{found['peak_rss_bytes'] / 1e6:.0f} MB ({found['idle_rss_bytes'] / 1e6:.0f} MB before the run)",
        ),
        ("wall time", f"{found['wall_s']:.3f} s ({found['wall_s_min']:.3f} to {found['wall_s_max']:.3f})"),
        ("packet-hops", f"{found['packet_hops']:,}"),
        ("messages recorded", f"{found['messages']:,}"),
        ("repetitions", f"{found['repetitions']}"),
    ]
    return "\n".join(f"{name:24}{value}" for name, value in lines)
