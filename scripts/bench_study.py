"""How many runs of Zhang 2018's study this machine makes in a second, and how long all of its simulations would take.

Forty of the 1,000 random workloads (272 nodes, 1 KB) under nine policies, one after the other in one process.
"""

import os
import time

from odonata.reproduce import find
from odonata.study import task

WORKLOADS = 40
#: Simulations of the study (L20), most of which are of other sizes than these.
ALL_RUNS = 117_000


def main() -> None:
    """Simulates and prints."""
    chosen, policies = [], set()
    for figure in ("fig10", "fig12"):
        plan = find(f"zhang2018-{figure}").plan(reduced=False)
        assert plan is not None
        for number in range(len(plan)):
            point = dict(plan.point(number))
            every, rest = divmod(point["seed"], 10_000 * (1000 // WORKLOADS))
            mixed = rest == 0 and 0 < every <= WORKLOADS
            if mixed and point["policy"] != "jokanovic-coded" and (point["policy"], every) not in policies:
                policies.add((point["policy"], every))
                chosen.append((plan, number))
    many = len({policy for policy, _ in policies})
    start, busy = time.perf_counter(), time.process_time()
    for plan, number in chosen:
        _, resolved = task.resolve(plan, number)
        assert resolved is not None
        task.handed_in([task.run(plan, number, resolved)])
    wall, busy = time.perf_counter() - start, time.process_time() - busy
    rate, cores = len(chosen) / busy, os.cpu_count() or 1
    print(f"{len(chosen)} runs ({len(chosen) // many} workloads, {many} policies) in {wall:.1f} s")
    print(f"{rate:.1f} runs per second and core; 9,000 would take {9_000 / rate / cores / 60:.1f} min on {cores} cores")
    print(f"all {ALL_RUNS:,} would take {ALL_RUNS / rate / cores / 3600:.2f} h, if they were like these")


if __name__ == "__main__":
    main()
