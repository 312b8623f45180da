"""Level-Spread: how cases are made and measured, and the reduced form of every figure."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from odonata import machine, placement
from odonata.errors import InputError
from odonata.reproduce import STUDIES, find
from odonata.reproduce.pool import run_cases
from odonata.reproduce.rows import by_name
from odonata.reproduce.verdict import within
from odonata.reproduce.zhang2018 import gathered, links_figure, panels_figure, scatter_figure
from odonata.reproduce.zhang2018.comm_case import CommCase
from odonata.reproduce.zhang2018.comm_outcome import CommOutcome, comm_outcome
from odonata.reproduce.zhang2018.link_rows import five
from odonata.reproduce.zhang2018.points import Point, headline, points
from odonata.reproduce.zhang2018.prepare import CODED, as_scenario, prepare
from odonata.reproduce.zhang2018.random_rows import alone, mixed
from odonata.reproduce.zhang2018.setup import JobClass, Setup
from odonata.reproduce.zhang2018.study_grid import read_figure
from odonata.reproduce.zhang2018.workloads import MOTIFS, as_csv, draw, read
from odonata.runner import simulate

VALIDATION = Path(__file__).parents[2] / "validation"
FIGURES = [f"fig{number}" for number in (2, *range(4, 14))]
BOTH = Setup(272, "4", (JobClass("small", 2, 6, "halo3d"), JobClass("large", 1, 20, "fft3d", "2 KB", 2)))


@pytest.fixture(scope="module")
def reduced(tmp_path_factory):
    """Figure -> results of its reduced form."""
    folder = tmp_path_factory.mktemp("cache")
    names = [*FIGURES, "variants"]
    return {name: by_name(run_cases(find(f"zhang2018-{name}").cases(reduced=True), folder)) for name in names}


def test_the_file_of_workloads_is_what_the_generator_makes():
    text = (Path(gathered.__file__).parent / "workloads.csv").read_text(encoding="utf-8")
    assert text == as_csv(draw())
    assert read() == draw()
    assert draw(5, seed=1) != draw(5)


def test_workloads_are_what_the_paper_says():
    workloads = read()
    assert len(workloads) == 1000
    assert {one.large_nodes for one in workloads} == set(range(17, 137))
    assert {one.small_nodes for one in workloads} == set(range(2, 17))
    assert all(one.small_jobs * one.small_nodes + one.large_jobs * one.large_nodes <= 272 for one in workloads)
    assert min(min(one.small_jobs, one.large_jobs) for one in workloads) == 1
    # Every pair of numbers that fits is possible: 2 nodes leave room for far more jobs than 16.
    assert max(one.small_jobs for one in workloads if one.small_nodes <= 3) > 60
    for side in ("small_motif", "large_motif"):
        drawn = [getattr(one, side) for one in workloads]
        assert all(120 <= drawn.count(motif) <= 220 for motif in MOTIFS)


@pytest.mark.parametrize("policy", ["level-spread", "random-nodes", "slurm-zhang-sst"])
def test_a_run_is_what_a_scenario_would_give(policy):
    made = prepare(BOTH, policy, 7)
    told = as_scenario(BOTH, policy, 7).resolve()
    assert made.spec == told.spec
    assert made.id == told.id
    assert made.spec["fabric"]["links"]["global"]["bandwidth"] == 4 * made.spec["fabric"]["links"]["local"]["bandwidth"]
    nodes = made.spec["jobs"][2]["nodes"]
    assert nodes[::2] == nodes[1::2]
    assert nodes[::2] != sorted(nodes[::2])


def test_jobs_draw_with_the_seeds_of_the_validation_pages():
    """Their nodes never change, whatever seeds a scenario gives its jobs."""
    drawn = [job["nodes"][::2][:4] for job in prepare(BOTH, "random-nodes", 7).spec["jobs"]]
    assert drawn == [[111, 254, 26, 38], [187, 3, 125, 226], [228, 105, 147, 9]]


def test_the_order_of_placing_is_the_setups():
    """L42: after the job of 50 nodes no group has 15 idle ones."""
    setup = Setup(272, "1", (JobClass("small", 1, 15, "halo2d"), JobClass("large", 1, 50, "halo2d")))
    shape = machine.load("zhang2018-272").shape
    for order, groups in (("small-first", 1), ("large-first", 15)):
        spec = prepare(replace(setup, order=order), "level-spread", 1).spec
        assert [job["name"] for job in spec["jobs"]] == ["small-0", "large-0"]
        assert len({shape.group_of(node) for node in spec["jobs"][0]["nodes"]}) == groups


def test_the_coded_form_of_jokanovic_has_its_defect():
    setup = Setup(272, "1", (JobClass("small", 1, 3, "halo2d"), JobClass("large", 1, 20, "halo2d")))
    nodes = {policy: prepare(setup, policy, 1).spec["jobs"][0]["nodes"] for policy in ("jokanovic", CODED)}
    assert set(nodes["jokanovic"]) == {0, 1, 2}
    wanted = placement.place("jokanovic", "zhang2018-272", 3, fall_through=True).nodes
    assert set(nodes[CODED]) == set(wanted) != {0, 1, 2}


def test_a_variant_changes_the_run():
    plain = prepare(BOTH, "simple", 1).spec
    varied = prepare(replace(BOTH, settings=(("fabric.packet", '"2 KiB"'),)), "simple", 1).spec
    assert (plain["fabric"]["packet_bytes"], varied["fabric"]["packet_bytes"]) == (1024, 2048)
    assert {key for key in plain if plain[key] != varied[key]} == {"fabric"}


def test_communication_times():
    """Two small jobs, a large one of two iterations; the last rank to end is not the one of the highest number."""
    setup = Setup(272, "1", (JobClass("small", 2, 2, "halo2d"), JobClass("large", 1, 2, "halo2d", iterations=2)))
    resolved = prepare(setup, "simple", 1)
    result = dict(simulate(resolved.spec))
    result["ranks"] = {"job": np.array([0, 0, 1, 1, 2, 2, 2]), "finish_ps": np.array([8, 4, 2, 6, 30, 50, 40])}
    found = comm_outcome(result, resolved, setup)
    assert found.times == {"small": 7.0, "large": 25.0}
    assert found.coded == {"small": 5.0, "large": 20.0}
    assert found.minimal == 1.0


def test_links_are_told_apart_by_class():
    """One job on one router's two nodes stays off all links; one in a group uses local links only."""
    for nodes, local, across in ((4, False, False), (16, True, False), (20, True, True)):
        setup = Setup(272, "1", (JobClass("small", 1, nodes, "alltoall"),))
        resolved = prepare(setup, "simple", 1)
        links = comm_outcome(simulate(resolved.spec), resolved, setup).links
        assert (links["local packets"][4] > 0, links["global packets"][4] > 0) == (local, across)
        assert links["local packets"] == sorted(links["local packets"])


