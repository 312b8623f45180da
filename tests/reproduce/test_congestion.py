"""Congestion control: the points, what is kept of runs, and rows that match and rows that do not."""

import pytest

from odonata.reproduce import find
from odonata.reproduce.congestion import finite, shares
from odonata.reproduce.congestion.control import CONTROLS, FLOWS, GPCNET, impact, make


@pytest.fixture(scope="module")
def study():
    return find("congestion-control")


def test_the_points_of_both_forms(study):
    full, few = study.points(False), study.points(True)
    incasts = [point for point in full if point["test"] == "incast"]
    assert len(incasts) == len(FLOWS) * (len(CONTROLS) + 1)
    ended = [point for point in full if point["test"] == "finite"]
    assert len(ended) == len({case[0] for case in finite.CASES}) + len(finite.CASES) * len(CONTROLS)
    shared = [point for point in full if point["test"] in shares.PLACES]
    assert len(shared) == len(shares.PLACES) * len(shares.FLOWS) * len(CONTROLS)
    canaries = [point for point in full if point["test"] in ("latency", "allreduce")]
    assert len(canaries) == len(GPCNET) * 2 * 2 * 2
    assert len(full) == sum(map(len, (incasts, ended, shared, canaries)))
    assert {point["control"] for point in few} == {"none", "slingshot"}


def test_the_scenarios_of_an_incast_and_of_canaries(study):
    here = {"system": "frontier", "message": ""}
    incast = make({"test": "incast", "control": "nscc", "size": 32, "beside": True, **here}).resolve().spec
    assert incast["fabric"]["congestion_control"]["law"] == {"nscc": {"target_ps": 3_186_720}}
    bystander, flows = (set(job["nodes"]) for job in incast["jobs"])
    assert len(flows) == 33
    assert not bystander & flows
    canary = make({"test": "latency", "control": "none", "size": 64, "beside": True, **here}).resolve().spec
    assert "congestion_control" not in canary["fabric"]
    nodes = [set(job["nodes"]) for job in canary["jobs"]]
    assert [len(of) for of in nodes] == [13, 12, 12, 12, 12]
    assert sum(map(len, nodes)) == len(set().union(*nodes))
    alone = make({"test": "latency", "control": "none", "size": 64, "beside": False, **here}).resolve().spec
    assert alone["jobs"][0]["nodes"] == canary["jobs"][0]["nodes"], "the canary has the same nodes alone"


def run(test, control, beside, mean, *, size=8, p99=None, used=None, jain=None):
    point = {"test": test, "control": control, "size": size, "beside": beside, "system": "frontier", "message": ""}
    kept = {"mean_us": mean, "p99_us": p99 or mean, "used": used, "jain": jain, "iterations": 9}
    return point | kept | {"span_us": None, "wire_us": None, "indices": []}


def ended(control, flows, message, span, wire):
    """An incast that ends."""
    point = run("finite", control, True, None, size=flows) | {"message": message}
    return point | {"span_us": span, "wire_us": wire}


def test_goodput_counts_the_way_of_the_first_byte_and_a_law_that_idles_the_link_is_no_match(study):
    runs = [
        ended("none", 1, finite.FIRST, 2.0, 0.1),
        ended("slingshot", 8, "1 MiB", 102.0, 100.0),
        ended("nscc", 8, "1 MiB", 204.0, 100.0),
        ended("ecn-window", 8, "64 KiB", 11.0, 8.0),
        ended("ecn-window", 8, "16 MiB", 802.0, 800.0),
    ]
    assert finite.goodput(runs) == {
        ("frontier", 8, "1 MiB", "slingshot"): 1.0,
        ("frontier", 8, "1 MiB", "nscc"): 0.5,
        ("frontier", 8, "64 KiB", "ecn-window"): pytest.approx(10 / 11),
        ("frontier", 8, "16 MiB", "ecn-window"): 1.0,
    }
    verdicts = {(row.model, row.what.split(" ")[3]): row.verdict for row in study.rows(runs)}
    assert verdicts == {
        ("slingshot", "1"): "match",
        ("nscc", "1"): "no match",
        ("ecn-window", "64"): "no match",
        ("ecn-window", "16"): "match",
    }


def test_shares_of_the_last_part_are_compared_and_those_without_control_are_not(study):
    of = lambda control, last: run("uplink", control, True, None, size=2) | {"indices": [0.5, 0.6, 0.7, last]}  # noqa: E731
    rows = study.rows([of("none", 0.9), of("nscc", 0.94), of("slingshot", 0.99), of("ecn-window", 0.90)])
    assert {row.model: row.verdict for row in rows} == {
        "nscc": "no match",
        "slingshot": "match",
        "ecn-window": "no match",
    }
    assert {row.model: row.theirs for row in rows}["ecn-window"] == 0.99


def test_rows_that_match_and_rows_that_do_not(study):
    runs = [
        run("incast", "none", False, 10.0),
        run("incast", "none", True, 30.0, used=0.99, jain=0.98),
        run("incast", "slingshot", True, 10.5, used=0.8, jain=0.98),
        run("latency", "slingshot", False, 2.0, size=64),
        run("latency", "slingshot", True, 2.1, size=64, p99=2.6),
        run("latency", "none", False, 2.0, size=64),
        run("latency", "none", True, None, size=64),
    ]
    assert impact(runs, "incast", "slingshot", 8) == pytest.approx(1.05)
    assert impact(runs, "latency", "none", 64) == 5_000 / 2, "nothing ended beside the congestors"
    verdicts = {(row.id, row.model, row.what.rpartition(" ")[2]): row.verdict for row in study.rows(runs)}
    assert verdicts == {
        ("CC1", "none", "root"): "match",
        ("CC2", "none", "index"): "match",
        ("CC3", "none", "bystanders"): "direction",
        ("CC1", "slingshot", "root"): "no match",
        ("CC2", "slingshot", "index"): "match",
        ("CC3", "slingshot", "bystanders"): "match",
        ("GP1", "slingshot", "mean"): "match",
        ("GP1", "slingshot", "%"): "no match",
        ("GP2", "none", "mean"): "direction",
        ("GP2", "none", "%"): "direction",
    }
    page = study.page(study.rows(runs), runs)
    assert page.startswith("## Incasts, shares and canaries\n\n`congestion-control`: Odonata ")
    assert "above x 2500" in page
    assert "$" not in page


def test_the_reduced_form(study, reduced):
    """The root stays busy and its flows are alike, whatever holds them back."""
    runs = reduced("congestion-control")
    rows = {(row.id, row.model): row.ours for row in study.rows(runs) if row.id.startswith("CC")}
    for control in ("none", "slingshot"):
        assert rows["CC1", control] > 0.7
        assert rows["CC2", control] > 0.9
    assert rows["CC3", "slingshot"] <= rows["CC3", "none"]
    assert rows["CC4", "slingshot"] > 0.97
    assert rows["CC5", "slingshot"] > 0.99
