"""Latency against load: the reduced study on 72 nodes, and the parts it is made of."""

import csv
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from odonata.plot.style import save
from odonata.reproduce import find
from odonata.reproduce.latency_load.checks import compare, curves, half_uniform, half_worst, one_pair, stable
from odonata.reproduce.latency_load.load import interval_ps, keep, machine_words, make, messages, system
from odonata.reproduce.markdown import held

VALIDATION = Path(__file__).parents[2] / "validation"
ROUTINGS = ["minimal", "valiant", "ugal-l", "ugal-g", "par", "ugal-l-2KiB"]


@pytest.fixture(scope="module")
def study():
    return find("latency-load")


@pytest.fixture(scope="module")
def runs(reduced):
    return reduced("latency-load")


def test_the_points_of_both_forms(study):
    full, few = study.points(False), study.points(True)
    assert len(few) == 2 * 3 * len(ROUTINGS)
    assert len(full) == (11 + 16) * len(ROUTINGS) + 6
    assert {point["routing"] for point in full} == set(ROUTINGS)
    assert (system("full").shape.nodes, system("reduced").shape.nodes) == (1056, 72)
    assert [point["buffer"] for point in full[-6:]] == ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "64 KiB"]


def test_the_load_decides_the_interval():
    """512 B at 12.5 GB/s are 40.96 ns."""
    assert (interval_ps(100.0), interval_ps(2.5)) == (40_960, 1_638_400)
    assert messages({"form": "full", "load": 100.0}) == 120_000_000 // 40_960


def test_the_scenario_of_a_point(study):
    point = next(point for point in study.points(False) if point["buffer"] == "8 KiB")
    spec = make(point).resolve().spec
    assert spec["topology"]["groups"] == 33
    assert spec["jobs"][0]["nodes"] == list(range(1056))
    assert spec["jobs"][0]["traffic"]["arrival"] == {"name": "poisson"}
    assert spec["jobs"][0]["traffic"]["intervals"] is None
    assert spec["stop"] == {"jobs": [], "at_ps": 120_000_000}
    assert spec["measure"]["from_ps"] == 60_000_000
    assert {link["buffer_bytes"] for link in spec["fabric"]["links"].values()} == {8192}
    told = make({**point, "routing": "ugal-l-2KiB", "traffic": "worst-case", "buffer": ""}).resolve().spec
    assert told["jobs"][0]["traffic"]["pattern"] == {"name": "group-shift", "shift": 1}
    assert (told["routing"]["knowledge"], told["routing"]["bias_bytes"]) == ("local", 2048)
    assert {link["buffer_bytes"] for link in told["fabric"]["links"].values()} == {32_768}


def test_what_the_papers_say_holds_on_a_small_machine(study, runs):
    rows = study.rows(runs)
    assert [row.id for row in rows] == [f"LL{n}" for n in range(1, 22)]
    assert {row.id: row.verdict for row in rows if row.verdict == "no match"} == {}
    by_id = {row.id: row.ours for row in rows}
    assert by_id["LL6"] == pytest.approx(100 / 8, rel=0.01), "1/(ah) of a group's injection"
    assert by_id["LL7"] == pytest.approx(50 * 7 / 8, rel=0.02)


def test_what_is_offered_is_accepted_below_saturation(runs):
    for run in runs:
        assert run["offered"] == pytest.approx(run["load"] / 100, rel=0.05)
        limit = 1 / 8 if (run["routing"], run["traffic"]) == ("minimal", "worst-case") else 0.4
        if run["load"] / 100 < limit:
            assert run["accepted"] == pytest.approx(run["offered"], rel=0.05)
            assert stable(run)
        assert run["accepted"] <= run["offered"] * 1.02


def test_routings_go_the_ways_they_say(runs):
    by = {(run["routing"], run["traffic"], run["load"]): run for run in runs}
    assert all(run["minimal_fraction"] == 1 for (routing, *_), run in by.items() if routing == "minimal")
    assert by["valiant", "worst-case", 10]["minimal_fraction"] == 0
    assert by["minimal", "uniform", 10]["hops_mean"] < 3 < by["valiant", "worst-case", 10]["hops_mean"] < 5


def test_what_is_kept_by_hand():
    """Two nodes of 1 B/ps with messages of 1,000 B; the window is 1,000 to 5,000 ps, so 8 messages are full load."""
    rows = pl.DataFrame(
        {
            "issue_ps": pl.Series([0, 500, 900, 2_000, 4_500, 4_900], dtype=pl.UInt64),
            "latency_ps": pl.Series([1_000, 1_000, 300, 600, 400, None], dtype=pl.UInt64),
        }
    )
    spec = {
        "jobs": [{"nodes": [0, 1], "traffic": {"message_bytes": 1_000}}],
        "measure": {"from_ps": 1_000},
        "stop": {"at_ps": 5_000},
        "fabric": {"links": {"node": {"bandwidth": 10**18}}},
    }
    run = SimpleNamespace(messages=rows, resolved={"spec": spec})
    # Arrivals at 1,000 (before the window), 1,500, 1,200, 2,600, 4,900.
    mean = (1_000 + 300 + 600 + 400) / 4
    assert keep(run) == {"offered": 3 / 8, "accepted": 4 / 8, "mean_ps": mean, "p99_ps": 1_000}
    spec["measure"]["from_ps"] = 4_950
    with pytest.raises(ValueError, match="no message was delivered after the warm-up"):
        keep(run)


