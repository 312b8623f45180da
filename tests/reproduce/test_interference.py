"""Victims beside aggressors: the measurements, the scenarios of their loops, intervals, verdicts and the page."""

from __future__ import annotations

import dataclasses
import gzip
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from odonata import machine
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.reproduce import find
from odonata.reproduce.interference import data as tables
from odonata.reproduce.interference import page
from odonata.reproduce.interference.fit import START_US, Alone, between, fit, host_of_system, times, warm
from odonata.reproduce.interference.loops import Loop, Model, document, made, times_us
from odonata.runner import run

if TYPE_CHECKING:
    from pathlib import Path

FREE = {"send": "0 s", "receive": "0 s", "copy": "none", "eager": "1 GiB", "rendezvous": "0 s", "by_size": []}


COUNTS = {"leonardo": 192, "lumi": 216, "cresco8": 192}


@pytest.mark.parametrize("system", page.SYSTEMS)
def test_every_row_of_a_packaged_machine_is_compared_or_expected_not_to_be(system: str) -> None:
    """Catches baselines of the same job and names of nodes that are not understood."""
    data = tables.load(system)
    cells, left = data.cells()
    assert len(cells) == COUNTS[system]
    assert all(row.understood for row in left)
    assert data.alone()


@pytest.mark.parametrize("system", ["leonardo", "cresco8"])
def test_presets_have_the_costs_that_were_fitted_last(system: str) -> None:
    by_size = machine.load(system).table.host
    assert by_size is not None
    costs = machine.load({"preset": system, "host": host_of_system(system)}).table.host
    assert costs == by_size
    assert len(by_size.by_size) == len(START_US)


def odd(leonardo: tables.Data, **columns: object) -> tables.Data:
    """The measurements with other values in the first run beside an aggressor."""
    first = leonardo.slowdowns["run"][0]
    changes = [
        pl.when(pl.col("run") == first).then(pl.lit(v)).otherwise(pl.col(k)).alias(k) for k, v in columns.items()
    ]
    return dataclasses.replace(leonardo, runs=leonardo.runs.with_columns(changes))


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"victim": "barrier"}, "unknown victim `barrier`"),
        ({"aggressor": "storm"}, "unknown aggressor `storm`"),
        ({"aggressor": None}, "unknown aggressor `None`"),
        ({"allocation": "nowhere"}, "no victim in the allocation `nowhere`"),
        ({"burst_length_s": -1.0, "burst_pause_s": 0.1}, "a burst of `-1.0` s with pauses of `0.1` s"),
        ({"burst_length_s": 0.5}, "a burst of `0.5` s with pauses of `None` s"),
    ],
)
def test_a_row_that_is_not_understood_is_listed_and_the_others_are_compared(
    leonardo: tables.Data, columns: dict[str, object], why: str
) -> None:
    cells, left = odd(leonardo, **columns).cells()
    assert [row.why for row in left if not row.understood] == [why] * 6
    assert len(cells) == len(leonardo.cells()[0]) - 6


def test_nodes_and_numbers_that_cannot_be_are_listed(leonardo: tables.Data) -> None:
    name = leonardo.runs.filter(pl.col("run") == leonardo.slowdowns["run"][0])["allocation"][0]
    here = (pl.col("allocation") == name) & (pl.col("role") == "victim")

    def whys(data: tables.Data) -> set[str]:
        return {row.why for row in data.cells()[1] if not row.understood}

    for node, why in (
        (3_420, f"a node of `{name}` is not in the preset `leonardo`"),
        (None, f"a node of `{name}` is not in the preset `leonardo`"),
        (7, f"`{name}` has a node twice"),
    ):
        nodes = pl.when(here).then(pl.lit(node)).otherwise(pl.col("preset_node")).alias("preset_node")
        data = tables.Data(
            "leonardo",
            leonardo.runs,
            leonardo.allocations.with_columns(nodes),
            leonardo.times,
            leonardo.slowdowns,
        )
        assert why in whys(data)
    endless = leonardo.slowdowns.with_columns(pl.lit(math.inf).alias("mean_hi"))
    assert whys(dataclasses.replace(leonardo, slowdowns=endless)) == {
        "a measured number is missing, not positive or not finite"
    }
    alone = leonardo.times.filter(pl.col("phase") != "alone")
    assert whys(dataclasses.replace(leonardo, times=alone)) == {"no time alone"}


