"""The switches of a cluster as a machine for placement: leaf switches are routers, and switches above them form groups.

The module reads `topology.conf`, `topology.yaml` and the output of `scontrol show topology`, of the plugins
`topology/tree` and `topology/block`, and what topograph writes (`topograph.py`).

- Tree: a switch with nodes is a router. Leaf switches under the same switch are a group (an island). A flat tree,
  in which one switch joins all leaves or none does, is one group.
- Slurm starts a job only on nodes whose switches are connected at some level. Switches that are not connected belong to
  different fabrics.
- Block: a block is a router. A group is an aggregated block of `scontrol`, or as many consecutive blocks as the second
  value of `BlockSizes`. Without either, all blocks are one group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.machine.shape import Shape
from odonata.queue import topograph, topology_yaml
from odonata.queue.hosts import expand, expand_field
from odonata.queue.slurm.record_output import PAIR
from odonata.reading import read_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Topology:
    """Groups of leaf switches with the names of their nodes, in the order of the file."""

    groups: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Group -> leaf switch -> nodes."""
    fabrics: tuple[frozenset[str], ...] = ()
    """The leaf switches of each fabric, if there are several; a job cannot span two fabrics."""

    @cached_property
    def parts(self) -> list[frozenset[int]]:
        """For each fabric, the numbers in `shape` of its nodes; a job stays in one fabric."""
        if len(self.fabrics) < 2:
            return [frozenset(self.ids.values())]
        fabric_of = {leaf: number for number, leaves in enumerate(self.fabrics) for leaf in leaves}
        parts: list[set[int]] = [set() for _ in self.fabrics]
        for leaves in self.groups.values():
            for leaf, nodes in leaves.items():
                parts[fabric_of[leaf]].update(self.ids[node] for node in nodes)
        return [frozenset(part) for part in parts]

    @cached_property
    def nodes(self) -> list[str]:
        """All nodes, leaf by leaf and group by group."""
        return [node for leaves in self.groups.values() for leaf in leaves.values() for node in leaf]

    @cached_property
    def shape(self) -> Shape:
        """The smallest regular machine that holds the cluster: all leaves and groups have the size of the largest.

        Placement knows only regular machines. Nodes that the cluster lacks must be marked as not usable.
        """
        leaves = max(map(len, self.groups.values()))
        size = max(len(nodes) for group in self.groups.values() for nodes in group.values())
        return Shape(groups=len(self.groups), routers_per_group=leaves, nodes_per_router=size)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Node -> its number in `shape`."""
        shape = self.shape
        return {
            node: group * shape.nodes_per_group + leaf * shape.nodes_per_router + at
            for group, leaves in enumerate(self.groups.values())
            for leaf, nodes in enumerate(leaves.values())
            for at, node in enumerate(nodes)
        }

    @cached_property
    def missing(self) -> list[int]:
        """Numbers in `shape` without a node of the cluster."""
        there = set(self.ids.values())
        return [node for node in range(self.shape.nodes) if node not in there]

    def group_name(self, group: int) -> str:
        """The name of a group: the switch that joins its leaves.

        Parameters
        ----------
        group
            Its number, from 0.

        Returns
        -------
        str
        """
        return list(self.groups)[group]


def flat(nodes: Iterable[str]) -> Topology:
    """A cluster without known switches: one group with one leaf switch."""
    return Topology({"all": {"all": tuple(nodes)}})


def read_topology(file: str | Path) -> Topology:
    """Read the topology in a file.

    Parameters
    ----------
    file
        `topology.conf` or `topology.yaml`, or what `scontrol show topology` prints.

    Returns
    -------
    Topology

    Raises
    ------
    InputError
        For any other file, and for switches that contradict each other; with the line.
    """
    text = read_output(file)
    try:
        return parse_topology(text)
    except InputError as e:
        raise e.at(file, e.line) from None


def parse_topology(text: str) -> Topology:
    """The topology in a text. Raises InputError with the line."""
    parsed = parse_lines(text)
    if parsed.blocks:
        return _checked(_block_groups(parsed.blocks, parsed.joined, parsed.sizes))
    groups = _tree_groups(parsed.switches)
    return _checked(groups, _fabrics(parsed.switches))


def parse_lines(text: str) -> Lines:
    """Switches or blocks as the lines of a text give them. Raises InputError with the line."""
    switches: dict[str, Switch] = {}
    blocks: dict[str, tuple[str, ...]] = {}
    joined: list[tuple[int, str, tuple[str, ...]]] = []
    sizes: list[int] = []
    for line, pairs in _entries(text):
        try:
            if name := pairs.get("SwitchName"):
                _add(switches, Switch(line, name, _hosts(pairs, "Nodes"), _hosts(pairs, "Switches")))
            elif name := pairs.get("BlockName"):
                if name in blocks:
                    raise InputError(f"the block `{name}` is listed twice")
                blocks[name] = _hosts(pairs, "Nodes")
            elif name := pairs.get("AggregatedBlock"):
                joined.append((int(pairs.get("BlockSize", "0")), name, tuple(expand(name))))
            elif given := pairs.get("BlockSizes"):
                sizes = [int(size) for size in (given.split(",") if isinstance(given, str) else given)]
            else:
                raise InputError(
                    f"expected `SwitchName=` or `BlockName=`, found `{shortened(' '.join(pairs), 60) or 'no keys'}`",
                    hint="give topology.conf or topology.yaml, or what `scontrol show topology` prints",
                )
        except InputError as e:
            raise InputError(e.message, line=e.line or line or None, hint=e.hint) from None
        except ValueError:
            raise InputError("expected a number of nodes as size of a block", line=line) from None
    if switches and blocks:
        raise InputError("found switches and blocks; expected one kind")
    if not switches and not blocks:
        raise InputError("no switch and no block is listed")
    return Lines(switches, blocks, joined, sizes)


@dataclass(frozen=True)
class Switch:
    """A line of a tree, 0 if the form has no lines. `switches` keeps repetitions."""

    line: int
    name: str
    nodes: tuple[str, ...]
    switches: tuple[str, ...]


@dataclass(frozen=True)
class Lines:
    """The content of a file: switches, or blocks and their aggregation."""

    switches: dict[str, Switch]
    blocks: dict[str, tuple[str, ...]]
    joined: list[tuple[int, str, tuple[str, ...]]]
    sizes: list[int]


def _entries(text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    """The switches and blocks of a text, in the keys of `topology.conf`, each with its line, or 0."""
    if topograph.is_topograph(text):
        return topograph.entries(text)
    return topology_yaml.entries(text) if topology_yaml.is_yaml(text) else _lines(text)


def _lines(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines that are neither empty nor comments, with the keys in the spelling of the manual."""
    known = {key.lower(): key for key in ("SwitchName", "Nodes", "Switches", "BlockName", "BlockSizes", "BlockSize")}
    known["aggregatedblock"] = "AggregatedBlock"
    number, kept = 1, ""
    for at, row in enumerate(reading.lines(text), 1):
        kept = kept or ""
        number = number if kept else at
        bare = row.partition("#")[0].rstrip()
        if bare.endswith("\\"):
            kept += bare[:-1] + " "
            continue
        line, kept = kept + bare, ""
        if line.strip():
            yield number, {known.get(key.lower(), key): value for key, value in PAIR.findall(line)}


