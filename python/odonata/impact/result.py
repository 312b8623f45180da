"""What all running jobs cost each other: the result of `impact`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.workload.from_queue import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.impact.assumed import Assumption
    from odonata.impact.beside import Judged
    from odonata.impact.causes import Neighbour
    from odonata.queue.records import Job
    from odonata.store import Run

MATTERS = 1.01
"""A smaller slowdown is called none (assumed, as for `holds`)."""


@dataclass(frozen=True)
class JobImpact:
    """A job of the queue."""

    job: Job
    of: str
    """What is compared: the `latency` of the messages of a pattern, the `time` of the iterations of a program."""
    judged: tuple[Judged, ...]
    """Under each assumption; the first is the one that the table is about."""
    neighbour: Neighbour | None
    """Who makes it wait most; None if nobody does."""

    @property
    def now(self) -> Judged:
        """Under the first assumption."""
        return self.judged[0]

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the greatest slowdown over the assumptions; None if it is judged under fewer than two."""
        known = [entry.slowdown for entry in self.judged if entry.slowdown is not None]
        return (min(known), max(known)) if len(known) > 1 else None

    @property
    def range_at_least(self) -> bool:
        """Whether the greatest slowdown is a lower bound."""
        return any(entry.at_least for entry in self.judged)

    @property
    def is_slowed(self) -> bool:
        """Whether it is slowed down now."""
        return self.now.slowdown is not None and self.now.slowdown >= MATTERS


@dataclass(frozen=True)
class Simulated:
    """What was simulated under an assumption."""

    assumption: Assumption
    window_ps: int
    packet_hops: int


@dataclass(frozen=True)
class Impact:
    """What all running jobs cost each other."""

    jobs: tuple[JobImpact, ...]
    """Judged jobs, the most slowed first; then those that are not judged, in the order of the queue."""
    vary: str
    """What the assumptions differ in: `traffic`, `seeds` or `nothing`."""
    simulated: tuple[Simulated, ...]
    system: str
    made_from: str
    notes: tuple[str, ...]
    run: Run
    """The run of the machine under the first assumption."""

    @property
    def judged(self) -> tuple[JobImpact, ...]:
        """The jobs with a slowdown."""
        return tuple(entry for entry in self.jobs if entry.now.slowdown is not None)

    @property
    def not_judged(self) -> tuple[JobImpact, ...]:
        """The others."""
        return tuple(entry for entry in self.jobs if entry.now.slowdown is None)

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` prints.

        Returns
        -------
        dict
            Strings, numbers, lists and dictionaries.
        """
        from odonata.impact.text import headline

        names = [entry.assumption.name for entry in self.simulated]
        return {
            "headline": headline(self),
            "system": self.system,
            "made_from": self.made_from,
            "vary": self.vary,
            "assumptions": [
                {
                    "name": entry.assumption.name,
                    "traffic": entry.assumption.traffic,
                    "seed": entry.assumption.seed,
                    "window_ps": entry.window_ps,
                    "packet_hops": entry.packet_hops,
                    "judged": sum(job.judged[number].slowdown is not None for job in self.jobs),
                }
                for number, entry in enumerate(self.simulated)
            ],
            "jobs": [_row(entry, names) for entry in self.judged],
            "not_judged": [{**_who(entry), "why": entry.now.why} for entry in self.not_judged],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        from odonata.impact.text import as_text

        return as_text(self)


def _who(entry: JobImpact) -> dict[str, Any]:
    job = entry.job
    return {"id": job.id, "job": name_of(job), "name": job.name, "user": job.user, "nodes": len(job.nodes)}


def _row(entry: JobImpact, names: Sequence[str]) -> dict[str, Any]:
    near = entry.neighbour
    by = at = None
    if near is not None:
        by = {"job": near.job, "share_of_waiting": near.share, "share_of_others": near.share_of_others}
        place = near.place
        at = {"class": place.class_, "from_group": place.from_group, "to_group": place.to_group}
        at |= {"links": place.links, "worst_link": near.link, "where": near.where}
    return {
        **_who(entry),
        "slowdown": entry.now.slowdown,
        "at_least": entry.now.at_least,
        "of": entry.of,
        "compared": entry.now.ended,
        "range": entry.range,
        "range_at_least": entry.range_at_least,
        "slowdowns": {name: each.slowdown for name, each in zip(names, entry.judged, strict=True)},
        "by": by,
        "at": at,
    }
