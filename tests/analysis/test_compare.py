"""Comparisons on numbers whose answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

from odonata.analysis.bootstrap import MOST_BCA, interval, ratio_interval
from odonata.analysis.compare import Comparison, compare
from odonata.analysis.compare_text import as_text, sentences
from odonata.analysis.derived import DERIVED
from odonata.errors import InputError
from odonata.store.columns import COLUMNS
from odonata.study.read import numeric_columns


def jobs(**columns: list[Any]) -> pl.DataFrame:
    height = len(columns["place"])
    return pl.DataFrame({"name": ["a"] * height, **columns})


def paired(ratio: float, noise: float = 0.0, seeds: int = 10) -> Comparison:
    """Two placements under the same seeds; seeds differ by far more than the placements do."""
    wobble = np.random.default_rng(1).normal(1.0, noise, seeds)
    there = [100.0 * 2.0**seed for seed in range(seeds)]
    here = [float(value) for value in np.array(there) * ratio * wobble]
    rows = jobs(place=["near"] * seeds + ["far"] * seeds, seed=[*range(seeds)] * 2, time=there + here)
    return compare(rows, "place", "time", others=["seed"], job="a")


def test_pairs_show_what_the_medians_hide() -> None:
    """Catches pairs that are not paired: the seeds spread a thousandfold, the effect is 10 %."""
    near, far = paired(0.9, noise=0.01).rows
    assert (near.value, near.n, near.ratio, near.overlap) == ("near", 10, None, None)
    assert near.median == pytest.approx(100 * (2**4 + 2**5) / 2)
    assert far.overlap is True
    assert far.ratio == pytest.approx(0.9, rel=0.02)
    assert far.ratio_interval is not None
    assert 0.88 < far.ratio_interval[0] < far.ratio_interval[1] < 0.92
    assert (far.pairs, far.better, far.worse, far.equal) == (10, 10, 0, 0)
    assert far.p == pytest.approx(2 / 2**10)


def test_the_test_is_the_signed_rank_test_of_the_logarithms() -> None:
    comparison = paired(1.0, noise=0.05)
    wobble = np.random.default_rng(1).normal(1.0, 0.05, 10)
    assert comparison.rows[1].p == pytest.approx(scipy.stats.wilcoxon(np.log(wobble)).pvalue)


def test_order_of_rows_and_missing_runs_do_not_matter() -> None:
    rows = jobs(
        place=["near", "far", "far", "near", "far", "near"],
        seed=[1, 2, 1, 2, 3, 4],
        time=[10.0, 40.0, 20.0, 20.0, 7.0, None],
    )
    near, far = compare(rows, "place", "time", others=["seed"]).rows
    assert (near.n, far.n, far.pairs) == (2, 3, 2)
    assert (far.ratio, far.worse) == (2.0, 2)


def test_more_is_better_for_throughput() -> None:
    rows = jobs(place=["near", "far"] * 3, seed=[1, 1, 2, 2, 3, 3], throughput=[1.0, 2.0, 1.0, 2.0, 5.0, 5.0])
    comparison = compare(rows, "place", "throughput", others=["seed"])
    far = comparison.rows[1]
    assert comparison.higher_is_better
    assert (far.better, far.worse, far.equal) == (2, 0, 1)


def test_the_registry_says_what_is_better() -> None:
    """Catches a time without an orientation, and more iterations in the same time that count as worse."""
    better = {column.name: column.better for column in COLUMNS if column.table == "jobs"}
    better |= {column.name: column.better for column in DERIVED}
    assert {better[name] for name in numeric_columns() if name.startswith(("latency_m", "iteration_", "alone"))} == {
        "less"
    }
    assert (better["time_ps"], better["throughput"], better["nodes"]) == ("less", "more", "neither")
    rows = jobs(place=["near", "far"] * 2, seed=[1, 1, 2, 2], iterations=[5, 7, 5, 8])
    assert compare(rows, "place", "iterations", others=["seed"]).rows[1].better == 2


def test_a_column_without_an_orientation_is_compared_without_a_verdict() -> None:
    rows = jobs(place=["near", "far"] * 2, seed=[1, 1, 2, 2], nodes=[5, 7, 5, 8])
    comparison = compare(rows, "place", "nodes", others=["seed"])
    assert comparison.higher_is_better is None
    assert "is better" not in str(comparison)
    assert "lower  higher  equal" in str(comparison)


def test_runs_that_do_not_pair_up_are_compared_by_their_medians() -> None:
    rows = jobs(place=["near"] * 8 + ["far"] * 8, seed=[*range(16)], time=[*range(10, 18), *range(20, 28)])
    far = compare(rows, "place", "time", others=["seed"]).rows[1]
    assert (far.pairs, far.p, far.better) == (0, None, 0)
    assert far.ratio == pytest.approx(23.5 / 13.5)
    assert far.ratio_interval is not None
    assert 1.4 < far.ratio_interval[0] < far.ratio < far.ratio_interval[1] < 2.2
    assert far.overlap is False


def test_runs_are_not_pairs_if_several_agree_in_all_other_axes() -> None:
    """Catches ten drawn runs with each value that are counted as a hundred pairs."""
    drawn = jobs(place=["near", "far"] * 10, time=[float(10 + number) for number in range(20)])
    far = compare(drawn, "place", "time", others=[]).rows[1]
    assert (far.n, far.pairs, far.p) == (10, 0, None)
    assert far.ratio == pytest.approx(20.0 / 19.0)
    twice = jobs(place=["near", "near", "far"], seed=[1, 1, 1], time=[10.0, 10.0, 20.0])
    assert compare(twice, "place", "time", others=["seed"]).rows[1].pairs == 0


def test_one_run_each_gives_no_interval() -> None:
    rows = jobs(place=["near", "far"], seed=[1, 1], time=[10.0, 12.0])
    comparison = compare(rows, "place", "time", others=["seed"])
    near, far = comparison.rows
    assert (near.interval, far.interval, far.ratio_interval, far.p) == (None, None, None, None)
    assert far.ratio == 1.2
    said = sentences(comparison)
    assert said[0] == "far: 1.200 x near, from one run each: no interval can be given."
    assert said[1].startswith("One run for each value: no interval can be given, and a difference may be chance.")


def test_overlap_is_said_plainly() -> None:
    assert sentences(paired(1.0, noise=0.05))[0].endswith(
        "The intervals of the medians overlap, and the ratio may be 1: these runs show no difference."
    )
    assert sentences(paired(0.9))[0] == (
        "far: 0.900 x near. The intervals of the medians overlap, but pair by pair it is lower."
    )
    assert "3 pairs are too few to say that it is lower." in sentences(paired(0.9, seeds=3))[0]
    assert (
        sentences(paired(0.9, seeds=3))[1] == "From 3 runs an interval is too narrow: at least 6 are needed for 95 %."
    )
    assert sentences(paired(1.0))[0] == "far: 1.000 x near: the same in all 10 pairs."


def test_numbers_are_not_multiplied_in_words() -> None:
    """Catches "0.1: 1.000 x 0.05, between 1.000 and 1.000"."""
    times = [100_000.0, 100_001.0] * 5 + [1e5, 1e5 + 2]
    drawn = jobs(place=[0.05, 0.1] * 6, seed=[number // 2 for number in range(12)], time=times)
    (said, *_) = sentences(compare(drawn, "place", "time", others=["seed"]))
    assert said.startswith("place = 0.1: 1.000 x that of 0.05 (to three decimals in the whole interval). ")


@pytest.mark.parametrize(("column", "value", "shown"), [("throughput", 16.98e9, "16.98 GB/s"), ("bytes", 4e6, "4 MB")])
def test_the_table_has_units(column: str, value: float, shown: str) -> None:
    rows = jobs(place=["near", "far"], seed=[1, 1], **{column: [value, 2 * value]})
    assert shown in as_text(compare(rows, "place", column, others=["seed"]))


def test_a_baseline_of_nothing_has_no_ratio() -> None:
    rows = jobs(place=["near", "far"] * 2, seed=[1, 1, 2, 2], share=[0.0, 0.5, 0.0, 0.25])
    far = compare(rows, "place", "share", others=["seed"]).rows[1]
    assert (far.ratio, far.pairs, far.worse) == (None, 2, 2)


def test_values_without_a_run_are_said_to_have_none() -> None:
    rows = jobs(place=["near", "near"], seed=[1, 2], time=[1.0, 2.0])
    comparison = compare(rows, "place", "time", others=["seed"], values=["near", "gone"])
    assert (comparison.rows[1].n, comparison.rows[1].median) == (0, None)
    assert sentences(comparison)[0] == "gone: no run that is done has a number in `time`."


def test_what_there_is_not() -> None:
    rows = jobs(place=["near", "far"], seed=[1, 1], time=[10.0, 12.0])
    with pytest.raises(InputError, match=r"unknown column `tim`\n  hint: did you mean `time`\?"):
        compare(rows, "place", "tim", others=["seed"])
    with pytest.raises(InputError, match="unknown column `seed`"):
        compare(rows, "place", "seed", others=["seed"])
    with pytest.raises(InputError, match=r"`place` has no value `fat` in this study\n  hint: did you mean `far`\?"):
        compare(rows, "place", "time", others=["seed"], baseline="fat")


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3, 5.8])
    assert interval(values, seed=1) == (1.5, 5.8)
    assert interval(values, seed=1) == interval(values, seed=1)
    assert interval(values[:1], seed=1) is None
    assert ratio_interval(values, values[:1], seed=1) is None


def test_an_interval_exists_where_the_acceleration_does_not() -> None:
    """Catches NaN from BCa, whose jackknife divides 0 by 0 if nearly all values are equal."""
    assert interval(np.array([3.0, 3.0]), seed=1) == (3.0, 3.0)
    assert interval(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 5.0]), seed=1) == (1.0, 3.0)
    assert ratio_interval(np.array([4.0, 4.0]), np.array([2.0, 2.0]), seed=1) == (2.0, 2.0)


def test_a_ratio_to_a_median_that_may_be_zero_has_no_interval() -> None:
    assert ratio_interval(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0]), seed=1) is None


def test_the_bootstrap_covers_the_median_about_as_often_as_it_says() -> None:
    """200 samples of 20 from a distribution with median 1: the interval holds it in about 95 % of them."""
    draws = np.exp(np.random.default_rng(7).normal(size=(200, 20)))
    intervals = [interval(sample, seed=number) for number, sample in enumerate(draws)]
    held = sum(low <= 1.0 <= high for low, high in (pair for pair in intervals if pair is not None))
    assert 182 <= held <= 199


@pytest.mark.parametrize("count", [MOST_BCA, MOST_BCA + 1])
def test_both_methods_give_nearly_the_interval_of_the_order_statistics(count: int) -> None:
    """Catches another statistic, tail or confidence: of many values the interval is known from the binomial."""
    values = np.random.default_rng(1).permutation(np.arange(float(count)))
    low, high = interval(values, seed=3)
    half = 1.96 * np.sqrt(count) / 2
    assert (low, high) == pytest.approx((count / 2 - half, count / 2 + half), abs=0.2 * half)


def test_very_many_values_are_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches minutes of bootstrap for a study of many thousand runs."""
    asked = []
    monkeypatch.setattr("scipy.stats.bootstrap", lambda *_, **options: asked.append(options) or _Found())
    for count in (20, 4_000, 30_000):
        interval(np.arange(float(count)), seed=1)
    assert [options["n_resamples"] for options in asked] == [10_000, 5_000, 1_000]
    assert all(options["batch"] * count <= 4_000_000 for options, count in zip(asked, (20, 4_000, 30_000), strict=True))


class _Found:
    confidence_interval = (1.0, 2.0)
