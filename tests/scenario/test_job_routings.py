"""Routings of a run and of its jobs: which is meant, and where errors about them belong."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from odonata import machine
from odonata.errors import InputError
from odonata.scenario import parse
from odonata.scenario.job_routings import job_routings

from .topologies import TOPOLOGIES

BASE = """\
system = "tiny"
routing = "minimal"

[fabric]
channels = 2
"""
JOB = """
[[job]]
name = "{name}"
nodes = 2
app = {{ pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 5 }}
{routing}
"""
FPAR = {
    "name": "fpar",
    "threshold_ppm": 500_000,
    "compare": "below",
    "candidates": "all-groups",
    "channel_switch": "intermediate",
}


def scenario(*routings, base=BASE):
    jobs = [
        JOB.format(name=f"j{n}", routing=f"routing = {routing}" if routing else "")
        for n, routing in enumerate(routings)
    ]
    return parse(base + "".join(jobs), "s.toml")


def job_routings_of(*routings, base=BASE):
    table = scenario(*routings, base=base).table
    return job_routings(table, table.job, machine.load(table.system, table.fabric), Path())


def test_jobs_use_the_routing_of_the_run_unless_they_say_otherwise():
    told = job_routings_of(None, '"valiant"', '{ name = "fpar" }')
    assert told.usual.spec() == {"name": "minimal", "select": "random"}
    assert [told.spec_of_job(n) for n in range(3)] == [
        {},
        {"routing": {"name": "valiant", "via": "spine", "select": "random"}},
        {"routing": FPAR},
    ]


def test_a_job_that_names_the_routing_of_the_run_changes_nothing():
    """So that the run keeps its identity."""
    assert job_routings_of('"minimal"').spec_of_job(0) == {}
    assert job_routings_of('{ select = "random" }').spec_of_job(0) == {}


def test_a_table_without_a_name_means_the_routing_of_the_run_with_its_defaults():
    base = BASE.replace('"minimal"', '{ name = "fpar", threshold = 0.3 }')
    told = job_routings_of('{ candidates = "one-group" }', base=base)
    assert told.usual.spec()["threshold_ppm"] == 300_000
    assert told.spec_of_job(0) == {"routing": {**FPAR, "candidates": "one-group"}}


def test_no_routing_at_all_means_that_of_the_machine():
    assert job_routings_of(None, base=BASE.replace('routing = "minimal"\n', "")).usual.spec() == FPAR


def test_eight_different_routings_and_not_more():
    seven = [f"{{ name = 'fpar', threshold = 0.{n} }}" for n in range(1, 8)]
    assert len(job_routings_of(*seven, *seven).own) == 14
    assert len(job_routings_of(*seven, '"valiant"').own) == 8, "the routing of the run is not used"
    with pytest.raises(InputError, match="9 different routings in one run; at most 8 are possible") as caught:
        job_routings_of(*seven, None, '"valiant"')
    assert caught.value.path == ("job", 8, "routing")


@pytest.mark.parametrize(
    ("routing", "message", "hint"),
    [
        ('"par"', "the routing `par` is for dragonfly and cascade, not for a dragonfly-plus", "valiant, prog-"),
        ('{ name = "valiant", via = "group" }', "`via`: `group` is for dragonfly and cascade", None),
        ('{ gateways = "all" }', "a dragonfly-plus has no `gateways`", None),
        ("{ threshold = 0.5 }", "unknown key `threshold`", "gateways, name, select"),
        ('"valiantt"', "unknown routing `valiantt`", "`valiant`"),
        ("5", "`routing`: expected a routing or a table, found `5`", None),
        ("{ name = 5 }", "unknown routing `5`", "known: adaptive-0"),
        ('""', "unknown routing ``", "known: adaptive-0"),
    ],
)
def test_errors_of_a_job_point_at_its_line(routing, message, hint):
    with pytest.raises(InputError) as caught:
        scenario(None, routing).resolve()
    error = caught.value
    assert str(error).startswith(f"s.toml:17: {message}"), str(error)
    assert hint is None or hint in error.hint, str(error)


@pytest.mark.parametrize(
    ("base", "line"),
    [
        (BASE.replace("channels = 2", "channels = 1"), 5),
        (BASE.replace('"tiny"', '{ preset = "tiny", fabric = { channels = 1 } }').split("[fabric]")[0], 1),
    ],
)
def test_too_few_channels_point_at_where_they_are_counted(base, line):
    with pytest.raises(InputError) as caught:
        scenario(None, '"valiant"', base=base).resolve()
    expected = f"s.toml:{line}: the routing `valiant` of job `j1` needs 2 virtual channels, the fabric has 1"
    assert str(caught.value) == f"{expected}\n  hint: set channels = 2 in [fabric]"


def test_too_few_channels_of_the_machine_point_at_the_routing(tmp_path):
    own = machine.load({"preset": "tiny", "fabric": {"channels": 1}})
    table = scenario('"valiant"').table.model_copy(update={"fabric": None})
    with pytest.raises(InputError) as caught:
        job_routings(table, table.job, own, Path())
    assert caught.value.path == ("job", 0, "routing")


def on_dragonfly(*routings, first='"minimal"'):
    machine = SimpleNamespace(
        table=SimpleNamespace(kind="dragonfly", usual_routing="dragonfly", routing=None, between_groups="global"),
        topology=TOPOLOGIES["dragonfly"],
        fabric={"channels": 4, "links": {"global": {"buffer_bytes": 8192}}},
    )
    table = scenario(*routings, base=BASE.replace('"minimal"', first)).table
    return job_routings(table, table.job, machine, Path())


def test_the_gateways_of_a_run_are_those_of_its_jobs():
    told = on_dragonfly('"par"', '{ name = "par", gateways = "all" }', first='{ name = "minimal", gateways = "all" }')
    assert [told.own[n].spec()["gateways"] for n in range(2)] == ["all", "all"]
    assert on_dragonfly('"par"').own[0].spec()["gateways"] == "nearest"


def test_gateways_that_differ_are_refused():
    with pytest.raises(InputError) as caught:
        on_dragonfly(None, '{ name = "par", gateways = "all" }')
    assert caught.value.message == "all routings of a run have the same `gateways`: one has `nearest`, this one `all`"
    assert caught.value.path == ("job", 1, "routing", "gateways")


def test_a_routing_that_no_job_uses_may_need_more_channels():
    via = '{ name = "par", via = "router" }'
    assert len(on_dragonfly('"minimal"', first=via).own) == 1
    with pytest.raises(InputError, match="`par` via router needs 5 virtual channels, the fabric has 4"):
        on_dragonfly('"minimal"', None, first=via)
