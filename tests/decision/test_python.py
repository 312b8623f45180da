"""`odonata.aries`: the equations with the numbers of the catalogue, wrong input, and the documentation."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import odonata as od
from odonata import _core

PAGE = (Path(__file__).parents[2] / "docs" / "application-aware.md").read_text()


@pytest.mark.parametrize(
    ("size", "weight", "flits"),
    [
        (64, 513 / 1024, 5),
        (4096, 0.5625, 320),
        (16 << 10, 0.75, 1280),
        (4 << 20, 64.5, 327_680),
        (16 << 20, 256.5, 1_310_720),
    ],
)
def test_equations_1_and_2(size, weight, flits):
    assert od.aries.transmission_time(size, latency=2048, stalls=0.5) == weight * 2048 + 1.5 * flits
    assert od.aries.transmission_time(size, latency=2048, stalls=0.5, outstanding=None) == 1024 + 1.5 * flits
    assert od.aries.transmission_time(size, latency=0, stalls=0, get=True) == size / 64


def test_equation_3():
    # r = 1000: below 7953 bytes, which is 124 full packets.
    wins = [od.aries.prefer_high_bias(64 * p, default=(3000, 1), high_bias=(2000, 2)) for p in (124, 125)]
    assert wins == [True, False]
    assert od.aries.prefer_high_bias(1 << 40, default=(7120, 1), high_bias=(2000, 2)), "r = 5120: always"


def test_the_defaults_are_those_of_the_component():
    parameters = inspect.signature(od.aries.Policy).parameters
    assert {name: p.default for name, p in parameters.items() if name != "name"} == _core.routing_policy_defaults()


def test_numbers_of_numpy_are_numbers():
    policy = od.aries.Policy("bandit", seed=np.uint64(3), margin=np.float32(0.5))
    assert policy.select(np.int64(5000)) == ("ADAPTIVE_0", True)
    policy.observe("ADAPTIVE_0", od.aries.Counters(*np.array([1, 2, 3, 4])))


def test_learned_factors():
    policy = od.aries.Policy("app-aware-continuous")
    assert policy.factors == (0.8, 1.3)
    for _ in range(8):
        policy.observe("ADAPTIVE_0", od.aries.Counters(10, 20, 1, 1000))
        policy.observe("ADAPTIVE_3", od.aries.Counters(10, 60, 1, 500))
    assert policy.factors == (0.5, 3.0)
    assert od.aries.Policy("default").factors is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: od.aries.Policy("app-awar"), r"unknown routing policy `app-awar`\n  hint: did you mean `app-aware`?"),
        (lambda: od.aries.Policy(3), "unknown routing policy `3`\n  hint: choose one of default, high-bias"),
        (lambda: od.aries.Policy(sample_age=0), "from 1 to 2^32 - 1 for `sample_age`, found `0`"),
        (lambda: od.aries.Policy(threshold=-1), "for `threshold`, found `-1`"),
        (lambda: od.aries.Policy(latency_ratio=0), "expected a latency_ratio from 1/1024 to 1024"),
        (lambda: od.aries.Policy(margin=float("nan")), "expected a margin at least 0 and less than 1"),
        (lambda: od.aries.Policy().select(1.5), "for `size`, found `1.5`"),
        (lambda: od.aries.Policy().observe("MIN_HASH", od.aries.Counters(1, 1, 1, 1)), "unknown routing mode"),
        (lambda: od.aries.transmission_time(1, latency=float("nan"), stalls=0), "expected a latency and stalls"),
        (lambda: od.aries.transmission_time(1, latency=1, stalls=-1), "from 0 to 1e30"),
        (lambda: od.aries.transmission_time(1, latency="a", stalls=1), "expected a number, found `'a'`"),
        (lambda: od.aries.transmission_time(2**64, latency=1, stalls=1), "for `size`"),
        (lambda: od.aries.transmission_time(1, latency=1, stalls=1, outstanding=0), "for `outstanding`, found `0`"),
        (lambda: od.aries.prefer_high_bias(1, default=(1, 2), high_bias=(1, -2)), "from 0 to 1e30"),
    ],
)
def test_wrong_input_is_an_error_of_ours(call, message):
    with pytest.raises(od.InputError) as caught:
        call()
    assert message.replace(r"\n", "\n") in str(caught.value)


def test_the_page_lists_every_policy_and_setting():
    rows = re.findall(r"^\| `([\w-]+)` \|", PAGE, re.M)
    assert set(od.aries.policies()) | set(_core.routing_policy_defaults()) <= set(rows)
    shown = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \| .* \| .*\|$", PAGE, re.M))
    for name, default in _core.routing_policy_defaults().items():
        assert float(shown[name]) == default, name


def test_the_table_of_the_page_is_the_algorithm():
    """Each row of the table of states holds for the policy."""
    rows = re.findall(r"^\| (default|high bias) \| (.+?) \| (.+?) \| (default|high bias) \|$", PAGE, re.M)
    assert len(rows) == 6
    modes = {"default": "ADAPTIVE_0", "high bias": "ADAPTIVE_3"}
    count = od.aries.Counters
    for state, known, preferred, following in rows:
        policy = od.aries.Policy("app-aware-continuous")
        if state == "high bias":
            policy.observe("ADAPTIVE_0", count(640, 0, 128, 128_000))
            assert policy.select(8192).mode == "ADAPTIVE_3"
        if not known.startswith("no "):
            latency = {"default": (900, 1000), "high bias": (1000, 900)}[preferred.split(",")[0]]
            policy.observe("ADAPTIVE_0", count(640, 640, 128, 128 * latency[0]))
            policy.observe("ADAPTIVE_3", count(640, 640, 128, 128 * latency[1]))
        assert policy.select(8192).mode == modes[following], (state, known, preferred)


def test_the_examples_of_the_page():
    text = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", PAGE, re.S | re.M))
    results = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(text, {}, "page", None, None))
    assert (results.attempted, results.failed) == (8, 0)
