"""`placement-measured`: what ran, and the verdicts on runs made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from odonata.reproduce import find
from odonata.reproduce.placement import page
from odonata.reproduce.placement.jobs import aggressor, cells, made
from odonata.reproduce.ucx import DC_FROM

PAGE = find("placement-measured")


def test_every_cell_is_a_halving_of_its_job() -> None:
    """Catches nodes of another run: victim and aggressor have a half each and share no node."""
    assert len(cells()) == 70
    for cell in cells():
        assert len(cell.victims) == len(cell.aggressors) == cell.nodes // 2
        assert not set(cell.victims) & set(cell.aggressors)
        assert cell.low <= cell.slowdown <= cell.high
    assert len({(cell.run, cell.repetition) for cell in cells()}) == 70
    linear = next(c for c in cells() if c.nodes == 64 and c.placement == "linear")
    assert max(linear.victims) < min(linear.aggressors), "the first and the second half of the nodes"


def test_the_programs_follow_from_what_the_libraries_document() -> None:
    incast = aggressor("incast", "two", tuple(range(32)))
    assert incast["overhead"]["eager"] == "256 KiB", "MPI_Send does not ask"
    assert incast["overhead"]["gpu"]["nics"] == [0, 0, 0, 0], "eager messages take one port"
    assert incast["overhead"]["fetches"] == 8, "128 ranks: DC"
    assert incast["barrier"]
    few = aggressor("alltoall-posted", "four", tuple(range(8)))
    assert "fetches" not in few["overhead"], f"32 ranks are fewer than {DC_FROM}: RC"
    assert few["overhead"]["eager"] == "8 KiB"
    assert few["overhead"]["gpu"]["nics"] == [0, 1, 2, 3]


def test_the_preset_is_simulated_as_it_is() -> None:
    """The rows called shipped are what a user of the preset gets."""
    point = {"model": "leonardo", "run": cells()[0].run, "repetition": cells()[0].repetition, "beside": True}
    spec = made(point).resolve().spec
    assert spec["routing"] == {"name": "minimal", "select": "least-loaded"}
    assert spec["fabric"]["links"]["global"]["buffer_bytes"] == 131_072
    assert made({**point, "model": "fpar"}).resolve().spec["routing"]["name"] == "fpar"
    assert made({**point, "model": "buffers-64"}).resolve().spec["fabric"]["links"]["local"]["buffer_bytes"] == 65_536
    assert [job["name"] for job in spec["jobs"]] == ["victim", "aggressor"]
    assert [job["name"] for job in made({**point, "beside": False}).resolve().spec["jobs"]] == ["victim"]


def simulated(ratios: dict[Any, float], model: str = "leonardo") -> list[dict[str, Any]]:
    """Runs of all cells with these slowdowns; of the others the measured ones."""
    runs = []
    for cell in cells():
        of = {"model": model, "run": cell.run, "repetition": cell.repetition}
        runs.append({**of, "beside": False, "mean_us": 100.0})
        runs.append({**of, "beside": True, "mean_us": 100.0 * ratios.get(cell, cell.slowdown)})
    return runs


def verdicts(ratios: dict[Any, float]) -> dict[str, str]:
    return {row.what: row.verdict for row in PAGE.rows(simulated(ratios))}


def test_what_is_measured_meets_every_statement() -> None:
    assert set(verdicts({}).values()) == {"match", "direction"}


def test_no_interference_is_no_prediction() -> None:
    """A model that says 1 everywhere is near most cells, and must fail on those with an effect and on the order."""
    of = verdicts(dict.fromkeys(cells(), 1.0))
    assert of["64 nodes, linear, beside an incast: slowdown"] == "match"
    assert of["64 nodes, random, beside an incast: slowdown"] == "no match"
    assert of["64 nodes beside an incast: random over linear"] == "no match"
    assert all(verdict == "no match" for what, verdict in of.items() if "cells" in what or "rank correlation" in what)


def test_the_order_of_placements_is_a_statement_of_its_own() -> None:
    apart = [cell for cell in cells() if cell.nodes == 64 and cell.aggressor == "incast"]
    alike = verdicts(dict.fromkeys(apart, 1.65))
    assert alike["64 nodes beside an incast: interleaved over linear"] == "no match"


def test_ranks_over_halvings() -> None:
    assert page.spearman([1, 2, 3], [1, 2, 4]) == pytest.approx(1)
    assert page.spearman([1, 1, 1], [1, 2, 4]) == 0
    upside_down = {cell: 2.5 - cell.slowdown for cell in cells() if cell.nodes == 32 and cell.aggressor == "incast"}
    what = "32 nodes beside an incast: rank correlation over 10 halvings"
    (row,) = [row for row in PAGE.rows(simulated(upside_down)) if row.what == what]
    assert row.ours == pytest.approx(-1)
    assert row.verdict == "no match"


def test_a_victim_alone_is_simulated_once_for_its_nodes() -> None:
    points = PAGE.points(False)
    alone = [point for point in points if not point["beside"] and point["model"] == "leonardo"]
    assert len(alone) == len({cell.victims for cell in cells()}) < 70
    assert len([point for point in points if point["beside"] and point["model"] == "leonardo"]) == 70


def test_a_run_without_an_iteration_has_no_mean() -> None:
    import odonata as od

    point = {"model": "leonardo", "run": cells()[0].run, "repetition": cells()[0].repetition, "beside": False}
    short = made(point).set("run.horizon", "1 us")
    assert math.isnan(page.keep(od.run(short))["mean_us"])


def test_a_picture_has_every_cell() -> None:
    runs = simulated({})
    (axes,) = PAGE.picture(PAGE.rows(runs), runs).axes  # type: ignore[misc]
    assert sum(len(drawn.get_offsets()) for drawn in axes.collections) == 70
    assert replace(cells()[0], slowdown=2.0).kind == cells()[0].kind
