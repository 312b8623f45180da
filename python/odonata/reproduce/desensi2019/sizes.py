"""What figures 8 to 10 simulate: benchmarks and sizes, their iterations, and what runs beside them (De Sensi 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.reproduce.desensi2019.benchmarks import APP_AWARE, OURS, POLICIES, point
from odonata.reproduce.desensi2019.setting import LOAD, PRODUCTION, PRODUCTION_LOAD, UNIFORM
from odonata.reproduce.desensi2019.surroundings import SENSINGS, WHOLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.reproduction import Points

Sizes = dict[str, dict[str, tuple[int, int]]]
FIG8: Sizes = {
    "ping-pong": {"128 B": (10, 201), "1 MiB": (330, 8)},
    "allreduce": {"64 B": (26, 101)},
    "alltoall": {"1 KiB": (120, 31), "32 KiB": (850, 8)},
    "barrier": {"": (26, 201)},
    "broadcast": {"128 B": (18, 151), "1 MiB": (1150, 8)},
    "halo3d": {"16": (120, 31), "96": (900, 8)},
    "sweep3d": {"128": (110, 31), "1024": (2000, 8)},
}
AT_SCALE: Sizes = {
    "ping-pong": {"128 B": (12, 201), "1 MiB": (2200, 8)},
    "allreduce": {"64 B": (45, 101)},
    "alltoall": {"1 KiB": (1600, 8)},
    "barrier": {"": (40, 101)},
    "broadcast": {"128 B": (26, 151), "1 MiB": (1900, 8)},
    "halo3d": {"16": (130, 31)},
    "sweep3d": {"128": (260, 16), "1024": (3000, 8)},
}
"""The same on as many nodes as in the paper. An all-to-all of 32 KiB would have a third of a billion packet-hops in an
iteration, and eight iterations of halo3d with 96 cells take as many."""
BESIDE_JOBS8: Sizes = {
    "ping-pong": {"128 B": (10, 61)},
    "allreduce": {"64 B": (26, 31)},
    "alltoall": {"1 KiB": (120, 8)},
    "barrier": {"": (26, 61)},
    "broadcast": {"128 B": (18, 31)},
    "halo3d": {"16": (120, 8)},
    "sweep3d": {"128": (110, 8)},
}
AT_SCALE_BESIDE_JOBS: Sizes = {
    "ping-pong": {"128 B": (12, 61)},
    "barrier": {"": (40, 31)},
}
"""The same beside the jobs of a production machine, which cost four times as much for the same time."""
FIG9: Sizes = {
    "ping-pong": {"128 B": (10, 31)},
    "allreduce": {"64 B": (26, 16)},
    "alltoall": {"1 KiB": (120, 11), "32 KiB": (850, 8)},
    "barrier": {"": (26, 31)},
    "broadcast": {"128 B": (18, 16), "1 MiB": (1150, 8)},
    "halo3d": {"16": (120, 11), "96": (900, 8)},
    "sweep3d": {"128": (110, 11), "1024": (2000, 8)},
}
BESIDE_JOBS9: Sizes = {
    "ping-pong": {"128 B": (10, 16)},
    "alltoall": {"1 KiB": (120, 8)},
    "barrier": {"": (26, 21)},
    "halo3d": {"16": (120, 8)},
}
"""Benchmark and size -> microseconds from the begin of an iteration to that of the next, and iterations, of which the
first is not measured. An iteration takes about three quarters of that time on the idle machine."""
FIG10: dict[str, dict[int, tuple[int, int]]] = {
    "MILC": {256: (180, 8)},
    "MILC without computing": {256: (150, 8)},
    "Nekbone": {256: (180, 8)},
    "LAMMPS": {256: (240, 8)},
    "HPCG": {256: (500, 8)},
    "FFT": {256: (430, 8), 64: (720, 8)},
}
"""Application and nodes -> the same."""
LOADS = {UNIFORM: LOAD, PRODUCTION: PRODUCTION_LOAD}
"""The backgrounds that all benchmarks are simulated beside, with their loads."""
PAPER8 = (1024, 257)
SPREAD8, SPREAD9 = (64, 17), (64, 33)
"""Nodes and their routers: those of the paper for figures 8 and 9 (D23), and a sixteenth of the nodes for figure 8,
four of each router as in the paper."""
SPREAD10 = {256: 65, 64: 33, 32: 17}
"""Nodes of figure 10 -> their routers. The paper does not state them: as many as in figure 8, and for the small
allocation as many as in figure 9."""
OSCILLATING = (("broadcast", "1 MiB"), ("sweep3d", "1024"))
"""Where the published algorithm oscillates (D27): beside the steady background with our variant too."""
READ = (("alltoall", "1 KiB"), ("300 ns", "1 us"))
"""What is slower in the paper because counters are read (D27), and how long a read takes: assumed, none is stated."""


SENSED: dict[tuple[int, int], tuple[str, ...]] = {
    SPREAD8: ("ping-pong", "allreduce", "alltoall", "barrier"),
    PAPER8: ("ping-pong", "allreduce"),
}
"""Nodes -> the benchmarks of figure 8, of their small size, that are simulated with two more congestion metrics."""
SMALL_AT_SCALE = ("ping-pong", "allreduce", "barrier", "broadcast")
"""Benchmarks whose small size is simulated on the paper's nodes with the default metric: what does not take minutes of
processor time for each policy. All of `AT_SCALE` was simulated with `both-late`."""


def _points(name: str, machine: str, nodes: tuple[int, int], sizes: Sizes, backgrounds: Sequence[str]) -> Points:
    return [
        point(
            name,
            machine,
            nodes,
            benchmark,
            size,
            policy,
            every=f"{every} us",
            iterations=count,
            background=background,
            load=LOADS[background],
        )
        for background in backgrounds
        for benchmark, of in sizes.items()
        for size, (every, count) in of.items()
        for policy in (*POLICIES, *(OURS if (benchmark, size) in OSCILLATING and background == UNIFORM else ()))
    ]


def _of_sizes(sizes: Sizes, benchmark: str, size: str) -> Sizes:
    return {benchmark: {size: sizes[benchmark][size]}}


def _small(sizes: Sizes, names: Sequence[str]) -> Sizes:
    """The smallest size of each of these benchmarks."""
    return {name: dict([next(iter(sizes[name].items()))]) for name in names}


def points8(reduced: bool) -> Points:
    """Seven benchmarks on 64 and on 1,024 nodes of Piz Daint; and an all-to-all that reads counters."""
    few = {"ping-pong": {"16 KiB": (60, 14)}, "alltoall": {"1 KiB": (130, 9)}}
    if reduced:
        return _points("fig8", "small", (32, 17), few, list(LOADS))
    read, times = READ
    reading = [
        {**each, "read": time}
        for time in times
        for each in _points("fig8", "piz-daint", SPREAD8, _of_sizes(FIG8, *read), [UNIFORM])
        if each["policy"] == APP_AWARE
    ]
    main = [
        *_points("fig8", "piz-daint", SPREAD8, FIG8, [UNIFORM]),
        *_points("fig8", "piz-daint", PAPER8, AT_SCALE, [UNIFORM]),
        *reading,
        *_points("fig8", "piz-daint", SPREAD8, BESIDE_JOBS8, [PRODUCTION]),
        *_points("fig8", "piz-daint", PAPER8, AT_SCALE_BESIDE_JOBS, [PRODUCTION]),
    ]
    small = _small(AT_SCALE, SMALL_AT_SCALE)
    shipped = [
        point
        for point in main
        if (point["nodes"], point["routers"]) != PAPER8 or point["size"] in small.get(point["benchmark"], {})
    ]
    return [*shipped, *_sensed(), *({**point, "sensing": WHOLE} for point in main)]


def _sensed() -> Points:
    """The two static policies with other metrics."""
    made = []
    for nodes, names in SENSED.items():
        of = FIG8 if nodes == SPREAD8 else AT_SCALE
        small = _points("fig8", "piz-daint", nodes, _small(of, names), [UNIFORM])
        static = [point for point in small if point["policy"] != APP_AWARE]
        made += [{**p, "sensing": sensing} for sensing in SENSINGS if sensing != WHOLE for p in static]
    return made


def points9(reduced: bool) -> Points:
    """Seven benchmarks on 64 nodes of Cori."""
    few = {"barrier": {"": (30, 6)}, "halo3d": {"8": (40, 4), "16": (120, 9)}}
    if reduced:
        return _points("fig9", "small", (32, 17), few, list(LOADS))
    steady = _points("fig9", "cori", SPREAD9, FIG9, [UNIFORM])
    return [*steady, *_points("fig9", "cori", SPREAD9, BESIDE_JOBS9, [PRODUCTION])]


def points10(reduced: bool) -> Points:
    """Applications on 256 nodes of Piz Daint; FFT also on 64."""
    if reduced:
        return _points("fig10", "small", (32, SPREAD10[32]), {"Nekbone": {"": (180, 8)}}, list(LOADS))
    return [
        point
        for app, of in FIG10.items()
        for nodes, often in of.items()
        for point in _points("fig10", "piz-daint", (nodes, SPREAD10[nodes]), {app: {"": often}}, [UNIFORM])
    ]
