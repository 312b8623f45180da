"""From the core's result to the tables of a run (`programs.py` has the tables of programs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.store.columns import MODE_NUMBERS, MODES, QUANTILES, REORDERING, columns_of
from odonata.store.flows import flows_frame
from odonata.store.frame import frame, polars_type
from odonata.store.latency import Latency
from odonata.store.programs import Progress, iterations_frame, of_job, operations_frame, progress, ranks_frame
from odonata.store.saturation import saturation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from odonata.scenario.apps.volume import Volume
    from odonata.steady.skipped import Skipped, Steady
    from odonata.store.programs import Progress, iterations_frame, of_job, operations_frame, progress, ranks_frame


__all__ = [
    "Alone",
    "Made",
    "alone_of",
    "blame_frame",
    "channels_of",
    "counters_frame",
    "flows_frame",
    "iterations_frame",
    "job_latency",
    "jobs_frame",
    "links_frame",
    "messages_frame",
    "nic_messages_frame",
    "nics_frame",
    "operations_frame",
    "polars_type",
    "ranks_frame",
    "roots_frame",
    "routes_frame",
    "series_frame",
]

NOT_DELIVERED = np.uint64(2**64 - 1)
"""Latency the core gives for a message that was still under way at the end."""

GIB = 2.0**30


class Made(Mapping[str, pl.DataFrame]):
    """Tables by name, each made when it is first used."""

    def __init__(self, makers: Mapping[str, Callable[[], pl.DataFrame]]) -> None:
        self._makers = makers
        self._made: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def messages_frame(result: Mapping[str, Any]) -> pl.DataFrame:
    """The recorded messages."""
    messages = frame("messages", dict(result["messages"]))
    late = pl.col("latency_ps") == pl.lit(int(NOT_DELIVERED), dtype=pl.UInt64)
    return messages.with_columns(latency_ps=pl.when(~late).then(pl.col("latency_ps")))


def job_latency(result: Mapping[str, Any], spec: Mapping[str, Any], job: int) -> Latency | None:
    """Latencies of one job: exact if its every message was recorded, else from its histogram.

    Messages count if they were issued in the measured interval and delivered by the end.
    """
    if spec["jobs"][job]["record"] == "every-message":
        rows, measure = of_job(result["messages"], job), spec["measure"]
        issue, latency = rows["issue_ps"], rows["latency_ps"]
        counts = (latency != NOT_DELIVERED) & (issue >= measure["from_ps"])
        if measure["until_ps"] is not None:
            counts &= issue < measure["until_ps"]
        return Latency.from_rows(latency[counts])
    bins = result["jobs"][job]["latency"]
    return Latency.from_histogram(
        bins["lower"], bins["upper"], bins["bin_count"], total=bins["sum"], least=bins["min"], greatest=bins["max"]
    )


@dataclass(frozen=True, slots=True)
class Alone:
    """The results of a job alone on the empty system."""

    latency: Latency | None
    """Latencies of its messages."""
    time_ps: int | None = None
    """Time of its program; `None` if it has none."""
    iterations: Latency | None = None
    """Times of its iterations."""
    complete: bool | None = None
    """Whether its numbers are complete (`complete`)."""


def alone_of(result: Mapping[str, Any], spec: Mapping[str, Any], steady: Steady | None = None) -> Alone:
    """The results of the only job of a run, with what it has skipped."""
    program = _with_skipped(progress(result, spec, 0), _skipped(steady, spec, 0))
    whole = complete(result, spec, 0, False, program)
    if program is None:
        return Alone(job_latency(result, spec, 0), complete=whole)
    return Alone(job_latency(result, spec, 0), program.time_ps, program.times, whole)


def jobs_frame(
    result: Mapping[str, Any], spec: Mapping[str, Any], background: Sequence[bool], alone: Mapping[int, Alone]
) -> pl.DataFrame:
    """Totals of each job. `alone` has the results of jobs that were also run alone, by index."""
    return jobs_table(job_rows(result, spec, background, alone))


def job_rows(
    result: Mapping[str, Any],
    spec: Mapping[str, Any],
    background: Sequence[bool],
    alone: Mapping[int, Alone],
    steady: Steady | None = None,
    volumes: Mapping[str, Volume] | None = None,
) -> list[dict[str, Any]]:
    """The rows of `jobs_frame`: a frame costs a millisecond, however few rows it has, so many runs can share one.

    `steady` says what a run with `run.steady` has skipped; `spec` is then the shortened one, which was simulated.
    `volumes` has the collectives, by the names of their jobs.
    """
    rows: list[dict[str, Any]] = [
        _job_row(result, spec, job, background[job], alone.get(job, Alone(None)), steady)
        for job in range(len(spec["jobs"]))
    ]
    for row in rows:
        volume = (volumes or {}).get(row["name"])
        if volume is not None:
            mean = row["iteration_mean_ps"]
            row["algbw"] = volume.bytes * 1e12 / mean if mean else None
            row["busbw"] = row["algbw"] * float(volume.factor) if mean else None
    return rows


def jobs_table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows of `job_rows`, of one run or of many, as a frame."""
    further = {
        "steady": any(SKIPPED[0] in row for row in rows),
        "collective": any("algbw" in row for row in rows),
        "reordering": any(REORDERING[0] in row for row in rows),
    }
    # Of runs with and without `run.steady` in one table, those without have skipped nothing that could be said.
    data = {
        of.name: [row.get(of.name) if of.steady or of.collective or of.reordering else row[of.name] for row in rows]
        for of in columns_of("jobs", **further)
    }
    return frame("jobs", data, **further)


