"""The expectation of a run: what its jobs send in all, how much of it is done, what makes it shorter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from odonata.expectation.counts import JobCount, counted
from odonata.expectation.distances import Distances
from odonata.memory import expected_rows, row_bytes, size
from odonata.text.numbers import duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved

SURE = 0.01
"""From this share on, delivered messages of patterns give a better estimate than packet-hops. Assumed."""
LONG_S = 300.0
"""A run that takes longer than this gets a hint. Assumed."""


@dataclass(frozen=True)
class Expectation:
    """What the jobs of a run send, and what its rows need."""

    jobs: tuple[JobCount, ...]
    at_ps: int | None
    """When the run ends at the latest."""
    rows_bytes: int

    @cached_property
    def _counted(self) -> tuple[JobCount, ...]:
        return tuple(job for job in self.jobs if job.per_ps is None)

    @property
    def messages(self) -> int:
        """Messages of the jobs that end, or that send for a given time."""
        return sum(job.messages for job in self._counted)

    @property
    def packets(self) -> int:
        """Their packets, with those of control messages."""
        return sum(job.packets for job in self._counted)

    @property
    def packet_hops(self) -> float | None:
        """Their route decisions on minimal paths; None if they are not known."""
        hops = sum(job.packet_hops for job in self._counted)
        return hops if hops and not any(job.unknown for job in self.jobs) else None

    def alone(self, name: str) -> Expectation:
        """The same of one of the jobs alone on the machine."""
        return Expectation(tuple(job for job in self.jobs if job.name == name), self.at_ps, self.rows_bytes)

    def share(self, state: Mapping[str, Any]) -> float:
        """How much of a run is done (0: not known), from a state as `odonata.runner.Progress` has it."""
        done = state["delivered"] / state["expected"] if state["expected"] else 0.0
        # Of programs it counts iterations that ranks have ended, so it rises in steps, perhaps only at the end.
        if self.packet_hops is not None and (done < SURE or any(job.program for job in self.jobs)):
            others = sum((job.per_ps or 0.0) * job.hops for job in self.jobs) * state["now_ps"]
            by_hops = max(0.0, state["packet_hops"] - others) / self.packet_hops
            # More than all: packets take detours, so these counts say nothing.
            done = max(done, by_hops) if by_hops < 1 else done
        return max(done, min(1.0, state["now_ps"] / self.at_ps)) if self.at_ps else done

    def __str__(self) -> str:
        if not self.messages:
            return "expected: messages are not counted before the run"
        least = "at least " if any(job.unknown for job in self.jobs) else ""
        text = f"expected: {least}{self.messages:,} messages between nodes in {self.packets:,} packets"
        if self.packet_hops is not None:
            text += f", about {_rounded(self.packet_hops)} packet-hops"
        endless = [job.name for job in self.jobs if job.per_ps is not None]
        text += f", and what {' and '.join(f'`{name}`' for name in endless)} sends until then" if endless else ""
        return text + (
            f"; {size(self.rows_bytes)} of memory for the rows of messages" if self.rows_bytes >= 2**20 else ""
        )

    def hint(self, seconds: float) -> str | None:
        """What makes a run shorter that takes this long; None for a short one."""
        if seconds <= LONG_S:
            return None
        ways = []
        if self.packets >= 2 * self.messages:
            ways.append("larger packets (`system.fabric.packet`)")
        if any(job.iterations > 1 for job in self._counted):
            ways.append("fewer `iterations` or `messages`")
        if any(job.pairs for job in self._counted):
            ways.append('fewer nodes, as pairs of ranks grow with their square, or `algorithm = "bruck"`')
        ways.append("smaller jobs on a smaller machine")
        return f"hint: it takes about {duration(seconds)}; what makes it shorter: {'; '.join(ways)}"


def expectation(resolved: Resolved) -> Expectation:
    """What a run will have to simulate."""
    distances = Distances(resolved)
    jobs = tuple(counted(resolved, index, distances) for index in range(len(resolved.spec["jobs"])))
    return Expectation(jobs, resolved.spec["stop"]["at_ps"], expected_rows(resolved) * row_bytes())


def _rounded(count: float) -> str:
    """A large number with two digits."""
    factor, word = next(
        ((f, w) for f, w in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")) if count >= f), (1, "")
    )
    return f"{count / factor:.2g}{word}" if count / factor < 100 else f"{count / factor:.0f}{word}"
