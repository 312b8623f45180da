"""How many links there are between two groups, and whether the routers have ports for them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from odonata.errors import InputError


@dataclass(frozen=True)
class Pairs:
    """The links between the groups of a machine.

    `ports` are the global ports of a full group, `last_ports` those of the last one. `each` is the requested number of
    links between every two groups (None: as many as fit), `exceptions` are pairs `[group, group, links]` with another
    number, `cables` all links one by one as pairs of groups, if they were listed.
    """

    groups: int
    ports: int
    last_ports: int
    each: int | None = None
    exceptions: tuple[tuple[int, int, int], ...] = ()
    cables: tuple[tuple[int, int], ...] | None = None

    @cached_property
    def _by_pair(self) -> dict[tuple[int, int], int]:
        if self.cables is not None:
            return dict(Counter((min(pair), max(pair)) for pair in self.cables))
        return {(min(a, b), max(a, b)): links for a, b, links in self.exceptions}

    @property
    def usual(self) -> int:
        """Links between two full groups without an exception; 0 if there is only one group."""
        if self.cables is not None or self.groups == 1:
            return 0
        return self.ports // (self.groups - 1) if self.each is None else self.each

    @property
    def with_last(self) -> int:
        """Links between a full group and the last one, without an exception."""
        if self.last_ports == self.ports or self.cables is not None or self.groups == 1:
            return self.usual
        return min(self.usual, self.last_ports // (self.groups - 1))

    def between(self, a: int, b: int) -> int:
        """Links between two groups."""
        usual = self.with_last if self.groups - 1 in (a, b) else self.usual
        return self._by_pair.get((min(a, b), max(a, b)), usual)

    def of_group(self, group: int) -> int:
        """Links of a group to all others."""
        return sum(self.between(group, other) for other in range(self.groups) if other != group)

    def across(self, half: int) -> int:
        """Links between the first `half` groups and the others (at least one on either side)."""
        last = self.groups - 1
        links = half * (last - half) * self.usual + half * self.with_last
        for (a, b), count in self._by_pair.items():
            if a < half <= b:
                links += count - (self.with_last if b == last else self.usual)
        return links

    @cached_property
    def range(self) -> tuple[int, int]:
        """Fewest and most links of a pair; zeros if there is only one group."""
        last = self.groups - 1
        if last == 0:
            return 0, 0
        counts = set(self._by_pair.values())
        exceptions_with_last = sum(last in pair for pair in self._by_pair)
        if exceptions_with_last < last:
            counts.add(self.with_last)
        if len(self._by_pair) - exceptions_with_last < last * (last - 1) // 2:
            counts.add(self.usual)
        return min(counts), max(counts)

    def check(self, have: Callable[[int], str]) -> None:
        """Raises InputError if the ports do not suffice; `have(group)` says what a group has, for the message."""
        for number, (a, b, _) in enumerate(self.exceptions, start=1):
            if max(a, b) >= self.groups:
                raise InputError(
                    f"`pair_links`: entry {number}: there is no group {max(a, b)}",
                    hint=f"the machine has groups 0 to {self.groups - 1}",
                    path=("pair_links",),
                )
        peers = self.groups - 1
        if peers == 0 or self.cables is not None:
            return
        small = self.last_ports < self.ports
        if (self.each is None and self.ports < peers) or (self.usual and self.last_ports < peers):
            whose = "in the last group " if small else ""
            raise InputError(
                f"{self.groups} groups need at least {peers} global links per group, "
                f"but {whose}{have(peers if small else 0)}",
                hint=f"at most {(self.last_ports if small else self.ports) + 1} groups can be joined",
                path=("groups",),
            )
        if self.each is not None and not self.exceptions and self.each * peers > self.ports:
            raise self._too_few(0, self.each * peers, self.ports, have(0))
        special = {peers, *(g for pair in self._by_pair for g in pair)}
        ordinary = next((group for group in range(self.groups) if group not in special), 0)
        for group in sorted({ordinary, *special}):
            need, ports = self.of_group(group), self.last_ports if group == peers else self.ports
            if need > ports:
                raise self._too_few(group, need, ports, have(group))

    def _too_few(self, group: int, need: int, ports: int, have: str) -> InputError:
        peers = self.groups - 1
        if any(group in pair for pair in self._by_pair):
            message = f"group {group} needs {need} global links with its `pair_links`, but {have}"
            return InputError(message, hint=f"ask for at most {ports}", path=("pair_links",))
        most = f" at most {ports // peers} links per pair or" if ports >= peers else ""
        return InputError(
            f"{self.groups} groups with {self.usual} links between each pair need {need} global links per group, "
            f"but {have}",
            hint=f"use{most} at most {ports // self.usual + 1} groups",
            path=("links_per_pair",),
        )
