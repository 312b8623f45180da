"""Topologies of NVIDIA's topograph: its models (YAML), and the JSON of its engine `graph`.

- A model has `switches`, each with its child switches. Nodes are at their switch, or in `capacity_blocks` that a switch
  names, or in `blocks`, each with its switch (three generations of the form). Without switches, a block is a leaf.
- The engine lists instances, each with the switches from its leaf up (`network_layers`).

Its engine `slurm` writes `topology.conf` and `topology.yaml`, which are read as those of Slurm. Source: the pages
"Modeling and API Simulation" and "Topograph Graph Engine" of topograph's documentation.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.queue.hosts import expand_field
from odonata.queue.topology_yaml import line_of, list_of, read_yaml, table_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator


NO_SWITCH = "no-switch"
"""The leaf switch of nodes that have none; it is joined to no other."""


def is_topograph(text: str) -> bool:
    """Whether a text is a topology of topograph."""
    if text.lstrip().startswith("{"):
        return '"network_layers"' in text and '"instances"' in text
    return re.search(r"^(switches|capacity_blocks|blocks):\s*(#.*)?$", text, re.MULTILINE) is not None


def entries(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Switches or blocks with the keys of `topology.conf`, each with its line (0 in JSON).

    Raises InputError with the line.
    """
    if text.lstrip().startswith("{"):
        yield from _of_graph(reading.parse_json(text))
        return
    model = table_of(read_yaml(text), "a model with `switches`")
    blocks = _capacity_blocks(model)
    if "switches" in model:
        yield from _switches(model, blocks)
        return
    if "blocks" in model:
        for line, switch, name, nodes in _blocks(model["blocks"]):
            yield line, {"BlockName": name or switch or f"block in line {line}", "Nodes": nodes}
        return
    for name, (line, nodes) in blocks.items():
        if nodes:
            yield line, {"BlockName": name, "Nodes": nodes}


