"""What a machine is asked for, and one that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Wanted:
    """What every machine of a comparison must have."""

    nics: int
    """NICs at least."""
    radix: int
    """Ports of a switch at most."""
    taper: Fraction
    """What NICs send at most, over the bandwidth of the links that carry it: 1 for 1:1, 2 for 2:1."""
    nics_per_node: int

    def links(self, nics: int | Fraction) -> int:
        """The fewest links, each as fast as a NIC, that carry what so many NICs send."""
        return max(1, -(-Fraction(nics) // self.taper))


@dataclass(frozen=True)
class Design:
    """A machine of one kind that has what is wanted."""

    kind: str
    shape: dict[str, Any]
    """The keys of its system file that say how it is wired."""
    nics: int
    switches: int
    links: int
    """Cables between switches."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """The best machine has the least: switches, then cables between them, then NICs."""
        return self.switches, self.links, self.nics


Search = Callable[[Wanted], Iterator[Design]]
"""The machines of one kind that have what is wanted."""
