"""Makes a machine from a fabric, with notes on what was recognised, is missing, or was assumed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odonata import machine, units
from odonata.document import validate
from odonata.errors import InputError, shortened
from odonata.graphs.fabric import count, listed
from odonata.machine import core
from odonata.machine.host import overruled_lists
from odonata.machine.kinds import KINDS
from odonata.machine.sources import flat
from odonata.recognition import cabling, groups, hosts, remarks, stated
from odonata.recognition.group_links import GroupLinks
from odonata.recognition.tree_links import TreeLinks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.graphs.fabric import Fabric
    from odonata.machine import System
    from odonata.machine.kinds import MachineTable
    from odonata.recognition.layout import Layout

#: Kind -> the preset that gives the numbers that do not follow from cables, if no other source does: the preset of this
#: kind with the best documented links and routers.
LIKE = {"dragonfly-plus": "leonardo", "dragonfly": "lumi", "cascade": "theta", "fat-tree": "summit"}
#: Keys of `fabric` that a system may leave out.
OPTIONAL = ("header", "flit", "switching", "router", "congestion_control")


@dataclass
class Recognised:
    """A machine that was recognised in a file."""

    file: str
    """The file that was read."""
    format: str
    """Its format."""
    table: dict[str, Any]
    """The machine's table, for `[system]` of a scenario."""
    sources: dict[str, str]
    """The source of each number."""
    facts: list[tuple[str, str]]
    """What was recognised: name and value."""
    notes: list[str]
    """What was left out or assumed."""
    nodes: list[str | None] = field(default_factory=list)
    """Host of each node; None for a place without a host."""
    routers: list[str | None] = field(default_factory=list)
    """Switch of each router; None if it is missing or has no name."""

    @property
    def assumed(self) -> list[tuple[str, str, str]]:
        """Numbers that the file does not give: key, value, source."""
        values = flat(self.table)
        rows = [(key, values[key], source) for key, source in self.sources.items() if source.startswith("assumed")]
        return [(key, str(value), source) for key, value, source in rows]

    def system(self) -> System:
        """The machine.

        Returns
        -------
        System

        Raises
        ------
        InputError
            If it cannot be simulated.
        """
        return machine.load(self.table | {"sources": self.sources})


def recognise(fabric: Fabric, file: str, like: str | None = None) -> Recognised:
    """Recognise the machine of a fabric.

    Parameters
    ----------
    fabric
        Switches, hosts and cables.
    file
        The name of the file, for the sources of numbers.
    like
        The system that gives the numbers of links and routers that the file does not give; also its kind, which
        distinguishes the single group of a Dragonfly+ from a fat tree of two levels.

    Raises
    ------
    InputError
        For a fabric that is not a Dragonfly+, dragonfly, cascade or fat tree, or that cannot be simulated.
    """
    _check_remarks(fabric)
    base = None if like is None else machine.load(like)
    said = fabric.remarks.get("kind") if base is None else base.table.kind
    layout = stated.layout_of(fabric) or groups.recognised(fabric, one_group=said)
    if base is not None and base.table.kind != layout.kind:
        message = f"`{like}` is a {base.table.kind}, but the file describes a {layout.kind}"
        raise InputError(message, hint="name a system of the same kind")
    nodes = layout.nodes or hosts.numbered(fabric, layout)
    links = TreeLinks(fabric, layout) if layout.kind == "fat-tree" else GroupLinks(fabric, layout)
    table: dict[str, Any] = {"kind": layout.kind, **layout.sizes, **links.keys, **nodes.keys}
    absent = {router for router, switch in enumerate(layout.routers) if switch is None}
    absent |= {n for n, s in enumerate(layout.routers) if s is not None and fabric.switches[s].failed}
    if layout.stated is not None:
        table, words = stated.cabled(layout, links, absent)
    else:
        joined = _joined(fabric, layout, links)
        table |= joined.keys
        words = joined.words
    try:
        wired = core.describe(_topology(table))
    except InputError as e:
        raise InputError(f"it looks like a {layout.kind}, but {e.message}", hint=e.hint) from None
    dead, extra = cabling.failures(wired, [*links.inside, *links.between], absent)
    table, sources = _numbers(table, fabric, layout, links, nodes.links_of_node, file, base)
    result = Recognised(
        file,
        fabric.format,
        table,
        sources,
        [],
        [*fabric.notes, *layout.notes, *nodes.notes, *links.notes],
        nodes.names,
        [None if s is None else fabric.switches[s].name for s in layout.routers],
    )
    if extra:
        result.notes.append(_beyond(extra, wired["routers"], result.routers, inside=layout.kind != "fat-tree"))
    fail(result, dead, absent, nodes.failed)
    result.facts = facts_of(result, words)
    checked(result)
    return result


