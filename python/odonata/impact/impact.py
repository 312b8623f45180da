"""All running jobs at once: how much longer each takes now than alone, because of whom, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from odonata.impact.alone import Alone, alone_of
from odonata.impact.assumed import Assumption, assumptions, can_blame, jobs_under, scenario_of
from odonata.impact.beside import Judged, judged, measured
from odonata.impact.causes import Neighbour, neighbours
from odonata.impact.kept import Kept
from odonata.impact.window import PACKET_HOPS, window_ps
from odonata.workload.from_queue import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from odonata.queue.records import Job
    from odonata.runner import Progress
    from odonata.store import Run
    from odonata.workload.from_queue import Workload
    from odonata.workload.names import Names

MATTERS = 1.01
"""A smaller slowdown is called none (assumed, as for `holds`)."""
RUN = "run"
"""Folder of the run of the machine, in the folder of the results."""

Vary = Literal["traffic", "seeds", "nothing"]


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


def impact(
    workload: Workload,
    folder: Path | None = None,
    *,
    names: Names | None = None,
    vary: Vary = "traffic",
    window: int | None = None,
    packet_hops: int = PACKET_HOPS,
    progress: Progress | None = None,
) -> Impact:
    """Judge all jobs of a queue.

    Parameters
    ----------
    workload
        The queue as a scenario; its victim does not matter.
    folder
        Where runs are kept by content. None keeps nothing.
    names
        Names of hosts and switches.
    vary
        Over what slowdowns range: the alternatives of the traffic book, six seeds, or nothing.
    window
        How long the machine is simulated, in ps. Default: as long as it takes to judge the jobs, within `packet_hops`.
    packet_hops
        Most packet-hops that the machine is expected to have in the window.
    progress
        Called about every 0.2 s; see `odonata.runner.Progress`.

    Returns
    -------
    Impact

    Raises
    ------
    InputError
        For jobs that cannot be simulated.
    RunError
        For a full disk.
    """
    kept = Kept(folder)
    columns: list[list[Judged]] = []
    simulated: list[Simulated] = []
    main: Run | None = None
    for assumption in assumptions(workload, vary):
        jobs = jobs_under(workload, assumption)
        resolved = scenario_of(workload, assumption, jobs, 1).resolve()
        alone = [alone_of(resolved, number, kept, progress) for number in range(len(jobs))]
        length = window_ps(alone, packet_hops) if window is None else window
        if main is None:
            scenario = scenario_of(workload, assumption, jobs, length, blame=can_blame(resolved))
            main = _run(scenario, folder, progress)
            rows, hops = measured(main, alone), int(main.manifest["packet_hops"])
        else:
            rows, hops = _beside(workload, assumption, jobs, length, alone, kept, progress)
        columns.append([judged(each, row, length) for each, row in zip(alone, rows, strict=True)])
        simulated.append(Simulated(assumption, length, hops))
    assert main is not None
    near = neighbours(main, names)
    entries = [
        JobImpact(job, _of(main, number), tuple(column[number] for column in columns), near.get(number))
        for number, job in enumerate(workload.jobs)
    ]
    worst_first = sorted(entries, key=lambda entry: -(entry.now.slowdown or 0.0))
    looked_at = f"assumed: job {workload.jobs[0].id} is looked at, the one with the most nodes"
    notes = tuple(note for note in workload.notes if note != looked_at)
    return Impact(tuple(worst_first), vary, tuple(simulated), workload.system, workload.made_from, notes, main)


def _of(run: Run, number: int) -> str:
    return "time" if "program" in run.resolved["spec"]["jobs"][number] else "latency"


def _run(scenario: Any, folder: Path | None, progress: Progress | None) -> Run:
    from odonata import runner

    if folder is None:
        return runner.run(scenario, progress=progress)
    done = runner.recalled(scenario, [folder / RUN], alone=False)
    return done if done is not None else runner.run(scenario, folder / RUN, progress=progress, force=True)


def _beside(
    workload: Workload,
    assumption: Assumption,
    jobs: list[dict[str, Any]],
    length: int,
    alone: Sequence[Alone],
    kept: Kept,
    progress: Progress | None,
) -> tuple[list[dict[str, Any]], int]:
    """What the jobs do under another assumption, and the packet-hops of the machine."""
    from odonata import runner

    scenario = scenario_of(workload, assumption, jobs, length)
    key = Kept.key("beside", scenario.resolve(check=False).spec, [each.intervals for each in alone])
    entry = kept.get(key)
    if entry is None:
        run = runner.run(scenario, progress=progress)
        entry = {"rows": measured(run, alone), "packet_hops": int(run.manifest["packet_hops"])}
        kept.add(key, entry)
    return list(entry["rows"]), int(entry["packet_hops"])
