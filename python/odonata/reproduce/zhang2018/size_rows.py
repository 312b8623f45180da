"""Figure 9: how often each size of jobs occurs in the random workloads; nothing is simulated."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.markdown import table
from odonata.reproduce.zhang2018.gathered import in_all, relation
from odonata.reproduce.zhang2018.workloads import LARGE, MACHINE, SMALL, Workload, read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Runs as Table
    from odonata.reproduce.rows import Row


def occurrences() -> Counter[int]:
    """Size in nodes -> number of jobs in the 1,000 workloads."""
    by_size: Counter[int] = Counter()
    for workload in read():
        by_size[workload.small_nodes] += workload.small_jobs
        by_size[workload.large_nodes] += workload.large_jobs
    return by_size


def fig9(_: Table) -> list[Row]:
    """L16: the ranges, and that small jobs are many and large ones few, as in real systems."""
    by_size, workloads, at = occurrences(), read(), "section VI-D, figure 9"
    small = [by_size[size] for size in range(SMALL[0], SMALL[1] + 1)]
    few = sum(by_size[size] for size in range(LARGE[0], LARGE[1] + 1))
    fits = [_busy(workload) <= MACHINE for workload in workloads]
    return [
        in_all("L16", "workloads that fit on the machine", fits, at),
        relation("L16", "jobs of up to 16 nodes over larger ones", sum(small) / few, "> 1", at),
        relation("L16", "jobs of 2 to 6 nodes over jobs of 12 to 16", sum(small[:5]) / sum(small[-5:]), "> 1", at),
    ]


def _busy(workload: Workload) -> int:
    return workload.small_jobs * workload.small_nodes + workload.large_jobs * workload.large_nodes


def size_tables(_: str, __: Table) -> str:
    """Occurrences in steps, utilisation and patterns."""
    by_size, workloads = occurrences(), read()
    steps = [(2, 4), (5, 8), (9, 12), (13, 16), (17, 32), (33, 64), (65, 100), (101, 136)]
    lines = [[f"{low} to {high}", f"{sum(by_size[size] for size in range(low, high + 1)):,}"] for low, high in steps]
    motifs = Counter(motif for workload in workloads for motif in (workload.small_motif, workload.large_motif))
    used = sorted(100 * _busy(workload) / MACHINE for workload in workloads)
    quartiles = ", ".join(f"{used[round(at * (len(used) - 1))]:.0f}" for at in (0.25, 0.5, 0.75))
    names = ", ".join(f"{name} {count}" for name, count in sorted(motifs.items()))
    return (
        f"\n## Sizes\n\n{table(['nodes of a job', 'jobs'], lines, 'rr')}\n\n"
        f"Busy nodes, quartiles over the workloads: {quartiles} %. Classes by pattern: {names}."
    )


def draw_sizes(_: Table) -> Figure:
    """Occurrence by size."""
    by_size = occurrences()
    with settings():
        made = figure(7.2, 3.4)
        axes = made.subplots()
        axes.bar(list(by_size), list(by_size.values()), width=1.0, color=LINES[0])
        axes.set_yscale("log")
        axes.set_xlabel("nodes of a job")
        axes.set_ylabel("jobs in the 1,000 workloads")
        axes.axvline(16.5, color="0.5", lw=0.8, ls="--")
        axes.set_title("Random workloads: how often each size of jobs occurs")
    return made