def test_nodes_of_cresco8_are_known_by_their_names() -> None:
    data = tables.load("cresco8")
    names = data.allocations.with_columns(
        pl.format("cresco8x{}", (pl.col("preset_node") + 1).cast(pl.String).str.zfill(3)).alias("node"),
        pl.lit(None, pl.Int64).alias("preset_node"),
    )
    named = tables.Data("cresco8", data.runs, names, data.times, data.slowdowns)
    assert named.cells()[0] == data.cells()[0]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    for name in tables.TABLES:
        text = (files("odonata.reproduce.interference") / f"{name}.csv").read_text()
        (tmp_path / f"{name}.csv").write_text(text.replace("mean_ratio", "ratio"))
    with pytest.raises(InputError, match="the column `mean_ratio` of the table `slowdowns` is missing"):
        tables.load("leonardo", tmp_path)


def burst(length: float, pause: float) -> Loop:
    return Loop("alltoall", 4_096, (0, 1), "incast", (2, 3), length, pause)


def test_bursts_are_simulated_whole_or_shorter_with_their_pauses() -> None:
    """Catches spans without a pause, pauses that are shortened alone, and simulations as long as the measurement."""
    span, shorter = page.span_us(burst(0.01, 0.01), 20, 2_500)
    assert (span, shorter) == (4 * 20_000, 1)
    span, shorter = page.span_us(burst(0.1, 0.1), 20, 2_500)
    assert span == pytest.approx(4 * shorter * 200_000) == pytest.approx(120_000)
    assert page.span_us(burst(0.01, 1.0), 20, 2_500)[1] * 10_000 == pytest.approx(3 * 2_500)
    assert page.span_us(burst(0.01, 1.0), 20, 2_500)[0] <= 240_000
    assert page.span_us(burst(0.1, 1e-6), 20, 2_500) == (40_000, 1)
    assert page.span_us(burst(0.0, 0.001), 20, 2_500) == (40_000, 1)
    assert page.span_us(burst(0.1, 1e-6), 30_000, 2_500)[0] == pytest.approx(66_000)


def test_a_burst_shorter_than_a_message_is_one_message() -> None:
    """Catches lengths that are rounded to nothing, and bursts of no length that are taken for none."""
    job = document(burst(0.0, 0.002), Model("tiny", {}), iterations=1, us=1)["job"][1]
    assert (job["on"], job["off"]) == ("1 ns", "2000000 ns")
    job = document(burst(0.01, 0.002), Model("tiny", {}), iterations=1, us=1, shorter=0.5)["job"][1]
    assert (job["on"], job["off"]) == ("5000000 ns", "1000000 ns")
    done = run(made(burst(0.0, 0.002), Model("tiny", {**FREE, "eager": "1 KiB"}), iterations=50, us=20_000))
    begins = done.iterations.filter(pl.col("job") == 1)["first_begin_ps"].sort()
    assert begins.diff().drop_nulls().min() > 2e9


def test_a_process_of_lumi_drives_one_nic() -> None:
    """An all-gather of two ranks that send large messages both ways is as fast as one NIC of 25 GB/s."""
    loop = Loop("allgather", 32 << 20, (0, 500))
    time = times([loop], Model("lumi", FREE, page.FABRICS["lumi"]), 1)[0].median
    assert 0.9 < (16 << 20) / 25e3 / time < 1.0


def test_ranks_of_larger_jobs_on_infiniband_ask_for_a_few_messages_at_a_time() -> None:
    """UCX takes DC from 61 ranks on. Catches the many under way that made 128 nodes six times too slow."""
    for system, nodes, fetches in (("leonardo", 64, 8), ("leonardo", 32, None), ("lumi", 64, None)):
        loop = Loop("alltoall", 4_096, tuple(range(nodes)), "incast", tuple(range(nodes, 2 * nodes)))
        jobs = document(loop, page.model_of(system), iterations=1, us=1)["job"]
        assert [job["overhead"].get("fetches") for job in jobs] == [fetches, fetches]


