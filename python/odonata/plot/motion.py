"""The machine of a run in motion: the jobs on its nodes and the load of the links between groups, frame by frame.

Two runs play in step: their frames are equally long and have the same colours. An animation is a GIF, or a video by
ffmpeg.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from subprocess import SubprocessError
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.animation import FFMpegWriter
from PIL import Image

from odonata import files
from odonata.analysis.motion import Motion, frame_width, motion_of
from odonata.errors import InputError, RunError
from odonata.plot.machine import MIDDLE, OTHERS, Scale, draw_groups, draw_lines, draw_scale, job_colours, middle_name
from odonata.plot.style import MARK, check_target, figure, percent, plain, settings, time_unit
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch
    from numpy.typing import NDArray

    from odonata.analysis.motion import Ends
    from odonata.store import Run

FORMATS = ("gif", "mp4")
PER_SECOND = 10
"""Frames in a second; a run of at most 128 frames plays for at most 13 s."""
DPI = 100
MOST_INCHES = 16
"""A picture of 128 frames of 16 x 16 inches needs 1 GB while it is written."""
SHARE = 0.98
"""The scale ends at a load that at most 2 % of all frames of all lines exceed, so that a single peak is not all that
shows."""
IDLE = 0.0


class Animation:
    """A figure and what changes in it with each frame."""

    def __init__(self, figure: Figure, frames: int, width_ps: int, parts: Sequence[_Part]) -> None:
        self.figure, self.frames, self.width_ps, self.parts = figure, frames, width_ps, parts

    @property
    def moving(self) -> list[Artist]:
        """What differs between frames."""
        return [artist for part in self.parts for artist in part.moving]

    def show(self, frame: int) -> None:
        """Changes the figure to a frame."""
        for part in self.parts:
            part.show(frame)


def animate_runs(runs: Sequence[Run]) -> Animation:
    """Draws one run, or two side by side, before their first frame.

    Raises InputError for a run without `measure.series`, or on a machine without links between groups.
    """
    width = frame_width(list(runs))
    motions = [motion_of(run, width) for run in runs]
    frames = max(motion.loads.shape[1] for motion in motions)
    busy = np.concatenate([motion.loads[motion.loads > 0] for motion in motions])
    scale = Scale(float(np.quantile(busy, SHARE)) if busy.size else 0.0)
    top = max(float(motion.by_job.sum(axis=0).max()) for motion in motions)
    with settings():
        made = figure(5.4 * len(runs), 5.8)
        axes: Any = made.subplots(2, len(runs), height_ratios=[4.0, 1.0], squeeze=False)
        parts = [
            _Part((axes[0, at], axes[1, at]), run, motion, scale, (frames, top), named=len(runs) > 1)
            for at, (run, motion) in enumerate(zip(runs, motions, strict=True))
        ]
    return Animation(made, frames, width, parts)


class _Part:
    """One run: its machine, and below it the load by job over time with the present moment."""

    def __init__(
        self, axes: tuple[Axes, Axes], run: Run, motion: Motion, scale: Scale, limits: tuple[int, float], *, named: bool
    ) -> None:
        above, below = axes
        self.motion, self.scale = motion, scale
        self.end_ps = int(run.manifest["sim_time_ps"])
        colours = job_colours(run)
        angles = draw_groups(above, run, colours=colours)
        greatest = dict(zip(motion.ends, motion.loads.max(axis=1).tolist(), strict=True))
        self.lines: dict[Ends, PathPatch] = draw_lines(above, greatest, angles, scale, middle_name(run))
        self.rows = {ends: motion.ends.index(ends) for ends in self.lines}
        draw_scale(above, scale, motion.ends, run, what="load")
        scenario = run.resolved.get("scenario")
        machine = f"{scenario['system']['name']}, routing {scenario['routing']['name']}, " if scenario else ""
        folder = f"{run.path.name}: " if named and run.path else ""
        self.name = plain(f"{folder}{machine}seed {run.seed}")
        frames, top = limits
        self.unit, self.factor = time_unit([frames * motion.width_ps])
        self._draw_time(below, run, colours, frames, top)
        self.now = below.axvline(0, color="black", linewidth=1)
        middle = [text for text in above.texts if text.get_gid() == MIDDLE]
        self.title = above.set_title("", loc="left")
        self.moving: list[Artist] = [*self.lines.values(), *middle, self.now, self.title]

    def _draw_time(self, below: Axes, run: Run, colours: dict[str, str], frames: int, top: float) -> None:
        edges = np.arange(self.motion.by_job.shape[1] + 1) * self.motion.width_ps / self.factor
        base = np.zeros(len(edges) - 1)
        ordered = sorted(
            zip(run.jobs["name"], self.motion.by_job, strict=True), key=lambda job: colours[job[0]] == OTHERS
        )
        for name, shares in ordered:
            below.stairs(base + shares, edges, baseline=base, fill=True, color=colours[name])
            base = base + shares
        below.set_xlim(0, frames * self.motion.width_ps / self.factor)
        below.set_ylim(0, top * 1.05 or 1.0)
        below.yaxis.set_major_formatter(percent)
        below.set_xlabel(f"simulated time ({self.unit})")
        below.set_ylabel("mean load\nby job")
        below.grid(axis="y", color="0.9", linewidth=0.6)

    def show(self, frame: int) -> None:
        """Shows the loads of a frame; after the end of the run the links are idle."""
        columns = self.motion.loads.shape[1]
        for ends, line in self.lines.items():
            load = float(self.motion.loads[self.rows[ends], frame]) if frame < columns else IDLE
            self.scale.show(line, load)
            line.set_zorder(2 + 0.9 * float(self.scale.norm(load)))
        begin, end = frame * self.motion.width_ps, (frame + 1) * self.motion.width_ps
        self.now.set_xdata([(begin + end) / 2 / self.factor] * 2)
        if begin < self.end_ps:
            moment = f"{format_time(begin, 3)} to {format_time(min(end, self.end_ps), 3)}"
        else:
            moment = f"ended at {format_time(self.end_ps, 3)}"
        self.title.set_text(f"{self.name}\n{moment}")


def check_animation(path: Path, size: tuple[float, float] | None) -> None:
    """Raises InputError if no animation can go there, if ffmpeg is missing for a video, or if `size` is too large."""
    check_target(path, FORMATS)
    if path.suffix.lower() == ".mp4" and not FFMpegWriter.isAvailable():
        raise InputError(
            f"cannot draw `{path}`: ffmpeg, which writes videos, is not installed",
            hint=f"install ffmpeg, or write `{path.with_suffix('.gif').name}`",
        )
    if size is not None and max(size) > MOST_INCHES:
        raise InputError(f"an animation has at most {MOST_INCHES} inches each way, found {size[0]:g}x{size[1]:g}")


def save_animation(animation: Animation, path: Path) -> None:
    """Draws all frames; a GIF of the same runs has the same bytes. Raises RunError if it cannot be written."""
    check_animation(path, None)
    with settings():
        animation.figure.set_dpi(DPI)
        animation.show(0)
        animation.figure.canvas.draw()
        # The layout is that of the first frame: nothing moves but what changes.
        animation.figure.set_layout_engine("none")
        files.write(path, _gif(animation) if path.suffix.lower() == ".gif" else _video(animation, path))


def _gif(animation: Animation) -> memoryview:
    """One table of colours for all frames, so that none flickers, and our mark as a comment."""
    frames = [Image.fromarray(frame) for frame in _frames(animation)]
    # The frame with most colours, the busiest one, has all that the others show.
    most = max(frames, key=lambda frame: len(frame.getcolors(frame.width * frame.height) or ()))
    table = most.quantize(256, method=Image.Quantize.MAXCOVERAGE)
    first, *others = (frame.quantize(palette=table, dither=Image.Dither.NONE) for frame in frames)
    made = io.BytesIO()
    first.save(
        made, format="GIF", save_all=True, append_images=others, loop=0, comment=MARK.encode(),
        duration=1000 // PER_SECOND,
    )  # fmt: skip
    return made.getbuffer()


def _frames(animation: Animation) -> Iterator[NDArray[np.uint8]]:
    """The pixels of each frame. What does not change is drawn once."""
    canvas: Any = animation.figure.canvas
    for artist in animation.moving:
        artist.set_animated(True)
    canvas.draw()
    still = canvas.copy_from_bbox(animation.figure.bbox)
    for frame in range(animation.frames):
        canvas.restore_region(still)
        animation.show(frame)
        for artist in sorted(animation.moving, key=lambda artist: artist.get_zorder()):
            artist.draw(canvas.renderer)
        yield np.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def _video(animation: Animation, path: Path) -> memoryview:
    writer = FFMpegWriter(PER_SECOND, metadata={"comment": MARK})
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "picture.mp4"
        try:
            with writer.saving(animation.figure, str(written), DPI):
                for frame in range(animation.frames):
                    animation.show(frame)
                    writer.grab_frame()
            return memoryview(written.read_bytes())
        except (OSError, RuntimeError, SubprocessError) as problem:
            raise RunError(f"cannot write `{path}`: ffmpeg failed: {problem}") from None
