"""The predictor of tails, on runs whose probabilities are known."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm
from tests.cluster import shapes

from odonata import cluster
from odonata.background.utilisation import Background
from odonata.background.watch import Recorder, Sample
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.prediction.fit import fit as fit_terms
from odonata.prediction.fit import histories, label, least_history, predicted
from odonata.prediction.runs import Reading, read_runs
from odonata.prediction.train import MEDIAN, ONLY_B, OURS, split

if TYPE_CHECKING:
    from pathlib import Path

SIGMA = 0.25


def centre(b: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Median of the logarithm of the time of a run in the generator."""
    return 1.2 * b + 0.15 * np.log2(groups)


def records(n: int = 1200, seed: int = 5, jobs: int = 2) -> pl.DataFrame:
    """Runs whose times are lognormal around `centre`, an hour apart; job k takes 10^k times as long."""
    rng = np.random.default_rng(seed)
    b, groups = rng.uniform(0.1, 0.9, n), rng.choice([1, 2, 4], n)
    job = np.arange(n) % jobs
    time = np.exp(centre(b, groups) + rng.normal(0, SIGMA, n)) * 10.0**job
    moments = pl.from_epoch(pl.Series(1.7e9 + 3600 * np.arange(n)).cast(pl.Int64)).dt.replace_time_zone("UTC")
    return pl.DataFrame(
        {"started": moments, "time_ms": time, "b": b, "groups": groups, "nodes": 16, "job": [f"job{k}" for k in job]}
    )


@pytest.fixture(scope="module")
def trained() -> cluster.Predictor:
    return cluster.train(records())


def grid() -> list[dict[str, float | str]]:
    cells = itertools.product([0.2, 0.4, 0.6, 0.8], [1, 2, 4], ["job0", "job1"])
    return [{"b": b, "groups": groups, "job": job, "nodes": 16} for b, groups, job in cells]


def test_probabilities_and_quantiles_are_those_of_the_generator(trained: cluster.Predictor) -> None:
    errors, ratios = [], []
    for known in grid():
        forecast = trained.predict(known)
        log = np.log(forecast.threshold_ps / (1e9 * 10.0 ** int(str(known["job"])[3:])))
        middle = centre(np.array(known["b"]), np.array(known["groups"]))
        errors.append(forecast.probability - norm.sf((log - middle) / SIGMA))
        for q, time in forecast.quantiles_ps.items():
            true = middle + SIGMA * norm.ppf(q)
            ratios.append(np.log(time / (1e9 * 10.0 ** int(str(known["job"])[3:]))) - true)
    # The generator is a probit, the predictor a logit with ridge; both are smooth, and close where runs are.
    assert np.mean(np.abs(errors)) < 0.03
    assert np.max(np.abs(errors)) < 0.12
    assert np.mean(np.abs(ratios)) < 0.04


def test_held_out_runs_agree_with_the_forecasts(trained: cluster.Predictor) -> None:
    report = trained.report
    for interval in report["reliability"]:
        assert interval["interval"][0] - 0.05 <= interval["forecast"] <= interval["interval"][1] + 0.05
    quantiles = report["scores"][OURS]["quantiles"]
    assert list(quantiles) == ["0.1", "0.25", "0.5", "0.75", "0.85", "0.9", "0.95"]
    for q, quantile in quantiles.items():
        assert quantile["below"] == pytest.approx(float(q), abs=0.08)
    ours, simple, usual = (report["scores"][name] for name in (OURS, ONLY_B, MEDIAN))
    assert ours["brier"] < simple["brier"] < usual["brier"]
    assert report["against"][MEDIAN]["interval"][1] < 0
    assert ours["recall"] > 0.5
    assert usual["recall"] == 0
    assert usual["precision"] is None


def test_a_quantile_is_never_below_a_smaller_one(trained: cluster.Predictor) -> None:
    for known in grid():
        times = list(trained.predict(known).quantiles_ps.values())
        assert times == sorted(times)


