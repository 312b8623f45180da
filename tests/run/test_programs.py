"""Programs from a scenario to a run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from odonata import scenario
from odonata.errors import InputError, RunError
from odonata.runner import run
from odonata.store import open_run

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
system = "tiny"
routing = "fpar"

[[job]]
name = "target"
place = { policy = "per-leaf", per_leaf = 1 }
ranks_per_node = 2
app = { collective = "alltoall", message = "2 KB", iterations = 5, gap = "1 us" }

[[job]]
name = "noise"
nodes = 6
place = "contiguous"
app = { pattern = "uniform-random", message = "40 KB", interval = "5 us" }
background = true

[run]
seed = 1
"""


def test_a_collective_beside_traffic(tmp_path: Path) -> None:
    done = run(scenario.parse(TEXT), tmp_path / "run", alone=True)
    target, noise = done.summary["jobs"]
    assert (target["nodes"], target["ranks"], target["iterations"]) == (8, 16, 5)
    assert target["messages_sent"] == 5 * 16 * 15
    assert target["messages_intra_node"] == 5 * 16
    assert target["slowdown"] == target["time_ps"] / target["time_alone_ps"] > 1
    assert target["time_ps"] == done.ranks["finish_ps"].max()
    assert "iterations" not in noise
    assert done.messages.is_empty(), "programs keep histograms unless told otherwise"
    iterations = open_run(tmp_path / "run").iterations
    assert iterations["ranks"].to_list() == [16] * 5
    assert (iterations["time_ps"] == iterations["last_end_ps"] - iterations["first_begin_ps"]).all()
    assert target["iteration_ps"]["mean"] == iterations["time_ps"].mean()
    ranks = done.ranks
    assert ranks["node"].to_list() == done.resolved["spec"]["jobs"][0]["nodes"]
    assert (ranks["work_ps"] > 0).all()


def test_every_message_of_a_program_can_be_kept() -> None:
    text = TEXT.replace('gap = "1 us" }', 'gap = "1 us" }\nrecord = "every-message"')
    done = run(scenario.parse(text))
    rows = done.messages.filter(pl.col("job") == 0)
    assert rows.height == done.summary["jobs"][0]["messages_sent"]
    assert rows["interval"].unique().sort().to_list() == [0, 1, 2, 3, 4]


def test_the_same_scenario_gives_the_same_tables() -> None:
    text = TEXT.replace("ranks_per_node = 2", 'ranks_per_node = 2\nmapping = "random"')
    first, second = run(scenario.parse(text)), run(scenario.parse(text))
    assert first.id == second.id
    assert first.iterations.equals(second.iterations)
    assert first.ranks.equals(second.ranks)
    other = run(scenario.parse(text).set("run.seed", 2))
    assert not other.iterations.equals(first.iterations)


def test_a_background_program_runs_until_the_others_are_done() -> None:
    text = TEXT.replace(
        'app = { pattern = "uniform-random", message = "40 KB", interval = "5 us" }',
        'app = { motif = "halo2d", message = "1 KB" }',
    )
    noise = run(scenario.parse(text)).summary["jobs"][1]
    assert noise["time_ps"] is None
    assert noise["iterations"] > 1


@pytest.mark.parametrize("mapping", ["linear", "round-robin", "random-ranks"])
def test_messages_between_ranks_of_one_node_do_not_use_the_network(mapping: str) -> None:
    text = TEXT.replace("ranks_per_node = 2", f'ranks_per_node = 2\nmapping = "{mapping}"')
    text = text.replace('collective = "alltoall", message = "2 KB"', 'motif = "ping-pong", message = "2 KB"')
    target = run(scenario.parse(text)).summary["jobs"][0]
    assert target["messages_sent"] == 5 * 16
    intra_node = {"linear": 5 * 16, "round-robin": 0}
    assert target["messages_intra_node"] == intra_node.get(mapping, target["messages_intra_node"])


def test_what_shows_only_in_the_run_has_file_and_line() -> None:
    """Iterations without end that take no time."""
    text = TEXT.replace(
        'ranks_per_node = 2\napp = { collective = "alltoall", message = "2 KB", iterations = 5, gap = "1 us" }',
        'app = { motif = "phases", phases = [{ compute = "0 s" }] }\nbackground = true',
    )
    text = text.replace("seed = 1", 'horizon = "1 us"')
    with pytest.raises(InputError, match="takes no time") as caught:
        run(scenario.parse(text, "s.toml"))
    assert (caught.value.file, caught.value.line) == ("s.toml", 4)


def test_ranks_that_wait_for_each_other_are_named(tmp_path: Path) -> None:
    """Each of two ranks receives first: rank 0 in line 3 of the written trace."""
    ranks = [f"rank {r} {{ l1: recv 8b from {1 - r}\nl2: send 8b to {1 - r}\nl2 requires l1 }}" for r in (0, 1)]
    (tmp_path / "x.goal").write_text("\n".join(["num_ranks 2", *ranks]))
    text = 'system = "tiny"\n[[job]]\nname = "a"\napp = { trace = "x.goal" }\n'
    with pytest.raises(RunError, match="rank 0 waits to receive 8 bytes from rank 1") as caught:
        run(scenario.parse(text, tmp_path / "s.toml"))
    assert "that `odonata trace` writes" in str(caught.value)
