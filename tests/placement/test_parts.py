"""The parts of placement: ids as text, files of nodes, random numbers, fixed layouts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.errors import InputError
from odonata.placement import LAYOUTS, format_ids, layouts, parse_ids, place
from odonata.placement.ids import read_nodes
from odonata.placement.splitmix import SplitMix64


@given(st.lists(st.integers(0, 100)))
def test_ids_are_read_back_as_they_were_written(ids):
    assert parse_ids(format_ids(ids)) == ids


def test_ids_as_text():
    assert format_ids([0, 1, 2, 7, 9, 10]) == "0-2,7,9-10"
    assert parse_ids(" 0 - 2, 7,") == [0, 1, 2, 7]


@given(st.text("0123456789-, a", max_size=7))
def test_any_text_gives_ids_or_an_error(text):
    try:
        assert all(isinstance(n, int) for n in parse_ids(text))
    except InputError as e:
        assert e.message  # noqa: PT017


def test_splitmix64_gives_the_words_of_its_reference_implementation():
    """The first words of Vigna's splitmix64.c from state 1234567."""
    stream = SplitMix64(1234567)
    assert [stream.word() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@given(st.integers(0, 2**64 - 1), st.integers(1, 60), st.data())
def test_few_of_many_are_the_first_of_all(seed, n, data):
    """A small sample is drawn without a copy of all items, and is the same."""
    count = data.draw(st.integers(0, n))
    items = list(range(100, 100 + n))
    assert SplitMix64(seed)._sample_few(items, count) == SplitMix64(seed).shuffled(items)[:count]


@given(st.integers(0, 2**64 - 1), st.integers(1, 40))
def test_a_full_sample_is_a_permutation(seed, n):
    items = list(range(n))
    drawn = SplitMix64(seed).sample(items, n)
    assert sorted(drawn) == items
    assert items == list(range(n)), "the list given must not change"


def test_words_beyond_the_last_whole_multiple_are_drawn_anew():
    class High(SplitMix64):
        words = iter([2**64 - 1, 5])

        def word(self):
            return next(self.words)

    assert High(0).below(3) == 5 % 3, "2^64 - 1 lies beyond the last multiple of 3"


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_a_layout_file_is_what_its_procedure_gives(name):
    layout = LAYOUTS[name]
    assert layout.nodes() == layout.derive()


def test_the_random_layout_of_kang_2019():
    """K18: 2,304 nodes, 29.6 % in groups 0 to 2, none where the background is."""
    nodes = place("kang2019-random", "kang2019", 2304).nodes
    background = set(place("per-leaf", "kang2019", groups="0-2", per_leaf=2).nodes)
    inside = sum(n < 3 * 384 for n in nodes)
    assert (len(nodes), len(set(nodes)), inside) == (2304, 2304, 682)
    assert f"{inside / 2304:.1%}" == "29.6%"
    assert not background & set(nodes)
    assert nodes[:5] == [933, 2241, 3226, 3107, 1953], "the shipped layout never changes"


def test_no_layout_with_682_inside_exists_beside_eight_per_leaf():
    inside, _ = layouts.free_nodes(8)
    assert len(inside) == 576 < layouts.INSIDE


def test_the_broadcast_layout_and_its_roots():
    """K51, K54: rank 0 inside or outside of the background's groups, on the same nodes."""
    background = place("per-leaf", "kang2019", groups="0-2", per_leaf=8).nodes
    drawn = place("kang2019-random-broadcast", "kang2019", busy=background).nodes
    within = place("kang2019-random-broadcast", "kang2019", busy=background, root_groups="0-2").nodes
    beyond = place("kang2019-random-broadcast", "kang2019", busy=background, root_groups="3-8").nodes
    assert set(drawn) == set(within) == set(beyond)
    assert within[0] < 3 * 384 <= beyond[0]
    assert sum(a != b for a, b in zip(drawn, within, strict=True)) in (0, 2)


def test_a_layout_refuses_taken_nodes_and_other_numbers():
    with pytest.raises(InputError, match="of the layout `kang2019-random` is already taken"):
        place("kang2019-random", "kang2019", busy=[933])
    with pytest.raises(InputError, match="has 2,304 nodes, not 100"):
        place("kang2019-random", "kang2019", 100)


def test_a_file_of_ids(tmp_path):
    file = tmp_path / "nodes.txt"
    file.write_text("# chosen by hand\n3, 4\n7-9  # a range\n\n1\n")
    assert read_nodes(file) == [(3, 2), (4, 2), (7, 3), (8, 3), (9, 3), (1, 5)]
    assert place("explicit", "tiny", folder=tmp_path, nodes="nodes.txt").nodes == [3, 4, 7, 8, 9, 1]


def test_a_json_file(tmp_path):
    file = tmp_path / "nodes.json"
    file.write_text(json.dumps([3, "5-6"]))
    assert place("explicit", "tiny", folder=tmp_path, nodes="nodes.json").nodes == [3, 5, 6]
    file.write_text(json.dumps({"nodes": [2, 1], "reason": "x"}))
    assert place("explicit", "tiny", folder=tmp_path, nodes="nodes.json").nodes == [2, 1]


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("a.txt", "1\n2x\n", "a.txt:2: expected ids or ranges"),
        ("a.txt", "1\n5-2\n", "a.txt:2: the range `5-2` ends before it begins"),
        ("a.txt", "1\n\n99\n", "a.txt:3: there is no node 99"),
        ("a.txt", "1\n2\n1\n", "a.txt:3: node 1 is listed twice"),
        ("a.txt", "# nothing\n", "a.txt: no nodes are listed"),
        ("a.json", "[1,\n2", "a.json:2: not JSON"),
        ("a.json", "{}", "a.json: the object has no `nodes`"),
        ("a.json", '{"nodes": 5}', "a.json: expected a list of nodes"),
        ("a.json", "[1.5]", "a.json: expected ids or ranges"),
    ],
)
def test_files_that_are_wrong(tmp_path, name, text, where):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        place("explicit", "tiny", folder=tmp_path, nodes=name)
    assert f"/{where}" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"no\.txt: cannot read it"):
        place("explicit", "tiny", folder=tmp_path, nodes="no.txt")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="byte 0 is not UTF-8"):
        place("explicit", "tiny", folder=tmp_path, nodes="b.txt")
