"""Scenarios on dragonflies and cascades, with failures and with several NICs a node: what the core takes."""

import json

import pytest

from odonata import _core, machine
from odonata.errors import InputError
from odonata.scenario import ROUTINGS, parse
from odonata.scenario.routings import DEFAULTS, routings_of

LINK = '{ bandwidth = "10 GB/s", buffer = "8 KiB" }'
DRAGONFLY = f"""\
[system]
kind = "dragonfly"
groups = 5
routers = 4
nodes_per_router = 2
global_links_per_router = 1
[system.fabric.links]
node = {LINK}
local = {LINK}
global = {LINK}
"""
CASCADE = f"""\
[system]
kind = "cascade"
groups = 3
rows = 2
columns = 3
nodes_per_router = 2
global_links_per_router = 1
[system.fabric.links]
node = {LINK}
chassis = {LINK}
group = {LINK}
optical = {LINK}
"""
PLUS = 'system = { preset = "tiny" }\n'
TEXTS = {"dragonfly-plus": PLUS, "dragonfly": DRAGONFLY, "cascade": CASCADE}
JOB = """
[[job]]
name = "a"
nodes = 16
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 3 }
"""
SEVERAL = [(kind, name, {}) for kind in TEXTS for name in routings_of(kind)]
ROUTER = [
    (kind, name, {"via": "router"})
    for kind in ("dragonfly", "cascade")
    for name in routings_of(kind)
    if "via" in ROUTINGS[name].model_fields
]


def scenario(kind, *changes, job=JOB):
    made = parse(TEXTS[kind] + job, "s.toml")
    for key, value in changes:
        made = made.set(key, value)
    return made


def run(resolved):
    return _core.run(json.dumps(resolved.spec), None)["jobs"]


@pytest.mark.parametrize("name", machine.names())
def test_every_machine_can_be_used_without_further_words(name):
    """Its default routing, with the channels that it has."""
    shape = machine.load(name).shape
    nodes = min(2 * shape.nodes_per_group, shape.nodes)
    resolved = parse(f'system = "{name}"' + JOB.replace("16", str(nodes))).resolve()
    table = resolved.system.table
    wanted = table.routing or DEFAULTS[table.usual_routing]
    assert resolved.document["scenario"]["routing"]["name"] == wanted


@pytest.mark.parametrize("nodes", [272, 528, 544, 1056])
def test_machines_of_zhang_2018_have_the_routing_of_the_paper(nodes):
    """Its simulator's routers also sense what that simulator compares. A scenario may name others."""
    plain, published = (parse(f'system = "zhang2018-{nodes}{of}"' + JOB) for of in ("", "-as-published"))
    for made, sensing in ((plain, None), (published, {"kind": "output-buffer"})):
        spec = made.resolve().spec
        assert (spec["routing"]["name"], spec.get("sensing")) == ("adaptive-local", sensing)
    spec = published.set("routing", "ugal-l").set("sensing", "backlog").resolve().spec
    assert (spec["routing"]["name"], spec.get("sensing")) == ("ugal", None)
    assert plain.set("routing", {"factor": 1.5}).resolve().spec["routing"]["factor_milli"] == 1500


@pytest.mark.parametrize(
    ("key", "value", "path", "message"),
    [
        ("system.routing", "ugal-x", ("system", "routing", "name"), "unknown routing `ugal-x`"),
        ("system.routing", {"name": "ugal-l", "biass": "1 KiB"}, ("system", "routing", "biass"), "unknown key `biass`"),
        (
            "system.routing",
            "fpar",
            ("system", "routing", "name"),
            "the routing `fpar` is for dragonfly-plus, not for a",
        ),
        ("system.sensing", "queue", ("system", "sensing"), "`queue`"),
        (
            "system.sensing",
            {"kind": "backlog", "delay": "1 ns"},
            ("system", "sensing", "delay"),
            "does not use `delay`",
        ),
    ],
)
def test_a_wrong_default_of_a_machine_is_told_where_it_stands(key, value, path, message):
    with pytest.raises(InputError, match=message) as told:
        scenario("dragonfly", (key, value)).resolve()
    assert told.value.path == path


@pytest.mark.parametrize("name", [name for name in machine.names() if machine.load(name).shape.groups > 1])
def test_the_offset_of_tornado_is_a_group_of_the_machine(name):
    size = machine.load(name).shape.nodes_per_group
    text = f'system = "{name}"' + JOB.replace("16", str(2 * size + 1)).replace("uniform-random", "tornado")
    assert parse(text).resolve().spec["jobs"][0]["traffic"]["pattern"] == {"name": "tornado", "offset": size}


