"""Lists of flows as applications: messages that begin at given times."""

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from odonata import reading
from odonata.errors import InputError
from odonata.machine import core
from odonata.scenario.apps import flow_files
from odonata.scenario.apps.app import Program

MOST_FLOWS = 65_536
"""Most flows of a rank: each waits on a CPU of its own, and a rank has no more in a trace."""


class Flows(Program):
    """Messages that begin at given times, from a file: a list of flows, `flow.txt` of HPCC or a matrix of htsim.

    Each line is a flow of its own, which waits for no other one: source, destination, bytes and start. It brings its
    number of ranks; without `nodes` the job gets as many nodes as they fill. The run has the completion time of each
    flow, and its slowdown over the ideal. `docs/traces.md` has the formats.
    """

    flows: str = Field(description="the file, relative to the scenario")

    def own_ranks(self, folder: Path) -> int:
        """The number of ranks of the file."""
        return self._read(folder).ranks

    def body(self, ranks: int, folder: Path) -> dict[str, Any]:  # noqa: ARG002
        """A graph of operations for each rank."""
        goal = _goal(self._read(folder))
        return {"name": "trace", "goal": core.read_trace(goal.encode(), "goal", keep_nics=True)["goal"]}

    def _read(self, folder: Path) -> flow_files.Flows:
        """Raises InputError with the file and the line."""
        path = folder / self.flows
        text = reading.read_output(path)
        try:
            return _parsed(text)
        except InputError as e:
            raise e.at(path, e.line) from None


@lru_cache(maxsize=8)
def _parsed(text: str) -> flow_files.Flows:
    return flow_files.read(text)


def _goal(given: flow_files.Flows) -> str:
    """The operations of all ranks: each flow waits for its start on a processor of its own, and is then sent."""
    flows_of = Counter(rank for flow in given.flows for rank in (flow.source, flow.destination))
    rank, most = max(flows_of.items(), key=lambda item: (item[1], -item[0]))
    if most > MOST_FLOWS:
        message = f"rank {rank} sends and receives {most:,} flows, more than the {MOST_FLOWS:,} that it can"
        raise InputError(message, hint="divide them among several ranks, or simulate a shorter time")
    lines: list[list[str]] = [[] for _ in range(given.ranks)]
    for number, flow in enumerate(given.flows):
        own, cpu = lines[flow.source], number + 1
        own.append(f"s{number}: send {flow.bytes}b to {flow.destination} tag {number} cpu {cpu}")
        if flow.start:
            own.append(f"w{number}: calc {flow.start}ps cpu {cpu}")
            own.append(f"s{number} requires w{number}")
        lines[flow.destination].append(f"r{number}: recv {flow.bytes}b from {flow.source} tag {number} cpu {cpu}")
    ranks = (f"rank {rank} {{\n" + "\n".join(own) + "\n}\n" for rank, own in enumerate(lines))
    return f"num_ranks {given.ranks}\n" + "".join(ranks)
