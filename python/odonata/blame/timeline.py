"""The tasks of the ranks of a program and their messages, from the tables of a run."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from odonata.machine import core

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import polars as pl


@dataclass(slots=True, eq=False)
class Task:
    """A task of a rank's CPU; times in picoseconds."""

    rank: int
    cpu: int
    iteration: int
    kind: str
    """As in the table `operations`."""
    peer: int | None
    bytes: int
    begin: int
    end: int
    message: Message | None = None
    """The message that it sends or receives."""


@dataclass(slots=True, eq=False)
class Message:
    """A message between two ranks; times in picoseconds."""

    send: Task
    """The task that sends it; the message is handed over at the end of the task."""
    receiver: int
    """The rank that it goes to."""
    arrival: int | None
    """When it arrives at its rank; `None` if it is still under way at the end of the run."""
    rendezvous: bool
    """Whether its data waits until the receive is posted."""
    receive: Task | None = None
    """The task that receives it."""
    posted: int | None = None
    """When its receive is posted; only of messages with a rendezvous."""

    @property
    def handed_over(self) -> int:
        """When the sender's CPU has finished with it."""
        return self.send.end

    @property
    def ready(self) -> int:
        """When both ranks have done their part and only the network is left: the hand-over, or, with a rendezvous, the
        posting of the receive if that is later."""
        return max(self.send.end, self.posted or 0)


@dataclass(frozen=True, slots=True)
class Release:
    """The event that ends a wait of a rank: the arrival of a message, the end of its sending, or a fixed time."""

    why: str
    """`arrival`, `sent`, `start`, or `unknown`."""
    message: Message | None = None


class Timeline:
    """The tasks and messages of a job with a program, all of whose ranks have finished."""

    def __init__(
        self,
        start: int,
        every: int,
        finish: Sequence[int],
        tasks: Sequence[Sequence[Task]],
        messages: Iterable[Message],
        answered: bool = False,
        pauses: Collection[tuple[int, int]] = (),
    ) -> None:
        self.start = start
        """When the program starts."""
        self.every = every
        """Least time from the begin of an iteration to that of the next; 0 if there is none."""
        self.finish = finish
        """When each rank finishes."""
        self.tasks = tasks
        """Tasks of each rank, in the order of their requests."""
        self.messages = list(messages)
        self._answered, self._pauses = answered, pauses
        self._ends: dict[tuple[int, int], Task] = {}
        for task in (task for of_rank in tasks for task in of_rank if task.end > task.begin):
            self._ends[task.rank, task.end] = task
        self._arrivals: dict[tuple[int, int], list[Message]] = defaultdict(list)
        sending: dict[int, list[tuple[int, int, Message]]] = defaultdict(list)
        for number, message in enumerate(self.messages):
            if message.receive is not None and message.receive.begin == message.arrival:
                self._arrivals[message.receiver, message.arrival].append(message)
            if message.rendezvous and message.arrival is not None:
                sending[message.send.rank].append((message.arrival, number, message))
        self._sending = {rank: sorted(timed, key=lambda entry: entry[:2]) for rank, timed in sending.items()}

    def ended(self, rank: int, time: int) -> Task | None:
        """The task of a rank that ends at a time and took some time; of several tasks, the one that was requested
        last."""
        return self._ends.get((rank, time))

    def release(self, rank: int, time: int) -> Release:
        """The event that ends a wait of a rank at a time."""
        arrived = self._arrivals.get((rank, time))
        if arrived:
            return Release("arrival", arrived[-1])
        if self.every and time > self.start and (time - self.start) % self.every == 0:
            return Release("start")
        if (rank, time) in self._pauses:
            return Release("start")
        sending = self._sending.get(rank, [])
        at = bisect_left(sending, time, key=lambda sent: sent[0])
        # The data has left its sender before it arrives. Where NICs answer, the sender waits for the last response or
        # the FIN, which comes after the arrival.
        for _, _, message in (*(() if self._answered else sending[at:]), *reversed(sending[:at])):
            if message.handed_over < time:
                return Release("sent", message)
        return Release("unknown")


