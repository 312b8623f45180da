"""Reports in a real Chromium, from the disk; their numbers are those of the tables."""

from __future__ import annotations

import csv
import io
import itertools
import re

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import expect
from tests.report.conftest import HOSTILE, RIGHT_TO_LEFT, TRAFFIC, renamed, rows_of
from tests.report.large import large_run

from odonata.report import report_of_runs
from odonata.report.series import series_of


def go_to(page, spot):
    page.get_by_label("Go to", exact=True).first.fill(spot)
    page.get_by_role("button", name="Go", exact=True).click()


def fact(page, label):
    return page.locator(f'.details dd[data-fact="{label}"]').first.get_attribute("data-value")


def saved(page, button):
    with page.expect_download() as download:
        button.click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:  # noqa: PTH123
        return list(csv.DictReader(io.StringIO(file.read())))


def test_a_run_is_shown_with_the_numbers_of_its_tables(opened, plus):
    page = opened(plus)
    assert plus.summary["jobs"][0]["name"] in page.locator(".verdict .first").inner_text()
    jobs = {row[0]: row for row in rows_of(page, "Jobs")}
    target = plus.jobs.row(0, named=True)
    assert float(jobs["target"][1]) == target["slowdown"]
    assert str(target["latency_p99_ps"]) in jobs["target"]
    hottest = rows_of(page, "The busiest links between routers")[0]
    links = plus.links.filter(from_kind="router", to_kind="router")
    assert float(hottest[4]) == pytest.approx(links["busy"].max())
    series = series_of(plus, plus.links, [])
    row = plus.links.with_row_index("row").sort("busy", "link", descending=[True, False])
    row = row.filter(from_kind="router", to_kind="router")["row"][0]
    parts = [series["cells"][f"job_{job}"].to_numpy().reshape(-1, series["slices"])[row].sum() for job in (0, 1)]
    by_share = sorted(zip(parts, ("target", "noise"), strict=True), reverse=True)
    assert hottest[-1] == ", ".join(f"{name} {100 * part / sum(parts):.0f} %" for part, name in by_share if part)
    classes = {row[0]: int(row[3]) for row in rows_of(page, "Traffic by class of link")}
    assert classes == dict(plus.links.group_by("class").agg(pl.col("bytes").sum()).iter_rows())


def test_groups_routers_and_nodes_tell_what_their_links_carried(opened, plus):
    page, links = opened(plus), plus.links
    go_to(page, "node 3")
    assert fact(page, "sent") == str(links.filter(from_kind="node", from_id=3)["bytes"].sum())
    assert fact(page, "received") == str(links.filter(to_kind="node", to_id=3)["bytes"].sum())
    go_to(page, "router 1")
    own = links.filter(from_kind="router", from_id=1)
    assert fact(page, "bytes to routers") == str(own.filter(to_kind="router")["bytes"].sum())
    assert [int(row[5]) for row in rows_of(page, "Ports of router 1")] == own["bytes"].to_list()
    go_to(page, "group 1")
    sent = links.filter((pl.col("from_group") == 1) & (pl.col("to_group") != 1))
    assert fact(page, "bytes sent to groups") == str(sent["bytes"].sum())
    traffic = plus.counters.filter(group=1, job=0)
    row = next(row for row in rows_of(page, "Jobs, and their traffic over global links") if row[0] == "target")
    assert [int(value) for value in row[2:]] == [traffic["bytes_in"].sum(), traffic["bytes_out"].sum()]


def test_pointing_and_keys_choose_in_the_machine(opened, plus):
    page = opened(plus)
    machine = page.locator("canvas.machine")
    machine.scroll_into_view_if_needed()
    box = machine.bounding_box()
    seen = set()
    for x, y in itertools.product(np.linspace(0.05, 0.95, 12), (0.42, 0.56, 0.66)):
        page.mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y)
        told = re.match(r"(group|router|node) \d+", page.locator(".tip").text_content())
        if told:
            seen.add(told[0])
    assert {name.split()[0] for name in seen} >= {"router", "node"}
    machine.focus()
    for key, title in (
        ("ArrowDown", "group 0"),
        ("ArrowRight", "group 1"),
        ("ArrowDown", "router"),
        ("ArrowDown", "node"),
        ("ArrowUp", "router"),
        ("ArrowUp", "group 1"),
    ):
        page.keyboard.press(key)
        assert page.locator(".details h3").first.inner_text().startswith(title)
    page.keyboard.press("Escape")
    assert "Choose a group" in page.locator(".details").inner_text()
    machine.click(position={"x": box["width"] * 0.2, "y": box["height"] * 0.45})
    assert page.locator(".details dl").count() == 1


