"""Victims beside aggressors: the measurements, the scenarios of their loops, intervals, verdicts and the page."""

from __future__ import annotations

import gzip
import math
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from odonata.cli.main import main
from odonata.errors import InputError
from odonata.reproduce import find
from odonata.reproduce.interference import data as tables
from odonata.reproduce.interference import page
from odonata.reproduce.interference.fit import SIZES, Alone, fit
from odonata.reproduce.interference.loops import Loop, Model, document, made, times_us
from odonata.runner import run

if TYPE_CHECKING:
    from pathlib import Path

FREE = {"send": "0 s", "receive": "0 s", "copy": "none", "eager": "1 GiB", "rendezvous": "0 s", "by_size": []}


@pytest.fixture(scope="module")
def leonardo() -> tables.Data:
    return tables.load("leonardo")


def test_the_cells_are_steady_and_their_aggressor_runs(leonardo: tables.Data) -> None:
    cells = leonardo.cells()
    assert len(cells) > 80
    for cell in cells:
        assert cell.beside.aggressor != "none"
        assert cell.alone.aggressor == "none"
        assert len(cell.beside.nodes) == len(cell.beside.aggressor_nodes) == cell.nodes // 2
        assert not set(cell.beside.nodes) & set(cell.beside.aggressor_nodes)
        assert cell.low <= cell.slowdown <= cell.high
        assert cell.beside.message > 0
    assert not [cell for cell in cells if cell.beside.size < 512]


def test_true_bursts_are_cells_that_pause(leonardo: tables.Data) -> None:
    """Catches cells that leave out the bursts of other measurements, and bursts that are simulated without pauses."""
    runs = leonardo.runs.with_columns(
        pl.when(pl.col("aggressor") == "incast").then(0.01).alias("burst_length_s"),
        pl.when(pl.col("aggressor") == "incast").then(0.002).alias("burst_pause_s"),
    )
    bursts = tables.Data(runs, leonardo.allocations, leonardo.times, leonardo.slowdowns).cells()
    assert len(bursts) == len(leonardo.cells())
    incast = next(cell.beside for cell in bursts if cell.beside.aggressor == "incast")
    assert (incast.burst_s, incast.pause_s) == (0.01, 0.002)
    job = document(incast, Model("leonardo", {}), iterations=1, us=1)["job"][1]
    assert (job["on"], job["off"]) == ("10000 us", "2000 us")


def test_only_victims_alone_on_few_nodes_are_fitted(leonardo: tables.Data) -> None:
    rows = leonardo.alone()
    assert len(rows) > 30
    assert {row.loop.aggressor for row in rows} == {"none"}
    assert max(len(row.loop.nodes) for row in rows) == tables.FIT_NODES // 2


def test_an_all_gather_cuts_its_result_into_messages() -> None:
    assert Loop("allgather", 4_096, tuple(range(32))).message == 128
    assert Loop("allgather", 8, tuple(range(4))).message == 0
    assert Loop("alltoall", 8, tuple(range(4))).message == 8


def test_other_measurements_take_the_place_of_the_packaged_ones(tmp_path: Path, leonardo: tables.Data) -> None:
    for name in tables.TABLES:
        text = (files("odonata.reproduce.interference") / f"{name}.csv").read_bytes()
        prefix = "interference_" if name in ("runs", "times") else ""
        (tmp_path / f"{prefix}{name}.csv.gz").write_bytes(gzip.compress(text))
    assert tables.load("leonardo", tmp_path).cells() == leonardo.cells()
    (tmp_path / "slowdowns.csv.gz").unlink()
    with pytest.raises(InputError, match=r"`slowdowns.csv` is missing"):
        tables.load("lumi", tmp_path)


def test_data_is_for_reproductions_that_read_measurements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "aries-modes", "--reduced", "--data", str(tmp_path), "-o", str(tmp_path)]) == 2
    assert "reads no measurements" in capsys.readouterr().err


