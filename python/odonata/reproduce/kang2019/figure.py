"""The picture of `kang2019-4kb`: published and simulated latencies, and where the two models put their load.

Above: mean latencies of uniform random and tornado traffic against the number of messages, published values as lines.
Below: busy fraction of the links from a leaf to its spines by number of the port. A "least-scored port" that is drawn
among the running minima of a scan favours low numbers; one that is drawn among the true minima favours none. The links
of a spine to other groups show the threshold: the correct model fills the minimal ones before it sends packets round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.kang2019.runs import by_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

_MODELS = (("as-published", LINES[1], "o"), ("correct", LINES[0], "s"))
_CASE = "uniform-random/contiguous/1us"
_IDS = ("K30", "K31", "K42", "K43")


def draw(rows: Sequence[Row], runs: Runs) -> Figure:
    """The picture; `rows` and `runs` of the full study."""
    with settings():
        made = figure(10.5, 7.2)
        upper, lower = made.subplots(2, 1, height_ratios=(1.15, 1))
        _latencies(upper, rows)
        _ports(lower, runs)
    return made


def _latencies(axes: Axes, rows: Sequence[Row]) -> None:
    """Each published mean latency of the open-loop patterns alone, and ours at the largest number of messages."""
    wanted = [row for row in rows if row.id in _IDS and row.unit == "us"]
    names = list(dict.fromkeys((row.id, row.what) for row in wanted))
    place = {name: number for number, name in enumerate(names)}
    for row in wanted:
        if row.model == _MODELS[0][0]:
            at = place[row.id, row.what]
            label = "published" if at == 0 else None
            axes.plot([at - 0.38, at + 0.38], [row.theirs] * 2, color="black", lw=1.6, label=label)
    for shift, (model, colour, marker) in zip((-0.14, 0.14), _MODELS, strict=True):
        for row in wanted:
            if row.model != model:
                continue
            number = place[row.id, row.what]
            across = number + shift
            values = [row.by_messages[n] for n in sorted(row.by_messages)] or [row.ours]
            label = model if number == 0 else None
            axes.plot([across] * 2, [values[0], values[-1]], color=colour, lw=1)
            axes.plot([across] * len(values), values, marker, color=colour, ms=4, ls="none", label=label)
    axes.set_yscale("log")
    axes.set_ylabel("mean latency [µs]")
    axes.set_xticks(range(len(names)), [_short(id_, what) for id_, what in names])
    counts = sorted({n for row in wanted for n in row.by_messages})
    axes.set_title(f"Mean latency by itself, {', '.join(map(str, counts))} messages per process (bottom to top)")
    axes.legend(loc="upper left")
    axes.grid(axis="y", color="0.9")


def _short(id_: str, what: str) -> str:
    pattern, place, interval = what.partition(":")[0].split(", ")
    shorter = pattern.replace("uniform-random", "unif. rand.")
    return f"{id_}\n{shorter}\n{place}\n{interval.removeprefix('every ').replace('us', 'µs')}"


def _ports(axes: Axes, runs: Runs) -> None:
    cases = by_case(runs)
    for model, colour, marker in _MODELS:
        if (model, _CASE) not in cases:
            continue  # its rows are kept from an earlier page, without its runs
        by_messages = cases[model, _CASE]
        up, across = by_messages[max(by_messages)]["up_ports"], by_messages[max(by_messages)]["global_ports"]
        axes.plot(range(1, len(up) + 1), up, marker, ls="-", lw=1, ms=4, color=colour, label=f"{model}: leaf to spine")
        axes.plot(
            range(1, len(across) + 1), across, marker, ls=":", lw=1, ms=4, mfc="white", color=colour,
            label=f"{model}: spine to other groups",
        )  # fmt: skip
    axes.set_ylim(0, None)
    axes.set_xlabel("number of the port at its router, among those of the kind")
    axes.set_ylabel("busy fraction")
    axes.set_title("Load by port: uniform random, contiguous, every 1 µs; mean over the routers of groups 3 to 8")
    # The global ports of a spine are in the order of the groups that they lead to.
    axes.text(
        3.5, 0.06, "to groups 0 to 2, which have no process:\nonly packets that go round", ha="center", fontsize=8
    )
    axes.text(11.5, 0.87, "to the job's other groups", ha="center", fontsize=8)
    axes.legend(loc="upper right")
    axes.grid(axis="y", color="0.9")
