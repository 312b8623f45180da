"""Generators of graphs: small functions that list the links of a topology of the literature.

A generator has vertices that are routers, named `r0`, `r1` and so on (`nodes_per_router` puts nodes on them), or it has
nodes `n0`, `n1` and so on of its own.
"""

from __future__ import annotations

import inspect
from bisect import bisect_left, insort
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class Made:
    """What a generator has made."""

    links: list[list[str]]
    nodes: tuple[str, ...] | None = None
    """Patterns of the names of nodes; None if all vertices are routers."""
    nodes_per_router: int | None = None
    """Nodes that each router gets by default."""


def _linked(pairs: set[tuple[int, int]]) -> list[list[str]]:
    """Each pair once, the lower number first."""
    ordered = sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b})
    return [[f"r{a}", f"r{b}"] for a, b in ordered]


def torus(dimensions: list[int], *, wrap: bool = True) -> Made:
    """A k-ary n-cube (Dally 1990): routers in a grid, each linked to the next in every dimension, first and last too.

    A dimension of two routers has one link between them.
    """
    return Made(_grid(dimensions, wrap=wrap), None, 1)


def mesh(dimensions: list[int]) -> Made:
    """A grid as `torus`, without the links between first and last."""
    return torus(dimensions, wrap=False)


def _grid(dimensions: list[int], *, wrap: bool) -> list[list[str]]:
    number, stride = {}, 1
    strides = []
    for size in dimensions:
        strides.append(stride)
        stride *= size
    for place in product(*(range(size) for size in dimensions)):
        number[place] = sum(at * of for at, of in zip(place, strides, strict=True))
    pairs = set()
    for place, router in number.items():
        for dimension, size in enumerate(dimensions):
            after = (place[dimension] + 1) % size
            if after == 0 and not wrap:
                continue
            pairs.add((router, number[(*place[:dimension], after, *place[dimension + 1 :])]))
    return _linked(pairs)


def switch(nodes: int) -> Made:
    """One switch with all nodes."""
    return Made([[f"n{node}", "r0"] for node in range(nodes)], ("n*",))


def folded_clos(radix: int, levels: int = 2) -> Made:
    """A folded Clos network of switches with `radix` ports, without taper (Leiserson 1985; Al-Fares 2008).

    With two levels: radix leaves with radix/2 nodes each, and radix/2 spines. With three levels: radix pods of radix/2
    leaves and radix/2 spines, and (radix/2)^2 cores, so radix^3/4 nodes.
    """
    if radix % 2 or radix < 2:
        raise InputError(f"`radix`: expected an even number of ports, found {radix}")
    if levels not in (2, 3):
        raise InputError(f"`levels`: expected 2 or 3, found {levels}")
    half = radix // 2
    switches = radix + half if levels == 2 else 2 * radix * half + half * half
    # Each level has as many links as the lowest has nodes.
    _check_size(f"radix {radix} with {levels} levels", switches, levels * radix * half ** (levels - 1))
    links: list[list[str]] = []
    if levels == 2:
        for leaf in range(radix):
            links += [[f"n{leaf * half + node}", f"leaf{leaf}"] for node in range(half)]
        links += [[f"leaf{leaf}", f"spine{spine}"] for leaf in range(radix) for spine in range(half)]
        return Made(links, ("n*",))
    for leaf in range(radix * half):
        links += [[f"n{leaf * half + node}", f"leaf{leaf}"] for node in range(half)]
    for pod, leaf, spine in product(range(radix), range(half), range(half)):
        links.append([f"leaf{pod * half + leaf}", f"spine{pod * half + spine}"])
    for pod, spine, core in product(range(radix), range(half), range(half)):
        links.append([f"spine{pod * half + spine}", f"core{spine * half + core}"])
    return Made(links, ("n*",))


