"""De Sensi 2019: pairs and their turns, what is kept of them, and rows on runs made by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from odonata import aries, units
from odonata.machine import load
from odonata.plot.style import save
from odonata.reproduce import find
from odonata.reproduce.desensi2019 import dispersion, distances, mix, model, modes, pingpong
from odonata.reproduce.desensi2019.relations import EQUAL, GREATER, SMALLER, Median, Relation, as_row, median_of
from odonata.reproduce.desensi2019.setting import MACHINES, PRODUCTION, PRODUCTION_LOAD, around
from odonata.reproduce.page_files import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

VALIDATION = Path(__file__).parents[2] / "validation"
PAGES = {"model": model, "fig3": distances, "fig5": dispersion, "fig7": modes}


def test_pairs_are_as_far_apart_as_they_say() -> None:
    shape = load(MACHINES["piz-daint"]).shape
    names = [*pingpong.DISTANCES, pingpong.INTRA, pingpong.ANYWHERE]
    drawn = pingpong.draw(shape, names, 6, 3)
    assert [(distance, number) for distance, number, _ in drawn] == [(name, k) for name in names for k in range(6)]
    used = Counter(router for _, _, pair in drawn for router in set(pair))
    assert set(used.values()) == {1}
    for distance, number, (first, second) in drawn:
        assert first // 96 == number, "one pair begins in each group"
        same_group, same_chassis = first // 96 == second // 96, first // 16 == second // 16
        assert (first == second) == (distance == "inter-nodes")
        if distance == "inter-blades":
            assert same_chassis
        if distance in ("inter-chassis", pingpong.INTRA):
            assert same_group
        if distance == "inter-chassis":
            assert not same_chassis
        if distance == "inter-groups":
            assert not same_group
    assert drawn != pingpong.draw(shape, names, 6, 4)


def test_modes_take_turns_on_the_same_routers() -> None:
    point = modes.points(False)[1]
    resolved = pingpong.make(point).resolve()
    jobs, shape = resolved.spec["jobs"], resolved.system.shape
    *pairs, background = jobs
    assert len(pairs) == 2 * 6 * 2
    slot = units.time_ps(modes.SLOT)
    for default, high in zip(pairs[::2], pairs[1::2], strict=True):
        routers = [[shape.router_of(node) for node in job["nodes"]] for job in (default, high)]
        assert routers[0] == routers[1]
        assert not set(default["nodes"]) & set(high["nodes"])
        used = [job.get("routing", resolved.spec["routing"]) for job in (default, high)]
        assert [routing["mode"] for routing in used] == modes.MODES
        starts = [job["program"]["start_ps"] for job in (default, high)]
        assert starts[1] - starts[0] == slot
        assert {job["program"]["every_ps"] for job in (default, high)} == {2 * slot}
    assert background.get("routing", resolved.spec["routing"])["mode"] == "adaptive-0"


def test_the_background_has_the_load_that_the_page_states() -> None:
    """6 x 5 directions of 24 cables with 4.7 GB/s at 10 %, of which 5/6 of what 1,024 nodes send makes use."""
    wanted = 65_536 * 1_024 * (5 / 6) / (6 * 5 * 24 * 4.7e9 * 0.1) * 1e12
    first, bursts, *_ = distances.points(False)
    assert around(first).interval_ps == pytest.approx(wanted, abs=1)
    assert around(bursts).interval_ps == pytest.approx(16 * wanted * 6 / 5, abs=1)


def test_jobs_of_a_production_machine_send_as_many_bytes_as_the_steady_background() -> None:
    """Whatever they pause: bytes of an iteration over its interval, within bursts of a quarter of the time."""
    point = next(p for p in distances.points(False) if p["background"] == PRODUCTION)
    resolved = pingpong.make(point).resolve()
    jobs = [job for job in resolved.spec["jobs"] if job["name"].partition("-")[0] in {kind.name for kind in mix.KINDS}]
    assert Counter(job["name"].partition("-")[0] for job in jobs) == {kind.name: 4 for kind in mix.KINDS}
    assert [len(job["nodes"]) for job in jobs] == [64] * 16
    assert len({node for job in resolved.spec["jobs"] for node in job["nodes"]}) == 1024 + 6 * 2 * 4
    rates = Counter()
    for job in mix.production(1024, around(point).bytes_per_second, 1):
        kind = next(kind for kind in mix.KINDS if job["name"].startswith(kind.name))
        interval = units.time_ps(job["app"]["interval"] if "interval" in job["app"] else job["every"])
        paused = 4 if "off" in job else 1
        rates[kind.name] += kind.sent(64) * units.size_bytes(job["app"]["message"]) * 1e12 / interval / paused
    assert sum(rates.values()) == pytest.approx(around(point).bytes_per_second, rel=1e-6)
    assert rates["halo"] == pytest.approx(0.4 * around(point).bytes_per_second, rel=1e-6)
    assert mix.halo_messages(64) == 2 * 3 * 48, "4 x 4 x 4 ranks have 48 pairs of neighbours along each axis"


def test_the_load_of_figures_8_to_10_is_that_of_figure_3() -> None:
    """The page's rows choose it, by both numbers of the paper."""
    rows = read_rows(VALIDATION / "desensi2019-fig3.csv")
    assert distances.chosen(rows) == PRODUCTION_LOAD
    # Rows of the least load that are nearest to the paper choose that load.
    nearer = [replace(row, ours=row.theirs) if "load 10 %" in row.what else row for row in rows]
    assert distances.chosen(nearer) == 10
    made_rows = find("desensi2019-fig3").rows(made("fig3", -1, np.random.default_rng(1)))
    judged = distances.chosen(made_rows)
    for percent in distances.LOADS:
        of_load = [row for row in made_rows if row.what.startswith(f"`{PRODUCTION}`, load {percent:g} %")]
        assert sum(row.kind == "F" for row in of_load) == (2 if percent == judged else 0)
        assert {row.verdict for row in of_load} == {"no match" if percent == judged else "not comparable"}