def _hosts(pairs: Mapping[str, Any], key: str) -> tuple[str, ...]:
    listed = pairs.get(key, "")
    if isinstance(listed, tuple):
        return listed
    hosts = expand_field(listed)
    # A switch that is named twice is an error, so repetitions are kept.
    return tuple(expand(listed)) if hosts and key == "Switches" else hosts


def _add(switches: dict[str, Switch], switch: Switch) -> None:
    if switch.name in switches:
        first = switches[switch.name].line
        where = "" if not first else f", first in line {first}"
        raise InputError(f"the switch `{switch.name}` is listed twice{where}")
    if not switch.nodes and not switch.switches:
        name = shortened(switch.name, 60)
        raise InputError(f"the switch `{name}` has neither `Nodes` nor `Switches`: the file may be cut")
    switches[switch.name] = switch


def _tree_groups(switches: Mapping[str, Switch]) -> dict[str, dict[str, tuple[str, ...]]]:
    # `scontrol` lists all nodes below a switch; only a switch without switches is a leaf.
    parent: dict[str, str] = {}
    for switch in switches.values():
        for child in switch.switches:
            if child not in switches:
                raise InputError(
                    f"the switch `{switch.name}` joins `{shortened(child, 60)}`, which is not listed",
                    line=switch.line or None,
                )
            parent.setdefault(child, switch.name)
    _check_leaves(switches)
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    for switch in switches.values():
        if not switch.switches:
            groups.setdefault(parent.get(switch.name, "all"), {})[switch.name] = switch.nodes
    if not groups:
        raise InputError("no switch has nodes")
    return groups


