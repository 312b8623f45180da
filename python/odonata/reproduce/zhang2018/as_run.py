"""What the authors of Zhang 2018 made their simulator do, by their scripts for the paper (L4, L13, L18).

Source: the authors' public fork of SST's elements, `github.com/sevenquarkoniums/sst-elements`, branch `yijia`, of
October 2017 (the submission) to January 2018 (the revision): `scheduler/simulations/run.py`, `snapshotParser_sched.py`
and `emberLoad.py`, the motifs of its ember, and its merlin 6.1.

- They ask for the routing `adaptive_local`. Its dragonfly knows `minimal`, `valiant` and `adaptive-local`, and takes
  minimal paths for any other name, without a word. So all packets took minimal paths.
- The size of packets (1,024 B) is given to the routers, which do not use it. NICs keep the default of 2,048 B.
- The size of messages is an argument of each motif, with a meaning of its own (`program`).
"""

from __future__ import annotations

from math import isqrt
from typing import Any

from odonata import units

FABRIC = {"packet": "2 KiB"}
HEADER = "56 B"
"""Of each message: 24 B of the NIC and 32 B of MPI, the structures of the fork's firefly."""
ITERATIONS = 2
"""Of the regular workloads (figures 2 and 4 to 8) in the revision. Random workloads have one."""
LAST_RANK = ("broadcast",)
"""Collectives whose job ends, for the authors' code, with its highest-numbered rank; all others end with rank 0."""
_ROW = 4
"""Ranks of a row of the grid of the FFT."""
_CELLS = 100
"""Points of the FFT along each axis, the default of the motif."""


COLLECTIVES = {
    "alltoall": {"collective": "alltoall", "algorithm": "linear-shift"},
    "broadcast": {"collective": "broadcast", "algorithm": "binary"},
}
"""Patterns of the paper that are collectives -> with the algorithms of the fork's firefly."""


def named(pattern: str) -> dict[str, Any]:
    """The keys of an `app` that name a pattern of the paper."""
    return dict(COLLECTIVES.get(pattern, {"motif": pattern}))


def can(motif: str, message: str, *, any_ranks: bool = False) -> bool:
    """Whether the authors' programs can do it: the FFT has a size of its own, for a multiple of 4 ranks."""
    return motif != "fft3d" or (message == "1 KB" and not any_ranks)


def program(motif: str, message: str, ranks: int) -> dict[str, Any]:
    """The `app` of a job of so many ranks, for the authors' "message size".

    - All-to-all, halo2d: the size of each message. The grid of halo2d is at most as wide as high.
    - Broadcast: the number of doubles.
    - halo3d, halo3d26: thousandths of it are the fields of a cell. A rank has 16 x 16 x 16 cells of doubles, and each
      iteration ends with an all-reduce. So for "1 KB" a message across a face has 2,048 B, one across an edge 128 B,
      and one across a corner 8 B.
    - FFT: 100 x 100 x 100 points, whatever the size, 4 ranks in a row. Computing takes 1 ns for each point of a rank,
      and twice as long at the end.
    """
    size = units.size_bytes(message)
    if motif == "broadcast":
        return {**COLLECTIVES[motif], "message": f"{8 * size} B"}
    if motif in ("halo3d", "halo3d26"):
        return {"motif": motif, "cells": [16, 16, 16], "fields": size // 1000, "width": 8, "reduce": True}
    if motif == "fft3d":
        return {"motif": "phases", "phases": _fft(ranks)}
    if motif == "halo2d":
        width = max(x for x in range(1, isqrt(ranks) + 1) if ranks % x == 0)
        return {"motif": motif, "message": message, "grid": [width, ranks // width]}
    return {**named(motif), "message": message}


def _fft(ranks: int) -> list[dict[str, Any]]:
    """Forward: three computations, with an all-to-all in rows and one in columns between; then back."""
    grid = [_ROW, ranks // _ROW]
    points = (_CELLS // 2 + 1) * _CELLS**2
    cost = _CELLS * (_CELLS**2 // ranks)

    def exchange(axis: int) -> dict[str, Any]:
        each = -(-points * 16 // (ranks * grid[axis]))
        return {**COLLECTIVES["alltoall"], "message": f"{each} B", "along": {"grid": grid, "axis": axis}}

    compute, barrier = {"compute": f"{cost} ns"}, {"collective": "barrier", "algorithm": "binary"}
    forward = [compute, exchange(0), compute, exchange(1), compute, barrier]
    return [*forward, compute, exchange(1), compute, exchange(0), {"compute": f"{2 * cost} ns"}, barrier]
