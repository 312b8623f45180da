"""Animations: the loads of their frames against the tables of the run, runs in step, and the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from PIL import Image

import odonata as od
from odonata.analysis.motion import MOST_FRAMES, frame_width, motion_of
from odonata.errors import InputError, RunError
from odonata.plot.machine import MIDDLE
from odonata.plot.motion import PER_SECOND, animate_runs, check_animation, save_animation
from odonata.plot.style import MARK

if TYPE_CHECKING:
    from pathlib import Path

NEIGHBOUR = {
    "name": "noise",
    "nodes": 8,
    "app": {"pattern": "uniform-random", "message": "16 KB", "load": "40 %"},
    "background": True,
}


def scenario(**changes: Any) -> dict[str, Any]:
    job = {"name": "halo", "nodes": 8, "place": "random", "app": {"motif": "halo3d", "message": "64 KB"}}
    return {
        "system": "tiny",
        "job": [{**job, "iterations": 5}, NEIGHBOUR],
        "run": {"until": "halo"},
        "measure": {"series": True, "links": {"every": "20 us"}},
        **changes,
    }


@pytest.fixture(scope="module")
def run() -> od.Run:
    return od.run(scenario())


@pytest.fixture(scope="module")
def longer() -> od.Run:
    given = scenario()
    given["job"][0]["iterations"] = 14
    return od.run(given)


def test_frames_have_all_bytes_of_each_job(run: od.Run) -> None:
    """Catches lost slices, wrong bandwidths, and jobs that are mixed up."""
    motion = motion_of(run, frame_width([run]))
    between = run.links.filter(pl.col("from_group") != pl.col("to_group"))
    speed = between["bandwidth"].unique().item()
    shown = motion.by_job.sum(axis=1) * between.height * speed * motion.width_ps * 1e-12
    sent = run.counters.group_by("job").agg(pl.col("bytes_out").sum()).sort("job")["bytes_out"].to_list()
    assert shown == pytest.approx(sent, rel=0.01)
    assert motion.loads.shape == (len(motion.ends), motion.by_job.shape[1])
    assert motion.loads.shape[1] <= MOST_FRAMES


def test_a_line_has_the_load_of_its_links(run: od.Run) -> None:
    motion = motion_of(run, frame_width([run]))
    for ends, loads in zip(motion.ends, motion.loads, strict=True):
        sums = [
            run.links.filter(from_group=a, to_group=b)["bytes"].mean()
            / run.links.filter(from_group=a, to_group=b)["bandwidth"][0]
            for a, b in (ends, ends[::-1])
        ]
        most = max(sums) / (motion.width_ps * 1e-12)
        # The busier direction may be another one in another frame.
        assert most * 0.99 <= loads.sum() <= sum(sums) / (motion.width_ps * 1e-12) * 1.01


def test_two_runs_are_in_step(run: od.Run, longer: od.Run) -> None:
    """One frame is the same time of both; the shorter one waits idle at its end."""
    width = frame_width([run, longer])
    assert width >= max(run.series["width_ps"][0], longer.series["width_ps"][0])
    made = animate_runs([run, longer])
    assert made.frames * width >= longer.manifest["sim_time_ps"] > (made.frames - 1) * width
    made.show(made.frames - 1)
    titles = [axes.get_title(loc="left") for axes in made.figure.axes[:2]]
    assert "ended at" in titles[0]
    assert "ended at" not in titles[1]
    first, second = made.parts
    assert {line.get_linewidth() for line in first.lines.values()} == {0.5}
    assert first.now.get_xdata()[0] == second.now.get_xdata()[0]  # type: ignore[index]


def test_the_hottest_line_of_a_frame_is_the_widest(run: od.Run) -> None:
    made = animate_runs([run])
    (part,) = made.parts
    frame = int(part.motion.loads.max(axis=0).argmax())
    made.show(frame)
    hottest = part.motion.ends[int(part.motion.loads[:, frame].argmax())]
    assert part.lines[hottest].get_linewidth() == max(line.get_linewidth() for line in part.lines.values())


def test_a_gif_moves_and_has_the_same_bytes_again(run: od.Run, tmp_path: Path) -> None:
    for name in ("a.gif", "b.gif"):
        save_animation(animate_runs([run]), tmp_path / name)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    with Image.open(tmp_path / "a.gif") as image:
        frames = animate_runs([run]).frames
        assert getattr(image, "n_frames", 1) == frames
        assert image.info["duration"] == 1000 // PER_SECOND
        assert image.info["comment"] == MARK.encode()
        shown = []
        for frame in (1, frames // 2):
            image.seek(frame)
            shown.append(np.asarray(image.convert("RGB")).astype(int))
    assert (np.abs(shown[0] - shown[1]).max(axis=2) > 60).sum() > 200


def test_a_run_without_a_series_says_what_to_set() -> None:
    with pytest.raises(InputError, match="did not record the load") as caught:
        animate_runs([od.run(scenario(measure={}))])
    assert "measure.series = true" in str(caught.value.hint)


def test_a_machine_of_one_group_has_its_routers_in_the_ring() -> None:
    given = scenario(system={"preset": "tiny", "groups": 1, "global_links_per_spine": 0})
    given["job"] = [{**given["job"][0], "nodes": 4}]
    made = animate_runs([od.run(given)])
    assert [text.get_text() for text in made.figure.axes[0].texts if text.get_gid() == MIDDLE] == ["spines"]


def test_a_single_switch_has_nothing_to_animate() -> None:
    system = {"kind": "hyperx", "dimensions": [1], "nodes_per_router": 4, "host": "none"}
    system["fabric"] = {"links": {"node": {"bandwidth": "1 GB/s", "latency": "10 ns"}}}
    given = scenario(system=system, routing="minimal")
    given["job"] = [{**given["job"][0], "nodes": 4}]
    with pytest.raises(InputError, match="no links between routers"):
        animate_runs([od.run(given)])


def test_a_video_needs_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: od.Run) -> None:
    """A script stands for ffmpeg: it gets the pixels of every frame, and its failure is an error."""
    monkeypatch.setitem(mpl.rcParams, "animation.ffmpeg_path", str(tmp_path / "absent"))
    with pytest.raises(InputError, match="ffmpeg") as caught:
        check_animation(tmp_path / "a.mp4", None)
    assert "a.gif" in str(caught.value.hint)
    ffmpeg = tmp_path / "ffmpeg"
    ffmpeg.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\n')
    ffmpeg.chmod(0o755)
    monkeypatch.setitem(mpl.rcParams, "animation.ffmpeg_path", str(ffmpeg))
    made = animate_runs([run])
    save_animation(made, tmp_path / "a.mp4")
    width, height = (made.figure.get_size_inches() * 100).astype(int)
    assert (tmp_path / "a.mp4").stat().st_size == width * height * 4 * made.frames
    ffmpeg.write_text("#!/bin/sh\ncat > /dev/null\nexit 3\n")
    with pytest.raises(RunError, match="ffmpeg failed"):
        save_animation(animate_runs([run]), tmp_path / "b.mp4")
    assert not (tmp_path / "b.mp4").exists()
