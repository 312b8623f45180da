"""Larger packets (`run.packets`): what the part of a run says beside what whole runs show, and what is saved.

    scripts/bench_packets.py                     all machines: some minutes
    scripts/bench_packets.py leonardo            one

For each cell, the whole run is simulated with packets as they are and with those that are chosen for a bound of 10 %,
and for 2 and 5 % the choice is read from the same trials. Hops are those of the whole run and of all its trials, over
those of the whole run with packets as they are.
"""

from __future__ import annotations

import argparse
from typing import Any

import odonata as od
from odonata import packets
from odonata.runner import simulate

RING = {"collective": "allreduce", "algorithm": "ring", "message": "2 MB"}
HALVING = {"collective": "allreduce", "algorithm": "rabenseifner", "message": "512 KB"}
HALO = {"motif": "halo3d", "message": "64 KB"}
ALL = {"collective": "alltoall", "algorithm": "linear-shift", "message": "32 KB"}
ITERATIONS = 24
BOUNDS = (0.02, 0.05, 0.1)


def _job(name: str, app: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"name": name, "nodes": 32, "app": app, "iterations": ITERATIONS, "place": "random", **more}


RINGS, HALOS, ALLS = _job("ring", RING), _job("halo", HALO, barrier=True), _job("all-to-all", ALL, barrier=True)
CELLS = ((RINGS,), (_job("halving", HALVING),), (HALOS,), (ALLS,), (RINGS, HALOS), (RINGS, ALLS))
MACHINES = ("leonardo", "kang2019", "alps")


def main() -> None:
    """Measures and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", nargs="*", default=MACHINES, help=f"presets (default: {' '.join(MACHINES)})")
    print("| machine | jobs | bound | packets | part | whole | hops |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for machine in parser.parse_args().machine:
        for jobs in CELLS:
            print("\n".join(_rows(machine, jobs)), flush=True)


def _rows(machine: str, jobs: tuple[dict[str, Any], ...]) -> list[str]:
    spec = od.Scenario.of({"system": machine, "job": list(jobs)}).resolve().spec
    whole = {1: simulate(spec)}
    rows = []
    for bound in BOUNDS:
        chosen = packets.choose({"": spec}, bound, lambda trial, _: simulate(trial), packets.FEW / ITERATIONS)
        factor = chosen.bytes // chosen.given
        larger = chosen.applied(spec)
        if factor not in whole:
            whole[factor] = simulate(larger)
        changes = packets.changes(packets.times(spec, whole[1]), packets.times(spec, whole[factor]))
        on_part = next((of.errors for of in chosen.tried if of.bytes == chosen.bytes), dict.fromkeys(changes, 0.0))
        name = max(changes, key=lambda name: abs(changes[name]))
        trials = chosen.trial_hops + sum(of.packet_hops for of in chosen.tried)
        hops = (whole[factor]["packet_hops"] + trials) / whole[1]["packet_hops"]
        names = " beside ".join(job["name"] for job in jobs)
        changed = f"{on_part[name]:+.2%} | {changes[name]:+.2%}".replace("%", " %")
        rows.append(f"| `{machine}` | {names} | {bound * 100:.0f} % | x {factor} | {changed} | {hops:.2f} |")
    return rows


if __name__ == "__main__":
    main()
