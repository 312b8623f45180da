"""`kang2019-metric`: what FPAR's score and queue length would have to be for K42 and K30 (section 3.1.2)."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from odonata.reproduce.kang2019.published import means_alone, row_of
from odonata.reproduce.kang2019.runs import CORRECT, by_case, label, make, product
from odonata.reproduce.markdown import number, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

CASES = ("tornado/contiguous/3us", "uniform-random/contiguous/1us")
"""K42, and K30 every 1 us: the two that the metric decides most."""
MESSAGES = ((300,), (300,))
"""Messages per process of each."""
_NO_CLAIM = "a candidate, not the shipped setting"


class Candidate(NamedTuple):
    """A reading of the sentence, or another micro-parameter."""

    sensing: str
    threshold: float
    buffers: int = 1
    """Factor on the buffers of local and global links, 8 and 16 KiB."""
    packet: str = "2 KiB"
    delay: str = "100 ns"

    def changed(self) -> dict[str, Any]:
        """What it changes in the scenario."""
        changes: dict[str, Any] = {"sensing": self.sensing, "routing.threshold": self.threshold}
        if self.buffers != 1:
            changes["fabric.links.local.buffer"] = f"{8 * self.buffers} KiB"
            changes["fabric.links.global.buffer"] = f"{16 * self.buffers} KiB"
        if self.packet != "2 KiB":
            changes["fabric.packet"] = self.packet
        if self.delay != "100 ns":
            changes["fabric.router_delay"] = self.delay
        return changes

    def words(self) -> list[str]:
        """Its cells of the table."""
        buffers = f"{8 * self.buffers} and {16 * self.buffers} KiB"
        return [f"`{self.sensing}`", f"{self.threshold:g}", buffers, self.packet, self.delay]


SHIPPED = Candidate("occupancy", 0.5)
CANDIDATES = (
    SHIPPED,
    *(Candidate("occupancy", share) for share in (0.25, 0.6, 0.625, 0.75, 1.0)),
    *(Candidate("backlog", share) for share in (0.25, 0.4, 0.5)),
    *(Candidate("both", share) for share in (0.5, 1.0)),
    *(Candidate("occupancy", 0.5, buffers=factor) for factor in (2, 4)),
    *(Candidate("occupancy", 0.5, packet=size) for size in ("1 KiB", "4 KiB")),
    Candidate("occupancy", 0.5, delay="150 ns"),
)
"""`occupancy` at 0.5 is half of both channels, at 0.25 half of one channel, at 1 all of both."""


def points(reduced: bool) -> Points:
    """The two jobs alone with every candidate."""
    chosen, counts = (CANDIDATES[:2], ((10,), (10,))) if reduced else (CANDIDATES, MESSAGES)
    return [
        point
        for case, messages in zip(CASES, counts, strict=True)
        for pattern, place, interval in [case.split("/")]
        for point in product(
            [pattern], [place], [interval], messages, models=[CORRECT], changes=[which.changed() for which in chosen]
        )
    ]


def _rows(runs: Runs) -> list[Row]:
    wanted, cases = means_alone(), by_case(runs)
    rows = []
    for traffic in CASES:
        for which in CANDIDATES:
            by_messages = cases.get((CORRECT, f"{traffic}/{label(which.changed())}"), {})
            ours = {n: run["latency_mean_ps"] / 1e6 for n, run in sorted(by_messages.items())}
            if ours:
                # The shipped setting is judged on the page of 4 KB.
                rows.append(row_of(wanted[traffic], CORRECT, ours, label=label(which.changed()), no_claim=_NO_CLAIM))
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    wanted = means_alone()
    ours = {row.what: row for row in rows}
    lines, both, either = [], [], dict.fromkeys(CASES, 0)
    for which in CANDIDATES:
        mine = [ours[f"{label(which.changed())}: {wanted[traffic].what}"] for traffic in CASES]
        near = [within(row.ours, row.theirs, row.tolerance) for row in mine]
        for traffic, meets in zip(CASES, near, strict=True):
            either[traffic] += meets
        if all(near):
            both.append(", ".join(which.words()))
        cells = []
        for row, meets in zip(mine, near, strict=True):
            text = number(row.ours, row.unit)
            cells.append(f"**{text}**" if meets else text)
        first = " (shipped)" if which == SHIPPED else ""
        words = which.words()
        lines.append([words[0] + first, *words[1:], *cells])
    published = [number(wanted[traffic].theirs, "us") for traffic in CASES]
    lines.insert(0, ["published", "0.5", "", "", "", *published])
    heads = [f"{wanted[traffic].id} {wanted[traffic].what.removesuffix(': mean latency')}, us" for traffic in CASES]
    said = "No candidate meets both." if not both else f"Both are met by: {'; '.join(both)}."
    return {
        "table": table(["metric", "threshold", "buffers", "packet", "router delay", *heads], lines, "lrrrrrr"),
        "verdict": f"{either[CASES[0]]} of {len(CANDIDATES)} candidates meet K42, {either[CASES[1]]} meet K30. {said}",
        "messages": str(max(row.messages for row in rows)),
    }


def _of_runs(*_: object) -> Mapping[str, Any]:
    return {}


REPRODUCTION = Reproduction(
    name="kang2019-metric",
    title="Kang 2019: what FPAR's metric, threshold, buffer and packet would have to be for two published latencies",
    points=points,
    make=make,
    rows=_rows,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "metric.md").read_text("utf-8"), _of_rows, _of_runs),
)
