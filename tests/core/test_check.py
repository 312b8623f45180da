"""What the core refuses, and what it says about it."""

import json

import pytest

from odonata import _core


def test_a_sound_specification_is_accepted(spec):
    _core.check(json.dumps(spec))


@pytest.mark.parametrize(
    ("path", "value", "at", "said"),
    [
        (("version",), 99, "version", "99"),
        (("fabric", "packet_bytes"), 0, "fabric.packet_bytes", "1 and 65536"),
        (("fabric", "links", "local", "bandwidth"), 0, "fabric.links.local.bandwidth", "never delivers"),
        (("fabric", "links", "global", "buffer_bytes"), 100, "fabric.links.global.buffer_bytes", "one packet"),
        (("jobs", 1, "nodes"), [1, 2, 99], "jobs[1].nodes", "node 99"),
        (("jobs", 1, "nodes"), [1, 2, 0], "jobs[1].nodes", "`every`"),
        (("jobs", 0, "nodes"), [0, 0], "jobs[0].nodes", "twice"),
        (("jobs", 0, "traffic", "interval_ps"), 0, "jobs[0].traffic.interval_ps", "0 ps"),
        (("jobs", 1, "traffic", "pattern", "offset"), 3, "jobs[1].traffic.pattern", "own partner"),
        (("stop", "jobs"), [2], "stop.jobs", "no job 2"),
        (("measure", "arrivals_every_ps"), 0, "measure.arrivals_every_ps", "0 ps"),
        (("topology", "leaves"), 0, "topology", "`leaves`"),
        (("topology", "groups"), 10, "topology", "global ports"),
    ],
)
def test_an_impossible_value_is_named_by_its_path(edited, path, value, at, said):
    with pytest.raises(_core.SpecError) as caught:
        _core.check(edited(value, *path))
    assert caught.value.at == at
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}'])
def test_what_is_no_specification_has_no_path(text):
    with pytest.raises(_core.SpecError, match="cannot be read") as caught:
        _core.check(text)
    assert caught.value.at is None


@pytest.mark.parametrize("path", [(), ("fabric",), ("fabric", "nic"), ("jobs", 0), ("topology",), ("routing",)])
def test_an_unknown_key_is_an_error_everywhere(edited, path):
    with pytest.raises(_core.SpecError, match="colour"):
        _core.check(edited("red", *path, "colour"))


def test_run_refuses_what_check_refuses(edited):
    text = edited([0, 0], "jobs", 0, "nodes")
    with pytest.raises(_core.SpecError) as caught:
        _core.run(text)
    assert caught.value.at == "jobs[0].nodes"


def test_one_hierarchy_of_errors():
    assert issubclass(_core.SpecError, _core.CoreError)
    assert issubclass(_core.DeadlockError, _core.CoreError)
    assert not issubclass(_core.DeadlockError, _core.SpecError)
    assert _core.SpecError.__module__ == "odonata._core"
