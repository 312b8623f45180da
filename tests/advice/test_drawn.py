"""Nodes over drawn queues: the draws, the statistics by hand, and the command."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from odonata.advice.drawn import NULL, plan, summarise, wilson
from odonata.cli.advise_drawn import as_text
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.scenario import parse

if TYPE_CHECKING:
    from pathlib import Path

QUEUE = """\
system = "zhang2018-272"
[[job]]
name = "mine"
nodes = 16
app = { motif = "halo3d", message = "4 KB" }
iterations = 2
[[job]]
name = "big"
nodes = 40
app = { collective = "alltoall", message = "1 KB" }
background = true
[[job]]
name = "small"
place = { nodes = "100-109" }
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 10 }
"""


def made(policy: str, draw: int) -> Any:
    drawn, victim = plan(parse(QUEUE), None, ["contiguous"], 4)
    assert victim == "mine"
    base: Any = drawn.base
    return base({"policy": policy, "draw": draw}).resolve(check=False)


def test_neighbours_are_like_those_of_the_scenario_and_the_same_under_each_policy() -> None:
    seen = set()
    for draw in range(4):
        mine, *others = made("contiguous", draw).spec["jobs"]
        _, *same = made(NULL, draw).spec["jobs"]
        assert [job["nodes"] for job in others] == [job["nodes"] for job in same]
        assert len(mine["nodes"]) == 16
        assert {len(job["nodes"]) for job in others} <= {10, 40}
        taken = [node for job in others for node in job["nodes"]]
        assert len(set(taken)) == len(taken)
        assert 40 < len(taken) <= 50, "no job of the scenario fits into what is left"
        assert not set(taken) & set(mine["nodes"])
        seen.add(tuple(taken))
    assert len(seen) == 4
    assert made(NULL, 1).spec == made(NULL, 1).spec
    assert made(NULL, 1).spec["seed"] == made("contiguous", 1).spec["seed"] != made(NULL, 2).spec["seed"]


def test_a_node_counts_once_for_all_of_its_ranks() -> None:
    """Jobs with several ranks on a node have as many nodes in each draw as in the scenario, and as many ranks."""
    text = QUEUE.replace("nodes = 16", "nodes = 16\nranks_per_node = 4")
    text = text.replace("nodes = 40", "nodes = 40\nranks_per_node = 2")
    drawn, _ = plan(parse(text), None, ["contiguous"], 4)
    base: Any = drawn.base
    sizes = set()
    for draw in range(4):
        for policy in (NULL, "contiguous"):
            mine, *others = base({"policy": policy, "draw": draw}).resolve(check=False).spec["jobs"]
            assert (len(set(mine["nodes"])), len(mine["nodes"])) == (16, 64)
            sizes |= {(len(set(job["nodes"])), len(job["nodes"])) for job in others}
            assert 40 < sum(len(set(job["nodes"])) for job in others) <= 50
    assert sizes == {(40, 80), (10, 10)}


def test_statistics_are_those_of_the_pairs() -> None:
    """Policy a takes half the time in three of four draws and the double in one; draw 4 is incomplete."""
    random = [4.0, 8.0, 4.0, 2.0, 1.0]
    first = [2.0, 4.0, 2.0, 4.0, None]
    rows = [
        {"name": "mine", "policy": policy, "draw": draw, "latency_mean_ps": time, "slowdown": slow, "iterations": None}
        for policy, times, slow in ((NULL, random, 2.0), ("a", first, 1.5))
        for draw, time in enumerate(times)
    ]
    study: Any = SimpleNamespace(jobs=pl.DataFrame(rows, infer_schema_length=None))
    column, (best, null) = summarise(study, "mine", None)
    assert column == "latency_mean_ps"
    assert (best.name, best.draws, best.slowdown) == ("a", 4, 1.5)
    assert best.ratio == pytest.approx((0.5**3 * 2) ** 0.25)
    assert best.beats == {NULL: 0.75}
    assert null.beats == {"a": 0.25}
    assert (best.best, null.best) == (0.75, 0.25)
    text = as_text("mine", column, [best, null], 5, None)
    assert "These 4 draws do not show" in text
    assert "1 of 5 draws are left out" in text


def test_the_interval_of_a_share() -> None:
    assert wilson(0.8, 10) == pytest.approx((0.490, 0.943), abs=0.001)
    assert wilson(1.0, 8)[1] == 1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QUEUE.split('[[job]]\nname = "big"')[0], "no other job"),
        (QUEUE, "policy"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan(parse(text), None, ["contigous"], 8)


def test_the_command_answers_and_answers_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "q.toml"
    file.write_text(QUEUE)
    asked = ["advise", str(file), "--drawn", "8", "--policies", "contiguous", "-q", "-j", "1"]
    assert main([*asked, "-o", str(tmp_path / "a")]) == 0
    first = capsys.readouterr().out
    assert "mine over 8 drawn queues, by time_ps" in first
    assert "random-nodes (null model)" in first
    assert "p99/p50" in first
    assert main([*asked, "-o", str(tmp_path / "b")]) == 0
    assert capsys.readouterr().out == first
    assert main([*asked, "-o", str(tmp_path / "a"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {policy["name"] for policy in told["policies"]} == {NULL, "contiguous"}
    assert told["draws"] == 8
    for more, said in (
        (["--budget", "1min"], "`--budget` does nothing with `--drawn`"),
        (["--victim", "mien"], "mine"),
    ):
        assert main([*asked, *more, "-o", str(tmp_path / "c")]) == 2
        assert said in capsys.readouterr().err
    assert main(["advise", str(file), "--policies", "contiguous"]) == 2
