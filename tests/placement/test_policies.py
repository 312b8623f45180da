"""The policies of Kang 2019, by hand; what is refused; the table."""

import pytest

from odonata import machine, placement
from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement import Placer, place


def test_contiguous_takes_the_lowest_free_nodes():
    assert place("contiguous", "tiny", 4, busy="0-1,3").nodes == [2, 4, 5, 6]
    assert place("contiguous", "tiny", 4, busy=[5], from_group=1).nodes == [4, 6, 7, 8]
    assert place("contiguous", "tiny", 4, groups="1,3").nodes == [4, 5, 6, 7]


def test_contiguous_in_groups_3_to_8_fills_them():
    """K18: 2,304 processes in groups 3 to 8."""
    assert place("contiguous", "kang2019", 2304, groups="3-8").nodes == list(range(1152, 3456))


def test_random_is_what_it_always_was():
    """Golden values: a layout drawn years ago must not change."""
    placement = place("random", "kang2019", 8, seed=7)
    assert placement.nodes == [2775, 2935, 1608, 1065, 254, 3077, 304, 2479]
    assert place("random", "kang2019", 8).nodes == place("random", "kang2019", 8, seed=1).nodes
    assert place("random", "kang2019", 8, seed=8).nodes != placement.nodes


def test_random_is_uniform():
    """Each of 16 nodes is rank 0 of 4 in about a quarter of a quarter of 4,096 draws (chi-squared, 15 degrees)."""
    shape, draws = Shape(4, 2, 2), 4096
    for rank in (0, 3):
        seen = [0] * shape.nodes
        for seed in range(draws):
            seen[place("random", shape, 4, seed=seed).nodes[rank]] += 1
        expected = draws / shape.nodes
        assert sum((n - expected) ** 2 / expected for n in seen) < 37.7, "beyond the 99.9 % quantile"


def test_per_leaf_is_the_background_of_kang_2019():
    """K11: two nodes on each leaf of groups 0 to 2, 48 per group; K13: up to eight."""
    nodes = place("per-leaf", "kang2019", groups="0-2", per_leaf=2).nodes
    assert nodes == [16 * leaf + i for leaf in range(72) for i in (0, 1)]
    assert len(place("per-leaf", "kang2019", groups="0-2", per_leaf=8).nodes) == 576


def test_per_leaf_passes_over_busy_nodes():
    assert place("per-leaf", "tiny", busy=[0], groups=[0], per_leaf=1).nodes == [1, 2]


def test_explicit_keeps_the_order():
    assert place("explicit", "tiny", nodes="5,0-2,9").nodes == [5, 0, 1, 2, 9]
    assert place("explicit", "tiny", nodes=[3, "7-8", 1]).nodes == [3, 7, 8, 1]


@pytest.mark.parametrize(
    ("policy", "count", "options", "path", "message", "hint"),
    [
        ("contigous", 3, {}, (), "unknown placement policy `contigous`", "`contiguous`"),
        ("contiguous", 17, {}, ("count",), "17 nodes do not fit: only 16 are free anywhere", None),
        ("contiguous", 5, {"groups": 2}, ("count",), "only 4 are free in group 2", None),
        ("contiguous", 3, {"group": 2}, ("group",), "unknown option of `contiguous` `group`", "`groups`"),
        ("contiguous", 3, {"groups": "9"}, (), "there is no group 9", "groups 0 to 3"),
        ("contiguous", 3, {"groups": "a"}, ("groups",), "expected groups such as", None),
        ("contiguous", 3, {"groups": "3-1"}, ("groups",), "ends before it begins", None),
        ("contiguous", 3, {"groups": ""}, ("groups",), "no groups are named", None),
        ("contiguous", 3, {"groups": "1", "from_group": 1}, ("from_group",), "exclude each other", None),
        ("contiguous", 3, {"from_group": 4}, (), "there is no group 4", None),
        ("contiguous", None, {}, ("count",), "the number of nodes is missing", None),
        ("contiguous", 0, {}, ("count",), "from 1 on", None),
        ("contiguous", True, {}, ("count",), "from 1 on", None),
        ("random", 3, {"seed": -1}, ("seed",), "from 0 to 2^64 - 1", None),
        ("random", 3, {"seed": 2**64}, ("seed",), "from 0 to 2^64 - 1", None),
        ("per-leaf", None, {}, (), "`per-leaf` needs `per_leaf`", None),
        ("per-leaf", None, {"per_leaf": 3}, ("per_leaf",), "a leaf has 2", None),
        ("per-leaf", 5, {"per_leaf": 1}, ("count",), "make 8, not 5", None),
        ("explicit", None, {"nodes": "99"}, ("nodes",), "there is no node 99", "nodes 0 to 15"),
        ("explicit", None, {"nodes": "1,1"}, ("nodes",), "node 1 is listed twice", None),
        ("explicit", 4, {"nodes": "0-2"}, ("count",), "3 of the 4 nodes", None),
        ("explicit", None, {"nodes": []}, ("nodes",), "no nodes are listed", None),
        ("explicit", None, {"nodes": -1}, ("nodes",), "from 0 on", None),
        ("explicit", None, {"nodes": 1.5}, ("nodes",), "expected nodes such as", None),
        ("explicit", None, {"nodes": "0-99999999999"}, ("nodes",), "longer than any machine", None),
        ("kang2019-random", None, {}, (), "for a machine of 3,456 nodes", None),
    ],
)
def test_what_is_refused(policy, count, options, path, message, hint):
    with pytest.raises(InputError) as caught:
        Placer("tiny").place(policy, count, options)
    assert message in caught.value.message
    assert caught.value.path == path
    assert hint is None or hint in caught.value.hint