SKIPPED = ("iterations_skipped", "skipped_ps", "skipped_error")
"""Columns that only runs with `run.steady` have."""


def _skipped(steady: Steady | None, spec: Mapping[str, Any], job: int) -> Skipped | None:
    return None if steady is None else steady.of_job(spec, job)


def _with_skipped(program: Progress | None, skipped: Skipped | None) -> Progress | None:
    """The results of a job with its skipped iterations: sums and means, not the quantiles.

    If steps of its only iteration were skipped, all quantiles are the time of this iteration.
    """
    if program is None or skipped is None or not skipped.ps:
        return program
    time = None if program.time_ps is None else program.time_ps + skipped.ps
    count = program.iterations + skipped.iterations
    times, of_ranks = program.times, program.rank_mean_ps
    if times is not None and of_ranks is not None:
        whole = times.count + skipped.iterations
        of_ranks = (of_ranks * times.count + skipped.ranks_ps) / whole
        mean = (times.mean * times.count + skipped.times_ps) / whole
        quantiles = dict.fromkeys(times.quantiles, round(mean)) if skipped.within else times.quantiles
        times = replace(times, mean=mean, quantiles=quantiles)
    lasted = program.iterations / program.per_s * 1e12 + skipped.ps if program.per_s else None
    per_s = count / lasted * 1e12 if lasted else None
    return replace(program, time_ps=time, iterations=count, per_s=per_s, times=times, rank_mean_ps=of_ranks)


def _skipped_columns(steady: Steady | None, program: bool, skipped: Skipped | None) -> dict[str, float | None]:
    """The columns of runs with `run.steady`; none without it."""
    if steady is None:
        return {}
    if not program:
        return dict.fromkeys(SKIPPED)
    values = (0, 0, 0.0) if skipped is None else (skipped.iterations, skipped.ps, skipped.share)
    return dict(zip(SKIPPED, values, strict=True))


