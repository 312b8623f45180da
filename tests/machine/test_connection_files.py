"""Connection files of CODES: what they say, what has failed for them, and files that do not fit."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata import machine
from odonata.errors import InputError
from odonata.machine.connection_files import read_inter

THETA = {"preset": "theta", "groups": 3}
TINY = {"preset": "tiny", "groups": 3}
BOTH = [(2, 6), (6, 2)]


def packed(records, numbers):
    return b"".join(struct.pack(f"<{numbers}i", *record) for record in records)


def wired_cables(system, class_):
    """Directed pairs of routers, one for each end of a cable of the class."""
    wired = system.describe()
    index = wired["classes"].index(class_)
    ends = zip(wired["slot_router"], wired["slot_peer_router"], wired["slot_class"], strict=True)
    return [(int(a), int(b)) for a, b, c in ends if c == index]


def intra_of_theta(system, columns=16):
    """The links of group 0 as CODES' scripts write them: type 0 in a row, 1 in a column."""
    rows = [(a, b, 0) for a, b in wired_cables(system, "chassis") if a < 96]
    return rows + [(a, b, 1) for a, b in wired_cables(system, "group") if a < 96]


@pytest.fixture
def here(tmp_path):
    def write(inter=None, intra=None):
        if inter is not None:
            (tmp_path / "inter").write_bytes(inter)
        if intra is not None:
            (tmp_path / "intra").write_bytes(intra)
        return tmp_path

    return write


def load(table, folder, **wiring):
    return machine.load({**table, "wiring": wiring}, folder=folder)


@pytest.mark.parametrize(("table", "class_"), [(THETA, "optical"), (TINY, "global")])
def test_a_machine_survives_its_own_connection_file(here, table, class_):
    system = machine.load({**table, "links_per_pair": 2})
    cables = wired_cables(system, class_)
    again = load(table, here(inter=packed(cables, 2)), inter="inter")
    assert sorted(wired_cables(again, class_)) == sorted(cables)
    assert again.links_per_pair == 2
    rows = {row.key: row for row in again.sources}
    assert rows["global_links"].source == "imported from inter"
    assert "arrangement" not in rows
    assert machine.load(again.document()).topology == again.topology, "the document needs no file"


def test_other_links_than_the_rules_would_give(here):
    """Both links of a pair at the same routers, which no arrangement here does."""
    cables = [(0, 96), (0, 96), (1, 192), (97, 193)]
    both = [*cables, *((b, a) for a, b in cables)]
    system = load(THETA, here(inter=packed(both, 2)), inter="inter")
    assert system.topology["global_links"] == [list(cable) for cable in cables]
    assert system.describe()["links"]["optical"] == 4


def test_links_inside_a_group_that_are_all_there(here):
    whole = machine.load(THETA)
    system = load(THETA, here(intra=packed(intra_of_theta(whole), 3)), intra="intra")
    assert system.failures == {}
    assert system.topology == whole.topology


def test_missing_links_inside_a_group_have_failed_in_every_group(here):
    """One of three parallel links is gone, and the only one between two routers."""
    records = intra_of_theta(machine.load(THETA))
    for gone in ((0, 16, 1), (16, 0, 1), (2, 3, 0), (3, 2, 0)):
        records.remove(gone)
    system = load(THETA, here(intra=packed(records, 3)), intra="intra")
    wired = system.describe()
    ends = [
        (int(r), int(p), int(w))
        for r, w, p in zip(wired["slot_router"], wired["slot_failed"], wired["slot_peer_router"], strict=True)
        if w
    ]
    expected = [(96 * g + a, 96 * g + b) for g in range(3) for a, b in ((0, 16), (2, 3), (3, 2), (16, 0))]
    assert sorted((r, p) for r, p, _ in ends) == sorted(expected)
    assert {row.key: row.source for row in system.sources}["failed.links"] == "not in intra"


def test_a_dragonfly_plus_has_records_of_two_numbers(here):
    whole = machine.load(TINY)
    local = [(a, b) for a, b in wired_cables(whole, "local") if a < 4]
    assert load(TINY, here(intra=packed(local, 2)), intra="intra").failures == {}
    with pytest.raises(InputError, match="the file ends inside record 6: 4 bytes are left, a record has 12"):
        load({"preset": "zhang2018-272"}, here(intra=packed(local, 2)), intra="intra")


def test_the_type_of_a_dragonflys_link_means_nothing(here):
    system = machine.load("zhang2018-272")
    local = [(a, b, 5) for a, b in wired_cables(system, "local") if a < 4]
    assert load({"preset": "zhang2018-272"}, here(intra=packed(local, 3)), intra="intra").failures == {}


def test_paths_are_relative_to_the_file_that_names_them(tmp_path):
    (tmp_path / "sub").mkdir()
    cables = wired_cables(machine.load(TINY), "global")
    (tmp_path / "sub" / "links").write_bytes(packed(cables, 2))
    (tmp_path / "sub" / "own.toml").write_text(
        'kind = "dragonfly-plus"\ngroups = 3\nleaves = 2\nspines = 2\nnodes_per_leaf = 2\n'
        'global_links_per_spine = 3\nwiring = { inter = "links" }\n[fabric.links]\n'
        + "".join(f'{name} = {{ bandwidth = "1 GB/s" }}\n' for name in ("node", "local", "global"))
    )
    system = machine.load("sub/own.toml", folder=tmp_path)
    assert sorted(wired_cables(system, "global")) == sorted(cables)
    (tmp_path / "sub" / "links").write_bytes(b"123")
    with pytest.raises(InputError, match=r"links: the file ends inside record 1: 3 bytes are left"):
        machine.load("sub/own.toml", folder=tmp_path)


