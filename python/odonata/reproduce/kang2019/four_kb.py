"""`kang2019-4kb`: all published results for messages of 4 KB, as published and correct."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.figure import draw
from odonata.reproduce.kang2019.published import compare, expected, means_alone
from odonata.reproduce.kang2019.runs import (
    AS_PUBLISHED,
    BACKLOGS,
    BOTH,
    CORRECT,
    INTERVALS,
    by_case,
    keep,
    make,
    product,
    varied,
)
from odonata.reproduce.markdown import counts, latencies, number, published, reasons, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

INFERRED = 300
"""Messages per process: where uniform random traffic, contiguous, every 0.5 us has its published mean latency (K30)."""

ALONE = ["uniform-random", "tornado"]


def points(reduced: bool) -> Points:
    """The experiments with messages of 4 KB (figures 5 to 10; catalogue K22, K30 to K54).

    The numbers of messages are chosen so that all of it takes about half an hour on two cores; nearly all of that is
    the slow simulator of the model as published.
    """
    if reduced:
        experiments = [
            # The six steady latencies, and the busiest ports.
            *product(ALONE, BOTH, ["3us"], [50]),
            *product(ALONE, ["random"], ["1us"], [50]),
            *product(["uniform-random"], ["contiguous"], ["1us"], [50]),
        ]
        return _by_backlogs(experiments)
    intervals = INTERVALS["4 KB"]
    thresholds = varied(routing__threshold=[0.25, 0.4, 0.5, 0.6])
    metrics = varied(sensing=["backlog", "both", "occupancy"])
    experiments = [
        # By itself: figures 5 to 7, pink boxes (K30, K31, K41 to K43). Latency against the number of messages.
        *product(ALONE, BOTH, intervals, [100, 200, 300]),
        # A stencil sends six messages an interval (K15), which takes six times as long to simulate.
        *product(["stencil"], BOTH, ["3us"], [100, 300]),
        *product(["stencil"], BOTH, ["1us", "0.5us"], [50, 100]),
        # Beside a background: contiguous is said to hardly notice (K36, K38), random to suffer (K36, K39, K44).
        *product(ALONE, BOTH, intervals, [300], backgrounds=["130%@100us"]),
        *product(["uniform-random"], ["contiguous"], intervals, [300], backgrounds=["50%@100us", "90%@100us"]),
        *product(["uniform-random"], ["contiguous"], intervals, [300], backgrounds=["130%@1us"]),
        # The one number for which the unstated interval of the background matters most (K12, K36).
        *product(
            ["uniform-random"],
            ["random"],
            ["1us"],
            [100, 200, 300],
            backgrounds=["130%@1us", "130%@10us", "130%@100us"],
        ),
        *product(["stencil"], ["contiguous"], intervals, [100], backgrounds=["130%@1us", "130%@100us"]),
        *product(["stencil"], ["random"], ["3us"], [100, 300], backgrounds=["130%@100us"]),
        # Broadcast: figures 9 and 10 (K50 to K53). One broadcast is 2,303 messages.
        *product(["broadcast"], ["contiguous"], ["100us"], [1], backgrounds=["130%@1us", "260%@1us", "390%@1us"]),
        # By itself, and at the heaviest background; which interval that had is not stated either.
        *product(
            ["broadcast"],
            ["contiguous", "random-out", "random-in"],
            ["100us"],
            [1],
            backgrounds=["", "520%@1us", "520%@10us", "520%@100us"],
        ),
        # What a node's input buffer at its leaf must hold before the node can send at the full rate of its link.
        *product(
            ["broadcast"],
            ["contiguous"],
            ["100us"],
            [1],
            models=[CORRECT],
            changes=varied(fabric__links__node__buffer=["8 KiB", "16 KiB", "32 KiB"]),
        ),
        # How near the threshold is to a full channel decides whether the correct model carries this load.
        *product(["uniform-random"], ["contiguous"], ["1us"], [100, 200, 400], models=[CORRECT], changes=thresholds),
        *product(["uniform-random"], BOTH, ["0.5us"], [300], models=[CORRECT], changes=thresholds),
        # What FPAR knows of a port decides it as well. All other points read backlogs.
        *product(ALONE, BOTH, intervals, [INFERRED], models=[CORRECT], changes=varied(sensing=["occupancy"])),
        *product(["uniform-random"], ["contiguous"], ["1us"], [100, 200, 400], models=[CORRECT], changes=metrics),
    ]
    # The background every 100 us is part of two blocks.
    return _by_backlogs(
        list({(point["model"], point["case"], point["messages"]): point for point in experiments}.values())
    )


def _by_backlogs(points: Points) -> Points:
    """With the metric of the page, except for those that name one."""
    return [{**point, "changed": {**BACKLOGS, **point["changed"]}} for point in points]


def _rows(runs: Runs) -> list[Row]:
    return compare(expected(), runs, inferred=INFERRED)


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "counts_published": counts(rows, AS_PUBLISHED),
        "counts_correct": counts(rows, CORRECT),
        "table": side_by_side(rows, (AS_PUBLISHED, CORRECT)),
        "reasons_published": reasons(row for row in rows if row.model == AS_PUBLISHED),
        "reasons_correct": reasons(row for row in rows if row.model == CORRECT),
        "inferred": str(INFERRED),
    }


def _of_runs(rows: Sequence[Row], runs: Runs) -> Texts:
    return {
        "latencies_published": latencies(rows, AS_PUBLISHED),
        "latencies_correct": latencies(rows, CORRECT),
        "thresholds": _indented(_by_messages(runs, "threshold")),
        "metrics": _indented(_by_messages(runs, "sensing")),
        "occupancies": _indented(_occupancies(rows, runs)),
        "thresholds_overloaded": _indented(_thresholds_overloaded(runs)),
        "buffers": _indented(_buffers(runs)),
        "ports": _indented(_ports(runs)),
        "at_inferred": _at_inferred(rows),
    }


def _at_inferred(rows: Sequence[Row]) -> str:
    """Every value as published that grows, at the inferred number of messages."""
    lines = []
    for row in rows:
        if row.model == AS_PUBLISHED and row.kind in "NF" and row.growth == "grows" and INFERRED in row.by_messages:
            ours = row.by_messages[INFERRED]
            off = f"{(ours / row.theirs - 1) * 100:+.1f} %"
            meets = "" if row.meets_at is None else f"{row.meets_at:.0f}"
            lines.append([row.id, row.what, published(row), number(ours, row.unit), off, meets])
    return table(["id", "what", "published", f"ours, N = {INFERRED}", "off by", "meets it at N"], lines, "llrrrr")


def _indented(text: str) -> str:
    """Inside an element of a list."""
    return "\n".join(f"   {line}" for line in text.splitlines())


def _by_messages(runs: Runs, option: str) -> str:
    """Latency of the correct model against an option of FPAR and the number of messages."""
    prefix = f"uniform-random/contiguous/1us/{option}="
    chosen = {
        name: by_messages
        for (model, name), by_messages in by_case(runs).items()
        if model == CORRECT and name.startswith(prefix)
    }
    counted = sorted(set.intersection(*(set(by_messages) for by_messages in chosen.values())))
    lines = []
    for name, by_messages in chosen.items():
        minimal = by_messages[max(by_messages)]["minimal_fraction"]
        values = [number(by_messages[n]["latency_mean_ps"] / 1e6, "us") for n in counted]
        lines.append([name.removeprefix(prefix), *values, f"{minimal:.0%}".replace("%", " %")])
    head = [option, *(f"N = {n}, us" for n in counted), "packets never diverted"]
    return table(head, lines, "l" + "r" * len(counted) + "r")


def _occupancies(rows: Sequence[Row], runs: Runs) -> str:
    """Mean latencies of jobs alone: published, and with the model's and with FPAR's own metric."""
    wanted, cases = means_alone(), by_case(runs)
    ours = {(row.id, row.what): number(row.ours, row.unit) for row in rows if row.model == CORRECT}
    lines = []
    for traffic, target in wanted.items():
        run = cases[CORRECT, f"{traffic}/sensing=occupancy"][INFERRED]
        value = number(run["latency_mean_ps"] / 1e6, "us")
        lines.append(
            [
                target.id,
                target.what.partition(": ")[0],
                f"{target.theirs:.2f}",
                ours[target.id, target.what],
                value,
            ]
        )
    return table(["id", "traffic", "published, us", "`backlog`, us", "`occupancy`, us"], lines, "llrrr")


def _thresholds_overloaded(runs: Runs) -> str:
    """The same at an overload, for both placements."""
    latencies: dict[str, list[str]] = {}
    for place in BOTH:
        prefix = f"uniform-random/{place}/0.5us/threshold="
        for (_, name), outcomes in by_case(runs).items():
            if name.startswith(prefix):
                (run,) = outcomes.values()
                latencies.setdefault(name.removeprefix(prefix), []).append(number(run["latency_mean_ps"] / 1e6, "us"))
    return table(
        ["threshold", "contiguous, us", "random, us"], [[key, *values] for key, values in latencies.items()], "lrr"
    )


def _buffers(runs: Runs) -> str:
    """Broadcast alone against the node's input buffer at its leaf."""
    prefix = "broadcast/contiguous/100us/buffer="
    lines = []
    for (_, name), by_messages in by_case(runs).items():
        if name.startswith(prefix):
            (run,) = by_messages.values()
            rate = run["root_rate"] / 2**30
            lines.append(
                [
                    name.removeprefix(prefix).replace("KiB", " KiB"),
                    number(run["latency_mean_ps"] / 1e9, "ms"),
                    number(rate, "GiB/s"),
                ]
            )
    return table(["buffer per channel", "mean latency, ms", "out of the root's group, GiB/s"], lines, "lrr")


def _ports(runs: Runs) -> str:
    """Busy fraction of the first, the mean and the last port of a leaf to its spines."""
    lines = []
    for model in (AS_PUBLISHED, CORRECT):
        by_messages = by_case(runs)[model, "uniform-random/contiguous/1us"]
        busy = by_messages[max(by_messages)]["up_ports"]
        shares = (busy[0], sum(busy) / len(busy), busy[-1])
        lines.append([model, *(f"{share * 100:.0f} %" for share in shares), f"{busy[0] / busy[-1]:.2f}"])
    return table(["model", "first port", "mean", "last port", "first over last"], lines, "lrrrr")


REPRODUCTION = Reproduction(
    name="kang2019-4kb",
    title="Kang 2019, figures 5 to 10, messages of 4 KB: as published and correct",
    points=points,
    make=make,
    rows=_rows,
    text=Page(
        lambda: (files("odonata.reproduce.kang2019") / "four_kb.md").read_text("utf-8"), _of_rows, _of_runs, wrap=False
    ),
    picture=draw,
    keep=keep,
    study="kang2019",
)
