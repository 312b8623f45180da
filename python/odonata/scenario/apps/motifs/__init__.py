"""Motifs as a scenario names them: one file each, listed in `MOTIFS`. `docs/applications.md` has the table."""

from odonata.scenario.apps.motifs.all_to_all_linear import AllToAllLinear
from odonata.scenario.apps.motifs.allreduce import Allreduce
from odonata.scenario.apps.motifs.alltoall import Alltoall
from odonata.scenario.apps.motifs.barrier import Barrier
from odonata.scenario.apps.motifs.broadcast import Broadcast
from odonata.scenario.apps.motifs.fft3d import Fft3d
from odonata.scenario.apps.motifs.halo2d import Halo2d
from odonata.scenario.apps.motifs.halo3d import Halo3d
from odonata.scenario.apps.motifs.halo3d26 import Halo3d26
from odonata.scenario.apps.motifs.incast import Incast
from odonata.scenario.apps.motifs.motif import Motif
from odonata.scenario.apps.motifs.phases import Phases
from odonata.scenario.apps.motifs.ping_pong import PingPong
from odonata.scenario.apps.motifs.reduce import Reduce
from odonata.scenario.apps.motifs.sweep3d import Sweep3d
from odonata.scenario.apps.motifs.training import Training

#: All motifs by name.
MOTIFS: dict[str, type[Motif]] = {
    "ping-pong": PingPong,
    "halo2d": Halo2d,
    "halo3d": Halo3d,
    "halo3d26": Halo3d26,
    "sweep3d": Sweep3d,
    "fft3d": Fft3d,
    "all-to-all-linear": AllToAllLinear,
    "incast": Incast,
    "alltoall": Alltoall,
    "broadcast": Broadcast,
    "allreduce": Allreduce,
    "reduce": Reduce,
    "barrier": Barrier,
    "training": Training,
    "phases": Phases,
}

__all__ = ["MOTIFS", "Motif"]
