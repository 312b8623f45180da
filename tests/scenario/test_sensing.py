"""The congestion metric of routings, from the scenario to the core's document."""

import pytest

from odonata.errors import InputError
from odonata.scenario import parse

BASE = """\
system = "tiny"

[[job]]
name = "a"
nodes = 8
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 5 }
"""


def with_sensing(value):
    return parse(f"sensing = {value}\n{BASE}", "s.toml").table.sensing


def decided(value):
    return with_sensing(value).decided(parse(BASE).resolve().system)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ('"backlog"', None),
        ('{ kind = "backlog" }', None),
        ("{}", None),
        ('"none"', {"kind": "none"}),
        ('"credits"', {"kind": "credits"}),
        ('"both"', {"kind": "both"}),
        ('"output-buffer"', {"kind": "output-buffer"}),
        ('"output-credits"', {"kind": "output-credits"}),
        ('"occupancy"', {"kind": "occupancy"}),
        ('{ kind = "occupancy", delay = { global = "1 ns" } }', {"kind": "occupancy", "delay_ps": {"global": 1_000}}),
        ('{ kind = "credits", delay = "0 ns" }', {"kind": "credits"}),
        (
            '{ kind = "credits", delay = "30 ns" }',
            {"kind": "credits", "delay_ps": {"local": 30_000, "global": 30_000}},
        ),
        ("{ levels = 16 }", {"kind": "backlog", "levels": 16}),
        ('{ kind = "both", levels = 1, delay = "0 s" }', {"kind": "both", "levels": 1}),
        (
            '{ kind = "credits", levels = 4294967295, delay = { local = "1 ns" } }',
            {"kind": "credits", "delay_ps": {"local": 1_000}, "levels": 4_294_967_295},
        ),
        ('{ kind = "both", delay = { global = "150 ns" } }', {"kind": "both", "delay_ps": {"global": 150_000}}),
        (
            '{ kind = "both", delay = { global = "150 ns", local = "30 ns" } }',
            {"kind": "both", "delay_ps": {"local": 30_000, "global": 150_000}},
        ),
    ],
)
def test_the_metric_in_the_specification(value, told):
    """A default of the core is left out, so that runs keep their identity."""
    assert decided(value).spec() == told


def test_fpar_has_a_metric_of_its_own():
    """The queue of a port, here and behind the link (docs/model.md, section 6), wherever a job uses fpar."""
    plain = parse(BASE, "s.toml").set("routing", "minimal")
    of_job = plain.set("job.a.routing", "fpar")
    assert [variant.resolve().spec.get("sensing") for variant in (plain, of_job, plain.set("routing", "fpar"))] == [
        None,
        {"kind": "occupancy"},
        {"kind": "occupancy"},
    ]
    assert "sensing" not in of_job.set("sensing", "backlog").resolve().spec
    compat = parse(BASE, "s.toml").set("system", "kang2019").set("compat", "codes-2019")
    assert "sensing" not in compat.resolve().spec, "the published simulator has its own"


def test_the_document_of_a_run_says_which_metric_it_has():
    resolved = parse(BASE).set("routing", "minimal").resolve()
    assert resolved.document["scenario"]["sensing"] == {"kind": "backlog", "delay": {}}
    resolved = parse(BASE).resolve()
    assert resolved.document["scenario"]["sensing"] == {
        "kind": "occupancy",
        "delay": {"local": "0 s", "global": "0 s"},
    }
    dumped = decided('{ kind = "credits", delay = { global = "150 ns" }, levels = 8 }').model_dump(mode="json")
    assert dumped == {"kind": "credits", "delay": {"local": "0 s", "global": "150 ns"}, "levels": 8}


def test_levels_join_the_metric_of_the_machine():
    machine = parse(BASE).set("system.sensing", {"kind": "credits", "delay": "1 ns", "levels": 4})
    told = {"kind": "credits", "delay_ps": {"local": 1_000, "global": 1_000}}
    assert machine.resolve().spec["sensing"] == {**told, "levels": 4}
    assert machine.set("sensing", {"levels": 9}).resolve().spec["sensing"] == {**told, "levels": 9}
    assert machine.set("sensing", "credits").resolve().spec["sensing"] == {"kind": "credits"}


@pytest.mark.parametrize("routing", ['{ name = "fpar", sensing = "both" }', '{ name = "fpar", sensng = "both" }'])
def test_a_metric_in_the_table_of_a_routing_is_shown_its_place(routing):
    with pytest.raises(InputError) as caught:
        parse(f"routing = {routing}\n{BASE}", "s.toml")
    assert caught.value.line == 1
    assert caught.value.hint == "`sensing`, the congestion metric of the run, stands beside `routing`"


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        (
            '"credit"',
            "`sensing`: expected `backlog`, `credits`, `both`, `occupancy`, `output-buffer`, `output-credits` or "
            "`none`, found `credit`",
            "`credits`",
        ),
        ('"ocupancy"', "`sensing`: expected", "`occupancy`"),
        (
            "5",
            "`sensing`: expected `backlog`, `credits`, `both`, `occupancy`, `output-buffer`, `output-credits`, `none` "
            "or a table, found `5`",
            None,
        ),
        ('{ kind = "both", dely = "1 ns" }', "unknown key `dely`", "`delay`"),
        ('{ kind = "both", level = 4 }', "unknown key `level`", "`levels`"),
        ('{ kind = "none", levels = 4 }', "`none` does not use `levels`", 'kind = "credits"'),
        ('{ kind = "both", levels = 0 }', "`levels`", None),
        ('{ kind = "both", levels = 4294967296 }', "`levels`", None),
        ('{ kind = "both", levels = 2.5 }', "`levels`", None),
        ('{ kind = "both", levels = "16" }', "`levels`", None),
        ('{ kind = "backlog", delay = "30 ns" }', "`backlog` does not use `delay`", 'kind = "credits"'),
        ('{ kind = "output-buffer", delay = "1 ns" }', "`output-buffer` does not use `delay`", 'kind = "credits"'),
        ('"output-buffer"', "`kind`: `output-buffer` and `output-credits` need", 'router = "input-queued"'),
        ('"output-credits"', "`kind`: `output-buffer` and `output-credits` need", 'router = "input-queued"'),
        ('{ kind = "none", delay = { local = "30 ns" } }', "`none` does not use `delay`", 'kind = "both"'),
        ('{ kind = "both", delay = 30 }', "`delay`: the time 30 has no unit", '"30 ns"'),
        ('{ kind = "both", delay = { local = 30 } }', "`local`: the time 30 has no unit", '"30 ns"'),
        ('{ kind = "both", delay = "2 ms" }', "`delay`: `2 ms` is longer than the longest delay, 1 ms", None),
        (
            '{ kind = "both", delay = { globl = "1 ns" } }',
            "unknown class of links between routers `globl`",
            "`global`",
        ),
        (
            '{ kind = "both", delay = { node = "1 ns" } }',
            "unknown class of links between routers `node`",
            "global, local",
        ),
    ],
)
def test_what_cannot_be(value, message, hint):
    with pytest.raises(InputError) as caught:
        parse(f"sensing = {value}\n{BASE}", "s.toml").resolve()
    error = caught.value
    assert str(error).startswith(f"s.toml:1: {message}"), str(error)
    assert hint is None or hint in error.hint
