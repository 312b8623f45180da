"""`algbw` and `busbw` of collectives, by hand and as published tables of nccl-tests have them."""

from __future__ import annotations

import pytest
import tomlkit

import odonata as od
from odonata import scenario
from odonata.reproduce.nccl.busbw import CLUSTERS, published
from odonata.scenario.apps.collectives import Allreduce
from odonata.scenario.apps.volume import volume_of
from odonata.study.summary import Summary, table_of

SYSTEM = {
    "kind": "graph",
    "links": {"generator": "switch", "nodes": 4},
    "host": "none",
    "fabric": {
        "packet": "1 kB",
        "links": {"node": {"bandwidth": "10 GB/s", "latency": "50 ns", "buffer": "1 MiB"}},
    },
}
ONE = 1e6 / 100.3e-6
"""1 MB takes 100 us on a link, and its last packet 300 ns more to cross the switch."""
TRAFFIC = {"pattern": "uniform-random", "message": "1 kB", "interval": "1 us", "messages": 1}


def job_of(app, nodes=2, **more):
    return {"name": "a", "nodes": nodes, "app": app, **more}


def run_of(*jobs):
    return od.run(scenario.load({"system": SYSTEM, "job": list(jobs)}))


@pytest.mark.parametrize(
    ("app", "algbw", "busbw"),
    [
        ({"collective": "broadcast", "algorithm": "flat", "message": "1 MB"}, ONE, ONE),
        ({"collective": "reduce", "algorithm": "binomial", "message": "1 MB"}, ONE, ONE),
        ({"collective": "allreduce", "algorithm": "ring", "message": "2 MB"}, ONE, ONE),
        ({"collective": "allgather", "algorithm": "ring", "message": "1 MB"}, 2 * ONE, ONE),
        ({"collective": "reduce-scatter", "algorithm": "pairwise", "message": "2 MB"}, 2 * ONE, ONE),
        ({"collective": "alltoall", "algorithm": "pairwise", "message": "1 MB"}, 2 * ONE, ONE),
    ],
)
def test_of_two_ranks_the_bus_bandwidth_is_that_of_a_message(app, algbw, busbw):
    row = run_of(job_of(app)).jobs.row(0, named=True)
    assert (row["algbw"], row["busbw"]) == (pytest.approx(algbw), pytest.approx(busbw))


def test_of_four_ranks_in_a_ring():
    """Six steps of a quarter: 1.5 times the vector."""
    app = {"collective": "allreduce", "algorithm": "ring", "message": "4 MB"}
    run = run_of(job_of(app, 4))
    (row,) = run.summary["jobs"]
    assert row["algbw"] == pytest.approx(4e6 / (6 * 100.3e-6))
    assert row["busbw"] == pytest.approx(1.5 * row["algbw"])
    assert "algbw and busbw in GB/s" in str(run)
    assert "9.970" in str(run)


def test_other_jobs_have_none():
    """One that computes as well, a barrier, and traffic; and no columns if no job has a bandwidth."""
    app = {"collective": "allreduce", "message": "4 MB"}
    computing = {**app, "compute": "1 us"}
    run = run_of(job_of(app), {**job_of(computing), "name": "b"})
    assert run.jobs["busbw"].is_null().to_list() == [False, True]
    run = run_of(job_of(computing), {**job_of(TRAFFIC), "name": "b"})
    assert "busbw" not in run.jobs.columns
    assert "busbw" not in str(run)
    assert "busbw" not in run_of(job_of({"collective": "barrier"})).jobs.columns


def test_the_mean_of_iterations_counts():
    app = {"collective": "broadcast", "algorithm": "flat", "message": "1 MB", "iterations": 3, "gap": "70 us"}
    row = run_of(job_of(app)).jobs.row(0, named=True)
    assert row["algbw"] == pytest.approx(1e18 / row["iteration_mean_ps"])


@pytest.mark.parametrize(("cluster", "size", "us"), [("nd-a100", 2**33, 63_896), ("dgx-a100", 2**30, 11_643)])
def test_published_tables_of_nccl_tests_have_the_same(cluster, size, us):
    app = Allreduce.model_validate({"collective": "allreduce", "message": f"{size} B"})
    volume = volume_of(app, CLUSTERS[cluster].ranks)
    assert volume is not None
    assert volume.bytes / us / 1e3 * float(volume.factor) == pytest.approx(published()[cluster, size], rel=1e-3)


def test_a_study_compares_them(tmp_path):
    base = {"system": SYSTEM, "job": [job_of({"collective": "allreduce", "message": "2 MB"})]}
    (tmp_path / "base.toml").write_text(tomlkit.dumps(base))
    axes = {"job.a.app.algorithm": ["ring", "recursive-doubling"]}
    study = od.sweep(tmp_path / "base.toml", axes, workers=1, out=tmp_path / "out")
    compared = study.compare("job.a.app.algorithm", "busbw")
    assert compared.higher_is_better is True
    assert compared.rows[0].median == pytest.approx(ONE)


@pytest.mark.parametrize(
    ("name", "values", "unit", "shown"),
    [
        ("busbw", [11_721_396_105.0, 2e9], "GB/s", "11.72"),
        ("algbw", [11_721_396_105.0, 2e6], "MB/s", "11,721"),
        ("throughput", [1500.0, None], "kB/s", "1.500"),
        ("hops_mean", [2.5], "", "2.500"),
        ("iteration_mean_ps", [2_500_000.0], "us", "2.500"),
    ],
)
def test_columns_of_a_sweep_have_units(name, values, unit, shown):
    table = table_of(Summary(("job.nodes", name), tuple((4, value) for value in values)), 60)
    assert (table.columns[1].unit, table.rows[0][1]) == (unit, shown)
