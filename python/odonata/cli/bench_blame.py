"""`odonata bench --blame`: how much longer a run with blame takes.

Each kind of run is simulated with blame and without, one right after the other, so that both have the same load of the
machine beside them. Each simulation is a process of its own, as in the main case.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from odonata.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, tuple[str, ...]] = {
    "main": (),
    "overload": ('job.target.place={ policy = "contiguous", groups = "3-8" }',),
    "occupancy": ('sensing="occupancy"',),
    "input-queued": (
        'fabric.router={ kind = "input-queued", crossbar = "16 GB/s", output_buffer = "16 KiB" }',
    ),
    "aries": (
        'system="aries"',
        'routing="adaptive-0"',
        'sensing="credits"',
        "job.target.nodes=1536",
        'job.target.place="random"',
    ),
}  # fmt: skip
"""Kind of run -> how its scenario differs from bench.toml."""


def measure(rounds: int, spec: Callable[[tuple[str, ...]], str], child: Callable[[str], dict[str, Any]]) -> list[Any]:
    """For each kind the medians of its rounds, and the median of the ratios of the rounds.

    `spec` gives the specification of overrides of bench.toml, and `child` runs one and gives what it measured.
    """
    rows = []
    for kind, overrides in KINDS.items():
        specs = spec(overrides), spec((*overrides, "measure.blame=true"))
        pairs = [tuple(_ns(child(spec_of_run)) for spec_of_run in specs) for _ in range(rounds)]
        without, beside = zip(*pairs, strict=True)
        rows.append(
            {
                "kind": kind,
                "rounds": rounds,
                "ns_per_packet_hop": statistics.median(without),
                "ns_per_packet_hop_with_blame": statistics.median(beside),
                "ratio": statistics.median(more / less for less, more in pairs),
                "ratio_of_shortest": min(beside) / min(without),
            }
        )
    return rows


def _ns(run: dict[str, Any]) -> float:
    return float(run["wall_s"] / run["packet_hops"] * 1e9)


def as_text(rows: list[dict[str, Any]]) -> str:
    """A table with a line for each kind of run."""
    head = ["", "without", "with blame", "median ratio", "of the shortest"]
    cells = [
        [
            row["kind"],
            f"{row['ns_per_packet_hop']:.1f} ns",
            f"{row['ns_per_packet_hop_with_blame']:.1f} ns",
            f"{row['ratio']:.2f}",
            f"{row['ratio_of_shortest']:.2f}",
        ]
        for row in rows
    ]
    return "\n".join(aligned([head, *cells], [False, True, True, True, True]))
