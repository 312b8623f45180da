"""What coalesced acknowledgements save: flows of `bench_beside.py`, one acknowledgement for 1, 2, 4 and 8 packets.

    scripts/bench_acknowledgements.py            three runs of each, in turn
    scripts/bench_acknowledgements.py -n 1       one

Only Odonata runs. Processor times are those of whole processes with one thread; packet-hops are those of all packets,
acknowledgements too, for each packet with payload. Only times of one table can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from bench_beside import CASES, Case, matrix
from bench_waits import ODONATA, ROOT, timed

EVERY = (1, 2, 4, 8)
LAWS = ("nscc", "ecn-window")


def main() -> None:
    """Measures and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--case", choices=CASES, action="append", help="only this case; may be repeated")
    parser.add_argument("--law", choices=LAWS, default="nscc", help="congestion control (default: nscc)")
    given = parser.parse_args()
    if given.n < 1:
        parser.error(f"expected a number of runs from 1 on, found `{given.n}`")
    print("| | acknowledges | acknowledgements a packet | hops a packet | processor time | last flow | mean flow |")
    print("|---|---|---:|---:|---:|---:|---:|")
    loads = [os.getloadavg()[0]]
    for name in given.case or CASES:
        print("\n".join(_rows(CASES[name], given.law, given.n, loads)), flush=True)
    print(f"\n{os.cpu_count()} processors, load average from {min(loads):.1f} to {max(loads):.1f}")


def _rows(case: Case, law: str, repetitions: int, loads: list[float]) -> list[str]:
    import polars as pl

    seconds: dict[int, list[float]] = {every: [] for every in EVERY}
    shown: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copy(ROOT / "benches" / "fat-tree-1024.toml", folder)
        (folder / "flows.cm").write_text(matrix(case), encoding="utf-8")
        for number in range(repetitions):
            print(f"{case.label}: round {number + 1} of {repetitions}", file=sys.stderr, flush=True)
            for every in EVERY:
                shutil.rmtree(folder / "run", ignore_errors=True)
                changes = [f"system.fabric.congestion_control={law}", f"system.fabric.nic.acknowledge_every={every}"]
                words = [word for change in changes for word in ("-s", change)]
                command = [*ODONATA, "run", "fat-tree-1024.toml", "-q", *words, "--threads", "1", "-o", "run"]
                seconds[every].append(timed(command, folder).cpu_s)
                loads.append(os.getloadavg()[0])
                nics = pl.read_parquet(folder / "run" / "nics.parquet").sum()
                packets, back = nics["request_packets"][0], nics["response_packets"][0]
                flows = pl.read_parquet(folder / "run" / "flow_times.parquet")["fct_ps"] / 1e6
                hops = json.loads((folder / "run" / "manifest.json").read_text(encoding="utf-8"))["packet_hops"]
                counted = f"{back / packets:.3f} | {hops / packets:.2f}"
                shown[every] = f"{counted} | {{}} | {flows.max():.2f} us | {flows.mean():.2f} us |"
    return [
        f"| {case.label} | one in {every} | " + shown[every].format(f"{statistics.median(seconds[every]):.2f} s")
        for every in EVERY
    ]


if __name__ == "__main__":
    main()
