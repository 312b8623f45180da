"""Explicit: exactly the nodes listed, in the order listed."""

import re
from pathlib import Path
from typing import Any

from odonata.errors import InputError
from odonata.placement.ids import parse_ids
from odonata.placement.node_file import read_nodes
from odonata.placement.policy import COUNT, Freedom, Option, Placement, Policy, Request


def place(request: Request) -> Placement:
    """The listed nodes. All must exist, be free, and be listed once."""
    given = request.options["nodes"]
    if not isinstance(given, Path):
        _check(request, [(node, None) for node in given])
        return Placement(list(given), f"{len(given):,} nodes as listed")
    file = request.folder / given
    listed = read_nodes(file)
    _check(request, listed, file)
    return Placement([node for node, _ in listed], f"{len(listed):,} nodes listed in {given}")


def _check(request: Request, listed: list[tuple[int, int | None]], file: Path | None = None) -> None:
    seen = set()
    for node, line in listed:
        try:
            request.shape.check_node(node)
            if node in seen:
                raise InputError(f"node {node} is listed twice")
            if not request.is_free(node):
                raise request.taken(node)
        except InputError as e:
            raise (e.under("nodes") if file is None else e.at(file, line)) from None
        seen.add(node)
    if request.count is not None and request.count != len(listed):
        raise InputError(f"the list has {len(listed)} of the {request.count} nodes asked for", path=COUNT)


def _nodes(value: Any) -> list[int] | Path:
    """A list of ids, or a file: any text that does not look like a list."""
    if isinstance(value, str) and re.search(r"[^0-9\s,-]", value):
        return Path(value)
    nodes = parse_ids(value, "nodes")
    if not nodes:
        raise InputError("no nodes are listed")
    return nodes


POLICY = Policy(
    name="explicit",
    summary="exactly the nodes listed",
    rank_order="as listed",
    options=(Option("nodes", 'ids such as "0-15,40", a list of them, or a file that holds them', _nodes),),
    place=place,
    freedom=lambda _: Freedom.NONE,
    counts_itself=True,
)
