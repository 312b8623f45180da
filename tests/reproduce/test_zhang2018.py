"""Level-Spread: how cases are made and measured, and the reduced form of every figure."""

import csv
import hashlib
import json
from dataclasses import replace
from functools import partial
from importlib.resources import files
from math import exp
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import odonata as od
from odonata import machine, placement
from odonata.reproduce import REPRODUCTIONS, find
from odonata.reproduce.kang2019.published import interval_of_mean
from odonata.reproduce.provenance import abouts
from odonata.reproduce.rows import is_relation, no_effect, within
from odonata.reproduce.zhang2018 import gathered
from odonata.reproduce.zhang2018.as_run import program
from odonata.reproduce.zhang2018.gathered import Point, alone, headline, mixed, points
from odonata.reproduce.zhang2018.link_rows import five
from odonata.reproduce.zhang2018.runs import (
    ALONE,
    AS_RUN,
    BASELINES,
    CODED,
    REPETITIONS,
    SEED_STEP,
    WORKLOADS,
    JobClass,
    Setup,
    keep,
    make,
    setup_of,
    setup_of_workload,
    written,
)
from odonata.reproduce.zhang2018.workloads import MOTIFS, as_authors_drew, as_csv, draw, read

VALIDATION = Path(__file__).parents[2] / "validation"
FIGURES = [f"fig{number}" for number in (2, *range(4, 14))]
MIXED = Setup(
    "as-published", 272, "4", (JobClass("small", 2, 6, "halo3d"), JobClass("large", 1, 20, "fft3d", "2 KB", 2))
)


def verdict_of(ours, ends, theirs, unit, tolerance):
    """By the rule of the pages: both ends of an interval count."""
    ordering = is_relation(tolerance)
    agrees = all(within(value, theirs, tolerance) for value in (ours, *ends))
    if not agrees or no_effect(ours, unit, tolerance):
        return "no match"
    return "direction" if ordering else "match"


def full(figure):
    return find(f"zhang2018-{figure}").points(False)


def test_the_file_of_workloads_is_what_the_generator_makes():
    text = (files("odonata.reproduce.zhang2018") / "workloads.csv").read_text(encoding="utf-8")
    assert text == as_csv(draw())
    assert read() == draw()
    assert draw(5, seed=1) != draw(5)


def test_workloads_are_what_the_paper_says():
    workloads = read()
    assert len(workloads) == 1000
    assert {workload.large_nodes for workload in workloads} == set(range(17, 137))
    assert {workload.small_nodes for workload in workloads} == set(range(2, 17))
    assert all(
        workload.small_jobs * workload.small_nodes + workload.large_jobs * workload.large_nodes <= 272
        for workload in workloads
    )
    assert min(min(workload.small_jobs, workload.large_jobs) for workload in workloads) == 1
    # Every pair of numbers that fits is possible: 2 nodes leave room for far more jobs than 16.
    assert max(workload.small_jobs for workload in workloads if workload.small_nodes <= 3) > 60
    for side in ("small_motif", "large_motif"):
        drawn = [getattr(workload, side) for workload in workloads]
        assert all(120 <= drawn.count(motif) <= 220 for motif in MOTIFS)


def test_workloads_as_the_authors_drew_them():
    """Two different patterns without the FFT; the number of large jobs is drawn first, so many of them are likelier."""
    workloads = as_authors_drew()
    assert [workload.number for workload in workloads] == list(range(1, 1001))
    assert {workload.large_nodes for workload in workloads} == set(range(17, 132))
    assert {workload.small_nodes for workload in workloads} == set(range(2, 17))
    for workload in workloads:
        assert workload.small_jobs * workload.small_nodes + workload.large_jobs * workload.large_nodes <= 272
        assert workload.small_motif != workload.large_motif
        assert "fft3d" not in (workload.small_motif, workload.large_motif)
    large = [np.mean([workload.large_jobs for workload in some]) for some in (workloads, read())]
    assert large[0] > 1.15 * large[1]


