"""Scenarios: a machine, the jobs on it, their nodes and traffic, and the measurements.

`load(path)` reads a file, `Scenario.of(data)` takes Python's data, `Scenario.set` changes a value, and
`Scenario.resolve` fills in everything that is left open. `tables.py` has the tables of a scenario, `apps/` the traffic
patterns and programs, and `routings/` the routings. `kang_files.py` reads the files of the authors of Kang 2019.

The table that has a key declares its default. `resolve.py` fills in what depends on other keys and writes the
specification of the core, which has no defaults. An error of the core names a path in the specification; `refusals.py`
turns it into keys of the scenario.
"""

from typing import TYPE_CHECKING

from odonata.lazy import lazily

if TYPE_CHECKING:
    from odonata.scenario.apps.listed import COLLECTIVES, MOTIFS, PATTERNS
    from odonata.scenario.kang_files import read_kang
    from odonata.scenario.resolve import Resolved
    from odonata.scenario.routings import ROUTINGS
    from odonata.scenario.scenario import Scenario, as_scenario, load, parse, read, system

__all__ = [
    "COLLECTIVES",
    "MOTIFS",
    "PATTERNS",
    "ROUTINGS",
    "Resolved",
    "Scenario",
    "as_scenario",
    "load",
    "parse",
    "read",
    "read_kang",
    "system",
]

__getattr__ = lazily(
    __name__,
    {
        "apps.listed": ("COLLECTIVES", "MOTIFS", "PATTERNS"),
        "kang_files": ("read_kang",),
        "resolve": ("Resolved",),
        "routings": ("ROUTINGS",),
        "scenario": ("Scenario", "as_scenario", "load", "parse", "read", "system"),
    },
)
