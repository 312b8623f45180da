"""Switching, headers and flits, from a machine's table to the core's document."""

import json

import pytest

from odonata import _core, machine
from odonata.errors import InputError
from odonata.scenario import parse

SCENARIO = """\
system = "tiny"
fabric = {fabric}

[[job]]
name = "a"
nodes = 8
app = {app}
"""
PATTERN = '{ pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 5 }'


def fabric(**changes):
    return machine.load("tiny", fabric=changes).fabric


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, {}),
        ({"switching": "store-and-forward", "header": "0 B", "flit": "1 B"}, {}),
        ({"switching": "cut-through"}, {"switching": "cut-through"}),
        ({"header": "32 B", "flit": "8 B"}, {"header_bytes": 32, "flit_bytes": 8}),
    ],
)
def test_the_metric_in_the_specification(given, told):
    """A default of the core is left out, so that runs keep their identity."""
    assert fabric(**given) == machine.load("tiny").fabric | told


@pytest.mark.parametrize(
    ("given", "key", "message"),
    [
        ({"switching": "cut-trough"}, "switching", "found `cut-trough`"),
        ({"header": "65 KiB"}, "header", "between 0 and 65,536 bytes, found 66,560"),
        ({"flit": "0 B"}, "flit", "between 1 and 65,536 bytes, found 0"),
        ({"header": 32}, "header", "has no unit"),
        (
            {"packet": "64 KiB", "header": "1 B"},
            "packet",
            "in whole flits, must have at most 65,536 bytes, found 65,537",
        ),
        ({"packet": "8 KiB", "header": "1 B"}, "buffer", "must hold at least one packet (8,193 B)"),
    ],
)
def test_what_cannot_be_is_refused_at_its_key(given, key, message):
    with pytest.raises(InputError) as caught:
        fabric(**given)
    assert message in caught.value.message
    assert caught.value.path[-1] == key


def mean_latency_ps(fabric):
    spec = parse(SCENARIO.format(fabric=fabric, app=PATTERN), "s.toml").resolve().spec
    latency = _core.run(json.dumps(spec))["jobs"][0]["latency"]
    return latency["sum"] / latency["count"]


def test_cut_through_is_faster_and_headers_take_time():
    cut = mean_latency_ps('{ switching = "cut-through" }')
    with_headers = mean_latency_ps('{ switching = "cut-through", header = "256 B", flit = "8 B" }')
    assert cut < with_headers < mean_latency_ps("{}")


@pytest.mark.parametrize(("header", "told"), [("", {}), (', header = "56 B"', {"header_bytes": 56})])
def test_the_envelope_of_messages_of_programs(header, told):
    app = '{ motif = "ping-pong", message = "4 KB", iterations = 2 }'
    overhead = f'overhead = {{ send = "1 ns"{header} }}'
    costs = (
        parse(SCENARIO.format(fabric="{}", app=app) + overhead, "s.toml").resolve().spec["jobs"][0]["program"]["costs"]
    )
    assert {key: costs[key] for key in ("header_bytes",) if key in costs} == told
    assert costs["control_bytes"] == 64
