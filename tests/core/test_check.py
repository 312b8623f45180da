"""What the core refuses, and what it says about it."""

import json

import pytest

from odonata import _core


def test_a_sound_specification_is_accepted(spec):
    _core.check(json.dumps(spec))


@pytest.mark.parametrize(
    ("path", "value", "at", "code"),
    [
        (("version",), 99, "version", "unsupported-version"),
        (("fabric", "packet_bytes"), 0, "fabric.packet_bytes", "out-of-range"),
        (("fabric", "links", "local", "bandwidth"), 0, "fabric.links.local.bandwidth", "no-bandwidth"),
        (("fabric", "links", "global", "buffer_bytes"), 100, "fabric.links.global.buffer_bytes", "buffer-out-of-range"),
        (("jobs", 1, "nodes"), [1, 2, 99], "jobs.1.nodes", "no-such-node"),
        (("jobs", 1, "nodes"), [1, 2, 0], "jobs.1.nodes", "node-taken"),
        (("jobs", 0, "nodes"), [0, 0], "jobs.0.nodes", "node-twice"),
        (("jobs", 0, "traffic", "interval_ps"), 0, "jobs.0.traffic.interval_ps", "out-of-range"),
        (("jobs", 1, "traffic", "pattern", "offset"), 3, "jobs.1.traffic.pattern.offset", "offset-to-self"),
        (("stop", "jobs"), [2], "stop.jobs", "no-such-job"),
        (("measure", "arrivals_every_ps"), 0, "measure.arrivals_every_ps", "zero"),
        (("topology", "leaves"), 0, "topology.leaves", "zero"),
        (("topology", "groups"), 10, "topology.links_per_pair", "too-few-global-ports"),
    ],
)
def test_an_impossible_value_is_named_by_its_path(edited, path, value, at, code):
    with pytest.raises(_core.CoreError) as caught:
        _core.check(edited(value, *path))
    assert (".".join(map(str, caught.value.path)), caught.value.code) == (at, code)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}'])
def test_what_is_no_specification_has_no_path(text):
    with pytest.raises(_core.CoreError) as caught:
        _core.check(text)
    assert (caught.value.code, caught.value.path) == ("unreadable-specification", ())


@pytest.mark.parametrize("path", [(), ("fabric",), ("fabric", "nic"), ("jobs", 0), ("topology",), ("routing",)])
def test_an_unknown_key_is_an_error_everywhere(edited, path):
    with pytest.raises(_core.CoreError, match="colour"):
        _core.check(edited("red", *path, "colour"))


def test_run_refuses_what_check_refuses(edited):
    text = edited([0, 0], "jobs", 0, "nodes")
    with pytest.raises(_core.CoreError) as caught:
        _core.run(text)
    assert caught.value.path == ("jobs", 0, "nodes")