def test_points_and_their_headline():
    def outcome(small, large):
        return CommOutcome({"small": small, "large": large}, {"small": large, "large": small}, {}, 1.0)

    setup = read()[0].setup("small-first")
    runs = gathered.Runs(setup, {"level-spread": [outcome(10, 20)], "simple": [outcome(20, 10)]})
    assert points([runs], ["simple"]) == [Point(setup.name, "simple", 2.0, 0.5)]
    assert points([runs], ["simple"], coded=True) == [Point(setup.name, "simple", 0.5, 2.0)]
    some = [Point("a", "x", 2.0, 4.0), Point("a", "y", 0.5, 0.5), Point("b", "x", 1.0, 2.0), Point("b", "y", 2.0, 0.5)]
    found = headline(some)
    assert (found.better, found.worse, found.equal, found.best) == (25, 25, 25, 75)
    assert found.averages["points"] == pytest.approx(100 * (0.5 + 0.75 - 1 - 1 + 0 + 0.5 + 0.5 - 1) / 8)
    assert found.averages["workloads"] == pytest.approx(100 * ((1 - 4 / 7) + (1 - 4 / 5.5)) / 2)
    assert found.averages["overhead"] == pytest.approx(100 * (12.5 / 8 - 1))
    assert found.averages["small"] == pytest.approx(100 * (0.5 - 1 + 0 + 0.5) / 4)


def test_numbers_of_jobs():
    """L14 and L15."""
    cases = {figure: gathered.cases(figure) for figure in ("fig4", "fig7")}
    counted = {(case.setup.nodes, *((one.count, one.nodes) for one in case.setup.classes)) for case in cases["fig4"]}
    assert counted == {
        (272, (15, 16)), (272, (3, 64)), (272, (11, 16)), (272, (2, 64)),
        (272, (4, 68)), (528, (4, 132)), (544, (4, 136)), (1056, (4, 264)),
    }  # fmt: skip
    counted = {(case.setup.nodes, *(one.count for one in case.setup.classes)) for case in cases["fig7"]}
    assert counted == {(272, 3, 3), (272, 2, 2), (528, 5, 5), (544, 6, 6), (1056, 11, 11)}


def test_cases_have_names_of_their_own_and_are_repeated_as_often_as_the_paper_has_it():
    for figure in FIGURES:
        cases = gathered.cases(figure)
        assert len({(case.model, case.name) for case in cases}) == len(cases)
    main = [case for case in gathered.cases("fig7") if case.setup.nodes == 1056]
    assert len(main) == 6 * 8 * 10
    assert len({case.seed for case in main}) == 10
    assert len(gathered.cases("fig12")) == 3000
    # Jobs of a run draw with the seeds behind its own.
    seeds = sorted({case.seed for case in gathered.cases("fig10")})
    assert min(np.diff(seeds)) > 272


