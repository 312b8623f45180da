"""The machine with all its jobs as a scenario, under one assumption about their traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.placement.ids import format_ids
from odonata.scenario import Scenario
from odonata.units import format_time
from odonata.workload.book import USUAL
from odonata.workload.from_queue import interval_at_load, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.workload.from_queue import Workload

SEEDS = 6
"""Seeds of `vary = "seeds"`: as many as an interval of a median needs (`analysis.dispersion`)."""
_PLACEHOLDER = "1 ms"


@dataclass(frozen=True)
class Assumption:
    """What is assumed: the traffic of a book, and a seed."""

    name: str
    traffic: str = USUAL
    seed: int = 1


def assumptions(workload: Workload, vary: str) -> tuple[Assumption, ...]:
    """The assumptions over which slowdowns range; the first is the one that the table is about."""
    if vary == "traffic":
        return tuple(Assumption(name, name) for name in (USUAL, *workload.book.table.alternatives))
    if vary == "seeds":
        return tuple(Assumption(f"seed {seed}", seed=seed) for seed in range(1, SEEDS + 1))
    return (Assumption(USUAL),)


def jobs_under(workload: Workload, assumption: Assumption) -> list[dict[str, Any]]:
    """The jobs as `[[job]]` tables: all in the background, because the run ends at a time."""
    jobs: list[dict[str, Any]] = []
    loads = {}
    for number, job in enumerate(workload.jobs):
        traffic = workload.book.traffic(workload.book.rule_of(job), assumption.traffic)
        keys = {key: dict(value) if isinstance(value, dict) else value for key, value in traffic.keys.items()}
        keys["app"].pop("messages", None)
        if traffic.load is not None:
            keys["app"]["interval"] = _PLACEHOLDER
            loads[number] = traffic.load
        record = {} if traffic.is_program else {"record": "every-message"}
        place = {"nodes": format_ids(workload.nodes[job.id])}
        jobs.append({"name": name_of(job), "place": place, **keys, "background": True, **record})
    if loads:
        try:
            resolved = scenario_of(workload, assumption, jobs, 1).resolve(check=False)
            for number, load in loads.items():
                interval = interval_at_load(resolved, resolved.spec["jobs"][number], load)
                jobs[number]["app"]["interval"] = format_time(interval)
        except InputError:
            for job in workload.jobs:
                workload.keys(job, assumption.traffic)  # says of which job and rule
            raise
    return jobs


def scenario_of(
    workload: Workload, assumption: Assumption, jobs: Sequence[dict[str, Any]], window_ps: int, *, blame: bool = False
) -> Scenario:
    """The scenario of a window of the machine. Nodes that no job has matter to nothing that is simulated."""
    data: dict[str, Any] = {"system": workload.system, "job": list(jobs)}
    data["run"] = {"until": format_time(window_ps), "seed": assumption.seed}
    if blame:
        data["measure"] = {"blame": True}
    return Scenario.of(data, folder=workload.folder)


def can_blame(spec: Mapping[str, Any]) -> bool:
    """Whether the waiting of packets can be attributed on this machine."""
    return not spec["fabric"].get("traffic_classes")
