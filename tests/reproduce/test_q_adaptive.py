"""Q-adaptive beside other routings: the authors' configuration, and rows that match and that do not."""

from __future__ import annotations

import pytest

from odonata.reproduce.q_adaptive import grid, page
from odonata.reproduce.q_adaptive.grid import ADAPTIVE, BURSTS, EXPERIMENTS, GRID, MODELS, OURS, SECOND, TIERS

pytest.importorskip("numba")
pytestmark = pytest.mark.xdist_group("numba")


def test_the_grid_has_every_routing_at_every_tier_before_the_experiments():
    assert len(GRID) == len(set(GRID)) == 4 * 15 + 9
    assert grid.points(False) == [
        {"form": "full", "model": model, "traffic": traffic, "load": load} for model, traffic, load in (*GRID, *SECOND)
    ]
    first = [model for model, *_ in GRID[:60]]
    assert not {*first} & {*EXPERIMENTS}
    for tier in TIERS:
        for traffic, load in tier.items():
            assert {(OURS, traffic, load), *((name, traffic, load) for name in ADAPTIVE)} <= {*GRID}
    assert {point["form"] for point in grid.points(True)} == {"reduced"}


def test_the_second_grid_pauses_and_has_no_load_at_the_bound():
    assert {model for model, *_ in SECOND[:9]} == {OURS + BURSTS}
    assert len(SECOND) == len({*SECOND} - {*GRID}) == 49
    assert not {*TIERS[1].items()} & {(traffic, load) for _, traffic, load in SECOND}
    point = {"form": "full", "traffic": "adv+1", "load": 40}
    usual, pausing = (grid.make({**point, "model": name}).resolve().spec for name in ("par", "par" + BURSTS))
    assert pausing["jobs"][0]["bursts"] == {
        "on": {"distribution": "fixed", "ps": 20_000_000},
        "off": {"distribution": "fixed", "ps": 30_000_000},
    }
    assert {key for key in usual if usual[key] != pausing[key]} == {"jobs", "measure", "stop"}


@pytest.mark.parametrize("model", list(MODELS))
def test_the_machine_is_that_of_the_public_configuration(model):
    resolved = grid.make({"form": "full", "model": model, "traffic": "adv+4", "load": 40}).resolve()
    spec = resolved.spec
    assert resolved.system.shape.nodes == 1056
    assert resolved.system.links_per_pair == 1
    fabric = spec["fabric"]
    assert fabric["channels"] == MODELS[model].channels
    assert {name: link["latency_ps"] for name, link in fabric["links"].items()} == {
        "node": 10_000, "local": 30_000, "global": 300_000,
    }  # fmt: skip
    assert {link["buffer_bytes"] for link in fabric["links"].values()} == {20 * 128}
    [job] = spec["jobs"]
    assert job["traffic"]["interval_ps"] == 80_000
    assert job["traffic"]["message_bytes"] == 128
    assert job["traffic"]["pattern"] == {"name": "group-shift", "shift": 4}


def test_experiments_change_one_thing():
    point = {"form": "full", "traffic": "uniform", "load": 80}
    usual = grid.make({**point, "model": OURS}).resolve().spec
    late, learned, first, poisson, ideal = (grid.make({**point, "model": name}).resolve().spec for name in EXPERIMENTS)
    for later in (late, learned):
        assert {key for key in usual if usual[key] != later[key]} == {"measure", "stop"}
    assert {key for key in usual if usual[key] != first[key]} == {"own_routings", "routing"}
    assert {key for key in usual if usual[key] != poisson[key]} == {"jobs"}
    assert {key for key in usual if usual[key] != ideal[key]} == {"fabric"}


def run(model, traffic, load, accepted, mean_us, hops=3.0):
    return {
        "model": model,
        "traffic": traffic,
        "load": load,
        "offered": load / 100,
        "accepted": accepted,
        "mean_ps": mean_us * 1e6,
        "p99_ps": 2e6 * mean_us,
        "hops_mean": hops,
        "minimal_fraction": 0.5,
    }


