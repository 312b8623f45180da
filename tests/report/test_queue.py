"""The report of a queue of many jobs: who suffers most, few colours, and the rest folded."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.report.conftest import rows_of
from tests.report.queue import SIZES, VICTIM, queue_run, queue_scenario

from odonata.blame import causes_of
from odonata.errors import InputError
from odonata.report.ranking import FRONT
from odonata.report.run import run_document
from odonata.scenario.words import application

if TYPE_CHECKING:
    from pathlib import Path

    import odonata as od


@pytest.fixture(scope="session")
def queue(tmp_path_factory: pytest.TempPathFactory) -> od.Run:
    return queue_run(tmp_path_factory.mktemp("queue"))


@pytest.fixture(scope="session")
def document(queue: od.Run) -> dict:
    return run_document(queue)


def test_the_ranking_has_the_numbers_of_the_table_of_blame(queue: od.Run, document: dict) -> None:
    ranking = document["ranking"]
    assert sorted(row["job"] for row in ranking) == list(range(len(SIZES)))
    names = queue.jobs["name"].to_list()
    assert names[ranking[0]["job"]] == f"job-{VICTIM}"
    assert ranking[0]["slowdown"] == queue.jobs["slowdown"][ranking[0]["job"]] > 1
    assert all(row["slowdown"] is None for row in ranking[1:])
    for row in ranking:
        own = queue.blame.filter(victim=row["job"])
        waiting = own.filter(pl.col("wait") != "service")
        for_others = waiting.filter(pl.col("cause") != row["job"])
        whole = own["time_ps"].sum()
        assert row["for_others"] == pytest.approx(for_others["time_ps"].sum() / whole if whole else 0)
        for name, share in row["by"]:
            of = waiting.filter(cause=names.index(name))["time_ps"].sum() / waiting["time_ps"].sum()
            assert share == pytest.approx(of)
    assert all(one["for_others"] >= other["for_others"] for one, other in pairwise(ranking[1:]))
    assert ranking[1]["for_others"] > 0.01


def test_without_blame_jobs_are_ranked_by_slowdown_and_nodes(queue: od.Run) -> None:
    from odonata.report.ranking import ranking_of

    ranking = ranking_of(queue, [])
    assert all(row["for_others"] is None and row["by"] == [] for row in ranking)
    nodes = [queue.jobs["nodes"][row["job"]] for row in ranking[1:]]
    assert nodes == sorted(nodes, reverse=True)
    assert ranking == ranking_of(queue, []) != ranking_of(queue, causes_of(queue, queue.blame))


def test_the_title_is_the_cluster_and_the_time_and_the_jobs_have_users(document: dict) -> None:
    assert document["title"] == "queue of polaris, 2026-11-20 14:31"
    assert document["subjects"] == [
        "`job-4001`: halo3d-1, user bob, partition gpu; halo3d of 16 KiB on 24 nodes; "
        "55 other jobs on polaris (changed)"
    ]


def test_titles_change_no_run(tmp_path: Path) -> None:
    scenario = queue_scenario(tmp_path)
    changed = scenario.set("title", "another").set(f"job.job-{VICTIM}.about", "somebody's")
    assert changed.resolve().id == scenario.resolve().id
    assert changed.resolve().document["scenario"]["title"] == "another"


@pytest.mark.parametrize("key", ["title", f"job.job-{VICTIM}.about"])
@pytest.mark.parametrize("text", ["x" * 201, "two\nlines", "\x1b[31m", 7])
def test_a_title_is_one_line(tmp_path: Path, key: str, text: str) -> None:
    with pytest.raises(InputError) as wrong:
        queue_scenario(tmp_path).set(key, text).checked()
    assert key.rpartition(".")[2] in str(wrong.value)


@pytest.mark.parametrize(
    ("app", "told"),
    [
        ({"collective": "alltoall", "message": "16 KiB"}, "alltoall of 16 KiB"),
        ({"phases": [{"motif": "halo3d", "message": "1 MB"}, {"collective": "barrier"}]}, "halo3d of 1 MB, barrier"),
        ({"train": {"model": "gpt"}}, "train"),
        ({}, ""),
    ],
)
def test_applications_in_a_few_words(app: dict, told: str) -> None:
    assert application(app) == told


def test_routers_with_the_nics_of_the_same_nodes_are_a_chassis(queue: od.Run, document: dict) -> None:
    """Nodes of Polaris have their NICs on two routers; the chassis of both is the first one."""
    routers = document["machine"]["routers"]
    sends = queue.links.filter(from_kind="node", to_kind="router")
    nodes = dict(sends.group_by("to_id").agg(pl.col("from_id").unique().sort()).iter_rows())
    chassis = dict(routers.select("id", "chassis").iter_rows())
    assert {len([1 for of in chassis.values() if of == home]) for home in set(chassis.values())} == {2}
    assert all(nodes[router] == nodes[home] for router, home in chassis.items())


def test_the_page_shows_ten_jobs_and_folds_the_rest(opened, queue: od.Run, document: dict) -> None:
    page = opened(queue)
    assert page.locator("h1").inner_text() == "queue of polaris, 2026-11-20 14:31"
    assert page.title().startswith("queue of polaris")
    assert "user bob" in page.locator(".subject").inner_text()
    rows = rows_of(page, "Who suffers most")
    names = queue.jobs["name"].to_list()
    assert [row[0] for row in rows] == [names[row["job"]] for row in document["ranking"][:FRONT]]
    assert float(rows[0][1]) == queue.jobs["slowdown"][names.index(f"job-{VICTIM}")]
    assert document["ranking"][0]["by"][0][0] in rows[0][3]
    assert "-" not in {cell for row in rows for cell in row}
    legend = page.locator(".legend").first
    assert legend.get_by_role("button").all_inner_texts() == [row[0] for row in rows]
    assert "46 other jobs" in legend.inner_text()
    swatches = legend.locator(".swatch").evaluate_all("all => all.map(one => one.style.background)")
    assert len(set(swatches)) == FRONT + 2
    assert not page.locator('.scroll[aria-label="Jobs"]').evaluate("of => of.checkVisibility()")
    assert page.locator("details[open]").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < 4500
    page.get_by_text("All 56 jobs", exact=True).click()
    assert len(rows_of(page, "All jobs, those first that suffer most")) == len(rows_of(page, "Jobs")) == len(SIZES)
    # What is folded is drawn when it is opened.
    page.get_by_text("Latencies by job and by distance").click()
    page.wait_for_timeout(200)
    boxes = page.get_by_role("img", name="Time of an iteration, by job")
    assert 0 < boxes.locator("g.box").count() <= FRONT
    page.get_by_text("Paths of packets, and traffic by class of link").click()
    assert page.locator(".shares").first.locator(".share-row").count() == FRONT


def test_before_anything_is_chosen_the_finding_stands_beside_the_matrix(opened, queue: od.Run) -> None:
    page = opened(queue)
    finding = page.locator(".details").inner_text()
    assert f"job-{VICTIM}" in finding
    hot = queue.links.filter(from_kind="router", to_kind="router").sort("busy", "link", descending=[True, False])
    assert f"router {hot['from_id'][0]} to router {hot['to_id'][0]}" in finding
    # More than all the time would look like an error.
    assert hot["busy"][0] > 1
    assert all(float(share) <= 100 for share in re.findall(r"([0-9.]+) %", finding))
    page.locator("canvas.machine").focus()
    page.keyboard.press("ArrowDown")
    assert "What stands out" not in page.locator(".details").inner_text()


def test_the_page_of_a_queue_fits_a_small_screen(opened, queue: od.Run) -> None:
    page = opened(queue, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.documentElement.scrollHeight") < 7000


def test_rails_of_a_chassis_can_be_chosen_each(opened, queue: od.Run, document: dict) -> None:
    """Both routers of the first chassis are within its block, one strip below the other."""
    page = opened(queue)
    page.locator("canvas.machine").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    titles = []
    for _ in range(3):
        titles.append(page.locator(".details h3").first.inner_text())
        page.keyboard.press("ArrowRight")
    assert titles == ["router 0", "router 1", "router 2"]
    assert document["machine"]["routers"]["chassis"].to_list()[:4] == [0, 0, 2, 2]