def test_points() -> None:
    allocations = Counter(point["message"] for point in model.points(False) for _ in range(point["pairs"]))
    assert allocations == dict.fromkeys(model.ITERATIONS, 40)
    sizes = [units.size_bytes(size) for size in model.ITERATIONS]
    assert (min(sizes), max(sizes)) == (128, 2**24)
    for page in PAGES.values():
        for reduced in (True, False):
            assert {point["machine"] for point in page.points(reduced)} == {"small" if reduced else "piz-daint"}


def by_hand(stalled: int = 0, iterations: int = 2) -> dict[str, Any]:
    """Iterations of 128 B: two packets of five flits each way; a cycle is 1 ns."""
    rows = {"job": [], "interval": [], "source": [], "destination": []}
    for k in range(iterations):
        for source in (0, 1):
            for name, value in zip(rows, (0, k, source, 1 - source), strict=True):
                rows[name].append(value)
    count = 2 * iterations
    counters = {"flits": [10] * count, "stalled_cycles": [stalled] * count, "complete_ps": [9] * count}
    latency = {"packet_latency_mean_ps": [1e6 * (1 + k) for k in range(count)]}
    tables = {
        "messages": pl.DataFrame({**rows, "latency_ps": [100 * (k + 1) for k in range(count)]}),
        "nic_messages": pl.DataFrame({**rows, **counters, **latency}),
        "iterations": pl.DataFrame(
            {"job": [0] * iterations, "iteration": range(iterations), "longest_ps": [7_000] * iterations}
        ),
        "jobs": pl.DataFrame({"iterations": [iterations, None], "minimal_fraction": [0.25, 0.5]}),
        "links": pl.DataFrame({"class": ["optical", "optical", "node"], "busy": [0.25, 0.75, 1.0]}),
    }
    ping = {"name": "ping-pong", "bytes": 128}
    jobs = [{"program": {"body": {"phases": [{"what": {"name": "compute"}}, {"what": ping}]}}}]
    spec = {"fabric": {"nic": {"aries": {"cycle_ps": 1_000}}}, "jobs": jobs}
    return pingpong.keep(SimpleNamespace(resolved={"spec": spec}, **tables))


def test_what_is_kept_by_hand() -> None:
    """The first iteration does not count. Of the second one, L is 3,000 and 4,000 cycles."""
    kept = by_hand(stalled=5)
    first, second = (514 / 1024 * latency + 10 * 1.5 for latency in (3_000, 4_000))
    assert kept == {
        "times_ps": [[7_000.0]],
        "network_ps": [[700.0]],
        "latency_ps": [[3.5e6]],
        "stalls": [[0.5]],
        "estimates_ps": [[pytest.approx((first + second) * 1_000)]],
        "unlimited_ps": [[pytest.approx((1_500 + 2_000 + 30) * 1_000)]],
        "minimal": [0.25],
        "optical": 0.5,
        "busiest": 0.75,
    }
    assert aries.transmission_time(128, latency=3_000, stalls=0.5) == pytest.approx(first)