def test_a_file_is_read_anew(here):
    assert load(TINY, here(inter=packed(BOTH, 2)), inter="inter").topology["global_links"] == [[2, 6]]
    more = [*BOTH, (11, 3), (3, 11)]
    assert load(TINY, here(inter=packed(more, 2)), inter="inter").topology["global_links"] == [[2, 6], [3, 11]]


@pytest.mark.parametrize(
    ("inter", "message", "hint"),
    [
        (b"", "inter: it is empty", None),
        (packed(BOTH, 2)[:-3], "inter: the file ends inside record 2: 5 bytes are left, a record has 8", None),
        (packed([(2, 6, 0)], 3), "the file ends inside record 2", "records of 3 numbers would fit"),
        (packed([*BOTH, (2, 12)], 2), "inter: record 3 (2 -> 12): there is no router 12", "0 to 11"),
        (packed([(-1, 6)], 2), "inter: record 1 (-1 -> 6): there is no router -1", None),
        (
            packed([*BOTH, (2, 10)], 2),
            "inter: record 3 (2 -> 10): there is no link back from 10 to 2",
            "both directions",
        ),
        (packed([*BOTH, (2, 6)], 2), "inter: record 3 (2 -> 6): there is no link back", None),
        (packed([(2, 2)], 2), "record 1 (2 -> 2): a router cannot be linked to itself", None),
        (packed([*BOTH, (2, 3), (3, 2)], 2), "record 3 (2 -> 3): the routers 2 and 3 are both in group 0", None),
        (packed([*BOTH, (0, 6), (6, 0)], 2), "record 3 (0 -> 6): router 0 has no global ports", None),
        (packed(BOTH * 4, 2), "record 7 (2 -> 6): router 2 has only 3 global ports", None),
    ],
)
def test_inter_files_that_do_not_fit(here, inter, message, hint):
    with pytest.raises(InputError) as caught:
        load(TINY, here(inter=inter), inter="inter")
    assert message in str(caught.value)
    assert hint is None or hint in caught.value.hint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: [*r, (0, 17, 0), (17, 0, 0)], "(0 -> 17): no cable joins these routers of a group"),
        (lambda r: [*r, (0, 1, 0), (1, 0, 0)], "(0 -> 1): only 1 cable joins these routers of a group"),
        (lambda r: [*r, (0, 16, 1), (16, 0, 1)], "(0 -> 16): only 3 cables join these routers of a group"),
        (lambda r: [(0, 1, 1), *r[1:]], "record 1 (0 -> 1): type 1, but this link is in a row (type 0)"),
        (lambda r: [*r[:-1], (*r[-1][:2], 7)], "type 7, but this link is in a column (type 1)"),
        (lambda r: r[1:], "there is no link back"),
        (lambda r: [*r, (0, 96, 1)], "there is no router 96"),
    ],
)
def test_intra_files_that_do_not_fit(here, change, message):
    records = change(intra_of_theta(machine.load(THETA)))
    with pytest.raises(InputError) as caught:
        load(THETA, here(intra=packed(records, 3)), intra="intra")
    assert "intra: record " in str(caught.value)
    assert message in str(caught.value)


def test_a_smaller_last_group_cannot_lack_links_of_a_full_one(here):
    table = {"preset": "tiny", "last_group_leaves": 1}
    local = [(a, b) for a, b in wired_cables(machine.load("tiny"), "local") if a < 4]
    assert load(table, here(intra=packed(local, 2)), intra="intra").failures == {}
    fewer = [pair for pair in local if set(pair) != {0, 2}]
    with pytest.raises(InputError, match="the last group of this machine is smaller"):
        load(table, here(intra=packed(fewer, 2)), intra="intra")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="inter: cannot read it: no such file"):
        load(TINY, tmp_path, inter="inter")
    with pytest.raises(InputError, match="intra: cannot read it"):
        load(TINY, tmp_path, intra="intra")
    with pytest.raises(InputError, match="unknown key `interr`") as caught:
        load(TINY, tmp_path, interr="inter")
    assert caught.value.path == ("system", "wiring", "interr")


def test_a_list_and_a_file_cannot_be_given_together(here):
    table = {**TINY, "global_links": [[2, 6]]}
    with pytest.raises(InputError, match=r"`global_links` and `wiring\.inter` cannot be given together"):
        load(table, here(inter=packed(BOTH, 2)), inter="inter")


class Any12:
    """Twelve routers in three groups, all with as many global ports as one likes."""

    def routers_in_all(self):
        return 12

    def group_of_router(self, router):
        return router // 4

    def global_ports_of(self, router):
        return 10**6


@given(
    st.binary(max_size=64) | st.lists(st.tuples(st.integers(-1, 13), st.integers(-1, 13))).map(lambda r: packed(r, 2))
)
def test_no_bytes_make_it_stumble(tmp_path_factory, data):
    """Either cables between groups that the file has in both directions, or an error with its name."""
    file = tmp_path_factory.getbasetemp() / "any"
    file.write_bytes(data)
    try:
        cables = read_inter(file, Any12())
    except InputError as e:
        error = e
    else:
        error = None
    if error is not None:
        assert error.file == str(file)
        return
    assert 2 * len(cables) == len(data) // 8
    assert all(a // 4 < b // 4 for a, b in cables)