def test_programs_of_the_authors():
    """The bytes of a "message size" by motif, and the order of the FFT's phases."""
    kb, large = (partial(program, message=message, ranks=32) for message in ("1 KB", "100 KB"))
    assert (kb("broadcast")["message"], large("broadcast")["message"]) == ("8000 B", "800000 B")
    assert (kb("halo3d26")["fields"], large("halo3d26")["fields"]) == (1, 100)
    assert kb("halo2d")["grid"] == [4, 8]
    phases = kb("fft3d")["phases"]
    assert [phase.get("along", {}).get("axis", phase.get("compute", phase.get("collective"))) for phase in phases] == [
        *("31200 ns", 0, "31200 ns", 1, "31200 ns", "barrier"),
        *("31200 ns", 1, "31200 ns", 0, "62400 ns", "barrier"),
    ]
    halo, reduced = (phase["what"] for phase in _phases("halo3d26"))
    assert (halo["face_bytes"], halo["edge_bytes"], halo["corner_bytes"]) == ([2048] * 3, [128] * 3, 8)
    assert (reduced["name"], reduced["bytes"]) == ("allreduce", 8)


def _phases(motif):
    setup = Setup(AS_RUN, 272, "1", (JobClass("small", 1, 16, motif),))
    return make(setup.point("simple", 1)).resolve().spec["jobs"][0]["program"]["body"]["phases"]


def test_the_scenario_of_a_point():
    spec = make(MIXED.point("random-nodes", 7)).resolve().spec
    assert [job["name"] for job in spec["jobs"]] == ["small-0", "small-1", "large-0"]
    assert spec["seed"] == 7
    assert spec["fabric"]["links"]["global"]["bandwidth"] == 4 * spec["fabric"]["links"]["local"]["bandwidth"]
    assert spec["fabric"]["router"]["kind"] == "input-queued"
    assert {job["program"]["costs"]["header_bytes"] for job in spec["jobs"]} == {45}
    nodes = spec["jobs"][2]["nodes"]
    assert len(nodes) == 40
    assert nodes[::2] == nodes[1::2]
    assert nodes[::2] != sorted(nodes[::2])
    assert setup_of(MIXED.point("random-nodes", 7)) == MIXED


# The runs of the validation pages, independent of the default seeds of a scenario.
IDS = {
    ("level-spread", "small-first"): "7544ba0884e358ca",
    ("random-nodes", "small-first"): "8af4dcb8a52768ea",
    ("slurm-zhang-sst", "small-first"): "96c95deb51bea11a",
    ("random-routers", "large-first"): "f813109de58f7a68",
}


@pytest.mark.parametrize(("policy", "order"), IDS)
def test_runs_keep_their_nodes(policy, order):
    """A changed stream of random numbers, or order of placing, would silently change what was published."""
    spec = make(replace(MIXED, order=order).point(policy, 7)).resolve().spec
    told = json.dumps([job["nodes"] for job in spec["jobs"]])
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == IDS[policy, order]


@pytest.mark.parametrize(
    ("routers", "queues", "switching", "sensing", "header"),
    [
        ("as-run", "input-queued", "cut-through", None, 56),
        ("as-published", "input-queued", "cut-through", "output-buffer", 45),
        ("virtual-output-queued", "virtual-output-queued", "cut-through", "output-buffer", 45),
        ("today", None, "cut-through", None, None),
        ("store-and-forward", None, None, None, None),
    ],
)
def test_kinds_of_routers(routers, queues, switching, sensing, header):
    """The same jobs on the same nodes, whichever the routers."""
    specs = [make(replace(MIXED, routers=kind).point("random-nodes", 7)).resolve().spec for kind in (routers, "today")]
    assert [job["nodes"] for job in specs[0]["jobs"]] == [job["nodes"] for job in specs[1]["jobs"]]
    fabric, job = specs[0]["fabric"], specs[0]["jobs"][0]
    assert fabric.get("router", {}).get("kind") == queues
    assert fabric.get("switching") == switching
    assert specs[0].get("sensing", {}).get("kind") == sensing
    assert job["program"]["costs"].get("header_bytes") == header
    assert specs[0]["routing"]["name"] == ("minimal" if routers == "as-run" else "adaptive-local")
    assert fabric["packet_bytes"] == (2048 if routers == "as-run" else 1024)