def test_what_is_compared_alone_is_the_mean_of_warm_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """As measured on LUMI's model: the windows of 32 pairs settle in three iterations. Their median was divided by."""
    cold = [978.0, 763.0, 903.0, 604.0, 611.0]
    monkeypatch.setattr("odonata.reproduce.interference.fit.times_us", lambda _: [*cold, *[600.0, 610.0] * 5])
    monkeypatch.setattr("odonata.reproduce.interference.fit.runner.run", lambda *_, **__: None)
    loop = Loop("alltoall", 4_096, (0, 1))
    (time,) = times([loop], Model("tiny", FREE), 1)
    assert (time.mean, time.median) == (605.0, 605.0)
    assert warm([*cold, *[605.0] * 15]) == [605.0] * 15
    assert warm(cold) == cold[1:], "of a few, a quarter is left out"
    assert warm(cold[:1]) == cold[:1]


@pytest.fixture(scope="module")
def leonardo() -> tables.Data:
    return tables.load("leonardo")


def test_the_cells_are_steady_and_their_aggressor_runs(leonardo: tables.Data) -> None:
    cells, left = leonardo.cells()
    assert len(cells) > 80
    for cell in cells:
        assert cell.beside.aggressor != "none"
        assert cell.alone.aggressor == "none"
        assert len(cell.beside.nodes) == len(cell.beside.aggressor_nodes) == cell.nodes // 2
        assert not set(cell.beside.nodes) & set(cell.beside.aggressor_nodes)
        assert cell.low <= cell.slowdown <= cell.high
        assert cell.beside.message > 0
    assert not [cell for cell in cells if cell.beside.size < 512]
    assert {row.why for row in left} <= {tables.STARTING, tables.EMPTY}
    assert (
        len(cells) + len(left) == leonardo.slowdowns.filter(pl.col("run").is_in(leonardo.runs["run"].implode())).height
    )


def test_true_bursts_are_cells_that_pause(leonardo: tables.Data) -> None:
    """Catches cells that leave out the bursts of other measurements, and bursts that are simulated without pauses."""
    runs = leonardo.runs.with_columns(
        pl.when(pl.col("aggressor") == "incast").then(0.01).alias("burst_length_s"),
        pl.when(pl.col("aggressor") == "incast").then(0.002).alias("burst_pause_s"),
    )
    bursts, _ = dataclasses.replace(leonardo, runs=runs).cells()
    assert len(bursts) == len(leonardo.cells()[0])
    incast = next(cell.beside for cell in bursts if cell.beside.aggressor == "incast")
    assert (incast.burst_s, incast.pause_s) == (0.01, 0.002)
    job = document(incast, Model("leonardo", {}), iterations=1, us=1)["job"][1]
    assert (job["on"], job["off"]) == ("10000000 ns", "2000000 ns")


def test_only_victims_alone_on_few_nodes_are_fitted(leonardo: tables.Data) -> None:
    rows = leonardo.alone()
    assert len(rows) > 30
    assert {row.loop.aggressor for row in rows} == {"none"}
    assert {row.loop.bursts for row in rows} == {False}
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
    assert main(["reproduce", "desensi2019-fig4", "--reduced", "--data", str(tmp_path), "-o", str(tmp_path)]) == 2
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
    known = {"size": [f"{size} B" for size in START_US]}["size"]
    rows = [{"size": size, "send": "200 ns", "receive": "300 ns", "delay": "2 us"} for size in known]
    model = Model("tiny", {**FREE, "by_size": rows})
    loops = [
        Loop(victim, size, (0, 1, 2, 3)) for victim in ("alltoall", "allgather") for size in (64, 1_024, 16_384, 65_536)
    ]
    medians = [float(np.median(times_us(run(made(loop, model, iterations=5, us=1e6))))) for loop in loops]
    fitted = fit([Alone(*pair) for pair in zip(loops, medians, strict=True)], Model("tiny", FREE))
    again = Model("tiny", fitted)
    for loop, time in zip(loops, medians, strict=True):
        again_us = float(np.median(times_us(run(made(loop, again, iterations=5, us=1e6)))))
        assert again_us == pytest.approx(time, rel=0.15), loop


