"""Lists of flows as applications: messages that begin at given times."""

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

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
    number of ranks; without `nodes` the job gets as many nodes as they fill. On more nodes, ranks have no flows. The
    run has the completion time of each flow, and its slowdown over the ideal. `docs/traces.md` has the formats.
    """

    idle_ranks: ClassVar[bool] = True

    flows: str = Field(description="the file, relative to the scenario")

    def own_ranks(self, folder: Path) -> int:
        """The number of ranks of the file."""
        return self._read(folder).ranks

    def beyond(self, ranks: int, folder: Path) -> InputError | None:
        """The first flow of a rank that there is not."""
        given = self._read(folder)
        for flow, line in zip(given.flows, given.lines, strict=True):
            if max(flow.source, flow.destination) >= ranks:
                rank = flow.source if flow.source >= ranks else flow.destination
                return InputError(f"a flow of rank {rank:,}, and ranks are 0 to {ranks - 1:,}").at(
                    folder / self.flows, line
                )
        return None

    def body(self, ranks: int, folder: Path) -> dict[str, Any]:
        """A graph of operations for each rank, an empty one for those without flows."""
        goal = _goal(self._read(folder), ranks)
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


def _goal(given: flow_files.Flows, ranks: int) -> str:
    """The operations of all ranks: each flow waits for its start on a processor of its own, and is then sent."""
    flows_of = Counter(rank for flow in given.flows for rank in (flow.source, flow.destination))
    rank, most = max(flows_of.items(), key=lambda item: (item[1], -item[0]))
    if most > MOST_FLOWS:
        message = f"rank {rank} sends and receives {most:,} flows, more than the {MOST_FLOWS:,} that it can"
        raise InputError(message, hint="divide them among several ranks, or simulate a shorter time")
    lines: list[list[str]] = [[] for _ in range(ranks)]
    for number, flow in enumerate(given.flows):
        own, cpu = lines[flow.source], number + 1
        own.append(f"s{number}: send {flow.bytes}b to {flow.destination} tag {number} cpu {cpu}")
        if flow.start:
            own.append(f"w{number}: calc {flow.start}ps cpu {cpu}")
            own.append(f"s{number} requires w{number}")
        lines[flow.destination].append(f"r{number}: recv {flow.bytes}b from {flow.source} tag {number} cpu {cpu}")
    texts = (f"rank {rank} {{\n" + "\n".join(own) + "\n}\n" for rank, own in enumerate(lines))
    return f"num_ranks {ranks}\n" + "".join(texts)
