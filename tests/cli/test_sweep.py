"""`odonata sweep`, `compare` and `plot STUDY` as typed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import odonata as od
from odonata.cli.main import main

from .conftest import SCENARIO

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

Command = Callable[..., tuple[int, str, str]]

STUDY = """\
base = "tiny.toml"

[sweep]
routing = ["fpar", "minimal"]
"job.target.app.messages" = [4, 8]
"run.seed" = { from = 1, to = 3 }
"""


@pytest.fixture
def study(here: Path) -> Path:
    Path("study.toml").write_text(STUDY)
    return here


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study and its scenario, swept once for all tests."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.toml").write_text(SCENARIO)
    (folder / "study.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        assert main(["sweep", "study.toml", "-q", "-j", "2"]) == 0
    return folder


@pytest.fixture
def swept(finished: Path, here: Path) -> str:
    shutil.copytree(finished, here, dirs_exist_ok=True)
    return "studies/study"


@pytest.fixture
def transcript(odonata: Command) -> Callable[..., str]:
    """Runs a command line and writes down everything about it, without what differs from time to time."""

    def write(*arguments: str) -> str:
        status, out, err = odonata(*arguments)
        err = re.sub(r"simulated in \d+\.\d s", "simulated in <time> s", err)
        return f"$ odonata {' '.join(arguments)}\nexit status {status}\n--- output\n{out}--- error\n{err}"

    return write


def test_a_sweep_answers(transcript: Callable[..., str], study: Path, snapshot: SnapshotAssertion) -> None:
    assert transcript("sweep", "study.toml", "-j", "2") == snapshot
    assert transcript("sweep", "study.toml", "-j", "1") == snapshot(name="again")


def test_rows_are_sorted_by_their_axes(odonata: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and quantities ascend, names are as the study lists them."""
    from tests.advice.conftest import Inline

    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: Inline())
    axes = """\
routing = ["minimal", "fpar"]
"job.target.app.messages" = [10, 2]
"job.target.app.interval" = ["2 us", "500 ns"]
"""
    Path("study.toml").write_text(f'base = "tiny.toml"\n[sweep]\n{axes}')
    status, out, _ = odonata("sweep", "study.toml", "-q")
    assert status == 0
    rows = [line.split()[:3] for line in out.splitlines()[2:]]
    times = [["2", "500"], ["2", "2"], ["10", "500"], ["10", "2"]]
    assert rows == [[routing, *of] for routing in ("minimal", "fpar") for of in times]


def test_json_is_one_object_and_nothing_else(odonata: Command, study: Path) -> None:
    status, out, _ = odonata("sweep", "study.toml", "--json", "-q", "-j", "2", "--out", "there")
    assert (status, out.count("\n")) == (0, 1)
    printed = json.loads(out)
    expected = {"name": "study", "points": 12, "settled": 12, "simulated": 12, "kept": 0, "failed": 0, "out": "there"}
    assert {key: printed[key] for key in expected} == expected
    assert printed["errors"] == []
    assert printed["axes"][2] == {"keys": ["run.seed"], "values": 3}


def test_what_failed_is_listed_and_the_status_is_1(
    transcript: Callable[..., str], odonata: Command, here: Path, snapshot: SnapshotAssertion
) -> None:
    Path("study.toml").write_text(
        'base = "tiny.toml"\n[sweep]\n"job.noise.nodes" = [6, 98, 99]\n"run.seed" = { from = 1, to = 5 }\n'
        '[show]\ncolumns = ["messages_delivered", "throughput"]\njob = "target"\n'
    )
    assert transcript("sweep", "study.toml", "-j", "1") == snapshot
    status, out, _ = odonata("sweep", "study.toml", "-j", "1", "--json", "-q")
    assert status == 1
    assert [error["point"] for error in json.loads(out)["errors"]] == list(range(5, 15))


def test_overrides_reach_the_runs(odonata: Command, study: Path) -> None:
    odonata("sweep", "study.toml", "-q", "-s", "job.noise.nodes=5", "--out", "five")
    assert "nodes = 5" in Path("five/scenario.toml").read_text()


