"""Routers with a crossbar, from a machine's table to the core's document and to a run."""

import json

import pytest

from odonata import _core, machine
from odonata.cli.system_text import facts, text
from odonata.errors import InputError
from odonata.scenario import parse

GIB_16 = 16 * 2**30 * 10**6
ROUTER = {
    "kind": "input-queued",
    "crossbar": GIB_16,
    "output_buffer_bytes": 16_384,
    "arbitration": "least-recently-served",
}
SCENARIO = """\
system = "tiny"
{line}

[[job]]
name = "a"
nodes = 16
app = {{ pattern = "uniform-random", message = "8 KiB", interval = "1 us", messages = 20 }}
"""


def fabric(router):
    return machine.load("tiny", fabric={"router": router}).fabric


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("input-queued", {}),
        ({"kind": "virtual-output-queued"}, {"kind": "virtual-output-queued"}),
        ({"kind": "input-queued", "crossbar": "2x"}, {"crossbar": 2 * GIB_16}),
        ({"kind": "input-queued", "crossbar": "1.05x"}, {"crossbar": GIB_16 * 105 // 100}),
        ({"kind": "input-queued", "crossbar": "17 GB/s"}, {"crossbar": 17 * 10**15}),
        ({"kind": "input-queued", "output_buffer": "14 KiB"}, {"output_buffer_bytes": 14_336}),
        ({"kind": "input-queued", "arbitration": "least-recently-served"}, {}),
    ],
)
def test_what_the_core_is_told(given, told):
    assert fabric(given)["router"] == ROUTER | told


@pytest.mark.parametrize("ideal", ["ideal", {"kind": "ideal"}])
def test_an_ideal_router_is_what_the_core_does_anyway(ideal):
    """Runs without crossbars keep their identity, and a system with crossbars can be made ideal again."""
    assert fabric(ideal) == machine.load("tiny").fabric
    queued = machine.load("tiny", fabric={"router": "input-queued"}).document()
    assert machine.load(queued, fabric={"router": ideal}).fabric == machine.load("tiny").fabric


def test_a_kind_alone_replaces_only_the_kind():
    queued = machine.load("tiny", fabric={"router": {"kind": "input-queued", "crossbar": "2x"}}).document()
    router = machine.load(queued, fabric={"router": "virtual-output-queued"}).fabric["router"]
    assert (router["kind"], router["crossbar"]) == ("virtual-output-queued", 2 * GIB_16)


def test_kinds_are_short_for_tables_in_a_file_too(tmp_path):
    (tmp_path / "m.toml").write_text(
        'name = "mine"\nkind = "dragonfly-plus"\ngroups = 3\nleaves = 2\nspines = 2\nnodes_per_leaf = 1\n'
        'global_links_per_spine = 2\n[fabric]\nrouter = "input-queued"\nnic = "aries"\n[fabric.links]\n'
        + "".join(f'{name} = {{ bandwidth = "16 GiB/s" }}\n' for name in ("node", "local", "global"))
    )
    spec = machine.load("m.toml", folder=tmp_path).fabric
    assert (spec["router"]["kind"], spec["router"]["crossbar"]) == ("input-queued", GIB_16)
    assert "aries" in spec["nic"]


def test_the_document_of_a_system_makes_the_same_system():
    system = machine.load("tiny", fabric={"router": {"kind": "input-queued", "crossbar": "1.5x"}})
    assert system.document()["fabric"]["router"]["crossbar"] == "1.5x"
    assert machine.load(system.document()).fabric == system.fabric


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ('fabric = { router = "input-queue" }', "`kind`: expected `ideal`, `input-queued` or ", "`input-queued`"),
        ("fabric = { router = 5 }", "`router`: expected a table, found `5`", None),
        (
            'fabric = { router = { crossbar = "1x" } }',
            "`router`: missing key `kind`",
            "`ideal`",
        ),
        (
            'fabric = { router = { kind = "ideal", crossbar = "1x" } }',
            "an `ideal` router has no `crossbar`",
            '"input-queued"',
        ),
        (
            'fabric = { router = { kind = "input-queued", crossbar = "2 y" } }',
            "`crossbar`: `y` is not a unit of bandwidth",
            '"17 GB/s"',
        ),
        ('fabric = { router = { kind = "input-queued", crossbar = 2 } }', "`crossbar`: the bandwidth 2 has", '"1x"'),
        (
            'fabric = { router = { kind = "input-queued", crossbar = "0x" } }',
            "`crossbar`: `0x`: a crossbar without bandwidth never delivers a packet",
            None,
        ),
        (
            'fabric = { router = { kind = "input-queued", crossbar = "5000x" } }',
            "5000x of the fastest link's bandwidth is not between 0 and 18 TB/s",
            None,
        ),
        (
            'fabric = { router = { kind = "input-queued", crossbar = "1 B/s" } }',
            "`crossbar`: a packet of 2 KiB takes 2048 s",
            None,
        ),
        (
            'fabric = { router = { kind = "input-queued", output_buffer = "2 KB" } }',
            "the output buffer (2,000 B) must hold at least one packet (2,048 B)",
            None,
        ),
        (
            'fabric = { router = { kind = "input-queued", output_bufer = "2 KB" } }',
            "unknown key `output_bufer`",
            "`output_buffer`",
        ),
        (
            'fabric = { router = { kind = "input-queued", arbitration = "age" } }',
            "`arbitration`: expected `least-recently-served`, found `age`",
            None,
        ),
        (
            'fabric = { router = "input-queued" }\ncompat = "codes-2019"',
            "`router`: the model `codes-2019` does not support this",
            "leave it out",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_its_line(line, message, hint):
    with pytest.raises(InputError) as caught:
        parse(SCENARIO.format(line=line), "s.toml").resolve()
    error = caught.value
    assert str(error).startswith(f"s.toml:2: {message}"), str(error)
    assert hint is None or hint in error.hint


def test_show_prints_the_router():
    shown = text(facts(machine.load("tiny")))
    assert "router                             ideal (store-and-forward)" in shown
    router = {"router": {"kind": "input-queued", "crossbar": "2x"}, "switching": "cut-through"}
    shown = text(facts(machine.load("tiny", fabric=router)))
    assert "router                             input-queued (cut-through)" in shown
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in shown.splitlines() if "fabric.router." in line}
    assert rows["fabric.router.crossbar"].split(maxsplit=1) == ["2x", "given in the scenario"]
    assert rows["fabric.router.output_buffer"].endswith("assumed: as large as the largest input buffer")


def test_a_crossbar_takes_time():
    """At a low load, so that nothing but the crossing itself matters; who waits for whom is tested in crates/sim."""

    def mean(router):
        scenario = parse(SCENARIO.format(line=f'fabric = {{ router = "{router}" }}'), "s.toml")
        spec = scenario.set("job.a.app.interval", "20 us").resolve().spec
        latency = _core.run(json.dumps(spec))["jobs"][0]["latency"]
        return latency["sum"] / latency["count"]

    assert mean("ideal") < min(mean("virtual-output-queued"), mean("input-queued"))
