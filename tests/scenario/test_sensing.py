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
        ('{ kind = "credits", delay = "0 ns" }', {"kind": "credits"}),
        (
            '{ kind = "credits", delay = "30 ns" }',
            {"kind": "credits", "delay_ps": {"local": 30_000, "global": 30_000}},
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


def test_a_run_without_it_has_none_and_its_document_says_what_that_means():
    resolved = parse(BASE).resolve()
    assert "sensing" not in resolved.spec
    assert resolved.document["scenario"]["sensing"] == {"kind": "backlog", "delay": {}}
    dumped = decided('{ kind = "credits", delay = { global = "150 ns" } }').model_dump(mode="json")
    assert dumped == {"kind": "credits", "delay": {"local": "0 s", "global": "150 ns"}}


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        (
            '"credit"',
            "`sensing`: expected `backlog`, `credits`, `both`, `output-buffer` or `none`, found `credit`",
            "`credits`",
        ),
        ("5", "`sensing`: expected `backlog`, `credits`, `both`, `output-buffer`, `none` or a table, found `5`", None),
        ('{ kind = "both", dely = "1 ns" }', "unknown key `dely`", "`delay`"),
        ('{ delay = "30 ns" }', "`backlog` does not use `delay`", 'kind = "credits"'),
        ('{ kind = "output-buffer", delay = "1 ns" }', "`output-buffer` does not use `delay`", 'kind = "credits"'),
        ('"output-buffer"', "`kind`: `output-buffer` needs routers with output buffers", 'router = "input-queued"'),
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
