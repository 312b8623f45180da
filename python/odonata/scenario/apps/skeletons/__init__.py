"""Skeletons of applications: the messages of one iteration, from published sources (docs/skeletons.md)."""

from odonata.scenario.apps.skeletons.hpcg import Hpcg
from odonata.scenario.apps.skeletons.lammps import Lammps
from odonata.scenario.apps.skeletons.milc import Milc
from odonata.scenario.apps.skeletons.nekbone import Nekbone
from odonata.scenario.apps.skeletons.skeleton import Skeleton
from odonata.scenario.apps.skeletons.wrf import Wrf

__all__ = ["SKELETONS", "Skeleton"]

#: All skeletons by name.
SKELETONS: dict[str, type[Skeleton]] = {
    "hpcg": Hpcg,
    "lammps": Lammps,
    "milc": Milc,
    "nekbone": Nekbone,
    "wrf": Wrf,
}
