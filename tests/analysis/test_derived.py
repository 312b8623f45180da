"""Columns that follow from others, by hand, and in a comparison."""

from __future__ import annotations

import polars as pl
import pytest

import odonata as od
from odonata.analysis.compare import compare
from odonata.analysis.compare_text import as_text
from odonata.analysis.derived import VARIATION, with_derived

ROWS = pl.DataFrame(
    {
        "name": ["a"] * 12,
        "place": ["near"] * 6 + ["far"] * 6,
        "run.seed": [*range(6), *range(6)],
        "time_ps": [100, 102, 101, 103, 99, 100, 110, 112, 111, 113, 109, 110],
        "iteration_p50_ps": [10] * 6 + [0] + [10] * 5,
        "iteration_p99_ps": [11, 12, 13, 12, 12, 12, 5, 20, 21, 20, 19, 20],
        "backlog_growth": [-0.1, 0.0, 0.25, 1.0, 1.2, None] * 2,
    }
)


def test_columns_by_hand() -> None:
    derived = with_derived(ROWS)
    assert derived["accepted_fraction"].to_list()[:6] == [1.0, 1.0, 0.75, 0.0, 0.0, None]
    assert derived[VARIATION].to_list()[:3] == [1.1, 1.2, 1.3]
    assert derived[VARIATION][6] is None
    assert with_derived(ROWS.select("name", "time_ps")).columns == ["name", "time_ps"]


def test_a_comparison_of_programs_has_their_variation_first() -> None:
    told = compare(with_derived(ROWS), "place", "time_ps", others=["run.seed"], job="a")
    near, far = told.rows
    assert (near.variation, far.variation) == (1.2, 2.0)
    assert near.variation_interval is not None
    assert 1.1 <= near.variation_interval[0] <= 1.2 <= near.variation_interval[1] <= 1.3
    heading = as_text(told).splitlines()[2]
    assert heading.split()[:3] == ["place", "n", "p99/p50"]
    alone = compare(with_derived(ROWS), "place", VARIATION, others=["run.seed"])
    assert alone.rows[0].variation is None
    assert alone.higher_is_better is False
    assert "p99/p50" not in as_text(alone)
    assert "p99/p50" not in as_text(compare(ROWS, "place", "time_ps", others=["run.seed"]))


def test_a_study_of_a_program_has_the_column() -> None:
    scenario = {
        "system": "tiny",
        "job": [{"name": "a", "nodes": 4, "app": {"collective": "allreduce", "message": "8 KB"}, "iterations": 5}],
    }
    study = od.sweep(scenario, {"run.seed": [1, 2]}, workers=1)
    rows = study.rows_of(None)
    expected = rows["iteration_p99_ps"] / rows["iteration_p50_ps"]
    assert rows[VARIATION].to_list() == pytest.approx(expected.to_list())
    assert VARIATION in study.columns(rows)
