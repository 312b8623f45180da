"""Congestion control: the points, what is kept of runs, and rows that match and rows that do not."""

import pytest

from odonata.reproduce import find
from odonata.reproduce.congestion.control import CONTROLS, FLOWS, GPCNET, impact, make


@pytest.fixture(scope="module")
def study():
    return find("congestion-control")


def test_the_points_of_both_forms(study):
    full, few = study.points(False), study.points(True)
    incasts = [point for point in full if point["test"] == "incast"]
    assert len(incasts) == len(FLOWS) * (len(CONTROLS) + 1)
    assert len(full) - len(incasts) == len(GPCNET) * 2 * 2 * 2
    assert {point["control"] for point in few} == {"none", "slingshot"}


def test_the_scenarios_of_an_incast_and_of_canaries(study):
    incast = make({"test": "incast", "control": "nscc", "size": 32, "beside": True}).resolve().spec
    assert incast["fabric"]["congestion_control"]["law"] == {"nscc": {"target_ps": 3_186_720}}
    bystander, flows = (set(job["nodes"]) for job in incast["jobs"])
    assert len(flows) == 33
    assert not bystander & flows
    canary = make({"test": "latency", "control": "none", "size": 64, "beside": True}).resolve().spec
    assert "congestion_control" not in canary["fabric"]
    nodes = [set(job["nodes"]) for job in canary["jobs"]]
    assert [len(of) for of in nodes] == [13, 12, 12, 12, 12]
    assert sum(map(len, nodes)) == len(set().union(*nodes))
    alone = make({"test": "latency", "control": "none", "size": 64, "beside": False}).resolve().spec
    assert alone["jobs"][0]["nodes"] == canary["jobs"][0]["nodes"], "the canary has the same nodes alone"


def run(test, control, beside, mean, *, size=8, p99=None, used=None, jain=None):
    point = {"test": test, "control": control, "size": size, "beside": beside}
    return point | {"mean_us": mean, "p99_us": p99 or mean, "used": used, "jain": jain, "iterations": 9}


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
    assert page.startswith("# Congestion control\n\nMade by `odonata reproduce congestion-control`; do not edit.")
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
