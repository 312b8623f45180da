"""Profiles of communication as JSON: `nodes` with what each rank sent and received, `edges` with the bytes of pairs.

Edges may have the bytes of one direction, or the sum of both. What the ranks sent and received says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.errors import InputError, shortened
from odonata.scenario.apps.matrix_values import COLUMNS, CommunicationMatrix, number, rounded, summed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.scenario.apps.matrix_values import Array, Numbers

#: What a number may be off, for its size, where a profile has numbers with a fraction: programs add them up as floats,
#: of which single precision (24 bits) is the coarsest in use. Whole numbers are added up exactly.
PRECISION = 2.0**-23


def of_profile(content: Mapping[str, Any]) -> CommunicationMatrix:
    """The matrix of a profile: `nodes` are ranks, `edges` what they exchanged.

    Parameters
    ----------
    content
        The object of the file, with `nodes` (`id`, and optionally `rank`, `send_bytes`, `recv_bytes`), `edges`
        (`source`, `target`, `weight` in bytes, and optionally `count` of messages) and optionally `total_bytes`.

    Returns
    -------
    CommunicationMatrix

    Raises
    ------
    InputError
        For other contents, and for sums that contradict each other.
    """
    nodes, edges = (_objects(content, key) for key in ("nodes", "edges"))
    numbers: dict[Any, int] = {}
    for node in nodes:
        identity = _whole(node, "id", "nodes")
        rank = _whole(node, "rank", "nodes") if "rank" in node else identity
        if identity in numbers:
            raise InputError(f"`nodes`: id {identity} is listed twice")
        numbers[identity] = rank
    ranks = len(nodes)
    if sorted(numbers.values()) != list(range(ranks)):
        raise InputError(f"`nodes`: expected each rank from 0 to {ranks - 1} once")
    rows = []
    for edge in edges:
        ends = [_whole(edge, key, "edges") for key in ("source", "target")]
        for end in ends:
            if end not in numbers:
                raise InputError(f"`edges`: {end} is not the id of a node")
        size, count = (_first(edge, COLUMNS[key], "edges") for key in ("bytes", "messages"))
        if size is None:
            raise InputError(f"`edges`: the edge from {ends[0]} to {ends[1]} has no `weight` and no `bytes`")
        rows.append((numbers[ends[0]], numbers[ends[1]], size, count))
    counted = [row[3] is not None for row in rows]
    if any(counted) and not all(counted):
        raise InputError("`edges`: some edges have a `count`, others have none")
    sources, targets = (np.array([row[at] for row in rows], dtype=np.int64) for at in (0, 1))
    exact = np.array([row[2] for row in rows])
    sizes = rounded(exact, lambda at: f"`edges`, edge {at}")
    messages = rounded(np.array([row[3] for row in rows]), lambda at: f"`edges`, edge {at}") if all(counted) else None
    stated = content.get("total_bytes")
    if stated is not None:
        total = number(stated, "`total_bytes`")
        listed = float(exact.sum()) if exact.dtype.kind == "f" else int(sizes.sum())
        off = _tolerance(listed, len(rows)) if isinstance(total + listed, float) else 0
        if not abs(listed - total) <= off:
            raise InputError(f"`total_bytes` is {shortened(str(stated))}, but the edges have {listed:,} bytes in all")
    totals = _totals(nodes, numbers, ranks)
    if totals is not None:
        directions = _directions(sources, targets, exact, totals)
        if directions is not None:
            sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
            if messages is not None:
                messages = np.concatenate([messages - messages // 2, messages // 2])
                messages[messages == 0] = 1
            sizes = np.concatenate([directions, sizes - directions])
    return summed(ranks, sources, targets, sizes, messages)


def _objects(content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    listed = content.get(key)
    if not isinstance(listed, list) or not all(isinstance(row, dict) for row in listed):
        raise InputError(f"`{key}`: expected a list of objects")
    return listed


def _first(row: Mapping[str, Any], keys: Sequence[str], where: str) -> float | int | None:
    return next((number(row[key], f"`{where}`, `{key}`") for key in keys if row.get(key) is not None), None)


def _whole(row: Mapping[str, Any], key: str, where: str) -> int:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"`{where}`: expected a whole number as `{key}`, found `{shortened(str(value))}`")
    return value


def _tolerance(total: Any, edges: Any) -> Any:
    """How far a sum of floats over these edges may be off: by its precision, and a byte an edge for sums of rounded
    bytes."""
    return PRECISION * total + edges


def _totals(nodes: Sequence[Mapping[str, Any]], numbers: Mapping[Any, int], ranks: int) -> Array | None:
    """Bytes that each rank sent, and received; None if the profile does not say it."""
    if not all("send_bytes" in node and "recv_bytes" in node for node in nodes):
        return None
    totals: list[list[float]] = [[0] * ranks, [0] * ranks]
    for node in nodes:
        for total, key in zip(totals, ("send_bytes", "recv_bytes"), strict=True):
            total[numbers[node["id"]]] = number(node[key], f"`nodes`, `{key}`")
    return np.array(totals)


def _directions(sources: Numbers, targets: Numbers, exact: Array, totals: Array) -> Numbers | None:
    """The bytes from source to target where an edge has the sum of both directions; None if it has one direction.

    What the ranks sent and received says which. Sums are divided so that every rank sends what the profile says, as
    near to halves as possible (least squares, each edge weighted by the inverse of its bytes).

    Raises InputError if the edges agree with the totals in neither way.
    """
    ranks = totals.shape[1]
    out, into = (np.bincount(ends, exact, ranks) for ends in (sources, targets))
    both = out + into
    off = np.zeros(ranks)
    if "f" in (exact.dtype.kind, totals.dtype.kind):
        off = _tolerance(both, np.bincount(sources, minlength=ranks) + np.bincount(targets, minlength=ranks))
    if (np.abs(np.stack([out, into]) - totals) <= off).all():
        return None
    wrong = np.flatnonzero(~(np.abs(both - totals.sum(0)) <= off))
    if wrong.size:
        rank = int(wrong[0])
        raise InputError(
            f"rank {rank} sent {totals[0, rank]:,.0f} and received {totals[1, rank]:,.0f} bytes by `nodes`, but its "
            f"edges have {out[rank]:,.0f} from it and {into[rank]:,.0f} to it"
        )
    whole = np.rint(exact)
    potential = _potential(sources, targets, exact.astype(float), _balanced(sources, targets, totals[0] - both / 2))
    shift = exact * (potential[sources] - potential[targets])
    divided: Numbers = np.clip(np.rint(exact / 2 + shift), 0, whole).astype(np.int64)
    return divided


def _balanced(sources: Numbers, targets: Numbers, needs: Array) -> Array:
    """What ranks send beyond their halves, so that it is nothing for all ranks of a part of the graph together: sums of
    floats are off by a little, and no flow between ranks has such needs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ranks = len(needs)
    graph = coo_array((np.ones(len(sources)), (sources, targets)), shape=(ranks, ranks))
    _, part = connected_components(graph, directed=False)
    balanced: Array = needs - (np.bincount(part, needs) / np.bincount(part))[part]
    return balanced


def _potential(sources: Numbers, targets: Numbers, weights: Array, needs: Array) -> Array:
    """Solves the equations of a network of these weights by conjugate gradients: what flows out of each is `needs`."""
    ranks = len(needs)

    def flows(values: Array) -> Array:
        flow = weights * (values[sources] - values[targets])
        return np.bincount(sources, flow, ranks) - np.bincount(targets, flow, ranks)

    solution = np.zeros(ranks)
    rest = needs.astype(float)
    direction = rest.copy()
    square = float(rest @ rest)
    for _ in range(10 * ranks):
        # A tenth of a byte at every rank.
        if square <= ranks * 0.01:
            break
        flow = flows(direction)
        curvature = float(direction @ flow)
        if curvature <= 0:
            break
        step = square / curvature
        solution += step * direction
        rest -= step * flow
        before, square = square, float(rest @ rest)
        direction = rest + square / before * direction
    return solution
