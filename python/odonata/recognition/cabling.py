"""The cables between the groups of a recognised machine: their rule or their list, and the missing cables.

The rule is found by trial: the core wires every arrangement with the given number of cables between groups. The rule is
the arrangement that has all cables of the fabric and the fewest others. The others count as failed. If no arrangement
has all cables of the fabric, the cables are listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.errors import InputError
from odonata.graphs.fabric import count
from odonata.machine import core
from odonata.machine.kinds.pairs import Pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Largest share of the cables of an arrangement that may be missing. Assumed: a machine in production lacks fewer.
MOST_MISSING = 0.2

#: The values that are tried for an arrangement, by kind.
RULES: dict[str, list[dict[str, str]]] = {
    "dragonfly-plus": [{"arrangement": name} for name in ("linear", "parallel")],
    "dragonfly": [
        {"arrangement": name, "spread": spread}
        for name in ("absolute", "relative", "circulant", "palmtree")
        for spread in ("consecutive", "round-robin")
    ],
}
RULES["cascade"] = RULES["dragonfly"]


@dataclass(slots=True)
class Cable:
    """A cable between two routers of the machine, the lower number first; ports are numbered as in the file, from 0."""

    a: int
    port_a: int
    b: int
    port_b: int
    failed: bool = False


@dataclass
class Joined:
    """How the groups are joined."""

    keys: dict[str, Any]
    """Keys of the machine's table."""
    words: str
    """What was recognised, in words."""
    notes: list[str] = field(default_factory=list)


def ports_key(kind: str) -> str:
    """The key for the number of global ports of a router."""
    return "global_links_per_spine" if kind == "dragonfly-plus" else "global_links_per_router"


def joined(
    kind: str,
    sizes: dict[str, Any],
    group_of: Sequence[int],
    cables: Sequence[Cable],
    ports: int | None,
    said: dict[str, Any],
    holes: set[int],
) -> Joined:
    """The rule of the cables between groups, or the list of them.

    `ports` is the number of global ports of a router, if known. `said` is a rule that is tried before others. `holes`
    are routers that are missing with all their cables.
    """
    groups = sizes["groups"]
    if groups == 1:
        return Joined({ports_key(kind): ports or 1}, "one group")
    used = Counter(router for cable in cables for router in (cable.a, cable.b))
    least = max(used.values())
    best: tuple[float, int, dict[str, Any], int, int] | None = None
    near: tuple[int, dict[str, Any], int, int] | None = None
    routers = len(group_of)
    have = Counter(cable.a * routers + cable.b for cable in cables)
    for per_router in dict.fromkeys(p for p in (ports, least) if p is not None and p >= least):
        for rule, links in _rules(kind, sizes, group_of, cables, per_router, said):
            keys = {ports_key(kind): per_router, **rule, **links}
            wanted = _wired(kind, sizes, keys, routers, holes)
            if wanted is None:
                continue
            missing, extra = (wanted - have).total(), (have - wanted).total()
            cost = missing + 2 * len(links.get("pair_links", ()))
            if near is None or missing + extra < near[0]:
                near = missing + extra, keys, missing, extra
            if extra == 0 and missing <= MOST_MISSING * wanted.total() and (best is None or cost < best[0]):
                best = cost, per_router, keys, missing, extra
    if best is not None:
        _, _, keys, missing, _ = best
        return Joined(keys, words(keys, missing))
    keys = {ports_key(kind): max(least, ports or 0), "global_links": listed(cables)}
    result = Joined(keys, f"{count(len(cables), 'cable')} between groups, listed one by one")
    if near is not None and near[0] <= MOST_MISSING * len(cables):
        _, rule, missing, extra = near
        result.words += f" (nearly `{rule['arrangement']}`: {extra:,} more and {missing:,} fewer)"
    return result


def words(keys: Mapping[str, Any], missing: int) -> str:
    """How a rule joins the groups, in words."""
    spread = f", {keys['spread']}" if "spread" in keys else ""
    links = keys["links_per_pair"]
    exceptions = keys.get("pair_links", ())
    pairs = f"{count(links, 'cable')} between every two groups"
    pairs += f" but {count(len(exceptions), 'pair')}" if exceptions else ""
    lacking = f"; {count(missing, 'cable')} missing" if missing else ""
    return f"arrangement `{keys['arrangement']}`{spread}, {pairs}{lacking}"


