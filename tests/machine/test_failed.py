"""Cables and routers that do not work: which they are, which nodes they take along, and what is not there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata import machine, scenario
from odonata.errors import InputError


def failed(preset="zhang2018-272", **table):
    return machine.load({"preset": preset, "failed": table})


def test_a_machine_that_works_has_no_failures():
    system = machine.load("tiny")
    assert (system.failures, system.unusable_nodes) == ({}, ())
    assert failed().failures == {}, "an empty table says nothing"


def test_a_cable_by_its_port_and_by_its_routers():
    """Router 0 of the dragonfly with a = p = h = 4: ports 0 to 3 nodes, 4 to 6 local, 7 to 10 global."""
    assert failed(links=["0:4"]).failures == {"links": [[0, 4]]}
    assert failed(links=["0-1"]).failures == {"links": [[0, 4]]}
    assert failed(links=["1-0", "0:4"]).failures == {"links": [[0, 4]]}, "each cable once"


def test_all_cables_between_two_routers_fail_together():
    """D1: three links between the same slots of two chassis of an Aries."""
    system = failed("theta", links=["0-16"])
    assert len(system.failures["links"]) == 3
    wired = system.describe()
    dead = {int(peer) for peer, dead in zip(wired["slot_peer_router"], wired["slot_failed"], strict=True) if dead}
    assert dead == {0, 16}


def test_nodes_of_failed_routers_cannot_be_used():
    assert failed(routers=[1, 0, 1]).failures == {"routers": [0, 1]}
    assert failed(routers=[1]).unusable_nodes == (4, 5, 6, 7)
    assert failed("tiny", routers=[2]).unusable_nodes == (), "a spine has no nodes"
    assert failed("tiny", routers=[5]).unusable_nodes == (6, 7), "leaf 1 of group 1"
    assert failed("frontier", routers=[6]).unusable_nodes == tuple(range(16, 32)), "each of them has a NIC there"


def test_a_fraction_of_a_class():
    system = failed(fraction="5 %", **{"class": "global"}, seed=1)
    links = system.failures["links"]
    wired = system.describe()
    assert len(links) == 7, "5 % of 136 cables are 6.8"
    first = np.searchsorted(wired["slot_router"], [router for router, _ in links])
    slots = first + [port for _, port in links]
    assert {wired["classes"][c] for c in wired["slot_class"][slots]} == {"global"}
    assert (wired["slot_peer_router"][slots] > wired["slot_router"][slots]).all()
    assert int(wired["slot_failed"].sum()) == 14, "both ends of each"


def test_the_draw_is_splitmix64():
    """The cables with the smallest words of splitmix64; by a second, plain implementation."""

    def words(seed, count):
        for _ in range(count):
            seed = (seed + 0x9E3779B97F4A7C15) % 2**64
            z = seed
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
            yield z ^ (z >> 31)

    assert next(words(0, 1)) == 0xE220A8397B1DCDAF, "published first word of seed 0"
    wired = machine.load("tiny").describe()
    ends = zip(wired["slot_router"], wired["slot_port"], wired["slot_peer_router"], strict=True)
    cables = [[int(r), int(p)] for r, p, peer in ends if peer > r]
    for seed in (0, 1, 2**64 - 1):
        drawn = sorted(zip(words(seed, len(cables)), cables, strict=True))[:3]
        assert failed("tiny", fraction=0.11, seed=seed).failures["links"] == sorted(cable for _, cable in drawn)


@given(st.integers(0, 2**64 - 1), st.integers(0, 100), st.integers(0, 100))
def test_a_larger_fraction_only_adds(seed, a, b):
    less, more = sorted((a, b))
    links = [
        {tuple(end) for end in failed("tiny", fraction=f"{part} %", seed=seed).failures.get("links", [])}
        for part in (less, more)
    ]
    assert links[0] <= links[1]
    assert len(links[1]) == (more * 28 + 50) // 100, "28 cables join the routers of tiny"


def test_failures_are_part_of_the_document():
    system = failed(fraction="5 %", **{"class": "global"}, seed=1, routers=[3])
    again = machine.load(system.document())
    assert again.failures == system.failures
    values = {row.key: row.value for row in system.sources}
    assert values["failed.class"] == "global"
    assert values["failed.routers"] == "3"


def test_failures_of_a_preset_can_be_overridden(tmp_path):
    (tmp_path / "own.toml").write_text(
        'kind = "dragonfly"\ngroups = 2\nrouters = 2\nnodes_per_router = 1\nglobal_links_per_router = 1\n'
        "failed = { routers = [1] }\n[fabric.links]\n"
        + "".join(f'{name} = {{ bandwidth = "1 GB/s" }}\n' for name in ("node", "local", "global"))
    )
    assert machine.load("own.toml", folder=tmp_path).unusable_nodes == (1,)
    mended = machine.load({"preset": "own.toml", "failed": {"routers": []}}, folder=tmp_path)
    assert mended.failures == {}
    (tmp_path / "own.toml").write_text((tmp_path / "own.toml").read_text().replace("[1]", "[4]"))
    with pytest.raises(InputError, match=r"own\.toml:6: there is no router 4"):
        machine.load("own.toml", folder=tmp_path)


@pytest.mark.parametrize(
    ("table", "path", "message", "hint"),
    [
        ({"links": ["12"]}, ("links",), "`12` does not name a cable", "all cables between"),
        ({"links": "0:4"}, ("links",), "expected a list", None),
        ({"links": [3]}, ("links",), "`3` does not name a cable", None),
        ({"links": ["0:4", "99:0"]}, ("links", 1), "there is no router 99", "0 to 67"),
        ({"links": ["0:11"]}, ("links", 0), "router 0 has no port 11", "ports 0 to 10"),
        ({"links": ["0:3"]}, ("links", 0), "port 3 of router 0 leads to a node", "`routers`"),
        ({"links": ["0-5"]}, ("links", 0), "`0-5`: there is no cable between these routers", None),
        ({"links": ["4-4"]}, ("links", 0), "no cable between", None),
        ({"links": ["0-99"]}, ("links", 0), "there is no router 99", None),
        ({"routers": [68]}, ("routers", 0), "there is no router 68", "0 to 67"),
        ({"routers": [-1]}, ("routers",), "expected a list of routers", None),
        ({"routers": ["3"]}, ("routers",), "expected a list of routers", None),
        ({"fraction": 2}, ("fraction",), "the share of failed cables is at most 1", None),
        ({"fraction": "2 ns"}, ("fraction",), "expected a ratio", None),
        ({"class": "global"}, ("class",), "`class` is used only with `fraction`", "2 %"),
        ({"seed": 1}, ("seed",), "`seed` is used only with `fraction`", None),
        ({"fraction": 0.1, "class": "node"}, ("class",), "unknown class of links between routers `node`", None),
        ({"fraction": 0.1, "class": "globl"}, ("class",), "unknown class", "`global`"),
        ({"fraction": 0.1, "sed": 1}, ("sed",), "unknown key `sed`", "`seed`"),
    ],
)
def test_what_cannot_fail(table, path, message, hint):
    with pytest.raises(InputError) as caught:
        failed(**table)
    assert message in caught.value.message
    assert caught.value.path[: 2 + len(path)] == ("system", "failed", *path)
    assert hint is None or hint in caught.value.hint


def test_a_group_that_falls_apart_is_an_error_of_the_machine():
    with pytest.raises(InputError, match="router"):
        failed(links=["0-1", "0-2", "0-3"]).describe()


def test_errors_of_a_scenario_name_file_and_line():
    text = '[system]\npreset = "tiny"\nfailed = { fraction = "2 %", class = "globl" }\n'
    job = '[[job]]\nname = "a"\nnodes = 2\nplace = "contiguous"\napp = { pattern = "tornado", message = "1 B", '
    text += job + 'interval = "1 us", messages = 1 }\n'
    with pytest.raises(InputError, match=r"^a\.toml:3: unknown class of links between routers `globl`"):
        scenario.parse(text, "a.toml").resolve()
    with pytest.raises(InputError, match=r"^a\.toml:3: there is no router 16"):
        scenario.parse(text.replace('{ fraction = "2 %", class = "globl" }', "{ routers = [16] }"), "a.toml").resolve()


def test_nodes_that_have_failed_are_not_used_and_cut_nothing():
    system = failed(nodes=[5, "7-9", 5])
    assert system.unusable_nodes == (5, 7, 8, 9)
    assert system.failures == {}, "the core need not know"
    assert failed(nodes=[4], routers=[0]).unusable_nodes == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([272], "there is no node 272"),
        (["270-272"], "there is no node 272"),
        (["9-7"], "the range `9-7` ends before it begins"),
        (["x"], "`x` is no node"),
        ([-1], "`-1` is no node"),
        ([True], "`True` is no node"),
        ("5", "expected a list of nodes"),
        (["0-999999999"], "it names more than 16,777,216 nodes"),
    ],
)
def test_nodes_that_are_not_there(nodes, words):
    with pytest.raises(InputError, match=words):
        failed(nodes=nodes)


def test_no_job_is_placed_on_a_failed_node():
    from odonata.placement import place

    table = {"preset": "tiny", "failed": {"nodes": [0, "2-3"]}}
    assert place("contiguous", system=table, nodes=3).nodes == [1, 4, 5]
    with pytest.raises(InputError, match="node 2 cannot be used"):
        place("explicit", system=table, nodes=[2])
