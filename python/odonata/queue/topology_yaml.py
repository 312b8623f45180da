"""`topology.yaml` of Slurm 25.05 and newer: several topologies, of which one is the default of the cluster.

Source: topology.yaml(5).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.queue.hosts import expand, expand_field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: The types of a topology.
_TYPES = ("tree", "block", "flat")
_REMEDY = "give what `scontrol show topology NAME` prints"


def is_yaml(text: str) -> bool:
    """Whether a text is YAML: no line of `topology.conf` begins like this."""
    first = next((line for line in reading.lines(text) if line.strip() and not line.lstrip().startswith("#")), "")
    return re.match(r"---|%YAML|\s*(- )?\w+:(\s|$)", first) is not None


def is_topology(text: str) -> bool:
    """Whether a text is YAML with a list of topologies."""
    return is_yaml(text) and re.search(r"^\s*- topology:\s", text, re.MULTILINE) is not None


def entries(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The switches, blocks and sizes of blocks of the topology that is the default, each with its line.

    An entry has the keys of a line of `topology.conf`: `SwitchName` with `Nodes` and `Switches`, `BlockName` with
    `Nodes`, or `BlockSizes`, with lists in place of texts. Raises InputError with the line.
    """
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        problem = e.problem or e.context or "it is no YAML"
        raise InputError(shortened(problem, 200), line=None if mark is None else mark.line + 1) from None
    except (yaml.YAMLError, RecursionError) as e:
        raise InputError(f"it is no YAML: {shortened(str(e), 200)}") from None
    topologies = [_table(node, "a topology") for node in _list(root, "a list of topologies")]
    chosen = _chosen([of for of in topologies if "topology" in of])
    kind = next((kind for kind in _TYPES if kind in chosen), None)
    name = _text(chosen["topology"], "a name")
    if kind is None or kind == "flat":
        line = _line(chosen[kind] if kind else chosen["topology"])
        message = f"the topology `{shortened(name, 60)}` has neither `tree` nor `block`, so it says nothing of switches"
        raise InputError(message, line=line, hint=_REMEDY)
    table = _table(chosen[kind], f"a table under `{kind}`")
    if kind == "tree":
        yield from _switches(table, chosen[kind])
    else:
        yield from _blocks(table, chosen[kind])


def _chosen(topologies: list[dict[str, Any]]) -> dict[str, Any]:
    if not topologies:
        raise InputError("no topology is listed; expected `- topology: NAME`")
    defaults = [of for of in topologies if _flag(of.get("cluster_default"))]
    if len(topologies) > 1 and not defaults:
        names = ", ".join(shortened(_text(of["topology"], "a name"), 60) for of in topologies[:6])
        message = f"{len(topologies)} topologies, and none is the default of the cluster: {names}"
        raise InputError(message, hint=f"{_REMEDY}; or set `cluster_default: true` for one")
    return (defaults or topologies)[0]


def _switches(table: dict[str, Any], at: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if "switches" not in table:
        raise InputError("`tree` has no `switches`", line=_line(at))
    for node in _list(table["switches"], "a list of switches"):
        switch = _table(node, "a switch")
        if "switch" not in switch:
            raise InputError("a switch has no name; expected `- switch: NAME`", line=_line(node))
        yield (
            _line(node),
            {
                "SwitchName": _text(switch["switch"], "the name of a switch"),
                "Nodes": _hosts(switch.get("nodes")),
                "Switches": _hosts(switch.get("children"), expand),
            },
        )


def _blocks(table: dict[str, Any], at: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if "block_sizes" in table:
        sizes = [_text(size, "a number of nodes") for size in _list(table["block_sizes"], "a list of sizes")]
        if not all(size.isdecimal() and len(size) < 10 for size in sizes):
            raise InputError("expected numbers of nodes as `block_sizes`", line=_line(table["block_sizes"]))
        yield _line(table["block_sizes"]), {"BlockSizes": [int(size) for size in sizes]}
    if "blocks" not in table:
        raise InputError("`block` has no `blocks`", line=_line(at))
    for node in _list(table["blocks"], "a list of blocks"):
        block = _table(node, "a block")
        if "block" not in block:
            raise InputError("a block has no name; expected `- block: NAME`", line=_line(node))
        yield (
            _line(node),
            {"BlockName": _text(block["block"], "the name of a block"), "Nodes": _hosts(block.get("nodes"))},
        )


def _hosts(node: Any, read: Callable[[str], Iterable[str]] = expand_field) -> tuple[str, ...]:
    if node is None:
        return ()
    try:
        return tuple(read(_text(node, "a list of names")))
    except InputError as e:
        raise e.but(line=e.line or _line(node)) from None


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _list(node: Any, what: str) -> list[Any]:
    if node is None or node.id != "sequence":
        raise InputError(f"expected {what}", line=None if node is None else _line(node))
    return list(node.value)


def _table(node: Any, what: str) -> dict[str, Any]:
    if node.id != "mapping":
        raise InputError(f"expected {what}", line=_line(node))
    table: dict[str, Any] = {}
    for key, value in node.value:
        if key.id == "scalar" and table.setdefault(key.value, value) is not value:
            raise InputError(f"`{shortened(key.value, 60)}` is there twice", line=_line(key))
    return table


def _text(node: Any, what: str) -> str:
    if node.id != "scalar":
        raise InputError(f"expected {what}", line=_line(node))
    return str(node.value)


def _flag(node: Any) -> bool:
    return node is not None and node.id == "scalar" and str(node.value).lower() in ("true", "yes", "on")
