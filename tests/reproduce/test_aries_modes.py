"""Modes of Aries: the reduced study on 128 nodes, and the parts it is made of."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from odonata.machine import load
from odonata.plot.style import save
from odonata.reproduce import find
from odonata.reproduce.aries_modes import relations as measures
from odonata.reproduce.aries_modes.relations import (
    EQUAL,
    GREATER,
    SMALLER,
    Median,
    Relation,
    as_row,
    compare,
    estimate_ps,
    grouped,
    median_of,
)
from odonata.reproduce.aries_modes.runs import MODES, Around, around_of, draw_pairs, keep, make, setting

VALIDATION = Path(__file__).parents[2] / "validation"


@pytest.fixture(scope="module")
def study():
    return find("aries-modes")


@pytest.fixture(scope="module")
def runs(reduced):
    return reduced("aries-modes")


def point_of(study, **wanted):
    wanted = {"variant": "", **wanted}
    (point,) = (p for p in study.points(False) if all(p[key] == value for key, value in wanted.items()))
    return point


def test_the_points_of_both_forms(study):
    main = [point for point in study.points(False) if not point["variant"]]
    delays = [point for point in main if point["experiment"] == "delay"]
    assert len(delays) == 3 * 4 * 10
    assert len(main) - len(delays) == 2 * (2 * 3 * 5 + 5)
    assert {point["mode"] for point in main} == set(MODES)
    assert {point["sensing"] for point in main} == {"both"}
    assert {point["delay"] for point in main if point not in delays} == {1}
    assert {around_of(point).machine.shape.nodes for point in main} == {2304}
    assert {around_of(point).machine.shape.nodes for point in study.points(True)} == {128}


def test_variants_change_one_thing(study):
    base = point_of(study, experiment="intra", mode="adaptive-3", load=20.0, seed=1)
    changed = {}
    for point in study.points(False):
        if (point["experiment"], point["mode"]) == ("intra", "adaptive-3") and point["variant"]:
            changed[point["variant"]] = {key: point[key] for key in point if point[key] != base[key]}
            changed[point["variant"]].pop("variant")
    assert changed["no delay of credits"] == {"delay": 0}
    assert changed["backlogs alone"] == {"sensing": "backlog"}
    assert changed["high bias of 32 KiB"] == {"job": {"bias_high": "32 KiB"}}
    assert changed["only the nearest cables count as shortest"] == {"job": {"gateways": "nearest"}}
    assert all(changed.values())
    usual, other = (make({**base, "job": job}).resolve().spec for job in ({}, {"bias_high": "32 KiB"}))
    assert [spec["jobs"][0]["routing"]["bias_high_bytes"] for spec in (usual, other)] == [8_192, 32_768]


def test_the_background_loads_the_cables_between_groups():
    """6 x 5 directions of 48 cables with 4.7 GB/s at 20 %, of which 5/6 of what 1,024 nodes send makes use."""
    expected = 16_384 * 1_024 * (5 / 6) / (6 * 5 * 48 * 4.7e9 * 0.2) * 1e12
    assert Around().interval_ps == pytest.approx(expected, abs=1)
    assert Around(pattern="group-shift", load=10).interval_ps == pytest.approx(expected * 6 / 5 * 2, abs=1)


def test_only_the_delay_differs_between_paired_runs(study):
    points = {k: point_of(study, experiment="delay", load=40.0, delay=k, seed=3) for k in (0, 1, 16)}
    specs = {k: make(point).resolve().spec for k, point in points.items()}
    assert [specs[k].pop("sensing") for k in specs] == [
        {"kind": "both"},
        {"kind": "both", "delay_ps": {"chassis": 60_000, "group": 60_000, "optical": 300_000}},
        {"kind": "both", "delay_ps": {"chassis": 960_000, "group": 960_000, "optical": 4_800_000}},
    ]
    assert specs[0] == specs[1] == specs[16]
    assert specs[0]["routing"]["mode"] == "adaptive-0"
    other = make({**points[0], "seed": 4}).resolve().spec
    assert other["jobs"][0]["nodes"] != specs[0]["jobs"][0]["nodes"]
    # The seeds of the validation page, independent of the default seeds of a scenario.
    assert [job["nodes"][:4] for job in specs[0]["jobs"]] == [[1773, 1236, 1171, 959], [1130, 1493, 1830, 1711]]


def test_pairs_and_their_probes(study):
    for where, distinct in (("intra", 1), ("inter", 2)):
        point = point_of(study, experiment=where, mode="adaptive-3", load=20.0, seed=2)
        resolved = make(point).resolve()
        jobs, shape = resolved.spec["jobs"], resolved.system.shape
        assert [job["name"][:4] for job in jobs] == ["pair"] * 6 + ["prob"] * 6 + ["back"]
        for pair, probe in zip(jobs[:6], jobs[6:12], strict=True):
            assert pair["traffic"]["pattern"]["name"] == "broadcast"
            assert pair["traffic"]["message_bytes"] == 4 * 2**20
            assert pair["routing"] == probe["routing"]
            assert (pair["routing"]["mode"], pair["routing"]["bias_high_bytes"]) == ("adaptive-3", 8_192)
            assert probe["traffic"]["message_bytes"] == 1_024, "one packet"
            assert [shape.router_of(node) for node in pair["nodes"]] == [shape.router_of(n) for n in probe["nodes"]]
            assert len({shape.group_of(node) for node in pair["nodes"]}) == distinct
            assert not set(pair["nodes"]) & set(probe["nodes"])
        assert jobs[12].get("routing", resolved.spec["routing"])["mode"] == "adaptive-0"
        low = make({**point, "mode": "adaptive-0"}).resolve().spec
        assert [job["nodes"] for job in low["jobs"]] == [job["nodes"] for job in jobs]


def test_pairs_are_drawn_from_every_group_on_different_routers():
    shape = load("theta").shape
    for where in ("intra", "inter"):
        pairs = draw_pairs(shape, where, 7)
        groups = [[shape.group_of(router * shape.nodes_per_router) for router in pair] for pair in pairs]
        assert [sender for sender, _ in groups] == list(range(9))
        assert all((a == b) == (where == "intra") for a, b in groups)
        assert len({router for pair in pairs for router in pair}) == 18
        assert pairs != draw_pairs(shape, where, 8)


def test_intervals_of_medians():
    """Ranks as in the usual tables of the sign test: n = 6, 10, 20, 30."""
    for count, rank in ((1, 1), (5, 1), (6, 1), (9, 2), (10, 2), (20, 6), (30, 10)):
        values = list(range(1, count + 1))
        assert median_of(values[::-1]) == Median((count + 1) / 2, rank, count + 1 - rank, count)
    with pytest.raises(ValueError, match="no values"):
        median_of([])


def test_equation_2():
    """D11: 4 KiB has the factor 0.5625, 4 MiB 64.5."""
    assert estimate_ps(4_096, 1_000, 10_000, 0) == 5_625 + 1_000
    assert estimate_ps(4 * 2**20, 1_000, 100, 2) == 6_450 + 3_000
    assert estimate_ps(65, 0, 1_024, 0) == 2 + 512


def test_what_is_kept_of_a_delay_by_hand():
    rows = {
        "job": [0, 0, 0, 0, 0, 0],
        "issue_ps": [10, 100, 110, 120, 199, 200],
        "latency_ps": pl.Series([9, 1, 2, 3, 6, None], dtype=pl.UInt64),
    }
    jobs = pl.DataFrame({"name": ["target", "background"], "minimal_fraction": [0.25, 0.75]})
    resolved = {"spec": {"measure": {"from_ps": 100, "until_ps": 200}}}
    kept = keep(SimpleNamespace(jobs=jobs, messages=pl.DataFrame(rows), resolved=resolved))
    shares = {"minimal": 0.25, "background_minimal": 0.75}
    assert kept == {"mean_ps": 3.0, "variance_ps2": 14 / 3, "qcd": 2 / 5.5, **shares}
    rows["latency_ps"] = pl.Series([9, 1, 2, 3, None, None], dtype=pl.UInt64)
    with pytest.raises(ValueError, match="1 of 4 messages that count did not arrive: saturated"):
        keep(SimpleNamespace(jobs=jobs, messages=pl.DataFrame(rows), resolved=resolved))


def by_hand(message_bytes):
    """One pair of nodes 1 and 2 on a NIC of 1 B/ps, four messages, and its probe."""
    pair = [(0, k, 0, 200 * k, 200 + k) for k in (2, 0, 1, 3)]
    probe = [(1, 0, 0, 100, 900), (1, 1, 0, 450, 10), (1, 2, 0, 500, 20), (1, 1, 1, 600, 5), (1, 2, 1, 610, 9)]
    late = [(1, 3, 0, 803, 900), (1, 4, 0, 460, None)]
    names = ["job", "interval", "source", "issue_ps", "latency_ps"]
    rows = pl.DataFrame([*pair, *probe, *late], schema=dict.fromkeys(names, pl.Int64), orient="row")
    jobs = {"name": ["pair0", "probe0"], "minimal_fraction": [0.25, 1.0], "hops_mean": [2.5, 1.0]}
    links = {
        "from_kind": ["router", "node", "node"],
        "from_id": [1, 1, 2],
        "stalled_ps": [9, 600, 9],
        "bytes": [400] * 3,
    }
    spec = {
        "jobs": [{"nodes": [1, 2], "traffic": {"message_bytes": message_bytes}}, {"nodes": [0, 3]}],
        "fabric": {"links": {"node": {"bandwidth": 10**18}}},
    }
    tables = {"messages": rows, "jobs": pl.DataFrame(jobs), "links": pl.DataFrame(links)}
    return keep(SimpleNamespace(**tables, resolved={"spec": spec}))


def test_what_is_kept_of_pairs_by_hand():
    """The first message and what the probe sent before the second or after the end do not count."""
    assert by_hand(4 * 2**20) == {
        "times_ps": [[201, 202, 203]],
        "stalls": [0.5],
        "probe_ps": [15.0 + 7.0],
        "probe_variance_ps2": [50.0 + 8.0],
        "pair_minimal": [0.25],
        "pair_hops": [2.5],
        "sent_ps": 4.0 * 2**20,
    }
    halves = by_hand(2 * 2**20)
    assert halves["times_ps"] == [[202 + 203]]
    assert halves["sent_ps"] == 4.0 * 2**20
    with pytest.raises(ValueError, match="two messages"):
        by_hand(2**20)


def test_the_reduced_study_finds_what_the_paper_says(study, runs):
    rows = study.rows(runs)
    assert [row.id for row in rows] == ["D8"] * 2 + ["D22"] * 18
    similar = "latency L is similar"
    # On idle links the difference is less than 1 %, which is no effect.
    no_effect = "inter-group, load 0 %, high bias over none: time is shorter"
    assert {row.what for row in rows if row.verdict == "no match" and similar not in row.what} <= {no_effect}
    shrinks = measures.off_over_on(grouped(runs), "", 20, 16, measures.variance_of_run)
    assert shrinks[0] < 0.6, "phantom congestion"


def test_modes_go_the_ways_they_say(runs):
    known = grouped(runs)
    for where in ("intra", "inter"):
        minimal = {mode: np.mean(known.pairs["", 20, where, mode][1]["pair_minimal"]) for mode in MODES}
        assert minimal["min-hash"] == minimal["in-order"] == 1
        assert minimal["nmin-hash"] == 0
        assert minimal["adaptive-0"] < minimal["adaptive-2"] < minimal["adaptive-3"] < 1
        assert minimal["adaptive-0"] <= minimal["adaptive-1"] < minimal["adaptive-3"]
    in_order = known.pairs["", 20, "inter", "in-order"][1]
    assert min(measures.times(in_order)) > 4 * 2**20 / 4.7e9 * 1e12, "a single way is no faster than its cable"
    assert max(measures.times(known.pairs["", 0, "inter", "adaptive-3"][1])) < 1.1 * in_order["sent_ps"]


def delay(variance, qcd=1.0):
    return {"variance_ps2": variance, "qcd": qcd}


def pair(time, stalls, latency, variance):
    probe = {"probe_ps": [latency] * 3, "probe_variance_ps2": [variance] * 3}
    return {"times_ps": [[time, time + 1]] * 3, "stalls": [stalls] * 3, **probe, "sent_ps": 1e8}


def made_up(changed=None):
    """Runs that satisfy every statement, but for what is changed."""
    runs = {}
    for seed in (1, 2):
        runs["adaptive-0", f"delay/x0/{seed}"] = delay(1.0, 1.0)
        runs["adaptive-0", f"delay/x1/{seed}"] = delay(2.0, 2.0)
        runs["adaptive-0", f"intra/x1/{seed}"] = pair(100, 0.0, 1e6, 1.0)
        runs["adaptive-3", f"intra/x1/{seed}"] = pair(150, 0.5, 1e6, 1.0)
        runs["adaptive-0", f"inter/x1/{seed}"] = pair(120, 0.0, 2e6, 2.0)
        runs["adaptive-3", f"inter/x1/{seed}"] = pair(110, 0.0, 1e6, 1.0)
    made = []
    for (mode, name), run in (runs | (changed or {})).items():
        experiment, multiple, seed = name.split("/")
        point = {"experiment": experiment, "mode": mode, "seed": int(seed), "variant": "", "load": 20.0, "job": {}}
        made.append({**point, "delay": int(multiple[1:]), **run})
    return made


def test_every_statement_can_fail():
    assert {row.verdict for row in compare(made_up())} == {"match", "direction"}
    wrong = {
        "variance of latency": ("adaptive-0", "delay/x0/1", delay(3.0, 1.0)),
        "QCD of latency": ("adaptive-0", "delay/x0/2", delay(1.0, 3.0)),
        "time is longer": ("adaptive-3", "intra/x1/1", pair(90, 0.5, 1e6, 1.0)),
        "latency L is similar": ("adaptive-3", "intra/x1/1", pair(150, 0.5, 2e6, 1.0)),
        "time is shorter": ("adaptive-3", "inter/x1/1", pair(130, 0.0, 1e6, 1.0)),
        "variance of L is lower": ("adaptive-3", "inter/x1/1", pair(110, 0.0, 1e6, 3.0)),
    }
    for what, (mode, case, run) in wrong.items():
        rows = compare(made_up({(mode, case): run}))
        assert [what in row.what for row in rows if row.verdict == "no match"] == [True], what
    together = {
        "stalls (1 + s) are more": ("intra", pair(150, 0.0, 1e6, 1.0)),
        "stalls (1 + s) are comparable": ("inter", pair(110, 0.5, 1e6, 1.0)),
        "latency L is lower": ("inter", pair(110, 0.0, 2e6, 1.0)),
        "time by equation (2) is longer": ("intra", pair(150, 0.0, 1e6, 1.0)),
        "time by equation (2) is shorter": ("inter", pair(110, 0.0, 2e6, 1.0)),
    }
    for what, (where, run) in together.items():
        both = {("adaptive-3", f"{where}/x1/{seed}"): run for seed in (1, 2)}
        rows = compare(made_up(both))
        assert [row.verdict for row in rows if what in row.what] == ["no match"], what


def test_a_relation_holds_only_for_the_whole_interval():
    def verdict(tolerance, value, low, high):
        cause = ("as it is", "the sensitivity on this page")
        made = as_row(Relation("D8", "", "adaptive-0", tolerance, Median(value, low, high, 9), "", cause), 1)
        assert (made.interval, made.repetitions) == ((low, high), 9)
        assert (made.why, made.experiment) == (cause if made.verdict == "no match" else ("", ""))
        return made.verdict, made.note

    assert verdict(SMALLER, 0.9, 0.8, 0.99) == ("direction", "")
    assert verdict(SMALLER, 0.9, 0.8, 1.01) == ("no match", "the interval holds 1")
    assert verdict(SMALLER, 1.05, 0.8, 1.2) == ("no match", "the interval holds 1")
    assert verdict(GREATER, 0.9, 0.8, 0.95) == ("no match", "")
    assert verdict(GREATER, 1.2, 1.1, 1.3) == ("direction", "")
    assert verdict(SMALLER, 0.995, 0.994, 0.996) == ("no match", "")
    assert verdict(EQUAL, 1.09, 0.5, 3) == ("match", "")
    assert verdict(EQUAL, 1.11, 1.05, 1.2) == ("no match", "")


def test_page_and_picture_are_the_same_for_the_same_numbers(study, runs, tmp_path):
    rows = study.rows(runs)
    page = study.page(rows, runs)
    assert page == study.page(rows, runs)
    assert (page.count("| D8 |"), page.count("| D22 |")) == (2, 18)
    assert "## Phantom congestion (D8): 0 match and 2 directions hold, of 2" in page
    assert "| inter | `nmin-hash` |" in page
    assert "| 64 KiB at a time (1,024 packets of 64 B) | intra |" in page
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        save(study.picture(rows, runs), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"nmin-hash" in files[0].read_bytes()


def test_the_setting_in_words():
    assert setting() in (VALIDATION / "aries-modes.md").read_text(encoding="utf-8")


def test_committed_rows_are_those_of_the_study():
    with (VALIDATION / "aries-modes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["D8"] * 18 + ["D22"] * 27
    assert all(row["low"] and int(row["repetitions"]) > 1 for row in rows), "each rests on an interval"
    shorter = [row for row in rows if row["what"].startswith("inter-group") and row["what"].endswith("time is shorter")]
    assert [row["verdict"] for row in shorter] == ["no match"] * 3, "half a percent is no effect"