def _job_row(
    result: Mapping[str, Any],
    spec: Mapping[str, Any],
    job: int,
    background: bool,
    alone: Alone,
    steady: Steady | None,
) -> dict[str, Any]:
    totals, what = result["jobs"][job], spec["jobs"][job]
    first, last, packets = totals["first_issue_ps"], totals["last_delivery_ps"], totals["packets"]
    skipped, simulated = _skipped(steady, spec, job), progress(result, spec, job)
    here, program = job_latency(result, spec, job), _with_skipped(simulated, skipped)
    time = None if first is None or last is None else last - first
    sent_in = time if simulated is None else simulated.time_ps
    whole = complete(result, spec, job, background, program)
    fullness = saturation(totals, what, result["end_ps"])
    slowdown = here.mean / alone.latency.mean if here and alone.latency and alone.latency.mean else None
    if program is not None:
        time = program.time_ps
        slowdown = time / alone.time_ps if time is not None and alone.time_ps else None
        if what["program"].get("every_ps"):  # its time consists mostly of waiting for the next iteration
            there = alone.iterations.mean if alone.iterations else None
            slowdown = program.times.mean / there if program.times and there else None
    if whole is False or alone.complete is False:
        slowdown = None  # it would be a ratio over only the messages that happened to arrive
    return {
        "job": job,
        "name": what["name"],
        "background": background,
        "record": what["record"],
        "nodes": len(set(what["nodes"])),
        "ranks": len(what["nodes"]),
        "messages_sent": totals["issued"],
        "messages_delivered": totals["delivered"],
        "complete": whole,
        "measured_sent": totals["measured_issued"],
        "measured_delivered": totals["measured_delivered"],
        "saturated": fullness.saturated if fullness else None,
        "backlog_growth": fullness.growth if fullness else None,
        "messages_intra_node": totals["intra_node"],
        "messages_control": totals["control"],
        "packets": packets,
        "bytes": totals["bytes"],
        "first_issue_ps": first,
        "last_delivery_ps": last,
        "time_ps": time,
        "throughput": totals["bytes"] / sent_in * 1e12 if sent_in else None,
        "hops_mean": totals["hops"] / packets if packets else None,
        "minimal_fraction": totals["minimal"] / packets if packets else None,
        "latency_count": here.count if here else 0,
        **_latency_columns("latency", here),
        "iterations": program.iterations if program else None,
        "iterations_per_s": program.per_s if program else None,
        **_latency_columns("iteration", program.times if program else None),
        "iteration_rank_mean_ps": program.rank_mean_ps if program else None,
        **_latency_columns("alone", alone.latency),
        **_latency_columns("alone_iteration", alone.iterations),
        "alone_time_ps": alone.time_ps,
        "alone_complete": alone.complete,
        "slowdown": slowdown,
        **_nic_sums(result, spec, job),
        **_modes(totals, spec, job),
        "class_bytes": [int(size) for size in result["class_bytes"][job]],
        "bin_lower_ps": totals["latency"]["lower"],
        "bin_upper_ps": totals["latency"]["upper"],
        "bin_count": totals["latency"]["bin_count"],
        **_skipped_columns(steady, program is not None, skipped),
        **_reordering_columns(totals),
    }


def _reordering_columns(totals: Mapping[str, Any]) -> dict[str, float | None]:
    """The columns of runs with `measure.reordering`; none without it."""
    of = totals.get("reordering")
    if of is None:
        return {}
    share = of["reordered"] / of["arrived"] if of["arrived"] else None
    mean = of["extents"] / of["reordered"] if of["reordered"] else None
    return dict(zip(REORDERING, (share, mean, of["most_extent"], of["buffer_bytes"]), strict=True))


def _nic_sums(result: Mapping[str, Any], spec: Mapping[str, Any], job: int) -> dict[str, float | None]:
    """The counters of the job's own NICs, all that a job can see of the network (De Sensi 2019, section 2.3)."""
    names = ("request_packets", "request_flits", "stalled_cycles", "packet_latency_mean_ps")
    nics = result.get("nics")
    if nics is None:
        return dict.fromkeys(names)
    nodes, rails = sorted(set(spec["jobs"][job]["nodes"])), int(spec["topology"].get("rails", 1))
    own = {name: int(values.reshape(-1, rails)[nodes].sum()) for name, values in nics.items()}
    cycle = _cycle_ps(spec)
    stalled = own["stalled_ps"] // cycle if cycle else None
    latency = own["latency_ps"] / own["answered_packets"] if own["answered_packets"] else None
    return dict(zip(names, (own["request_packets"], own["request_flits"], stalled, latency), strict=True))


def _cycle_ps(spec: Mapping[str, Any]) -> int | None:
    """Clock cycle of the NICs; none if they have no clock."""
    aries = spec["fabric"]["nic"].get("aries")
    return int(aries["cycle_ps"]) if aries else None


def _in_cycles(ps: NDArray[np.uint64], spec: Mapping[str, Any]) -> NDArray[np.uint64] | list[None]:
    """Times in clock cycles of the NICs, rounded down; unknown if they have no clock."""
    cycle = _cycle_ps(spec)
    return ps // np.uint64(cycle) if cycle else [None] * len(ps)


def _modes(totals: Mapping[str, Any], spec: Mapping[str, Any], job: int) -> dict[str, float | None]:
    """What an application-aware job has sent in each mode (De Sensi 2019, section 5.1, figure 8)."""
    names = [f"{what}_adaptive_{number}" for number in MODE_NUMBERS for what in ("messages", "bytes")]
    routing = spec["jobs"][job].get("routing") or spec.get("routing")
    if routing is None or routing["name"] != "application-aware":
        return dict.fromkeys([*names, "default_fraction"])
    sizes = [size for _, size in totals["modes"]]
    share = (sizes[0] + sizes[1]) / sum(sizes) if any(sizes) else None
    return dict(zip(names, (value for sent in totals["modes"] for value in sent), strict=True)) | {
        "default_fraction": share
    }


