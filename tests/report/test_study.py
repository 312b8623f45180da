"""The report of a study: its data are those of its tables, and the page shows, filters and compares them."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from tests.report.conftest import TRAFFIC, data_of, rows_of

import odonata as od
from odonata.plot.words import key_words
from odonata.report import report_of_study
from odonata.report import study as study_module
from odonata.report.study import study_document


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    text = TRAFFIC.format(system="tiny").replace("20\n", "6\n")
    (folder / "base.toml").write_text(text)
    axes = {
        "job.target.app.interval": ["10 us", "500 ns", "2 us"],
        "job.target.place": ["contiguous", "random"],
        "run.seed": [1, 2, 3],
    }
    return od.sweep(folder / "base.toml", axes, workers=1, out=folder / "study")


@pytest.fixture(scope="session")
def written(study):
    return report_of_study(study)


@pytest.fixture(scope="session")
def document(written):
    return data_of(written)


def test_its_numbers_are_those_of_the_tables(study, document):
    given = document
    assert given["points"]["point"] == study.runs["point"].to_list()
    assert given["points"]["axis_1"] == study.runs["job.target.place"].to_list()
    for column in ("latency_mean_ps", "messages_delivered", "hops_mean"):
        assert given["jobs"][column] == study.jobs[column].to_list()
    assert {column["name"] for column in given["columns"]} >= {"latency_p99_ps", "throughput"}
    assert (given["study"], given["scenario"]) == tuple(
        (study.path / name).read_text() for name in ("study.toml", "scenario.toml")
    )


def test_quantities_are_in_their_order_and_names_as_they_come(document):
    axes = {axis["key"]: axis["values"] for axis in document["axes"]}
    assert axes["job.target.app.interval"] == ["500 ns", "2 us", "10 us"]
    assert axes["job.target.place"] == ["contiguous", "random"]


def test_numbers_and_quantities_have_positions(document):
    axes = {axis["key"]: axis["positions"] for axis in document["axes"]}
    assert axes["job.target.app.interval"] == [5e5, 2e6, 1e7]
    assert axes["job.target.place"] is None
    assert axes["run.seed"] == [1, 2, 3]


@pytest.mark.parametrize(
    "axes",
    [
        {"job.target.place": ["contiguous", "random"], "run.seed": [1, 2], "job.target.app.messages": [2, 4]},
        {"run.seed": [1, 2], "routing": ["fpar", "minimal"], "job.target.place": ["contiguous", "random"]},
        {"run.seed": [1, 2]},
    ],
    ids=lambda axes: next(iter(axes)),
)
def test_the_picture_has_the_axes_of_the_command(tmp_path, axes):
    (tmp_path / "base.toml").write_text(TRAFFIC.format(system="tiny").replace("20\n", "2\n"))
    swept = od.sweep(tmp_path / "base.toml", axes, workers=1)
    report, drawn = study_document(swept), swept.plot().axes[0]
    legend = drawn.get_legend()
    assert drawn.get_xlabel() == key_words(report["by"])
    series = None if report["series"] is None else key_words(report["series"])
    assert (None if legend is None else legend.get_title().get_text()) == series


def test_comparisons_are_those_of_the_command(study, document):
    comparisons = document["comparisons"]
    place = next(
        comparison
        for comparison in comparisons
        if (comparison["by"], comparison["column"]) == ("job.target.place", "latency_mean_ps")
    )
    expected = study.compare("job.target.place", "latency_mean_ps", job="target")
    assert [row["ratio"] for row in place["rows"]] == [row.ratio for row in expected.rows]
    assert {comparison["by"] for comparison in comparisons} == {"job.target.app.interval", "job.target.place"}


def test_a_large_study_says_what_is_left_out(study, document, monkeypatch):
    for name in ("MOST_VALUES", "MOST_COMPARISONS"):
        monkeypatch.setattr(study_module, name, 1)
    smaller = study_document(study)
    assert [column["name"] for column in smaller["columns"]] == list(study.columns(study.jobs))
    assert len(smaller["comparisons"]) == 1
    assert len(smaller["left_out"]) == 2
    monkeypatch.setattr(study_module, "MOST_POINTS", 2)
    assert study_document(study)["comparisons"] == []
    assert document["left_out"] == []


def test_a_study_without_runs_is_an_error(study):
    empty = od.Study(study.manifest, {"runs": study.runs, "jobs": study.jobs.clear()}, study.path)
    with pytest.raises(od.InputError, match="no run of the study is done"):
        study_document(empty)


@pytest.fixture
def page(opened, written):
    return opened(page=written)


def drawn(page, what):
    """What is in a chart, once it is drawn: a new chart is empty until the browser lays it out."""
    located = page.locator(what)
    located.first.wait_for(state="attached")
    return located


def medians(page):
    boxes = drawn(page, "#study-runs g.box")
    return boxes.evaluate_all("boxes => boxes.map(box => [Number(box.dataset.n), Number(box.dataset.median)])")


def test_boxes_have_the_medians_of_their_runs(page, study):
    page.get_by_label("Colours").select_option("")
    jobs = study.jobs.filter(name="target")
    for by, axis in (("job.target.place", ["contiguous", "random"]), ("run.seed", [1, 2, 3])):
        page.get_by_label("By", exact=True).select_option(by)
        page.get_by_label("Number").select_option("latency_p99_ps")
        own = [jobs.filter(pl.col(by) == value)["latency_p99_ps"] for value in axis]
        assert medians(page) == [[len(values), pytest.approx(np.median(values))] for values in own]


def test_intervals_of_medians_are_order_statistics(page, study):
    """Of nine runs, the second and the eighth: 1 - 2 P(X <= 1) = 96.1 % for X of nine throws of a coin."""
    page.get_by_label("Colours").select_option("")
    page.get_by_label("By", exact=True).select_option("job.target.place")
    page.get_by_label("Number").select_option("latency_mean_ps")
    shown = drawn(page, "#study-runs g.box").evaluate_all("boxes => boxes.map(box => box.dataset.interval)")
    for text, value in zip(shown, ("contiguous", "random"), strict=True):
        own = study.jobs.filter(pl.col("job.target.place") == value, name="target")["latency_mean_ps"].sort()
        assert [float(number) for number in text.split()] == [own[1], own[7]]
    page.get_by_label("By", exact=True).select_option("job.target.app.interval")
    page.get_by_label("Colours").select_option("job.target.place")
    drawn(page, "#study-runs g.box")
    assert page.locator("#study-runs g.box[data-interval]").count() == 0  # three runs each


def test_filters_change_what_counts(page, study):
    page.get_by_label("Colours").select_option("")
    page.get_by_label("By", exact=True).select_option("job.target.place")
    page.locator("details.filters summary").click()
    page.get_by_label("10 us").uncheck()
    jobs = study.jobs.filter(pl.col("job.target.app.interval") != "10 us", name="target")
    own = [jobs.filter(pl.col("job.target.place") == value)["latency_mean_ps"] for value in ("contiguous", "random")]
    assert medians(page) == [[6, pytest.approx(np.median(values))] for values in own]
    assert len(rows_of(page, "Runs")) == 12


def test_pairs_differ_in_one_axis_only(page, study):
    page.get_by_label("By", exact=True).select_option("job.target.place")
    page.get_by_label("Number").select_option("latency_mean_ps")
    dots = drawn(page, "#study-pairs .dot").evaluate_all("dots => dots.map(dot => Number(dot.dataset.value))")
    first, other = (
        study.jobs.filter(pl.col("job.target.place") == value, name="target").sort(
            "job.target.app.interval", "run.seed"
        )
        for value in ("contiguous", "random")
    )
    assert sorted(dots) == pytest.approx(sorted((other["latency_mean_ps"] / first["latency_mean_ps"]).to_list()))


def test_numbers_stand_where_they_are_on_a_scale(page):
    page.get_by_label("Colours").select_option("")
    page.get_by_label("By", exact=True).select_option("job.target.app.interval")
    lines = drawn(page, "#study-runs g.box line.median")
    x = lines.evaluate_all("lines => lines.map(line => (Number(line.getAttribute('x1')) + line.x2.baseVal.value) / 2)")
    assert (x[1] - x[0]) / (x[2] - x[0]) == pytest.approx((2 - 0.5) / (10 - 0.5), abs=0.01)
    # Series too: at a number they do not stand beside each other.
    page.get_by_label("Colours").select_option("job.target.place")
    both = drawn(page, "#study-runs g.box line.median").evaluate_all(
        "lines => lines.map(line => (Number(line.getAttribute('x1')) + line.x2.baseVal.value) / 2)"
    )
    assert sorted(both) == pytest.approx(sorted([*x, *x]), abs=0.1)
    page.get_by_label("Colours").select_option("")
    page.get_by_label("By", exact=True).select_option("job.target.place")
    drawn(page, "#study-runs g.box")


def test_numbers_that_differ_much_stand_on_a_logarithmic_scale(opened, tmp_path):
    """As in `odonata plot`: catches a linear axis on which all but one value lie on the ground."""
    (tmp_path / "base.toml").write_text(TRAFFIC.format(system="tiny").replace("20\n", "6\n"))
    axes = {"job.target.app.interval": ["500 ns", "5 us", "100 us"]}
    wide = od.sweep(tmp_path / "base.toml", axes, workers=1)
    page = opened(page=report_of_study(wide))
    page.get_by_label("Number").select_option("throughput")
    lines = drawn(page, "#study-runs g.box line.median")
    y = lines.evaluate_all("lines => lines.map(line => Number(line.getAttribute('y1')))")
    values = np.log(wide.jobs.filter(name="target")["throughput"].to_numpy())
    assert values[0] - values[2] > np.log(30)
    assert (y[1] - y[0]) / (y[2] - y[0]) == pytest.approx((values[0] - values[1]) / (values[0] - values[2]), abs=0.01)


def test_the_colours_of_a_matrix_have_a_scale(page, study):
    page.get_by_label("By", exact=True).select_option("job.target.place")
    page.get_by_label("Second axis").select_option("job.target.app.interval")
    page.get_by_label("Number").select_option("latency_mean_ps")
    drawn(page, "#study-matrix .scale .gradient")
    rows = study.jobs.filter(name="target").group_by("job.target.place", "job.target.app.interval")
    medians = rows.agg(pl.col("latency_mean_ps").median())["latency_mean_ps"]
    shown = page.locator("#study-matrix .scale").inner_text().split()
    assert shown == [f"{medians.min() / 1e6:.3f}", "us", f"{medians.max() / 1e6:.3f}", "us"]


def test_a_run_is_chosen_by_its_dot_or_row_and_has_its_command(page, study):
    point = int(drawn(page, "#study-runs .dot").first.get_attribute("data-point"))
    page.locator("#study-runs .dot").first.click()
    run = study.runs.filter(point=point).row(0, named=True)
    details = page.locator("#study-point")
    assert details.locator("h3").first.inner_text() == f"point {point}"
    assert run["id"] in details.inner_text()
    sets = [f"{key}={run[key]}" for key in study.axes]
    expected = " ".join(f"-s '{text}'" if " " in text else f"-s {text}" for text in sets)
    assert details.locator("code").inner_text() == f"odonata run scenario.toml {expected}"
    page.get_by_role("region", name="Runs", exact=True).locator("tbody tr").nth(4).click()
    assert re.match(r"point \d+", details.locator("h3").first.inner_text())
    numbers = {row[0]: row[1] for row in rows_of(page, "All numbers of this run")}
    assert float(numbers["messages_sent"]) > 0


def test_the_matrix_has_the_medians_of_two_axes(page, study):
    page.get_by_label("By", exact=True).select_option("job.target.place")
    page.get_by_label("Second axis").select_option("job.target.app.interval")
    page.locator("#study-matrix canvas").focus()
    page.keyboard.press("ArrowRight")
    cell = study.jobs.filter(
        pl.col("job.target.place") == "contiguous", pl.col("job.target.app.interval") == "500 ns", name="target"
    )
    told = page.locator("#study-matrix .told").inner_text()
    assert told.startswith("500 ns, contiguous: median ")
    assert f"{cell['latency_mean_ps'].median() / 1e6:.3f} us" in told
    assert "of 3 runs" in told


def test_a_small_screen_and_every_number(page, study):
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for column in ("throughput", "minimal_fraction", "messages_sent"):
        page.get_by_label("Number").select_option(column)
        page.get_by_label("Job", exact=True).select_option("noise")
    assert drawn(page, "#study-runs .dot").count() == 18