@pytest.mark.parametrize(("kind", "name", "options"), [*SEVERAL, *ROUTER])
def test_every_routing_with_just_enough_channels(kind, name, options):
    """And with one fewer it is refused, here and by the core: both know the same numbers."""
    made = scenario(kind, ("routing", {"name": name, **options}))
    if name == "application-aware":
        made = made.set("fabric.nic", "aries")
    with_eight = made.set("fabric.channels", 8)
    needed = machine.load(made.data["system"])
    routing = with_eight.table.routing
    count = routing.channels_needed(needed)
    if count > 8:
        with pytest.raises(InputError, match=f"needs {count} virtual channels, the fabric has 8"):
            with_eight.resolve()
        return
    resolved = made.set("fabric.channels", count).resolve()
    (job,) = run(resolved)
    assert job["delivered"] == 16 * 3
    if count == 1:
        return
    fewer = json.loads(json.dumps(resolved.spec))
    fewer["fabric"]["channels"] = count - 1
    with pytest.raises(_core.CoreError) as caught:
        _core.check(json.dumps(fewer))
    assert (caught.value.code, caught.value.parameters["need"]) == ("too-few-channels", count)
    with pytest.raises(InputError, match=f"needs {count} virtual channels, the fabric has {count - 1}"):
        made.set("fabric.channels", count - 1).resolve()


@pytest.mark.parametrize("kind", ["dragonfly", "cascade"])
def test_the_default_channels_are_enough_for_the_default_routing(kind: str) -> None:
    resolved = scenario(kind).resolve()
    assert run(resolved)[0]["delivered"] == 16 * 3
    assert resolved.spec["fabric"]["channels"] == {"dragonfly": 4, "cascade": 8}[kind]


def test_too_few_channels_are_named_with_the_number_that_is_needed():
    with pytest.raises(InputError) as caught:
        scenario("dragonfly").set("fabric.channels", 2).resolve()
    assert str(caught.value) == (
        "s.toml with -s fabric.channels: the routing `ugal-l` needs 3 virtual channels, the fabric has 2\n"
        "  hint: set channels = 3 in [fabric]"
    )


def test_groups_without_a_cable_need_another_stage():
    """The core finds that out; the words are those of the scenario."""
    made = scenario("dragonfly", ("system.pair_links", [[0, 1, 0]]), ("routing", "minimal"))
    with pytest.raises(InputError) as caught:
        made.set("fabric.channels", 2).resolve()
    error = caught.value
    assert (error.file, error.path) == ("s.toml with -s fabric.channels", ("fabric", "channels"))
    assert error.code == "too-few-channels"
    assert "`minimal` needs 3 virtual channels" in error.message
    assert run(made.set("fabric.channels", 3).resolve())[0]["delivered"] == 16 * 3


def test_what_is_too_little_for_a_routing_of_one_job_points_there():
    made = scenario("dragonfly", ("system.pair_links", [[0, 1, 0]]), ("system.fabric.channels", 2))
    made = made.set("routing", "min-hash").set("job.a.routing", "minimal")
    with pytest.raises(InputError, match="the routing `minimal` needs 3 virtual channels on this machine") as caught:
        made.resolve()
    assert "with -s system.fabric.channels" in str(caught.value)


def test_group_shift_stays_between_neighbouring_groups():
    job = JOB.replace("16", "40").replace("uniform-random", "group-shift")
    resolved = scenario("dragonfly", ("fabric.channels", 3), ("measure.links", {"every": "1 us"}), job=job).resolve()
    assert resolved.spec["jobs"][0]["traffic"]["pattern"] == {"name": "group-shift", "shift": 1}
    result = _core.run(json.dumps(resolved.spec), None)["messages"]
    group = resolved.system.shape.group_of
    assert {
        (group(int(d)) - group(int(s))) % 5 for s, d in zip(result["source"], result["destination"], strict=True)
    } == {1}


def test_worst_case_is_another_name():
    """Resolved files have the name, and the run is the same."""
    job = JOB.replace("uniform-random", "group-shift")
    first, other = (
        scenario("dragonfly", ("fabric.channels", 3), job=job.replace("group-shift", name)).resolve()
        for name in ("group-shift", "worst-case")
    )
    assert first.id == other.id
    apps = [resolved.document["scenario"]["job"][0]["app"] for resolved in (first, other)]
    assert apps[0] == apps[1]
    assert apps[0]["pattern"] == "group-shift"


@pytest.mark.parametrize(
    ("app", "message", "hint"),
    [
        ({"shift": 2}, "a shift of 2 leads from each of the job's 2 groups to itself", "from 1 to 1"),
        ({"shift": 0}, "`shift`: a count must be between 1 and", None),
        ({"offset": 3}, "unknown key `offset`", "shift"),
    ],
)
def test_shifts_that_cannot_be(app, message, hint):
    made = scenario("dragonfly", ("fabric.channels", 3), job=JOB.replace("uniform-random", "group-shift"))
    for key, value in app.items():
        made = made.set(f"job.a.app.{key}", value)
    with pytest.raises(InputError) as caught:
        made.resolve()
    assert message in str(caught.value)
    assert hint is None or hint in caught.value.hint


def test_a_shift_needs_two_groups():
    job = JOB.replace("16", "4").replace("uniform-random", "worst-case")
    with pytest.raises(InputError, match="group-shift needs ranks in at least two groups"):
        scenario("dragonfly", ("fabric.channels", 3), job=job).resolve()