RUNS = [
    run(OURS, "uniform", 80, 0.8, 0.7),
    run(OURS, "uniform", 100, 0.88, 5.0),
    run("par", "uniform", 80, 0.8, 0.7 * 5.2),
    run("par", "uniform", 100, 0.80, 9.0),
    run("ugal-n", "uniform", 80, 0.7, 99.0),
    run(OURS, "adv+1", 40, 0.4, 1.0, 3.1),
    run(OURS, "adv+1", 50, 0.48, 3.0),
    run("valiant-n", "adv+1", 40, 0.4, 4.0),
    run("valiant-n", "adv+1", 50, 0.466, 9.0),
    run(OURS + BURSTS, "adv+1", 40, 0.4, 1.0),
    run("par" + BURSTS, "adv+1", 40, 0.4, 2.0),
]


def test_rows_by_hand():
    rows = {(row.id, row.what): row for row in page.compare(RUNS) if row.model == OURS}
    ours = {key: round(row.ours, 3) for key, row in rows.items()}
    assert ours["QA1", "uniform: greatest accepted load"] == 88
    assert ours["QA2", "adv+1: greatest accepted load"] == 48
    assert ("QA3", "adv+4: greatest accepted load") not in rows
    assert ours["QA7", "most that it accepts above an adaptive routing"] == 25.714, "over ugal-n at its greatest, 70 %"
    assert ours["QA8", "largest mean latency of an adaptive routing over its own"] == 5.2, "not of a saturated one"
    assert ours["QA9", "adv+1: most that it accepts above valiant"] == pytest.approx(100 * (0.48 / 0.466 - 1), abs=1e-3)
    assert ours["QA10", "adv+1: largest reduction of the mean latency of valiant"] == 75
    verdicts = {key[0]: row.verdict for key, row in rows.items()}
    assert (verdicts["QA1"], verdicts["QA7"], verdicts["QA8"], verdicts["QA10"]) == (
        "match", "no match", "match", "match",
    )  # fmt: skip
    assert rows["QA11", "uniform: greatest accepted load over that of par"].verdict == "direction"
    (valiant,) = [row for row in page.compare(RUNS) if row.model == "valiant-n"]
    assert (valiant.verdict, valiant.theirs) == ("match", pytest.approx(48.2 / 1.03))
    pausing = [(row.id, row.ours) for row in page.compare(RUNS) if row.model == OURS + BURSTS and row.id != "QA6"]
    assert pausing == [("QA8", 2), ("QA12", 2)]


def test_a_throughput_that_an_experiment_reaches_has_its_cause():
    low = [{**point, "accepted": 0.5} if point["model"] == OURS else point for point in RUNS]
    for name in page.CAUSES:
        for reached, why in ((0.7, page.CAUSES[name]), (0.51, "")):
            runs = [*low, run(name, "uniform", 80, reached, 1.0)]
            (row,) = [row for row in page.compare(runs) if row.id == "QA1"]
            assert (row.verdict, row.why) == ("no match", why)


def test_a_number_whose_load_is_not_known_has_no_verdict():
    rows = [row for row in page.compare(RUNS) if row.id in ("QA4", "QA6") and row.model == OURS]
    assert [(row.what, row.verdict) for row in rows] == [
        ("uniform at 80 %: mean latency", "not comparable"),
        ("adv+1 at 40 %: links of a path", "not comparable"),
        ("adv+1 at 50 %: links of a path", "not comparable"),
    ]
    assert {row.why for row in rows} == {page.UNSTATED}


def test_a_run_that_drains_a_backlog_has_no_latency():
    assert page.stable(run(OURS, "uniform", 80, 0.81, 1.0))
    assert not page.stable(run(OURS, "uniform", 80, 0.82, 1.0))
    assert not page.stable(run(OURS, "uniform", 80, 0.75, 1.0))


def test_an_ordering_that_fails_is_no_match():
    slower = [{**point, "mean_ps": 9e6} if point["model"] == OURS else point for point in RUNS]
    by_id = {row.id: row.verdict for row in page.compare(slower) if " par " in row.what and row.model == OURS}
    assert by_id["QA12"] == "no match"


def test_the_page_says_what_was_saturated():
    rows = page.compare(RUNS)
    texts = page.REPRODUCTION.text.of_runs(rows, RUNS)
    text = page.REPRODUCTION.text.render(rows, texts, "routings")
    assert "| 100 % | `q-adaptive` | 100.0 | 88.0 | – | – |" in texts["curves_uniform"]
    assert "- QA4 mean latency, uniform: published 0.76 us; `q-adaptive` has 0.70 at 80 %." in text
    assert "| adv+1 | 40 % | 1.00; 2.00 | 2.00; 4.00 |" in text
    assert "1,056 nodes" in text
    assert page.draw(rows, RUNS).axes
