"""Odonata shows which jobs on a shared network slow each other down, why, and which placement or routing prevents it.

The whole interface fits on a screen:

| name | what it does |
|---|---|
| `load(path, overrides)` | reads a `Scenario`, also from data (a dictionary) |
| `run(scenario)` | simulates it, also by its path or its data: a `Run` |
| `sweep(scenario, axes)` | simulates it along many axes, every run once: a `Study` |
| `open(path)` | opens the folder of a run or of a study |
| `explain(run)` | who makes whom wait in a run, where, and what for |
| `advise(scenario)` | which placement, routing, mapping or start makes a job faster: an `Advice` |
| `schedule(file)` | simulates a stream of jobs over days: an `Outcome` |
| `slowdowns(system, jobs)` | how much jobs that are known by their rates (`Sending`) slow each other down now |
| `place(policy, system=, nodes=, busy=)` | selects nodes by a placement policy: a `Placement` |
| `systems()`, `routings()`, `placements()` | the available names |
| `System` | a machine, such as `load(path).system` |
| `aries` | the performance model of Aries, and application-aware routing |
| `cluster` | a real cluster: its queue, its background utilisation, nodes for a job |
| `OdonataError` | every error that is meant for the user: `InputError` or `RunError` |

Each name is imported when it is first used, so `import odonata` is fast.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from odonata import aries, cluster
    from odonata._core import __version__
    from odonata.advice import advise
    from odonata.blame import explain
    from odonata.congestion import Sending, slowdowns
    from odonata.errors import InputError, OdonataError, RunError
    from odonata.machine import System
    from odonata.machine import names as systems
    from odonata.placement import Placement, place
    from odonata.placement import names as placements
    from odonata.runner import run
    from odonata.scenario import Scenario, load
    from odonata.scenario.routings import names as routings
    from odonata.scheduler import schedule
    from odonata.store import Run
    from odonata.study.opening import open_folder as open  # noqa: A004 - odonata.open, as gzip.open
    from odonata.study.python import sweep
    from odonata.study.study import Study

#: Public name -> module and name there.
_LAZY = {
    "InputError": ("odonata.errors", "InputError"),
    "OdonataError": ("odonata.errors", "OdonataError"),
    "Placement": ("odonata.placement", "Placement"),
    "Run": ("odonata.store", "Run"),
    "RunError": ("odonata.errors", "RunError"),
    "Scenario": ("odonata.scenario", "Scenario"),
    "Sending": ("odonata.congestion", "Sending"),
    "Study": ("odonata.study.study", "Study"),
    "System": ("odonata.machine", "System"),
    "__version__": ("odonata._core", "__version__"),
    "advise": ("odonata.advice", "advise"),
    "explain": ("odonata.blame", "explain"),
    "load": ("odonata.scenario", "load"),
    "open": ("odonata.study.opening", "open_folder"),
    "place": ("odonata.placement", "place"),
    "placements": ("odonata.placement", "names"),
    "routings": ("odonata.scenario.routings", "names"),
    "run": ("odonata.runner", "run"),
    "schedule": ("odonata.scheduler.python", "schedule"),
    "slowdowns": ("odonata.congestion", "slowdowns"),
    "sweep": ("odonata.study.python", "sweep"),
    "systems": ("odonata.machine", "names"),
}

__all__ = [
    "InputError",
    "OdonataError",
    "Placement",
    "Run",
    "RunError",
    "Scenario",
    "Sending",
    "Study",
    "System",
    "__version__",
    "advise",
    "aries",
    "cluster",
    "explain",
    "load",
    "open",
    "place",
    "placements",
    "routings",
    "run",
    "schedule",
    "slowdowns",
    "sweep",
    "systems",
]


def __getattr__(name: str) -> Any:
    if name in ("aries", "cluster"):
        return import_module(f"odonata.{name}")
    if name not in _LAZY:
        from odonata.errors import unknown_attribute

        raise unknown_attribute(sys.modules[__name__], "odonata", __all__, name)
    module, attribute = _LAZY[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