def test_a_cost_moves_the_loops_whose_messages_lie_next_to_it() -> None:
    """The slopes of a fit are simulated for these loops only. Catches a size that is forgotten or counted twice."""
    sizes = (8, 512, 4_096, 32_768)
    assert [between(message, sizes) for message in (1, 8, 64, 512, 2_048, 4_096, 1 << 20)] == [
        {0}, {0}, {0, 1}, {1}, {1, 2}, {2}, {3},
    ]  # fmt: skip
    row = {"send": "200 ns", "receive": "300 ns", "delay": "2 us"}
    loop = Loop("allgather", 8_192, (0, 1, 2, 3))
    assert loop.message == 2_048

    def time(slow: int) -> float:
        rows = [{**row, "size": f"{size} B", **({"delay": "4 us"} if size == slow else {})} for size in sizes]
        return times([loop], Model("tiny", {**FREE, "by_size": rows}), 1)[0].median

    alike = time(0)
    assert {size for size in sizes[1:] if time(size) != alike} == {512, 4_096}, "the first also moves barriers"


def test_which_cells_of_lumi_are_left_out_depends_on_settings_alone() -> None:
    """The rule looks at no slowdown, and other machines have all their cells."""
    for system in ("leonardo", "cresco8"):
        assert not any(page.left_out(cell, system) for cell in tables.load(system).cells()[0])
    cells, _ = tables.load("lumi").cells()
    kept = [cell for cell in cells if not page.left_out(cell, "lumi")]
    assert {cell.beside.burst_s for cell in kept} == {None}
    steady = [cell for cell in cells if cell.beside.burst_s is None]
    out = [cell for cell in steady if cell not in kept]
    assert {(c.nodes, c.beside.victim, c.beside.size) for c in out} == {
        (32, "alltoall", 16 << 20),
        *((64, victim, 8**power) for victim in ("alltoall", "allgather") for power in (4, 6, 7, 8)),
    }
    assert len(kept) == 78
    unlike = [dataclasses.replace(cell, slowdown=9.0, low=8.0, high=10.0) for cell in cells]
    assert [page.left_out(cell, "lumi") for cell in unlike] == [page.left_out(cell, "lumi") for cell in cells]


def test_a_slowdown_is_settled_if_its_interval_is_narrow() -> None:
    assert page.settled(np.array([1.0, 1.01, 0.99, 1.0]))
    assert not page.settled(np.array([1.0, 1.0, 1.0, 3.0]))
    assert not page.settled(np.array([1.0])), "one value tells no interval"


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


def results(cells: list[page.Cell], left: list[tables.Left] | None = None, system: str = "leonardo") -> dict[str, Any]:
    host = {"by_size": []}
    return {"system": system, "host": host, "cells": cells, "left": left or [], "asked": 3, "packaged": True}


def test_errors_in_both_directions_do_not_cancel() -> None:
    assert page.geometric([math.log(2), math.log(0.5)]) == pytest.approx(2)
    rows = find("interference-leonardo").rows([{"system": "leonardo", "cells": [cell(2, 4), cell(4, 2)]}])
    first = rows[0]
    assert (first.ours, first.verdict) == (pytest.approx(2), "no match")


def test_the_page_names_every_cell_that_is_far_off() -> None:
    cells = [cell(2, 2.1), cell(2, 6, nodes=64, victim="allgather")]
    left = [
        tables.Left("run", "64", tables.STARTING),
        tables.Left("run-7", "4096", "unknown victim `x`", understood=False),
    ]
    runs = [results(cells, left)]
    chosen = find("interference-leonardo")
    text = chosen.page(chosen.rows(runs), runs)
    far = chosen.text.of_runs(chosen.rows(runs), runs)["far"]
    assert "| all-gather | 64 | 4,096 B | incast |" in far
    assert "x 3.00" in far
    assert "| all-to-all | 8 |" not in far
    assert "3 cells were asked for, and 2 had an iteration" in text
    assert "1 rows: the aggressor was still starting." in text
    assert "| run-7 | 4096 | unknown victim `x` |" in text
    assert chosen.picture is not None
    chosen.picture(chosen.rows(runs), runs)