def test_a_time_is_longer_than_its_part_in_the_network(reduced: Callable[[str], Runs]) -> None:
    for name in PAGES:
        for run in reduced(f"desensi2019-{name}"):
            measured = run["pairs"] * len(run["distances"]) * len(run["modes"])
            assert len(run["times_ps"]) == measured
            for times, network, latency in zip(run["times_ps"], run["network_ps"], run["latency_ps"], strict=True):
                assert len(times) == run["iterations"] - 1
                assert (np.array(times) > np.array(network)).all()
                assert min(latency) > 2e5
            assert (0.1 if run["background"] != PRODUCTION else 0.005) < run["optical"] < 0.6


def test_noise_of_hosts_is_in_times_and_not_in_latencies(reduced: Callable[[str], Runs]) -> None:
    runs = reduced("desensi2019-fig5")
    for silent, noisy in zip(*(dispersion.by_size(runs, noise) for noise in ("0 us", "1 us")), strict=True):
        assert noisy.time_us > silent.time_us
        assert np.median(noisy.time) > np.median(silent.time)
    # The largest time over the least is that of the hosts, the latencies remain those of the background.
    assert dispersion.by_size(runs, "0 us", delay=1) == []


def test_the_model_and_its_time_agree_in_the_reduced_form(reduced: Callable[[str], Runs]) -> None:
    small, large = model.sizes(reduced("desensi2019-model"))
    assert small.of_network.pearson.value > 0.9
    assert abs(large.error) < 0.5
    # 16 KiB are 256 packets: equation 2 adds a quarter of L to equation 1.
    extra = (large.estimates_ps - large.unlimited_ps) / large.latency_ps
    assert extra == pytest.approx(np.full(len(extra), 2 * 256 / 1024), rel=0.01)


