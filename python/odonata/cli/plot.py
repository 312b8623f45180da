"""`odonata plot`: a run or a study as a picture."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(
    run: Path,
    other: Path | None = None,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    kind: Literal["overview", "machine", "box", "iterations", "links", "arrivals"] | None = None,
    animate: Annotated[bool, Parameter(negative=())] = False,
    log: bool | None = None,
    way: Literal["in", "out", "both"] | None = None,
    job: str | None = None,
    by: str | None = None,
    value: str | None = None,
    series: str | None = None,
    title: str | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    size: str | None = None,
    include_incomplete: Annotated[bool, Parameter(negative=())] = False,
    verify: bool = True,
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Draw a run: latencies as boxes, load of links, traffic over time. Draw a study: a column by one of its axes.

    Parameters
    ----------
    run
        A run folder, or the folder of a study.
    other
        With `--animate`, a second run, which plays beside the first and in step with it.
    out
        The picture: .png, .pdf, .svg or .pgf (for LaTeX), with `--animate` .gif or .mp4. Without it KIND.png, or
        `machine.gif`, in the run folder, or `study.png` in that of a study.
    kind
        Of a run. `overview`, the default: latencies and links. `machine`: the nodes of each job, the loaded links
        between groups, and how many times as long each job takes beside the others. `box`: latencies, as Kang 2019,
        figures 5 to 7. `iterations`: times of the iterations of programs. `links`: busy share of the links between
        groups and of each router's local links. `arrivals`: traffic over time, as figure 10.
    animate
        Draw `machine` as an animation of at most 128 frames: the load of the links between groups over time, which the
        run has recorded with `measure.series`.
    log
        Logarithmic axis of values. Default: if they span more than a factor of 30.
    way
        Traffic in `arrivals`: into a group, out of it, or the sum (`both`, the default).
    job
        Only the traffic of this job, in `arrivals`; of a study, the job that is drawn.
    by
        Of a study: the axis to draw by; numbers and quantities as lines, names as boxes.
    value
        Of a study: the column of `jobs` to draw. Default: the first column that the study shows.
    series
        Of a study: the axis of which each value is a line, or a box of its own.
    title
        The title, instead of the usual one.
    x_label, y_label
        Labels of the first axes, instead of the usual ones.
    size
        Width and height in inches, such as `6x4`.
    include_incomplete
        Of a study: also latencies, times and slowdowns of runs that are cut off. They cover only the messages that
        arrived.
    verify
        Compare files with their checksums.
    force
        Overwrite a file that is not a picture of odonata.
    json
        Print one JSON object: the path, and for each of the axes its labels, scales and the data that is drawn.
    """
    from odonata.errors import InputError
    from odonata.study.folder import is_study_folder

    labels: dict[str, Any] = {
        "title": title,
        "x_label": x_label,
        "y_label": y_label,
        "size": None if size is None else _size(size),
    }
    if animate:
        not_for_motion: tuple[tuple[str, object], ...] = (
            ("--kind", None if kind == "machine" else kind), ("--log", log), ("--way", way), ("--job", job),
            ("--by", by), ("--value", value), ("--series", series), ("--x-label", x_label), ("--y-label", y_label),
            ("--include-incomplete", include_incomplete or None),
        )  # fmt: skip
        useless = [option for option, given in not_for_motion if given is not None]
        if useless:
            raise InputError(f"`{useless[0]}` does nothing with `--animate`", hint="an animation shows the machine")
        return _animation([run, *([other] if other else [])], out, labels, verify=verify, force=force, json=json)
    if other is not None:
        hint = "add --animate, or write both into one page: odonata report RUN OTHER"
        raise InputError("two runs are drawn side by side only with `--animate`", hint=hint)
    if is_study_folder(run):
        options = {"by": by, "value": value, "series": series, "job": job, "log": log}
        options["include_incomplete"] = include_incomplete
        return _study(run, out, {"--kind": kind, "--way": way}, options, labels, verify=verify, force=force, json=json)
    if include_incomplete:
        raise InputError(f"`--include-incomplete` is for studies, `{run}` is not the folder of one")
    for option, wanted in (("--by", by), ("--value", value), ("--series", series)):
        if wanted is not None:
            raise InputError(f"`{option}` is for studies, `{run}` is not the folder of one")
    kind = kind or "overview"
    from odonata.plot.run import plot_run
    from odonata.plot.style import check_free, check_target, relabel
    from odonata.store import open_run

    for option, given, kinds in (
        ("--log", log, ("overview", "box", "iterations")),
        ("--way", way, ("arrivals",)),
        ("--job", job, ("arrivals",)),
    ):
        if given is not None and kind not in kinds:
            hint = f"it is for --kind {', '.join(kinds[:-1])}{' and ' * (len(kinds) > 1)}{kinds[-1]}"
            raise InputError(f"`{option}` does nothing for --kind {kind}", hint=hint)
    target = out if out is not None else run / f"{kind}.png"
    opened = open_run(run, verify=verify)
    check_target(target)
    check_free(target, force=force)
    made = plot_run(opened, kind, log=log, way=way or "both", job=job)
    relabel(made, **labels)
    return _written(made, target, kind, json=json)


