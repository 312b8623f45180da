"""The analysis of times of Leonardo: the data, the statements on series made by hand, and the page."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from odonata.analysis.dispersion import describe
from odonata.analysis.fits import Fits, fit_all
from odonata.analysis.peaks import count_peaks
from odonata.reproduce import find
from odonata.reproduce.salimibeni2022.leonardo import DRAWN
from odonata.reproduce.salimibeni2022.measured import FITTED, Measured, fitted_sizes, gather, series, table
from odonata.reproduce.salimibeni2022.statements import compare, relations, size_trends

NAME = "salimi-beni2022-on-leonardo"


def test_the_data_are_what_the_readme_says() -> None:
    rows = table()
    assert rows.null_count().sum_horizontal().item() == 0
    counts = rows.group_by("run", "collective", "bytes").len()
    assert set(counts["len"]) == {1000}
    assert counts.height == 47
    assert (rows["iteration"].min(), rows["iteration"].max()) == (10, 1009)
    assert rows["time_ns"].min() > 1000
    of_run = rows.select("run", "nodes", "groups", "leaves").unique()
    assert of_run.height == rows["run"].n_unique() == 6
    assert (of_run["leaves"] <= of_run["nodes"]).all()
    assert (of_run["groups"] <= of_run["leaves"]).all()
    fitted = fitted_sizes(rows)
    assert len(fitted) == rows.select("run", "collective").n_unique() == 9
    assert all(2**19 <= size <= FITTED for *_, size in fitted)
    assert set(DRAWN) <= set(fitted)


@pytest.fixture(scope="module")
def fits() -> Fits:
    """Those of a skewed sample by three families."""
    sample = np.random.default_rng(1).lognormal(0, 0.5, 200) * 1e6
    return fit_all([sample], names=["lognorm", "norm", "gamma"])[0]


def made(allocation: int, size: int, times: np.ndarray, fits: Fits | None = None) -> Measured:
    times = times * 1e6
    spread = (4 * allocation, allocation, 2 * allocation)
    run = f"2025-03-{allocation:02}T12:00:00"
    return Measured(run, "allreduce", size, *spread, times, describe(times), count_peaks(times), fits)


def runs(*, tails: bool, peaks: bool, fits: Fits) -> list[dict[str, Measured]]:
    """Eight allocations; with tails that grow with the groups, or symmetric times; with two peaks, or one."""
    rng = np.random.default_rng(2)
    measured = []
    for allocation in range(1, 9):
        for size in (4, 64, 1024, 16384):
            times = 100 + rng.normal(0, 1, 300) * (1 if tails else 40 / size**0.3)
            if tails:
                times[: 10 * allocation] += rng.exponential(100 * allocation, 10 * allocation)
            if peaks:
                times[150:280] += 20
            times = rng.permutation(times)
            measured.append({"series": made(allocation, size, np.abs(times), fits if size == 4 else None)})
    return measured


def verdicts(measured: list[dict[str, Measured]]) -> dict[str, str]:
    return {row.what: row.verdict for row in compare(measured)}


def test_statements_that_hold(fits: Fits) -> None:
    verdict_of = verdicts(runs(tails=True, peaks=True, fits=fits))
    assert verdict_of.pop("iterations above the 85 % quantile") == "not comparable"
    assert verdict_of.pop("families tried for each series") == "no match"
    assert verdict_of["series with two peaks or more"] == "direction"
    assert verdict_of["rank correlation of the groups of an allocation with share of the tail"] == "direction"
    assert verdict_of["greatest time over the mean, largest of the series"] == "direction"
    assert verdict_of["series whose mean is above the median"] == "direction"


def test_statements_that_do_not_hold(fits: Fits) -> None:
    symmetric = dataclasses.replace(fits, fits=tuple(sorted(fits.fits, key=lambda fit: fit.family != "norm")))
    best = dataclasses.replace(symmetric.fits[0], aic=-1e9)
    symmetric = dataclasses.replace(symmetric, fits=(best, *symmetric.fits[1:]))
    rows = compare(runs(tails=False, peaks=False, fits=symmetric))
    verdict_of = {row.what: row.verdict for row in rows}
    for what in (
        "series whose mean is above the median",
        "greatest time over the mean, largest of the series",
        "fitted series whose best family is not symmetric",
        "series with two peaks or more",
    ):
        assert verdict_of[what] == "no match", what
    # The tail has nothing to do with the groups, and eight allocations say no more.
    assert verdict_of["rank correlation of the groups of an allocation with share of the tail"] == "not comparable"
    assert next(row.why for row in rows if row.id == "V7" and "groups" in row.what).endswith("cannot tell")
    assert verdict_of["rank correlation of QCD with size, median of allocations and collectives"] == "direction"


def test_a_point_of_a_relation_is_an_allocation(fits: Fits) -> None:
    measured = series(runs(tails=True, peaks=False, fits=fits))
    (relation,) = (
        candidate
        for candidate in relations(measured)
        if (candidate.spread, candidate.measure) == ("groups", "share of the tail")
    )
    assert relation.correlation.n == 8
    assert relation.correlation.spearman.value > 0.9
    assert len(size_trends(measured)) == 8


def test_the_page_and_the_picture(tmp_path) -> None:
    """Of the whole data, with the fits of the reduced form; about 5 s, most of it for the test of peaks."""
    reproduction = find(NAME)
    gathered = gather(True, 1)
    rows = reproduction.rows(gathered)
    page = reproduction.page(rows, gathered)
    assert page.startswith("## Times measured on Leonardo")
    assert "Correlation is not causation" in " ".join(page.split())
    assert "HLC-Lab/pico (commit 413bc5d" in " ".join(page.split())
    assert "$" not in page
    assert page == reproduction.page(rows, gathered)