def made(name: str, sign: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The runs of the full form. With sign 1 they are as the paper says; with -1 the other way round."""
    return [{**point, **_values(point, sign, rng)} for point in PAGES[name].points(False)]


def _values(point: dict[str, Any], sign: int, rng: np.random.Generator) -> dict[str, Any]:
    kept: dict[str, Any] = {key: [] for key in by_hand() if key not in ("optical", "busiest")}
    for distance in point["distances"]:
        for _ in range(point["pairs"]):
            allocation = rng.exponential(1)
            for mode in point["modes"]:
                count = point["iterations"] - 1
                times, network, latency, stalls, estimates = _one(point, sign, distance, mode, allocation, count, rng)
                for key, value in zip(
                    ("times_ps", "network_ps", "latency_ps", "stalls", "estimates_ps", "unlimited_ps"),
                    (times, network, latency, stalls, estimates, estimates),
                    strict=True,
                ):
                    kept[key].append((np.full(count, 1.0) * value).tolist())
                kept["minimal"].append(0.5)
    return {**kept, "optical": 0.3, "busiest": 0.4}


def _one(
    point: dict[str, Any], sign: int, distance: str, mode: str, allocation: float, count: int, rng: np.random.Generator
) -> tuple[Any, ...]:
    wave = rng.uniform(0.9, 1.1, count)
    if point["experiment"] == "model":
        time = 1e6 * (1 + allocation)
        return time, time, 1e6, 0.0, 2e6 + sign * time
    if point["experiment"] == "distances":
        far = list(pingpong.DISTANCES).index(distance)
        if sign < 0:
            return 1e6 * (5 - far) * (wave / (1 + far)), 1.0, 1.0, 0.0, 1.0
        times = 1e6 * (1 + far / 50 + 0.001 * (1 + far) ** 2 * (wave - 1))
        if distance == "inter-chassis":
            times[0] += 1e6 * count
        if distance == "inter-groups":
            times[0] *= 2_000
        return times, 1.0, 1.0, 0.0, 1.0
    if point["experiment"] == "dispersion":
        small = 1 / (1 + list(dispersion.SIZES).index(point["message"]))
        dispersed = 1 + (2 if sign > 0 else 0.02) * small * (wave - 1)
        quiet = (0.5 if point["delay"] else 0.1) if sign > 0 else 0.1 / (0.01 + point["delay"])
        return 1e6 * dispersed, 1e6, 1e6 * (1 + small * quiet * (wave - 1)), 0.0, 1.0
    better = sign if distance == pingpong.INTRA else -sign
    high = mode == pingpong.HIGH_BIAS
    latency = 1 if distance == pingpong.INTRA else 1 - 0.3 * sign * high
    calm = 1 + (0.1 if high and sign > 0 else 0.5) * (wave - 1)
    stalls = 0.5 + 0.4 * better * high * (distance == pingpong.INTRA)
    if sign < 0:
        latency, stalls = (1 + high, 0.5 + high) if distance != pingpong.INTRA else (1 + high, 0.5 - 0.4 * high)
    return 1e6 * (1 + 0.3 * better * high), 1e6, 1e6 * latency * calm, stalls, 1e6 * (1 + 0.3 * better * high)


@pytest.mark.parametrize("name", PAGES)
def test_rows_that_match_and_rows_that_do_not(name: str) -> None:
    study = find(f"desensi2019-{name}")
    good, bad = (study.rows(made(name, sign, np.random.default_rng(1))) for sign in (1, -1))
    assert [row.what for row in good] == [row.what for row in bad]
    assert failing(good) == []
    compared = [row for row in bad if row.verdict != "not comparable"]
    assert compared or name == "fig5", "only figure 5 rests on assumed noise and on what the paper does not measure"
    assert {row.verdict for row in compared} == ({"no match"} if compared else set())


def failing(rows: Sequence[Row]) -> list[str]:
    return [row.what for row in rows if row.verdict == "no match"]


@pytest.mark.parametrize("name", PAGES)
def test_pages_and_pictures(name: str, tmp_path: Path) -> None:
    study = find(f"desensi2019-{name}")
    runs = made(name, -1, np.random.default_rng(1))
    rows = study.rows(runs)
    page = study.page(rows, runs)
    assert page == study.page(rows, runs)
    assert "$" not in page
    assert max(map(len, (line for line in page.splitlines() if not line.startswith("|")))) <= 120
    shown = [row for row in rows if row.verdict != "not comparable" and not row.what.startswith("`bursts`")]
    assert shown or name == "fig5"
    assert all(row.what in page for row in shown)
    save(study.picture(rows, runs), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_intervals_of_medians() -> None:
    """Ranks as in the usual tables of the sign test: n = 6, 10, 20, 30."""
    for count, rank in ((1, 1), (5, 1), (6, 1), (9, 2), (10, 2), (20, 6), (30, 10)):
        values = list(range(1, count + 1))
        assert median_of(values[::-1]) == Median((count + 1) / 2, rank, count + 1 - rank, count)
    with pytest.raises(ValueError, match="no values"):
        median_of([])


def test_a_relation_holds_only_for_the_whole_interval() -> None:
    def verdict(tolerance: str, value: float, low: float, high: float) -> tuple[str, str]:
        made = as_row(Relation("D8", "", "adaptive-0", tolerance, Median(value, low, high, 9), ""), 1)
        assert (made.interval, made.repetitions) == ((low, high), 9)
        return made.verdict, made.note

    assert verdict(SMALLER, 0.9, 0.8, 0.99) == ("direction", "")
    assert verdict(SMALLER, 0.9, 0.8, 1.01) == ("no match", "the interval holds 1")
    assert verdict(SMALLER, 1.05, 0.8, 1.2) == ("no match", "the interval holds 1")
    assert verdict(GREATER, 0.9, 0.8, 0.95) == ("no match", "")
    assert verdict(GREATER, 1.2, 1.1, 1.3) == ("direction", "")
    assert verdict(SMALLER, 0.995, 0.994, 0.996) == ("no match", "")
    assert verdict(EQUAL, 1.05, 0.95, 1.09) == ("match", "")
    assert verdict(EQUAL, 1.09, 0.5, 3) == ("no match", "")
    assert verdict(EQUAL, 1.11, 1.05, 1.2) == ("no match", "")


@pytest.mark.parametrize(("count", "verdict"), [(5, "not comparable"), (6, "direction")])
def test_few_values_are_no_ground_for_a_verdict(count, verdict):
    made = as_row(Relation("D8", "", "adaptive-0", SMALLER, Median(0.5, 0.4, 0.6, count), ""), 1)
    assert made.verdict == verdict
    assert bool(made.why) == (count < 6)