def test_the_matrix_tells_of_each_pair_of_groups(opened, plus):
    page = opened(plus)
    page.locator("canvas.heat").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    scale = page.locator("figure .scale").first
    assert scale.inner_text().split()[:2] == ["0.0", "%"]
    # Of the whole run the darkest colour is its greatest load, also with a series of shorter times.
    between = plus.links.filter(pl.col("from_kind") == "router", pl.col("to_kind") == "router").filter(
        pl.col("from_group") != pl.col("to_group")
    )
    greatest = between.group_by("from_group", "to_group").agg(pl.col("busy").mean())["busy"].max()
    assert scale.inner_text().split()[-2] == (f"{100 * greatest:.1f}" if greatest < 0.5 else "100.0")
    page.get_by_label("Shade by").first.select_option("stalled_ps")
    assert scale.inner_text().startswith("0")
    assert not scale.inner_text().endswith("%")
    told = page.locator("figure .told").first.inner_text()
    pair = plus.links.filter(from_group=0, to_group=1)
    assert told.startswith(f"Group 0 to group 1: {pair.height} links, busy {100 * pair['busy'].mean():.1f} %")


def test_a_window_of_time_changes_what_is_counted(opened, plus):
    """Drag across the chart: only the messages issued in the window count, and it is read from the page."""
    page = opened(plus)
    chart = page.locator("#section-time .u-over").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    whole = int(rows_of(page, "In the whole run")[0][2])
    assert whole == plus.messages.filter(pl.col("latency_ps").is_not_null()).filter(job=0).height
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=5)
    page.mouse.up()
    assert page.locator("#window").inner_text().startswith("From ")
    name, *numbers = rows_of(page, "In the chosen window")[0]
    assert name == "target"
    assert 0 < int(numbers[1]) < whole
    # The window again, as the sliders have it.
    end = plus.manifest["sim_time_ps"]
    begin, finish = (
        float(page.get_by_label(f"{side} of the window").input_value()) / 100 * end for side in ("Begin", "End")
    )
    traffic = plus.counters.filter(pl.col("start_ps").is_between(begin, finish, closed="left"), job=0)
    assert int(numbers[0]) == traffic["bytes_in"].sum()
    page.get_by_role("button", name="Whole run").click()
    assert int(rows_of(page, "In the whole run")[0][2]) == whole


def test_the_window_can_be_played_and_the_machine_coloured(opened, plus):
    page = opened(plus)
    for by in ("busy", "busiest", "queue", "stalled", "traffic", "job"):
        page.get_by_label("Colour by").select_option(by)
    page.get_by_label("Links between groups").select_option("busiest")
    page.get_by_role("button", name="target", exact=True).click()
    page.get_by_role("button", name="Play").click()
    # Jobs do not move: the load is shown.
    expect(page.get_by_label("Colour by")).to_have_value("busy")
    expect(page.locator(".legend").first).to_contain_text("busy 100.0 %")
    window = page.locator("#window")
    expect(window).to_have_text(re.compile("^From "))
    expect(window).not_to_have_text(window.inner_text())
    page.get_by_role("button", name="Stop").click()


