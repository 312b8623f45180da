"""The experiment of Salimi Beni 2022 in the simulator: queues, points, what is kept, and rows on runs made by hand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from odonata import cluster, machine
from odonata.analysis.peaks import Peaks
from odonata.reproduce import find
from odonata.reproduce.salimibeni2022 import marconi100, queue, relations, runs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from odonata.reproduce.reproduction import Runs

NAME = "salimi-beni2022"


def test_queues_leave_the_measured_nodes_free() -> None:
    reserved = {node for nodes in queue.allocations().values() for node in nodes}
    assert len(reserved) == 3 * queue.NODES
    for draw, load in (runs.DRAWS[0], runs.DRAWS[9]):
        held = Counter(node for job in queue.others(draw, load) for node in job.nodes)
        assert set(held.values()) == {1}
        assert not reserved & set(held)
    draw, load = runs.DRAWS[0]
    assert queue.others(draw, load) != queue.others(draw + 1, load)
    assert queue.others(draw, load) == queue.others.__wrapped__(draw, load)


def test_allocations_are_those_of_the_paper() -> None:
    shape = machine.load(queue.SYSTEM).shape
    spread = {
        name: (len(set(map(shape.router_of, nodes))), Counter(map(shape.group_of, nodes)))
        for name, nodes in queue.allocations().items()
    }
    assert spread["same-group"][0] == 1
    assert len(spread["same-island"][1]) == 1
    assert spread["same-island"][0] > 1
    assert set(spread["different-islands"][1].values()) == {4}
    assert len(spread["different-islands"][1]) == 4


def test_b_is_that_of_the_command(tmp_path: Path) -> None:
    """The queue written as Slurm would list it, and read again."""
    draw, load = runs.DRAWS[9]
    lines = ["JOBID|STATE|NODELIST"]
    for number, job in enumerate(queue.others(draw, load)):
        lines.append(f"{number}|R|{cluster.fold(f'n{node:04}' for node in job.nodes)}")
    (tmp_path / "q.txt").write_text("\n".join(lines))
    background = cluster.background(tmp_path / "q.txt", nodes_total=980)
    assert background.utilisation == pytest.approx(runs.utilisation(draw, load))
    assert background.jobs_excluded > 0  # jobs of one node
    assert background.b < background.b1


def test_points() -> None:
    full = runs.points(False)
    panels = Counter(
        (point["app"], point["size"])
        for point in full
        if point["locality"] == runs.FAR and (point["draw"], point["load"]) in runs.DRAWS
    )
    assert panels == {(app, size): len(runs.DRAWS) for app in runs.COLLECTIVES for size in runs.SIZES}
    assert all(point in full for point in runs.points(True))
    assert {point["routing"] for point in full} == {runs.ROUTING, runs.MINIMAL}
    # b of the paper's figures 5 and 6.
    for name, wanted in (("low", 0.19), ("high", 0.74), ("hacc-low", 0.34), ("amr-high", 0.64)):
        assert runs.utilisation(*runs.QUEUES[name]) == pytest.approx(wanted, abs=0.05)


def test_scenarios_have_the_measured_job_first() -> None:
    for point in (runs.points(False)[0], *runs.points(True)[:1]):
        table = runs.make(point).table
        first, *others = table.job
        assert first.name == "measured"
        assert first.background is False
        assert all(job.background for job in others)
        held = [job for job in queue.others(point["draw"], point["load"]) if len(job.nodes) > 1]
        assert [job.name for job in others] == [job.name for job in held]


def test_what_is_kept(reduced: Callable[[str], Runs]) -> None:
    for run in reduced(NAME):
        assert len(run["times_ps"]) == run["iterations"]
        assert min(run["times_ps"]) > 1e6
        jobs = [job for job in queue.others(run["draw"], run["load"]) if len(job.nodes) > 1]
        assert run["communicating"] == pytest.approx(sum(len(job.nodes) for job in jobs) / 980)
        assert 0 < run["injected"] < 1
        assert 0 < run["minimal"] <= 1


def made(sign: int) -> Runs:
    """Runs of all points. With sign 1 times grow with b and with the spread as the paper says; with -1 they fall."""
    rng = np.random.default_rng(1)
    made_up = []
    for point in runs.points(False):
        b = point["load"]
        far = list(queue.LOCALITIES).index(point["locality"])
        slow = {"broadcast": 1.0, "reduce": 4.0, "alltoall": 9.0, "hacc": 7.2, "miniamr": 8.4}[point["app"]]
        size = runs.SIZES.get(point["size"], 1)
        weight = (0.5 + np.log2(size) / 20) * (2 if point["app"] == "alltoall" else 1)
        wave = rng.exponential(1, max(point["iterations"], 40))
        noise = 0.0 if point["app"] == "reduce" else 0.4
        if point["load"] == 0:
            times = np.full(5, {"hacc": 241 / 0.33, "miniamr": 616 / 0.73}[point["app"]])
        else:
            level = 1 + sign * weight * (0.2 * b + 0.02 * noise * rng.normal())
            times = (
                100 * slow * (level + sign * 0.1 * far * b * weight * wave * (2 if point["app"] == "alltoall" else 1))
            )
        two = point["routing"] == runs.ROUTING and point["load"] == runs.QUEUES["high"][1]
        if (sign > 0 and two) or (sign > 0 and point["app"] == "miniamr" and point["load"]):
            times = times + 400 * slow * (np.arange(len(times)) % 2)
        elif point["load"]:
            times = times + rng.normal(0, 0.5, len(times))
        minimal = 1 - 0.1 * b if sign > 0 else 0.5 + 0.1 * b
        kept = {"times_ps": times * 1e6, "minimal": minimal, "injected": 0.3}
        made_up.append({**point, **kept})
    return made_up


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what takes seconds: b is the load, two peaks are a gap, and few families are fitted."""

    def peaks(times: np.ndarray) -> Peaks | None:
        gap = float(np.diff(np.sort(times)).max())
        return Peaks(2 if gap > 100e6 else 1, 0.5, (), (), 0.5)

    monkeypatch.setattr(relations, "count_peaks", peaks)
    monkeypatch.setattr(marconi100, "FAMILIES", ("norm", "lognorm"))
    for module in (relations, runs, marconi100):
        monkeypatch.setattr(module, "utilisation", lambda _, load: load)
    for module in (relations, marconi100):
        monkeypatch.setattr(module, "spread_by_slurm", lambda *_: (90.0, 10.0))


