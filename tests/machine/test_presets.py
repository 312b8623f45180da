"""The machines that ship: their numbers, and a source for each of them."""

import json
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

from odonata import _core, machine
from odonata.errors import InputError

#: Presets whose only sources are the papers themselves, or a guess.
OF_PAPERS = ("kang2019", "tiny")
#: What a source begins with.
ORIGINS = (
    *("Kang 2019", "computed from ", "computed: ", "as kang2019: ", "assumed: ", "default: "),
    *("Zhang 2018", "De Sensi 20", "Salimi Beni 2022", "Turisini 2023", "the authors' published SST configuration"),
    *(
        "NERSC",
        "CINECA",
        "ORNL",
        "ALCF documentation",
        "ARCHER2 documentation",
        "LUMI documentation",
        "SciNet",
        "EDR InfiniBand",
        "data sheet of ",
        "calibrated on ",
    ),
    *("EE Times 2018", "NVIDIA 2023", "NCCL, ", "RCCL, "),
    "the link list and the configuration of Theta that come with CODES",
)


@pytest.mark.parametrize("name", machine.names())
def test_every_number_of_a_preset_has_a_source(name):
    for row in machine.load(name).sources:
        assert row.source.startswith(ORIGINS), row
        assert name in OF_PAPERS or row.confidence in ("high", "medium", "low"), row
        assert "(confidence" not in row.origin


