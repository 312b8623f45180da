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
    topologies = [table_of(node, "a topology") for node in list_of(read_yaml(text), "a list of topologies")]
    chosen = _chosen([of for of in topologies if "topology" in of])
    kind = next((kind for kind in _TYPES if kind in chosen), None)
    name = text_of(chosen["topology"], "a name")
    if kind is None or kind == "flat":
        line = line_of(chosen[kind] if kind else chosen["topology"])
        message = f"the topology `{shortened(name, 60)}` has neither `tree` nor `block`, so it says nothing of switches"
        raise InputError(message, line=line, hint=_REMEDY)
    table = table_of(chosen[kind], f"a table under `{kind}`")
    if kind == "tree":
        yield from _switches(table, chosen[kind])
    else:
        yield from _blocks(table, chosen[kind])


def read_yaml(text: str) -> Any:
    """The nodes of a text in YAML, which know their lines. Raises InputError with the line."""
    import yaml

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        problem = e.problem or e.context or "it is no YAML"
        raise InputError(shortened(problem, 200), line=None if mark is None else mark.line + 1) from None
    except (yaml.YAMLError, RecursionError) as e:
        raise InputError(f"it is no YAML: {shortened(str(e), 200)}") from None


def _chosen(topologies: list[dict[str, Any]]) -> dict[str, Any]:
    if not topologies:
        raise InputError("no topology is listed; expected `- topology: NAME`")
    defaults = [of for of in topologies if _flag(of.get("cluster_default"))]
    if len(topologies) > 1 and not defaults:
        names = ", ".join(shortened(text_of(of["topology"], "a name"), 60) for of in topologies[:6])
        message = f"{len(topologies)} topologies, and none is the default of the cluster: {names}"
        raise InputError(message, hint=f"{_REMEDY}; or set `cluster_default: true` for one")
    return (defaults or topologies)[0]


def _switches(table: dict[str, Any], at: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if "switches" not in table:
        raise InputError("`tree` has no `switches`", line=line_of(at))
    for node in list_of(table["switches"], "a list of switches"):
        switch = table_of(node, "a switch")
        if "switch" not in switch:
            raise InputError("a switch has no name; expected `- switch: NAME`", line=line_of(node))
        yield (
            line_of(node),
            {
                "SwitchName": text_of(switch["switch"], "the name of a switch"),
                "Nodes": _hosts(switch.get("nodes")),
                "Switches": _hosts(switch.get("children"), expand),
            },
        )


def _blocks(table: dict[str, Any], at: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if "block_sizes" in table:
        sizes = [text_of(size, "a number of nodes") for size in list_of(table["block_sizes"], "a list of sizes")]
        if not all(size.isdecimal() and len(size) < 10 for size in sizes):
            raise InputError("expected numbers of nodes as `block_sizes`", line=line_of(table["block_sizes"]))
        yield line_of(table["block_sizes"]), {"BlockSizes": [int(size) for size in sizes]}
    if "blocks" not in table:
        raise InputError("`block` has no `blocks`", line=line_of(at))
    for node in list_of(table["blocks"], "a list of blocks"):
        block = table_of(node, "a block")
        if "block" not in block:
            raise InputError("a block has no name; expected `- block: NAME`", line=line_of(node))
        yield (
            line_of(node),
            {"BlockName": text_of(block["block"], "the name of a block"), "Nodes": _hosts(block.get("nodes"))},
        )


def _hosts(node: Any, read: Callable[[str], Iterable[str]] = expand_field) -> tuple[str, ...]:
    if node is None:
        return ()
    try:
        return tuple(read(text_of(node, "a list of names")))
    except InputError as e:
        raise e.but(line=e.line or line_of(node)) from None


def line_of(node: Any) -> int:
    """The line of a node."""
    return int(node.start_mark.line) + 1


def list_of(node: Any, what: str) -> list[Any]:
    """The nodes of a list. Raises InputError if it is none, with what was expected."""
    if node is None or node.id != "sequence":
        raise InputError(f"expected {what}", line=None if node is None else line_of(node))
    return list(node.value)


def table_of(node: Any, what: str) -> dict[str, Any]:
    """The nodes of a table by their keys. Raises InputError as `list_of`, and for a key that is there twice."""
    if node is None:
        raise InputError(f"expected {what}")
    if node.id != "mapping":
        raise InputError(f"expected {what}", line=line_of(node))
    table: dict[str, Any] = {}
    for key, value in node.value:
        if key.id == "scalar" and table.setdefault(key.value, value) is not value:
            raise InputError(f"`{shortened(key.value, 60)}` is there twice", line=line_of(key))
    return table


def text_of(node: Any, what: str) -> str:
    """A text. Raises InputError as `list_of`."""
    if node.id != "scalar":
        raise InputError(f"expected {what}", line=line_of(node))
    return str(node.value)


def _flag(node: Any) -> bool:
    return node is not None and node.id == "scalar" and str(node.value).lower() in ("true", "yes", "on")