def _joined(fabric: Fabric, layout: Layout, links: GroupLinks | TreeLinks) -> cabling.Joined:
    """How the groups are joined."""
    if isinstance(links, TreeLinks):
        return cabling.Joined({}, links.words(layout))
    ports = fabric.remarks.get(cabling.ports_key(layout.kind))
    return cabling.joined(
        layout.kind,
        layout.sizes,
        layout.group_of(),
        links.between,
        ports if isinstance(ports, int) and not isinstance(ports, bool) else None,
        {key: fabric.remarks[key] for key in remarks.RULE if key in fabric.remarks},
        {router for router, switch in enumerate(layout.routers) if switch is None},
    )


def checked(result: Recognised) -> None:
    """Raises InputError if the machine cannot be simulated."""
    try:
        result.system().describe()
    except InputError as e:
        raise InputError(
            f"it looks like a {result.table['kind']}, but one that cannot be simulated: {e.message}", hint=e.hint
        ) from None


def fail(result: Recognised, links: Sequence[str], routers: set[int], nodes: set[int]) -> None:
    """Writes missing parts into the table."""
    table = _model(result.table)
    on_failed = {node for router in routers for node in table.nodes_of_router(router)}
    failed: dict[str, list[Any]] = {}
    if links:
        failed["links"] = list(links)
        result.sources["failed.links"] = f"not in {result.file}"
    if routers:
        failed["routers"] = sorted(routers)
        result.sources["failed.routers"] = f"not in {result.file}"
    if left := sorted(nodes - on_failed):
        failed["nodes"] = _ranges(left)
        result.sources["failed.nodes"] = f"no host in {result.file}"
    if failed:
        result.table["failed"] = failed


def _model(table: Mapping[str, Any]) -> MachineTable:
    """The table without failures. Raises InputError for an invalid value."""
    kind = KINDS[table["kind"]]
    return validate(kind, kind.completed({key: value for key, value in table.items() if key != "failed"}))


def _topology(table: dict[str, Any]) -> dict[str, Any]:
    """The topology of a table without the properties of links."""
    links = {name: {"bandwidth": "1 GB/s"} for name in KINDS[table["kind"]].classes_of(table)}
    return _model(table | {"fabric": {"links": links}}).topology()


def _check_remarks(fabric: Fabric) -> None:
    known: tuple[str, ...] = (*remarks.NUMBERS, *remarks.TABLES)
    more = stated.keys(fabric.remarks)
    for key in fabric.remarks:
        if key not in known and key not in more:
            message = f"a comment of Odonata gives `{shortened(key, 60)}`, which this file shows itself"
            raise InputError(message, hint=f"known here: {', '.join(known)}")
    kind = fabric.remarks.get("kind")
    if kind is not None and kind not in KINDS:
        raise InputError(f"a comment of Odonata gives the kind `{shortened(str(kind), 60)}`", hint=", ".join(KINDS))


def _beyond(extra: Counter[int], routers: int, names: Sequence[str | None], *, inside: bool) -> str:
    """The cables of the fabric that the machine lacks; with `inside`, only those inside groups."""
    where = " inside groups" if inside else ""
    pairs = [f"{names[pair // routers]} to {names[pair % routers]}" for pair in extra]
    return f"{count(extra.total(), 'cable')} more{where} than between other switches: {listed(pairs)}; left out"


def _ranges(nodes: Sequence[int]) -> list[int | str]:
    runs: list[list[int]] = []
    for node in nodes:
        if runs and runs[-1][1] + 1 == node:
            runs[-1][1] = node
        else:
            runs.append([node, node])
    return [a if a == b else f"{a}-{b}" for a, b in runs]


def _numbers(
    table: dict[str, Any],
    fabric: Fabric,
    layout: Layout,
    links: GroupLinks | TreeLinks,
    links_of_node: int,
    file: str,
    base: System | None,
) -> tuple[dict[str, Any], dict[str, str]]:
    """The table with name, radix and the properties of links and routers, and the sources of all of these."""
    origin = f"recognised in {file} (confidence: high)" if layout.stated is None else remark(file)
    sources = dict.fromkeys((key for key in table if key != "kind"), origin)
    sized = {switch.ports for switch in fabric.switches if switch.ports is not None}
    said = dict(fabric.remarks)
    if len(sized) == 1:
        said.setdefault("radix", next(iter(sized)))
    for key in ("name", "title", "radix", "tgll_bandwidth"):
        if key in said:
            table[key] = said[key]
            sources[key] = f"in {file} (confidence: high)"
    table.setdefault("title", f"imported from {file}")
    speeds = {name: [(link.bandwidth, link.latency) for link in own] for name, own in links.by_class.items()}
    speeds["node"] = [(nic.bandwidth, nic.latency) for nic in fabric.nics]
    factors = {"node": links_of_node, "local": links.bundle if layout.kind == "dragonfly-plus" else 1}
    read: dict[str, dict[str, Any]] = {}
    for name, values in speeds.items():
        read[name] = {}
        for at, (key, text) in enumerate((("bandwidth", units.format_bandwidth), ("latency", units.format_time))):
            known = Counter(value[at] for value in values if value[at] is not None)
            if not known:
                continue
            number, often = known.most_common(1)[0]
            factor = factors.get(name, 1) if key == "bandwidth" else 1
            read[name][key] = text((number or 0) * factor)
            sources[f"fabric.links.{name}.{key}"] = f"in {file} (confidence: high)"
            if often < known.total():
                others = count(known.total() - often, "link")
                links.notes.append(f"{others} of class `{name}` with another {key}: taken as {text(number or 0)}")
    given = {"links": {name: values for name, values in read.items() if values}}
    like = base or machine.load(LIKE[layout.kind])
    table["fabric"], more = filled_fabric(given, said.get("fabric"), file, like, table)
    usual = dict(like.document()["host"])
    for key in overruled_lists(said.get("host", {})):
        usual.pop(key, None)
    table["host"], of_host = filled("host", usual, ((said.get("host"), remark(file)),), like)
    more |= of_host
    for key in ("name", "title"):
        sources.pop(key, None)
    try:
        _model(table).check()
    except InputError as e:
        if e.path != ("radix",):
            raise
        # Some switches are listed with fewer ports than a router of the machine may use.
        del table["radix"], sources["radix"]
    return table, more | {key: text for key, text in sources.items() if not key.startswith("fabric.") or key in more}