def test_links_have_their_load_of_the_chosen_window_by_job(opened, plus):
    page = opened(plus)
    page.get_by_label("Colour by").select_option("busiest")
    go_to(page, "router 1")
    links = plus.links.filter(from_kind="router", from_id=1, to_kind="router")["link"].to_list()
    series = series_of(plus, plus.links, [])
    width, slices, end = series["width_ps"], series["slices"], plus.manifest["sim_time_ps"]
    shown = {name: of.to_numpy().reshape(-1, slices) for name, of in series["cells"].to_dict().items()}
    for begin, finish in ((0, 100), (25, 50)):
        page.get_by_label("Begin of the window").fill(str(begin))
        page.get_by_label("End of the window").fill(str(finish))
        rows = rows_of(page, "Load of its links in the chosen window")
        # The slices that the window touches.
        inside = slice(begin * end // 100 // width, min(-(-finish * end // 100 // width), slices))
        for row, link in zip(rows, links, strict=True):
            for number, name in zip(row[1:], ("busy", "job_0", "job_1", "queue"), strict=True):
                unit = series["per_packet" if name == "queue" else "full"]
                assert float(number) == pytest.approx(shown[name][link, inside].mean() / unit)
        assert all(float(row[2]) > 0 for row in rows)
        expect(page.locator(".legend").first).to_contain_text("in the chosen window")


def test_pairs_of_groups_and_paths_follow_the_chosen_window(opened, made):
    run = made(TRAFFIC.format(system="tiny").replace("20\n", "6\n").replace("[run]", '[routing]\nname = "fpar"\n[run]'))
    page = opened(run)
    series = series_of(run, run.links, [])
    width, slices, end = series["width_ps"], series["slices"], run.manifest["sim_time_ps"]
    busy = series["cells"]["busy"].to_numpy().reshape(-1, slices) / series["full"]
    told = page.locator("figure .told").first
    pairs = run.links.with_row_index("row").filter(from_group=0, to_group=1)["row"].to_list()
    rows = run.routes.filter(job=0)
    for begin, finish in ((0, 100), (25, 50), (60, 80)):
        page.get_by_label("Begin of the window").fill(str(begin))
        page.get_by_label("End of the window").fill(str(finish))
        page.locator("canvas.heat").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowRight")
        loads = busy[pairs, begin * end // 100 // width : min(-(-finish * end // 100 // width), slices)].mean(axis=1)
        shown = f"busy {100 * loads.mean():.1f} % on average and {100 * loads.max():.1f} % at most"
        assert f"in the chosen window {shown}" in told.inner_text()
        start = pl.col("start_ps")
        inside = rows.filter(start + width > begin * end // 100, start < finish * end // 100).sum()
        share = 100 * inside["minimal"][0] / inside["packets"][0]
        bar = page.locator(".shares [role=img]").first.get_attribute("aria-label")
        assert bar == f"target: {share:.1f} % minimal, {100 - share:.1f} % not"
        page.keyboard.press("ArrowLeft")
    page.get_by_label("Shade by").select_option("queue")
    expect(page.locator("figure .of-window").first).to_have_text(" in the chosen window")
    page.get_by_label("Shade by").select_option("bytes")
    expect(page.locator("figure .of-window").first).to_have_text(" in the whole run")
    page.get_by_role("button", name="Whole run").click()
    whole = 100 * rows["minimal"].sum() / rows["packets"].sum()
    assert f"target: {whole:.1f} % minimal" in page.locator(".shares [role=img]").first.get_attribute("aria-label")
    saved_rows = saved(page, page.get_by_label("Download routes", exact=False))
    assert sum(int(row["packets"]) for row in saved_rows) == run.routes["packets"].sum()


def test_pointing_tells_the_load_in_the_chosen_window(opened, plus):
    page = opened(plus)
    series = series_of(plus, plus.links, [])
    width, slices, end = series["width_ps"], series["slices"], plus.manifest["sim_time_ps"]
    busy = series["cells"]["busy"].to_numpy().reshape(-1, slices) / series["full"]
    page.get_by_label("End of the window").fill("50")
    machine = page.locator("canvas.machine")
    box = machine.bounding_box()
    links = plus.links.with_row_index("row").filter(from_kind="router", to_kind="router")
    told = set()
    for x, y in itertools.product(np.linspace(0.05, 0.95, 10), (0.42, 0.56)):
        machine.hover(position={"x": box["width"] * x, "y": box["height"] * y})
        text = page.locator(".tip").text_content()
        router = re.match(r"router (\d+) .*: links to routers (.*)", text)
        if router is None:
            continue
        rows = links.filter(from_id=int(router[1]))["row"].to_list()
        loads = busy[rows, : -(-end // 2 // width)].mean(axis=1)
        expected = f"busy {100 * loads.mean():.1f} % on average, {100 * loads.max():.1f} % at most in the chosen window"
        assert router[2] == expected
        told.add(router[1])
    assert len(told) > 1


def test_arcs_are_drawn_for_the_busiest_pairs_of_the_window(opened, plus):
    """The drawing differs with arcs, and again with those of another window."""
    page = opened(plus)
    machine = page.locator("canvas.machine")
    pictures = []
    for arcs, window in (("none", (0, 100)), ("busiest", (0, 100)), ("busiest", (40, 60))):
        page.get_by_label("Links between groups").select_option(arcs)
        page.get_by_label("Begin of the window").fill(str(window[0]))
        page.get_by_label("End of the window").fill(str(window[1]))
        page.wait_for_timeout(100)
        pictures.append(machine.evaluate("canvas => canvas.toDataURL()"))
    assert len(set(pictures)) == 3


def test_tables_are_sorted_and_saved(opened, plus):
    page = opened(plus)
    region = page.get_by_role("region", name="Jobs").first
    region.get_by_role("button", name="nodes").click()
    assert region.locator("th[aria-sort=ascending]").inner_text().startswith("nodes")
    assert [int(row[2]) for row in rows_of(page, "Jobs")] == sorted(plus.jobs["nodes"])
    rows = saved(page, page.get_by_label("Download jobs as CSV"))
    assert [float(row["latency_mean_ps"]) for row in rows] == plus.jobs["latency_mean_ps"].to_list()
    distances = saved(page, page.get_by_label("Download distances", exact=False))
    assert sum(int(row["count"]) for row in distances) == plus.messages["latency_ps"].count()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save scenario.toml").click()
    assert download.value.suggested_filename == "scenario.toml"
    with open(download.value.path(), encoding="utf-8") as file:  # noqa: PTH123
        assert file.read() == plus.scenario


def test_medians_of_boxes_are_those_of_the_jobs(opened, plus):
    page = opened(plus)
    boxes = page.get_by_role("img", name="Latency of messages, by job").locator("g.box")
    medians = [int(value) for value in boxes.evaluate_all("boxes => boxes.map(box => box.dataset.median)")]
    target, noise = plus.jobs.rows(named=True)
    assert medians == [target["latency_p50_ps"], target["alone_p50_ps"], noise["latency_p50_ps"]]


def test_two_runs_are_compared(opened, plus, made):
    text = TRAFFIC.format(system="tiny").replace("20\n", "6\n").replace('"1 us"', '"700 ns"')
    other = made(text, alone=True)
    page = opened(plus, other)
    rows = rows_of(page, "Jobs")
    assert [row[:2] for row in rows] == [["A", "target"], ["B", "target"], ["A", "noise"], ["B", "noise"]]
    means = [run.jobs["latency_mean_ps"][0] for run in (plus, other)]
    cell = page.locator(f'td[data-value="{means[1]}"]').first
    change = means[1] / means[0] - 1
    assert f"({'+' if change > 0 else '−'}{100 * abs(change):.1f} %)" in cell.inner_text()
    assert cell.get_attribute("class") == ("worse" if change > 0 else "better")
    assert page.locator("canvas.machine").count() == 2


def test_names_that_look_like_markup_are_text(opened, program):
    page = opened(renamed(program, HOSTILE, HOSTILE, RIGHT_TO_LEFT))
    assert page.locator("script").count() == 2
    assert page.locator("h1").inner_text() == HOSTILE
    assert [row[0] for row in rows_of(page, "Jobs")] == [HOSTILE, "\\u202eאבג\\u202c=1+1"]
    go_to(page, f"node {program.resolved['spec']['jobs'][0]['nodes'][0]}")
    assert page.locator('dd[data-fact="job"]').inner_text() == HOSTILE
    rows = saved(page, page.get_by_label("Download jobs as CSV"))
    assert [row["job"] for row in rows] == [HOSTILE, RIGHT_TO_LEFT]


def test_programs_have_iterations(opened, program):
    page = opened(program)
    assert page.get_by_text("Time of each iteration").is_visible()
    rows = saved(page, page.get_by_label("Download iterations", exact=False))
    assert [int(float(row["time_ps"])) for row in rows] == program.iterations["time_ps"].drop_nulls().to_list()
    by_class = rows_of(page, "Bytes of each job by class of link")
    assert [[int(value) for value in row[1:]] for row in by_class] == program.jobs["class_bytes"].to_list()


ONE_NODE = """\
system = "tiny"

[[job]]
name = "one"
nodes = 1
ranks_per_node = 2
app = { collective = "barrier" }
"""
ENDED = TRAFFIC.format(system="tiny").replace("20\n", "6\n")
NOT_FINISHED = """\
system = "tiny"

[[job]]
name = "stuck"
nodes = 8
app = { collective = "alltoall", message = "1 MB", iterations = 4 }

[run]
horizon = "20 us"
"""


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        (ONE_NODE, "No packet waited for room in a buffer."),
        (ENDED.replace("seed = 1", 'seed = 1\nhorizon = "100 ns"'), "The run ended before its jobs did."),
        (ENDED.replace("seed = 1", 'seed = 1\nhorizon = "4 us"'), "The run ended before its jobs did."),
        (NOT_FINISHED, "The run ended before its jobs did."),
    ],
    ids=["one node", "no messages", "cut off", "a program that does not finish"],
)
def test_runs_in_which_little_happens_are_shown(opened, made, scenario, told):
    page = opened(made(scenario))
    assert told in page.locator(".verdict .first").inner_text()
    go_to(page, "node 0")
    assert page.locator(".details h3").first.inner_text() == "node 0"


def test_who_makes_whom_wait_is_that_of_the_table(opened, made, plus):
    blamed = made(ENDED.replace("[measure]", "[measure]\nblame = true"))
    page = opened(blamed)
    names = blamed.jobs["name"].to_list()
    waits = blamed.blame.filter(pl.col("wait") != "service")
    sums = waits.group_by("victim", "cause").agg(pl.col("time_ps").sum())
    expected = {(names[victim], names[cause]): ps for victim, cause, ps in sums.iter_rows()}
    shown = {(row[0], row[1]): row for row in rows_of(page, "Waiting by victim and cause")}
    assert {pair: int(row[3]) for pair, row in shown.items()} == expected
    classes = [sum(float(value) for value in row[4:]) for row in shown.values()]
    assert classes == [int(row[3]) for row in shown.values()]
    assert "waiting is for" in page.get_by_role("listitem").filter(has_text="noise").first.inner_text()
    assert "has not recorded who makes whom wait" in opened(plus).locator("main").inner_text()


def test_the_page_fits_a_small_screen_and_follows_day_and_night(opened, plus):
    page = opened(plus, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark or light").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.emulate_media(media="print")
    assert not page.get_by_role("button", name="Print").is_visible()
    # Paper is light, whatever the screen is.
    during = "getComputedStyle(document.body).backgroundColor"
    page.evaluate(f"addEventListener('beforeprint', () => {{ globalThis.printed = {during} }})")
    page.pdf()
    assert page.evaluate("globalThis.printed") == "rgb(255, 255, 255)"
    assert page.evaluate(during) == "rgb(18, 22, 29)"


def test_every_control_and_figure_has_a_name(opened, plus):
    page = opened(plus)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, canvas[tabindex], [role=img], section, figure")]
        .filter(element => !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length
            || element.getAttribute("aria-labelledby")))
        .map(element => element.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    headings = page.locator("h1, h2").all_inner_texts()
    expected = ["Jobs", "Machine", "Time", "Latency", "Who makes whom wait", "Routes", "Busiest links"]
    assert headings[1:] == [*expected, "What was assumed"]


def test_a_large_machine_is_usable(opened):
    """100,000 nodes: small enough a file, drawn in groups at first, and every node can be found."""
    run = large_run()
    page_bytes = report_of_runs([run])
    assert len(page_bytes) < 8_000_000
    page = opened(page=page_bytes)
    assert "100,000 nodes" in page.locator("figcaption").first.inner_text()
    go_to(page, "node 99999")
    assert page.locator(".details h3").first.inner_text() == "node 99999"