def test_the_order_of_placing_is_the_setups():
    """L42: after the job of 50 nodes no group has 15 idle ones."""
    setup = Setup("today", 272, "1", (JobClass("small", 1, 15, "halo2d"), JobClass("large", 1, 50, "halo2d")))
    shape = machine.load("zhang2018-272").shape
    for order, groups in (("small-first", 1), ("large-first", 15)):
        spec = make(replace(setup, order=order).point("level-spread", 1)).resolve().spec
        assert [job["name"] for job in spec["jobs"]] == ["small-0", "large-0"]
        assert len({shape.group_of(node) for node in spec["jobs"][0]["nodes"]}) == groups


def test_the_coded_form_of_jokanovic_has_its_defect():
    setup = Setup("today", 272, "1", (JobClass("small", 1, 3, "halo2d"), JobClass("large", 1, 20, "halo2d")))
    nodes = {policy: make(setup.point(policy, 1)).resolve().spec["jobs"][0]["nodes"] for policy in ("jokanovic", CODED)}
    assert set(nodes["jokanovic"]) == {0, 1, 2}
    wanted = placement.place("jokanovic", "zhang2018-272", 3, fall_through=True).nodes
    assert set(nodes[CODED]) == set(wanted) != {0, 1, 2}


def test_a_variant_changes_the_run():
    plain = make(MIXED.point("simple", 1)).resolve().spec
    settings = written({"fabric.packet": "2 KiB", "overhead": {"send": "0 s"}})
    varied = make(replace(MIXED, settings=settings).point("simple", 1)).resolve().spec
    assert (plain["fabric"]["packet_bytes"], varied["fabric"]["packet_bytes"]) == (1024, 2048)
    assert {key for key in plain if plain[key] != varied[key]} == {"fabric", "jobs"}
    assert all(a != b for a, b in zip(plain["jobs"], varied["jobs"], strict=True)), "costs of calls are of all jobs"


def test_communication_times():
    """Two small jobs, a large one of two iterations. The authors ask rank 0, and of a broadcast the last one."""
    jobs = {"name": ["small-0", "small-1", "large-0"], "packets": [1, 1, 2], "minimal_fraction": [1.0, None, 0.5]}
    ranks = {"job": [0, 0, 1, 1, 2, 2, 2], "finish_ps": [8, 4, 2, 6, 30, 50, 40]}
    links = {"from_kind": ["router"] * 3 + ["node"], "to_kind": ["router"] * 3 + ["router"]}
    links |= {"class": ["local", "local", "global", "node"], "packets": [1, 3, 5, 9], "stalled_ps": [0, 8, 0, 9]}
    tables = {name: pl.DataFrame(table) for name, table in (("jobs", jobs), ("ranks", ranks), ("links", links))}

    def told(iterations, name):
        return {"program": {"iterations": iterations, "body": {"phases": [{"what": {"name": name}}]}}}

    spec = {"jobs": [told(1, "halo"), told(1, "alltoall"), told(2, "broadcast")]}
    kept = keep(SimpleNamespace(**tables, resolved={"spec": spec}))
    assert (kept["time_small"], kept["time_large"]) == (7.0, 25.0)
    assert (kept["coded_small"], kept["coded_large"]) == (5.0, 20.0)
    assert gathered.Runs(replace(MIXED, routers=AS_RUN), {"simple": [kept]}).time("simple", "large") == 20.0
    assert gathered.Runs(MIXED, {"simple": [kept]}).time("simple", "large") == 25.0
    assert kept["minimal"] == 2 / 3
    assert kept["local_packets"].tolist() == [1, 1.5, 2, 2.5, 3]
    assert kept["local_stalled_ps"].tolist() == [0, 2, 4, 6, 8]
    assert set(kept["global_packets"]) == {5}


