"""Scenarios: which jobs run where on which machine, what they send, and what is measured.

`load(path)` reads a file, `Scenario.set` changes a value, `Scenario.resolve` decides everything that the
file leaves open. `tables.py` lists what a scenario may say; `apps/` the traffic patterns and programs; `routings/` the
routings; `kang_files.py` reads the files of the authors of Kang 2019.
"""

from odonata.scenario.apps import COLLECTIVES, MOTIFS, PATTERNS
from odonata.scenario.kang_files import read_kang
from odonata.scenario.resolve import Resolved
from odonata.scenario.routings import ROUTINGS
from odonata.scenario.scenario import Scenario, load, parse, system

__all__ = [
    "COLLECTIVES",
    "MOTIFS",
    "PATTERNS",
    "ROUTINGS",
    "Resolved",
    "Scenario",
    "load",
    "parse",
    "read_kang",
    "system",
]
