"""Which rank is on which node."""

from collections import Counter

import pytest

from odonata.errors import InputError
from odonata.scenario import parse
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
