"""What a study sets beyond the machine and the jobs, so that "shipped defaults" means what a user gets.

A user writes `system = PRESET` and jobs. `beyond` resolves such a scenario with the jobs of a study and compares it
with that of the study.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


OF_JOBS = (
    *("name", "nodes", "place", "ranks_per_node", "mapping", "app", "iterations", "every", "start", "background"),
    *("on", "off", "barrier", "record"),
)
"""Keys of a job that say what it does, where and when. Its costs, its routing and its class are settings."""
OF_RUN = ("run", "measure")
"""Keys of a scenario that say when a run ends, which random numbers it has, and what is recorded."""
NO_PRESET = "system"
"""Stands for a machine that is no preset."""


def beyond(made: Scenario) -> dict[str, tuple[Any, Any]]:
    """Key of the specification -> what a user gets and what the study sets, where these differ; jobs are not numbered.

    A machine that is no preset is one difference, `system`: no user gets it by name.
    """
    data = made.data
    system = data["system"]
    preset = system if isinstance(system, str) else system.get("preset")
    if preset is None:
        return {NO_PRESET: (None, dict(system).get("name"))}
    jobs = [{key: value for key, value in job.items() if key in OF_JOBS} for job in data["job"]]
    plain = {"system": preset, **{key: data[key] for key in OF_RUN if key in data}, "job": jobs}
    usual = Scenario.of(plain).resolve().spec
    ours = made.resolve().spec
    gets, sets = (dict(_flat({**spec, "stop": None})) for spec in (usual, ours))
    return {
        key: (gets.get(key), sets.get(key)) for key in dict.fromkeys((*sets, *gets)) if gets.get(key) != sets.get(key)
    }


def _flat(of: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values; of jobs a list with a value of each."""
    for key, value in of.items():
        if key == "jobs" and not prefix:
            known = [dict(_flat(job)) for job in value]
            names = dict.fromkeys(name for job in known for name in job)
            yield from ((f"job.{name}", [job.get(name) for job in known]) for name in names)
        elif isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