def _check_leaves(switches: Mapping[str, Switch]) -> None:
    """Raises InputError for a node that is listed at a switch above leaf switches and at no leaf."""
    on_leaves = {node for switch in switches.values() if not switch.switches for node in switch.nodes}
    if not on_leaves:
        return
    for switch in switches.values():
        if switch.switches and (own := [node for node in switch.nodes if node not in on_leaves]):
            more = f" and {len(own) - 1:,} more" if len(own) > 1 else ""
            raise InputError(
                f"the switch `{shortened(switch.name, 60)}` has both `Switches=` and nodes that are on no leaf switch: "
                f"`{shortened(own[0], 60)}`{more}",
                line=switch.line or None,
                hint="nodes are on switches without `Switches=`: give these a leaf switch of their own",
            )


def _fabrics(switches: Mapping[str, Switch]) -> tuple[frozenset[str], ...]:
    """The leaf switches of each fabric, in the order of the file."""
    near: dict[str, list[str]] = {name: list(switch.switches) for name, switch in switches.items()}
    for name, switch in switches.items():
        for child in switch.switches:
            near[child].append(name)
    seen: set[str] = set()
    fabrics = []
    for start in switches:
        if start in seen:
            continue
        seen.add(start)
        part = [start]
        for switch_name in part:
            for far in near[switch_name]:
                if far not in seen:
                    seen.add(far)
                    part.append(far)
        fabrics.append(frozenset(name for name in part if not switches[name].switches))
    return tuple(fabric for fabric in fabrics if fabric)


def _block_groups(
    blocks: Mapping[str, tuple[str, ...]], joined: list[tuple[int, str, tuple[str, ...]]], sizes: list[int]
) -> dict[str, dict[str, tuple[str, ...]]]:
    names = list(blocks)
    if joined:
        smallest = min(size for size, _, _ in joined)
        groups = {name: [b for b in members if b in blocks] for size, name, members in joined if size == smallest}
        held = {block for members in groups.values() for block in members}
        rest = [name for name in names if name not in held]
        groups |= {"other blocks": rest} if rest else {}
    elif len(sizes) > 1 and sizes[0] > 0:
        run = max(1, sorted(sizes)[1] // min(sizes))
        parts = [names[at : at + run] for at in range(0, len(names), run)]
        groups = {f"{part[0]} to {part[-1]}" if len(part) > 1 else part[0]: part for part in parts}
    else:
        groups = {"all": names}
    return {name: {block: blocks[block] for block in members} for name, members in groups.items() if members}


def _checked(groups: dict[str, dict[str, tuple[str, ...]]], fabrics: tuple[frozenset[str], ...] = ()) -> Topology:
    seen: dict[str, str] = {}
    for leaves in groups.values():
        for leaf, nodes in leaves.items():
            for node in nodes:
                if seen.get(node) == leaf:
                    raise InputError(f"the node `{node}` is listed twice on `{leaf}`")
                if node in seen:
                    raise InputError(f"the node `{node}` is on `{seen[node]}` and on `{leaf}`; expected one of them")
                seen[node] = leaf
    if not seen:
        raise InputError("no switch has nodes")
    return Topology(groups, fabrics)
