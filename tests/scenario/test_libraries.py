"""The algorithms that libraries of MPI choose."""

import pytest
import tomlkit

from odonata.scenario import COLLECTIVES, parse
from odonata.scenario.apps.libraries import LIBRARIES, REDUCE_BROADCAST, chosen


def phases(app, ranks):
    document = {"system": "zhang2018-272", "job": [{"name": "a", "nodes": ranks, "app": app}]}
    body = parse(tomlkit.dumps(document)).resolve().spec["jobs"][0]["program"]["body"]
    return [phase["what"] for phase in body["phases"]]


def test_every_choice_is_an_algorithm_of_the_collective():
    for library in LIBRARIES:
        for name, collective in COLLECTIVES.items():
            for ranks in [*range(1, 18), *(2**k + d for k in range(5, 14) for d in (-1, 0, 1))]:
                for size in [0, *(2**k + d for k in range(25) for d in (-1, 0))]:
                    choice = chosen(library, name, ranks, size)
                    known = {*collective.algorithms, *([REDUCE_BROADCAST] if name == "allreduce" else [])}
                    assert choice in known, (library, name, ranks, size)


@pytest.mark.parametrize(
    ("library", "collective", "ranks", "size", "expected"),
    [
        # Read off the tables by hand, at both sides of a limit.
        ("open-mpi", "allreduce", 16, 4_095, "recursive-doubling"),
        ("open-mpi", "allreduce", 16, 4_096, "rabenseifner"),
        ("open-mpi", "allreduce", 200, 131_071, REDUCE_BROADCAST),
        ("open-mpi", "allreduce", 200, 131_072, "recursive-doubling"),
        ("open-mpi", "allreduce", 5_000, 32_768, "ring"),
        ("open-mpi", "broadcast", 31, 2**20 - 1, "binomial"),
        ("open-mpi", "broadcast", 31, 2**20, "scatter-recursive-doubling"),
        ("open-mpi", "broadcast", 127, 2**24, "knomial"),
        ("open-mpi", "broadcast", 128, 16_384, "flat"),
        ("open-mpi", "allgather", 16, 2**20, "recursive-doubling"),
        ("open-mpi", "allgather", 17, 8, "bruck"),
        ("open-mpi", "allgather", 64, 511, "recursive-doubling"),
        ("open-mpi", "allgather", 64, 512, "neighbor-exchange"),
        ("open-mpi", "allgather", 64, 65_536, "ring"),
        ("open-mpi", "alltoall", 63, 511, "bruck"),
        ("open-mpi", "alltoall", 63, 512, "scattered"),
        ("open-mpi", "alltoall", 256, 32_768, "linear-shift"),
        ("open-mpi", "reduce-scatter", 31, 262_144, "ring"),
        ("open-mpi", "reduce", 511, 8_192, "binary"),
        ("open-mpi", "barrier", 512, 0, "dissemination"),
        ("open-mpi", "barrier", 511, 0, "binary"),
        ("mpich", "broadcast", 7, 2**20, "binomial"),
        ("mpich", "broadcast", 16, 12_289, "scatter-recursive-doubling"),
        ("mpich", "broadcast", 16, 524_289, "scatter-allgather"),
        ("mpich", "broadcast", 17, 12_289, "scatter-allgather"),
        ("mpich", "allreduce", 16, 63, "recursive-doubling"),
        ("mpich", "allreduce", 16, 64, "rabenseifner"),
        ("mpich", "allgather", 16, 32_767, "recursive-doubling"),
        ("mpich", "allgather", 16, 32_768, "ring"),
        ("mpich", "allgather", 10, 8_191, "bruck"),
        ("mpich", "alltoall", 7, 256, "scattered"),
        ("mpich", "alltoall", 8, 256, "bruck"),
        ("mpich", "alltoall", 8, 32_769, "pairwise"),
        ("cray", "broadcast", 512, 2**22, "knomial"),
        ("cray", "alltoall", 512, 512, "bruck"),
        ("cray", "alltoall", 9_000, 65, "scattered"),
        ("cray", "reduce-scatter", 64, 524_288, "pairwise"),
    ],
)
def test_choices_by_hand(library, collective, ranks, size, expected):
    assert chosen(library, collective, ranks, size) == expected


def test_a_scenario_gets_the_algorithm_that_the_library_chooses():
    app = {"collective": "broadcast", "message": "1 MiB", "root": 3, "algorithm": "open-mpi"}
    assert phases(app, 20) == [
        {"name": "broadcast", "algorithm": "scatter-recursive-doubling", "root": 3, "bytes": 2**20}
    ]
    assert phases({**app, "algorithm": "cray"}, 20)[0]["algorithm"] == "knomial"
    barrier = phases({"collective": "barrier", "algorithm": "open-mpi"}, 6)
    assert barrier == [{"name": "barrier", "algorithm": "binary"}]


def test_an_all_reduce_of_two_operations():
    made = phases({"collective": "allreduce", "message": "1 KiB", "algorithm": "open-mpi"}, 130)
    assert made == [
        {"name": "reduce", "algorithm": "binomial", "root": 0, "bytes": 1_024},
        {"name": "broadcast", "algorithm": "binary", "root": 0, "bytes": 1_024},
    ]


def test_along_an_axis_the_library_chooses_for_its_ranks():
    phase = {
        "collective": "alltoall",
        "message": "600 B",
        "algorithm": "open-mpi",
        "along": {"grid": [32, 4], "axis": 0},
    }
    [what] = phases({"motif": "phases", "phases": [phase]}, 128)
    assert what["algorithm"] == "scattered"
