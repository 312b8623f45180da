"""`desensi2019-hosts`: the costs of hosts on Piz Daint, and how much of a speed-up they hide (De Sensi 2019; D25).

A faster network makes an operation faster by less if its hosts cost more. The costs of the preset `piz-daint` come from
public measurements on Aries; here they stand beside those measurements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from odonata.reproduce.desensi2019 import benchmarks
from odonata.reproduce.desensi2019.benchmarks import DEFAULT, HIGH_BIAS, program
from odonata.reproduce.desensi2019.page import MODEL, judged, page_of
from odonata.reproduce.desensi2019.relations import median_of
from odonata.reproduce.desensi2019.setting import PACKET, around
from odonata.reproduce.markdown import table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

MEASURED, BARRIER = "measured", "barrier"
COSTS = (100, 30, 0)
"""Percentages of the costs of the preset."""
ITERATIONS = 61
APART = 5
"""Routers from one node of a measured operation to the next one, all in one group (assumed)."""
EVERY = "400 us"
"""Time between iterations of a measured operation: more than any takes."""
CSCS = "ReFrame, cscs-checks/microbenchmarks/mpi/osu/osu_tests.py, commit 04be679e"
XC40 = "Pritchard 2016, gist 6a3acd0c, Open MPI (ob1) on Trinitite"


@dataclass(frozen=True)
class Operation:
    """A published time of an operation on an Aries machine, one process on each node."""

    machine: str
    benchmark: str
    size: str
    nodes: int
    us: float
    where: str
    fitted: bool = False
    """Whether a cost of the preset was chosen by it."""

    @property
    def words(self) -> str:
        """What was measured."""
        return f"{self.machine}: {self.benchmark}, {self.size}, {self.nodes} nodes"


DAINT, DOM, OTHER = "Piz Daint", "Dom", "an XC40"
OPERATIONS = (
    Operation(DAINT, "ping-pong", "8 B", 2, 1.30, CSCS, fitted=True),
    Operation(OTHER, "ping-pong", "1 KiB", 2, 1.49, XC40),
    Operation(OTHER, "ping-pong", "4 KiB", 2, 2.42, XC40, fitted=True),
    Operation(OTHER, "ping-pong", "8 KiB", 2, 4.97, XC40),
    Operation(OTHER, "ping-pong", "16 KiB", 2, 5.76, XC40),
    Operation(OTHER, "ping-pong", "64 KiB", 2, 15.03, XC40, fitted=True),
    Operation(OTHER, "ping-pong", "1 MiB", 2, 114.59, XC40),
    Operation(DOM, "allreduce", "8 B", 6, 5.67, CSCS, fitted=True),
    Operation(DOM, "alltoall", "8 B", 6, 8.23, CSCS),
    Operation(DAINT, "allreduce", "8 B", 6, 9.30, CSCS),
    Operation(DAINT, "allreduce", "8 B", 16, 13.62, CSCS),
    Operation(DAINT, "alltoall", "8 B", 16, 20.73, CSCS),
)
"""References of the regression tests of CSCS (averages of OSU benchmarks on nodes of one group), and latencies by size
of another machine with Aries. A ping-pong is half of a round trip."""


def points(reduced: bool) -> Points:
    """The measured operations on the idle machine, and barriers beside the steady background."""
    machine, nodes = ("small", (32, 17)) if reduced else ("piz-daint", (64, 17))
    distinct = {(of.benchmark, of.size, of.nodes): of for of in OPERATIONS}
    operations = OPERATIONS[:1] if reduced else tuple(distinct.values())
    idle = [
        benchmarks.point(
            MEASURED, machine, (of.nodes, of.nodes), of.benchmark, of.size, DEFAULT, every=EVERY, iterations=4, load=0.0
        )
        for of in operations
    ]
    often = {"every": "30 us", "iterations": 6 if reduced else ITERATIONS}
    loaded = [
        benchmarks.point(BARRIER, machine, nodes, "barrier", "", policy, **often, costs=costs)
        for costs in COSTS
        for policy in (DEFAULT, HIGH_BIAS)
    ]
    return [*idle, *loaded]


def make(point: Mapping[str, Any]) -> Scenario:
    """A measured operation alone, all in one group of the machine, or a barrier of figure 8 with these costs."""
    if point["figure"] == BARRIER:
        return benchmarks.make(point)
    shape = around(point).machine.shape
    apart = min(APART, shape.routers_per_group // point["nodes"])
    job = {
        "name": MEASURED,
        "place": {"policy": "explicit", "nodes": [shape.nodes_on(apart * rank)[0] for rank in range(point["nodes"])]},
        "app": program(point["benchmark"], point["size"], point["nodes"]),
        "iterations": point["iterations"],
        "every": point["every"],
        "record": "nothing",
    }
    system = {"preset": "piz-daint", "groups": 2, "fabric": {"packet": PACKET, "nic": "aries"}}
    return Scenario.of({"system": system, "job": [job], "run": {"seed": point["seed"]}})


def times(runs: Runs) -> dict[tuple[str, str, int], float]:
    """Benchmark, size and nodes -> its time on the idle machine, in microseconds."""
    made = {}
    for run in runs:
        if run["figure"] == MEASURED:
            half = 2 if run["benchmark"] == "ping-pong" else 1
            made[run["benchmark"], run["size"], run["nodes"]] = median(run["times_ps"]) / half / 1e6
    return made


def compare(runs: Runs) -> list[Row]:
    """Measured times, and D25 for a barrier with less of these costs."""
    known = times(runs)
    rows = [
        statement(
            "D25",
            of.words,
            known[of.benchmark, of.size, of.nodes],
            of.us,
            "us",
            "10 %" if of.fitted else "25 %",
            of.where,
            model=MODEL,
            kind="F" if of.fitted else "R",
        )
        for of in OPERATIONS
        if (of.benchmark, of.size, of.nodes) in known
    ]
    barriers = {(run["costs"], run["policy"]): run["times_ps"] for run in runs if run["figure"] == BARRIER}
    for costs in COSTS:
        pairs = zip(barriers[costs, DEFAULT], barriers[costs, HIGH_BIAS], strict=True)
        gain = median_of([default / high for default, high in pairs])
        row = statement(
            "D25",
            f"barrier, {costs} % of the costs of hosts: speed-up of high bias over Default",
            gain.value,
            2,
            "x",
            "25 %",
            "De Sensi 2019, abstract and section 5.1",
            model=MODEL,
            why="" if costs == COSTS[0] else "hosts of the machine cost more than that: it shows what they hide",
            messages=gain.count,
            comparable=costs == COSTS[0],
            interval=(gain.low, gain.high),
        )
        rows.append(replace(row, repetitions=gain.count))
    return rows


def _of_runs(runs: Runs) -> dict[str, str]:
    barriers = [run for run in runs if run["figure"] == BARRIER]
    lines = [
        [
            f"{run['costs']} %",
            f"`{run['policy']}`",
            str(len(run["times_ps"])),
            f"{median(run['times_ps']) / 1e6:.2f}",
            f"{run['latency_ps'] / 1e6:.2f}",
        ]
        for run in barriers
    ]
    return {
        "nodes": str(barriers[0]["nodes"]),
        "routers": str(barriers[0]["routers"]),
        "barriers": table(["costs", "policy", "n", "median, µs", "L, µs"], lines, "llrrr"),
    }


def _rows(rows: Sequence[Row]) -> dict[str, str]:
    return {
        "times": judged([row for row in rows if row.interval is None]),
        "gains": judged([row for row in rows if row.interval is not None]),
    }


REPRODUCTION = Reproduction(
    name="desensi2019-hosts",
    title="Costs of hosts on Piz Daint: public measurements, and the speed-up of a barrier (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=page_of("hosts", _of_runs, of_rows=_rows),
    keep=benchmarks.keep,
)