def _latency_columns(prefix: str, latency: Latency | None) -> dict[str, float | None]:
    values = latency.as_dict() if latency else {}
    return {f"{prefix}_{name}_ps": values.get(name) for name in (*QUANTILES, "mean")}


def links_frame(result: Mapping[str, Any], spec: Mapping[str, Any], system: Mapping[str, Any]) -> pl.DataFrame:
    """Totals of each directed link that works. `system` is what the core describes."""
    channels = channels_of(spec)
    slots, rails = len(system["slot_router"]), int(system["rails"])
    wired, works = _working(system)
    nic = np.flatnonzero(works)
    nic_router = system["slot_router"][system["endpoint_slot"]][nic]
    totals = {name: np.asarray(result["links"][name]) for name in ("packets", "bytes", "stalled_ps")}

    peer_router, peer_node = system["slot_peer_router"], system["slot_peer_node"]
    to_router = peer_router[wired] >= 0
    to_id = np.where(to_router, peer_router[wired], peer_node[wired])
    router_group, node_group = system["router_group"], system["node_group"]
    to_group = np.where(
        to_router,
        router_group[np.where(to_router, to_id, 0)],
        node_group[np.where(to_router, 0, to_id)],
    )
    nic_group = router_group[nic_router]
    classes = np.concatenate([system["slot_class"][wired], np.zeros(len(nic), dtype=np.uint8)])
    names = np.asarray(system["classes"], dtype=object)
    bandwidth_of = np.array([spec["fabric"]["links"][name]["bandwidth"] / 1e6 for name in names])

    data: dict[str, Any] = {
        "link": np.arange(len(to_id) + len(nic)),
        "class": names[classes].tolist(),
        "from_kind": ["router"] * len(to_id) + ["node"] * len(nic),
        "from_id": np.concatenate([system["slot_router"][wired], nic // rails]),
        "from_port": np.concatenate([system["slot_port"][wired], (nic % rails).astype(np.uint16)]),
        "from_group": _known(np.concatenate([router_group[system["slot_router"][wired]], nic_group])),
        "to_kind": [*np.where(to_router, "router", "node").tolist(), *["router"] * len(nic)],
        "to_id": np.concatenate([to_id, nic_router]),
        "to_group": _known(np.concatenate([to_group, nic_group])),
        "bandwidth": bandwidth_of[classes],
    }
    for name, values in totals.items():
        split = _by_channel(values, slots, channels, wired, works)
        data[name] = split.sum(axis=1, dtype=np.uint64)
        for channel in range(channels) if channels > 1 else ():
            base, _, unit = name.partition("_")
            data[f"{base}_{channel}" + (f"_{unit}" if unit else "")] = split[:, channel]
    flit = int(spec["fabric"].get("flit_bytes", 1))
    data["flits"] = data["bytes"] // np.uint64(flit) if flit > 1 else [None] * len(data["bytes"])
    seconds = max(result["end_ps"], 1) / 1e12
    data["busy"] = data["bytes"] / (data["bandwidth"] * seconds)
    return frame("links", data, channels)


def _known(groups: NDArray[np.int64]) -> list[int | None] | NDArray[np.int64]:
    """The groups, null for routers that belong to none."""
    return groups if groups.min(initial=0) >= 0 else [None if group < 0 else group for group in groups.tolist()]


def _by_channel(
    values: NDArray[np.uint64], slots: int, channels: int, wired: NDArray[np.bool_], works: NDArray[np.bool_]
) -> NDArray[np.uint64]:
    """Rows: wired ports, then the injection links that work (all on channel 0); columns: channels."""
    ports = values[: slots * channels].reshape(slots, channels)[wired]
    injection = np.zeros((int(works.sum()), channels), dtype=np.uint64)
    injection[:, 0] = values[slots * channels :][works]
    return np.concatenate([ports, injection])


def nics_frame(result: Mapping[str, Any], spec: Mapping[str, Any], system: Mapping[str, Any]) -> pl.DataFrame:
    """The counters of NICs that answer packets; no rows for other NICs. `system` is what the core describes."""
    nics = result.get("nics")
    if nics is None:
        return frame("nics", {column.name: [] for column in columns_of("nics")})
    works, rails = _working(system)[1], int(system["rails"])
    job_of = {node: job for job, what in enumerate(spec["jobs"]) for node in what["nodes"]}
    node = np.arange(len(works)) // rails
    data: dict[str, Any] = {name: values[works] for name, values in nics.items()}
    for name in ("stalled", "window"):
        data[f"{name}_cycles"] = _in_cycles(data.pop(f"{name}_ps"), spec)
    jobs = [job_of.get(int(n)) for n in node[works]]
    return frame("nics", {"node": node[works], "nic": (np.arange(len(works)) % rails)[works], "job": jobs, **data})


def nic_messages_frame(result: Mapping[str, Any], spec: Mapping[str, Any]) -> pl.DataFrame:
    """What NICs that answer packets counted for each recorded message; no rows for other NICs."""
    counters = result.get("message_counters")
    if counters is None:
        return frame("nic_messages", {column.name: [] for column in columns_of("nic_messages")})
    answered = counters["complete_ps"] > 0
    counted = {
        "packets": counters["packets"],
        "flits": counters["flits"],
        "stalled_cycles": pl.Series(_in_cycles(counters["stalled_ps"], spec), dtype=pl.UInt64),
        "packet_latency_mean_ps": counters["latency_ps"] / np.maximum(counters["packets"], np.uint64(1)),
        "complete_ps": counters["complete_ps"],
    }
    rows = {name: result["messages"][name] for name in ("job", "interval", "source", "destination")}
    for name, values in counted.items():
        rows[name] = pl.select(pl.when(pl.Series(answered)).then(pl.Series(values))).to_series()
    names = pl.Series(counters["mode"]).replace_strict(
        dict(zip(MODE_NUMBERS, MODES, strict=True)), default=None, return_dtype=pl.String
    )
    return frame("nic_messages", {**rows, "mode": names})


def channels_of(spec: Mapping[str, Any]) -> int:
    """Virtual channels of a link between routers, of all classes: of requests, and as many of responses if any."""
    fabric = spec["fabric"]
    classes = len(fabric.get("traffic_classes", ())) or 1
    return int(fabric["channels"]) * classes * (2 if answers(spec) else 1)


def answers(spec: Mapping[str, Any]) -> bool:
    """Whether NICs answer each packet."""
    fabric = spec["fabric"]
    return "congestion_control" in fabric or not {"aries", "window_bytes"}.isdisjoint(fabric.get("nic", {}))


def blame_frame(result: Mapping[str, Any], system: Mapping[str, Any]) -> pl.DataFrame:
    """Who makes whom wait; no rows if it was not recorded. `system` is what the core describes."""
    blame = result.get("blame")
    if blame is None:
        return frame("blame", {column.name: [] for column in columns_of("blame")})
    classes, numbers = _classes_and_numbers(system, blame["link"])
    served = [job for job, ps in enumerate(blame["service_ps"]) if ps]
    rows = frame(
        "blame",
        {
            "victim": [*blame["victim"].tolist(), *served],
            "cause": [*blame["cause"].tolist(), *served],
            "wait": [*blame["wait"], *["service"] * len(served)],
            "class": [*classes, *[None] * len(served)],
            "link": [*numbers.tolist(), *[None] * len(served)],
            "time_ps": [*blame["ps"].tolist(), *(blame["service_ps"][job] for job in served)],
        },
    )
    return rows.sort("victim", "cause", maintain_order=True)


def roots_frame(result: Mapping[str, Any], system: Mapping[str, Any]) -> pl.DataFrame:
    """Waits for room by where chains of full buffers end; no rows if it was not recorded. `system` is what the core
    describes."""
    roots = result.get("roots")
    if roots is None:
        return frame("roots", {column.name: [] for column in columns_of("roots")})
    classes, numbers = _classes_and_numbers(system, roots["link"])
    return frame(
        "roots",
        {
            "victim": roots["victim"],
            "cause": roots["cause"],
            "class": classes,
            "link": numbers,
            "time_ps": roots["ps"],
        },
    )


def series_frame(result: Mapping[str, Any], system: Mapping[str, Any]) -> pl.DataFrame:
    """The load of links over time; no rows if it was not asked for. `system` is what the core describes."""
    series = result.get("series")
    if series is None:
        return frame("series", {column.name: [] for column in columns_of("series")})
    link, width = np.asarray(series["link"]), int(series["width_ps"])
    injection = link >= len(system["slot_router"])
    return frame(
        "series",
        {
            "link": _numbers(system)[link],
            "slice": series["slice"],
            "start_ps": series["slice"].astype(np.uint64) * np.uint64(width),
            "width_ps": np.full(len(link), width, dtype=np.uint64),
            "job": series["job"],
            "bytes": series["bytes"],
            "wait_ps": pl.Series(series["wait_ps"]).set(pl.Series(injection), None),
        },
    )


def routes_frame(result: Mapping[str, Any]) -> pl.DataFrame:
    """Packets by path over time; no rows if no series was asked for."""
    series = result.get("series")
    if series is None:
        return frame("routes", {column.name: [] for column in columns_of("routes")})
    rows, width = series["routes"], int(series["width_ps"])
    start = rows["slice"].astype(np.uint64) * np.uint64(width)
    return frame("routes", {**rows, "start_ps": start, "width_ps": np.full(len(start), width, dtype=np.uint64)})


def _classes_and_numbers(system: Mapping[str, Any], links: Sequence[int]) -> tuple[list[str], NDArray[np.int64]]:
    """The class of links that have the core's numbers, and their numbers in `links`."""
    names = np.asarray(system["classes"], dtype=object)
    of_ports = system["slot_class"]
    classes = np.concatenate([of_ports, np.zeros(len(system["endpoint_slot"]), dtype=of_ports.dtype)])
    link = np.asarray(links)
    return names[classes[link]].tolist(), _numbers(system)[link]


def _numbers(system: Mapping[str, Any]) -> NDArray[np.int64]:
    """Numbers in `links` of all ports, then of all NICs: the core numbers all, the table those that work."""
    return np.cumsum(np.concatenate(_working(system))) - 1


def _working(system: Mapping[str, Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which router ports have a link that works, and which NICs."""
    connected = (system["slot_peer_router"] >= 0) | (system["slot_peer_node"] >= 0)
    return connected & ~system["slot_failed"], ~system["slot_failed"][system["endpoint_slot"]]


def counters_frame(result: Mapping[str, Any]) -> pl.DataFrame:
    """Traffic between groups by window (Kang 2019, section 4.4); no rows if it was not recorded."""
    arrivals = result["arrivals"]
    every, end = int(arrivals["every_ps"]), int(result["end_ps"])
    counts = {
        name: np.asarray(arrivals[name], dtype=np.uint64)
        for name in ("packets_in", "bytes_in", "packets_out", "bytes_out")
    }
    if every == 0 or counts["bytes_in"].size == 0:
        return frame("counters", {column.name: [] for column in columns_of("counters")})
    window, job, group = (axis.ravel() for axis in np.indices(counts["bytes_in"].shape))
    start = window.astype(np.uint64) * np.uint64(every)
    width = np.minimum(np.uint64(every), np.uint64(end) - np.minimum(start, np.uint64(end)))
    data: dict[str, Any] = {"window": window, "start_ps": start, "width_ps": width, "job": job, "group": group}
    for what in ("packets", "bytes"):
        for way in ("in", "out"):
            data[f"{what}_{way}"] = counts[f"{what}_{way}"].ravel()
        data[f"{what}_both"] = data[f"{what}_in"] + data[f"{what}_out"]
    for way in ("in", "out", "both"):
        rate = data[f"bytes_{way}"] / np.where(width > 0, width, 1) * (1e12 / GIB)
        data[f"rate_{way}"] = pl.Series(rate).set(pl.Series(width == 0), None)
    return frame("counters", data)


def complete(
    result: Mapping[str, Any], spec: Mapping[str, Any], job: int, background: bool, program: Progress | None
) -> bool | None:
    """Whether the measurement of a job is complete.

    A job that sends at intervals is complete if all messages of the measured time were issued and delivered. A program
    is complete if all its ranks have finished, or all iterations that began in the measured time have ended. `None` for
    a background job without end that is measured to the end of the run: it is always cut off.
    """
    what, totals, until = spec["jobs"][job], result["jobs"][job], spec["measure"]["until_ps"]
    measured_to_the_end = until is None or result["end_ps"] < until - 1
    if background and measured_to_the_end and _endless(what):
        return None
    if program is not None:
        return program.time_ps is not None or (not measured_to_the_end and program.all_measured_ended)
    if measured_to_the_end and not _all_issued(totals, what):
        return False
    return bool(totals["measured_delivered"] == totals["measured_issued"])


def _endless(job: Mapping[str, Any]) -> bool:
    return (job["program"]["iterations"] if "program" in job else job["traffic"]["intervals"]) is None


def _all_issued(totals: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
    traffic = job["traffic"]
    senders = 1 if traffic["pattern"]["name"] == "broadcast" else len(job["nodes"])
    return traffic["intervals"] is not None and totals["intervals"] == traffic["intervals"] * senders
