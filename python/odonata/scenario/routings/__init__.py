"""Routings and their options as a scenario names them: one file for each family, listed in `ROUTINGS`.

Each knows its kinds of machines. `DEFAULTS` has the routing of a machine for scenarios that name none. `docs/model.md`,
section 6, defines the routings; `docs/routings.md` has the table.
"""

from collections.abc import Mapping
from typing import Any

from odonata.errors import InputError, unknown
from odonata.lazy import ByName
from odonata.machine import System, load
from odonata.scenario.routings.routing import LISTED, Routing

#: Routings with a class of their own: the name in a scenario -> its place.
_OWN = {
    "valiant": "dragonfly.Valiant",
    "fpar": "dragonfly.Fpar",
    "ugal-l": "dragonfly.UgalL",
    "ugal-g": "dragonfly.UgalG",
    "par": "dragonfly.Par",
    "adaptive-local": "dragonfly.AdaptiveLocal",
    "adaptive-0": "aries.Adaptive0",
    "adaptive-1": "aries.Adaptive1",
    "adaptive-2": "aries.Adaptive2",
    "adaptive-3": "aries.Adaptive3",
    "min-hash": "aries.MinHash",
    "nmin-hash": "aries.NminHash",
    "in-order": "aries.InOrder",
    "application-aware": "application_aware.ApplicationAware",
    "omni-war": "hyperx.OmniWar",
    "custom": "custom.Custom",
    "q-adaptive": "custom.QAdaptive",
}
#: Routing of the core -> its names in a scenario, if they differ.
_NAMES = {
    "ugal": ("ugal-l", "ugal-g"),
    "custom": ("custom", "q-adaptive"),
    "aries": tuple(name for name, place in _OWN.items() if "aries." in place),
}


class _Routings(ByName[type[Routing]]):
    """The routings of the core's list, in its order. Those without a class of their own are made from the list."""

    def __init__(self) -> None:
        super().__init__(__name__, {name: _OWN.get(name, "") for of in LISTED for name in _NAMES.get(of, (of,))})

    def __getitem__(self, name: str) -> type[Routing]:
        return super().__getitem__(name) if self.where[name] else _listed(name)


def _listed(name: str) -> type[Routing]:
    from odonata.scenario.routings.listed import routing

    return routing(name)


#: All routings by name.
ROUTINGS: ByName[type[Routing]] = _Routings()

#: Those whose functions are in the core.
BUILT_IN = tuple(name for name, where in ROUTINGS.where.items() if not where.startswith("custom."))
#: The modes of Cray's Aries, each a routing.
ARIES_MODES = tuple(name for name, where in ROUTINGS.where.items() if where.startswith("aries."))
#: Another name of a routing -> its name. `aries` is also a table with the key `mode`.
ALIASES = {"aries": "adaptive-0"}

#: Kind of machine, or interconnect -> the routing of a scenario that names none. On a Dragonfly+, the routing made for
#: it (Shpiner 2017; Kang 2019, section 3.1.2). On a dragonfly, the most common published baseline (Kim 2008; assumed).
#: On a cascade, the default of Aries (De Sensi 2019, section 2.2). On Slingshot, see `OPTIONS`. On a fat tree, the only
#: one, adaptive. On a graph, shortest paths (assumed). On a HyperX, the one of the two of McDonald 2019 that uses every
#: dimension at once (assumed). On HDR InfiniBand, minimal paths by load: what placements of two jobs on Leonardo show
#: (validation/placement.md#leonardo).
DEFAULTS: dict[str, str] = {
    "dragonfly-plus": "fpar",
    "dragonfly": "ugal-l",
    "cascade": "adaptive-0",
    "slingshot": "ugal-l",
    "hdr-infiniband": "minimal",
    "fat-tree": "up-down",
    "hyperx": "omni-war",
    "graph": "minimal",
}

#: Interconnect -> options of its default routing. A Slingshot switch compares up to four minimal and non-minimal paths
#: for each packet by congestion and length, with a bias towards minimal ones (De Sensi 2020). How many of
#: each kind, and the bias, are assumed: two, and 1/8 of the buffer of a link. That packets may leave the one minimal
#: path between two switches of a group is as on Aries, its predecessor, and what LUMI shows
#: (validation/interference.md#lumi).
OPTIONS: dict[str, dict[str, Any]] = {
    "slingshot": {"inside": "router", "minimal_candidates": 2, "other_candidates": 2, "bias": "8 KiB"},
    "hdr-infiniband": {"select": "least-loaded"},
}


def by_own_name(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table of a routing with the name that `ROUTINGS` has: that of its mode for `aries`.

    Raises InputError (path `mode`) for what is no mode.
    """
    name = table.get("name")
    if not isinstance(name, str) or name not in ALIASES:
        return table
    mode = table.get("mode", ALIASES[name])
    if mode not in ARIES_MODES:
        error = unknown("mode", str(mode), ARIES_MODES)
        raise InputError(error.message, hint=error.hint, path=("mode",))
    return {"name": mode, **{key: value for key, value in table.items() if key not in ("name", "mode")}}


def named_table(usual: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table of a routing with these options, which is the usual one if they have no `name`.

    Raises InputError (path `mode`) for what is no mode.
    """
    of_aries = usual in ARIES_MODES and "mode" in options
    return by_own_name({"name": "aries" if of_aries else usual, **options})


def routings_of(kind: str) -> list[str]:
    """Names of the built-in routings for that kind of machine; those whose functions come from files are not."""
    return [name for name in BUILT_IN if kind in ROUTINGS[name].kinds]


def names(system: str | System | None = None) -> list[str]:
    """List the routings.

    Parameters
    ----------
    system
        A machine, by name or loaded: only routings for its kind. By default all.

    Returns
    -------
    list of str
        Names as `routing` of a scenario takes them.

    Raises
    ------
    InputError
        For an unknown machine.

    Examples
    --------
    >>> import odonata as od
    >>> od.routings("kang2019")
    ['minimal', 'valiant', 'prog-adaptive', 'fpar']
    """
    if system is None:
        return list(ROUTINGS)
    return routings_of((load(system) if isinstance(system, str) else system).table.kind)


def on_system(routing: Routing, system: System, compat: str | None) -> Routing:
    """The routing with all its defaults for this machine.

    Raises InputError, whose path leads into the routing's table, if the routing or an option does not fit the machine.
    """
    kind = system.table.kind
    if kind not in routing.kinds:
        message = f"the routing `{routing.name}` is for {' and '.join(routing.kinds)}, not for a {kind}"
        raise InputError(message, hint=f"routings for a {kind}: {', '.join(routings_of(kind))}", path=("name",))
    return routing.decided(system, compat)


def check_channels(routing: Routing, system: System, whose: str = "") -> None:
    """Raises InputError (without a path) if packets of this routing could wait for each other in a cycle.

    `whose` follows the routing's name. After failures a routing may need more channels; the core checks that.
    """
    have, needed = system.fabric["channels"], routing.channels_needed(system)
    if have < needed:
        via = " via router" if getattr(routing, "via", None) == "router" else ""
        raise InputError(
            f"the routing `{routing.called}`{via}{whose} needs {needed} virtual channels, the fabric has {have}",
            hint=f"set channels = {needed} in [fabric]",
        )


__all__ = [
    "ALIASES",
    "ARIES_MODES",
    "DEFAULTS",
    "OPTIONS",
    "ROUTINGS",
    "Routing",
    "by_own_name",
    "check_channels",
    "named_table",
    "names",
    "on_system",
    "routings_of",
]
