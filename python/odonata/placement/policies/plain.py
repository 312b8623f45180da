"""Policies that take nodes as they are numbered, as they are listed, or at random."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odonata.errors import InputError
from odonata.placement.free import Free, sites
from odonata.placement.ids import parse_ids, read_nodes
from odonata.placement.policy import (
    COUNT,
    DEFAULT_SEED,
    GROUPS,
    SEED,
    Freedom,
    Option,
    Placement,
    Policy,
    Request,
    freedom,
    groups_option,
    whole_number,
)
from odonata.placement.splitmix import SplitMix64


def contiguous(request: Request) -> Placement:
    """Contiguous: the lowest free nodes, in order.

    The lowest free nodes of the machine, of some groups, or from a group on.

    Source: Kang 2019, section 3.4.2 (2,304 processes in groups 3 to 8).
    """
    groups, first = request.options.get("groups"), request.options.get("from_group")
    if groups is not None and first is not None:
        raise InputError("`groups` and `from_group` exclude each other", path=("from_group",))
    if first is not None:
        request.shape.check_group(first)
        groups = list(range(first, request.shape.groups))
    free, where = request.within(groups)
    nodes = request.enough(free, where)[: request.wanted()]
    return Placement(nodes, f"{len(nodes):,} nodes {where}, the lowest free ones")


def _freedom(options: Mapping[str, Any]) -> Freedom:
    limited = options.keys() & {"groups", "from_group"}
    return Freedom.GROUPS if limited else Freedom.ANYWHERE


CONTIGUOUS = Policy(
    name="contiguous",
    summary="the lowest free nodes",
    rank_order="ascending node ids",
    options=(
        groups_option("the whole machine"),
        Option("from_group", "first group to use", whole_number("a group", 0, 2**32 - 1), "group 0"),
    ),
    place=contiguous,
    freedom=_freedom,
)


def per_leaf(request: Request) -> Placement:
    """Per leaf: the same number of nodes on every leaf of some groups.

    The lowest free nodes of each leaf, leaf by leaf.

    Source: the background application of Kang 2019, section 3.3 and figure 4b (two nodes on each of the
    24 leaves of groups 0, 1 and 2; section 3.4.1: 4, 6 and 8).
    """
    per_leaf: int = request.options["per_leaf"]
    free, where = request.within(request.options.get("groups"))
    machine = sites(request.shape)
    largest = max(map(len, machine.routers))
    if per_leaf > largest:
        raise InputError(f"{per_leaf} nodes per leaf do not fit: a leaf has {largest}", path=("per_leaf",))
    leaves = Free(request.shape, free).routers
    groups = request.options.get("groups") or range(request.shape.groups)
    chosen = [(group, leaf, leaves[leaf]) for group in groups for leaf in machine.group_routers[group]]
    for group, leaf, idle in chosen:
        if len(idle) < per_leaf:
            where = f"leaf {leaf - machine.group_routers[group].start} of {request.shape.group_name} {group}"
            raise InputError(f"{per_leaf} nodes per leaf do not fit: {where} has only {len(idle)} free")
    nodes = [node for _, _, idle in chosen for node in idle[:per_leaf]]
    if request.count is not None and request.count != len(nodes):
        raise InputError(
            f"{per_leaf} nodes on each of {len(chosen)} leaves make {len(nodes)}, not {request.count}",
            hint="leave the number out, or give equal numbers",
            path=COUNT,
        )
    return Placement(nodes, f"{per_leaf} on each of {len(chosen)} leaves {where}, the lowest free ones")


PER_LEAF = Policy(
    name="per-leaf",
    summary="the same number of nodes on every leaf",
    rank_order="ascending node ids",
    options=(
        Option("per_leaf", "nodes on each leaf", whole_number("a number of nodes", 1, 2**32 - 1)),
        groups_option("all groups"),
    ),
    place=per_leaf,
    freedom=lambda _: Freedom.LEAF,
    counts_itself=True,
)


def explicit(request: Request) -> Placement:
    """Explicit: exactly the nodes listed, in the order listed.

    The listed nodes. All must exist, be free, and be listed once.
    """
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


EXPLICIT = Policy(
    name="explicit",
    summary="exactly the nodes listed",
    rank_order="as listed",
    options=(Option("nodes", 'ids such as "0-15,40", a list of them, or a file that holds them', _nodes),),
    place=explicit,
    freedom=lambda _: Freedom.NONE,
    counts_itself=True,
)


def random(request: Request) -> Placement:
    """Random: free nodes drawn uniformly, ranks in the order of the draw.

    A uniform draw without replacement (Fisher-Yates on splitmix64) from the free nodes, ascending.

    Source: Kang 2019, section 3.4.2.
    """
    free, where = request.within(request.options.get("groups"))
    seed = request.options.get("seed", DEFAULT_SEED)
    nodes = SplitMix64(seed).sample(request.enough(free, where), request.wanted())
    return Placement(nodes, f"{len(nodes):,} of {len(free):,} free nodes {where}, drawn with seed {seed}")


RANDOM = Policy(
    name="random",
    summary="free nodes drawn uniformly",
    rank_order="order of the draw",
    options=(GROUPS, SEED),
    place=random,
    freedom=freedom,
)
