"""How many runs of Zhang 2018's study this machine makes in a second, and how long all of its simulations would take.

Forty of the 1,000 random workloads (272 nodes, 1 KB) under nine policies, one after the other in one process.
"""

import os
import time

from odonata.reproduce.zhang2018.studies import ALL
from odonata.runner import simulate

WORKLOADS = 40
#: Simulations of the study (L20), most of which are of other sizes than these.
ALL_RUNS = 117_000


def main() -> None:
    """Simulates and prints."""
    mixed = sorted({case.setup.name for case in ALL["zhang2018-fig12"].cases()})
    workloads = set(mixed[:: len(mixed) // WORKLOADS][:WORKLOADS])
    cases = {case for figure in ("fig10", "fig12") for case in ALL[f"zhang2018-{figure}"].cases()}
    chosen = [case for case in cases if case.setup.name in workloads and case.model != "jokanovic-coded"]
    chosen.sort(key=lambda case: (case.setup.name, case.model, case.seed))
    policies = len({case.model for case in chosen})
    start, busy = time.perf_counter(), time.process_time()
    for case in chosen:
        resolved = case.scenario().resolve()
        case.measure(simulate(resolved.spec), resolved)
    wall, busy = time.perf_counter() - start, time.process_time() - busy
    rate, cores = len(chosen) / busy, os.cpu_count() or 1
    print(f"{len(chosen)} runs ({len(chosen) // policies} workloads, {policies} policies) in {wall:.1f} s")
    print(f"{rate:.1f} runs per second and core; 9,000 would take {9_000 / rate / cores / 60:.1f} min on {cores} cores")
    print(f"all {ALL_RUNS:,} would take {ALL_RUNS / rate / cores / 3600:.2f} h, if they were like these")


if __name__ == "__main__":
    main()
