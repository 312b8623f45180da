"""What is simulated apart from policy and seed: a machine, jobs of one or two classes, the order of placing them."""

from __future__ import annotations

from dataclasses import dataclass

RANKS_PER_NODE = 2
"""Tasks of a node (L5)."""


@dataclass(frozen=True)
class JobClass:
    """Equal jobs."""

    name: str
    """`small` or `large`."""
    count: int
    nodes: int
    """Nodes of each job."""
    motif: str
    message: str = "1 KB"
    """Size of each message."""
    iterations: int = 1

    def __str__(self) -> str:
        words = f"{self.count}x{self.nodes}:{self.motif}:{self.message.replace(' ', '')}"
        return words if self.iterations == 1 else f"{words}:x{self.iterations}"


@dataclass(frozen=True)
class Setup:
    """One experiment, to be done with each policy."""

    nodes: int
    """Nodes of the machine, which is the preset `zhang2018-NODES`."""
    ratio: str
    """Bandwidth of a global link over that of a local one: `0.25`, `1`, `4` (L3)."""
    classes: tuple[JobClass, ...]
    order: str = "small-first"
    """In which order jobs are placed (L17)."""
    variant: str = ""
    """What is not as in the main runs."""
    settings: tuple[tuple[str, str], ...] = ()
    """What that changes in the scenario: key and value (JSON)."""

    @property
    def name(self) -> str:
        """Unique among the setups of a study."""
        parts = (f"{self.nodes}", f"ratio={self.ratio}", *map(str, self.classes), self.order, self.variant)
        return "/".join(part for part in parts if part)

    def of(self, name: str) -> JobClass:
        """The class of that name."""
        return next(one for one in self.classes if one.name == name)
