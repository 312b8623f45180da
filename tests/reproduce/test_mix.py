"""`salimi-beni2022-mix`: mixes of other jobs, and rows on runs made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from odonata.reproduce import find
from odonata.reproduce.salimibeni2022 import mix, queue, runs


def test_a_mix_changes_applications_only() -> None:
    draw, load = runs.DRAWS[0]
    of = {name: queue.mixed(draw, load, name) for name in queue.MIXES}
    jobs = {job.name: job.app for job in queue.others(draw, load)}
    assert of["shipped"] == of["in-order"] == jobs
    assert all(set(apps) == set(jobs) for apps in of.values())
    assert "halo" not in of["no-halo"].values()
    assert all(of["no-halo"][name] == app for name, app in jobs.items() if app != "halo")
    assert list(of["half-halo"].values()).count("halo") == pytest.approx(len(jobs) / 2, rel=0.3)
    assert of["redrawn"] != jobs
    assert "order" in str(queue.phases("halo"))
    assert "order" not in str(queue.phases("halo", "in-order"))


def test_the_scenario_has_the_applications_of_the_mix() -> None:
    point = runs.point_of("broadcast", "4 B", runs.FAR, runs.DRAWS[0], 1)
    usual, shipped, ordered = (
        runs.make(point | extra).data["job"] for extra in ({}, {"mix": "shipped"}, {"mix": "in-order"})
    )
    assert usual == shipped
    assert usual[0] == ordered[0]
    assert [job["place"] for job in usual] == [job["place"] for job in ordered]
    assert usual != ordered


def test_point_to_point_is_between_two_islands() -> None:
    job = runs.make(runs.point_of(runs.POINT_TO_POINT, "4 B", runs.FAR, runs.DRAWS[0], 1)).data["job"][0]
    far = queue.allocations()[runs.FAR]
    assert job["place"]["nodes"] == [far[0], far[-1]]


def made(sign: dict[str, int]) -> list[dict[str, object]]:
    """Runs of all points; in a mix, means grow with b (1) or fall (-1)."""
    return [
        {**point, "times_ps": np.full(3, 1e7 * (1 + sign.get(point["mix"], 1) * point["load"] / 10))}
        for point in mix.points(False)
    ]


def test_an_ordering_holds_if_it_holds_in_every_mix() -> None:
    what = "ρ of b with the mean, broadcast, 4 B"
    (row,) = [row for row in find("salimi-beni2022-mix").rows(made({})) if row.what == what]
    assert (row.id, row.verdict, row.repetitions) == ("V11", "direction", len(queue.MIXES))
    (row,) = [row for row in find("salimi-beni2022-mix").rows(made({"no-halo": -1})) if row.what == what]
    assert row.verdict == "no match"
    assert row.interval is not None
    assert row.interval[0] < 0 < row.ours


def test_point_to_point_and_low_b_are_compared_with_one() -> None:
    rows = {row.what: row for row in find("salimi-beni2022-mix").rows(made({}))}
    assert rows["point-to-point, 4 B: mean over the least of all queues"].verdict == "match"
    assert rows["broadcast, 1 MiB, low b: mean of different-islands over same-island"].ours == pytest.approx(1.0)
