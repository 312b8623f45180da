"""`odonata bench --scaling`: what more threads could gain, counted instead of timed.

Within a window each thread handles the events of its part of the machine; then all exchange what they have for each
other. So a run cannot take less time than its longest parts: the most events of one thread in each window, summed. Both
this and the number of windows are counted, and do not depend on the processors at hand.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from odonata.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 16
"""Threads to count for unless the user says how many."""


def measure(cases: dict[str, str], most: int, child: Callable[[str, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each case and number of threads: 2, 4, 8 and so on up to `most`.

    `cases` has the specification of each case, and `child` runs one on so many threads and gives what it measured. The
    time of an exchange is what two threads take beyond the events of the longer part, so it holds for this machine and
    for two threads. A run may have fewer threads than it could (docs/results.md); then it is the last row of its case.
    """
    rows = []
    for case, spec in cases.items():
        alone = child(spec, 1)
        event_s = alone["wall_s"] / alone["events"]
        exchange_s = 0.0
        for threads in itertools.takewhile(lambda n: n <= most, (2**k for k in itertools.count(1))):
            run = child(spec, threads)
            if run["threads"] < 2:  # so short a run has one thread
                break
            if threads == 2:
                exchange_s = max(0.0, run["wall_s"] - run["longest"] * event_s) / run["windows"]
            expected_s = run["longest"] * event_s + run["windows"] * exchange_s
            rows.append(
                {
                    "case": case,
                    "threads": run["threads"],
                    "windows": run["windows"],
                    "events_per_window_and_thread": run["events"] / run["windows"] / run["threads"],
                    "longest_over_mean": run["longest"] * run["threads"] / run["events"],
                    "at_most": run["events"] / run["longest"],
                    "exchange_us": exchange_s * 1e6,
                    "expected": alone["wall_s"] / expected_s,
                }
            )
            if run["threads"] < threads:  # more would have too few events each
                break
    return rows


def as_text(rows: list[dict[str, Any]]) -> str:
    """A table with a line for each case and number of threads."""
    head = ["", "threads", "windows", "events each", "longest over mean", "speed-up at most", "expected"]
    cells = [
        [
            row["case"],
            str(row["threads"]),
            f"{row['windows']:,}",
            f"{row['events_per_window_and_thread']:.0f}",
            f"{row['longest_over_mean']:.2f}",
            f"{row['at_most']:.2f}",
            f"{row['expected']:.2f}",
        ]
        for row in rows
    ]
    exchanges = {row["case"]: row["exchange_us"] for row in rows}
    note = ", ".join(f"{case} {value:.1f} us" for case, value in exchanges.items())
    return "\n".join(
        [
            *aligned([head, *cells], [False, *[True] * 6]),
            "",
            f"events each: per window and thread. expected: with exchanges as long as those of two threads ({note}).",
        ]
    )
