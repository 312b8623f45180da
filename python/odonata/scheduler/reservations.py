"""Reservations of conservative backfilling: the expected number of free nodes over time, and who takes them when.

Only the jobs that start now count, and a job starts now if no reservation before it takes its nodes while it would run.
So a plan is exact up to a horizon: the longest requested time of the jobs that could still start. A job that cannot
begin before the horizon is put off: it takes no nodes before it. The reservations of such jobs are made, in their
order, once a job reaches beyond the horizon.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Array = np.ndarray[Any, np.dtype[np.int64]]

MOST = np.iinfo(np.int64).max
"""Longer times are cut to this one (106 days in ps)."""
NEVER = 1 << 80
"""Where the last step ends; also more nodes than any job needs."""
LOOK = 4
"""Reservations after which a plan looks again which jobs can start now."""


class Profile:
    """The expected number of free nodes over time, as steps: begins, relative to now, and free nodes."""

    def __init__(self, now: int, free: int, running: Iterable[tuple[int, int]]) -> None:
        self.begins, self.free = [0], [free]
        # A job that was expected to end before is taken to end at any moment, not now.
        for end, nodes in sorted((min(max(end - now, 1), MOST), nodes) for end, nodes in running):
            free += nodes
            if end == self.begins[-1]:
                self.free[-1] = free
            else:
                self.begins.append(end)
                self.free.append(free)
        self.begins.append(NEVER)
        self.free.append(NEVER)

    def find(self, nodes: int, length: int, first: int, horizon: int) -> tuple[int, int] | None:
        """The earliest steps, from a first one on, in which so many nodes are free for a time of this length.

        They are the step with which the time begins, and the one before which it ends. None if it could not begin
        before the horizon.
        """
        begins, free = self.begins, self.free
        while True:
            while free[first] < nodes:
                first += 1
            begin = begins[first]
            if begin >= horizon:
                return None
            end, last = begin + length, first + 1
            while begins[last] < end and free[last] >= nodes:
                last += 1
            if begins[last] >= end:
                return first, last
            first = last + 1

    def take(self, nodes: int, length: int, first: int, last: int) -> None:
        """Takes the nodes for a time of this length that begins and ends with these steps, as `find` gives them."""
        begins, free = self.begins, self.free
        end = begins[first] + length
        if end > MOST:
            end, last = MOST, bisect_left(begins, MOST)
        if begins[last] != end:
            begins.insert(last, end)
            free.insert(last, free[last - 1])
        free[first:last] = [there - nodes for there in free[first:last]]

    def fits_now(self, nodes: int, length: int) -> bool:
        """Whether so many nodes are free from now on for a time of this length."""
        step = 0
        while self.begins[step] < length:
            if self.free[step] < nodes:
                return False
            step += 1
        return True


class _TooLarge:
    """Jobs that cannot begin before the horizon: neither can those with as many nodes and as much time or more."""

    def __init__(self) -> None:
        # Nodes ascend, and times descend.
        self._nodes: list[int] = []
        self._lengths: list[int] = []

    def has(self, nodes: int, length: int) -> bool:
        """Whether a job is at least as large as one of them."""
        at = bisect_right(self._nodes, nodes) - 1
        return at >= 0 and self._lengths[at] <= length

    def add(self, nodes: int, length: int) -> None:
        """Adds a job that is not among them."""
        first = last = bisect_left(self._nodes, nodes)
        while last < len(self._nodes) and self._lengths[last] >= length:
            last += 1
        self._nodes[first:last], self._lengths[first:last] = [nodes], [length]


class Plan:
    """Which jobs of a part of the queue start now."""

    def __init__(self, profile: Profile, nodes: Array, lengths: Array, could: Sequence[int]) -> None:
        """`could` are the positions of the jobs that could start now, ascending."""
        self._profile = profile
        end = could[-1] + 1
        self._jobs = list(zip(nodes[:end].tolist(), lengths[:end].tolist(), strict=True))
        self._too_large = _TooLarge()
        self._aim_at(could)
        self._put_off: list[tuple[int, int, int]] = []
        """Nodes and time of the jobs that are put off, and before when they do not begin."""
        self._exact = NEVER
        """Until when the profile has all reservations."""

    def starts(self) -> list[int]:
        """The positions of the jobs that start now."""
        started: list[int] = []
        since = 0
        for position, (nodes, length) in enumerate(self._jobs):
            if position > self._could[-1]:
                break
            start = None if nodes > self._most else self._find(nodes, length)
            if start is None:
                self._put_off.append((nodes, length, self._horizon))
                self._exact = self._horizon
                continue
            self._profile.take(nodes, length, *start)
            begin = self._profile.begins[start[0]]
            since += 1
            if begin == 0:
                started.append(position)
            if begin == 0 or since == LOOK:
                since = 0
                if not self._look(position + 1):
                    break
        return started

    def _find(self, nodes: int, length: int) -> tuple[int, int] | None:
        """The steps of a job, as `Profile.find` gives them; None if it cannot begin before the horizon."""
        if self._too_large.has(nodes, length):
            return None
        start = self._profile.find(nodes, length, 0, self._horizon)
        while start is not None and self._profile.begins[start[0]] + length > self._exact:
            self._make_up(self._profile.begins[start[0]] + length)
            start = self._profile.find(nodes, length, 0, self._horizon)
        if start is None:
            self._too_large.add(nodes, length)
        return start

    def _make_up(self, until: int) -> None:
        """Makes the reservations of the jobs that were put off and begin before a time, so that it is exact until then.

        A reservation that reaches beyond that time may meet those of jobs before it that are still put off. Then the
        time becomes later.
        """
        profile, left = self._profile, self._put_off
        kept: list[tuple[int, int, int]] = []
        too_large = _TooLarge()
        at = 0
        while at < len(left):
            nodes, length, after = left[at]
            start = None
            if not too_large.has(nodes, length):
                start = profile.find(nodes, length, bisect_left(profile.begins, after), until)
                if start is None:
                    too_large.add(nodes, length)
            if start is None:
                kept.append((nodes, length, until))
            elif kept and profile.begins[start[0]] + length > until:
                until = profile.begins[start[0]] + length
                left, kept, too_large, at = kept + left[at:], [], _TooLarge(), 0
                continue
            else:
                profile.take(nodes, length, *start)
            at += 1
        self._put_off, self._exact = kept, until if kept else NEVER

    def _look(self, begin: int) -> bool:
        """Looks again which jobs can start now, from this position on; whether there are any."""
        could = [job for job in self._could if job >= begin and self._profile.fits_now(*self._jobs[job])]
        if could:
            self._aim_at(could)
        return bool(could)

    def _aim_at(self, could: Sequence[int]) -> None:
        """Sets the horizon for the jobs that could start now, at these positions."""
        self._could = could
        self._horizon = max(self._jobs[position][1] for position in could)
        self._most = max(self._profile.free[: bisect_left(self._profile.begins, self._horizon)])
        """Most free nodes at a time before the horizon."""
