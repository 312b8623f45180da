"""`kang2019-4kb`: all published results for messages of 4 KB, as published and correct."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.figure import draw
from odonata.reproduce.kang2019.published import compare, expected, explain, means_alone
from odonata.reproduce.kang2019.runs import (
    AS_PUBLISHED,
    BACKLOG,
    BOTH,
    CORRECT,
    INTERVALS,
    by_case,
    keep,
    make,
    product,
    varied,
)
from odonata.reproduce.markdown import latencies, number, published, reasons, side_by_side, table
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

SEEDS = (1, 2, 3, 4, 5)
"""Seeds of the correct model's jobs alone, every 3 and 1 us."""


def points(reduced: bool) -> Points:
    """The experiments with messages of 4 KB (figures 5 to 10; catalogue K22, K30 to K54).

    The numbers of messages are chosen so that all of it takes about half an hour on two cores; nearly all of that is
    the slow simulator of the model as published.
    """
    if reduced:
        return [
            # The six steady latencies, and the busiest ports.
            *product(ALONE, BOTH, ["3us"], [50]),
            *product(ALONE, ["random"], ["1us"], [50]),
            *product(["uniform-random"], ["contiguous"], ["1us"], [50]),
        ]
    intervals = INTERVALS["4 KB"]
    heavy, all_models = ["130%@100us"], (CORRECT, BACKLOG, AS_PUBLISHED)
    others = (BACKLOG, AS_PUBLISHED)
    experiments = [
        # By itself: figures 5 to 7, pink boxes (K30, K31, K41 to K43). Latency against the number of messages.
        *product(ALONE, BOTH, intervals, [100, INFERRED], models=all_models),
        # Where a run takes seconds, other seeds beside the first.
        *product(ALONE, BOTH, intervals[:2], [INFERRED], models=[CORRECT], repetitions=SEEDS[1:]),
        # A stencil sends six messages an interval (K15), which takes six times as long to simulate.
        *product(["stencil"], BOTH, ["3us"], [100, INFERRED], models=all_models),
        *product(["stencil"], BOTH, ["1us", "0.5us"], [100], models=all_models),
        # Broadcast: figures 9 and 10 (K50 to K53). One broadcast is 2,303 messages.
        *product(
            ["broadcast"],
            ["contiguous"],
            ["100us"],
            [1],
            models=all_models,
            backgrounds=["130%@1us", "260%@1us", "390%@1us"],
        ),
        # By itself, and at the heaviest background; which interval that had is not stated either.
        *product(
            ["broadcast"],
            ["contiguous", "random-out", "random-in"],
            ["100us"],
            [1],
            models=all_models,
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
        # The one number for which the unstated interval of the background matters most (K12, K36).
        *product(
            ["uniform-random"],
            ["random"],
            ["1us"],
            [INFERRED],
            models=all_models,
            backgrounds=["130%@1us", "130%@10us", *heavy],
        ),
        # Beside a background: contiguous is said to hardly notice (K36, K38), random to suffer (K36, K39, K44). The
        # slowdowns of the correct model rest on fewer messages, for lack of processor time.
        *product(ALONE, BOTH, intervals, [100], models=[CORRECT], backgrounds=heavy),
        *product(
            ["uniform-random"],
            ["contiguous"],
            intervals,
            [100],
            models=[CORRECT],
            backgrounds=["50%@100us", "90%@100us", "130%@1us"],
        ),
        *product(["stencil"], ["contiguous"], intervals, [20], models=[CORRECT], backgrounds=["", "130%@1us", *heavy]),
        *product(["stencil"], ["random"], ["3us"], [100], models=[CORRECT], backgrounds=heavy),
        *product(ALONE, BOTH, intervals, [INFERRED], models=others, backgrounds=heavy),
        *product(
            ["uniform-random"],
            ["contiguous"],
            intervals,
            [INFERRED],
            models=others,
            backgrounds=["50%@100us", "90%@100us", "130%@1us"],
        ),
        *product(["stencil"], ["contiguous"], intervals, [100], models=others, backgrounds=["130%@1us", *heavy]),
        *product(["stencil"], ["random"], ["3us"], [INFERRED], models=others, backgrounds=heavy),
    ]
    # Some points are part of two blocks. The correct model's runs are short, so they come first.
    different = {
        (point["model"], point["case"], point["messages"], point["repetition"]): point for point in experiments
    }
    return sorted(different.values(), key=lambda point: point["model"] != CORRECT)


def _shown(row: Row) -> bool:
    """Whether the page has the row: values that the table of the inferred number does not have."""
    return (
        row.theirs != 1
        and not (row.kind in "NF" and "mean latency" in row.what and row.unit == "us")
        and ("10 us" not in row.what and "100 us" not in row.what)
    )


def _rows(runs: Runs) -> list[Row]:
    return compare(expected(), runs, inferred=INFERRED)


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "table": side_by_side([row for row in rows if _shown(row)], (AS_PUBLISHED, CORRECT, BACKLOG)),
        "metrics": _metrics(rows),
        "missing": _missing(rows),
        "reasons_backlog": reasons(row for row in rows if row.model == BACKLOG),
        "reasons_published": reasons(row for row in rows if row.model == AS_PUBLISHED),
        "reasons_correct": reasons(row for row in rows if row.model == CORRECT),
        "inferred": str(INFERRED),
        "seeds": str(max(row.repetitions for row in rows)),
        "repeated": str(sum(row.repetitions > 0 for row in rows)),
    }