def _switches(
    model: dict[str, Any], blocks: dict[str, tuple[int, tuple[str, ...]]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    lines: dict[str, int] = {}
    nodes: dict[str, list[str]] = {}
    children: dict[str, tuple[str, ...]] = {}
    for line, name, node in _named(model["switches"], "switch"):
        switch = table_of(node, "a switch")
        if name in lines:
            raise InputError(_twice("switch", name, lines[name]), line=line)
        lines[name] = line
        nodes[name] = list(_names(switch.get("nodes"), "nodes"))
        children[name] = _names(switch.get("switches"), "switches")
        for block in _names(switch.get("capacity_blocks"), "capacity blocks"):
            if block not in blocks:
                message = f"the switch `{shortened(name, 60)}` has the capacity block `{shortened(block, 60)}`, "
                raise InputError(f"{message}which is not listed", line=line)
            nodes[name] += blocks[block][1]
    if "blocks" in model:
        listed = set(lines)
        for line, switch_name, block_name, of_block in _blocks(model["blocks"]):
            if not switch_name and block_name in listed:
                message = f"the block `{shortened(block_name, 60)}` has no `switch`, and the name of a switch"
                raise InputError(message, line=line, hint=f"switch: {shortened(block_name, 60)}")
            leaf = switch_name or block_name or NO_SWITCH
            lines.setdefault(leaf, line)
            nodes.setdefault(leaf, []).extend(of_block)
        # In this generation leaves need not be listed, and places may be empty.
        used = {name for name in lines if nodes.get(name) or children.get(name)}
        children = {name: tuple(child for child in of if child in used) for name, of in children.items()}
    for name, line in lines.items():
        if "blocks" in model and not nodes.get(name) and not children.get(name):
            continue
        yield line, {"SwitchName": name, "Nodes": tuple(nodes.get(name, ())), "Switches": children.get(name, ())}


def _blocks(node: Any) -> Iterator[tuple[int, str, str, tuple[str, ...]]]:
    """Line, switch, name and nodes of each block; switch and name are empty if it has none."""
    first: dict[str, int] = {}
    for entry in list_of(node, "a list of blocks"):
        block, line = table_of(entry, "a block"), line_of(entry)
        switch = text_of(block["switch"], "the name of a switch") if "switch" in block else ""
        name = text_of(block["name"], "the name of a block") if "name" in block else ""
        if name and first.setdefault(name, line) != line:
            raise InputError(_twice("block", name, first[name]), line=line)
        yield line, switch, name, _names(block.get("nodes"), "nodes")


def _twice(what: str, name: str, first: int) -> str:
    return f"the {what} `{shortened(name, 60)}` is listed twice, first in line {first}"


def _capacity_blocks(model: dict[str, Any]) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Capacity block -> its line and nodes: those that it lists, and those that name it."""
    listed: dict[str, list[str]] = {}
    if "nodes" in model and model["nodes"].id == "mapping":
        known: dict[str, int] = {}
        for line, name, node in _named(model["nodes"], "node"):
            of = table_of(node, "a node") if node.id == "mapping" else {}
            if name in known:
                raise InputError(_twice("node", name, known[name]), line=line)
            known[name] = line
            if "capacity_block" in of:
                listed.setdefault(text_of(of["capacity_block"], "the name of a block"), []).append(name)
    made: dict[str, tuple[int, tuple[str, ...]]] = {}
    if "capacity_blocks" in model:
        for line, name, node in _named(model["capacity_blocks"], "capacity block"):
            if name in made:
                raise InputError(_twice("capacity block", name, made[name][0]), line=line)
            block = table_of(node, "a capacity block") if node.id == "mapping" else {}
            nodes = dict.fromkeys([*_names(block.get("nodes"), "nodes"), *listed.get(name, ())])
            made[name] = line, tuple(nodes)
    return made


def _named(node: Any, what: str) -> Iterator[tuple[int, str, Any]]:
    """Line, name and content of each entry: of a table, or of a list whose entries have a `name`."""
    if node.id == "sequence":
        for entry in list_of(node, f"a list of entries, each a {what}"):
            table = table_of(entry, f"a {what}")
            if "name" not in table:
                raise InputError(f"a {what} has no `name`", line=line_of(entry))
            yield line_of(entry), text_of(table["name"], "a name"), entry
        return
    table_of(node, f"a table, with the name of each {what}")
    for key, entry in node.value:
        yield line_of(key), text_of(key, "a name"), entry


def _names(node: Any, what: str) -> tuple[str, ...]:
    if node is None or (node.id == "scalar" and node.value in ("", "null", "~")):
        return ()
    names: list[str] = []
    seen: set[str] = set()
    for entry in list_of(node, f"a list of {what}"):
        try:
            added = expand_field(text_of(entry, f"a name of {what}"))
        except InputError as e:
            raise e.but(line=e.line or line_of(entry)) from None
        for name in added:
            if name in seen:
                raise InputError(f"`{shortened(name, 60)}` is listed twice under the same {what}", line=line_of(entry))
            seen.add(name)
        names += added
    return tuple(names)


def _of_graph(graph: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    instances = graph.get("instances") if isinstance(graph, dict) else None
    if not isinstance(instances, list):
        raise InputError("expected a list under `instances`")
    nodes: dict[str, list[str]] = {}
    children: dict[str, dict[str, None]] = {}
    parent: dict[str, str] = {}
    for at, instance in enumerate(instances):
        name, layers = _instance(instance, at)
        nodes.setdefault(layers[0], []).append(name)
        for below, above in pairwise(layers):
            if parent.setdefault(below, above) != above:
                both = f"`{shortened(parent[below], 60)}` and `{shortened(above, 60)}`"
                raise InputError(f"the switch `{shortened(below, 60)}` is below {both}; expected one of them")
            children.setdefault(above, {})[below] = None
    if not nodes:
        raise InputError("`instances` is empty")
    for switch in dict.fromkeys([*nodes, *children]):
        joined = tuple(children.get(switch, ()))
        yield 0, {"SwitchName": switch, "Nodes": tuple(nodes.get(switch, ())), "Switches": joined}


def _instance(instance: Any, at: int) -> tuple[str, list[str]]:
    where = f"instances[{at}]"
    if not isinstance(instance, dict):
        raise InputError(f"{where}: expected an object with `id` and `network_layers`")
    name, layers = instance.get("id"), instance.get("network_layers")
    if not isinstance(name, str) or not name:
        raise InputError(f"{where}: expected a text under `id`")
    if not isinstance(layers, list) or not layers or not all(isinstance(layer, str) and layer for layer in layers):
        message = f"{where} (`{shortened(name, 60)}`): expected a list of switches under `network_layers`, leaf first"
        raise InputError(message)
    if len(set(layers)) < len(layers):
        raise InputError(f"{where} (`{shortened(name, 60)}`): a switch is twice under `network_layers`")
    return name, layers
