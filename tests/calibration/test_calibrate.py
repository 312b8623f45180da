"""`odonata calibrate`: costs that made times by simulation are found again, and tables as users have them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from odonata.calibration import calibrate, fit, measurements
from odonata.calibration.fit import NAMES
from odonata.calibration.measurements import Configuration
from odonata.calibration.simulated import Simulator
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.machine.host import HostTable

TRUE = HostTable.model_validate(
    {
        "send": "300 ns",
        "receive": "900 ns",
        "copy": "8 GB/s",
        "eager": "16 KiB",
        "rendezvous": "12 us",
        "reduce": "4 GB/s",
        "call": "3 us",
    }
)

CASES = [
    ("allreduce", "recursive-doubling"),
    ("allgather", "ring"),
    ("reduce-scatter", "ring"),
    ("broadcast", "binomial"),
]


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """Times of `tiny` under known costs; the names are those of a benchmark."""
    configurations = [
        Configuration(collective, algorithm, nodes, 1, size)
        for collective, algorithm in CASES
        for nodes in (4, 8, 16)
        for size in (64, 8192, 32768, 524288)
    ]
    times = Simulator("tiny").times([(of, TRUE) for of in configurations])
    return pl.DataFrame(
        {
            "machine": ["tiny"] * len(configurations),
            "collective": [of.collective.upper().replace("-", "_") for of in configurations],
            "algorithm": [of.algorithm.replace("-", "_") + "_over" for of in configurations],
            "nodes": [of.nodes for of in configurations],
            "bytes": [of.bytes for of in configurations],
            "min_us": [time / 2e6 for time in times],
            "median_us": [time / 1e6 for time in times],
        }
    )


def test_known_costs_are_found_again(table: pl.DataFrame, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    table.write_csv("t.csv")
    assert main(["calibrate", "t.csv", "--system", "tiny", "-o", "h.toml", "--predictions", "p.csv", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    told = tomllib.loads(Path("h.toml").read_text())
    host = HostTable.model_validate(told["host"])
    assert host.eager == TRUE.eager
    assert host.copy_ == pytest.approx(TRUE.copy_, rel=0.1)
    assert host.reduce == pytest.approx(TRUE.reduce, rel=0.1)
    assert host.rendezvous == pytest.approx(TRUE.rendezvous, rel=0.1)
    # How they are shared is not sure, and the command says so.
    assert host.send + host.receive == pytest.approx(TRUE.send + TRUE.receive, rel=0.1)
    assert printed["error"]["fitted"] < 0.02
    assert printed["error"]["held out"] < 0.02
    assert printed["error_before"]["held out"] > 0.1
    held = pl.read_csv("p.csv").filter(part="held out")
    assert held["nodes"].unique().to_list() == [16]
    assert held.height == 16
    assert told["sources"]["host.copy"].startswith("odonata calibrate")
    assert "32 medians of t.csv on 4 to 8 nodes; 95 %: " in told["sources"]["host.copy"]
    low, high = printed["intervals"]["copy"]
    assert low <= 1e18 / host.copy_ * 1.01
    assert high >= 1e18 / host.copy_ * 0.99
    # A scenario uses the file.
    Path("s.toml").write_text(
        'system = { preset = "tiny", host = "h.toml" }\n[[job]]\nname = "a"\nnodes = 4\n'
        'app = { collective = "barrier" }\n'
    )
    assert main(["run", "s.toml", "--out", "r"]) == 0
    resolved = json.loads(Path("r/resolved.json").read_text())
    assert resolved["spec"]["jobs"][0]["program"]["costs"]["combine"] == host.reduce


def test_what_reduces_nothing_does_not_determine_reductions(table: pl.DataFrame) -> None:
    few = table.filter(pl.col("collective").is_in(["ALLGATHER", "BROADCAST"]))
    calibration = calibrate(few, "tiny", fit_nodes=8)
    assert "reduce" in calibration.fitted.undetermined
    assert "copy" not in calibration.fitted.undetermined


def test_costs_with_the_same_effect_cannot_be_told_apart() -> None:
    rng = np.random.default_rng(1)
    slopes = rng.uniform(0, 1, (40, len(NAMES)))
    assert fit._inseparable(slopes) == []
    slopes[:, 1] = slopes[:, 0]
    [(a, b, correlation)] = fit._inseparable(slopes)
    assert (a, b) == ("send", "receive")
    assert correlation < -0.9


def test_names_and_bytes_of_benchmarks() -> None:
    rows = [
        ("BCAST", "binomial_mpich", 4, 8, 1.0),
        ("all-gather", "brucks_mpich", 4, 1024, 2.0),
        ("ALLREDUCE", "bine_lat_over", 4, 8, 3.0),
        ("ALLREDUCE", "default_ompi", 4, 8, 3.0),
        ("GATHER", "", 4, 8, 3.0),
        ("ALLREDUCE", "", 1, 8, 3.0),
        ("ALLREDUCE", "ring_over", 4, 1 << 30, 3.0),
    ]
    table = pl.DataFrame(rows, schema=["collective", "algorithm", "nodes", "bytes", "time_us"], orient="row")
    measured = measurements.read(table, bytes_are="whole", largest=1 << 20)
    assert [row.configuration for row in measured.rows] == [
        Configuration("allgather", "bruck", 4, 1, 256),
        Configuration("broadcast", "binomial", 4, 1, 8),
    ]
    assert measured.left_out == {
        "no algorithm `bine_lat_over` of `allreduce`": 1,
        "the MPI chose the algorithm": 1,
        "unknown collective `GATHER`": 1,
        "one rank": 1,
        "more than 1 MiB": 1,
    }


def test_iterations_of_a_run_give_their_median() -> None:
    table = pl.DataFrame(
        {
            "run": ["a"] * 3 + ["b"],
            "collective": ["bcast"] * 4,
            "bytes": [4] * 4,
            "nodes": [2] * 4,
            "ranks": [4] * 4,
            "time_us": [1.0, 9.0, 2.0, 5.0],
        }
    )
    measured = measurements.read(table)
    assert [row.time_ps for row in measured.rows] == [2e6, 5e6]
    assert measured.rows[0].configuration == Configuration("broadcast", "", 2, 2, 4)


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        ({}, ["--where", "machine=lumi"], "unknown value of `machine` `lumi`"),
        ({}, ["--fit-nodes", "2"], "0 measurements to fit, expected 12 or more"),
        ({}, ["--largest", "8 B"], "no row can be simulated: more than 8 B"),
        ({"nodes": 17}, [], "on 17 nodes: "),
        ({"nodes": 1.5}, [], "expected a whole number in `nodes`, found `1.5`"),
        ({"collective": None}, [], "no column `collective`"),
        ({}, ["-o", "h.txt"], "expected a file name that ends in .toml"),
        ({}, ["--system", "lumy"], "unknown system `lumy`"),
    ],
)
def test_wrong_input(table: pl.DataFrame, tmp_path: Path, monkeypatch, capsys, change, words, message) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in change.items():
        table = table.drop(name) if value is None else table.with_columns(pl.lit(value).alias(name))
    table.write_csv("t.csv")
    system = [] if "--system" in words else ["--system", "tiny"]
    assert main(["calibrate", "t.csv", *system, *words]) == 2
    assert message in capsys.readouterr().err


def test_bytes_must_mean_something(table: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="unknown meaning of bytes `all`"):
        measurements.read(table, bytes_are="all")  # type: ignore[arg-type]