def filled_fabric(
    given: dict[str, Any], said: Any, file: str, like: System, table: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Properties of links and routers: from comments, from the file, or from the system `like`."""
    fabric = like.document()["fabric"]
    fabric["links"] = links_of(fabric["links"], table)
    if int(table.get("rails", 1)) == 1:
        fabric.get("nic", {}).pop("rail", None)
    if isinstance(said, dict) and "packet" in said:
        # A file of Odonata is complete. Keys that it leaves out have the default of the model.
        fabric = {key: value for key, value in fabric.items() if key in said or key not in OPTIONAL}
    return filled("fabric", fabric, ((said, remark(file)), (given, f"in {file} (confidence: high)")), like)


def links_of(links: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of the classes of links of a machine. If `like` is a fat tree of two levels and the machine has
    three, links to cores are like those to leaves."""
    return {name: dict(links.get(name, links.get("leaf", {}))) for name in KINDS[table["kind"]].classes_of(table)}


def remark(file: str) -> str:
    """The source of a number that a comment of Odonata gives."""
    return f"a comment of Odonata in {file}"


def as_in(system: str, source: str | None) -> str:
    """The source of a number that is assumed to be that of a system, where it has this source."""
    if source is not None and source.startswith("assumed: "):
        return f"assumed: as in {system}, where it is {source}"
    return f"assumed: as in {system}: {source or 'no source given'}"


def filled(
    name: str, usual: dict[str, Any], stated: Sequence[tuple[Any, str]], like: System
) -> tuple[dict[str, Any], dict[str, str]]:
    """A table of numbers with their sources: the numbers of the system `like`, replaced where the file states
    others."""
    numbers = json.loads(json.dumps(usual))
    origin = {row.key: row.source for row in like.sources}
    sources = {f"{name}.{key}": as_in(like.name, origin.get(f"{name}.{key}")) for key in flat(numbers)}
    for values, source in stated:
        if not isinstance(values, dict):
            continue
        for key, value in flat(values).items():
            here = numbers
            *path, last = key.split(".")
            for step in path:
                here = here.setdefault(step, {})
                if not isinstance(here, dict):
                    raise InputError(f"a comment of Odonata gives `{name}.{shortened(key, 60)}`, which is no table")
            here[last] = value
            sources[f"{name}.{key}"] = source
    return numbers, sources


def facts_of(result: Recognised, cables: str) -> list[tuple[str, str]]:
    """What was recognised, in words; `cables` describes how the groups are joined."""
    system = result.system()
    wired = system.describe()
    group = system.table.group_name
    hosts_there = sum(name is not None for name in result.nodes)
    rows = [
        ("topology", result.table["kind"]),
        ("nodes", f"{hosts_there:,}" + ("" if hosts_there == wired["nodes"] else f" on {wired['nodes']:,} places")),
        ("routers", f"{wired['routers']:,}"),
        (f"{group}s", f"{wired['groups']:,}"),
        ("links", ", ".join(f"{number:,} {name}" for name, number in wired["links"].items())),
        (f"between {group}s", cables),
    ]
    failed = result.table.get("failed", {})
    unusable = len(system.unusable_nodes)
    parts = [count(len(failed.get(key, ())), what) for key, what in (("links", "cable"), ("routers", "router"))]
    parts = [part for part in parts if not part.startswith("0 ")]
    parts += [f"{count(unusable, 'place')} for nodes"] if unusable else []
    rows.append(("missing", ", ".join(parts) or "nothing"))
    if any(source.startswith("a comment of Odonata") for source in result.sources.values()):
        rows.append(("other numbers", "from comments of Odonata in the file"))
    return rows
