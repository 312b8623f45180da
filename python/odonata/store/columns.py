"""The registry of every result column: table, name, type, unit and meaning.

`odonata show columns`, the metadata of the Parquet files, the orientation of `odonata compare` and the reference
documentation all come from here, and [tables][odonata.store.tables] cannot write a column that is not listed. A new
column is a new line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Better = Literal["more", "less", "neither"]

TABLES: dict[str, str] = {
    "jobs": "one row per job, in the order of the scenario",
    "messages": "one row per recorded message, sorted by job, interval, source rank and position in the interval",
    "links": "one row per directed link: every connected router port in order, then the injection link of every node",
    "iterations": "one row per iteration that some rank of a job with a program has ended, sorted by job and iteration",
    "ranks": "one row per rank of the jobs with a program, sorted by job and rank",
    "counters": "traffic between groups: one row per window of time, job and group (Kang 2019, section 4.4)",
    "nics": "counters of NICs that answer packets: one row per working NIC, in the order of the nodes; else none",
    "nic_messages": "what such NICs counted for each message: one row per row of `messages`; else none",
    "blame": "waiting of packets: one row per victim, cause, kind of waiting and link, sorted in this order",
    "roots": "waits for room by where chains of full buffers end: one row per victim, cause and link, sorted so",
    "series": "load of links over time: one row per link, slice of time and job with traffic, sorted in this order",
    "routes": "packets by path over time: one row per slice of time and job with packets, sorted in this order",
    "operations": "one row per CPU task of a rank of a program, sorted by job, rank and order of request",
    "flow_times": "one row per flow of the jobs that send lists of flows, sorted by job, iteration and flow; else none",
}
"""Tables of a run folder, and the meaning of their rows."""

OPTIONAL = ("flow_times",)
"""Tables that a run folder lacks if they have no rows."""

RECORDS = ("blame", "roots", "series", "operations", "reordering")
"""Keys of `measure` that record tables or columns of their own and change nothing else."""

QUANTILES: dict[str, tuple[int, int]] = {
    "min": (0, 1),
    "p25": (1, 4),
    "p50": (1, 2),
    "p75": (3, 4),
    "p90": (9, 10),
    "p99": (99, 100),
    "p999": (999, 1000),
    "max": (1, 1),
}
"""Quantiles that are stored for every latency distribution, as exact fractions."""


@dataclass(frozen=True, slots=True)
class Column:
    """One result column."""

    table: str
    """Table it belongs to, a key of [TABLES][]."""
    name: str
    """Name in the table. Names of times end in `_ps`. `{channel}` is the number of a virtual channel."""
    dtype: str
    """Name of the type in polars; nullable if the meaning says when it is absent."""
    unit: str
    """Unit; empty for names and ids, `1` for ratios."""
    meaning: str
    """What the value is, and when it is absent."""
    better: Better = "neither"
    """Which of two values is better; `neither` if the value is not a result."""
    steady: bool = False
    """Whether only tables of runs with `run.steady` have it."""
    collective: bool = False
    """Whether only tables of runs with collectives have it."""
    reordering: bool = False
    """Whether only tables of runs with `measure.reordering` have it."""


Line = tuple[str, str, str, str] | tuple[str, str, str, str, Better]
"""A line of the registry: the fields of `Column` after the table, in their order."""


#: The modes that application-aware routing selects, by their numbers in names of columns and in the core.
MODE_NUMBERS = (0, 1, 3)
MODES = tuple(f"adaptive-{number}" for number in MODE_NUMBERS)


def _column(table: str) -> list[Column]:
    return [Column(table, *line) for line in _LINES[table]]


def _latency_lines(prefix: str, of: str, absent: str) -> list[Line]:
    names = {"min": "minimum", "p50": "median", "max": "maximum"}
    lines: list[Line] = []
    for name, (top, bottom) in QUANTILES.items():
        what = names.get(name, f"{100 * top / bottom:g} % quantile (nearest rank)")
        lines.append((f"{prefix}_{name}_ps", "UInt64", "ps", f"{what} {of}; {absent}", "less"))
    return [*lines, (f"{prefix}_mean_ps", "Float64", "ps", f"mean {of}; {absent}", "less")]


def _mode_lines() -> list[Line]:
    lines: list[Line] = []
    for number, mode in zip(MODE_NUMBERS, MODES, strict=True):
        what = f"sent over the network in mode {mode}, without control messages; absent unless application-aware"
        lines.append((f"messages_adaptive_{number}", "UInt64", "messages", f"messages {what}", "neither"))
        lines.append((f"bytes_adaptive_{number}", "UInt64", "bytes", f"bytes of messages {what}", "neither"))
    share = "share of these bytes in the default modes adaptive-0 and adaptive-1; absent if there are none"
    return [*lines, ("default_fraction", "Float64", "1", share, "neither")]


_BIN = "of the non-empty bins of the latency histogram, ascending; empty if nothing was recorded"
_ITERATION = (
    "time of the iterations that began while measuring and that all ranks have ended, from the first rank's begin to "
    "the last rank's end (iterations may overlap)"
)
_TIME = (
    "time from the first issue to the last delivery, absent if nothing was delivered; for a program, from its start to "
    "the end of its last rank, absent if a rank has not finished"
)
_SLOWDOWN = (
    "mean latency divided by mean latency alone; for a program, time divided by time alone (with `every`: mean time of "
    "its iterations divided by that alone); absent without --alone, and if either of the two runs is not complete"
)
_PER_S = (
    "iterations that all ranks have ended, divided by the time from the start of the program to the end of the last of "
    "them; absent if there are none"
)
_COMPLETE = (
    "whether all messages of the measured interval were issued and delivered, or the program finished; if not, "
    "latencies and times cover only what arrived before the end of the run; absent for a background job without end "
    "that is measured to the end of the run"
)
_SATURATED = (
    "whether the accepted load is below the offered load, so that latencies depend on the length of the run "
    "(docs/results.md); absent if this run cannot tell, and for programs and broadcasts"
)
_GROWTH = (
    "growth of the number of messages under way in the second half of sending, per message issued: the share of the "
    "offered load that is not accepted; absent where `saturated` does not apply"
)
_CLASS_BYTES = (
    "bytes sent on the links of each class, in the order of `link_classes` in the manifest; empty if no job of the run "
    "has a program"
)
_WAIT = (
    "what they wait for (docs/model.md, section 9): `link` that sends other packets, `buffer` without room at its far "
    "end, at the source `source-buffer`, `source-link` or `window`, at a crossbar `queue`, `crossbar-input`, "
    "`crossbar-output` or `output-buffer`; `service`: time without waiting, with the victim as cause"
)
_NO_ANSWERS = "absent if its NICs do not answer packets"
_UNANSWERED = "absent if a response is missing at the end, and for messages inside a node"
_STALLED = (
    "of the NIC's clock in which a flit of a request was ready and was not sent (docs/model.md, section 3), absent "
    "without a clock"
)
_CLOCKLESS = "absent without a clock"
_PACKET_LATENCY = "time from the first flit of a request to the last flit of its response"
_OTHER_MODE = f"absent if its routing is none of {', '.join(MODES)} and application-aware"
_SERIES_WAIT = (
    "time for which these packets waited for the link or for room at its far end, summed; divided by `width_ps` it is "
    "the mean number of packets in the queue; absent for injection links"
)
_OPERATION_RANK = (
    "the rank; if a job has too many tasks (1,048,576 over the number of jobs with a program), every second, fourth, "
    "... rank is recorded"
)
_FCT = (
    "flow completion time: from its start to the last byte at the destination, with the work of the sender's host; "
    "absent if not delivered"
)
_IDEAL = (
    "the time of the flow alone on the idle machine: work of the sender's host, handshake of a rendezvous, and the "
    "packets one after the other over the best minimal path, with no limit by buffers and windows (docs/model.md, "
    '"Zero-load latency"); absent with NICs of Aries, GPUs inside nodes and `compat`'
)
_INTRA_NODE = "messages issued between ranks of one node, a part of `messages_sent`"
_PER_CHANNEL = "the share of virtual channel {channel}; only if links have several channels"

_LINES: dict[str, list[Line]] = {
    "jobs": [
        ("job", "UInt16", "", "index of the job"),
        ("name", "String", "", "name of the job"),
        ("background", "Boolean", "", "whether it runs only until the other jobs are done"),
        ("record", "String", "", "what was recorded of its messages: every-message, histogram or nothing"),
        ("nodes", "UInt32", "nodes", "number of its nodes"),
        ("ranks", "UInt32", "ranks", "number of its ranks; one per node unless it has a program"),
        ("messages_sent", "UInt64", "messages", "messages issued by the end", "more"),
        ("messages_delivered", "UInt64", "messages", "messages delivered by the end", "more"),
        ("complete", "Boolean", "", _COMPLETE, "neither"),
        ("measured_sent", "UInt64", "messages", "messages issued while measuring", "more"),
        ("measured_delivered", "UInt64", "messages", "those of them that were delivered by the end", "more"),
        ("saturated", "Boolean", "", _SATURATED, "neither"),
        ("backlog_growth", "Float64", "1", _GROWTH, "less"),
        ("messages_intra_node", "UInt64", "messages", _INTRA_NODE, "neither"),
        ("messages_control", "UInt64", "messages", "RTS, CTS and FIN that a program issued in addition"),
        ("packets", "UInt64", "packets", "packets delivered by the end", "more"),
        ("bytes", "UInt64", "bytes", "payload of the packets delivered by the end", "more"),
        ("first_issue_ps", "UInt64", "ps", "when the first message was issued; absent if none was"),
        ("last_delivery_ps", "UInt64", "ps", "when the last byte arrived; absent if none did", "less"),
        ("time_ps", "UInt64", "ps", _TIME, "less"),
        ("throughput", "Float64", "bytes/s", "bytes delivered, divided by `time_ps`; absent if `time_ps` is", "more"),
        ("hops_mean", "Float64", "links", "links between routers per delivered packet; absent if none was", "less"),
        ("minimal_fraction", "Float64", "1", "share of delivered packets on minimal paths; absent if none was", "more"),
        ("latency_count", "UInt64", "messages", "recorded latencies of messages issued while measuring", "more"),
        *_latency_lines("latency", "latency of the messages in `latency_count`", "absent if there are none"),
        ("iterations", "UInt64", "iterations", "iterations that all ranks ended; absent without a program", "more"),
        ("iterations_per_s", "Float64", "1/s", _PER_S, "more"),
        *_latency_lines("iteration", _ITERATION, "absent if there are none"),
        ("iteration_rank_mean_ps", "Float64", "ps", "mean time of a rank for an iteration; absent if none", "less"),
        *_latency_lines("alone", "latency of the job alone on the empty system", "absent without --alone"),
        *_latency_lines("alone_iteration", f"{_ITERATION} of the program alone", "absent without --alone"),
        ("alone_time_ps", "UInt64", "ps", "time of the program alone; absent without --alone", "less"),
        ("alone_complete", "Boolean", "", "`complete` of the job alone; absent without --alone", "neither"),
        ("slowdown", "Float64", "1", _SLOWDOWN, "less"),
        ("request_packets", "UInt64", "packets", f"requests that its NICs have sent; {_NO_ANSWERS}", "neither"),
        ("request_flits", "UInt64", "flits", f"their flits; {_NO_ANSWERS}", "neither"),
        ("stalled_cycles", "UInt64", "cycles", f"cycles {_STALLED}; {_NO_ANSWERS}", "less"),
        ("packet_latency_mean_ps", "Float64", "ps", f"mean {_PACKET_LATENCY}; {_NO_ANSWERS}, or none", "less"),
        *_mode_lines(),
        ("class_bytes", "List(UInt64)", "bytes", _CLASS_BYTES),
        ("bin_lower_ps", "List(UInt64)", "ps", f"smallest values {_BIN}"),
        ("bin_upper_ps", "List(UInt64)", "ps", f"first values above {_BIN}"),
        ("bin_count", "List(UInt64)", "messages", f"counts {_BIN}"),
    ],
    "messages": [
        ("job", "UInt16", "", "index of the job"),
        ("interval", "UInt32", "", "interval of the source rank in which it was issued, from 0"),
        ("source", "UInt32", "", "rank that sent it"),
        ("destination", "UInt32", "", "rank that received it"),
        ("issue_ps", "UInt64", "ps", "when it was issued"),
        ("latency_ps", "UInt64", "ps", "time from issue to the last byte at the destination; absent if not delivered"),
    ],
    "links": [
        ("link", "UInt32", "", "number of the directed link"),
        ("class", "String", "", "class of the link"),
        ("from_kind", "String", "", "router or node"),
        ("from_id", "UInt32", "", "id of the router or node that sends"),
        ("from_port", "UInt16", "", "port of that router, or NIC of that node"),
        ("from_group", "UInt32", "", "group of the sender; null for a router that belongs to none"),
        ("to_kind", "String", "", "router or node"),
        ("to_id", "UInt32", "", "id of the router or node that receives"),
        ("to_group", "UInt32", "", "group of the receiver; null for a router that belongs to none"),
        ("bandwidth", "Float64", "bytes/s", "bandwidth of this direction"),
        ("packets", "UInt64", "packets", "packets granted by the end"),
        ("bytes", "UInt64", "bytes", "bytes granted by the end"),
        ("busy", "Float64", "1", "bytes divided by bandwidth and run length; above 1 by what was granted but not sent"),
        ("flits", "UInt64", "flits", "flits granted by the end; absent if the fabric has none", "neither"),
        ("stalled_ps", "UInt64", "ps", "time with a packet waiting for credit, summed over the virtual channels"),
        ("packets_{channel}", "UInt64", "packets", f"packets: {_PER_CHANNEL}"),
        ("bytes_{channel}", "UInt64", "bytes", f"bytes: {_PER_CHANNEL}"),
        ("stalled_{channel}_ps", "UInt64", "ps", f"stalled time: {_PER_CHANNEL}"),
    ],
    "iterations": [
        ("job", "UInt16", "", "index of the job"),
        ("iteration", "UInt32", "", "number of the iteration, from 0"),
        ("ranks", "UInt32", "ranks", "ranks that have ended it; the other columns refer to these"),
        ("first_begin_ps", "UInt64", "ps", "when the first of them began it"),
        ("last_begin_ps", "UInt64", "ps", "when the last of them began it"),
        ("first_end_ps", "UInt64", "ps", "when the first of them ended it"),
        ("last_end_ps", "UInt64", "ps", "when the last of them ended it"),
        ("time_ps", "UInt64", "ps", "first begin to last end; absent unless all ranks of the job have ended it"),
        ("longest_ps", "UInt64", "ps", "longest time of a rank"),
        ("mean_ps", "Float64", "ps", "mean time of a rank"),
    ],
    "ranks": [
        ("job", "UInt16", "", "index of the job"),
        ("rank", "UInt32", "", "the rank"),
        ("node", "UInt32", "", "its node"),
        ("finish_ps", "UInt64", "ps", "when it ended its last iteration; absent if it did not by the end"),
        ("work_ps", "UInt64", "ps", "CPU time for sending, receiving, computing and gaps"),
    ],
    "counters": [
        ("window", "UInt32", "", "number of the window, from 0"),
        ("start_ps", "UInt64", "ps", "start of the window"),
        ("width_ps", "UInt64", "ps", "length of the window up to the end of the run"),
        ("job", "UInt16", "", "index of the job"),
        ("group", "UInt32", "", "the group"),
        ("packets_in", "UInt64", "packets", "packets that came in over global links"),
        ("bytes_in", "UInt64", "bytes", "their bytes"),
        ("rate_in", "Float64", "GiB/s", "bytes in divided by the width; absent for a width of 0"),
        ("packets_out", "UInt64", "packets", "packets sent out over global links"),
        ("bytes_out", "UInt64", "bytes", "their bytes"),
        ("rate_out", "Float64", "GiB/s", "bytes out divided by the width; absent for a width of 0"),
        ("packets_both", "UInt64", "packets", "packets in and out"),
        ("bytes_both", "UInt64", "bytes", "bytes in and out"),
        ("rate_both", "Float64", "GiB/s", "bytes in and out divided by the width; absent for a width of 0"),
    ],
    "nics": [
        ("node", "UInt32", "", "the node", "neither"),
        ("nic", "UInt16", "", "number of the NIC on its node", "neither"),
        ("job", "UInt16", "", "index of the job that the node belongs to; absent if none", "neither"),
        ("request_packets", "UInt64", "packets", "requests sent", "neither"),
        ("request_flits", "UInt64", "flits", "their flits", "neither"),
        ("stalled_cycles", "UInt64", "cycles", f"cycles {_STALLED}", "less"),
        ("window_cycles", "UInt64", "cycles", f"cycles in which a request waited for the window, {_CLOCKLESS}", "less"),
        ("answered_packets", "UInt64", "packets", "requests whose response has come", "neither"),
        ("latency_ps", "UInt64", "ps", f"sum over these of the {_PACKET_LATENCY}", "less"),
        ("response_packets", "UInt64", "packets", "responses sent", "neither"),
        ("response_flits", "UInt64", "flits", "their flits", "neither"),
    ],
    "nic_messages": [
        ("job", "UInt16", "", "index of the job", "neither"),
        ("interval", "UInt32", "", "interval of the source rank in which it was issued, from 0", "neither"),
        ("source", "UInt32", "", "rank that issued it", "neither"),
        ("destination", "UInt32", "", "the other rank", "neither"),
        ("packets", "UInt64", "packets", f"its requests; {_UNANSWERED}", "neither"),
        ("flits", "UInt64", "flits", f"their flits; {_UNANSWERED}", "neither"),
        ("stalled_cycles", "UInt64", "cycles", f"cycles {_STALLED}; {_UNANSWERED}", "less"),
        ("packet_latency_mean_ps", "Float64", "ps", f"mean {_PACKET_LATENCY}; {_UNANSWERED}", "less"),
        ("complete_ps", "UInt64", "ps", f"time from issue to its last response; {_UNANSWERED}", "less"),
        ("mode", "String", "", f"mode of Aries that it was sent with; {_OTHER_MODE}; {_UNANSWERED}", "neither"),
    ],
    "blame": [
        ("victim", "UInt16", "", "index of the job whose packets wait", "neither"),
        ("cause", "UInt16", "", "index of the job that makes them wait; may be the victim", "neither"),
        ("wait", "String", "", _WAIT, "neither"),
        ("class", "String", "", "class of the link; absent for `service`", "neither"),
        ("link", "UInt32", "", "number of the link that they are about to cross; absent for `service`", "neither"),
        ("time_ps", "UInt64", "ps", "time, summed over the packets of the victim", "less"),
    ],
    "roots": [
        ("victim", "UInt16", "", "index of the job whose packets wait for room in a buffer", "neither"),
        ("cause", "UInt16", "", "index of the job that occupied the link; may be the victim", "neither"),
        ("class", "String", "", "class of the link", "neither"),
        ("link", "UInt32", "", "number of the link in `links` at which the chain of full buffers ends", "neither"),
        ("time_ps", "UInt64", "ps", "time, summed over the packets of the victim", "less"),
    ],
    "series": [
        ("link", "UInt32", "", "number of the link in `links`", "neither"),
        ("slice", "UInt16", "", "number of the slice of time, from 0", "neither"),
        ("start_ps", "UInt64", "ps", "start of the slice", "neither"),
        ("width_ps", "UInt64", "ps", "length of every slice, a power of two", "neither"),
        ("job", "UInt16", "", "index of the job", "neither"),
        ("bytes", "UInt64", "bytes", "bytes of its packets whose transmission begins in the slice", "neither"),
        ("wait_ps", "UInt64", "ps", _SERIES_WAIT, "less"),
    ],
    "routes": [
        ("slice", "UInt16", "", "number of the slice of time, from 0: the slices of `series`", "neither"),
        ("start_ps", "UInt64", "ps", "start of the slice", "neither"),
        ("width_ps", "UInt64", "ps", "length of every slice", "neither"),
        ("job", "UInt16", "", "index of the job", "neither"),
        ("packets", "UInt64", "packets", "packets whose transmission to their node begins in the slice", "neither"),
        ("minimal", "UInt64", "packets", "those of them that took a minimal path", "neither"),
    ],
    "operations": [
        ("job", "UInt16", "", "index of the job", "neither"),
        ("rank", "UInt32", "", _OPERATION_RANK, "neither"),
        ("cpu", "UInt16", "", "number of its CPU; 0 except in traces", "neither"),
        ("iteration", "UInt32", "", "its iteration, from 0; of a gap, the next one", "neither"),
        ("kind", "String", "", "`compute`, `combine`, `send`, `receive` or `gap`", "neither"),
        ("peer", "UInt32", "", "rank at the other end of the message; absent if there is none", "neither"),
        ("bytes", "UInt64", "bytes", "size of the message or of the combined vector; absent for others", "neither"),
        ("begin_ps", "UInt64", "ps", "when the CPU begins the task", "neither"),
        ("end_ps", "UInt64", "ps", "when it ends it; maybe after the run", "neither"),
    ],
    "flow_times": [
        ("job", "UInt16", "", "index of the job"),
        ("iteration", "UInt32", "", "iteration in which it was sent, from 0"),
        ("flow", "UInt32", "", "number of the flow in the list, from 0"),
        ("source", "UInt32", "", "rank that sends it"),
        ("destination", "UInt32", "", "rank that receives it"),
        ("bytes", "UInt64", "bytes", "its size"),
        ("start_ps", "UInt64", "ps", "its start"),
        ("fct_ps", "UInt64", "ps", _FCT, "less"),
        ("ideal_ps", "UInt64", "ps", _IDEAL, "neither"),
        ("slowdown", "Float64", "1", "`fct_ps` divided by `ideal_ps`; absent if one of them is", "less"),
    ],
}  # fmt: skip

_STEADY: list[Line] = [
    (
        "iterations_skipped",
        "UInt64",
        "iterations",
        "iterations that were not simulated, since their mean was known; only with `run.steady`. `time_ps`, "
        "`iterations`, `iterations_per_s`, the means of iterations and `slowdown` include them, and if steps of the "
        "only iteration were skipped, so do its quantiles; all other columns are of the simulated part",
    ),
    ("skipped_ps", "UInt64", "ps", "the time of what was skipped, a part of `time_ps`; only with `run.steady`"),
    (
        "skipped_error",
        "Float64",
        "1",
        "half-width of the 95 % interval of `time_ps`, divided by it; 0 if nothing was skipped; only with `run.steady`",
    ),
]
"""Further columns of `jobs`; absent without a program."""

_NO_SIZE = "absent for other programs, with `compute`, for one rank, and without a complete iteration"
_COLLECTIVE: list[Line] = [
    (
        "algbw",
        "Float64",
        "bytes/s",
        "algorithm bandwidth of a collective, as nccl-tests define it: its size divided by `iteration_mean_ps`; of an "
        f"all-gather and an all-to-all the size of the data of all ranks; {_NO_SIZE}",
        "more",
    ),
    (
        "busbw",
        "Float64",
        "bytes/s",
        "bus bandwidth, as nccl-tests define it: `algbw` x 2 (n - 1) / n of an all-reduce of n ranks, x (n - 1) / n of "
        f"an all-gather, reduce-scatter and all-to-all, x 1 of a broadcast and a reduce; {_NO_SIZE}",
        "more",
    ),
]
"""Further columns of `jobs` of runs with a collective."""

_LATE = "come to their NIC after a later packet of the same pair of NICs"
_EXTENT = (
    "reordering extent (RFC 4737, section 4.2): packets of the pair that came from the first later one on, up to the "
    "reordered one"
)
_REORDERING: list[Line] = [
    (
        "reordered_fraction",
        "Float64",
        "1",
        f"share of the packets with payload that {_LATE} (RFC 4737, section 3); absent if none came",
        "less",
    ),
    ("reordering_extent_mean", "Float64", "packets", f"mean {_EXTENT}; absent if none is reordered", "less"),
    ("reordering_extent_max", "UInt64", "packets", f"largest {_EXTENT}; 0 if none is reordered", "less"),
    (
        "reorder_buffer_bytes",
        "UInt64",
        "bytes",
        "most payload at one NIC at one time that has come although an earlier packet of its pair has not",
        "less",
    ),
]
"""Further columns of `jobs` of runs with `measure.reordering`."""
REORDERING = tuple(line[0] for line in _REORDERING)
"""Their names."""

_NAMES = ("min", "p25", "p50", "p75", "p99", "max", "mean")
PRINTED: dict[str, str] = {
    "name": "name",
    "nodes": "nodes",
    "ranks": "ranks",
    "messages_delivered": "messages",
    "complete": "complete",
    "saturated": "saturated",
    **{f"latency_{name}_ps": name for name in _NAMES},
    "time_ps": "time",
    "iterations": "iterations",
    "iterations_per_s": "per s",
    "algbw": "algbw",
    "busbw": "busbw",
    **{f"iteration_{name}_ps": name for name in _NAMES if name not in ("min", "p25", "p75", "p99")},
    "hops_mean": "hops",
    "minimal_fraction": "minimal",
    "reordered_fraction": "reordered",
    "reordering_extent_mean": "extent",
    "reordering_extent_max": "most",
    "reorder_buffer_bytes": "buffer",
    "alone_mean_ps": "alone mean",
    "alone_time_ps": "alone",
    "slowdown": "slowdown",
}
"""Columns of `jobs` that `odonata run` prints, with their headings."""

COLUMNS: tuple[Column, ...] = (
    *_column("jobs"),
    *(replace(Column("jobs", *line), steady=True) for line in _STEADY),
    *(replace(Column("jobs", *line), collective=True) for line in _COLLECTIVE),
    *(replace(Column("jobs", *line), reordering=True) for line in _REORDERING),
    *(column for table in TABLES if table != "jobs" for column in _column(table)),
)
"""Every result column, by table, in the order of storage."""


def columns_of(
    table: str, channels: int = 1, *, steady: bool = False, collective: bool = False, reordering: bool = False
) -> tuple[Column, ...]:
    """Columns of `table` as stored, with those for each virtual channel listed (none if there is only one channel),
    and with those of runs with `run.steady`, with collectives and with `measure.reordering` if these are set."""
    columns: list[Column] = []
    for column in COLUMNS:
        if column.table != table or (column.steady and not steady) or (column.collective and not collective):
            continue
        if column.reordering and not reordering:
            continue
        if "{channel}" not in column.name:
            columns.append(column)
        elif channels > 1:
            for number in range(channels):
                name = column.name.format(channel=number)
                meaning = column.meaning.format(channel=number)
                columns.append(replace(column, name=name, meaning=meaning))
    return tuple(columns)