def slim_fly(q: int) -> Made:
    """Slim Fly (Besta 2014): the graphs of McKay, Miller and Siran of diameter 2 with 2 q^2 routers, for a prime q.

    q = 4 w + d with d = 1 or -1 (-1 and 3 are the same); a router has (3 q - d)/2 links and, by default, half as many
    nodes, rounded up.
    """
    _check_prime(q, "q")
    if q % 2 == 0:
        raise InputError(f"`q`: expected an odd prime, found {q}")
    delta = 1 if q % 4 == 1 else -1
    degree = (3 * q - delta) // 2
    _check_size(f"q = {q}", 2 * q * q, q * q * degree)
    primitive = _primitive(q)
    powers = [pow(primitive, exponent, q) for exponent in range(q - 1)]
    if delta == 1:
        even, odd = set(powers[0::2]), set(powers[1::2])
    else:
        # q = 4 w - 1: X = {1, xi^2, ..., xi^(2w-2), xi^(2w-1), xi^(2w+1), ..., xi^(4w-3)}, X' = xi X (Hafner 2004).
        w = (q + 1) // 4
        exponents = [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)]
        even = {powers[exponent % (q - 1)] for exponent in exponents}
        odd = {value * primitive % q for value in even}

    def number(part: int, x: int, y: int) -> int:
        return part * q * q + x * q + y

    pairs = set()
    for part, distances in enumerate((even, odd)):
        for x, y, distance in product(range(q), range(q), distances):
            pairs.add((number(part, x, y), number(part, x, (y - distance) % q)))
    for x, m, c in product(range(q), repeat=3):
        pairs.add((number(0, x, (m * x + c) % q), number(1, m, c)))
    return Made(_linked(pairs), None, -(-degree // 2))


def polarfly(q: int) -> Made:
    """PolarFly (Lakhotia 2022): the Erdos-Renyi polarity graph of diameter 2 with q^2 + q + 1 routers, for a prime q.

    The routers are the points of the projective plane over q; two are linked if their scalar product is 0. A router has
    q + 1 links, those q + 1 that are orthogonal to themselves (quadrics) have q. By default half as many nodes.
    """
    _check_prime(q, "q")
    _check_size(f"q = {q}", q * q + q + 1, (q * (q + 1) ** 2) // 2)
    points = [(1, y, z) for y, z in product(range(q), repeat=2)] + [(0, 1, z) for z in range(q)] + [(0, 0, 1)]
    number = {point: at for at, point in enumerate(points)}
    pairs = {(a, number[b]) for a, point in enumerate(points) for b in _orthogonal(point, q)}
    return Made(_linked(pairs), None, (q + 1) // 2)


def _orthogonal(point: tuple[int, int, int], q: int) -> Iterator[tuple[int, int, int]]:
    """The q + 1 points of the projective plane whose scalar product with a point is 0."""
    x, y, z = point
    # (1, u, v): x + y u + z v = 0; then (0, 1, v): y + z v = 0; then (0, 0, 1): z = 0.
    if z:
        inverse = pow(z, -1, q)
        yield from ((1, u, -(x + y * u) * inverse % q) for u in range(q))
        yield (0, 1, -y * inverse % q)
        return
    if y:
        yield from ((1, -x * pow(y, -1, q) % q, v) for v in range(q))
    elif not x:
        raise AssertionError
    else:
        yield from ((0, 1, v) for v in range(q))
    yield (0, 0, 1)


def random_regular(routers: int, degree: int, seed: int = 0) -> Made:
    """A random graph in which every router has `degree` links (Jellyfish, Singla 2012).

    Links are drawn between routers with free ports that are not linked; if none are left, a drawn link makes room, as
    in section 3 of the paper. By default a node on each router.
    """
    if not 2 <= degree < routers or routers * degree % 2:
        message = f"no graph of {routers} routers with {degree} links each"
        raise InputError(message, hint="fewer links than routers, and an even number of ends of links in all")
    draw = _Draw(seed)
    _check_size(f"{routers} routers with {degree} links each", routers, routers * degree // 2)
    for _ in range(1_000):
        links = _random_links(routers, degree, draw)
        if _joined(routers, links):
            return Made(_linked(links), None, 1)
    raise InputError(f"no connected graph of {routers} routers with {degree} links was found", hint="another `seed`")


def _random_links(routers: int, degree: int, draw: _Draw) -> set[tuple[int, int]]:
    links: set[tuple[int, int]] = set()
    ordered: list[tuple[int, int]] = []  # the links, sorted; only once no two free ports can be joined
    free = dict.fromkeys(range(routers), degree)
    open_ = list(range(routers))  # the routers with free ports, sorted
    while free:
        pairs = None
        for _ in range(50):
            a, b = open_[draw.below(len(open_))], open_[draw.below(len(open_))]
            if a != b and (min(a, b), max(a, b)) not in links:
                pairs = [(a, b)]
                break
        if pairs is None:
            pairs = [
                (a, b) for at, a in enumerate(open_) for b in open_[at + 1 :] if (min(a, b), max(a, b)) not in links
            ]
            pairs = [pairs[draw.below(len(pairs))]] if pairs else None
        if pairs is None:
            # Two free ports of one router (or of linked routers): a link (x, y) becomes (a, x) and (b, y).
            a, b = (open_[0], open_[-1])
            ordered = ordered or sorted(links)
            old = ordered.pop(draw.below(len(links)))
            links.discard(old)
            for router in old:
                if router not in free:
                    insort(open_, router)
                free[router] = free.get(router, 0) + 1
            pairs = [
                (end, router)
                for end, router in ((a, old[0]), (b, old[1]))
                if end != router and (min(end, router), max(end, router)) not in links and free.get(end, 0)
            ]
        for a, b in pairs:
            if not free.get(a) or not free.get(b):
                continue
            if (min(a, b), max(a, b)) in links:  # both halves of a drawn link are the same link again
                continue
            links.add((min(a, b), max(a, b)))
            if ordered:
                insort(ordered, (min(a, b), max(a, b)))
            for router in (a, b):
                free[router] -= 1
                if not free[router]:
                    del free[router]
                    del open_[bisect_left(open_, router)]
    return links


def _joined(routers: int, links: set[tuple[int, int]]) -> bool:
    near: list[list[int]] = [[] for _ in range(routers)]
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    seen, open_ = {0}, [0]
    while open_:
        for far in near[open_.pop()]:
            if far not in seen:
                seen.add(far)
                open_.append(far)
    return len(seen) == routers


class _Draw:
    """Whole numbers at random: splitmix64."""

    def __init__(self, seed: int) -> None:
        self._state = seed % 2**64

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) % 2**64
        value = self._state
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
        return (value ^ value >> 31) * limit >> 64


def _check_prime(q: int, key: str) -> None:
    if q < 2 or any(q % divisor == 0 for divisor in range(2, int(q**0.5) + 1)):
        raise InputError(f"`{key}`: expected a prime number, found {q}", hint="powers of primes are not supported")


def _primitive(q: int) -> int:
    """The smallest primitive root of a prime."""
    return next(root for root in range(1, q) if len({pow(root, exponent, q) for exponent in range(q - 1)}) == q - 1)


GENERATORS: dict[str, Callable[..., Made]] = {
    "torus": torus,
    "mesh": mesh,
    "switch": switch,
    "folded-clos": folded_clos,
    "slim-fly": slim_fly,
    "polarfly": polarfly,
    "random-regular": random_regular,
}
#: Largest number of an argument, and most routers of a grid: those of a machine that the core can number.
_MOST = 100_000
#: Most links of a graph (assumed: making as many takes up to ten seconds).
_MOST_LINKS = 400_000


def _check_size(what: str, routers: int, links: int) -> None:
    """Raises InputError for a graph of more routers or links than can be read, before it is made."""
    if routers > _MOST or links > _MOST_LINKS:
        message = f"{what} makes {routers:,} routers and {links:,} links"
        raise InputError(message, hint=f"at most {_MOST:,} routers and {_MOST_LINKS:,} links")


def make(table: Mapping[str, Any]) -> Made:
    """The graph of `{ generator = "torus", dimensions = [4, 4] }`. Raises InputError (path under `links`)."""
    arguments = {key: value for key, value in table.items() if key != "generator"}
    name = table.get("generator")
    if not isinstance(name, str) or name not in GENERATORS:
        error = unknown("generator", str(name), GENERATORS)
        raise error.but(path=("links", "generator"))
    function = GENERATORS[name]
    known = {key: parameter for key, parameter in inspect.signature(function).parameters.items() if key != "wrap"}
    for key, value in arguments.items():
        if key not in known:
            raise unknown("key", key, known).but(path=("links", key))
        _check_argument(key, value)
    for key, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and key not in arguments:
            raise InputError(f"the generator `{name}` needs `{key}`", path=("links", "generator"))
    try:
        return function(**arguments)
    except InputError as e:
        raise e.but(path=("links", *e.path)) from None


def _check_argument(key: str, value: Any) -> None:
    path = ("links", key)
    if key == "dimensions":
        whole = isinstance(value, list | tuple) and value and all(type(n) is int and n >= 1 for n in value)
        if not whole:
            raise InputError(f"`{key}`: expected a list of whole numbers from 1 on, found `{value!r}`", path=path)
        routers = 1
        for size in value:
            routers *= size
        if routers > _MOST:
            raise InputError(f"`{key}`: {routers:,} routers are more than {_MOST:,}", path=path)
        return
    least = 0 if key == "seed" else 1
    if type(value) is not int or not least <= value <= _MOST:
        raise InputError(f"`{key}`: expected a whole number from {least} to {_MOST:,}, found `{value!r}`", path=path)
