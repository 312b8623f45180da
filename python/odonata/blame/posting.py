"""When the receives of messages with a rendezvous are posted.

A run records the tasks of CPUs, and posting a receive is not a task. The time of posting follows from the program: its
trace states which operations a receive waits for, and the tasks state when these ended (docs/traces.md, docs/model.md,
section 10).
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from odonata.blame.timeline import Message, Task

_RANK = re.compile(r"rank (\d+) \{")
_OPERATION = re.compile(
    r"l\d+: (?P<kind>calc|send|recv) (?P<size>\d+)(?:b|ps)?(?: (?:to|from) (?P<peer>\d+))?(?: tag (?P<tag>\d+))?"
    r"(?: cpu (?P<cpu>\d+))?"
)
_EDGE = re.compile(r"l(\d+) (requires|irequires) l(\d+)")


@dataclass(slots=True)
class Operation:
    """An operation of a rank in every iteration."""

    kind: str
    """`calc`, `send` or `recv`."""
    bytes: int
    peer: int | None
    tag: int
    cpu: int
    ends: list[int] = field(default_factory=list)
    """Operations of this rank that must have ended before it begins."""
    begins: list[int] = field(default_factory=list)
    """Operations of this rank that must have begun before it begins."""


def post(tasks: Sequence[Sequence[Task]], program: Mapping[str, Any]) -> None:
    """Set `posted` of the messages with a rendezvous.

    Parameters
    ----------
    tasks
        The tasks of each rank, with their messages.
    program
        The program in the specification.
    """
    graphs = _graphs(program, len(tasks))
    iterations = {task.iteration for of_rank in tasks for task in of_rank}
    parts: dict[tuple[int, int], list[Task]] = defaultdict(list)
    for task in (task for of_rank in tasks for task in of_rank):
        parts[task.rank, task.iteration].append(task)
    for iteration in sorted(iterations):
        own = [_of_operations(graph, parts[rank, iteration]) for rank, graph in enumerate(graphs)]
        _match(graphs, own)
        for rank, graph in enumerate(graphs):
            begin = _begin(graph, own[rank], parts, rank, iteration, program["start_ps"])
            _Replay(graph, own[rank], begin).post()


def _graphs(program: Mapping[str, Any], ranks: int) -> list[list[Operation]]:
    """The operations of each rank, in the order of the text."""
    from odonata.machine import core

    body = program["body"]
    if body["name"] == "trace":
        return parse(body["goal"], ranks)
    if body["name"] == "phases":
        # The tasks have the times. A trace has no random times.
        phases = [
            {**phase, "what": {**phase["what"], "jitter_ps": 0}} if phase["what"]["name"] == "compute" else phase
            for phase in body["phases"]
        ]
        body = {**body, "phases": phases}
    return parse(core.write_trace(body, ranks, "goal", program).decode(), ranks)


def parse(text: str, ranks: int) -> list[list[Operation]]:
    """The operations of each rank of a trace in the form in which Odonata writes GOAL."""
    graphs: list[list[Operation]] = [[] for _ in range(ranks)]
    graph: list[Operation] = []
    for line in text.split("\n"):
        if match := _OPERATION.match(line):
            peer = None if match["peer"] is None else int(match["peer"])
            size = 0 if match["kind"] == "calc" else int(match["size"])
            graph.append(Operation(match["kind"], size, peer, int(match["tag"] or 0), int(match["cpu"] or 0)))
        elif match := _EDGE.match(line):
            after, before = graph[int(match[1]) - 1], int(match[3]) - 1
            (after.ends if match[2] == "requires" else after.begins).append(before)
        elif match := _RANK.match(line):
            graph = graphs[int(match[1])]
    return graphs


def _of_operations(graph: Sequence[Operation], tasks: Iterable[Task]) -> list[Task | None]:
    """The task of each operation; `None` of receives, whose tasks come with their messages."""
    queues: dict[tuple[str, int | None, int, int], list[Task]] = defaultdict(list)
    for task in tasks:
        if task.kind == "send":
            queues["send", task.peer, task.bytes, task.cpu].append(task)
        elif task.kind == "compute" or (task.kind == "combine" and task.end > task.begin):
            queues["calc", None, 0, task.cpu].append(task)
    posted: list[Task | None] = []
    for operation in graph:
        queue = queues.get((operation.kind, operation.peer, operation.bytes, operation.cpu))
        posted.append(queue.pop(0) if queue else None)
    return posted


def _match(graphs: Sequence[Sequence[Operation]], own: Sequence[list[Task | None]]) -> None:
    """Replaces each receive by the task of its message."""
    coming: dict[tuple[int, int, int], list[Message | None]] = defaultdict(list)
    for rank, graph in enumerate(graphs):
        for operation, task in zip(graph, own[rank], strict=True):
            if operation.kind == "send" and operation.peer is not None:
                coming[rank, operation.peer, operation.tag].append(None if task is None else task.message)
    for rank, graph in enumerate(graphs):
        for number, operation in enumerate(graph):
            if operation.kind == "recv" and operation.peer is not None:
                queue = coming[operation.peer, rank, operation.tag]
                message = queue.pop(0) if queue else None
                own[rank][number] = None if message is None else message.receive


def _begin(
    graph: Sequence[Operation],
    own: Sequence[Task | None],
    parts: Mapping[tuple[int, int], Sequence[Task]],
    rank: int,
    iteration: int,
    start: int,
) -> int:
    """When a rank begins an iteration; if unknown, the latest known lower bound."""
    gap = [task.end for task in parts.get((rank, iteration), ()) if task.kind == "gap"]
    before = [task.end for task in parts.get((rank, iteration - 1), ())]
    at_once = [
        task.begin
        for operation, task in zip(graph, own, strict=True)
        if operation.kind != "recv" and task is not None and not operation.ends and not operation.begins
    ]
    return max([start, *gap, *before, *([min(at_once)] if at_once else [])])


class _Replay:
    """The operations of a rank in an iteration, with their tasks."""

    def __init__(self, graph: Sequence[Operation], own: Sequence[Task | None], begin: int) -> None:
        self._graph, self._own, self._start = graph, own, begin
        self._after: dict[int, list[int]] = defaultdict(list)
        for number, operation in enumerate(graph):
            for before in (*operation.ends, *operation.begins):
                self._after[before].append(number)
        self._posted: dict[int, int] = {}

    def post(self) -> None:
        """Sets `posted` of the messages with a rendezvous that this rank receives."""
        for number in self._order():
            operation, task = self._graph[number], self._own[number]
            if operation.kind != "recv":
                continue
            self._posted[number] = self._post(number)
            if task is not None and task.message is not None and task.message.rendezvous:
                task.message.posted = min(self._posted[number], task.begin)

    def _order(self) -> list[int]:
        """The operations, each after those that it waits for. In the text of a trace they may come later."""
        order, done = list[int](), set[int]()
        for first in range(len(self._graph)):
            stack = [first]
            while stack:
                at = stack[-1]
                left = [task for task in (*self._graph[at].ends, *self._graph[at].begins) if task not in done]
                if left and at not in done:
                    stack.extend(left)
                    continue
                stack.pop()
                if at not in done:
                    done.add(at)
                    order.append(at)
        return order

    def _post(self, number: int) -> int:
        operation = self._graph[number]
        time, open_end = self._start, False
        for before in operation.begins:
            time = max(time, self._begun(before))
        for before in operation.ends:
            task = self._own[before]
            if task is not None:
                time = max(time, task.end)
            open_end |= self._graph[before].kind == "send" and self._is_rendezvous(task)
        if not open_end:
            return time
        # It waits until the data have left the sender. That is not recorded, but the next task that waits for it begins
        # then.
        following = [
            task.begin
            for after in self._after[number]
            if number in self._graph[after].begins and (task := self._own[after]) is not None
            if self._graph[after].kind != "recv"
        ]
        return max(time, min(following, default=time))

    def _begun(self, number: int) -> int:
        if self._graph[number].kind == "recv":
            return self._posted[number]
        task = self._own[number]
        return self._start if task is None else task.begin

    @staticmethod
    def _is_rendezvous(task: Task | None) -> bool:
        return task is not None and task.message is not None and task.message.rendezvous