def test_a_comparison_answers(transcript: Callable[..., str], swept: str, snapshot: SnapshotAssertion) -> None:
    assert transcript("compare", swept, "--by", "routing") == snapshot
    more = ("--value", "time_ps", "--baseline", "8", "--where", "routing=fpar", "--job", "target")
    assert transcript("compare", swept, "--by", "job.target.app.messages", *more) == snapshot(name="narrowed")
    narrowed = ("--where", "run.seed=2", "--where", "job.target.app.messages=4")
    assert transcript("compare", swept, "--by", "routing", *narrowed) == snapshot(name="one seed")


def test_a_notebook_shows_a_comparison(swept: str) -> None:
    opened = od.open(swept).compare("routing", "latency_mean_ps", job="target")
    shown = opened._repr_html_()
    assert "<caption>latency_mean_ps of target by routing, against fpar" in shown
    assert '<td style="text-align: left">minimal</td>' in shown
    assert "<p>minimal: " in shown


def test_a_comparison_as_json(odonata: Command, swept: str) -> None:
    status, out, err = odonata("compare", swept, "--by", "routing", "--json")
    assert (status, err, out.count("\n")) == (0, "", 1)
    printed = json.loads(out)
    assert (printed["by"], printed["column"], printed["job"], printed["baseline"]) == (
        "routing", "latency_mean_ps", "target", "fpar",
    )  # fmt: skip
    fpar, minimal = printed["rows"]
    assert (fpar["n"], fpar["ratio"], minimal["pairs"], len(minimal["ratio_interval"])) == (6, None, 6, 2)
    assert json.loads(odonata("compare", swept, "--by", "routing", "--json", "--seed", "2")[1])["seed"] == 2


def test_the_picture_of_a_study(odonata: Command, swept: str) -> None:
    assert odonata("plot", swept) == (0, "studies/study/study.png\n", "")
    assert Path("studies/study/study.png").read_bytes().startswith(b"\x89PNG")
    more = ("--by", "routing", "--series", "job.target.app.messages", "--value", "throughput", "-o", "x.svg")
    assert odonata("plot", swept, *more)[0] == 0
    text = Path("x.svg").read_text()
    assert "throughput of target" in text
    assert odonata("sweep", "study.toml", "-q")[0] == 0  # a picture in the folder does no harm


