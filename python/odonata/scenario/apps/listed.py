"""The applications that a scenario can name. Each is imported when it is looked up."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odonata.lazy import ByName

if TYPE_CHECKING:
    from odonata.scenario.apps.app import App, Motif, Program
    from odonata.scenario.apps.collectives import Collective
    from odonata.scenario.apps.patterns import Pattern
    from odonata.scenario.apps.skeletons.skeleton import Skeleton

#: All traffic patterns by name.
PATTERNS: Mapping[str, "type[Pattern]"] = ByName(
    __package__,
    {
        "uniform-random": "patterns.UniformRandom",
        "stencil-3d": "patterns.Stencil3d",
        "tornado": "patterns.Tornado",
        "broadcast": "patterns.Broadcast",
        "group-peers": "patterns.GroupPeers",
        "group-shift": "patterns.GroupShift",
        "worst-case": "patterns.GroupShift",
    },
)
#: All collectives by name.
COLLECTIVES: Mapping[str, "type[Collective]"] = ByName(
    __package__,
    {
        "broadcast": "collectives.Broadcast",
        "reduce": "collectives.Reduce",
        "allreduce": "collectives.Allreduce",
        "allgather": "collectives.Allgather",
        "reduce-scatter": "collectives.ReduceScatter",
        "alltoall": "collectives.Alltoall",
        "barrier": "collectives.Barrier",
    },
)
#: Skeletons of applications by name; they are motifs too.
SKELETONS: ByName["type[Skeleton]"] = ByName(
    __package__,
    {
        "hpcg": "skeletons.hpcg.Hpcg",
        "lammps": "skeletons.lammps.Lammps",
        "milc": "skeletons.milc.Milc",
        "nekbone": "skeletons.nekbone.Nekbone",
        "wrf": "skeletons.wrf.Wrf",
    },
)
#: All motifs by name.
MOTIFS: Mapping[str, "type[Motif]"] = ByName(
    __package__,
    {
        "ping-pong": "motifs.PingPong",
        "halo2d": "halos.Halo2d",
        "halo3d": "halos.Halo3d",
        "halo3d26": "halos.Halo3d26",
        "sweep3d": "motifs.Sweep3d",
        "fft3d": "motifs.Fft3d",
        "all-to-all-linear": "motifs.AllToAllLinear",
        "incast": "motifs.Incast",
        "alltoall": "motifs.Alltoall",
        "broadcast": "motifs.Broadcast",
        "allreduce": "motifs.Allreduce",
        "reduce": "motifs.Reduce",
        "barrier": "motifs.Barrier",
        "training": "training.Training",
        "phases": "phases.Phases",
        **SKELETONS.where,
    },
)
#: The key that says what kind of application a table is -> all of the kind by name.
KINDS: dict[str, Mapping[str, "type[App]"]] = {"pattern": PATTERNS, "collective": COLLECTIVES, "motif": MOTIFS}
#: The key that names a file -> what is read from it.
FILES: Mapping[str, "type[Program]"] = ByName(
    __package__, {"trace": "trace.Trace", "matrix": "matrix.Matrix", "chakra": "chakra.Chakra"}
)
#: The key that holds a table of its own -> what is read from it.
TABLES: Mapping[str, "type[Program]"] = ByName(__package__, {"train": "train.app.Train", "serve": "serve.Serve"})


def file_key(app: "App") -> str | None:
    """The key of an application that names its file; None if it has no file."""
    return next((key for key in FILES if key in type(app).model_fields), None)