def test_nothing_of_the_held_out_runs_reaches_the_forecasts() -> None:
    table = records(400)
    late = pl.int_range(pl.len()) >= 300
    # Other times, which would move thresholds, weights and the cut of the flags.
    changed = table.with_columns(
        time_ms=pl.when(late)
        .then(pl.col("time_ms") * pl.when(pl.col("b") < 0.5).then(7).otherwise(99))
        .otherwise("time_ms")
    )
    first, second = (cluster.train(records_of).report for records_of in (table, changed))
    assert first["tail_held_out"] != second["tail_held_out"]
    assert first["tail_earlier"] == second["tail_earlier"]
    # Seven times as long is above every threshold of the earlier runs, but not above those of all runs.
    assert second["tail_held_out"] == 1
    for name in (OURS, ONLY_B):
        for key in ("flag_from", "flagged"):
            assert first["scores"][name][key] == second["scores"][name][key]
    forecasts = [
        [(interval["runs"], interval["forecast"]) for interval in report["reliability"]] for report in (first, second)
    ]
    assert forecasts[0] == forecasts[1]
    assert first["reliability"] != second["reliability"]


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5])
def test_runs_of_one_moment_are_on_one_side(share: float) -> None:
    table = records(200).with_columns(started=pl.int_range(200) // 40)
    runs = read_runs(table.sample(fraction=1, shuffle=True, seed=1))
    earlier, later = split(runs, share)
    assert earlier.when.max() < later.when.min()
    assert len(earlier) + len(later) == 200
    assert len(later) >= 200 * share - 40


def test_the_baselines_are_computed() -> None:
    """Against the same sums made here from the rows."""
    runs = read_runs(records(800))
    earlier, later = split(runs, 0.25)
    of = histories(earlier, 0.85)
    for key, (n, median, threshold) in of.items():
        mine = earlier.time_ps[[key_of == key for key_of in earlier.keys]]
        assert (n, median, threshold) == (len(mine), np.quantile(mine, 0.5), np.quantile(mine, 0.85))
    tail = np.array([time > of[key][2] for time, key in zip(later.time_ps, later.keys, strict=True)])
    share = np.mean([time > of[key][2] for time, key in zip(earlier.time_ps, earlier.keys, strict=True)])
    scores = cluster.train(records(800)).report["scores"]
    assert scores[MEDIAN]["brier"] == pytest.approx(np.mean((share - tail) ** 2))
    simple = fit_terms(label(earlier, of), only_b=True)
    assert simple is not None
    assert [term.of for term in simple.chance.terms] == [["b"]]
    chance, _ = predicted(simple, later)
    assert scores[ONLY_B]["brier"] == pytest.approx(np.mean((chance - tail) ** 2))
    # b alone does not see the groups, the predictor does.
    shuffled = records(800).with_columns(pl.col("groups").shuffle(seed=1))
    again = cluster.train(shuffled).report["scores"]
    assert again[ONLY_B]["brier"] == scores[ONLY_B]["brier"]
    assert again[OURS]["brier"] > scores[OURS]["brier"]


@pytest.mark.parametrize("what", ["pattern", "bytes"])
def test_what_b_slows_is_learnt(what: str) -> None:
    """b lengthens the runs of one pattern, or of one size, and not the others."""
    rng = np.random.default_rng(2)
    n = 1000
    b, long, alltoall = rng.uniform(0, 1, n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    time = np.exp(rng.normal(0, 0.2, n) + 1.2 * b * (long if what == "bytes" else alltoall))
    patterns = np.array(["broadcast", "alltoall"])[alltoall]
    columns = {"started": np.arange(n), "time_s": time, "b": b, "bytes": 4 + long * 2**20, "pattern": patterns}
    made = cluster.train(pl.DataFrame(columns), Reading(history_of=[] if what == "bytes" else ["bytes"]))
    assert {"bytes", "pattern"} <= made.used

    for pattern, size, b in itertools.product(["broadcast", "alltoall"], [4, 4 + 2**20], [0.1, 0.9]):
        forecast = made.predict({"b": b, "bytes": size, "pattern": pattern})
        slowed = size > 4 if what == "bytes" else pattern == "alltoall"
        assert forecast.quantiles_ps[0.5] / 1e12 == pytest.approx(np.exp(1.2 * b * slowed), rel=0.1)
        assert forecast.flagged == (slowed and b > 0.5)
    with pytest.raises(InputError, match="no run of the pattern `reduce`"):
        made.predict({"b": 0.9, "bytes": 4, "pattern": "reduce"})


def test_how_many_runs_are_enough() -> None:
    assert least_history(0.85) == 19
    assert least_history(0.5) == 6
    two = records(100, jobs=10)
    with pytest.raises(InputError, match=r"not enough data: no job has 19 earlier runs.*the most is 8 "):
        cluster.train(two)
    with pytest.raises(InputError, match=r"not enough data: \d of 60 earlier runs are in the tail.*about 67 earlier"):
        cluster.train(records(80, jobs=1))
    # With just enough for one term, b is taken and the groups are left out.
    assert [term.of for term in cluster.train(records(110, jobs=1)).chance.terms] == [["b"]]
    same = records(200).with_columns(b=0.5)
    with pytest.raises(InputError, match="not enough data: b is the same in all 150"):
        cluster.train(same)
    with pytest.raises(InputError, match="not enough data: all 200 runs began at one moment"):
        cluster.train(records(200).with_columns(started=3))


def test_a_job_without_history_is_not_predicted(trained: cluster.Predictor) -> None:
    with pytest.raises(InputError, match="not enough data: no history of `job7`") as caught:
        trained.predict({"b": 0.3, "groups": 1, "job": "job7"})
    assert caught.value.hint in ("did you mean `job0`?", "did you mean `job1`?")
    with pytest.raises(InputError, match="needs `b`"):
        trained.predict({"groups": 1, "job": "job1"})
    with pytest.raises(InputError, match="expected `b` from 0 to 1, found 40"):
        trained.predict({"b": 40, "groups": 1, "job": "job1"})
    [warning] = trained.predict({"b": 0.99, "groups": 1, "job": "job1"}).warnings
    assert warning.startswith("b 0.99 is outside what was learnt from, 0.1")


def longer(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a predictor with a term whose list of variables is empty."""
    return part | {"terms": [*part["terms"], {"of": [], "weight": 0.0}]}


def test_the_file_says_everything(trained: cluster.Predictor, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    trained.write(file)
    read = cluster.read_predictor(file)
    assert read == trained
    for known in grid():
        assert read.predict(known) == trained.predict(known)
    twice = [tmp_path / "first.json", tmp_path / "second.json"]
    for path in twice:
        cluster.train(records(120)).write(path)
    assert twice[0].read_bytes() == twice[1].read_bytes()
    data = json.loads(file.read_text())
    for change, said in (
        ({"version": 2}, "a predictor of version 2; this Odonata reads version 1"),
        ({"format": "other"}, "no trained predictor"),
        ({"histories": 3}, "a damaged predictor: `histories`"),
        ({"surprise": 3}, "a damaged predictor: `surprise`"),
        ({"histories": [data["histories"][0] | {"key": []}]}, "a history with 0 parts of its key"),
        ({"quantiles": []}, "it has no quantiles"),
        ({"variables": {}}, "which is no variable and no pattern"),
        ({"quantiles": [longer(data["quantiles"][0])]}, "a damaged predictor: a term of no variable"),
        ({"chance": longer(data["chance"])}, "a damaged predictor: a term of no variable"),
        ({"quantiles": data["quantiles"][::-1]}, "its quantiles must ascend between 0 and 1"),
        ({"quantiles": [data["quantiles"][0] | {"q": 1.0}]}, "its quantiles must ascend between 0 and 1"),
        ({"histories": [data["histories"][0] | {"median_ps": -1.0}]}, "a history needs runs and a median above 0"),
        (
            {"report": {"against": {"b alone": {"interval": [0.1]}}}},
            "`report.against` needs an interval of two numbers",
        ),
        ({"report": {"against": [1, 2]}}, "`report.against` needs an interval of two numbers"),
    ):
        file.write_text(json.dumps(data | change))
        with pytest.raises(InputError, match=said):
            cluster.read_predictor(file)


def test_iterations_of_the_probe_are_one_run(tmp_path: Path) -> None:
    """The mean over its iterations of the slowest rank; discarded runs do not count."""
    for number in range(3):
        ending = "-discarded" if number == 2 else ""
        rows = [
            {
                "run": f"r{number}",
                "started": datetime(2026, 5, 1, number, iteration, tzinfo=UTC),
                "collective": "reduce",
                "bytes": 4,
                "iteration": iteration,
                "rank": rank,
                "node": f"n{rank}",
                "time_ns": 1000 * (1 + number) + 100 * iteration + 10 * rank,
                "nodes": 2,
                "groups": 1 + number,
                "leaves": None,
                "b": 0.1 * (1 + number),
            }
            for iteration in range(3)
            for rank in range(2)
        ]
        pl.DataFrame(rows, schema_overrides={"leaves": pl.Int32}).write_parquet(
            tmp_path / f"probe-r{number}{ending}.parquet"
        )
    runs = read_runs(tmp_path)
    assert runs.time_ps.tolist() == [1_110_000, 2_110_000]
    assert runs.when.tolist() == [datetime(2026, 5, 1, hour, tzinfo=UTC).timestamp() for hour in (0, 1)]
    assert runs.numbers["groups"].tolist() == [1, 2]
    assert "leaves" not in runs.numbers
    assert runs.key_columns == ("pattern", "bytes", "nodes")
    assert runs.keys[0] == ("reduce", "4", "2")


def test_b_from_a_recording(tmp_path: Path) -> None:
    begin = datetime(2026, 5, 1, tzinfo=UTC)
    recorder = Recorder(tmp_path / "record", begin)
    for minute, busy in ((0, 2), (5, 4), (30, 6)):
        busy_nodes = Background(busy, 10, busy, busy, 1, 0)
        recorder.add(Sample(begin.replace(minute=minute), 60.0 * minute, 0.0, busy_nodes, None))
    recorder.add(Sample(begin.replace(minute=31), 1860.0, 0.0, None, "Slurm is down"))
    minutes = [4, 5, 14, 16, 35]
    table = pl.DataFrame({"started": [begin.replace(minute=at) for at in minutes], "time_s": 1.0, "job": "a"})
    runs = read_runs(table, Reading(recorded=tmp_path / "record"))
    # The last sample at or before the run, if it is at most ten minutes old.
    assert runs.numbers["b"].tolist() == [0.2, 0.4, 0.4, 0.6]
    assert runs.left_out == {"no `b` recorded shortly before": 1}
    with pytest.raises(InputError, match="no row has all that is needed: 1 with no `b` recorded shortly before"):
        read_runs(table.slice(3, 1), Reading(recorded=tmp_path / "record"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no recordings"):
        read_runs(table, Reading(recorded=tmp_path / "empty"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"b": pl.lit(40.0)}, r"expected values of `b` from 0 to 1, found 40\n.*not per cent"),
        ({"groups": pl.lit(0)}, "expected values of `groups` from 1 on, found 0"),
        ({"started": pl.lit("yesterday")}, "row 0 of the runs: expected a moment such as .*found `yesterday`"),
        ({"time_ms": pl.lit(-1.0)}, "a time cannot be negative"),
    ],
)
def test_wrong_records(change: dict[str, pl.Expr], said: str) -> None:
    with pytest.raises(InputError, match=f"(?s){said}"):
        cluster.train(records(200).with_columns(**change))


def test_wrong_columns() -> None:
    table = records(200)
    with pytest.raises(InputError, match="no column says when a run began"):
        cluster.train(table.drop("started"))
    with pytest.raises(InputError, match="no column says the background utilisation"):
        cluster.train(table.drop("b"))
    with pytest.raises(InputError, match="unknown column `utilization`"):
        cluster.train(table.rename({"b": "utilisation"}), Reading(columns={"b": "utilization"}))
    assert cluster.train(table.rename({"b": "u"}), Reading(columns={"b": "u"})).used == cluster.train(table).used
    with pytest.raises(InputError, match="unknown part of the history of a job `bytes`"):
        cluster.train(table, Reading(history_of=["bytes"]))
    with pytest.raises(InputError, match=r"expected `tail` from 0.5 to 0.99, found 2"):
        cluster.train(table, tail=2)


def test_sizes_have_units() -> None:
    table = records(4).with_columns(size=pl.Series(["4", "1 KiB", "1 MiB", "2 kB"]))
    assert read_runs(table).numbers["bytes"].tolist() == [4, 1024, 2**20, 2000]
    with pytest.raises(InputError, match="`MeB` is not a unit of size"):
        read_runs(table.with_columns(size=pl.lit("1 MeB")))


def test_a_study_is_records(tmp_path: Path) -> None:
    import odonata as od

    base = """
    system = "tiny"
    [[job]]
    name = "target"
    nodes = 2
    app = { collective = "allreduce", message = "1 KiB" }
    [[job]]
    name = "other"
    nodes = 4
    background = true
    app = { pattern = "uniform-random", message = "4 KB", interval = "1 us" }
    [[job]]
    name = "alone"
    nodes = 1
    background = true
    app = { pattern = "uniform-random", message = "4 KB", interval = "1 us" }
    """.replace("\n    ", "\n")
    (tmp_path / "base.toml").write_text(base.replace("nodes = 1\nback", "nodes = 2\nback"))
    od.sweep(tmp_path / "base.toml", {"job.other.nodes": [2, 4], "run.seed": [1, 2]}, out=tmp_path / "s", workers=1)
    runs = read_runs(tmp_path / "s", Reading(nodes_total=16))
    assert runs.numbers["b"].tolist() == [4 / 16, 6 / 16, 4 / 16, 6 / 16]
    assert runs.when.tolist() == [1, 1, 2, 2]
    assert set(runs.numbers["nodes"]) == {2}
    assert "bytes" not in runs.numbers  # those of `jobs` are all that the job sent
    assert (runs.time_ps > 0).all()
    with pytest.raises(InputError, match="the study has no column `b`"):
        read_runs(tmp_path / "s")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records and the files of a cluster, where there is no Slurm."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    records(300).write_csv("runs.csv")
    (tmp_path / "q.json").write_text(shapes.queue("24.05"))
    (tmp_path / "n.json").write_text(shapes.nodes("24.05"))
    (tmp_path / "topology.conf").write_text(shapes.TOPOLOGY)
    return tmp_path


def test_as_a_user_types_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def odonata(*words: str) -> tuple[int, str, str]:
        status = main(["cluster", *words])
        return status, *capsys.readouterr()

    status, out, err = odonata("train", "runs.csv", "-o", "m.json")
    assert (status, err) == (0, "")
    assert "held out: the last 75 runs" in out
    for words in ("all that is known", "b alone", "always the median", "m.json written", "in the tail"):
        assert words in out
    status, out, _ = odonata("predict", "m.json", "--background", "0.8", "--groups", "4", "--job", "job1")
    assert status == 0
    assert out.startswith("groups 4, job job1, b 0.8\nprobability of the tail, above ")
    # b from the queue (5/15 by equation 2), the spread from the two idle nodes, n06 and n10, on one leaf.
    files = ["--queue", "q.json", "--nodes-file", "n.json", "--topology", "topology.conf"]
    status, out, _ = odonata(
        "predict", "m.json", "--job", "job0", "-N", "2", "--place", "level-spread", *files, "--json"
    )
    printed = json.loads(out)
    assert status == 0
    spread = {"nodes": 2, "groups": 1, "leaves": 1, "neighbours": 0}  # no other job is on their leaf
    assert printed["known"] == spread | {"job": "job0", "b": pytest.approx(1 / 3)}
    assert 0 < printed["probability"] < 1
    assert list(printed["quantiles_ps"].values()) == sorted(printed["quantiles_ps"].values())
    for words, said in (
        (["train"], "RECORDS"),
        (["predict"], "MODEL"),
        (["train", "runs.csv", "--pattern", "reduce"], "--pattern"),
        (["predict", "m.json", "--held-out", "0.3"], "--held-out"),
        (["predict", "m.json", "--background", "0.3", "--job", "job0"], "needs the groups that the run touches"),
        (["predict", "m.json", "--background", "0.3", "--groups", "2"], "the predictor needs --job of the run"),
        (["predict", "m.json", "--background", "0.3", "-s", "a=1", "--groups", "2"], "--set goes with --place"),
        (["predict", "runs.csv", "--background", "0.3"], "runs.csv"),
        (["predict", "none.json"], "cannot read it"),
        (["train", "runs.csv", "-o", "m.txt"], "ends in .json"),
        (["train", "runs.csv", "-o", "m.json", "--tail", "0.8"], "--force"),
    ):
        status, out, err = odonata(*words)
        assert (status, out) == (2, ""), words
        assert said in err, words