def test_every_variant_changes_the_run():
    specs = {}
    for case in gathered.cases("variants"):
        if case.model == "simple" and case.seed == 10_000:
            specs[case.setup.variant] = case.resolve().spec
    usual = specs.pop("as in the main runs")
    assert usual == next(case for case in gathered.cases("fig10") if case.model == "simple").resolve().spec
    assert len(specs) == 13
    for variant, spec in specs.items():
        changed = {key for key in usual if usual[key] != spec[key]}
        of_jobs = any(word in variant for word in ("messages", "iterations", "MPI"))
        assert ("jobs" in changed) == of_jobs
        assert len(changed) == 1 + ("packets" in variant and of_jobs and "two packets" not in variant)


def test_errors_of_the_grid():
    text = "[models]\nsimple = {}\n[[fig4]]\n"
    with pytest.raises(InputError, match="unknown key `node`"):
        read_figure("fig4", text + "node = 3", "study.toml", False)
    with pytest.raises(InputError, match="'ratios' is missing"):
        read_figure("fig4", text + "nodes = [272]", "study.toml", False)


def test_the_reduced_form_is_part_of_the_full_one():
    for figure in FIGURES:
        full, few = set(find(f"zhang2018-{figure}").cases()), find(f"zhang2018-{figure}").cases(reduced=True)
        assert set(few) <= full
        assert len(few) <= 100


@pytest.mark.parametrize("figure", [*FIGURES, "variants"])
def test_every_figure_has_rows_and_a_page(figure, reduced):
    study = find(f"zhang2018-{figure}")
    rows = study.compare(reduced[figure], [])
    assert len({row.what for row in rows}) == len(rows) > 0
    for row in rows:
        if row.verdict != "not comparable":
            assert (row.verdict == "match") == within(row.ours, row.theirs, row.tolerance)
        assert row.why == "" or row.verdict != "match"
    text = study.page(rows, reduced[figure])
    assert text.startswith("# Zhang 2018")
    assert all(row.what in text for row in rows)
    assert "$" not in text


def test_small_jobs_want_to_be_together_and_large_ones_apart(reduced):
    for figure in ("fig2", "fig4"):
        relations = [row for row in find(f"zhang2018-{figure}").compare(reduced[figure], []) if row.kind == "R"]
        assert all(row.verdict == "match" for row in relations if row.tolerance in (">= 100", "> 1"))


def test_level_spread_is_at_the_bottom_left(reduced):
    for one in gathered.gather("fig7", reduced["fig7"]):
        best = {name: min(one.time(policy, name) for policy in gathered.BASELINES) for name in ("small", "large")}
        assert one.time("level-spread", "small") <= 1.1 * best["small"]
        assert one.time("level-spread", "large") <= 1.1 * best["large"]


def test_spreading_evens_out_the_load_of_links(reduced):
    (runs,) = gathered.gather("fig6", reduced["fig6"])
    spread, grouped = (five(runs, policy, "global packets") for policy in ("level-spread", "simple"))
    assert spread[2] > grouped[2]
    assert spread[4] < grouped[4]


def test_mixed_workloads_and_those_of_one_pattern_are_kept_apart():
    same = CommOutcome({}, {}, {}, 1.0)
    results = {(case.model, case.name): {1: same} for case in gathered.cases("fig10")}
    assert len(mixed("fig10", results, "small-first")) == 1000
    found = alone(results)
    assert {motif: len(runs) for motif, runs in found.items()} == dict.fromkeys(MOTIFS, 100)
    for motif, runs in found.items():
        assert {one.motif for each in runs for one in each.setup.classes} == {motif}


def test_pictures_are_drawn(reduced):
    for draw_one, figure, panels in (
        (links_figure.draw_fig5, "fig5", 4),
        (panels_figure.draw_fig8, "fig8", 12),
        (scatter_figure.draw_fig10, "fig10", 8),
        (scatter_figure.draw_fig12, "fig12", 2),
    ):
        assert len(draw_one([], reduced[figure]).axes) == panels


@pytest.mark.parametrize("figure", FIGURES)
def test_what_is_published_is_what_the_study_says(figure):
    """The same statements, and verdicts that follow from the numbers."""
    with (VALIDATION / f"zhang2018-{figure}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        if row["verdict"] != "not comparable":
            good = within(float(row["ours"]), float(row["theirs"]), row["tolerance"])
            assert row["verdict"] == ("match" if good else "no match")
            assert good or row["why"]
    assert f"zhang2018-{figure}" in STUDIES
    assert (VALIDATION / f"zhang2018-{figure}.md").exists()
    assert (VALIDATION / f"zhang2018-{figure}.png").exists()


def test_a_case_says_what_it_is():
    case = CommCase(BOTH, "simple", 3)
    assert case.name == "272/ratio=4/2x6:halo3d:1KB/1x20:fft3d:2KB:x2/small-first/seed=3"
    assert (case.model, case.messages) == ("simple", 2)
    kept = case.measure(simulate(case.resolve().spec), case.resolve())
    assert case.kept(kept.as_json()) == kept
