"""Bursts of patterns and programs: `on` and `off`, fixed or drawn."""

import tomllib

import pytest
import tomlkit

from odonata.errors import InputError
from odonata.scenario import parse

TEXT = """\
system = "tiny"
[[job]]
name = "a"
nodes = 8
app = {app}
on = {on}
off = {off}
"""
PATTERN = '{ pattern = "uniform-random", message = "1 KB", interval = "1 us", messages = 30 }'
PROGRAM = '{ collective = "barrier", iterations = 3 }'


def resolved(on, off, app=PATTERN):
    return parse(TEXT.format(app=app, on=on, off=off), "s.toml").resolve()


@pytest.mark.parametrize("app", [PATTERN, PROGRAM])
@pytest.mark.parametrize(
    ("given", "spec"),
    [
        ('"3 us"', {"distribution": "fixed", "ps": 3 * 10**6}),
        ('{ mean = "1 ms", distribution = "exponential" }', {"distribution": "exponential", "mean_ps": 10**9}),
        (
            '{ least = "1 ps", most = "2 ns", distribution = "uniform" }',
            {"distribution": "uniform", "least_ps": 1, "most_ps": 2_000},
        ),
        (
            '{ mean = "1 ms", distribution = "lognormal", sigma = 0.7 }',
            {"distribution": "lognormal", "mean_ps": 10**9, "sigma_millionths": 700_000},
        ),
        (
            '{ mean = "1 ms", distribution = "pareto", shape = 1.5 }',
            {"distribution": "pareto", "mean_ps": 10**9, "shape_millionths": 1_500_000},
        ),
    ],
)
def test_lengths_of_patterns_and_programs(app, given, spec):
    """Also what was decided is the same scenario again, so that reports state the bursts."""
    resolution = resolved(given, '"7 us"', app)
    job = resolution.spec["jobs"][0]
    assert job["bursts"] == {"on": spec, "off": {"distribution": "fixed", "ps": 7 * 10**6}}
    assert resolution.refused() is None
    told = resolution.document["scenario"]["job"][0]
    job = {"name": "a", "nodes": 8, "app": tomllib.loads(f"app = {app}")["app"], "on": told["on"], "off": told["off"]}
    again = parse(tomlkit.dumps({"system": "tiny", "job": [job]}), "s.toml").resolve()
    assert again.spec == resolution.spec


def test_the_keys_of_a_pattern_stand_in_the_job_or_in_its_app():
    inside = PATTERN.replace(" }", ', on = "1 us", off = "2 us" }')
    text = TEXT.format(app=inside, on="", off="").replace("on = \n", "").replace("off = \n", "")
    assert parse(text, "s.toml").resolve().spec == resolved('"1 us"', '"2 us"').spec
    with pytest.raises(InputError, match="`on` is given twice"):
        resolved('"1 us"', '"2 us"', inside)


@pytest.mark.parametrize("app", [PATTERN, PROGRAM])
@pytest.mark.parametrize(
    ("on", "message", "hint"),
    [
        ('{ mean = "1 ms", distribution = "exponentail" }', "unknown distribution `exponentail`", "`exponential`"),
        ('{ mean = "1 ms" }', "missing key `distribution`", "exponential"),
        ('{ distribution = "pareto", mean = "1 ms" }', "missing key `shape`", "mean and shape"),
        ('{ distribution = "pareto", mean = "1 ms", shape = 1 }', "`shape` is more than 1", "no mean"),
        ('{ distribution = "pareto", mean = "1 ms", shape = 1001 }', "at most 1,000, found 1001", None),
        ('{ distribution = "lognormal", mean = "1 ms", sigma = 0 }', "`sigma` is more than 0", None),
        ('{ distribution = "lognormal", mean = "1 ms", sigma = 11 }', "at most 10, found 11", None),
        ('{ distribution = "uniform", least = "2 us", most = "1 us" }', "`most` is shorter than `least`", None),
        ('{ distribution = "exponential", mean = "1 us", shape = 2 }', "does not use `shape`", None),
        ('{ distribution = "exponential", mean = "0 s" }', "at least 1 ps", None),
        ('{ distribution = "exponential", mean = "400 min" }', "2^54 ps (5 hours)", None),
        ('{ distribution = "exponential", meen = "1 us" }', "unknown key `meen`", "`mean`"),
        ("5", "no unit", None),
        ('"0 s"', "at least 1 ps", None),
    ],
)
def test_bad_lengths(app, on, message, hint):
    with pytest.raises(InputError) as caught:
        resolved(on, '"1 us"', app)
    error = caught.value
    assert message in str(error)
    assert (error.file, error.line) == ("s.toml", 6), str(error)
    assert hint is None or hint in (error.hint or ""), str(error)


@pytest.mark.parametrize("key", ["on", "off"])
def test_both_keys_belong_together(key):
    other = "off" if key == "on" else "on"
    text = TEXT.format(app=PATTERN, on='"1 us"', off='"1 us"').replace(f"\n{other} =", "\n# =")
    with pytest.raises(InputError, match=f"`{key}` without `{other}`") as caught:
        parse(text, "s.toml").resolve()
    assert caught.value.line == (6 if key == "on" else 7)