@pytest.mark.parametrize("name", machine.names())
def test_a_preset_says_itself_what_is_not_its_own_default(name):
    """No number of a preset may hang on a default of the code, which could change."""

    def sources(name):
        text = (files("odonata.machine") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
        told = tomllib.loads(text)
        return set(told["sources"]) | (sources(told["preset"]) if "preset" in told else set())

    told = sources(name)
    assert {row.key for row in machine.load(name).sources} == told


@pytest.mark.parametrize("name", machine.names())
def test_switches_cut_through_except_those_of_the_simulator_of_kang_2019(name):
    switching = machine.load(name).fabric.get("switching", "store-and-forward")
    assert switching == ("store-and-forward" if name in OF_PAPERS else "cut-through")


@pytest.mark.parametrize(
    ("nodes", "a", "g", "h"), [(272, 4, 17, 4), (528, 4, 33, 8), (544, 8, 17, 2), (1056, 8, 33, 4)]
)
def test_zhang_2018_are_the_machines_of_the_paper(nodes, a, g, h):
    """L1, L3: p = 4, one link for each pair of groups, all links 8 Gbit/s; three channels (authors' configuration)."""
    system = machine.load(f"zhang2018-{nodes}")
    wired = system.describe()
    assert (wired["nodes"], wired["routers"], wired["groups"]) == (nodes, a * g, g)
    assert wired["links"] == {"node": nodes, "local": g * a * (a - 1) // 2, "global": g * (g - 1) // 2}
    assert wired["links_per_pair"] == 1
    assert system.topology["global_links_per_router"] == h
    assert {link["bandwidth"] for link in system.fabric["links"].values()} == {10**15}
    assert {(link["latency_ps"], link["buffer_bytes"]) for link in system.fabric["links"].values()} == {
        (40_000, 14_000)
    }
    assert (system.fabric["packet_bytes"], system.fabric["router_delay_ps"]) == (1024, 100_000)
    assert system.fabric["channels"] == 3


@pytest.mark.parametrize("nodes", [272, 528, 544, 1056])
def test_zhang_2018_as_published_differs_in_its_routers_only(nodes):
    """L3: a crossbar of 1 GB/s, or the bandwidth of global links if that is more; 14 KB of output buffer, 8 B flits."""
    published, plain = (machine.load(f"zhang2018-{nodes}{variant}") for variant in ("-as-published", ""))
    router = {
        "kind": "input-queued",
        "crossbar": 10**15,
        "output_buffer_bytes": 14_000,
        "arbitration": "least-recently-served",
    }
    assert (plain.fabric["switching"], plain.fabric["flit_bytes"]) == ("cut-through", 8)
    assert published.fabric == plain.fabric | {"router": router}
    assert published.topology == plain.topology
    assert machine.variants(plain.name) == [published.name]
    for ratio, crossbar in (("2 Gbit/s", 10**15), ("32 Gbit/s", 4 * 10**15)):
        changed = machine.load(published.name, fabric={"links": {"global": {"bandwidth": ratio}}})
        assert changed.fabric["router"]["crossbar"] == crossbar


@pytest.mark.parametrize(("given", "micro"), [("2 Gbit/s", 25 * 10**13), ("32 Gbit/s", 4 * 10**15)])
def test_the_ratios_of_zhang_2018_are_overrides(given, micro):
    """L3: ratios 0.25 and 4, as the comment in the preset says."""
    text = (files("odonata.machine") / "presets" / "zhang2018-272.toml").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if f'bandwidth = "{given}"' in line and line.startswith("#"))
    table = tomllib.loads(line.lstrip("# ").split("   #")[0].split("  #")[0])["system"]
    assert machine.load(table).fabric["links"]["global"]["bandwidth"] == micro


@pytest.mark.parametrize("name", ["aries", "piz-daint", "cori", "theta", "edison"])
def test_aries_machines_have_the_groups_of_the_paper(name):
    """D1: 96 routers a group, 15 + 15 + at most 10 tiles, 4 nodes each; D2: 5.25 and 4.7 GB/s."""
    system = machine.load(name)
    wired = system.describe()
    assert wired["routers"] == 96 * wired["groups"]
    assert wired["nodes"] == 384 * wired["groups"]
    ports = dict.fromkeys(wired["classes"], 0)
    for class_ in wired["slot_class"][wired["slot_router"] == 0]:
        ports[wired["classes"][class_]] += 1
    assert (ports["node"], ports["chassis"], ports["group"]) == (4, 15, 15)
    assert 0 < ports["optical"] <= 10
    bandwidths = {name: link["bandwidth"] // 10**13 for name, link in system.fabric["links"].items()}
    assert bandwidths == {"node": 1600, "chassis": 525, "group": 525, "optical": 470}


@pytest.mark.parametrize(
    ("name", "nodes", "routers", "groups", "links_per_pair"),
    [
        ("edison", 5760, 1440, 15, 24),
        ("theta", 3456, 864, 9, 48),
        ("cori", 13056, 3264, 34, 12),
        ("piz-daint", 7680, 1920, 20, 24),
        ("marconi100", 980, 113, 4, 80),
        ("niagara", 2016, 202, 5, 54),
        ("leonardo", 3420, 684, 19, 18),
        ("frontier", 9408, 2352, 74, 4),
        ("lumi", 3072, 768, 24, 20),
        ("perlmutter", 1792, 448, 28, 4),
        ("alps", 2688, 672, 21, 25),
        ("aurora", 10624, 5312, 166, 2),
        ("polaris", 560, 70, 5, 24),
        ("archer2", 5888, 736, 46, 4),
        ("cresco8", 768, 5, 1, 0),
        ("leonardo-gpu", 3420, 684, 19, 18),
    ],
)
def test_sizes_of_real_machines(name, nodes, routers, groups, links_per_pair):
    wired = machine.load(name).describe()
    assert (wired["nodes"], wired["routers"], wired["groups"]) == (nodes, routers, groups)
    assert wired["links_per_pair"] == links_per_pair


def test_published_bandwidths_follow_from_the_presets():
    """Frontier: 270 TB/s of global links, 57 % of injection. LUMI-G: 276 TB/s, both ways (its documentation)."""
    frontier = machine.load({"preset": "frontier", "last_group_routers": 32}).describe()
    assert frontier["links"]["global"] * 25 / 1000 == pytest.approx(270, abs=0.2)
    assert dict(machine.load("frontier").table.facts())["out of a group"].startswith("7.28 TB/s, 57%")
    assert machine.load("lumi").describe()["links"]["global"] * 2 * 25 / 1000 == 276


@pytest.mark.parametrize(
    ("table", "links"),
    [
        ({"preset": "theta", "groups": 12, "links_per_pair": 32}, 12 * 11 // 2 * 32),
        (
            {"preset": "niagara", "groups": 4, "leaves": 21, "last_group_leaves": 21, "links_per_pair": 72},
            6 * 72,
        ),
    ],
)
def test_other_sizes_named_in_presets_can_be_built(table, links):
    system = machine.load(table)
    assert system.describe()["links"][system.table.between_groups] == links


def test_kang_2019_is_the_machine_of_the_paper():
    """K1: 3,456 nodes, 432 routers, 5,184 local and 1,728 global cables, 48 per pair of groups."""
    system = machine.load("kang2019")
    wired = system.describe()
    assert (wired["nodes"], wired["routers"], wired["groups"]) == (3456, 432, 9)
    assert wired["links"] == {"node": 3456, "local": 5184, "global": 1728}
    assert wired["links_per_pair"] == system.links_per_pair == 48
    assert system.topology["arrangement"] == "linear"


def test_kang_2019_has_the_bandwidths_of_the_paper_and_the_decided_rest():
    """K3, K10 and the micro-parameters that the paper does not give."""
    system = machine.load("kang2019")
    links = system.fabric["links"]
    assert {c: link["bandwidth"] for c, link in links.items()} == {
        "node": 17_179_869_184_000_000,
        "local": 5_637_144_576_000_000,
        "global": 4_692_251_770_880_000,
    }
    assert {c: link["buffer_bytes"] for c, link in links.items()} == {"node": 16384, "local": 8192, "global": 16384}
    assert {(link["latency_ps"], link["credit_delay_ps"]) for link in links.values()} == {(0, 0)}
    assert system.fabric["packet_bytes"] == 2048
    assert system.fabric["router_delay_ps"] == 100_000
    assert system.fabric["channels"] == 2
    assert system.fabric["nic"] == {"overhead_ps": 0, "order": "fcfs"}
    assert system.tgll_bandwidth == 4_680_000_000 * 10**6


def test_size_formulas_are_shown():
    """K2, equations 1 and 2."""
    facts = dict(machine.load("kang2019").table.facts())
    assert facts["largest Dragonfly+ of radix 48"] == "332,352 nodes"
    assert facts["largest dragonfly of radix 48"].startswith("90,300 nodes (3.68 times")
    assert facts["ports used"] == "40 of a leaf, 40 of a spine, of 48"


def test_tiny_offers_a_choice_at_every_turn():
    system = machine.load("tiny")
    assert system.shape.nodes == 16
    assert system.links_per_pair == 2
    small = {"preset": "kang2019", "fabric": {"links": {"node": {"buffer": "8 KiB"}}}}
    assert system.fabric == machine.load(small).fabric, "tiny differs from kang2019 in its size and this buffer only"


@pytest.mark.parametrize("name", machine.names())
def test_the_core_accepts_a_preset(name):
    system = machine.load(name)
    routing = {"name": "minimal", "select": "random"}
    if system.table.kind == "fat-tree":
        routing = {"name": "up-down", "spread": "packet"}
    elif system.table.kind != "dragonfly-plus":
        routing["gateways"] = "all"
    job = {
        "name": "a",
        "nodes": [0, 1],
        "record": "nothing",
        "traffic": {
            "pattern": {"name": "uniform-random"},
            "message_bytes": 1,
            "interval_ps": 1000,
            "intervals": 1,
            "arrival": {"name": "poisson"},
            "first": "at-zero",
        },
    }
    spec = {
        "version": 1,
        "seed": 0,
        "compat": None,
        "topology": system.topology,
        "fabric": system.fabric,
        "routing": routing,
        "jobs": [job],
        "stop": {"jobs": [0], "at_ps": None},
        "measure": {"from_ps": 0, "until_ps": None, "arrivals_every_ps": None},
    }
    _core.check(json.dumps(spec))


@pytest.mark.parametrize("name", machine.names())
def test_a_preset_says_whether_it_was_held_against_measurements(name):
    """Never, or with what and where: pages that exist."""
    measured = machine.load(name).measured
    assert measured is not None
    pages = re.findall(r"validation/([\w-]+\.md)", measured)
    assert measured.startswith("never") or pages
    for page in pages:
        assert (Path(__file__).parents[2] / "validation" / page).is_file(), page


def test_a_changed_preset_was_never_held_against_measurements():
    changed = machine.load({"preset": "leonardo", "groups": 5})
    assert changed.measured == f"never with these changes; leonardo: {machine.load('leonardo').measured}"
    assert machine.load({"preset": "leonardo", "measured": "by us"}).measured == "by us"
    with pytest.raises(InputError, match="`measured`: expected a text, found `3`"):
        machine.load({"preset": "leonardo", "measured": 3})


@pytest.mark.parametrize("name", ["leonardo", "cresco8"])
def test_the_error_that_a_preset_states_is_that_of_its_page(name):
    rows = pl.read_csv(Path(__file__).parents[2] / "validation" / f"interference-{name}.csv")
    stated = machine.load(name).measured
    for what in ("all cells", "alone, fitted", "alone, not fitted"):
        (ours,) = rows.filter(pl.col("what").str.starts_with(f"{what}:"))["ours"]
        assert f"x {ours:.2f}" in stated, what