def test_links_are_counted_by_class():
    """One job on one router's two nodes stays off all links; one in a group uses local links only."""
    for nodes, local, across in ((4, False, False), (16, True, False), (20, True, True)):
        setup = Setup("today", 272, "1", (JobClass("small", 1, nodes, "alltoall"),))
        kept = keep(od.run(make(setup.point("simple", 1))))
        assert (kept["local_packets"][4] > 0, kept["global_packets"][4] > 0) == (local, across)
        assert kept["time_large"] is None


def test_points_and_their_headline():
    def run(small, large):
        return {"time_small": small, "time_large": large, "coded_small": large, "coded_large": small}

    setup = setup_of_workload(read()[0], "small-first", "today")
    runs = gathered.Runs(setup, {"level-spread": [run(10, 20)], "simple": [run(20, 10)]})
    assert points([runs], ["simple"]) == [Point(setup.name, "simple", 2.0, 0.5)]
    assert points([runs], ["simple"], coded=True) == [Point(setup.name, "simple", 0.5, 2.0)]
    some = [Point("a", "x", 2.0, 4.0), Point("a", "y", 0.5, 0.5), Point("b", "x", 1.0, 2.0), Point("b", "y", 2.0, 0.5)]
    summary = headline(some)
    assert (summary.better, summary.worse, summary.equal, summary.best) == (25, 25, 25, 75)
    assert summary.averages["points"] == pytest.approx(100 * (0.5 + 0.75 - 1 - 1 + 0 + 0.5 + 0.5 - 1) / 8)
    assert summary.averages["workloads"] == pytest.approx(100 * ((1 - 4 / 7) + (1 - 4 / 5.5)) / 2)
    assert summary.averages["overhead"] == pytest.approx(100 * (12.5 / 8 - 1))
    assert summary.averages["small"] == pytest.approx(100 * (0.5 - 1 + 0 + 0.5) / 4)


def test_numbers_of_jobs():
    """L14 and L15."""
    counted = {(p["nodes"], *((job["count"], job["nodes"]) for job in p["jobs"])) for p in full("fig4")}
    assert counted == {
        (272, (15, 16)), (272, (3, 64)), (272, (11, 16)), (272, (2, 64)),
        (272, (4, 68)), (528, (4, 132)), (544, (4, 136)), (1056, (4, 264)),
    }  # fmt: skip
    counted = {(p["nodes"], *(job["count"] for job in p["jobs"])) for p in full("fig7")}
    assert counted == {(272, 3, 3), (272, 2, 2), (528, 5, 5), (544, 6, 6), (1056, 11, 11)}


def test_repetitions_have_seeds_of_their_own():
    main = [point for point in full("fig7") if point["nodes"] == 272 and point["jobs"][0]["count"] == 3]
    assert len(main) == 3 * 3 * 6 * 8 * REPETITIONS
    assert len({point["seed"] for point in main}) == REPETITIONS
    assert len(full("fig12")) == 4 * 3 * WORKLOADS  # the three routers, and today's with another routing
    # Jobs of a run draw with the seeds behind its own.
    seeds = sorted({point["seed"] for point in full("fig10")})
    assert min(np.diff(seeds)) > 272


@pytest.mark.parametrize("routers", ["as-run", "as-published", "today"])
def test_every_variant_changes_the_run(routers):
    specs = {}
    for point in full("variants"):
        if (point["routers"], point["policy"], point["seed"]) == (routers, "simple", 10_000):
            specs[point["variant"]] = make(point).resolve().spec
    usual = specs.pop("as in the figures")
    plain = next(
        candidate for candidate in full("fig10") if (candidate["routers"], candidate["policy"]) == (routers, "simple")
    )
    assert usual == make(plain).resolve().spec
    assert len(specs) == {"as-run": 3, "as-published": 11, "today": 4}[routers]
    for variant, spec in specs.items():
        changed = {key for key in usual if usual[key] != spec[key]}
        of_jobs = any(word in variant for word in ("header", "iterations", "MPI"))
        assert (changed == {"jobs"}) == of_jobs
        assert len(changed) == 1
        assert spec.get("sensing") == (
            {"kind": "output-buffer"} if "adaptive-local" in variant else usual.get("sensing")
        )


