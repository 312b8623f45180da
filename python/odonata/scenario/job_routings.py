"""The routing of each job, with its defaults for the machine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata.document import Table, validate
from odonata.errors import InputError, OdonataError
from odonata.machine import System
from odonata.messages import error_of
from odonata.scenario.routings import DEFAULTS, OPTIONS, Routing, check_channels, named_table, on_system
from odonata.scenario.routings.choice import AnyRouting, Unnamed, named
from odonata.scenario.routings.custom import OwnRouting
from odonata.scenario.tables import JobTable, ScenarioTable

#: Most different routings in a run (docs/routings.md).
MAX_ROUTINGS = 8


@dataclass(frozen=True)
class JobRoutings:
    """The routing of the run, and those of jobs that have their own (by the job's number)."""

    usual: Routing
    own: Mapping[int, Routing]

    @property
    def sensing(self) -> str:
        """The congestion metric of a run that names none: that of a routing with a metric of its own, else
        `backlog`."""
        metrics = {routing.sensing for routing in (self.usual, *self.own.values())} - {Routing.sensing}
        return metrics.pop() if metrics else Routing.sensing

    def spec_of_job(self, index: int) -> dict[str, Any]:
        """The keys that a job adds to the specification: its routing, if it differs from that of the run."""
        if index not in self.own:
            return {}
        spec = self.own[index].spec()
        return {} if spec == self.usual.spec() else {"routing": spec}

    def kept(self) -> dict[str, Any]:
        """What the specification keeps of routings of one's own, by the names under which the core knows them."""
        customs = [routing for routing in (self.usual, *self.own.values()) if isinstance(routing, OwnRouting)]
        return {custom.program.name: custom.program.kept() for custom in customs}

    def check_turns(self, index: int, job: Mapping[str, Any]) -> None:
        """Raises InputError if a job (of the specification) ends before every policy of its `turns` has had a turn."""
        routing = self.own.get(index, self.usual)
        turns = getattr(routing, "turns", None) or ()
        if "program" in job:
            what, key, number = "iteration", "iterations", job["program"]["iterations"]
        else:
            what, key, number = "interval", "messages", job["traffic"]["intervals"]
        if number is None or number >= len(turns):
            return
        many = what if number == 1 else f"{what}s"
        last = ", ".join(f"`{name}`" for name in turns[number:])
        raise InputError(
            f"job `{job['name']}` has {number} {many}, and `turns` has {len(turns)} policies: {last} would not be used",
            hint=f"give the job at least {len(turns)} `{key}`, or leave out policies",
            path=(*(("job", index) if index in self.own else ()), "routing", "turns"),
        )

    def refused(self, problem: Any, table: ScenarioTable) -> OdonataError | None:
        """The user's error if the core refuses too few channels; None for another error.

        Missing cables between groups and failed links can require more channels, which only the wired machine shows.
        The core uses the name of the routing's family; the scenario may use another name.
        """
        if problem.code != "too-few-channels":
            return None
        family = problem.parameters["routing"]
        index, routing = next(
            ((n, r) for n, r in (*self.own.items(), (None, self.usual)) if r.of_packets()[0]["name"] == family),
            (None, self.usual),
        )
        path: tuple[str | int, ...] = ("routing",) if index is None else ("job", index, "routing")
        parameters = {**problem.parameters, "routing": routing.name}
        return error_of(problem.code, problem.path, parameters, keys=_channels(table, path))


def job_routings(table: ScenarioTable, jobs: Sequence[JobTable], system: System, folder: Path) -> JobRoutings:
    """The routings of all jobs, whose files are relative to a folder.

    Raises InputError whose path leads into the scenario.
    """
    name, options = default_of(system)
    options = options if isinstance(table.routing, Unnamed) else {}
    of_machine = system.table.routing is not None and isinstance(table.routing, Unnamed) and not table.routing.options
    where: tuple[str | int, ...] = ("system", "routing") if of_machine else ("routing",)
    usual = _decided(table.routing, name, options, table, system, where, folder)
    own: dict[int, Routing] = {}
    used: list[Routing] = []
    for index, job in enumerate(jobs):
        if job.routing is None:
            path: tuple[str | int, ...] = ("routing",)
            of_job, routing = "", usual
        else:
            path = ("job", index, "routing")
            of_job = f" of job `{job.name}`"
            routing = own[index] = _decided(job.routing, usual.name, options, table, system, path, folder, usual)
        if routing in used:
            continue
        try:
            check_channels(routing, system, of_job)
        except InputError as e:
            raise e.under(*_channels(table, path)) from None
        used.append(routing)
        _together(used, path)
    return JobRoutings(usual, own)


class _OfMachine(Table):
    """The routing that a machine states."""

    routing: AnyRouting


def default_of(system: System) -> tuple[str, Mapping[str, Any]]:
    """Name and options of the routing of a scenario that names none: that of the machine, else the default of its
    interconnect or kind. Raises InputError whose path leads into the scenario."""
    usual, stated = system.table.usual_routing, system.table.routing
    if stated is None:
        return DEFAULTS[usual], OPTIONS.get(usual, {})
    try:
        given = named_table(DEFAULTS[usual], {"name": stated} if isinstance(stated, str) else stated)
    except InputError as e:
        raise e.under("system", "routing") from None
    try:
        validate(_OfMachine, {"routing": given})
    except InputError as e:
        raise e.under("system") from None
    return given["name"], {key: value for key, value in given.items() if key != "name"}


def _decided(
    given: Routing | Unnamed,
    name: str,
    options: Mapping[str, Any],
    table: ScenarioTable,
    system: System,
    path: tuple[str | int, ...],
    folder: Path,
    like: Routing | None = None,
) -> Routing:
    """A routing with all defaults filled in; without gateways of its own it has those of `like`."""
    try:
        chosen = named(given, name, options)
        if getattr(chosen, "gateways", "") is None and getattr(like, "gateways", None) is not None:
            chosen = chosen.model_copy(update={"gateways": getattr(like, "gateways", None)})
        return on_system(chosen.located(folder), system, table.compat)
    except InputError as e:
        raise e.under(*path) from None


def _channels(table: ScenarioTable, otherwise: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The path of the number of channels in the scenario; that of the routing if the scenario does not set it."""
    if "channels" in (table.fabric or {}):
        return ("fabric", "channels")
    own = table.system.get("fabric") if isinstance(table.system, Mapping) else None
    if isinstance(own, Mapping) and "channels" in own:
        return ("system", "fabric", "channels")
    return otherwise


def _together(routings: list[Routing], path: tuple[str | int, ...]) -> None:
    """Raises InputError if the last of the routings cannot be used together with the others."""
    if len({isinstance(routing, OwnRouting) for routing in routings}) > 1:
        message = f"a run has routings of one's own or built-in ones, not both: here also `{routings[0].name}`"
        hint = "give the run the routing that most jobs have, or write the other one as a file too"
        raise InputError(message, hint=hint, path=path)
    gateways = {getattr(routing, "gateways", None) for routing in routings}
    if len(gateways) > 1:
        first, last = (getattr(routing, "gateways", None) for routing in (routings[0], routings[-1]))
        message = f"all routings of a run have the same `gateways`: one has `{first}`, this one `{last}`"
        raise InputError(message, path=(*path, "gateways"))
    different = {json.dumps(of, sort_keys=True) for routing in routings for of in routing.of_packets()}
    if len(different) > MAX_ROUTINGS:
        message = f"{len(different)} different routings in one run; at most {MAX_ROUTINGS} are possible"
        raise InputError(message, path=path)
