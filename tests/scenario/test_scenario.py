"""Scenarios as objects: reading, changing, printing."""

import dataclasses
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from odonata.errors import InputError
from odonata.placement import place
from odonata.scenario import load, parse
from odonata.scenario.refusals import keys_of_path

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = """\
system = "tiny"   # small
[[job]]
name = "a"
nodes = 8
app = { pattern = "tornado", offset = 1, message = "4 KB", interval = "1 us", messages = 5 }
"""


#: Those called sweep-... are studies, those called schedule-... streams of jobs.
SCENARIOS = [file for file in sorted(EXAMPLES.glob("*.toml")) if not file.stem.startswith(("sweep-", "schedule-"))]


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda f: f.stem)
def test_every_example_resolves(file):
    assert load(file).resolve().spec["jobs"]


def test_the_example_to_start_from_is_the_one_that_new_writes():
    template = (files("odonata.scenario") / "templates" / "scenario.toml").read_text()
    assert (EXAMPLES / "quick.toml").read_text() == template.replace("FILE", "examples/quick.toml")


def test_overrides_in_order_and_the_seed_last(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(TEXT)
    scenario = load(file, overrides=["run.seed=3", "job.a.app.interval=2 us", ("job.a.nodes", 4)], seed=7)
    assert scenario.data["run"] == {"seed": 7}
    told = scenario.resolve().spec
    assert (told["seed"], told["jobs"][0]["traffic"]["interval_ps"]) == (7, 2_000_000)
    assert len(told["jobs"][0]["nodes"]) == 4
    assert tomllib.loads(scenario.text) == scenario.data
    assert "# small" in scenario.text


def test_set_returns_another_scenario():
    scenario = parse(TEXT)
    other = scenario.set("job.a.app.message", "8 KB")
    assert scenario.resolve().spec["jobs"][0]["traffic"]["message_bytes"] == 4_000
    assert other.resolve().spec["jobs"][0]["traffic"]["message_bytes"] == 8_000
    with pytest.raises(dataclasses.FrozenInstanceError):
        scenario.path = Path("x")


def test_values_of_numpy_and_tuples_can_be_set():
    scenario = parse(TEXT).set("run.seed", np.int64(5)).set("job.a.nodes", 3).set("job.a.place", {"nodes": (1, 2, 3)})
    assert scenario.resolve().spec["seed"] == 5
    assert scenario.resolve().spec["jobs"][0]["nodes"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("run.seed", "has no value"),
        ("run.seed=x", "`seed`: expected a seed"),
        ("run.sed=1", "unknown key `sed`"),
        ("job.b.nodes=1", "there is no job `b`"),
    ],
)
def test_overrides_that_are_wrong(tmp_path, override, message):
    file = tmp_path / "s.toml"
    file.write_text(TEXT)
    with pytest.raises(InputError, match=message):
        load(file, overrides=[override])


def test_a_value_that_no_file_could_hold():
    with pytest.raises(InputError, match=r"cannot set `run\.seed` to `None`"):
        parse(TEXT).set("run.seed", None)


def test_a_scenario_prints_its_text():
    assert str(parse(TEXT)) == TEXT


def test_objects_print_on_one_useful_line():
    scenario = parse(TEXT, "s.toml")
    assert repr(scenario) == "Scenario('s.toml': a (8 nodes) on tiny, routing fpar, seed 1)"
    assert "wrong: `seed`: a seed must be" in repr(scenario.set("run.seed", -1))
    resolved = scenario.resolve()
    assert repr(resolved.system) == "System(tiny: 16 nodes in 4 groups)"
    assert repr(resolved) == f"Resolved({resolved.id} on tiny, targets a)"
    assert repr(place("contiguous", "tiny", 3)) == "Placement(0-2: 3 nodes anywhere, the lowest free ones)"
    assert len(repr(place("kang2019-random", "kang2019"))) < 120


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("jobs", 0, "traffic", "message_bytes"), "s.toml:5"),
        (("jobs", 0, "nodes"), "s.toml:2"),
        (("fabric", "links", "global", "buffer_bytes"), "s.toml:7"),
        (("fabric", "links", "global", "latency_ps"), "s.toml:6"),
        (("routing", "threshold_ppm"), "s.toml"),
        (("topology", "groups"), "s.toml:1"),
        (("stop", "at_ps"), "s.toml"),
        (("what", "else"), "s.toml"),
        ((), "s.toml"),
    ],
)
def test_refusals_of_the_core_have_a_line(path, place):
    scenario = parse(TEXT + '[fabric.links.global]\nbuffer = "1 MB"\n', "s.toml")
    error = scenario.located(InputError("wrong", path=keys_of_path(path)))
    assert str(error) == f"{place}: wrong"


PAIR = """\
system = "tiny"

[[job]]
name = "a"
nodes = 4
app = { pattern = "group-peers", message = "1 KB", interval = "1 us", messages = 1 }
place = { policy = "per-leaf", per_leaf = 1, groups = "0-1" }
"""


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("job.a.name=ä→😀", "`ä→😀` is not a name of a job"),
        ("job.a.place.groups=0", ""),
        ("job.a.place={nodes=[0]}", "the list has 1 of the 4 nodes"),
        ("system.leaves=1", ""),
        ("job.a.app.pattern=tornado", ""),
        ("fabric.links.globl.buffer=8 KB", "unknown class of links `globl`"),
    ],
)
def test_a_change_that_makes_another_value_wrong_is_named(tmp_path, override, message):
    """Catches an error that points to a line that is correct."""
    file = tmp_path / "s.toml"
    file.write_text(PAIR)
    load(file).resolve()
    key = override.partition("=")[0]
    with pytest.raises(InputError) as caught:
        load(file, ["run.seed=2", override, "measure.latency=histogram"]).resolve()
    assert str(caught.value).startswith(f"{file} with -s {key}: ")
    assert message in caught.value.message


def test_a_line_that_is_wrong_without_the_changes_too_is_named(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(PAIR.replace("nodes = 4", "nodes = 5"))
    with pytest.raises(InputError) as caught:
        load(file, ["run.seed=2", "job.a.app.message=2 KB"]).resolve()
    assert caught.value.file == str(file)


@pytest.mark.parametrize("value", ['{nodes="0-11"', "[1, 2", '"random', "'random", "[0-11]"])
def test_a_value_that_looks_like_toml_and_is_not(tmp_path, value):
    file = tmp_path / "s.toml"
    file.write_text(PAIR)
    with pytest.raises(InputError) as caught:
        load(file, [f"job.a.place={value}"])
    assert str(caught.value).startswith(f"{file} with -s job.a.place: `{value}` is not TOML: ")


@pytest.mark.parametrize("jobs", ["", PAIR.partition("\n\n")[2]])
def test_an_imported_job_cannot_be_changed(tmp_path, jobs):
    text = f'system = "tiny"\nimport = {{ workload = "w", alloc = "a" }}\n{jobs}'
    with pytest.raises(InputError, match=r"there is no \[\[job\]\] `synthetic1`") as caught:
        parse(text).set("job.synthetic1.app.interval", "2 us")
    assert "jobs that come from `import` cannot be changed" in caught.value.hint
