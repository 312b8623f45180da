"""The applications that a scenario can name. Each is imported when it is looked up."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from odonata.errors import InputError, unknown
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
        "training": "training.Training",
        "phases": "phases.Phases",
        **SKELETONS.where,
    },
)
#: Another name of a pattern in the literature -> its name.
PATTERN_ALIASES = {"worst-case": "group-shift"}
#: Collectives that were motifs too -> the algorithm that these had, which is that of SST for Zhang 2018.
FORMER_MOTIFS = {
    "alltoall": "linear-shift",
    "broadcast": "binary",
    "allreduce": "binary",
    "reduce": "binary",
    "barrier": "binary",
}
#: The key that says what kind of application a table is -> all of the kind by name.
KINDS: dict[str, Mapping[str, "type[App]"]] = {"pattern": PATTERNS, "collective": COLLECTIVES, "motif": MOTIFS}
#: The key that names a file -> what is read from it.
FILES: Mapping[str, "type[Program]"] = ByName(
    __package__,
    {"trace": "trace.Trace", "matrix": "matrix.Matrix", "chakra": "chakra.Chakra", "flows": "flows.Flows"},
)
#: The key that holds a table of its own -> what is read from it.
TABLES: Mapping[str, "type[Program]"] = ByName(__package__, {"train": "train.app.Train", "serve": "serve.Serve"})


def own_name(key: str, name: object) -> object:
    """The name of a pattern that stands at the key by another one; any other name as it is."""
    return PATTERN_ALIASES.get(name, name) if key == "pattern" and isinstance(name, str) else name


def named(key: str, name: object, kinds: Iterable[str]) -> "type[App]":
    """The application with the name that stands at the key, one of `kinds`.

    Raises InputError (path: the key), which says where else among `kinds` the name stands.
    """
    if not isinstance(name, str):
        raise InputError(f"expected the name of a {key}, found `{name!r}`", path=(key,))
    if name in KINDS[key]:
        return KINDS[key][name]
    error = unknown(key, name, [*KINDS[key], *(PATTERN_ALIASES if key == "pattern" else ())])
    other = next((kind for kind in kinds if name in KINDS[kind]), None)
    hint = f'`{name}` is a {other}: {other} = "{name}"' if other else error.hint
    if key == "motif" and name in FORMER_MOTIFS:
        hint = f'write collective = "{name}", algorithm = "{FORMER_MOTIFS[name]}", which sends the same messages'
        raise InputError(f"`{name}` is a collective, not a motif", hint=hint, path=(key,))
    raise InputError(error.message, hint=hint, path=(key,))


def file_key(app: "App") -> str | None:
    """The key of an application that names its file; None if it has no file."""
    return next((key for key in FILES if key in type(app).model_fields), None)
