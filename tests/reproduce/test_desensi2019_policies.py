"""De Sensi 2019, figures 8 to 10: allocations, programs, what is kept, and rows on runs made by hand."""

from __future__ import annotations

import re
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from pydantic import TypeAdapter

from odonata.machine import load
from odonata.plot.style import save
from odonata.reproduce import find
from odonata.reproduce.desensi2019 import benchmarks, comparisons
from odonata.reproduce.desensi2019.benchmarks import APP_AWARE, DEFAULT, HIGH_BIAS, OURS, POLICIES
from odonata.reproduce.desensi2019.page import MODEL
from odonata.reproduce.desensi2019.relations import FEWEST
from odonata.reproduce.desensi2019.setting import MACHINES, PRODUCTION, PRODUCTION_LOAD, UNIFORM
from odonata.reproduce.desensi2019.surroundings import WHOLE
from odonata.scenario.apps.halos import Halo3d

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from odonata.reproduce.reproduction import Runs

FIGURES = ("fig8", "fig9", "fig10")
BOTH = {UNIFORM: 10.0, PRODUCTION: PRODUCTION_LOAD}
LOADS = {"fig8": BOTH, "fig9": BOTH, "fig10": {UNIFORM: 10.0}}
"""Figure -> its backgrounds and their loads."""


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of shares from 50 resamples instead of 1,000, which take most of the time of these tests."""
    monkeypatch.setattr(comparisons, "RESAMPLES", 50)


def test_the_allocation_of_piz_daint_is_that_of_the_paper() -> None:
    """1,024 nodes on 257 routers of six groups (D23), as in the points at scale."""
    study = find("desensi2019-fig8")
    point = next(p for p in study.points(False) if (p["nodes"], p["benchmark"]) == (1024, "barrier"))
    shape = load(MACHINES["piz-daint"]).shape
    measured, *background = study.make(point).resolve().spec["jobs"]
    routers = Counter(map(shape.router_of, measured["nodes"]))
    assert (len(measured["nodes"]), len(routers), shape.groups) == (1024, 257, 6)
    assert sum(len(job["nodes"]) for job in background) == 1024


def test_costs_of_hosts_are_scaled_and_reading_counters_costs_time() -> None:
    """Preset: send 400 ns. Of 1 KiB, every fifth message exceeds 4 KiB; larger ones each do."""

    def costs(**changed: Any) -> dict[str, Any]:
        more = {"policy": APP_AWARE, "size": "1 KiB", **changed}
        return benchmarks.costs(
            {**benchmarks.point("fig8", "piz-daint", (64, 17), "alltoall", "1 KiB", APP_AWARE), **more}
        )

    assert costs(costs=30)["send"] == "120000 ps"
    assert costs(costs=30)["call"] == "360000 ps"
    assert (costs(costs=0)["copy"], costs(costs=0)["send"]) == ("none", "0 ps")
    assert costs(read="1 us")["send"] == "600000 ps"
    assert costs(read="1 us", size="32 KiB")["send"] == "1400000 ps"
    assert costs(read="1 us", policy=DEFAULT)["send"] == "400000 ps"
    point = benchmarks.point("fig8", "piz-daint", (64, 17), "alltoall", "1 KiB", APP_AWARE, every="1 ms", iterations=2)
    plain, slow = (
        benchmarks.make({**point, "read": read}).resolve().spec["jobs"][0]["program"]["costs"]
        for read in ("0 ns", "1 us")
    )
    assert [plain["send_ps"], slow["send_ps"]] == [400_000, 600_000]


def test_the_allocation_of_cori_is_that_of_the_paper() -> None:
    """64 nodes on 33 routers of five groups (D23)."""
    shape = load(MACHINES["cori"]).shape
    nodes = benchmarks.allocation(shape, 64, 33, 1)
    held = Counter(map(shape.router_of, nodes))
    assert (len(set(nodes)), len(held), set(held.values())) == (64, 33, {1, 2})
    assert set(Counter(router // 96 for router in held).values()) == {6, 7}
    assert nodes != benchmarks.allocation(shape, 64, 33, 2)


def test_programs_have_the_sizes_that_they_say() -> None:
    sweep = benchmarks.program("sweep3d", "1024", 64)
    assert (sweep["grid"], sweep["cells"], sweep["planes"]) == ([4, 16], [256, 64, 1024], 128)
    assert benchmarks.program("barrier", "", 64) == {"collective": "barrier", "algorithm": "cray"}
    assert benchmarks.program("broadcast", "1 MiB", 64)["algorithm"] == "cray"
    assert benchmarks.program("ping-pong", "1 KiB", 64)["stride"] == 32


@pytest.mark.parametrize("nodes", sorted(benchmarks.GRIDS))
def test_a_send_of_halo3d_has_64_mib_on_any_number_of_ranks(nodes: int) -> None:
    """Each send of 1024^3 is as large as a ping-pong of 64 MiB, in the phases that are simulated."""
    motif = TypeAdapter(Halo3d).validate_python(benchmarks.program("halo3d", "1024", nodes)).decided(nodes)
    halo = motif.phases(nodes)[0]["what"]
    assert np.prod(halo["grid"]) == nodes
    assert halo["face_bytes"] == [64 * 2**20] * 3


@pytest.mark.parametrize("figure", FIGURES)
def test_only_the_policy_differs_between_the_runs_of_a_cell(figure: str) -> None:
    study = find(f"desensi2019-{figure}")
    points = study.points(False)
    cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for point in points:
        key = tuple(point[name] for name in ("benchmark", "size", "nodes", "background", "read"))
        cells.setdefault(key, []).append(point)
    whole = [cell for key, cell in cells.items() if key[-1] == "0 ns"]
    assert all({point["policy"] for point in cell} >= set(POLICIES) for cell in whole)
    assert {point["background"]: point["load"] for point in points} == LOADS[figure]
    first = next(iter(cells.values()))
    specs = [study.make(point).resolve().spec for point in first[:2]]
    used = [spec["jobs"][0].pop("routing", spec["routing"]) for spec in specs]
    assert [routing["policy"] for routing in used] == [DEFAULT, HIGH_BIAS]
    assert specs[0] == specs[1]
    assert specs[0]["jobs"][1].get("routing", specs[0]["routing"])["mode"] == "adaptive-0"


def test_what_is_kept_by_hand() -> None:
    """The first iteration and other jobs do not count."""
    job = {"default_fraction": 0.25, "packet_latency_mean_ps": 3e6, "stalled_cycles": 30, "request_flits": 60}
    tables = {
        "iterations": pl.DataFrame(
            {"job": [0, 0, 0, 1], "iteration": [2, 0, 1, 1], "time_ps": [30, 10, 20, 40]},
        ),
        "jobs": pl.DataFrame([{**job, "minimal_fraction": 0.5}]),
        "links": pl.DataFrame({"class": ["optical", "optical", "node"], "busy": [0.25, 0.75, 1.0]}),
    }
    assert benchmarks.keep(SimpleNamespace(**tables)) == {
        "times_ps": [20.0, 30.0],
        "default_share": 0.25,
        "latency_ps": 3e6,
        "stalls": 0.5,
        "minimal": 0.5,
        "optical": 0.5,
        "busiest": 0.75,
    }


def test_policies_do_what_they_say(reduced: Callable[[str], Runs]) -> None:
    for figure in FIGURES:
        for cell in comparisons.cells(reduced(f"desensi2019-{figure}")):
            shares = {policy: run["default_share"] for policy, run in cell.runs.items()}
            assert (shares[DEFAULT], shares[HIGH_BIAS]) == (1, 0)
            assert 0 <= shares[APP_AWARE] < 1
            assert cell.runs[HIGH_BIAS]["minimal"] > cell.runs[DEFAULT]["minimal"]
            assert cell.ratio(DEFAULT) == 1


def made(figure: str, sign: int) -> list[dict[str, Any]]:
    """Runs of the full form. With sign 1 they are as the paper says; with -1 the other way round."""
    study = find(f"desensi2019-{figure}")
    return [{**point, **_values(point, sign)} for point in study.points(False)]


def _values(point: dict[str, Any], sign: int) -> dict[str, Any]:
    benchmark, policy = point["benchmark"], point["policy"]
    small = benchmark in ("ping-pong", "barrier", "MILC") or (benchmark, point["nodes"]) == ("FFT", 256)
    edge = benchmarks.edge(point["size"])
    high = 1 - 0.5 * sign if small else 1 + 0.5 * sign
    aware = min(1.0, high) * (1 if sign > 0 else 1.2)
    if sign > 0 and benchmark in ("broadcast", "sweep3d") and edge >= 1024:
        aware = 1.04
    if sign < 0 and benchmark in ("broadcast", "sweep3d"):
        aware = min(1.0, high) * 0.9
    if sign < 0 and benchmark == "alltoall":
        aware = 1.3
    time = {DEFAULT: 1.0, HIGH_BIAS: high, APP_AWARE: aware, OURS[0]: aware - 0.03 * sign}[policy]
    spread = 0.1 / (1 + edge) if sign > 0 else 0.01 * (1 + edge)
    spread *= 1 if policy == DEFAULT else 1 - 0.5 * sign
    spread = min(spread, 0.5) * (0.1 if benchmark in benchmarks.APPLICATIONS else 1)
    wave = np.linspace(-1, 1, point["iterations"] - 1)
    share = {DEFAULT: 1.0, HIGH_BIAS: 0.0}.get(policy, 0.5 if sign > 0 else 1.0)
    return {
        "times_ps": (1e6 * time * (1 + spread * wave)).tolist(),
        "default_share": share,
        "latency_ps": 1e6,
        "stalls": 0.1,
        "minimal": 0.5,
        "optical": 0.3,
        "busiest": 0.4,
    }


@pytest.mark.parametrize("figure", FIGURES)
def test_rows_that_match_and_rows_that_do_not(figure: str) -> None:
    study = find(f"desensi2019-{figure}")
    good, bad = (study.rows(made(figure, sign)) for sign in (1, -1))
    assert [row.what for row in good] == [row.what for row in bad]
    assert [row.what for row in good if row.verdict == "no match"] == []
    assert {row.id for row in good} == ({"D24", "D25", "D28"} if figure == "fig10" else {"D24", "D25", "D26", "D27"})
    faster = {f"`{background}`: largest speed-up of app-aware over Default" for background in LOADS[figure]}
    few = {row.what for row in bad if row.interval and row.repetitions < FEWEST}
    assert {row.what for row in bad if row.verdict in ("match", "direction")} == faster - few, "of 2 in both"
    unsure = [row for row in [*good, *bad] if row.interval and row.repetitions < FEWEST]
    assert {row.verdict for row in unsure} <= {"not comparable"}


@pytest.mark.parametrize("figure", FIGURES)
def test_pages_and_pictures(figure: str, tmp_path: Path) -> None:
    study = find(f"desensi2019-{figure}")
    runs = made(figure, -1)
    rows = study.rows(runs)
    page = study.page(rows, runs)
    assert "$" not in page
    assert max(map(len, (line for line in page.splitlines() if not line.startswith("|")))) <= 120
    # Of the metric with which all sizes were simulated a page has only what the others have too.
    assert all(row.what in page for row in rows if row.verdict != "not comparable" and row.model != WHOLE)
    save(study.picture(rows, runs), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


@pytest.mark.parametrize("figure", FIGURES)
def test_every_benchmark_has_one_fastest_policy(figure: str) -> None:
    study = find(f"desensi2019-{figure}")
    ours = 0.1  # of the time where our variant was simulated, so it is the fastest there
    runs = [
        {**run, "times_ps": [time * ours for time in run["times_ps"]]} if run["policy"] == OURS[0] else run
        for run in made(figure, 1)
        if run["sensing"] == MODEL
    ]
    said = re.search(r"The fastest policy of each \w+: (.*?) \(of (\d+)\)", " ".join(study.page([], runs).split()))
    assert said is not None
    wins = {policy: int(number) for policy, number in re.findall(r"`(.*?)` in (\d+)", said[1])}
    assert sum(wins.values()) == int(said[2])
    assert wins.get(OURS[0], 0) == sum(run["policy"] == OURS[0] for run in runs)


def test_shares_of_benchmarks_have_an_interval_and_reading_counters_has_rows() -> None:
    """One of two barriers is calmer with high bias whatever is drawn; the other one has the same times."""
    study = find("desensi2019-fig8")
    runs = [run for run in made("fig8", 1) if run["sensing"] == MODEL]
    what = "`uniform`: QCD is lower with high bias than with Default (`almost all`)"
    (row,) = (row for row in study.rows(runs) if row.what == what)
    assert (row.ours, row.interval) == (100, (100, 100))
    steady = [run for run in runs if run["benchmark"] == "barrier" and run["background"] == UNIFORM]
    same = {run["nodes"]: run["times_ps"] for run in steady if run["policy"] == DEFAULT}
    few = [
        {**run, "times_ps": same[run["nodes"]]} if (run["nodes"], run["policy"]) == (1024, HIGH_BIAS) else run
        for run in steady
    ]
    (row,) = (row for row in study.rows(few) if row.what == what)
    assert (row.ours, row.interval, row.verdict) == (50, (50, 50), "no match")
    reading = [row for row in study.rows(runs) if "reading counters takes" in row.what]
    assert len(reading) == len(comparisons.READ[1])
    assert {row.verdict for row in reading} == {"not comparable"}


def test_statements_on_large_sizes_are_made_of_large_sizes_only() -> None:
    study = find("desensi2019-fig8")
    runs = made("fig8", 1)
    large = {row.what.split("`: ")[1].partition(",")[0] for row in study.rows(runs) if "(largest)" in row.what}
    assert large == set(comparisons.LARGE_SIZES)
    small = [run for run in runs if comparisons.LARGE_SIZES.get(run["benchmark"]) != run["size"]]
    assert not [row for row in study.rows(small) if "(largest)" in row.what]
