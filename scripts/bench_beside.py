"""Odonata beside htsim on the same flows: processor time of whole processes, and when the flows complete.

    scripts/bench_beside.py HTSIM_UEC          three runs of each simulator and case, in turn
    scripts/bench_beside.py HTSIM_UEC -n 1     one

HTSIM_UEC is the program `htsim_uec` of github.com/HLC-Lab/uet-htsim, built by its own instructions. Both simulate the
machine of benches/fat-tree-1024.toml. A flow of htsim completes when its sender has the last acknowledgement. So ours
count with the way of an acknowledgement over idle links. Only times of one table can be compared.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench_waits import ODONATA, ROOT, Time, timed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NODES, LEAF, POD = 1024, 8, 64
#: Time of an acknowledgement on a link: 1 us, and 64 B at 400 Gbit/s.
ACK_US = 1 + 64 * 8 / 400e3
#: The machine of ours, a path drawn for each packet, and the law of its senders.
HTSIM = (
    "-nodes 1024 -tiers 3 -linkspeed 400000 -hop_latency 1 -mtu 4160 -load_balancing_algo oblivious -paths 1024 "
    "-sender_cc_only -sender_cc_algo nscc -end 5000"
)
LAWS = ("nscc", "none")
Flow = tuple[int, int]
FINISHED = re.compile(r"^Flow Uec_(\d+)_(\d+) .* finished at ([\d.e+]+) ", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """Flows of one size that all begin at once."""

    label: str
    size: int
    pairs: tuple[Flow, ...]


def _permutation() -> Iterator[Flow]:
    """Each node sends to the next one of a random order, so none to itself."""
    order = list(range(NODES))
    random.Random(1).shuffle(order)
    return zip(order, [*order[1:], order[0]], strict=True)


CASES = {
    "permutation": Case("permutation of 1,024 nodes, 2 MiB", 2 << 20, tuple(_permutation())),
    "all-to-all": Case(
        "all-to-all of 128 nodes, 64 KiB",
        64 << 10,
        tuple((node, (node + step) % 128) for node in range(128) for step in range(1, 128)),
    ),
    "incast": Case("incast of 32 nodes, 256 KiB", 256 << 10, tuple((32 * node + 31, 0) for node in range(32))),
}


def matrix(case: Case) -> str:
    """The connection matrix of htsim, which Odonata reads too."""
    lines = [f"{a}->{b} id {number} start 0 size {case.size}" for number, (a, b) in enumerate(case.pairs, 1)]
    return "\n".join([f"Nodes {NODES}", f"Connections {len(lines)}", *lines, ""])


def back_us(flow: Flow) -> float:
    """How long an acknowledgement takes to the sender over idle links: two, four or six."""
    a, b = flow
    return ACK_US * (2 if a // LEAF == b // LEAF else 4 if a // POD == b // POD else 6)


def htsim(program: Path, folder: Path) -> tuple[Time, dict[Flow, float]]:
    """Its time, and when each flow completes, in us."""
    out = folder / "htsim.txt"
    command = ["sh", "-c", 'exec "$0" "$@" >htsim.txt', str(program), "-tm", "flows.cm", *HTSIM.split()]
    time = timed(command, folder)
    found = FINISHED.findall(out.read_text(encoding="utf-8"))
    return time, {(int(a), int(b)): float(us) for a, b, us in found}


def odonata(law: str, folder: Path) -> tuple[Time, dict[Flow, float]]:
    """The same of Odonata with a congestion control."""
    import polars as pl

    shutil.rmtree(folder / "run", ignore_errors=True)
    control = f"system.fabric.congestion_control={law}"
    time = timed([*ODONATA, "run", "fat-tree-1024.toml", "-q", "-s", control, "--threads", "1", "-o", "run"], folder)
    rows = pl.read_parquet(folder / "run" / "flow_times.parquet").select("source", "destination", "fct_ps").rows()
    return time, {(a, b): ps / 1e6 + back_us((a, b)) for a, b, ps in rows}


def compared(ours: Mapping[Flow, float], theirs: Mapping[Flow, float]) -> tuple[float, float]:
    """Ours over theirs: when the last flow completes, and the mean of all. Raises ValueError if flows differ."""
    if ours.keys() != theirs.keys():
        raise ValueError(f"{len(ours)} flows completed here, and {len(theirs)} in htsim")
    return max(ours.values()) / max(theirs.values()), statistics.mean(ours.values()) / statistics.mean(theirs.values())


def main() -> None:
    """Measures and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, metavar="HTSIM_UEC", help="the program `htsim_uec`")
    parser.add_argument("-n", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--case", choices=CASES, action="append", help="only this case; may be repeated")
    given = parser.parse_args()
    if not os.access(given.program, os.X_OK):
        parser.error(f"expected a program that can be run, found `{given.program}`")
    if given.n < 1:
        parser.error(f"expected a number of runs from 1 on, found `{given.n}`")
    print("| | simulator | processor time | shortest, longest | last flow | mean flow | last, mean over htsim |")
    print("|---|---|---:|---:|---:|---:|---:|")
    loads = [os.getloadavg()[0]]
    for name in given.case or CASES:
        print("\n".join(_rows(CASES[name], given.program.resolve(), given.n, loads)), flush=True)
    print(f"\n{os.cpu_count()} processors, load average from {min(loads):.1f} to {max(loads):.1f}")


def _rows(case: Case, program: Path, repetitions: int, loads: list[float]) -> list[str]:
    times: dict[str, list[float]] = {}
    flows: dict[str, dict[Flow, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copy(ROOT / "benches" / "fat-tree-1024.toml", folder)
        (folder / "flows.cm").write_text(matrix(case), encoding="utf-8")
        for number in range(repetitions):
            print(f"{case.label}: round {number + 1} of {repetitions}", file=sys.stderr, flush=True)
            for simulator in ("htsim", *LAWS):
                time, flows[simulator] = htsim(program, folder) if simulator == "htsim" else odonata(simulator, folder)
                times.setdefault(simulator, []).append(time.cpu_s)
                loads.append(os.getloadavg()[0])
    rows = []
    for simulator, seconds in times.items():
        last, mean = max(flows[simulator].values()), statistics.mean(flows[simulator].values())
        of_last, of_mean = compared(flows[simulator], flows["htsim"])
        label = "htsim, `nscc`" if simulator == "htsim" else f"Odonata, `{simulator}`"
        rows.append(
            f"| {case.label} | {label} | {statistics.median(seconds):.2f} s | {min(seconds):.2f}, {max(seconds):.2f} s "
            f"| {last:.1f} us | {mean:.1f} us | {of_last:.3f}, {of_mean:.3f} |"
        )
    return rows


if __name__ == "__main__":
    main()