def test_the_barrier_is_not_timed() -> None:
    """Catches a time that holds the barrier: with it, an iteration takes as long as the distance of two begins."""
    loop = Loop("alltoall", 8, (0, 1, 2, 3))
    done = run(made(loop, Model("tiny", FREE), iterations=3, us=1_000))
    times = times_us(done)
    begins = done.iterations["first_begin_ps"].to_list()
    assert len(times) == 3
    assert all((b - a) / 1e6 > 1.5 * time for a, b, time in zip(begins, begins[1:], times, strict=False))


def test_costs_are_found_again_from_simulated_times() -> None:
    """The fit of times that were simulated with known costs. Catches unknowns in another order, or a wrong unit."""
    known = {"size": [f"{size} B" for size in SIZES]}["size"]
    rows = [{"size": size, "send": "200 ns", "receive": "300 ns", "delay": "2 us"} for size in known]
    model = Model("tiny", {**FREE, "by_size": rows})
    loops = [
        Loop(victim, size, (0, 1, 2, 3)) for victim in ("alltoall", "allgather") for size in (64, 1_024, 16_384, 65_536)
    ]
    medians = [float(np.median(times_us(run(made(loop, model, iterations=5, us=1e6))))) for loop in loops]
    fitted = fit([Alone(*pair) for pair in zip(loops, medians, strict=True)], Model("tiny", FREE))
    again = Model("tiny", fitted)
    for loop, time in zip(loops, medians, strict=True):
        found = float(np.median(times_us(run(made(loop, again, iterations=5, us=1e6)))))
        assert found == pytest.approx(time, rel=0.15), loop


def test_an_interval_of_blocks_is_wider_where_neighbours_are_alike() -> None:
    alike = np.repeat(np.random.default_rng(3).exponential(1.0, 40), 25)
    mixed = np.random.default_rng(4).permutation(alike)
    wide, narrow = page.block_interval(alike), page.block_interval(mixed)
    assert wide[0] < alike.mean() < wide[1]
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])


def cell(measured: float, simulated: float, *, nodes: int = 8, victim: str = "alltoall") -> page.Cell:
    alone = Loop(victim, 4_096, (0, 1))  # type: ignore[arg-type]
    beside = Loop(victim, 4_096, (0, 1), "incast", (2, 3))  # type: ignore[arg-type]
    of = tables.Measured(nodes, beside, alone, measured, measured * 0.9, measured * 1.1, 10.0, 0.2)
    return page.Cell(of, simulated, simulated * 0.9, simulated * 1.1, 100, 11.0, 0.1)


def test_errors_in_both_directions_do_not_cancel() -> None:
    assert page.geometric([math.log(2), math.log(0.5)]) == pytest.approx(2)
    rows = find("interference-leonardo").rows(
        [{"system": "leonardo", "host": {"by_size": []}, "cells": [cell(2, 4), cell(4, 2)], "asked": 2}]
    )
    first = rows[0]
    assert (first.ours, first.verdict) == (pytest.approx(2), "no match")


def test_the_page_names_every_cell_that_is_far_off() -> None:
    cells = [cell(2, 2.1), cell(2, 6, nodes=64, victim="allgather")]
    runs = [{"system": "leonardo", "host": {"by_size": []}, "cells": cells, "asked": 3}]
    chosen = find("interference-leonardo")
    text = chosen.page(chosen.rows(runs), runs)
    far = text.partition("## Cells that are off")[2].partition("## All cells")[0]
    assert "| all-gather | 64 | 4,096 B | incast |" in far
    assert "x 3.00" in far
    assert "| all-to-all | 8 |" not in far
    assert "3 cells were asked for, and 2 had an iteration" in text
    assert chosen.picture is not None
    chosen.picture(chosen.rows(runs), runs)


def test_the_reduced_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "interference-leonardo", "--reduced", "-o", str(tmp_path)]) == 0
    assert "geometric mean error" in capsys.readouterr().out
    rows = pl.read_csv(tmp_path / "interference-leonardo-reduced.csv")
    beside = rows.filter(pl.col("what").str.starts_with("all cells"))
    assert beside["ours"][0] < 1.5