def _animation(
    folders: list[Path], out: Path | None, labels: dict[str, Any], *, verify: bool, force: bool, json: bool
) -> int:
    from odonata.errors import InputError
    from odonata.plot.motion import PER_SECOND, animate_runs, check_animation, save_animation
    from odonata.plot.style import check_free, relabel
    from odonata.store import open_run
    from odonata.study.folder import is_study_folder

    for folder in folders:
        if is_study_folder(folder):
            hint = "name one or two of its runs, such as STUDY/runs/ID"
            raise InputError(f"`--animate` is for runs, `{folder}` is the folder of a study", hint=hint)
    target = out if out is not None else folders[0] / "machine.gif"
    runs = [open_run(folder, verify=verify) for folder in folders]
    check_animation(target, labels["size"])
    check_free(target, force=force)
    made = animate_runs(runs)
    relabel(made.figure, **labels)
    save_animation(made, target)
    told = {
        "path": str(target), "kind": "machine", "frames": made.frames, "frame_ps": made.width_ps,
        "frames_per_second": PER_SECOND,
    }  # fmt: skip
    print(json_module.dumps(told) if json else target)
    return 0


MOST_INCHES = 100


def _size(given: str) -> tuple[float, float]:
    """Width and height."""
    from odonata.errors import InputError

    try:
        width, height = (float(part) for part in given.lower().split("x"))
    except ValueError:
        raise InputError(f"`--size` is a width and a height in inches, such as 6x4, found `{given}`") from None
    if not (0.5 <= width <= MOST_INCHES and 0.5 <= height <= MOST_INCHES):
        raise InputError(f"`--size` has 0.5 to {MOST_INCHES} inches each way, found `{given}`")
    return width, height


def _study(
    study: Path,
    out: Path | None,
    not_for_studies: dict[str, str | None],
    chosen: dict[str, Any],
    labels: dict[str, Any],
    *,
    verify: bool,
    force: bool,
    json: bool,
) -> int:
    from odonata.cli.sweep import say_engines
    from odonata.errors import InputError
    from odonata.plot.style import check_free, check_target, relabel
    from odonata.study.study import open_study

    for option, given in not_for_studies.items():
        if given is not None:
            raise InputError(f"`{option}` is for runs, `{study}` is the folder of a study")
    opened = open_study(study, verify=verify)
    say_engines(opened)
    target = out if out is not None else study / "study.png"
    check_target(target)
    check_free(target, force=force)
    made = opened.plot(**chosen)
    relabel(made, **labels)
    return _written(made, target, "study", json=json)


def _written(made: "Figure", target: Path, kind: str, *, json: bool) -> int:
    from odonata.plot.drawn import drawn
    from odonata.plot.style import save

    save(made, target)
    told = {"path": str(target), "kind": kind, "title": made.get_suptitle(), "axes": drawn(made)} if json else None
    print(target if told is None else json_module.dumps(told))
    return 0