def test_the_reduced_form_is_part_of_the_full_one():
    for figure in FIGURES:
        few = find(f"zhang2018-{figure}").points(True)
        assert {repr(point) for point in few} <= {repr(point) for point in full(figure)}
        assert len(few) <= 190


@pytest.mark.parametrize("figure", [*FIGURES, "variants", "routers"])
def test_every_figure_has_rows_and_a_page(figure, reduced):
    study, runs = find(f"zhang2018-{figure}"), reduced(f"zhang2018-{figure}")
    rows = study.rows(runs)
    assert len({(row.model, row.what) for row in rows}) == len(rows) > 0
    for row in rows:
        if row.verdict != "not comparable":
            assert row.verdict == verdict_of(row.ours, row.interval or (), row.theirs, row.unit, row.tolerance)
        assert row.why == "" or row.verdict in ("no match", "not comparable")
    try:
        text = study.page(rows, runs)
    except ValueError as problem:  # the text quotes a row of the full form; test_publish makes every committed page
        if "0 rows of" in str(problem):
            return
        raise
    assert text.startswith(f"## {abouts()[study.name].heading}")
    for row in rows:
        assert all(words in text for words in (row.what.split(": ") if figure == "variants" else [row.what]))
    assert "$" not in text


def test_small_jobs_want_to_be_together_and_large_ones_apart(reduced):
    for figure in ("fig2", "fig4"):
        relations = [row for row in find(f"zhang2018-{figure}").rows(reduced(f"zhang2018-{figure}")) if row.kind == "R"]
        assert all(row.verdict == "direction" for row in relations if row.tolerance in (">= 100", "> 1"))


def test_level_spread_is_at_the_bottom_left(reduced):
    """One repetition; with FFT3d large jobs are up to 30 % faster under policies that ignore groups."""
    for of_setup in gathered.gather(reduced("zhang2018-fig7")):
        best = {name: min(of_setup.time(policy, name) for policy in BASELINES) for name in ("small", "large")}
        assert of_setup.time("level-spread", "small") <= 1.1 * best["small"]
        assert of_setup.time("level-spread", "large") <= 1.3 * best["large"]


def test_spreading_evens_out_the_load_of_links(reduced):
    both = gathered.gather(reduced("zhang2018-fig6"))
    assert [runs.setup.routers for runs in both] == ["as-run", "as-published", "today"]
    for runs in both:
        spread, grouped = (five(runs, policy, "global_packets") for policy in ("level-spread", "simple"))
        assert spread[2] > grouped[2]
        assert spread[4] < grouped[4]


def test_the_uncertainty_is_that_of_the_mean_over_workloads():
    """Points of one workload count as one: they share its jobs."""
    some = [Point(name, "x", ratio, 1.0) for name, ratio in (("a", 1.0), ("a", 3.0), ("b", 4.0), ("b", 4.0))]
    assert gathered.uncertainty(some, lambda point: point.small) == pytest.approx(1.96 * 1.0 / 2**0.5)


def test_reasons_are_about_rows_that_do_not_match():
    """Each entry of reasons.toml explains a published row."""
    for figure, known in gathered.reasons().items():
        with (VALIDATION / f"zhang2018-{figure}.csv").open(encoding="utf-8") as file:
            published = list(csv.DictReader(file))
        if "today" not in {row["model"] for row in published}:  # a page from before
            continue
        rows = [row for row in published if row["verdict"] == "no match"]
        for reason in known:
            for what in reason.rows:
                assert any(row["model"] in reason.routers and row["what"].startswith(what) for row in rows), (
                    figure,
                    what,
                )


def test_what_the_authors_ran_is_a_cause_where_it_gives_the_papers_statement(monkeypatch):
    """As published only: another kind of router differs in more than that. A cause of `reasons.toml` comes first."""
    ours = {"as-run": (50, 20), "as-published": (10, 10), "today": (10, 50)}
    runs = {routers: [{"seed": 0, "value": value} for value in values] for routers, values in ours.items()}
    monkeypatch.setattr(gathered, "by_routers", lambda _: runs)

    def rows_of(table):
        return [
            gathered.statement("L1", f"jobs of {at}", run["value"], 50, "%", "± 10", "figure 4")
            for at, run in enumerate(table)
        ]

    made = gathered.twice("none", rows_of, None)
    causes = {(row.model, row.what): row.why for row in made if row.why}
    assert causes == {("as-published", "jobs of 0"): gathered.RAN_ANOTHER}
    known = gathered.Reason(("as-published",), ("jobs of 0",), "because", "a study")
    monkeypatch.setattr(gathered, "reasons", lambda: {"none": [known]})
    assert [row.why for row in gathered.twice("none", rows_of, None) if row.why] == ["because"]