def test_busy_nodes_are_named_with_their_owner():
    with pytest.raises(InputError, match="node 3 is already taken by job `other`"):
        place("explicit", "tiny", busy=[3], owners={3: "other"}, nodes="3")


def test_busy_nodes_must_exist():
    with pytest.raises(InputError, match="there is no node 16"):
        place("contiguous", "tiny", 1, busy="3,16")


def test_a_leaf_without_enough_free_nodes_is_named():
    with pytest.raises(InputError, match="leaf 1 of group 2 has only 1 free"):
        place("per-leaf", "tiny", busy=[10], groups="2", per_leaf=2)


def test_the_table_lists_policies_and_layouts():
    names = placement.names()
    assert names[:4] == ["contiguous", "random", "per-leaf", "explicit"]
    assert names[-2:] == ["kang2019-random", "kang2019-random-broadcast"]
    assert len(names) == len(set(names)) == 27


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("RDN", "random-nodes"),
        ("RDR", "random-routers"),
        ("rdg", "random-groups"),
        ("RRN", "round-robin-nodes"),
        ("Rrr", "round-robin-routers"),
        ("random-leaves", "random-routers"),
        ("random-pods", "random-groups"),
        ("round-robin-leaves", "round-robin-routers"),
        ("same-leaf", "same-group"),
        ("same-pod", "same-island"),
        ("different-pods", "different-islands"),
    ],
)
def test_acronyms_of_the_literature_and_the_names_of_levels_are_names_too(alias, name):
    assert placement.get(alias) is placement.get(name)
    assert alias not in placement.names()


LIGHT = {"intensity": "light"}


@pytest.mark.parametrize(
    ("policy", "options", "count", "reason"),
    [
        ("level-spread", {}, 2, "2 nodes on leaf 0, the one with the most idle nodes anywhere"),
        ("level-spread", {}, 6, "6 nodes in pod 0, the one with the most idle nodes anywhere, leaf by leaf in turn"),
        ("level-spread", {}, 20, "20 nodes anywhere, pod by pod in turn: no leaf and no pod has as many idle"),
        ("random-pods", {"seed": 1}, 6, "6 nodes anywhere, pod by pod, drawn with seed 1"),
        ("random-leaves", {"seed": 1}, 6, "6 nodes anywhere, leaf by leaf, drawn with seed 1"),
        ("round-robin-leaves", {}, 6, "6 nodes anywhere, a leaf from each pod in turn"),
        ("round-robin-nodes", {}, 6, "6 nodes anywhere, one from each pod in turn"),
        ("contiguous", {"groups": "1-2"}, 6, "6 nodes in pods 1-2, the lowest free ones"),
        ("jokanovic", {}, 6, "6 nodes in pod 0, the first anywhere with as many idle"),
        ("jokanovic", {}, 20, "20 nodes anywhere from the last one down: more than a pod holds"),
        ("slurm-zhang-sst", {}, 20, "20 nodes anywhere, from the leaves with the fewest idle nodes"),
        ("same-pod", {}, 6, "6 nodes in pod 0, the first with room anywhere, one from each leaf in turn"),
        ("contention-aware", {}, 6, "6 nodes in pod 0, the tightest with room anywhere: no links to cores"),
        (
            "intensity-aware",
            {"intensity": "light"},
            20,
            "20 nodes anywhere for a light job, in as few pods as possible",
        ),
    ],
)
def test_policies_speak_of_leaves_and_pods_on_a_fat_tree(policy, options, count, reason):
    """Four pods of four leaves of two nodes; on other machines the same policies say router and group."""
    tree = Shape(4, 4, 2, router_name="leaf", group_name="pod", links_out="links to cores")
    chosen = placement.place(policy, tree, count, **options)
    assert chosen.reason == reason
    other = placement.place(policy, Shape(4, 4, 2), count, **options)
    assert other.nodes == chosen.nodes
    words = reason.replace("links to cores", "global links").replace("pod", "group").replace("leaves", "routers")
    assert other.reason == (words if policy == "same-pod" else words.replace("leaf", "router"))


def test_a_fat_tree_names_its_levels():
    shape = machine.load("summit").shape
    assert (shape.router_name, shape.router_names, shape.group_name) == ("leaf", "leaves", "pod")
    assert machine.load("leonardo").shape.group_name == "group"
