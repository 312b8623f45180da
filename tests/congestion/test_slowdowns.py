"""Jobs that are known by their rates: factors of loads above a capacity, who is slowed down, and what is refused."""

import math
from pathlib import Path

import numpy as np
import pytest

import odonata as od

NODE = 16 * 2**30
"""Bytes a second of a node's link in `tiny`."""


def alone(share, **more):
    """The factor of two nodes of one router, each of which offers a share of what its link carries."""
    return od.slowdowns("tiny", {"a": od.Sending([0, 1], share * NODE)}, **more)["a"]


@pytest.mark.parametrize("share", [0.1, 0.8, 1.0])
def test_what_the_network_carries_takes_no_longer(share):
    assert alone(share) == 1


@pytest.mark.parametrize("share", [1.2, 2, 5])
def test_an_offered_load_of_r_times_the_capacity_takes_r_times_as_long(share):
    """Catches a factor that is a share, and messages of another size than the rate gives."""
    assert alone(share) == pytest.approx(share, rel=0.03)
    assert alone(share, interval="20 us") == pytest.approx(share, rel=0.03)


def test_far_above_the_capacity_the_payload_that_arrives_says_the_factor():
    """Catches a 1 where no test of saturation is possible. Eight nodes, each to all others."""
    six, ten = (od.slowdowns("tiny", {"a": od.Sending(range(8), n * NODE)})["a"] for n in (6, 10))
    assert ten == pytest.approx(10 / 6 * six, rel=0.15)


def test_a_stencil_divides_its_rate_among_its_neighbours():
    """Catches six times the rate. Eight nodes of four routers, at 40 % of their links."""
    job = od.Sending(range(8), 0.04 * NODE, {"pattern": "stencil-3d", "grid": [2, 2, 2]})
    assert od.slowdowns("tiny", {"a": job}) == {"a": 1}
    six = od.Sending(range(8), 6 * 0.3 * NODE, {"pattern": "stencil-3d", "grid": [2, 2, 2]})
    assert od.slowdowns("tiny", {"a": six})["a"] > 1.5


def test_jobs_that_share_links_slow_each_other_down():
    """Nodes of other routers that all cross the links between two groups. Catches jobs that run one after the other,
    and factors of another job."""
    low, rest = 0.1 * NODE, 0.6 * NODE
    shared = {"first": od.Sending([0, 4], low), "second": od.Sending([1, 5], rest), "near": od.Sending([8, 9], rest)}
    together = od.slowdowns("tiny", shared, routing="minimal")
    for name, job in shared.items():
        [(_, only)] = od.slowdowns("tiny", {name: job}, routing="minimal").items()
        if name == "near":
            assert together[name] == only == 1
        else:
            assert together[name] >= only
    assert together["second"] > 1
    assert list(together) == list(shared)


def test_jobs_without_traffic_get_one():
    """One node, and a rate of 0, also if nothing is left to run."""
    jobs = {"one": od.Sending([3], 1e9), "none": od.Sending([4, 5], 0)}
    assert od.slowdowns("tiny", jobs) == {"one": 1, "none": 1}
    loud = {"loud": od.Sending([0, 1], 2 * NODE)} | jobs
    assert od.slowdowns("tiny", loud) == {"loud": alone(2), "one": 1, "none": 1}
    assert od.slowdowns("tiny", {}) == {}


def test_a_saturation_must_last(monkeypatch):
    """A run of twice as many intervals has the last word. Catches a factor of the first run."""
    import odonata.congestion as module

    counts, run = [], module.run

    def recorded(scenario, **more):
        counts.append(od.load(scenario).resolve().spec["stop"]["at_ps"] // 5_000_000 - 1)
        return run(scenario, **more)

    monkeypatch.setattr(module, "run", recorded)
    alone(0.5, intervals=20)
    alone(2, intervals=20)
    assert counts == [20, 20, 40]


def test_machines_and_nodes_may_be_given_in_any_form():
    expected = alone(2)
    jobs = {"a": od.Sending(np.array([0, 1]), np.float64(2 * NODE))}
    assert od.slowdowns({"preset": "tiny"}, jobs)["a"] == expected
    assert od.slowdowns(Path("tiny"), jobs)["a"] == expected


@pytest.mark.parametrize(
    ("job", "message", "hint"),
    [
        (od.Sending([0, 1], -1), "job `a`: expected a number of bytes a second, at least 0, found -1", None),
        (od.Sending([0, 1], math.nan), "found nan", None),
        (od.Sending([0, 1], "fast"), "at least 0, found 'fast'", None),
        (od.Sending([0, 1], 1e9, {"pattern": ["tornado"]}), "unknown pattern of a rate", None),
        (([0, 1], 1e9), "expected `odonata.Sending`, found `([0, 1], 1", None),
        (od.Sending([0, 1], 1e9, {"pattern": "broadcast"}), "unknown pattern of a rate `broadcast`", "uniform-random"),
        (od.Sending([0, 1], 1e9, {"pattern": "stencil"}), "unknown pattern of a rate `stencil`", "`stencil-3d`"),
        (od.Sending([0, 1], 1e9, {"pattern": "tornado", "load": 1}), "its rate says `load`", "leave it out"),
        (od.Sending([0, 1], True), "a number of bytes a second, at least 0, found True", None),
        (od.Sending([0, 1], "5"), "a number of bytes a second, at least 0, found '5'", None),
        (od.Sending([0, 99], 1e9), "job `a`: there is no node 99", "the machine has nodes 0 to 15"),
        (od.Sending([0, "1"], 1e9), "job `a`: expected the number of a node, at least 0, found '1'", None),
        (od.Sending([0, True], 1e9), "job `a`: expected the number of a node, at least 0, found True", None),
        (od.Sending(3, 1e9), "job `a`: expected numbers of nodes, found 3", None),
        (od.Sending([0, 7], 1e9), "job `a`: node 7 is already taken by job `other`", None),
    ],
)
def test_what_is_refused(job, message, hint):
    with pytest.raises(od.InputError) as caught:
        od.slowdowns("tiny", {"other": od.Sending([6, 7], 1e9), "a": job})
    assert message in str(caught.value)
    assert caught.value.file is None, "no file that the caller never wrote"
    assert hint is None or hint in caught.value.hint


def test_systems_that_are_refused():
    """The name of a file is named only if the caller gave it."""
    for system, message in (
        ("tinny", "unknown system `tinny`\n  hint: did you mean `tiny`?"),
        (5, "expected a system"),
    ):
        with pytest.raises(od.InputError) as caught:
            od.slowdowns(system, {"a": od.Sending([0, 1], 1e9)})
        assert str(caught.value).startswith(message)
    with pytest.raises(od.InputError, match=r"^mine.toml: cannot read it"):
        od.slowdowns("mine.toml", {"a": od.Sending([0, 1], 1e9)})


def test_too_few_intervals_are_refused():
    with pytest.raises(od.InputError, match="at least 12 intervals, a whole number, found 3"):
        alone(2, intervals=3)
