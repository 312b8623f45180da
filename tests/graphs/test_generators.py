"""Generators against the counts that their papers publish."""

import hashlib
import time
from collections import Counter, deque

import pytest

from odonata.errors import InputError
from odonata.graphs import generators


def facts(made):
    """Routers and nodes of a graph, how many vertices have how many links, and the longest shortest path."""
    near = {}
    for a, b in made.links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    longest = 0
    for start in near:
        distance, open_ = {start: 0}, deque([start])
        while open_:
            vertex = open_.popleft()
            for far in near[vertex]:
                if far not in distance:
                    distance[far] = distance[vertex] + 1
                    open_.append(far)
        assert len(distance) == len(near)
        longest = max(longest, *distance.values())
    return len(near), dict(Counter(len(links) for links in near.values())), longest


def across(made, lower):
    """Links between the vertices of `lower` and the others."""
    return sum((a in lower) != (b in lower) for a, b in made.links)


@pytest.mark.parametrize(
    ("q", "routers", "degree", "nodes"),
    # Besta 2014: 2 q^2 routers of network radix (3 q - d) / 2, diameter 2; section 3.2: the Hoffman-Singleton graph for
    # q = 5; section 5: 722 routers with 29 links and 15 nodes for q = 19.
    [(5, 50, 7, 4), (7, 98, 11, 6), (11, 242, 17, 9), (13, 338, 19, 10), (19, 722, 29, 15)],
)
def test_slim_fly(q, routers, degree, nodes):
    made = generators.slim_fly(q)
    assert facts(made) == (routers, {degree: routers}, 2)
    assert made.nodes_per_router == nodes


@pytest.mark.parametrize("q", [2, 3, 5, 7, 11, 13])
def test_polarfly(q):
    # Lakhotia 2022, section 4: q^2 + q + 1 routers, of which q + 1 quadrics have q links and the others q + 1.
    made = generators.polarfly(q)
    assert facts(made) == (q**2 + q + 1, {q: q + 1, q + 1: q**2}, 2)


def test_polarfly_as_published():
    made = generators.polarfly(31)
    assert len({end for link in made.links for end in link}) == 993  # Lakhotia 2022: radix 32