@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep",),
        ("sweep", "absent.toml"),
        ("sweep", "study.toml", "-j", "0"),
        ("sweep", "study.toml", "-s", "run.seed=3"),
        ("sweep", "study.toml", "-s", "rooting=fpar"),
        ("sweep", "study.toml", "--out", "."),
        ("sweep", "study.toml", "--out", "tiny.toml"),
        ("sweep", "study.toml", "--out", "other"),
        ("sweep", "tiny.toml"),
        ("compare", "studies/study"),
        ("compare", "absent", "--by", "routing"),
        ("compare", "study.toml", "--by", "routing"),
        ("compare", "studies", "--by", "routing"),
        ("compare", "studies/study", "--by", "rooting"),
        ("compare", "studies/study", "--by", "routing", "--value", "latency"),
        ("compare", "studies/study", "--by", "routing", "--value", "slowdown"),
        ("compare", "studies/study", "--by", "routing", "--baseline", "minmal"),
        ("compare", "studies/study", "--by", "routing", "--job", "targt"),
        ("compare", "studies/study", "--by", "routing", "--where", "run.seed=9"),
        ("compare", "studies/study", "--by", "routing", "--where", "run.seed"),
        ("compare", "studies/study", "--by", "routing", "--where", "sed=9"),
        ("plot", "studies/study", "--kind", "box"),
        ("plot", "studies/study", "--by", "routing", "--series", "routing"),
        ("plot", "studies/study", "--by", "rooting"),
        ("plot", "studies/study", "--value", "slowdown"),
        ("plot", "studies/study", "-o", "x.gif"),
        ("plot", "other", "--by", "routing"),
    ],
    ids=" ".join,
)
def test_what_is_wrong(
    transcript: Callable[..., str], swept: str, arguments: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    Path("other").mkdir()
    Path("other/file").write_text("mine")
    text = transcript(*arguments)
    assert "exit status 2" in text
    assert text == snapshot


def test_a_folder_that_was_tampered_with(odonata: Command, swept: str) -> None:
    file = Path(swept, "jobs.parquet")
    file.write_bytes(file.read_bytes()[:-1])
    status, _, err = odonata("compare", swept, "--by", "routing")
    assert status == 2
    assert err.startswith("error: studies/study/jobs.parquet: the file was cut off or changed\n  hint: run `odonata")
    assert odonata("sweep", "study.toml", "-q")[0] == 0
    assert odonata("compare", swept, "--by", "routing")[0] == 0


def test_the_study_needs_no_scenario_to_be_read(odonata: Command, swept: str) -> None:
    Path("tiny.toml").unlink()
    Path("study.toml").unlink()
    assert odonata("compare", swept, "--by", "routing")[0] == 0


CUT_OFF = """\
base = "tiny.toml"

[sweep]
"run.horizon" = ["3 us", "1 ms"]
"run.seed" = { from = 1, to = 3 }
"""


@pytest.fixture
def cut_off(odonata: Command, here: Path) -> str:
    """Three of six runs end before their messages have arrived."""
    Path("study.toml").write_text(CUT_OFF)
    assert odonata("sweep", "study.toml", "-q", "-j", "1", "--json")[0] == 0
    return "studies/study"


def test_the_table_of_a_sweep_leaves_out_runs_that_are_cut_off(odonata: Command, cut_off: str) -> None:
    """Catches a mean over the few messages that had arrived, which looks faster than the whole run."""
    short, whole = (odonata("sweep", "study.toml", "-q", *more)[1] for more in ((), ("--include-incomplete",)))
    assert re.search(r"^3 us +3 +3 +- +- +-$", short, re.MULTILINE), short
    assert re.search(r"^1 ms +3 +0 +\d\.\d+ ", short, re.MULTILINE), short
    assert re.search(r"^3 us +3 .*\d\.\d+", whole, re.MULTILINE), whole
    jobs = pl.read_parquet(f"{cut_off}/jobs.parquet").filter(name="target")
    assert sorted(jobs["complete"].to_list()) == [False] * 3 + [True] * 3


def test_comparisons_and_pictures_leave_out_runs_that_are_cut_off(odonata: Command, cut_off: str) -> None:
    arguments = ("compare", cut_off, "--by", "run.horizon", "--json")
    short, whole = (json.loads(odonata(*arguments, *more)[1]) for more in ((), ("--include-incomplete",)))
    assert "cut off" in odonata(*arguments[:-1])[1]
    assert len(str(whole)) > len(str(short))
    assert odonata("plot", cut_off, "--by", "run.horizon", "-o", "short.svg")[0] == 0
    assert odonata("plot", cut_off, "--by", "run.horizon", "-o", "whole.svg", "--include-incomplete")[0] == 0
    assert Path("short.svg").read_text() != Path("whole.svg").read_text()


def test_a_background_that_overloads_its_nics_is_warned_of(odonata: Command, here: Path) -> None:
    """Also where only the last point has one; once, in spite of the seeds."""
    Path("study.toml").write_text(
        'base = "tiny.toml"\n[sweep]\n"job.noise.app.interval" = ["1 ms", "1 us"]\n"run.seed" = [1, 2]\n'
    )
    status, _, err = odonata("sweep", "study.toml", "-q", "-j", "1", "-s", "job.noise.app.message=100 KB")
    assert status == 0
    (line,) = [line for line in err.splitlines() if line.startswith("warning: ")]
    assert line.startswith("warning: point 3 (job.noise.app.interval = 1 us, run.seed = 2): background job `noise` ")
