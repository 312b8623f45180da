"""The page of skipped iterations: its cells, its rows and what its tables count."""

from __future__ import annotations

import pytest

from odonata.reproduce.steady import cells, page


def test_cells_are_forty_on_six_machines_alone_and_beside():
    listed = cells.cells()
    assert len(listed) == len(set(listed)) >= 40
    assert {machine for machine, _, _ in listed} == set(cells.MACHINES)
    assert len(cells.MACHINES) == 6
    for program in cells.PROGRAMS:
        assert len({beside for _, of, beside in listed if of == program}) >= 2
    beside = [neighbour for _, _, neighbour in listed]
    assert min(beside.count(neighbour) for neighbour in cells.NEIGHBOURS) >= 8


@pytest.mark.parametrize("machine", list(cells.MACHINES))
def test_models_differ_in_the_bound_only(machine):
    point = {"machine": machine, "program": "ring", "neighbour": "late halo"}
    made = {model: cells.make({**point, "model": model}).resolve() for model in cells.BOUNDS}
    assert made["whole"].spec == made["bound-1"].spec == made["bound-5"].spec
    assert [of.steady for of in made.values()] == [None, 0.01, 0.05]
    programs = [job["program"] for job in made["whole"].spec["jobs"]]
    assert [program["iterations"] for program in programs] == [cells.ITERATIONS, cells.LATE_ITERATIONS]
    assert programs[1]["start_ps"] > 0


def _runs(errors):
    """A whole run of 1,000 us for each cell, and with each bound another time and a quarter of the work."""
    made = []
    for number, error in enumerate(errors):
        cell = {"machine": "hyperx", "program": f"p{number}", "neighbour": "alone"}
        made.append({**cell, "model": "whole", "time_ps": 10**9, "work": 400, "in_full": True})
        made[-1] |= {"iterations_skipped": None, "skipped_error": None}
        for model in ("bound-1", "bound-5"):
            run = {"model": model, "time_ps": 10**9 * (1 + error), "work": 100, "in_full": False}
            made.append({**cell, **run, "iterations_skipped": 9, "skipped_error": 0.011})
    return made


def test_rows_say_which_cells_are_within_the_bound_and_what_is_saved():
    runs = _runs([0.0, 0.02, *[-0.005] * 18])
    rows = {(row.model, row.what): row for row in page.compare(runs)}
    assert rows["bound-1", f"{page.CELL}p1 alone on hyperx"].verdict == "no match"
    assert rows["bound-5", f"{page.CELL}p1 alone on hyperx"].verdict == "match"
    assert [rows[model, page.SHARE].ours for model in ("bound-1", "bound-5")] == [95, 100]
    assert rows["bound-1", page.SHARE].verdict == "direction"
    assert rows["bound-1", page.SAVED].ours == 4
    worse = {(row.model, row.what): row for row in page.compare(_runs([0.0, 0.02, 0.02]))}
    assert worse["bound-1", page.SHARE].verdict == "no match"


def test_the_page_names_the_worst_cell_and_counts_intervals():
    runs = _runs([0.0, -0.02, 0.005])
    rows = page.compare(runs)
    text = page.REPRODUCTION.text.render(rows, page.REPRODUCTION.text.of_runs(rows, runs), "steady")
    assert "-2.00 %" in text
    assert "p1 alone on hyperx" in text
    assert "4 of 6" in text


def test_a_reduced_point_saves_and_is_within_the_bound():
    from odonata.runner import run

    point = next(point for point in cells.points(True) if point["model"] == "bound-5")
    ours, whole = (run(cells.make({**point, "model": model})) for model in ("bound-5", "whole"))
    assert ours.jobs["time_ps"][0] == pytest.approx(whole.jobs["time_ps"][0], rel=0.05)
    assert page.keep(ours)["work"] < page.keep(whole)["work"] / 4
    assert not page.keep(ours)["in_full"]