def test_mixed_workloads_and_those_of_one_pattern_are_kept_apart():
    table = gathered.by_routers(full("fig10"))["today"]
    assert len(mixed(table, "small-first")) == WORKLOADS
    by_motif = alone(table)
    assert {motif: len(runs) for motif, runs in by_motif.items()} == dict.fromkeys(MOTIFS, ALONE)
    for motif, runs in by_motif.items():
        assert {job_class.motif for each in runs for job_class in each.setup.classes} == {motif}


@pytest.mark.parametrize(("figure", "panels"), [("fig5", 12), ("fig8", 36), ("fig10", 24), ("fig12", 6)])
def test_pictures_are_drawn(figure, panels, reduced):
    study = find(f"zhang2018-{figure}")
    assert len(study.picture([], reduced(study.name)).axes) == panels


@pytest.mark.parametrize("figure", FIGURES)
def test_what_is_published_is_what_the_study_says(figure):
    """The same statements, and verdicts that follow from the numbers."""
    with (VALIDATION / f"zhang2018-{figure}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        if row["verdict"] != "not comparable":
            ends = tuple(float(row[end]) for end in ("low", "high") if row[end])
            of = (float(row["ours"]), ends, float(row["theirs"]), row["unit"], row["tolerance"])
            assert row["verdict"] == verdict_of(*of)
            assert bool(row["why"]) == bool(row["experiment"])
    assert f"zhang2018-{figure}" in REPRODUCTIONS
    assert (VALIDATION / f"zhang2018-{figure}.json").exists()
    assert (VALIDATION / f"zhang2018-{figure}.png").exists()


def test_the_interval_of_a_mean_is_students():
    values = [1.1, 1.3, 1.0, 1.6, 1.2]
    table = [{"seed": SEED_STEP * (number + 1), "value": value} for number, value in enumerate(values)]

    def rows_of(runs):
        mean = sum(run["value"] for run in runs) / len(runs)
        once = [gathered.relation("L1", "simulated once", 2.0, "> 1", "figure 4")] if runs[0] is table[0] else []
        repeated = gathered.statement("L1", "repeated", mean, 0, "%", "> 1", "figure 4")
        return [repeated, gathered.relation("L1", "ratio", exp(mean), "> 1", "figure 4"), *once]

    repeated, ratio, once = gathered.with_intervals(rows_of, table)
    assert repeated.interval == pytest.approx(interval_of_mean(values))
    assert ratio.interval == pytest.approx([exp(end) for end in interval_of_mean(values)])
    assert (repeated.repetitions, once.interval, once.repetitions) == (5, None, 0)
    assert [row.verdict for row in (repeated, ratio, once)] == ["no match", "direction", "direction"]
    assert [row.interval for row in gathered.with_intervals(rows_of, table[:2])] == 3 * [None]


def test_the_routers_are_a_cause_where_those_of_the_authors_simulator_give_the_statement():
    """Ideal switches miss what the routers as published give; what neither gives is not explained."""
    ours = {"as-published": (50, 10), "today": (10, 10)}
    rows = [
        replace(gathered.statement("L1", f"jobs of {at}", value, 50, "%", "± 10", "figure 4"), model=routers)
        for routers, values in ours.items()
        for at, value in enumerate(values)
    ]
    causes = {(row.model, row.what): row.why for row in find("zhang2018-fig4").explain(rows) if row.why}
    assert causes == {("today", "jobs of 0"): gathered.OTHER_ROUTERS}
    # A statement about the choice of routers has no such cause.
    assert [row.why for row in find("zhang2018-routers").explain(rows)] == [""] * 4
