"""All rounds of the experiment, which take minutes: `make test-fabric` runs these tests, as this file is named there.

Each relation has a control or a margin of its own: medians over rounds of ratios within a round, in which the arms
alternate.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from tests.cluster.fabric.experiment import MOST, WHOLE, result
from tests.cluster.fabric.times import chosen, quantile_ms, ratio

from odonata.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

OPERATIONS = ("alltoall", "allreduce")

pytestmark = pytest.mark.timeout(WHOLE.most_s + 60)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fabric")


@pytest.fixture(scope="module")
def runs(possible: None, out: Path) -> list[dict[str, Any]]:
    done = result("whole", out)
    compared = len(WHOLE.arms) + 1
    assert len(done) == len(WHOLE.levels) * (WHOLE.earlier + WHOLE.later) + WHOLE.compared * compared
    return done


def test_b_rises_with_the_background(runs: list[dict[str, Any]]) -> None:
    assert {(run["level"], run["probe"]["b_before"]) for run in runs} == {(n, n * 4 / 32) for n in range(MOST + 1)}
    assert all(run["probe"]["b_after"] == run["probe"]["b_before"] for run in runs)


def test_the_mean_and_the_tail_grow_with_b(runs: list[dict[str, Any]], out: Path, capsys) -> None:
    words = ["--by", "collective", "--by", "bytes", "--correlate", "b", "--no-fit", "--json"]
    assert main(["cluster", "analyse", str(out / "earlier"), *words]) == 0
    told = json.loads(capsys.readouterr().out)
    rho = {(row["key"]["collective"], row["key"]["bytes"]): row["spearman"] for row in told["correlations"]}
    for operation in OPERATIONS:
        assert rho[operation, 4096]["value"] > 0.7
    # The tail: the 90 % quantile grows a little up to a load of 60 %, and much up to one of 90 %.
    assert ratio(runs, ("earlier", 2), ("earlier", 0)) > 1.1
    assert ratio(runs, ("earlier", MOST), ("earlier", 2)) > 3


def test_the_same_jobs_with_flows_inside_their_leaves_do_not_matter(runs: list[dict[str, Any]]) -> None:
    for q in (0.5, 0.9):
        assert ratio(runs, ("control", MOST), ("earlier", 0), q) < 1.5
        assert ratio(runs, ("earlier", MOST), ("control", MOST), q) > 3


def test_selected_nodes_have_a_shorter_tail(runs: list[dict[str, Any]]) -> None:
    # By Level-Spread on one idle leaf, or with the spread of the busy ones in the idle island.
    assert {run["probe"]["leaves"] for run in chosen(runs, "selected")} == {1}
    assert {run["probe"]["leaves"] for run in chosen(runs, "elsewhere")} == {2}
    for arm in ("selected", "elsewhere"):
        assert ratio(runs, ("earlier", MOST), (arm, MOST)) > 3
    assert ratio(runs, ("elsewhere", MOST), ("earlier", 0)) < 1.5


def test_the_predictor_ranks_later_runs(runs: list[dict[str, Any]]) -> None:
    later = [run for run in runs if run["arm"] == "later"]
    assert len(later) == len(WHOLE.levels) * WHOLE.later
    right, pairs = 0, 0
    for first, other in combinations(later, 2):
        if first["predicted"] != other["predicted"]:
            longer = quantile_ms(first, 0.9) > quantile_ms(other, 0.9)
            right += longer == (first["predicted"] > other["predicted"])
            pairs += 1
    assert pairs >= 20
    assert right / pairs > 0.8
    # It flags the runs beside the most background, and no run without one.
    chance = {level: max(run["predicted"] for run in later if run["level"] == level) for level in WHOLE.levels}
    assert chance[0] < 0.15 < chance[MOST]
