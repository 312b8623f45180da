"""The pictures of a run: what `odonata plot` draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from odonata.analysis.traffic import (
    Way,
    arrival_rates,
    busiest,
    group_capacity,
    group_matrix,
    leaves_in_group,
    local_matrix,
)
from odonata.errors import InputError, unknown
from odonata.plot.arrivals import draw_arrivals
from odonata.plot.box import boxes_of, draw_boxes, iteration_boxes_of, mixed_boxes_of
from odonata.plot.links import draw_group_matrix, draw_local, scale_for
from odonata.plot.machine import draw_machine, job_colours
from odonata.plot.slowdown import draw_slowdowns
from odonata.plot.style import figure, plain, settings
from odonata.units import format_time

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from odonata.store import Run

Kind = Literal["overview", "machine", "box", "iterations", "links", "arrivals"]
"""Latencies and links in one picture, the machine with its jobs and what each suffers, or one of: latencies, times of
iterations, links, traffic between groups."""
MOST_CHARACTERS = 24
"""Of the name of a job in a title."""
ITERATIONS = "time of an iteration"
KINDS: tuple[Kind, ...] = get_args(Kind)


def plot_run(
    run: Run, kind: Kind = "overview", *, log: bool | None = None, way: Way = "both", job: str | None = None
) -> Figure:
    """Draw a run. `log` is for the axis of times (`None`: by their spread); `way` and `job` are for `arrivals`.

    Raises `InputError` if the run has not recorded what the picture shows, or has no such job.
    """
    with settings():
        if kind == "overview":
            made = figure(9.6, 6.2)
            upper, lower = _halves(made, 2.0)
            left, right = upper.subplots(1, 2, width_ratios=[1.0, 1.15])
            programs = iteration_boxes_of(run.jobs)
            others = mixed_boxes_of(run.jobs) if programs else []
            if programs and len(others) == len(programs):
                # How long an iteration takes is the finding; latencies of its messages may be those alone.
                draw_boxes(left, programs, log=log, what=ITERATIONS)
            elif programs:
                draw_boxes(left, others, log=log, what="time")
            else:
                _boxes(left, run, log)
            _links(right, lower.subplots(), run)
        elif kind == "machine":
            made = figure(9.6, 6.2)
            left, right = made.subplots(1, 2, width_ratios=[2.0, 1.0])
            colours = job_colours(run)
            draw_machine(left, run, colours=colours)
            draw_slowdowns(right, run.jobs, colours=colours)
        elif kind == "box":
            made = figure(min(max(3.4, 1.4 + 1.2 * len(boxes_of(run.jobs))), 16.0), 3.4)
            _boxes(made.subplots(), run, log)
        elif kind == "iterations":
            boxes = iteration_boxes_of(run.jobs)
            if not boxes:
                hint = "collectives, motifs and traces have iterations; --kind box shows latencies of messages"
                raise InputError("no program of this run ended an iteration while measuring", hint=hint)
            made = figure(min(max(3.4, 1.4 + 1.2 * len(boxes)), 16.0), 3.4)
            draw_boxes(made.subplots(), boxes, log=log, what=ITERATIONS)
        elif kind == "links":
            made = figure(6.4, 6.6)
            upper, lower = _halves(made, 2.4)
            _links(upper.subplots(), lower.subplots(), run)
        else:
            made = figure(7.6, 3.4)
            _arrivals(made.subplots(), run, way, job)
        made.suptitle(_title(run), x=0.01, ha="left", fontsize=8.5)
    return made


def _title(run: Run) -> str:
    """Machine, routing and seed."""
    scenario = run.resolved.get("scenario")
    if scenario is None:
        return f"seed {run.seed}"
    return f"{scenario['system']['name']}, routing {scenario['routing']['name']}, seed {run.seed}"


def _halves(made: Figure, ratio: float) -> tuple[SubFigure, SubFigure]:
    """Upper and lower part with the given ratio of heights; each has its own layout."""
    parts: Any = made.subfigures(2, 1, height_ratios=[ratio, 1.0])
    return parts[0], parts[1]


def _boxes(axes: Axes, run: Run, log: bool | None) -> None:
    boxes = boxes_of(run.jobs)
    if not boxes and not run.jobs["messages_delivered"].sum():
        raise InputError("no message was delivered in this run", hint="--kind links shows the load of the links")
    if not boxes and (run.jobs["record"] != "nothing").any():
        hint = "shorten `measure.warm_up`, or lengthen `measure.window`"
        raise InputError("no message issued while measuring was delivered in this run", hint=hint)
    if not boxes:
        raise InputError("no job of this run has recorded latencies", hint='set `measure.latency = "every-message"`')
    draw_boxes(axes, boxes, log=log)


def _links(between: Axes, inside: Axes, run: Run) -> None:
    groups, routers = group_matrix(run.links), local_matrix(run.links)
    top = scale_for(groups, routers)
    draw_group_matrix(between, groups, top=top, busiest=busiest(run.links, between_groups=True))
    inner, leaves = busiest(run.links, between_groups=False), leaves_in_group(run.links)
    draw_local(inside, routers, top=top, busiest=inner, leaves=leaves)


def _arrivals(axes: Axes, run: Run, way: Way, job: str | None) -> None:
    if run.counters.is_empty() and run.resolved["spec"]["measure"].get("arrivals_every_ps"):
        raise InputError(
            "there was no traffic between groups in this run", hint="--kind links shows the load of the links"
        )
    if run.counters.is_empty():
        raise InputError(
            "this run did not count the traffic between groups",
            hint='set `measure.links.every = "10 us"` and run it again',
        )
    names = run.jobs["name"].to_list()
    if job is not None and job not in names:
        raise unknown("job", job, names)
    rates = arrival_rates(run.counters, way, job=None if job is None else names.index(job))
    capacity = float(group_capacity(run.links).max()) * (2 if way == "both" else 1)
    draw_arrivals(axes, rates, way=way, capacity=capacity or None)
    axes.set_title(plain(_jobs(names if job is None else [job])), loc="left")
    missing = _end(run.counters) - _end(rates)
    if missing > 0:
        axes.set_xlabel(f"{axes.get_xlabel()}; the last {format_time(missing, 3)} are not drawn")


def _jobs(names: list[str]) -> str:
    """Some jobs in a title: three by name, and how many others."""
    shown = [name if len(name) <= MOST_CHARACTERS else f"{name[: MOST_CHARACTERS - 1]}…" for name in names[:3]]
    others = len(names) - len(shown)
    return " + ".join([*shown, f"{others} other job{'s' * (others > 1)}"] if others else shown)


def _end(windows: pl.DataFrame) -> int:
    return int((windows["start_ps"] + windows["width_ps"]).max() or 0)  # type: ignore[arg-type]
