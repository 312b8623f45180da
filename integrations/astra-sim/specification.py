"""Write the machine and the nodes of the NPUs for ASTRA-sim with Odonata as its network (docs/astra-sim.md).

python integrations/astra-sim/specification.py tiny 16 > network.json
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import odonata as od

STAND_IN = {"pattern": "uniform-random", "message": "1 B", "interval": "1 us", "messages": 1}
"""A job must send something. ASTRA-sim's messages take its place."""


def specification(
    system: str, npus: int, *, routing: str | None = None, place: str = "contiguous", seed: int = 1
) -> dict[str, Any]:
    """The resolved scenario of a machine with one job, which has a rank on a node of its own for each NPU."""
    job = {"name": "npus", "nodes": npus, "place": place, "app": STAND_IN}
    machine = {"system": system} if routing is None else {"system": system, "routing": routing}
    return od.load({**machine, "job": [job], "run": {"seed": seed, "until": "npus"}}).resolve().spec


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", help="a preset or a file, as `system` of a scenario")
    parser.add_argument("npus", type=int, help="number of NPUs, each on a node of its own")
    parser.add_argument("--routing", help="name of the routing; by default that of the system")
    parser.add_argument("--place", default="contiguous", help="name of the placement; by default `contiguous`")
    parser.add_argument("--seed", type=int, default=1, help="seed of placement and routing; by default 1")
    args = parser.parse_args(arguments)
    try:
        spec = specification(args.system, args.npus, routing=args.routing, place=args.place, seed=args.seed)
    except od.InputError as error:
        print(error, file=sys.stderr)
        return 1
    json.dump(spec, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
