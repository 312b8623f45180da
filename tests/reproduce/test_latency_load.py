"""Latency against load: the reduced study on 72 nodes, and the parts it is made of."""

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from odonata.errors import InputError
from odonata.reproduce import find
from odonata.reproduce.latency_load.checks import compare, half_uniform, half_worst, one_pair
from odonata.reproduce.latency_load.curves import by_buffer, curves, stable, throughput
from odonata.reproduce.latency_load.load_case import LoadCase
from odonata.reproduce.latency_load.load_grid import machine_words, read_loads
from odonata.reproduce.latency_load.load_outcome import NOT_DELIVERED, LoadOutcome, load_outcome
from odonata.reproduce.pool import run_cases
from odonata.reproduce.rows import by_name

VALIDATION = Path(__file__).parents[2] / "validation"
ROUTINGS = ["minimal", "valiant", "ugal-l", "ugal-g", "par", "ugal-l-2KiB"]


@pytest.fixture(scope="module")
def study():
    return find("latency-load")


@pytest.fixture(scope="module")
def reduced(study, tmp_path_factory):
    return run_cases(study.cases(reduced=True), tmp_path_factory.mktemp("cache"))


def test_the_cases_of_both_forms(study):
    full, few = study.cases(), study.cases(reduced=True)
    assert len(few) == 2 * 3 * len(ROUTINGS)
    assert len(full) == (11 + 16) * len(ROUTINGS) + 6
    assert len({(case.model, case.name) for case in full}) == len(full)
    assert {case.nodes for case in full} == {1056}
    assert {case.nodes for case in few} == {72}
    assert {case.model for case in full} == set(ROUTINGS)
    assert [case.name for case in full[-6:]] == [
        f"uniform/100%/{size}" for size in ("1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "64 KiB")
    ]


def test_the_load_decides_the_interval(study):
    """512 B at 12.5 GB/s are 40.96 ns."""
    cases = {case.name: case for case in study.cases() if case.model == "minimal"}
    assert cases["uniform/100%"].interval_ps == 40_960
    assert cases["worst-case/2.5%"].interval_ps == 1_638_400
    assert cases["uniform/100%"].messages == 120_000_000 // 40_960


def test_the_scenario_of_a_case(study):
    case = next(case for case in study.cases() if case.name == "uniform/100%/8 KiB")
    spec = case.scenario().resolve().spec
    assert spec["topology"]["groups"] == 33
    assert spec["jobs"][0]["nodes"] == list(range(1056))
    assert spec["jobs"][0]["traffic"]["arrival"] == {"name": "poisson"}
    assert spec["jobs"][0]["traffic"]["intervals"] is None
    assert spec["stop"] == {"jobs": [], "at_ps": 120_000_000}
    assert spec["measure"]["from_ps"] == 60_000_000
    assert {link["buffer_bytes"] for link in spec["fabric"]["links"].values()} == {8192}
    worst = next(case for case in study.cases() if case.model == "ugal-l-2KiB" and case.traffic == "worst-case")
    told = worst.scenario().resolve().spec
    assert told["jobs"][0]["traffic"]["pattern"] == {"name": "group-shift", "shift": 1}
    assert (told["routing"]["knowledge"], told["routing"]["bias_bytes"]) == ("local", 2048)
    assert {link["buffer_bytes"] for link in told["fabric"]["links"].values()} == {32_768}


def test_what_the_papers_say_holds_on_a_small_machine(study, reduced):
    rows = study.rows(reduced)
    assert [row.id for row in rows] == [f"LL{n}" for n in range(1, 22)]
    assert {row.id: row.verdict for row in rows if row.verdict != "match"} == {}
    by_id = {row.id: row.ours for row in rows}
    assert by_id["LL6"] == pytest.approx(100 / 8, rel=0.01), "1/(ah) of a group's injection"
    assert by_id["LL7"] == pytest.approx(50 * 7 / 8, rel=0.02)


def test_what_is_offered_is_accepted_below_saturation(reduced):
    for case, outcome in reduced.items():
        assert outcome.offered == pytest.approx(case.percent / 100, rel=0.05)
        limit = 1 / 8 if (case.model, case.traffic) == ("minimal", "worst-case") else 0.4
        if case.percent / 100 < limit:
            assert outcome.accepted == pytest.approx(outcome.offered, rel=0.05), (case.model, case.name)
            assert stable(outcome)
        assert outcome.accepted <= outcome.offered * 1.02


def test_routings_go_the_ways_they_say(reduced):
    by = {(case.model, case.name): outcome for case, outcome in reduced.items()}
    assert all(outcome.minimal == 1 for (model, _), outcome in by.items() if model == "minimal")
    assert by["valiant", "worst-case/10%"].minimal == 0
    assert by["minimal", "uniform/10%"].hops < 3 < by["valiant", "worst-case/10%"].hops < 5


def test_an_outcome_by_hand():
    """Two nodes of 1 B/ps with messages of 1,000 B; the window is 1,000 to 5,000 ps, so 8 messages are full load."""
    rows = {
        "issue_ps": np.array([0, 500, 900, 2_000, 4_500, 4_900], np.uint64),
        "latency_ps": np.array([1_000, 1_000, 300, 600, 400, NOT_DELIVERED], np.uint64),
    }
    job = {"minimal": 3, "packets": 4, "hops": 10}
    spec = {
        "jobs": [{"nodes": [0, 1], "traffic": {"message_bytes": 1_000}}],
        "measure": {"from_ps": 1_000},
        "stop": {"at_ps": 5_000},
        "fabric": {"links": {"node": {"bandwidth": 10**18}, "global": {"bandwidth": 5 * 10**17}}},
    }
    shape = SimpleNamespace(groups=3, nodes=6, nodes_per_group=2)
    resolved = SimpleNamespace(spec=spec, system=SimpleNamespace(shape=shape, links_per_pair=1))
    found = load_outcome({"jobs": [job], "messages": rows}, resolved)
    # Arrivals at 1,000 (before the window), 1,500, 1,200, 2,600, 4,900.
    assert found == LoadOutcome(
        offered=3 / 8,
        accepted=4 / 8,
        mean_ps=(1_000 + 300 + 600 + 400) / 4,
        p50_ps=400,
        p99_ps=1_000,
        delivered=4,
        minimal=0.75,
        hops=2.5,
        groups=3,
        nodes=6,
        pair_share=0.25,
    )
    spec["measure"]["from_ps"] = 4_950
    with pytest.raises(ValueError, match="no message was delivered after the warm-up"):
        load_outcome({"jobs": [job], "messages": rows}, resolved)


def outcome(accepted=0.5, offered=0.5, mean_ps=1e6):
    return LoadOutcome(offered, accepted, mean_ps, 10**6, 2 * 10**6, 100, 1.0, 3.0, 33, 1056, 1 / 32)


def made_up(**changed):
    """Results that satisfy every statement, by (routing, case)."""
    loads = {"uniform": (10, 80, 100), "worst-case": (30, 100)}
    full = {"uniform": {"valiant": 0.51}, "worst-case": {"minimal": 0.031, "valiant": 0.48, "ugal-g": 0.51}}
    mean = {("valiant", "uniform/10%"): 1.5e6, ("ugal-l", "worst-case/30%"): 3e6}
    results = {}
    for traffic, percents in loads.items():
        for model in ROUTINGS:
            for percent in percents:
                name = f"{traffic}/{percent}%"
                accepted = full[traffic].get(model, 0.99 if traffic == "uniform" else 0.47)
                results[model, name] = {9: outcome(accepted, mean_ps=mean.get((model, name), 1e6))}
    return results | changed.get("results", {})


def test_bounds_of_the_machine():
    found = curves(made_up())
    assert one_pair(found) == 100 / 32
    assert half_worst(found) == 50 * 31 / 32
    assert half_uniform(found) == pytest.approx(50 * 1055 / 1024)
    assert throughput(found["worst-case"]["minimal"]) == pytest.approx(3.1)


def test_every_statement_can_fail():
    assert {row.verdict for row in compare(made_up(), ROUTINGS)} == {"match"}
    wrong = {
        ("minimal", "uniform/100%"): ({"accepted": 0.96}, {"LL1"}),
        ("valiant", "uniform/100%"): ({"accepted": 0.6}, {"LL2"}),
        ("ugal-l", "uniform/100%"): ({"accepted": 0.8}, {"LL3"}),
        ("ugal-g", "uniform/100%"): ({"accepted": 0.8}, {"LL4"}),
        ("par", "uniform/100%"): ({"accepted": 0.8}, {"LL5"}),
        ("minimal", "worst-case/100%"): ({"accepted": 0.04}, {"LL6"}),
        ("valiant", "worst-case/100%"): ({"accepted": 0.4}, {"LL7"}),
        ("ugal-l", "worst-case/100%"): ({"accepted": 0.03}, {"LL8"}),
        ("ugal-g", "worst-case/100%"): ({"accepted": 0.03}, {"LL9", "LL11"}),
        ("par", "worst-case/100%"): ({"accepted": 0.03}, {"LL10"}),
        ("ugal-l-2KiB", "worst-case/100%"): ({"accepted": 0.03}, {"LL21"}),
        ("valiant", "uniform/10%"): ({"mean_ps": 1e6}, {"LL12"}),
        ("ugal-l", "uniform/10%"): ({"mean_ps": 1.2e6}, {"LL13"}),
        ("ugal-g", "uniform/10%"): ({"mean_ps": 1.2e6}, {"LL14"}),
        ("par", "uniform/10%"): ({"mean_ps": 1.2e6}, {"LL15"}),
        ("ugal-l", "worst-case/30%"): ({"mean_ps": 0.9e6}, {"LL16", "LL17"}),
        ("par", "worst-case/30%"): ({"mean_ps": 4e6}, {"LL17"}),
        ("ugal-l", "uniform/80%"): ({"mean_ps": 2e6}, {"LL18"}),
        ("ugal-l-2KiB", "uniform/80%"): ({"mean_ps": 2e6}, {"LL19"}),
        ("ugal-g", "uniform/80%"): ({"mean_ps": 2e6}, {"LL20"}),
    }
    seen = set()
    for key, (changed, failing) in wrong.items():
        rows = compare(made_up(results={key: {9: outcome(**changed)}}), ROUTINGS)
        assert {row.id for row in rows if row.verdict == "no match"} == failing, key
        seen |= failing
    assert seen == {f"LL{n}" for n in range(1, 22)}


def test_other_buffers_are_no_part_of_the_curves():
    results = {("minimal", "uniform/100%"): {9: outcome()}, ("minimal", "uniform/100%/8 KiB"): {9: outcome(0.4)}}
    assert list(curves(results)["uniform"]["minimal"]) == [100.0]
    assert by_buffer(results) == {"8 KiB": outcome(0.4)}


def test_page_and_picture_are_the_same_for_the_same_numbers(study, reduced, tmp_path):
    results, rows = by_name(reduced), study.rows(reduced)
    page = study.page(rows, results)
    assert page == study.page(rows, results)
    assert page.count("| LL") == 21
    assert "21 of 21 statements hold" in page
    assert "| worst-case: offered |" in page
    from odonata.plot.style import save

    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        save(study.picture(rows, results), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"Uniform random traffic" in files[0].read_bytes()


def test_the_machine_in_words(study):
    text = (Path(study.read.__code__.co_filename).parent / "study.toml").read_text(encoding="utf-8")
    words = machine_words(text).replace("\n", " ")
    assert "1,056 nodes: p = 4 nodes a router, a = 8 routers a group, h = 4" in words
    assert "one cable between each two (absolute arrangement)" in words


def test_a_study_that_lacks_something_says_what():
    with pytest.raises(InputError, match=r"^study\.toml: 'reduced' is missing"):
        read_loads("seed = 1\n[full]\n", "study.toml", True)


def test_a_case_that_was_kept_is_read_again():
    case = LoadCase("m", "t", 50, 2, "{}", "{}", "{}", "1 us", "2 us", 1)
    assert case.kept(json.loads(json.dumps(outcome().as_json()))) == outcome()


def test_committed_rows_are_those_of_the_study(study):
    with (VALIDATION / "latency-load.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"LL{n}" for n in range(1, 22)]
    assert all(row["verdict"] == "match" or row["why"] for row in rows)
