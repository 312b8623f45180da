"""A run in one object and in small tables: one of jobs that send at intervals, one of programs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from odonata.store.columns import MODE_NUMBERS, MODES, PRINTED, QUANTILES, REORDERING
from odonata.store.flows_text import flows_answer, flows_table
from odonata.text import Table, columns, digits, fixed, four_digits, size, time, unit_of
from odonata.units import format_bytes, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl


def summary_of(manifest: Mapping[str, Any], jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """The object that `odonata run --json` prints, from the manifest and what `jobs_of` gives."""
    wall = manifest["wall"]
    return {
        "id": manifest["id"],
        "seed": manifest["seed"],
        "version": manifest["version"],
        "sim_time_ps": manifest["sim_time_ps"],
        "events": manifest["events"],
        "packet_hops": manifest["packet_hops"],
        "wall_s": wall["wall_s"],
        "threads": wall.get("threads", 1),
        "packet_hops_per_s": wall["packet_hops_per_s"],
        "peak_rss_bytes": wall["peak_rss_bytes"],
        **{key: manifest[key] for key in ("steady", "packets") if key in manifest},
        "jobs": jobs,
    }


def jobs_of(
    manifest: Mapping[str, Any],
    jobs: pl.DataFrame,
    flows: pl.DataFrame | None = None,
    measure: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The jobs of a summary, from the tables `jobs` and `flow_times`.

    Times are picoseconds, `throughput` is bytes per second. `measure` is that of the specification.
    """
    summed = [_job(row, manifest.get("link_classes", ())) for row in jobs.iter_rows(named=True)]
    in_steps = manifest.get("steady", {}).get("steps", {})
    for job in summed:
        if job["name"] in in_steps:
            job["steps_skipped"] = in_steps[job["name"]]["skipped"]
    if flows is not None and not flows.is_empty():
        from odonata.store.flows import add_flows

        add_flows(summed, flows, measure or {})
    return summed


_TOTALS = (
    "complete", "saturated", "messages_sent", "messages_delivered", "measured_sent", "measured_delivered",
    "backlog_growth", "packets", "bytes", "time_ps", "throughput",
)  # fmt: skip


def _job(row: Mapping[str, Any], classes: list[str]) -> dict[str, Any]:
    job = {name: row[name] for name in ("name", "nodes", "ranks", "background", *_TOTALS)}
    job["latency_ps"] = _distribution(row, "latency")
    job["hops_mean"] = row["hops_mean"]
    job["minimal_fraction"] = row["minimal_fraction"]
    job |= {name: row[name] for name in REORDERING if name in row}
    if row["messages_adaptive_0"] is not None:
        job["modes"] = {
            mode: {what: row[f"{what}_adaptive_{number}"] for what in ("messages", "bytes")}
            for number, mode in zip(MODE_NUMBERS, MODES, strict=True)
        }
        job["default_fraction"] = row["default_fraction"]
    if row["class_bytes"]:
        job["bytes_by_class"] = dict(zip(classes, row["class_bytes"], strict=True))
    if row["iterations"] is not None:
        counts = ("messages_intra_node", "messages_control", "iterations", "iterations_per_s")
        job |= {name: row[name] for name in counts}
        times = _distribution(row, "iteration")
        job["iteration_ps"] = times and {**times, "rank_mean": row["iteration_rank_mean_ps"]}
        job |= {name: row[name] for name in ("algbw", "busbw") if row.get(name) is not None}
        if row.get("iterations_skipped") is not None:
            job |= {name: row[name] for name in ("iterations_skipped", "skipped_ps", "skipped_error")}
    alone = _distribution(row, "alone")
    if alone is not None:
        job["latency_alone_ps"] = alone
    if row["alone_time_ps"] is not None:
        job["time_alone_ps"] = row["alone_time_ps"]
    if alone is not None or row["alone_time_ps"] is not None:
        job["alone_complete"] = row["alone_complete"]
        job["slowdown"] = row["slowdown"]
    return job


def _distribution(row: Mapping[str, Any], prefix: str) -> dict[str, Any] | None:
    if row[f"{prefix}_mean_ps"] is None:
        return None
    return {name: row[f"{prefix}_{name}_ps"] for name in (*QUANTILES, "mean")}


LARGEST = 10
"""Background jobs that have a row, and targets that have a sentence, if there are more of them."""


