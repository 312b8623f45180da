"""The waits of the ranks of a program, and its critical path.

The states of waiting are those of Scalasca: a *late sender* makes its receiver wait, a *late receiver* makes the sender
of a rendezvous wait (Geimer, Wolf, Wylie, Ábrahám, Becker and Mohr, "The Scalasca performance toolset architecture",
Concurrency and Computation: Practice and Experience 22(6), 2010). The critical path is followed back from the end of
the last rank; at each wait it continues at the event that ended the wait (Böhme, Wolf, de Supinski, Schulz and Geimer,
"Scalable critical-path based performance analysis", IPDPS 2012). Unlike in measured traces, the time in the network is
a separate part of the path.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from odonata.blame.timeline import Task, Timeline

COMPUTING = "computing"
HOST = "host overhead"
TRANSFER = "transfer"
LATE_SENDER = "late sender"
LATE_RECEIVER = "late receiver"
GAP = "gap"
START = "set time"
OTHER = "other"
KINDS = {
    COMPUTING: "computing, and combining vectors",
    HOST: "sending and receiving on the CPU",
    LATE_SENDER: "waiting for a message that its sender has not yet handed over",
    LATE_RECEIVER: "waiting until a receive is posted, so that data can leave (rendezvous)",
    TRANSFER: "a message is in the network, or in memory between ranks of a node",
    GAP: "the gap between iterations",
    START: "waiting for the set time of an iteration",
    OTHER: "waiting whose end no operation explains",
}
"""Kinds of a rank's time, in the order of the sentences -> meaning."""
_OF_TASK = {"compute": COMPUTING, "combine": COMPUTING, "send": HOST, "receive": HOST, "gap": GAP}
_FIRST = (COMPUTING, HOST, GAP)
"""If several CPUs work at the same time, the first of these kinds counts."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a rank's time, or of a critical path."""

    kind: str
    """One of `KINDS`."""
    rank: int
    """The rank; of a transfer on a critical path, the rank that gets the message."""
    begin: int
    """In picoseconds."""
    end: int
    """In picoseconds."""
    peer: int | None = None
    """The rank at the other end of the message, if there is one."""


def critical_path(timeline: Timeline) -> list[Segment]:
    """The critical path of a program.

    Parameters
    ----------
    timeline
        What its ranks did.

    Returns
    -------
    list of Segment
        From the start of the program to the end of its last rank, without gaps and overlaps. The path has no waits: it
        continues at the rank, or in the network, that the waiting rank waits for.
    """
    return [*_backwards(timeline)][::-1]


def _backwards(timeline: Timeline) -> Iterator[Segment]:
    time = max(timeline.finish)
    rank, task, used = timeline.finish.index(time), None, set[int]()
    while time > timeline.start:
        task = task or timeline.ended(rank, time)
        if task is not None:
            yield Segment(_OF_TASK[task.kind], rank, max(task.begin, timeline.start), time, task.peer)
            time, task = task.begin, None
            continue
        release = timeline.release(rank, time)
        message = release.message
        if message is None or id(message) in used:
            # The previous task of the rank.
            before = _last_end(timeline, rank, time)
            yield Segment(START if release.why == "start" else OTHER, rank, before, time)
            time = before
            continue
        used.add(id(message))
        from_receiver = message.ready > message.handed_over and message.ready < time
        begin = max(message.ready if from_receiver else message.handed_over, timeline.start)
        peer = message.send.rank if release.why == "arrival" else message.receiver
        if begin < time:
            yield Segment(TRANSFER, rank, begin, time, peer)
        rank = message.receiver if from_receiver else message.send.rank
        # The task that handed it over. If that took no time, the path continues at the end of another task.
        task = message.send if not from_receiver and message.send.begin < message.send.end else None
        time = begin


def _last_end(timeline: Timeline, rank: int, time: int) -> int:
    return max((task.end for task in timeline.tasks[rank] if task.end < time), default=timeline.start)


def states(timeline: Timeline, rank: int) -> list[Segment]:
    """The tasks and waits of a rank.

    Parameters
    ----------
    timeline
        What the ranks did.
    rank
        The rank.

    Returns
    -------
    list of Segment
        From the start of the program to the end of the rank, without gaps and overlaps.
    """
    segments: list[Segment] = []
    time, finish = timeline.start, timeline.finish[rank]
    for kind, begin, end in _busy(timeline.tasks[rank]):
        segments += _wait(timeline, rank, time, min(begin, finish))
        if max(begin, time) < min(end, finish):
            segments.append(Segment(kind, rank, max(begin, time), min(end, finish)))
        time = max(time, min(end, finish))
    return segments + _wait(timeline, rank, time, finish)


def _wait(timeline: Timeline, rank: int, begin: int, end: int) -> list[Segment]:
    """The parts of a wait."""
    if begin >= end:
        return []
    release = timeline.release(rank, end)
    if release.message is None:
        return [Segment(START if release.why == "start" else OTHER, rank, begin, end)]
    if release.why == "arrival":
        late, peer, since = LATE_SENDER, release.message.send.rank, release.message.handed_over
    else:
        late, peer, since = LATE_RECEIVER, release.message.receiver, release.message.ready
    since = min(max(begin, since), end)
    parts = [Segment(late, rank, begin, since, peer), Segment(TRANSFER, rank, since, end, peer)]
    return [part for part in parts if part.begin < part.end]


def _busy(tasks: Sequence[Task]) -> Iterator[tuple[str, int, int]]:
    """Kind, begin and end of the intervals in which CPUs of a rank work, in order and without overlaps."""
    if all(task.cpu == 0 for task in tasks):
        yield from ((_OF_TASK[task.kind], task.begin, task.end) for task in tasks if task.begin < task.end)
        return
    changes: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for task in tasks:
        if task.begin < task.end:
            changes[task.begin][_OF_TASK[task.kind]] += 1
            changes[task.end][_OF_TASK[task.kind]] -= 1
    running, last = defaultdict[str, int](int), 0
    for time in sorted(changes):
        now = next((kind for kind in _FIRST if running[kind]), None)
        if now is not None:
            yield now, last, time
        for kind, change in changes[time].items():
            running[kind] += change
        last = time