def timeline_of(
    spec: Mapping[str, Any], job: int, operations: pl.DataFrame, messages: pl.DataFrame, finish: Sequence[int]
) -> Timeline:
    """The timeline of a job.

    Parameters
    ----------
    spec
        The specification of the run.
    job
        Index of a job with a program.
    operations, messages
        The tables of the run: every task of every rank, and every message.
    finish
        When each rank finished, in picoseconds.

    Returns
    -------
    Timeline
    """
    import polars as pl

    what = spec["jobs"][job]
    nodes, program = what["nodes"], what["program"]
    columns = ("rank", "cpu", "iteration", "kind", "peer", "bytes", "begin_ps", "end_ps")
    tasks: list[list[Task]] = [[] for _ in nodes]
    for rank, cpu, iteration, kind, peer, size, begin, end in (
        operations.filter(pl.col("job") == job).select(columns).iter_rows()
    ):
        tasks[rank].append(Task(rank, cpu, iteration, kind, peer, size or 0, begin, end))
    sent = _sent(tasks, nodes, program, messages.filter(pl.col("job") == job))
    _received(tasks, sent)
    if any(message.rendezvous for message in sent):
        from odonata.blame.posting import post

        post(tasks, program)
    from odonata.store.tables import answers

    answered = answers(spec)
    pauses = _pauses(tasks, spec, what) if what.get("bursts") else set()
    return Timeline(program["start_ps"], program.get("every_ps") or 0, finish, tasks, sent, answered, pauses)


def _pauses(tasks: Sequence[Sequence[Task]], spec: Mapping[str, Any], job: Mapping[str, Any]) -> set[tuple[int, int]]:
    """Rank and end of each pause between bursts, if a task begins at the end of the pause."""
    most = max((len({task.iteration for task in of_rank}) for of_rank in tasks), default=0)
    lengths = core.burst_lengths(job, spec["seed"], most + 1)
    pauses = set()
    for rank, of_rank in enumerate(tasks):
        burst = before = job["program"]["start_ps"]
        past = 0
        for _, group in groupby((task for task in of_rank if task.kind != "gap"), key=lambda task: task.iteration):
            own = list(group)
            begin = min(task.begin for task in own)
            on, off = lengths[past]
            if begin - before >= off and begin - off - burst >= on:
                pauses.add((rank, begin))
                burst = begin
                past += 1
            before = max(task.end for task in own)
    return pauses


def _delay(by_size: Sequence[Mapping[str, int]], size: int) -> int:
    """The time from the delivery of a message between nodes to its arrival at the rank (docs/model.md, section 10)."""
    if not by_size or size <= by_size[0]["bytes"]:
        return by_size[0]["delay_ps"] if by_size else 0
    for smaller, other in pairwise(by_size):
        if size < other["bytes"]:
            width, rise = other["bytes"] - smaller["bytes"], other["delay_ps"] - smaller["delay_ps"]
            part = abs(rise) * (size - smaller["bytes"]) // width
            return smaller["delay_ps"] + (part if rise > 0 else -part)
    return by_size[-1]["delay_ps"]


def _sent(
    tasks: Sequence[Sequence[Task]], nodes: Sequence[int], program: Mapping[str, Any], rows: pl.DataFrame
) -> list[Message]:
    """The messages.

    The message of a task is the one that its rank hands over to the same receiver at the end of the task.
    """
    arrivals: dict[tuple[int, int, int, int], deque[int | None]] = defaultdict(deque)
    for iteration, source, destination, issue, latency in rows.select(
        "interval", "source", "destination", "issue_ps", "latency_ps"
    ).iter_rows():
        arrivals[iteration, source, destination, issue].append(None if latency is None else issue + latency)
    sending, eager = [], program["costs"]["eager_bytes"]
    for task in (task for of_rank in tasks for task in of_rank if task.kind == "send"):
        there = arrivals.get((task.iteration, task.rank, task.peer or 0, task.end))
        if task.peer is None or not there:
            continue  # handed over after the end of the run
        near, arrival = nodes[task.rank] == nodes[task.peer], there.popleft()
        if arrival is not None and not near:
            arrival += _delay(program.get("by_size", ()), task.bytes)
        task.message = Message(task, task.peer, arrival, task.bytes > eager and not near)
        sending.append(task.message)
    return sending


def _received(tasks: Sequence[Sequence[Task]], messages: Sequence[Message]) -> None:
    """Assigns each message to the task that receives it. Messages of the same size between two ranks are distinguished
    by the order of their arrivals."""
    coming: dict[tuple[int, int, int, int], list[tuple[int, int, Message]]] = defaultdict(list)
    for number, message in enumerate(messages):
        if message.arrival is not None:
            key = (message.send.iteration, message.send.rank, message.receiver, message.send.bytes)
            coming[key].append((message.arrival, number, message))
    taking: dict[tuple[int, int, int, int], list[Task]] = defaultdict(list)
    for task in (task for of_rank in tasks for task in of_rank if task.kind == "receive"):
        taking[task.iteration, task.peer or 0, task.rank, task.bytes].append(task)
    for key, arrivals in coming.items():
        order = sorted(taking.get(key, []), key=lambda task: task.begin)
        for task, (_, _, message) in zip(order, sorted(arrivals, key=lambda arrival: arrival[:2]), strict=False):
            task.message, message.receive = message, task
