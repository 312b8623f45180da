"""Which routing the packets of each job use, decided for the machine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings import DEFAULTS, Routing, check_channels, on_system
from odonata.scenario.routings.choice import Unnamed, named
from odonata.scenario.tables import JobTable, ScenarioTable

#: Most different routings in a run (docs/routings.md).
MAX_ROUTINGS = 8


@dataclass(frozen=True)
class Ways:
    """The routing of the run, and those of jobs that have their own (by the job's number)."""

    usual: Routing
    own: Mapping[int, Routing]

    def spec_of_job(self, index: int) -> dict[str, Any]:
        """What a job adds to the core's document: its routing, if it is another than that of the run."""
        if index not in self.own:
            return {}
        told = self.own[index].spec()
        return {} if told == self.usual.spec() else {"routing": told}


def ways(table: ScenarioTable, jobs: Sequence[JobTable], system: System) -> Ways:
    """Decides them all. Raises InputError whose path leads into the scenario."""
    kind = system.table.kind
    usual = _one(table.routing, DEFAULTS[kind], table, system, ("routing",))
    own: dict[int, Routing] = {}
    for index, job in enumerate(jobs):
        if job.routing is not None:
            of_job = f" of job `{job.name}`"
            own[index] = _one(job.routing, usual.name, table, system, ("job", index, "routing"), of_job)
            _limit([usual, *own.values()], ("job", index, "routing"))
    return Ways(usual, own)


def _one(
    given: Routing | Unnamed,
    name: str,
    table: ScenarioTable,
    system: System,
    path: tuple[str | int, ...],
    whose: str = "",
) -> Routing:
    try:
        decided = on_system(named(given, name), system, table.compat)
    except InputError as e:
        raise e.under(*path) from None
    try:
        check_channels(decided, system, whose)
    except InputError as e:
        raise e.under(*_channels(table, path)) from None
    return decided


def _channels(table: ScenarioTable, otherwise: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Where the scenario says how many channels there are; the routing if it does not."""
    if "channels" in (table.fabric or {}):
        return ("fabric", "channels")
    own = table.system.get("fabric") if isinstance(table.system, Mapping) else None
    if isinstance(own, Mapping) and "channels" in own:
        return ("system", "fabric", "channels")
    return otherwise


def _limit(routings: list[Routing], path: tuple[str | int, ...]) -> None:
    different = {json.dumps(routing.spec()) for routing in routings}
    if len(different) > MAX_ROUTINGS:
        message = f"{len(different)} different routings in one run; at most {MAX_ROUTINGS} are possible"
        raise InputError(message, path=path)
