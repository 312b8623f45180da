"""The picture of the machine: nodes by job, links between groups by load, and what each job suffers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import PathPatch

import odonata as od
from odonata.plot.machine import NO_JOB, OTHERS, Scale, draw_machine, draw_scale, job_colours
from odonata.plot.slowdown import draw_slowdowns
from odonata.plot.style import MOST_LINES, figure
from odonata.scenario import parse

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO = """\
system = "zhang2018-272"

[[job]]
name = "target"
nodes = 20
place = "random"
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 5 }

[[job]]
name = "noise"
nodes = 20
place = "random"
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us" }
background = true

[run]
until = "target"
"""


@pytest.fixture(scope="module")
def run() -> od.Run:
    return od.run(parse(TWO), alone=True)


def test_each_node_has_the_colour_of_its_job(run: od.Run) -> None:
    """Catches nodes of one group that are drawn in another one: every group is counted by job."""
    colours = job_colours(run)
    axes: Any = draw_machine(figure(5, 5).subplots(), run, colours=colours)
    router_group = {
        row["to_id"]: row["to_group"] for row in run.links.iter_rows(named=True) if row["from_kind"] == "node"
    }
    of_node = {
        row["from_id"]: router_group[row["to_id"]]
        for row in run.links.iter_rows(named=True)
        if row["from_kind"] == "node"
    }
    assert len(axes.images) == len(set(of_node.values()))
    for name, job in zip(run.jobs["name"], run.resolved["spec"]["jobs"], strict=True):
        expected = np.bincount([of_node[node] for node in job["nodes"]], minlength=len(axes.images))
        shown = [
            int(np.all(np.isclose(image.get_array(), to_rgb(colours[name])), axis=-1).sum()) for image in axes.images
        ]
        assert shown == expected.tolist()
    free = sum(int(np.all(np.isclose(image.get_array(), to_rgb(NO_JOB)), axis=-1).sum()) for image in axes.images)
    assert free == len(of_node) - 40


def test_the_busiest_pair_has_the_widest_line(run: od.Run) -> None:
    axes: Any = draw_machine(figure(5, 5).subplots(), run, colours=job_colours(run))
    lines = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    groups = len(axes.images)
    assert len(lines) == groups * (groups - 1) // 2
    busy = run.links.filter(pl.col("from_kind") == "router", pl.col("to_kind") == "router").filter(
        pl.col("from_group") != pl.col("to_group")
    )
    top = busy.group_by("from_group", "to_group").agg(pl.col("busy").mean()).sort("busy").row(-1)
    ends = lines[-1].get_path().vertices[[0, -1]]
    angles = np.round((np.pi / 2 - np.arctan2(ends[:, 1], ends[:, 0])) / (2 * np.pi / groups)) % groups
    assert set(angles) == set(top[:2])
    assert lines[-1].get_linewidth() == max(line.get_linewidth() for line in lines)


@pytest.mark.parametrize("loads", [(0.54, 0.59), (0.002, 0.006), (0.5, 0.5)])
def test_colours_begin_at_no_load_and_have_whole_percents(run: od.Run, loads: tuple[float, float]) -> None:
    """Two links at 54 and 59 % are nearly alike, as in animations and reports."""
    of = dict(zip(((0, 1), (0, 2)), loads, strict=True))
    scale = Scale(max(loads))
    made = figure(5, 5)
    draw_scale(made.subplots(), scale, of, run)
    made.draw_without_rendering()
    assert (scale.norm.vmin, scale.norm(loads[0])) == (0, pytest.approx(loads[0] / loads[1]))
    told = [text.get_text() for text in made.axes[1].get_xticklabels()]
    assert all(re.fullmatch(r"\d+ %" if loads[1] > 0.05 else r"\d(\.\d{1,2})? %", text) for text in told), told
    assert len(set(told)) == len(told) >= 2


def test_the_machine_of_a_run_is_drawn_on_that_scale(run: od.Run) -> None:
    made = figure(5, 5)
    draw_machine(made.subplots(), run, colours=job_colours(run))
    made.draw_without_rendering()
    low, high = made.axes[1].get_xlim()
    assert low == 0 < high


def test_a_tree_has_its_cores_in_the_middle() -> None:
    tree = od.run(od.load(EXAMPLES / "fat-tree.toml"))
    axes: Any = draw_machine(figure(5, 5).subplots(), tree, colours=job_colours(tree))
    assert "cores" in [label.get_text() for label in axes.texts]
    assert len([patch for patch in axes.patches if isinstance(patch, PathPatch)]) == 4


def test_the_largest_jobs_have_colours_and_the_others_one_grey() -> None:
    jobs = "".join(
        f'[[job]]\nname = "j{n}"\nnodes = {n + 1}\napp = {{ pattern = "uniform-random", message = "1 KB", interval = '
        '"1 us", messages = 1 }\n'
        for n in range(1, 9)
    )
    colours = job_colours(od.run(parse(f'system = "zhang2018-272"\n{jobs}')))
    assert [name for name, colour in colours.items() if colour == OTHERS] == ["j1", "j2"]
    assert len(set(colours.values())) == MOST_LINES + 1


def test_bars_say_how_many_times_as_long_it_takes(run: od.Run) -> None:
    axes: Any = draw_slowdowns(figure(3, 3).subplots(), run.jobs, colours=job_colours(run))
    (target,) = run.jobs.filter(name="target").iter_rows(named=True)
    assert [text.get_text() for text in axes.texts] == [f"{target['slowdown']:.2f} x"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["target"]
    assert [patch.get_height() for patch in axes.patches] == [1.0, target["slowdown"]]


def test_a_program_has_the_slowdown_of_the_table() -> None:
    """Catches a ratio of means of iterations, which is another number."""
    rows = pl.DataFrame(
        {
            "name": ["a", "b"],
            "slowdown": [1.5, None],
            "iteration_mean_ps": [8.0, 1.0],
            "alone_iteration_mean_ps": [4.0, 1.0],
        }
    )
    axes: Any = draw_slowdowns(figure(3, 3).subplots(), rows, colours={"a": "0.1", "b": "0.2"})
    assert [text.get_text() for text in axes.texts] == ["1.50 x"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a"]


def test_without_a_run_alone_there_are_no_bars() -> None:
    rows = pl.DataFrame({"name": ["a"], "slowdown": [None]}, schema={"name": pl.String, "slowdown": pl.Float64})
    axes: Any = draw_slowdowns(figure(3, 3).subplots(), rows, colours={"a": "0.1"})
    assert not axes.patches
    assert "--alone" in axes.texts[0].get_text()
