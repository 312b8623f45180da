"""All running jobs at once: how much longer each takes now than alone, because of whom, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from odonata.impact.alone import Alone, alone_of
from odonata.impact.assumed import Assumption, assumptions, can_blame, jobs_under, scenario_of
from odonata.impact.beside import Judged, judged, measured
from odonata.impact.causes import neighbours
from odonata.impact.kept import Kept
from odonata.impact.result import Impact, JobImpact, Simulated
from odonata.impact.window import PACKET_HOPS, window_ps

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from odonata.runner import Progress
    from odonata.store import Run
    from odonata.workload.from_queue import Workload
    from odonata.workload.names import Names

RUN = "run"
"""Folder of the run of the machine, in the folder of the results."""

Vary = Literal["traffic", "seeds", "nothing"]


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
            scenario = scenario_of(workload, assumption, jobs, length, blame=can_blame(resolved.spec))
            main = _run(scenario, folder, progress)
            rows, hops = measured(main, alone), int(main.manifest["packet_hops"])
        else:
            rows, hops = _beside(workload, assumption, jobs, length, alone, kept, progress)
        columns.append([judged(each, row, length) for each, row in zip(alone, rows, strict=True)])
        simulated.append(Simulated(assumption, length, hops))
    kept.remove_unused()
    assert main is not None
    near = neighbours(main, names)
    entries = [
        JobImpact(job, _of(main, number), tuple(column[number] for column in columns), near.get(number))
        for number, job in enumerate(workload.jobs)
    ]
    worst_first = sorted(entries, key=lambda entry: -(entry.now.slowdown or 0.0))
    looked_at = f"assumed: job {workload.jobs[0].id} is looked at, the one with the most nodes"
    notes = tuple(note for note in workload.notes if note != looked_at)
    if main.blame.is_empty() and not can_blame(main.resolved["spec"]):
        notes = (*notes, "who makes whom wait is not known: with traffic classes, waiting is not attributed")
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