@pytest.mark.parametrize(
    ("dimensions", "degree", "longest", "cut"),
    # Dally 1990: k^n routers with 2 n links, longest path n floor(k / 2), bisection 2 k^(n - 1).
    [([4, 4, 4], 6, 6, 32), ([6, 6], 4, 6, 12), ([5], 2, 2, None), ([8, 8], 4, 8, 16)],
)
def test_torus(dimensions, degree, longest, cut):
    made = generators.torus(dimensions)
    routers = 1
    for size in dimensions:
        routers *= size
    assert facts(made) == (routers, {degree: routers}, longest)
    if cut is not None:
        assert across(made, {f"r{router}" for router in range(routers // 2)}) == cut


def test_mesh():
    # Corners have two links, edges three, the inside four; the longest path is the sum of the sides.
    assert facts(generators.mesh([4, 3])) == (12, {2: 4, 3: 6, 4: 2}, 5)
    assert across(generators.mesh([4, 4]), {f"r{router}" for router in range(8)}) == 4


@pytest.mark.parametrize(("radix", "levels"), [(4, 2), (8, 2), (4, 3), (8, 3)])
def test_folded_clos(radix, levels):
    made = generators.folded_clos(radix, levels)
    nodes = radix**levels // 2 ** (levels - 1)
    # Al-Fares 2008: k^3 / 4 nodes and 5 k^2 / 4 switches of k ports in three levels.
    switches = 5 * radix**2 // 4 if levels == 3 else radix + radix // 2
    assert facts(made) == (nodes + switches, {1: nodes, radix: switches}, 2 * levels)


def test_switch():
    assert facts(generators.switch(5)) == (6, {1: 5, 5: 1}, 2)


@pytest.mark.parametrize(
    ("routers", "degree", "seed"), [(50, 5, 1), (20, 19, 0), (9, 4, 3), (245, 14, 2), (8, 7, 5), (6, 2, 1)]
)
def test_random_regular(routers, degree, seed):
    made = generators.random_regular(routers, degree, seed)
    assert facts(made)[:2] == (routers, {degree: routers})
    assert len({tuple(link) for link in made.links}) == routers * degree // 2
    assert made == generators.random_regular(routers, degree, seed)


def test_graphs_of_a_seed_stay_the_same():
    """Results of earlier versions hold: the links of a seed are these."""
    text = repr([generators.random_regular(*of).links for of in ((50, 5, 1), (20, 19, 0), (9, 4, 3), (60, 57, 3))])
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "0aec4f42775ca18498eb934b9822657351fb6a804e5c4ccb2b8a0a7b18c24711"
    )


@pytest.mark.parametrize(
    "table",
    [
        {"generator": "random-regular", "routers": 5_000, "degree": 20},
        {"generator": "polarfly", "q": 61},
        {"generator": "slim-fly", "q": 43},
    ],
    ids=lambda table: table["generator"],
)
def test_large_graphs_take_seconds(table):
    """Each took more than 15 seconds when its time grew with the square of its links or routers."""
    begin = time.process_time()
    assert len(generators.make(table).links) > 50_000 - 1
    assert time.process_time() - begin < 6


def test_another_seed_is_another_graph():
    assert generators.random_regular(50, 5, 1) != generators.random_regular(50, 5, 2)


@pytest.mark.parametrize(
    ("table", "message", "path"),
    [
        ({"generator": "tours"}, "`tours`", ("links", "generator")),
        ({}, "generator", ("links", "generator")),
        ({"generator": "torus"}, "needs `dimensions`", ("links", "generator")),
        ({"generator": "torus", "dimension": [2]}, "`dimension`", ("links", "dimension")),
        ({"generator": "torus", "dimensions": [2, 0]}, "found `[2, 0]`", ("links", "dimensions")),
        ({"generator": "torus", "dimensions": [1000, 1000]}, "1,000,000 routers", ("links", "dimensions")),
        ({"generator": "torus", "dimensions": [4], "wrap": False}, "`wrap`", ("links", "wrap")),
        ({"generator": "slim-fly", "q": 9}, "expected a prime number, found 9", ("links",)),
        ({"generator": "slim-fly", "q": 2}, "expected an odd prime", ("links",)),
        ({"generator": "polarfly", "q": 4}, "expected a prime number, found 4", ("links",)),
        ({"generator": "folded-clos", "radix": 5}, "an even number of ports", ("links",)),
        ({"generator": "folded-clos", "radix": 4, "levels": 4}, "expected 2 or 3", ("links",)),
        ({"generator": "random-regular", "routers": 5, "degree": 3}, "no graph of 5 routers with 3", ("links",)),
        ({"generator": "slim-fly", "q": 997}, "1,988,018 routers and 1,486,043,455 links", ("links",)),
        ({"generator": "slim-fly", "q": 89}, "15,842 routers and 1,053,493 links", ("links",)),
        ({"generator": "polarfly", "q": 997}, "995,007 routers and 496,507,994 links", ("links",)),
        ({"generator": "folded-clos", "radix": 2000, "levels": 3}, "5,000,000 routers and 6,000,000,000", ("links",)),
        ({"generator": "folded-clos", "radix": 2000}, "3,000 routers and 4,000,000 links", ("links",)),
        ({"generator": "random-regular", "routers": 100_000, "degree": 50}, "2,500,000 links", ("links",)),
        ({"generator": "switch", "nodes": True}, "found `True`", ("links", "nodes")),
    ],
)
def test_what_does_not_fit_is_refused(table, message, path):
    with pytest.raises(InputError) as caught:
        generators.make(table)
    assert message in caught.value.message
    assert caught.value.path == path