def test_rows_that_match_and_rows_that_do_not(quick: None) -> None:
    first, second = (relations.compare(made(sign)) for sign in (1, -1))
    assert [row.what for row in first] == [row.what for row in second]
    assert {row.id for row in first} == {"V6", "V7", "V11", "V12", "V13", "V14", "V15", "V16", "V18"}
    verdicts = {
        kind: [row.verdict for row in rows if row.id in ("V11", "V13")] for kind, rows in ((1, first), (-1, second))
    }
    assert verdicts[1].count("direction") >= 0.8 * len(verdicts[1]), [
        row.what for row in first if row.verdict == "no match"
    ]
    assert verdicts[-1].count("no match") >= 0.6 * len(verdicts[-1])
    # What was chosen for the simulation is not compared.
    for row in first:
        assert (row.verdict == "not comparable") == (row.id in ("V15", "V16")), row.what


def test_the_reduced_form_compares_what_it_has(reduced: Callable[[str], Runs]) -> None:
    rows = relations.compare(reduced(NAME))
    assert {row.id for row in rows} == {"V11", "V12"}


def test_the_page_and_the_picture_have_every_part(quick: None) -> None:
    simulated = made(1)
    reproduction = find(NAME)
    rows = reproduction.rows(simulated)
    page = reproduction.page(rows, simulated)
    assert page.count("| broadcast |") >= 4
    texts = reproduction.text.of_runs(rows, simulated)
    assert texts["distributions"].count("| broadcast |") >= 6
    assert {"hacc", "miniamr"} <= {line.split()[1] for line in texts["applications"].splitlines()}
    for words in ("V18", "same-island", "minimal", "hacc", "miniamr", "b = 0."):
        assert words in page
    assert reproduction.picture is not None
    titles = [axes.get_title() for axes in reproduction.picture(rows, simulated).axes]
    assert len(titles) == 12
    assert all(titles)