TWO = JOB + JOB.replace('"a"', '"b"')


def test_jobs_with_routings_of_their_own_run_together():
    made = scenario("dragonfly", ("fabric.channels", 4), ("routing", "minimal"), job=TWO)
    made = made.set("job.b.routing", {"name": "valiant", "via": "router"})
    resolved = made.resolve()
    assert resolved.document["scenario"]["job"][1]["routing"] == {
        "name": "valiant",
        "via": "router",
        "select": "random",
        "gateways": "nearest",
    }
    first, second = run(resolved)
    assert first["minimal"] == first["packets"]
    assert second["minimal"] < second["packets"]
    assert resolved.alone("b")["jobs"][0]["routing"]["name"] == "valiant"


def test_sensing_and_its_delay_change_what_happens():
    base = scenario("dragonfly", ("fabric.channels", 4), ("routing", "par"), ("job.a.app.interval", "0.4 us"))
    sensors = [
        "backlog",
        "credits",
        "both",
        "none",
        {"kind": "credits", "delay": "500 ns"},
        {"kind": "credits", "delay": {"global": "500 ns"}},
        {"kind": "credits", "levels": 64},
    ]
    resolved = [base.set("sensing", sensor).set("job.a.app.messages", 50).resolve() for sensor in sensors]
    assert resolved[4].spec["sensing"] == {"kind": "credits", "delay_ps": {"local": 500_000, "global": 500_000}}
    assert resolved[5].document["scenario"]["sensing"]["delay"] == {"local": "0 s", "global": "500 ns"}
    assert len({run(spec)[0]["latency"]["sum"] for spec in resolved}) == len(sensors)


def test_failures_reach_the_core_and_their_nodes_are_left_out():
    made = scenario("dragonfly", ("system.failed", {"routers": [1], "links": ["5-6"]}), ("routing", "minimal"))
    with pytest.raises(InputError) as caught:
        made.set("fabric.channels", 3).resolve()
    assert caught.value.code == "too-few-channels"
    resolved = made.set("fabric.channels", 6).resolve()
    assert resolved.spec["failures"]["routers"] == [1]
    assert len(resolved.spec["failures"]["links"]) == 1
    assert resolved.spec["jobs"][0]["nodes"] == [0, 1, *range(4, 18)]
    assert resolved.document["scenario"]["system"]["failed"]["routers"] == [1]
    assert run(resolved)[0]["delivered"] == 16 * 3


def test_nodes_of_failed_routers_that_are_named_are_refused():
    made = scenario("dragonfly", ("system.failed", {"routers": [1, 3]}), ("fabric.channels", 8))
    text = made.text.replace("nodes = 16", 'place = { nodes = "0-2,8-9" }')
    with pytest.raises(InputError) as caught:
        parse(text, "s.toml").resolve()
    line = text[: text.index("place =")].count("\n") + 1
    assert str(caught.value) == f"s.toml:{line}: node 2 cannot be used: its router has failed"
    with pytest.raises(InputError, match="nodes 2-3,6-7 cannot be used: their routers have failed"):
        parse(text.replace("0-2,8-9", "0-9"), "s.toml").resolve()


def test_the_error_for_jobs_that_do_not_fit_mentions_failures():
    made = scenario("dragonfly", ("system.failed", {"routers": [1, 3]}), ("fabric.channels", 8), ("job.a.nodes", 37))
    with pytest.raises(InputError) as caught:
        made.resolve()
    assert str(caught.value) == (
        "s.toml with -s job.a.nodes: 37 nodes do not fit: only 36 are free anywhere\n"
        "  hint: 4 nodes are not used because they or their routers have failed: 2-3,6-7"
    )


@pytest.mark.parametrize(
    ("failed", "message"),
    [
        ({"routers": [99]}, "99"),
        ({"links": ["0-19"]}, "0"),
        ({"routers": "x"}, "expected a list of routers"),
    ],
)
def test_failures_that_are_not_there_point_into_the_system(failed, message):
    with pytest.raises(InputError) as caught:
        scenario("dragonfly", ("system.failed", failed), ("fabric.channels", 4)).resolve()
    assert message in caught.value.message
    assert "with -s system.failed" in str(caught.value)


def test_failures_that_cut_the_machine_are_named():
    links = ["0-1", "0-2", "0-3"]
    with pytest.raises(InputError) as caught:
        scenario("dragonfly", ("system.failed", {"links": links}), ("fabric.channels", 4)).resolve()
    assert caught.value.code == "group-cut-apart"
    assert caught.value.path == ("system", "failed")


def test_several_nics_a_node():
    made = scenario("dragonfly", ("system.rails", 2), ("fabric.channels", 3), ("job.a.nodes", 8))
    made = made.set("system.nodes_per_router", 2)
    assert "rail" not in made.resolve().spec["fabric"]["nic"]
    busy = made.set("fabric.nic.rail", "least-busy").resolve()
    assert busy.spec["fabric"]["nic"]["rail"] == "least-busy"
    assert run(busy)[0]["delivered"] == 8 * 3
