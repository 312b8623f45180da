"""The levels of a fat tree: which switches are leaves, spines and cores, by pod and plane."""

from __future__ import annotations

from dataclasses import dataclass, field

#: The switches at the places of a row; None where a switch is missing.
Row = list[int | None]


@dataclass
class Pod:
    """The switches of a pod in one plane."""

    leaves: list[int]
    spines: list[int]


@dataclass
class Levels:
    """The leaves, spines and cores of all planes. Two levels are one pod without cores."""

    planes: list[list[Pod]]
    """The pods of each plane, in the same order in all planes."""
    cores: list[list[int]]
    """The cores of each plane."""
    notes: list[str] = field(default_factory=list)
