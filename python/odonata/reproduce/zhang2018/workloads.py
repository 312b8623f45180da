"""The 1,000 random workloads (L16): drawn once, kept as `workloads.csv`, so that they stay what they are.

The paper draws the size of the large jobs from 17 to 136 nodes, that of the small ones from 2 to 16, then both numbers
of jobs "randomly under the restriction of machine size", and a pattern for each class. How the numbers are distributed
it does not say: here every pair of numbers, from one job of each class on, that fits on 272 nodes is equally likely.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.placement.splitmix import SplitMix64

if TYPE_CHECKING:
    from collections.abc import Sequence

MACHINE = 272
LARGE, SMALL = (17, 136), (2, 16)
"""Least and largest number of nodes of a job."""
MOTIFS = ("alltoall", "broadcast", "fft3d", "halo2d", "halo3d", "halo3d26")
"""The six patterns (L13)."""
COUNT, SEED = 1000, 2018
AUTHORS_LARGEST = 131
"""Largest number of nodes of a job in the authors' script; the paper says 136."""


@dataclass(frozen=True)
class Workload:
    """A line of the file."""

    number: int
    small_jobs: int
    small_nodes: int
    small_motif: str
    large_jobs: int
    large_nodes: int
    large_motif: str


def draw(count: int = COUNT, seed: int = SEED) -> tuple[Workload, ...]:
    """The workloads; a seed always gives the same ones."""
    random = SplitMix64(seed)
    return tuple(_one(number, random) for number in range(1, count + 1))


def _one(number: int, random: SplitMix64) -> Workload:
    large, small = (least + random.below(most - least + 1) for least, most in (LARGE, SMALL))
    room = range(1, (MACHINE - small) // large + 1)
    pairs = [(few, many) for few in room for many in range(1, (MACHINE - few * large) // small + 1)]
    large_jobs, small_jobs = pairs[random.below(len(pairs))]
    small_motif, large_motif = (MOTIFS[random.below(len(MOTIFS))] for _ in range(2))
    return Workload(number, small_jobs, small, small_motif, large_jobs, large, large_motif)


@lru_cache
def as_authors_drew(count: int = COUNT, seed: int = SEED) -> tuple[Workload, ...]:
    """Workloads as the authors' script draws them, with seeds of our own.

    It draws the size of the large jobs (17 to 131), their number (as many as fit, again if less than 2 nodes are left),
    the size of the small jobs, their number, each with the same probability for each value, and two different patterns
    of five: its FFT3d needs a multiple of 4 ranks.
    """
    random = SplitMix64(seed)
    return tuple(_as_authors(number, random) for number in range(1, count + 1))


def _as_authors(number: int, random: SplitMix64) -> Workload:
    def between(least: int, most: int) -> int:
        return least + random.below(most - least + 1)

    large = between(LARGE[0], AUTHORS_LARGEST)
    left = 0
    while left < SMALL[0]:
        large_jobs = between(1, MACHINE // large)
        left = MACHINE - large * large_jobs
    small = between(SMALL[0], min(SMALL[1], left))
    small_jobs = between(1, left // small)
    patterns = [motif for motif in MOTIFS if motif != "fft3d"]
    small_motif = patterns.pop(random.below(len(patterns)))
    large_motif = patterns[random.below(len(patterns))]
    return Workload(number, small_jobs, small, small_motif, large_jobs, large, large_motif)


def as_csv(workloads: Sequence[Workload]) -> str:
    """The text of the file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Workload.__dataclass_fields__)
    writer.writerows(list(vars(workload).values()) for workload in workloads)
    return text.getvalue()


@lru_cache
def read() -> tuple[Workload, ...]:
    """`workloads.csv`."""
    text = (files("odonata.reproduce.zhang2018") / "workloads.csv").read_text(encoding="utf-8")
    return tuple(
        Workload(**{key: value if "motif" in key else int(value) for key, value in line.items()})  # type: ignore[arg-type]
        for line in csv.DictReader(io.StringIO(text))
    )