def _of_runs(rows: Sequence[Row], runs: Runs) -> Texts:
    """The texts of the models that were simulated: each text is of one model."""
    simulated = {run["model"] for run in runs}
    texts: dict[str, str] = {}
    if AS_PUBLISHED in simulated:
        texts |= {
            "latencies_published": latencies(rows, AS_PUBLISHED),
            "at_inferred": _at_inferred(rows),
            "ports_published": _ports(runs, AS_PUBLISHED),
        }
    if CORRECT in simulated:
        texts |= {
            "latencies_correct": latencies(rows, CORRECT),
            "buffers": _buffers(runs),
            "ports_correct": _ports(runs, CORRECT),
            "backgrounds": _backgrounds(runs),
        }
    if BACKLOG in simulated:
        texts |= {"latencies_backlog": latencies(rows, BACKLOG)}
    return texts


def _missing(rows: Sequence[Row]) -> str:
    """The published values that the correct model has not been simulated for with the shipped metric."""
    there = {(row.id, row.what) for row in rows if row.model == CORRECT}
    absent = [f"{row.id} {row.what}" for row in expected() if (row.id, row.what) not in there]
    if not absent:
        return "The correct model was simulated for every published value."
    return f"The correct model was not simulated for these, for lack of processor time: {'; '.join(absent)}."


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


def _metrics(rows: Sequence[Row]) -> str:
    """Mean latencies of jobs alone: published, with FPAR's own metric and with that of the other routings."""
    ours = {(row.id, row.what, row.model): row for row in rows}
    lines = []
    for target in means_alone().values():
        row, other = (ours.get((target.id, target.what, model)) for model in (CORRECT, BACKLOG))
        low, high = row.interval if row and row.interval else (0.0, 0.0)
        cells = ["" if of is None else number(of.ours, of.unit) for of in (row, other)]
        between = f"{low:.3f} to {high:.3f}" if high else ""
        words = [target.id, target.what.partition(": ")[0], f"{target.theirs:.2f}"]
        lines.append([*words, cells[0], between, cells[1]])
    head = ["id", "traffic", "published, us", "`occupancy`, us", "95 % interval", "`backlog`, us"]
    return table(head, lines, "llrrrr")


def _backgrounds(runs: Runs) -> str:
    """The background in and out of the root's group beside a contiguous broadcast, for every load and interval (K53).

    Most that can pass through: each of the three groups of the background has 48 links to the root's group.
    """
    cases, lines = by_case(runs), []
    for (model, case), by_messages in cases.items():
        pattern, place, _, *rest = case.split("/")
        if model == CORRECT and pattern == "broadcast" and rest and "@" in rest[0]:
            (run,) = by_messages.values()
            load, _, interval = rest[0].partition("@")
            rate = run["background_rate"] / 2**30
            lines.append([place, load.replace("%", " %"), interval.replace("us", " us"), f"{rate:,.0f}"])
    return table(["placement", "background", "interval", "in and out of the root's group, GiB/s"], lines, "lrrr")


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


def _ports(runs: Runs, model: str) -> str:
    """Busy fraction of the first, the mean and the last port of a leaf to its spines: a line of a table."""
    by_messages = by_case(runs)[model, "uniform-random/contiguous/1us"]
    busy = by_messages[max(by_messages)]["up_ports"]
    shares = (busy[0], sum(busy) / len(busy), busy[-1])
    cells = [model, *(f"{share * 100:.0f} %" for share in shares), f"{busy[0] / busy[-1]:.2f}"]
    return f"| {' | '.join(cells)} |"


REPRODUCTION = Reproduction(
    name="kang2019-4kb",
    title="Kang 2019, figures 5 to 10, messages of 4 KB: as published and correct",
    points=points,
    make=make,
    rows=_rows,
    explain=explain,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "four_kb.md").read_text("utf-8"), _of_rows, _of_runs),
    picture=draw,
    keep=keep,
    study="kang2019",
)
