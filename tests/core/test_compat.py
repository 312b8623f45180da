"""Published simulators that are imitated: another model behind the same function."""

import json

import numpy as np
import pytest

from odonata import _core


@pytest.fixture
def imitated(spec):
    """The small run as CODES of 2019 can honour it: two channels, wires that take no time."""
    spec["compat"] = "codes-2019"
    spec["fabric"]["channels"] = 2
    for link in spec["fabric"]["links"].values():
        link["latency_ps"] = 0
    return spec


def test_the_same_messages_other_latencies(imitated):
    theirs = _core.run(json.dumps(imitated))
    ours = _core.run(json.dumps(imitated | {"compat": None}))
    for name in ("job", "interval", "source", "destination"):
        assert np.array_equal(theirs["messages"][name], ours["messages"][name]), name
    assert not np.array_equal(theirs["messages"]["latency_ps"], ours["messages"]["latency_ps"])
    assert [job["bytes"] for job in theirs["jobs"]] == [400_000, 3_000]
    assert theirs["links"]["bytes"].shape == ours["links"]["bytes"].shape
    assert theirs["events"] > theirs["packet_hops"] > 0


def test_what_it_cannot_honour_is_refused(imitated):
    imitated["fabric"]["channels"] = 3
    with pytest.raises(_core.CoreError) as caught:
        _core.run(json.dumps(imitated))
    assert (caught.value.code, caught.value.path) == ("compat-other-value", ("fabric", "channels"))


def test_an_unknown_simulator_is_refused(edited):
    with pytest.raises(_core.CoreError, match="codes-2020"):
        _core.check(edited("codes-2020", "compat"))
