"""Which rank is on which node."""

import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odonata.errors import InputError
from odonata.machine.shape import Shape
from odonata.scenario import parse
from odonata.scenario.apps.communication import map_by_communication
from odonata.scenario.apps.mapping import MappingTable

TEXT = """\
system = "tiny"
[[job]]
name = "a"
place = { nodes = "3,1,7,5" }
app = { collective = "barrier" }
ranks_per_node = 2
mapping = %s
[run]
seed = %d
"""
PLACED = [3, 1, 7, 5]


def nodes(mapping, seed=1, folder=None):
    path = "s.toml" if folder is None else folder / "s.toml"
    return parse(TEXT % (mapping, seed), path).resolve().spec["jobs"][0]["nodes"]


def test_linear_and_round_robin():
    assert nodes('"linear"') == [3, 3, 1, 1, 7, 7, 5, 5]
    assert nodes('"round-robin"') == [3, 1, 7, 5, 3, 1, 7, 5]


def test_random_nodes_keep_neighbours_together():
    """L5: the node list is shuffled, ranks 2i and 2i+1 share a node."""
    mapped = nodes('"random-nodes"')
    assert mapped == nodes('"random"')
    assert mapped[::2] == mapped[1::2]
    assert sorted(mapped[::2]) == sorted(PLACED)
    assert len({tuple(nodes('"random-nodes"', seed)) for seed in range(20)}) > 5


def test_random_ranks_part_them():
    drawn = {tuple(nodes('"random-ranks"', seed)) for seed in range(20)}
    assert len(drawn) > 15
    assert all(Counter(f) == Counter(PLACED * 2) for f in drawn)
    assert any(f[0] != f[1] for f in drawn)


def test_a_seed_of_its_own_makes_it_the_same_in_every_run():
    given = '{ name = "random-ranks", seed = 5 }'
    assert nodes(given, 1) == nodes(given, 2) != nodes('"random-ranks"', 5)


def test_a_second_job_is_shuffled_differently():
    other = '[[job]]\nname = "b"\nplace = { nodes = "0,2,4,6" }\nranks_per_node = 2\nmapping = "random-ranks"\n'
    other += 'app = { collective = "barrier" }\n'
    text = TEXT % ('"random-ranks"', 1)
    jobs = parse(text.replace("[run]", f"{other}[run]")).resolve().spec["jobs"]
    places = [
        [job["nodes"].index(node) for node in placed] for job, placed in zip(jobs, (PLACED, [0, 2, 4, 6]), strict=True)
    ]
    assert places[0] != places[1]


def test_a_second_job_is_not_shuffled_as_the_first_is_at_the_next_seed():
    table = MappingTable(name="random-ranks")
    seeds = [table.decided(seed, job).seed for seed in range(30) for job in range(30)]
    assert len(set(seeds)) == 900
    assert table.decided(1, 0).seed == 16091405134311094284


def test_a_file_lists_positions_or_nodes(tmp_path):
    (tmp_path / "positions.txt").write_text("# rank by rank\n0 1 2 3\n3, 2, 1, 0 # and back\n")
    assert nodes('"positions.txt"', folder=tmp_path) == [3, 1, 7, 5, 5, 7, 1, 3]
    (tmp_path / "ids").write_text("7 7 5 5 3 3 1 1")
    assert nodes('{ file = "ids", holds = "node-ids" }', folder=tmp_path) == [7, 7, 5, 5, 3, 3, 1, 1]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("0 1 2 3 0 1 2\n", None, "the file places 7 ranks, the job has 8"),
        ("0 1 2 3\n0 1 2 3 0\n", 2, "rank 8 would be the 3rd on node 3, with 2 a node"),
        ("0 1\n2 4\n", 2, "the job has no node number 4"),
        ("0 1\n2 x\n", 2, "expected a position in the list of nodes, found `x`"),
        ("0 1\n2 -1\n", 2, "found `-1`"),
        ("0 ١\n", 1, "found `١`"),
        ("", None, "the file places 0 ranks"),
    ],
)
def test_a_file_that_does_not_fit(tmp_path, text, line, message):
    (tmp_path / "map.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        nodes('"map.txt"', folder=tmp_path)
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "map.txt"), line)


def test_a_node_that_is_not_the_jobs(tmp_path):
    (tmp_path / "map.txt").write_text("3 1 7 5 3 1 7 6")
    with pytest.raises(InputError, match="node 6 is not one of the job's nodes"):
        nodes('{ file = "map.txt", holds = "node-ids" }', folder=tmp_path)


def test_an_option_of_a_named_mapping_can_be_set():
    scenario = parse(TEXT % ('"random-ranks"', 1)).set("job.a.mapping.seed", 5)
    assert scenario.resolve().spec["jobs"][0]["nodes"] == nodes('{ name = "random-ranks", seed = 5 }')


CLUSTERS = """\
system = "tiny"
[[job]]
name = "a"
place = "contiguous"
app = { matrix = "m.csv"%s }
ranks_per_node = 2
mapping = "communication"
"""


def crossing(ranks, places, of):
    return sum(of(places[a]) != of(places[b]) for a in range(ranks) for b in range(ranks) if a % 8 == b % 8)


def test_ranks_that_exchange_much_come_close_to_each_other(tmp_path):
    """Clusters of four ranks, far apart in their numbers: each fits on two nodes of a router."""
    pytest.importorskip("pymetis")
    ranks = 32
    rows = [(a, b) for a in range(ranks) for b in range(ranks) if a != b and a % 8 == b % 8]
    (tmp_path / "m.csv").write_text("source,target,bytes\n" + "".join(f"{a},{b},1000\n" for a, b in rows))
    resolution = parse(CLUSTERS % "", tmp_path / "s.toml").resolve()
    placed = resolution.spec["jobs"][0]["nodes"]
    assert Counter(placed) == dict.fromkeys(range(16), 2), "every place is used once"
    shape = resolution.system.shape
    assert crossing(ranks, placed, shape.router_of) == 0
    linear = [rank // 2 for rank in range(ranks)]
    assert crossing(ranks, linear, shape.router_of) > 0
    again = parse(CLUSTERS % "", tmp_path / "s.toml").resolve().spec["jobs"][0]["nodes"]
    assert again == placed


@given(st.integers(2, 40), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_every_place_is_used_and_nothing_costs_more_than_in_order(ranks, per_node, random):
    pytest.importorskip("pymetis")
    shape = Shape(groups=4, routers_per_group=3, nodes_per_router=4)
    nodes = random.sample(range(shape.nodes), -(-ranks // per_node))
    slots = [nodes[rank // per_node] for rank in range(ranks)]
    pairs = sorted({tuple(random.sample(range(ranks), 2)) for _ in range(random.randint(1, 3 * ranks))})
    traffic = np.array([(a, b, random.randrange(2**41), 1) for a, b in pairs]).T
    mapped = map_by_communication(traffic, slots, shape)
    assert Counter(mapped) == Counter(slots)

    def cost(places):
        def distance(a, b):
            levels = (lambda node: node, shape.router_of, shape.group_of)
            return (0, 2, 3, 5)[sum(level(a) != level(b) for level in levels)]

        return sum(distance(places[a], places[b]) * (size + 1) for a, b, size, _ in traffic.T.tolist())

    assert cost(mapped) <= cost(slots)


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(InputError, match=r"needs METIS, which is not installed(.|\n)*odonata\[all\]"):
        nodes('"communication"')
