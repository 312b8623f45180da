"""A traffic book of measured jobs: a rule for each name of jobs."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from odonata import units
from odonata.document import writing
from odonata.errors import InputError, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.counters.traffic import JobTraffic

MESSAGE = 16 * 1024
"""Bytes of a message where packets do not say less (assumed, as in the default book)."""
FULL_PACKET = 1024
"""Packets that are smaller on the average carry messages of their size; larger ones may be parts of messages (assumed).
"""
_LEAST_LOAD = 0.0001
_MOST_LOAD = 1.0


def as_book(jobs: Sequence[JobTraffic], bandwidth: int, source: str) -> str:
    """The book as TOML.

    Parameters
    ----------
    jobs
        Measured jobs.
    bandwidth
        Of all NICs of a node, in millionths of a byte per second.
    source
        Where the counters come from.

    Raises
    ------
    InputError
        If no job has sent anything, or one sent more than its NICs can.
    """
    by_name: dict[str, list[JobTraffic]] = defaultdict(list)
    for job in jobs:
        if job.sent > 0:
            by_name[job.run.name].append(job)
    if not by_name:
        raise InputError("no measured job has sent anything", file=source)
    lines = [
        f"# Traffic of jobs by counters of their NICs: {visible(source)}",
        "# Measured are loads, their peaks and sizes of packets. Counters do not say who talks to whom, nor how large",
        "# messages are: `neighbours` is another pattern with the same load. `peak` is the load of the busiest 5 % of",
        "# the time, because a simulated window is shorter than a burst.",
        "",
        writing.pair("title", "measured by counters"),
        writing.pair("alternatives", ["peak", "quiet", "neighbours"]),
    ]
    for name in sorted(by_name):
        lines += ["", *_rule(name, by_name[name], bandwidth / 1e6)]
    lines += [
        "",
        "# Every other job. Nothing of it was measured.",
        "[[rule]]",
        writing.pair("name", "not measured"),
        "optional = true",
        writing.pair("app", {"pattern": "uniform-random", "message": "16 KiB"}),
        writing.pair("load", "5 %"),
        writing.pair("source", "assumed: as in the default book; nothing was measured of the job"),
    ]
    return "\n".join(lines) + "\n"


def _rule(name: str, jobs: Sequence[JobTraffic], bandwidth: float) -> list[str]:
    weight = [job.seconds * len(job.run.nodes or ()) for job in jobs]
    total = sum(weight)

    def mean(values: Sequence[float]) -> float:
        return sum(w * value for w, value in zip(weight, values, strict=True)) / total

    sent, peak = mean([job.sent for job in jobs]), mean([job.peak for job in jobs])
    low, high = mean([job.low for job in jobs]), mean([job.high for job in jobs])
    if sent > bandwidth * 1.02:
        rate = units.format_bandwidth(round(sent * 1e6), 3)
        message = f"the jobs `{shortened(name, 60)}` sent {rate} from each node, more than its NICs can"
        raise InputError(message, hint="--bandwidth is that of all NICs of a node")
    packets = [job.packet for job in jobs if job.packet is not None]
    small = min(packets, default=float(FULL_PACKET))
    size = MESSAGE if small >= FULL_PACKET else max(1, round(small))
    shapes = sorted({job.shape for job in jobs} - {"even"})
    of_packets = "" if not packets else f"; packets of {sum(packets) / len(packets):.0f} B on the average"
    one_sided = f"; one-sided in {' and '.join(shapes)}: this pattern spreads it" if shapes else ""
    active = f"{mean([job.active for job in jobs]):.0%}".replace("%", " %")
    many = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
    said = (
        f"measured: {many}, {total / 3600:.3g} node-hours; 95 % of the mean {_share(low, bandwidth)} to "
        f"{_share(high, bandwidth)}; active for {active} of the time{of_packets}{one_sided}. "
        f"Assumed: the pattern{'' if size < FULL_PACKET else ', the size of messages'}"
    )
    app = {"pattern": "uniform-random", "message": f"{size} B"}
    other = {"pattern": "stencil-3d", "message": f"{size} B"}
    return [
        "[[rule]]",
        writing.pair("name", name or "jobs without a name"),
        *([writing.pair("job_name", _exactly(name))] if name else []),
        "optional = true",
        writing.pair("app", app),
        writing.pair("load", _share(sent, bandwidth)),
        writing.pair("source", said),
        f"alternatives.peak = {writing.inline({'load': _share(max(peak, sent), bandwidth)})}",
        f"alternatives.quiet = {writing.inline({'load': _share(low, bandwidth)})}",
        f"alternatives.neighbours = {writing.inline({'app': other})}",
    ]


def _share(rate: float, bandwidth: float) -> str:
    return f"{100 * min(max(rate / bandwidth, _LEAST_LOAD), _MOST_LOAD):.4g} %"


def _exactly(name: str) -> str:
    """A pattern that fits this name; commas, which separate patterns, fit any character."""
    return re.sub(r"([*?\[])", r"[\1]", name.strip()).replace(",", "?")