def _rules(
    kind: str,
    sizes: dict[str, Any],
    group_of: Sequence[int],
    cables: Sequence[Cable],
    per_router: int,
    said: dict[str, Any],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Arrangements with the number of cables of each pair of groups: the usual one, and exceptions from it."""
    groups = sizes["groups"]
    between = Counter((group_of[cable.a], group_of[cable.b]) for cable in cables)
    size = {"dragonfly-plus": sizes.get("spines", 0), "dragonfly": sizes.get("routers", 0)}.get(
        kind, sizes.get("rows", 0) * sizes.get("columns", 0)
    )
    last_size = {"dragonfly": sizes.get("last_group_routers"), "dragonfly-plus": None}.get(
        kind, sizes.get("last_group_rows", 0) * sizes.get("columns", 0)
    )
    last = groups - 1
    pairs = list(combinations(range(groups), 2))
    full = [pair for pair in pairs if last not in pair or (last_size or size) == size]
    # On a small machine with a few missing cables, no pair may have the usual number.
    often = Counter(between[pair] for pair in full or pairs).most_common(1)[0][0]
    numbers = [number for number in dict.fromkeys((often, max(between[pair] for pair in full or pairs))) if number]
    for usual in numbers:
        expected = Pairs(groups, size * per_router, (last_size or size) * per_router, usual)
        more = [[a, b, n] for a, b in pairs if (n := between[a, b]) > expected.between(a, b)]
        other = [[a, b, n] for a, b in pairs if (n := between[a, b]) != expected.between(a, b)]
        for rule in [said, *RULES[kind]] if said else RULES[kind]:
            for exceptions in [more, other] if more != other else [more]:
                yield rule, {"links_per_pair": usual} | ({"pair_links": exceptions} if exceptions else {})


def _wired(
    kind: str, sizes: dict[str, Any], keys: dict[str, Any], routers: int, holes: set[int]
) -> Counter[int] | None:
    """The cables between groups of a machine, as numbers of pairs of routers; None if it cannot be wired.

    Those of `holes` are left out.
    """
    # The links inside a group do not matter here, so the group is as small as possible.
    node = {"nodes_per_leaf": 1} if kind == "dragonfly-plus" else {"nodes_per_router": 1}
    column = {"column_links": 1} if kind == "cascade" else {}
    try:
        wired = core.describe({"kind": kind, **sizes, **node, **column, **keys})
    except InputError:
        return None
    group = np.asarray(wired["router_group"])
    a, b = (np.asarray(wired[name]) for name in ("slot_router", "slot_peer_router"))
    once = b > a
    a, b = a[once].astype(np.int64), b[once]
    between = group[a] != group[b]
    if holes:
        between &= ~(np.isin(a, list(holes)) | np.isin(b, list(holes)))
    values, counts = np.unique(a[between] * routers + b[between], return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def listed(cables: Sequence[Cable]) -> list[list[int]]:
    """The cables in an order that gives every router its global ports in the order of the file, if such an order
    exists.

    The ports of a machine with listed cables are numbered in the order of the list.
    """
    order = sorted(range(len(cables)), key=lambda n: (cables[n].a, cables[n].port_a, cables[n].b, cables[n].port_b))
    rank = {cable: at for at, cable in enumerate(order)}
    at_router: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, cable in enumerate(cables):
        at_router[cable.a].append((cable.port_a, number))
        at_router[cable.b].append((cable.port_b, number))
    after: list[list[int]] = [[] for _ in cables]
    waits = [0] * len(cables)
    for own in at_router.values():
        own.sort(key=lambda entry: (entry[0], rank[entry[1]]))
        for (port, first), (next_port, then) in pairwise(own):
            if port >= 0 and next_port >= 0:
                after[first].append(then)
                waits[then] += 1
    ready = [rank[number] for number in range(len(cables)) if not waits[number]]
    heapify(ready)
    done = [False] * len(cables)
    result: list[list[int]] = []
    left = iter(order)
    while len(result) < len(cables):
        # Ports of a real machine may contradict each other. Then some router gets its ports in another order.
        number = order[heappop(ready)] if ready else next(n for n in left if not done[n])
        if done[number]:
            continue
        done[number] = True
        result.append([cables[number].a, cables[number].b])
        for then in after[number]:
            waits[then] -= 1
            if not waits[then] and not done[then]:
                heappush(ready, rank[then])
    return result


def failures(wired: dict[str, Any], cables: Sequence[Cable], absent: set[int]) -> tuple[list[str], Counter[int]]:
    """The cables that the fabric lacks, as `router:port`, and those that it has in addition to the wired machine.

    Cables of `absent` routers are left out. `cables` are all cables between routers. Of parallel cables, the missing
    one is known only if the file numbers the ports of routers like the machine.
    """
    router, port, peer = (wired[name].tolist() for name in ("slot_router", "slot_port", "slot_peer_router"))
    ports: dict[tuple[int, int], list[int]] = defaultdict(list)
    for slot, far in enumerate(peer):
        if far > router[slot] and router[slot] not in absent and far not in absent:
            ports[router[slot], far].append(port[slot])
    have: dict[tuple[int, int], list[int]] = defaultdict(list)
    for cable in cables:
        if cable.failed:
            have.setdefault((cable.a, cable.b), [])
        else:
            have[cable.a, cable.b].append(cable.port_a)
    dead = []
    for pair, wanted in ports.items():
        present = have.get(pair, [])
        if len(present) < len(wanted):
            known = set(present) <= set(wanted)
            lacking = [at for at in wanted if at not in present] if known else wanted[len(present) :]
            dead += [(pair[0], at) for at in lacking]
    extra: Counter[int] = Counter()
    number = wired["routers"]
    for pair, present in have.items():
        if len(present) > len(ports.get(pair, ())):
            extra[pair[0] * number + pair[1]] = len(present) - len(ports.get(pair, ()))
    return [f"{a}:{at}" for a, at in sorted(dead)], extra