def tables_of(summary: Mapping[str, Any], *, every: bool = True) -> list[Table]:
    """The summary as text: a table of the jobs that send at intervals and one of those that run programs.

    Without `every`, of the background jobs only the largest have a row.
    """
    begin = f"run {summary['id']}, seed {summary['seed']}: {format_time(summary['sim_time_ps'], 3)} simulated; "
    jobs = summary["jobs"] if every else _foremost(summary["jobs"])
    sending = [job for job in jobs if not _is_program(job)]
    running = [job for job in jobs if _is_program(job)]
    tables = [_latencies(sending, begin)] if sending else []
    if running:
        tables.append(_programs(running, "" if tables else begin))
    return tables + [flows_table(job) for job in running if job.get("flows")]


def _foremost(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The jobs that are not background and the largest of the others, in the order of the scenario."""
    others = sorted((job for job in jobs if job["background"]), key=lambda job: -job["nodes"])
    names = {job["name"] for job in others[LARGEST:]}
    return [job for job in jobs if job["name"] not in names]


def _is_program(job: Mapping[str, Any]) -> bool:
    return "iterations" in job


CUT_OFF = "*"
"""Mark of a number that covers only what arrived before the end of the run."""
EXTRAPOLATED = "~"
"""Mark of a number that includes iterations that were skipped (`run.steady`)."""


def _latencies(jobs: list[dict[str, Any]], begin: str) -> Table:
    """Jobs with their latencies in a common unit (that of the least mean)."""
    unit, factor = _latency_unit(jobs)
    alone = any("slowdown" in job for job in jobs)
    full = any(job["saturated"] for job in jobs)
    shown = ("min", "p25", "p50", "p75", "p99", "max", "mean")
    names = ["name", "nodes", "messages_delivered", *(f"latency_{name}_ps" for name in shown)]
    names += ["hops_mean", "minimal_fraction", *_reordering_names(jobs), *(["saturated"] if full else [])]
    names += ["alone_mean_ps", "slowdown"] if alone else []
    rows = []
    for job in jobs:
        latency, by_itself = job["latency_ps"] or {}, job.get("latency_alone_ps") or {}
        row = [job["name"], f"{job['nodes']:,}", f"{job['messages_delivered']:,}"]
        row += [_marked(digits(latency.get(name), factor), job["complete"]) for name in shown]
        row += [fixed(job["hops_mean"], ".2f"), fixed(job["minimal_fraction"], ".1%"), *_reordering(job)]
        row += [{True: "yes", False: "no", None: "-"}[job["saturated"]]] if full else []
        if alone:
            row.append(_marked(digits(by_itself.get("mean"), factor), job.get("alone_complete")))
            row.append(fixed(job.get("slowdown"), ".2f", " x"))
        rows.append(row)
    title = f"{begin}latencies in {unit}{_reordering_title(jobs)}"
    return Table(columns([PRINTED[name] for name in names]), rows, title)


def _reordering_names(jobs: list[dict[str, Any]]) -> list[str]:
    """The columns of runs with `measure.reordering`, if this is one."""
    return [name for name in REORDERING if any(name in job for job in jobs)]


def _reordering(job: Mapping[str, Any]) -> list[str]:
    """Their values."""
    if REORDERING[0] not in job:
        return []
    share, mean, most, buffer = (job[name] for name in REORDERING)
    return [fixed(share, ".1%"), fixed(mean, ".1f"), f"{most:,}", size(buffer)]


def _reordering_title(jobs: list[dict[str, Any]]) -> str:
    """Their units."""
    return ", extents of reordering in packets" if _reordering_names(jobs) else ""


def _marked(text: str, complete: bool | None) -> str:
    return f"{text}{CUT_OFF}" if complete is False and text != "-" else text


def _latency_unit(jobs: list[dict[str, Any]]) -> tuple[str, int]:
    return unit_of(job["latency_ps"]["mean"] for job in jobs if job["latency_ps"])


def _programs(jobs: list[dict[str, Any]], begin: str) -> Table:
    """Programs with their times, and those of their iterations, in a common unit (that of the least mean)."""
    means = [job["iteration_ps"]["mean"] for job in jobs if job["iteration_ps"]]
    flows = [row["fct_ps"]["mean"] for job in jobs if job.get("flows") for row in job["flows"]["by_size"]]
    known = means or [job["time_ps"] for job in jobs if job["time_ps"]] or flows
    unit, factor = unit_of(known)
    alone = any("slowdown" in job for job in jobs)
    shown = ("p50", "max", "mean")
    names = ["name", "nodes", "ranks", "messages_delivered", "time_ps", "iterations", "iterations_per_s"]
    names += [f"iteration_{name}_ps" for name in shown]
    collective = any("algbw" in job for job in jobs)
    names += ["algbw", "busbw"] if collective else []
    names += ["hops_mean", "minimal_fraction", *_reordering_names(jobs)]
    names += ["alone_time_ps", "slowdown"] if alone else []
    rows = []
    for job in jobs:
        times = job["iteration_ps"] or {}
        row = [job["name"], *(f"{job[name]:,}" for name in ("nodes", "ranks", "messages_delivered"))]
        row += [_extrapolated(digits(job["time_ps"], factor), job), f"{job['iterations']:,}"]
        row.append(_extrapolated(_per_s(job), job))
        of_iterations = [_marked(digits(times.get(name), factor), job["complete"]) for name in shown]
        # Of an iteration of which steps were skipped nothing else is known than its time.
        seen = 0 if job.get("steps_skipped") else len(shown) - 1
        row += of_iterations[:seen] + [_extrapolated(text, job) for text in of_iterations[seen:]]
        row += [_extrapolated(_bandwidth(job.get(name)), job) for name in ("algbw", "busbw")] if collective else []
        row += [fixed(job["hops_mean"], ".2f"), fixed(job["minimal_fraction"], ".1%"), *_reordering(job)]
        if alone:
            row += [digits(job.get("time_alone_ps"), factor), fixed(job.get("slowdown"), ".2f", " x")]
        rows.append(row)
    title = f"{begin}times of programs and of iterations (first begin to last end){f' in {unit}' if known else ''}"
    title += ", algbw and busbw in GB/s" if collective else ""
    title += _reordering_title(jobs)
    return Table(columns([PRINTED[name] for name in names]), rows, title)


def _bandwidth(value: float | None) -> str:
    """In GB/s, with digits for small messages too."""
    if value is None:
        return "-"
    return four_digits(value / 1e9) if value >= 1e7 else f"{value / 1e9:.2g}"


def _extrapolated(text: str, job: Mapping[str, Any]) -> str:
    return f"{EXTRAPOLATED}{text}" if job.get("skipped_ps") and text != "-" else text


def _per_s(job: Mapping[str, Any]) -> str:
    return "-" if job["iterations_per_s"] is None else four_digits(job["iterations_per_s"])


def answers(summary: Mapping[str, Any]) -> list[str]:
    """The conclusions: for each job that is not background, its time and its slowdown; the modes that jobs have used.

    Then the warnings: the jobs that are cut off or saturated, and the programs whose iterations overlap.
    """
    jobs = [job for job in summary["jobs"] if not job["background"]]
    unit = _latency_unit([job for job in summary["jobs"] if not _is_program(job)])
    slowest = sorted(jobs, key=lambda job: -(job.get("slowdown") or 0.0))[:LARGEST]
    said = [_program_answer(job) if _is_program(job) else _latency_answer(job, *unit) for job in jobs if job in slowest]
    said += [f"{len(jobs) - LARGEST} more jobs are in the table"] * (len(jobs) > LARGEST)
    said += [flows_answer(job) for job in jobs if job.get("flows")]
    said += _steady(summary)
    said += _packets(summary)
    said += [_modes(job) for job in summary["jobs"] if "modes" in job]
    said += [text for job in summary["jobs"] for text in _cut_off(job)]
    said += _unended([job["name"] for job in summary["jobs"] if job["background"] and job.get("iterations") == 0])
    said += [_saturated(job) for job in jobs if job["saturated"]]
    return said + [_overlapping(job) for job in jobs if _is_program(job) and _apart(job) > APART]


def _steady(summary: Mapping[str, Any]) -> list[str]:
    """What a run with `run.steady` has skipped, or why it has skipped nothing."""
    steady = summary.get("steady")
    if steady is None:
        return []
    if steady["in_full"] is not None:
        return [f"all iterations were simulated in spite of `run.steady`: {steady['in_full']}"]
    in_steps = steady.get("steps", {})
    steps = [(job, _of_steps(**in_steps[job["name"]])) for job in summary["jobs"] if job.get("steps_skipped")]
    iterations = [(job, f"{job['iterations_skipped']:,}") for job in summary["jobs"] if job.get("iterations_skipped")]
    said = [f"skipped steps around rings: {_listed(steps)}"] if steps else []
    said += [f"skipped iterations: {_listed(iterations)}"] if iterations or not steps else []
    return [
        f"{'; '.join(said)}. Numbers with {EXTRAPOLATED} are extrapolated from their means; all others, also quantiles "
        "without it, are of the simulated part"
    ]


def _listed(skipped: list[tuple[dict[str, Any], str]]) -> str:
    listed = [
        f"{count} of {job['name']} (its time within ± {_percent(job['skipped_error'])})"
        for job, count in skipped[:LARGEST]
    ]
    return ", ".join(listed + [f"those of {len(skipped) - LARGEST:,} more jobs"] * (len(skipped) > LARGEST))


def _of_steps(count: int, skipped: int) -> str:
    return f"{skipped:,} of the {count:,}"


def _packets(summary: Mapping[str, Any]) -> list[str]:
    """Which packets a run with `run.packets` has simulated, and the error that was measured."""
    packets = summary.get("packets")
    if packets is None:
        return []
    given, simulated = (format_bytes(packets[key]) for key in ("given_bytes", "simulated_bytes"))
    why = packets["why_not_larger"]
    if simulated == given:
        return [f"packets of {given} were simulated, not larger ones (`run.packets`): {why}"]
    errors = next(of["errors"] for of in packets["tried"] if of["bytes"] == packets["simulated_bytes"])
    largest = sorted(errors, key=lambda name: -abs(errors[name]))[:LARGEST]
    listed = ", ".join(f"{name} {errors[name] * 100:+.2f} %" for name in largest)
    more = f", less for {len(errors) - LARGEST:,} more" if len(errors) > LARGEST else ""
    return [
        f"packets of {simulated} were simulated in place of {given} (`run.packets`). On the first "
        f"{packets['part']['iterations']} iterations of each program, all at once, they change the time of an "
        f"iteration by: {listed}{more}. Not larger: {why}"
    ]


def skipped(summary: Mapping[str, Any]) -> list[str]:
    """A note for what is made of the simulated part of a run, such as its waiting; none if all was simulated."""
    steady = summary.get("steady")
    if steady is None or steady["in_full"] is not None:
        return []
    what = "iterations, or steps of them," if "steps" in steady else "iterations"
    return [f"{what} were skipped (`run.steady`): this is about the simulated part of the run"]


def larger_packets(summary: Mapping[str, Any]) -> list[str]:
    """A note for what is made of single packets, such as their waiting, if larger ones were simulated; else none."""
    packets = summary.get("packets")
    if packets is None or packets["simulated_bytes"] == packets["given_bytes"]:
        return []
    given, simulated = (format_bytes(packets[key]) for key in ("given_bytes", "simulated_bytes"))
    return [f"packets of {simulated} were simulated in place of {given} (`run.packets`): this is about the larger ones"]


def _percent(share: float) -> str:
    return f"{share:.2g}" if share >= 1 else f"{100 * share:.2g} %"


APART = 1.25
"""Mean number of iterations under way above which the text says that they overlap (assumed)."""


def _apart(job: Mapping[str, Any]) -> float:
    """Iterations under way at a time: their rate times the mean of their times."""
    if job["iteration_ps"] is None or job["iterations"] < 2 or job["iterations_per_s"] is None:
        return 0.0
    return float(job["iterations_per_s"] * job["iteration_ps"]["mean"] * 1e-12)


def _modes(job: Mapping[str, Any]) -> str:
    """How much of its messages and bytes an application-aware job has sent in each mode."""
    used = {mode: sent for mode, sent in job["modes"].items() if sent["messages"]}
    if not used:
        return f"{job['name']}: no messages on the network"
    messages, size = (sum(sent[what] for sent in used.values()) for what in ("messages", "bytes"))
    shares = [
        f"{sent['bytes'] / size:.1%} of its bytes ({sent['messages'] / messages:.1%} of its messages) by {mode}"
        for mode, sent in used.items()
    ]
    return f"{job['name']}: {', '.join(shares)}".replace("%", " %")


def _overlapping(job: Mapping[str, Any]) -> str:
    return (
        f"{job['name']}: {_apart(job):.1f} iterations are under way at a time: their times overlap, and their sum is "
        "more than the whole"
    )


def _unended(names: Sequence[str]) -> list[str]:
    """A warning about background jobs of which only the begin of an iteration is in the run."""
    if not names:
        return []
    shown = ", ".join(names[:LARGEST]) + (f" and {len(names) - LARGEST:,} more" if len(names) > LARGEST else "")
    what = "only the begin of one is in this run, which may be too short to show what it does to others"
    return [f"{shown}: no iteration ended: {what}"]


def _cut_off(job: Mapping[str, Any]) -> list[str]:
    """Warnings about the numbers of a job that is cut off."""
    said = []
    if job["complete"] is False and not _is_program(job):
        came, sent = job["measured_delivered"], job["measured_sent"]
        what = "before it had sent all its messages" if came == sent else "before all its messages had arrived"
        said.append(
            f"{job['name']}: cut off: the run ended {what}. Numbers with {CUT_OFF} cover {came:,} of the {sent:,} "
            "messages sent while measuring, and can be much too low"
        )
    elif job["complete"] is False and job["iteration_ps"] is not None:
        said.append(f"{job['name']}: cut off: numbers with {CUT_OFF} cover only the iterations that had ended")
    if job.get("alone_complete") is False:
        said.append(f"{job['name']}: its run alone was cut off too, so there is no slowdown")
    return said


def _saturated(job: Mapping[str, Any]) -> str:
    return (
        f"{job['name']}: saturated: the network does not carry {job['backlog_growth']:.0%} of its offered load. Its "
        "latency depends on how long it sends: compare `throughput` instead (docs/results.md)"
    ).replace("%", " %")


def _latency_answer(job: Mapping[str, Any], unit: str, factor: int) -> str:
    """The latency of its messages, in the unit and with the digits of the table."""

    def time(ps: float) -> str:
        return f"{_marked(digits(ps, factor), job['complete'])} {unit}"

    latency = job["latency_ps"]
    if latency is None:
        delivered, sent = job["messages_delivered"], job["messages_sent"]
        if sent and not job["measured_sent"]:
            why = "none was sent in the measured time (`measure.warm_up`, `measure.window`)"
            return f"{job['name']}: no latencies; {delivered:,} of {sent:,} messages delivered, but {why}"
        return f"{job['name']}: no latencies recorded; {delivered:,} of {sent:,} messages delivered"
    text = f"{job['name']}: mean latency {time(latency['mean'])}"
    if job.get("slowdown") is not None:
        by_itself = time(job["latency_alone_ps"]["mean"])
        return f"{text}, {job['slowdown']:.2f} x that of {job['name']} alone ({by_itself})"
    return f"{text} (median {time(latency['p50'])}, 99 % within {time(latency['p99'])})"


def _program_answer(job: Mapping[str, Any]) -> str:
    done = f"{job['iterations']:,} iteration{'' if job['iterations'] == 1 else 's'}"
    if job["time_ps"] is None:
        text = f"{job['name']}: not finished by the end, {done} done"
    else:
        text = f"{job['name']}: {_extrapolated(time(job['time_ps']), job)} for {done}"
    if job.get("slowdown") is not None:
        if (
            job["time_ps"] and abs(job["time_ps"] / job["time_alone_ps"] / job["slowdown"] - 1) > 1e-9
        ):  # it has a period
            return f"{text}, which take {job['slowdown']:.2f} x as long as those of {job['name']} alone"
        return f"{text}, {job['slowdown']:.2f} x that of {job['name']} alone ({time(job['time_alone_ps'])})"
    times = job["iteration_ps"]
    if times is None or job["iterations"] == 1:
        return text
    median, most = (_marked(time(times[name]), job["complete"]) for name in ("p50", "p99"))
    return f"{text}, {_extrapolated(_per_s(job), job)} per second (an iteration: median {median}, 99 % within {most})"


def as_text(summary: Mapping[str, Any], width: int | None = None, *, every: bool = False, hint: str = "") -> str:
    """The conclusions, and below them the tables. In a table wider than `width`, rows become columns.

    Without `every`, of the background jobs only the largest have a row; `hint` says how to see the others.
    """
    tables = [table.lines(width) for table in tables_of(summary, every=every)]
    lines = [*answers(summary), *(line for table in tables for line in ["", *table])]
    return "\n".join([*lines, *([] if every else _more(summary, hint or "`jobs` of the run has all"))]).lstrip("\n")


def as_html(summary: Mapping[str, Any]) -> str:
    """The same for a notebook."""
    notes = "".join(f"<p>{escape(text)}</p>" for text in answers(summary))
    more = "".join(f"<p>{escape(text)}</p>" for text in _more(summary, "`jobs` of the run has all") if text)
    return notes + "".join(table.html() for table in tables_of(summary, every=False)) + more


def _more(summary: Mapping[str, Any], hint: str) -> list[str]:
    """How many jobs have no row."""
    left_out = len(summary["jobs"]) - len(_foremost(summary["jobs"]))
    return ["", f"{left_out:,} more background jobs ({hint})"] if left_out else []
