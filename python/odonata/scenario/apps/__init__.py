"""The applications of jobs: patterns, collectives, motifs, traces, matrices and training, one file for each family.

A pattern sends at intervals, independent of delivery (open loop; docs/model.md, section 7). Collectives, motifs,
traces, matrices and training are programs, whose operations wait for each other (closed loop; section 10).
"""

from odonata.scenario.apps.app import App, Program, Ranks
from odonata.scenario.apps.chakra import Chakra
from odonata.scenario.apps.choice import FILES, AnyApp, read_app
from odonata.scenario.apps.collectives import COLLECTIVES, Collective
from odonata.scenario.apps.libraries import LIBRARIES
from odonata.scenario.apps.matrix import Matrix
from odonata.scenario.apps.motifs import MOTIFS
from odonata.scenario.apps.patterns import PATTERNS, Pattern
from odonata.scenario.apps.serve import Serve
from odonata.scenario.apps.trace import Trace
from odonata.scenario.apps.train import Train

__all__ = [
    "COLLECTIVES",
    "FILES",
    "LIBRARIES",
    "MOTIFS",
    "PATTERNS",
    "AnyApp",
    "App",
    "Chakra",
    "Collective",
    "Matrix",
    "Pattern",
    "Program",
    "Ranks",
    "Serve",
    "Trace",
    "Train",
    "read_app",
]