def made_up(**changed):
    """Runs that satisfy every statement; `changed` are of one."""
    loads = {"uniform": (10.0, 80.0, 100.0), "worst-case": (30.0, 100.0)}
    full = {"uniform": {"valiant": 0.51}, "worst-case": {"minimal": 0.031, "valiant": 0.48, "ugal-g": 0.51}}
    mean = {("valiant", "uniform", 10.0): 1.5e6, ("ugal-l", "worst-case", 30.0): 3e6}
    runs = []
    for traffic, percents in loads.items():
        for routing in ROUTINGS:
            for load in percents:
                accepted = full[traffic].get(routing, 0.99 if traffic == "uniform" else 0.47)
                where = {"form": "full", "traffic": traffic, "routing": routing, "load": load, "buffer": ""}
                outcome = {"accepted": accepted, "mean_ps": mean.get((routing, traffic, load), 1e6)}
                runs.append(where | outcome)
    return runs


def verdicts(runs):
    return {row.id for row in compare(runs, system("full"), 9) if row.verdict == "no match"}


def test_bounds_of_the_machine():
    assert one_pair(system("full")) == 100 / 32
    assert half_worst(system("full")) == 50 * 31 / 32
    assert half_uniform(system("full")) == pytest.approx(50 * 1055 / 1024)


def test_every_statement_can_fail():
    assert verdicts(made_up()) == set()
    wrong = {
        ("minimal", "uniform", 100.0): ({"accepted": 0.96}, {"LL1"}),
        ("valiant", "uniform", 100.0): ({"accepted": 0.6}, {"LL2"}),
        ("ugal-l", "uniform", 100.0): ({"accepted": 0.8}, {"LL3"}),
        ("ugal-g", "uniform", 100.0): ({"accepted": 0.8}, {"LL4"}),
        ("par", "uniform", 100.0): ({"accepted": 0.8}, {"LL5"}),
        ("minimal", "worst-case", 100.0): ({"accepted": 0.04}, {"LL6"}),
        ("valiant", "worst-case", 100.0): ({"accepted": 0.4}, {"LL7"}),
        ("ugal-l", "worst-case", 100.0): ({"accepted": 0.03}, {"LL8"}),
        ("ugal-g", "worst-case", 100.0): ({"accepted": 0.03}, {"LL9", "LL11"}),
        ("par", "worst-case", 100.0): ({"accepted": 0.03}, {"LL10"}),
        ("ugal-l-2KiB", "worst-case", 100.0): ({"accepted": 0.03}, {"LL21"}),
        ("valiant", "uniform", 10.0): ({"mean_ps": 1e6}, {"LL12"}),
        ("ugal-l", "uniform", 10.0): ({"mean_ps": 1.2e6}, {"LL13"}),
        ("ugal-g", "uniform", 10.0): ({"mean_ps": 1.2e6}, {"LL14"}),
        ("par", "uniform", 10.0): ({"mean_ps": 1.2e6}, {"LL15"}),
        ("ugal-l", "worst-case", 30.0): ({"mean_ps": 0.9e6}, {"LL16", "LL17"}),
        ("par", "worst-case", 30.0): ({"mean_ps": 4e6}, {"LL17"}),
        ("ugal-l", "uniform", 80.0): ({"mean_ps": 2e6}, {"LL18"}),
        ("ugal-l-2KiB", "uniform", 80.0): ({"mean_ps": 2e6}, {"LL19"}),
        ("ugal-g", "uniform", 80.0): ({"mean_ps": 2e6}, {"LL20"}),
    }
    seen = set()
    for key, (changed, failing) in wrong.items():
        runs = made_up()
        (chosen,) = (run for run in runs if (run["routing"], run["traffic"], run["load"]) == key)
        chosen.update(changed)
        assert verdicts(runs) == failing, key
        seen |= failing
    assert seen == {f"LL{n}" for n in range(1, 22)}


def test_other_buffers_are_no_part_of_the_curves():
    runs = made_up()
    other = {**runs[2], "buffer": "8 KiB", "accepted": 0.4}
    assert curves([*runs, other]) == curves(runs)


def test_page_and_picture_are_the_same_for_the_same_numbers(study, runs, tmp_path):
    rows = study.rows(runs)
    page = study.page(rows, runs)
    assert page == study.page(rows, runs)
    assert page.count("| LL") == 21
    assert held(rows) in " ".join(page.split())
    assert sum(row.verdict == "no match" for row in rows) <= 1
    assert "| worst-case: offered |" in page
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        save(study.picture(rows, runs), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"Uniform random traffic" in files[0].read_bytes()


def test_the_machine_in_words():
    words = machine_words().replace("\n", " ")
    assert "1,056 nodes: p = 4 nodes a router, a = 8 routers a group, h = 4" in words
    page = (VALIDATION / "other-simulators.md").read_text(encoding="utf-8")
    assert words in " ".join(page.split())


def test_committed_rows_are_those_of_the_study():
    with (VALIDATION / "latency-load.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"LL{n}" for n in range(1, 22)]
    assert [row["id"] for row in rows if row["verdict"] == "no match"] == ["LL18"]
    assert [row["id"] for row in rows if row["experiment"]] == ["LL18"]
