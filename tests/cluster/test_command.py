"""`odonata cluster` as a user types it, without Slurm and with fake commands of Slurm."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cluster import shapes

from odonata.allocation.selection import Selection
from odonata.allocation.submission import submit
from odonata.cli.main import main
from odonata.errors import InputError, RunError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of a cluster, in which there is no Slurm."""
    texts = {"q.json": shapes.queue("24.05"), "n.json": shapes.nodes("24.05"), "topology.conf": shapes.TOPOLOGY}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bin").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    return tmp_path


@pytest.fixture
def odonata(here: Path, capsys: pytest.CaptureFixture[str]):
    def command(*arguments: str) -> tuple[int, str, str]:
        status = main(["cluster", *arguments])
        return status, *capsys.readouterr()

    return command


def fake(here: Path, name: str, body: str) -> None:
    """A command of Slurm that does what a few lines of shell say."""
    path = here / "bin" / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_background(odonata) -> None:
    assert odonata("background", "--queue", "q.json", "--nodes-file", "n.json") == (
        0,
        "background utilisation b = 0.3333 (equation 2), b1 = 0.4000 (equation 1)\n"
        "4 of 10 nodes run jobs of 2 nodes or more; these jobs hold 5 of 6 allocated nodes, each counted once for "
        "each of its jobs\n"
        "2 jobs counted, 3 left out (waiting, ending, or on fewer nodes)\n",
        "",
    )


def test_an_unknown_option_leads_to_the_help_of_the_subcommand(odonata) -> None:
    status, _, err = odonata("background", "--bogus")
    assert status == 2
    assert "hint: `odonata cluster background --help` shows its arguments" in err


def test_a_queue_is_no_list_of_nodes(odonata, here: Path) -> None:
    (here / "queue.txt").write_text("JOBID|STATE|NODES|NODELIST\n1|RUNNING|2|n[1-2]\n")
    status, _, err = odonata("background", "--queue", "queue.txt", "--nodes-file", "queue.txt")
    assert status == 2
    assert err.startswith("error: queue.txt:2: expected the state of a node, found `RUNNING`, a state of jobs\n")


def test_samples_are_at_most_a_year_apart(odonata) -> None:
    for every in ("inf", "1e300"):
        status, _, err = odonata("background", "--nodes-total", "10", "--watch", every, "--count", "2")
        assert (status, "expected at most 31,536,000 s (a year)" in err) == (2, True)


def test_background_as_json(odonata) -> None:
    status, out, err = odonata("background", "--queue", "q.json", "--nodes-total", "10", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "b1": 0.4,
        "b": pytest.approx(1 / 3),
        "nodes_communicating": 4,
        "nodes_total": 10,
        "listings_communicating": 5,
        "listings_running": 6,
        "jobs_counted": 2,
        "jobs_excluded": 3,
    }


def test_background_of_a_live_queue(odonata, here: Path) -> None:
    fake(here, "squeue", f"echo '{shapes.TABLES['signs']}'")
    fake(here, "sinfo", f"echo '{shapes.NODE_TABLES['signs']}'")
    status, out, _ = odonata("background", "--json")
    assert status == 0
    assert json.loads(out)["b"] == pytest.approx(1 / 3)
    assert json.loads(odonata("background", "--queue", "q.json", "--json")[1])["nodes_total"] == 10


def test_variables_of_users_do_not_change_what_is_read(odonata, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(here, "squeue", f"test -z \"$SQUEUE_STATES$SQUEUE_FORMAT\" && echo '{shapes.TABLES['signs']}'")
    monkeypatch.setenv("SQUEUE_STATES", "PENDING")
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    assert odonata("background", "--nodes-total", "10")[0] == 0


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (
            "background",
            1,
            "error: there is no `squeue` here\n  hint: run this where Slurm's commands are, or give files",
        ),
        (
            "background --queue q.json",
            2,
            "  hint: give --nodes-total N, or --nodes-file FILE with what `sinfo --json` prints",
        ),
        ("background --queue none --nodes-total 3", 2, "error: none: cannot read it: no such file or directory"),
        ("background --queue q.json --nodes-total 0", 2, "Must be >= 1"),
        ("background --queue q.json --nodes-total 10 --out x", 2, "error: --out goes with --watch or --history"),
        ("background --queue q.json --nodes-total 10 --count 2", 2, "error: --count goes with --watch"),
        ("background --history q.json --watch 3", 2, "error: --history goes with --nodes-total"),
        ("background --history q.json --nodes-total 9 --out x.txt", 2, "expected a file that ends in .parquet or .csv"),
        ("background --watch 0", 2, "Must be > 0"),
        ("select -N 3 --queue q.json --nodes-file n.json", 2, "error: 3 nodes do not fit: only 2 are idle"),
        ("select -N 3", 1, "error: there is no `scontrol` here"),
        ("select -N 2 --queue q.json --ranks-per-node 4", 2, "error: --ranks-per-node goes with --hostfile"),
        ("select -N 2 --queue q.json --retries 4", 2, "error: --retries goes with --submit"),
        ("select -N 3 job.sh", 2, "error: unexpected argument `job.sh`"),
        ("select -N 2 --submit --queue q.json -- a", 2, "error: --submit selects from the queue as it is now"),
        ("selct", 2, 'Did you mean "select"?'),
    ],
)
def test_what_is_wrong(odonata, words: str, status: int, message: str) -> None:
    answer = odonata(*words.split())
    assert answer[:2] == (status, "")
    assert message in answer[2]


def test_a_file_without_the_number_of_nodes_where_slurm_does_not_answer(odonata, here: Path) -> None:
    fake(here, "sinfo", "echo 'no answer' >&2; exit 1")
    status, out, err = odonata("background", "--queue", "q.json")
    assert (status, out) == (2, "")
    assert "does not say it, and `sinfo` failed: no answer\n  hint: give --nodes-total N" in err


def test_slurm_that_says_no(odonata, here: Path) -> None:
    fake(here, "squeue", "echo 'slurm_load_jobs error: Access/permission denied' >&2; exit 1")
    assert odonata("background", "--nodes-total", "3") == (
        1,
        "",
        "error: `squeue` failed: slurm_load_jobs error: Access/permission denied\n",
    )


def test_watch(odonata, here: Path) -> None:
    words = ["background", "--queue", "q.json", "--nodes-total", "10", "--watch", "0.01", "--count", "3"]
    status, out, err = odonata(*words, "--out", "record", "--json")
    assert (status, err) == (0, "")
    assert [json.loads(line)["b1"] for line in out.splitlines()] == [0.4] * 3
    assert pl.read_parquet("record/*.parquet")["sample"].to_list() == [0, 1, 2]
    assert odonata(*words)[0] == 0
    assert pl.read_parquet("background/*.parquet").height == 3
    (here / "file").write_text("x")
    assert odonata(*words, "--out", "file")[0] == 2
    assert (here / "file").read_text() == "x"


def test_history(odonata, here: Path) -> None:
    (here / "sacct.txt").write_text(
        "JobID|Start|End|NodeList\n1|2026-05-01T12:00:00|2026-05-01T13:00:00|n[1-4]\n"
        "2|2026-05-01T12:30:00|2026-05-01T14:00:00|n5\n"
    )
    words = ["background", "--history", "sacct.txt", "--nodes-total", "10", "--every", "1800"]
    assert odonata(*words, "--out", "b.csv") == (
        0,
        "2 jobs that ran, 2026-05-01T12:00:00 to 2026-05-01T13:30:00, 4 samples\n"
        "b: mean 0.1800 (b1 0.2000), median 0.0000, 5 % to 95 %: 0.0000 to 0.3200, highest 0.4000 at "
        "2026-05-01T12:00:00\n4 samples in b.csv\n",
        "",
    )
    assert pl.read_csv("b.csv")["b"].to_list() == [0.4, pytest.approx(0.32), 0, 0]
    assert json.loads(odonata(*words, "--json")[1])["b1"] == [0.4, 0.4, 0, 0]
    Path("b.csv").write_text("mine")
    words += ["--out", "b.csv"]
    status, _, err = odonata(*words)
    assert (status, Path("b.csv").read_text()) == (2, "mine")
    assert err == "error: `b.csv` exists with different contents\n  hint: choose another name, or add --force\n"
    assert odonata(*words, "--force")[0] == 0
    assert Path("b.csv").read_text() != "mine"


def test_select(odonata, here: Path) -> None:
    words = ["select", "-N", "2", "--queue", "q.json", "--nodes-file", "n.json", "--topology", "topology.conf"]
    assert odonata(*words, "--hostfile", "hosts") == (
        0,
        "n[06,10]\n",
        "level-spread: 2 nodes on router 2, the one with the most idle nodes anywhere; group 1 (`islb`) has 2 idle "
        "nodes, the most\n",
    )
    assert Path("hosts").read_text() == "n06\nn10\n"
    Path("hosts").write_text("mine")
    status, _, err = odonata(*words, "--hostfile", "hosts")
    assert (status, Path("hosts").read_text()) == (2, "mine")
    assert "`hosts` exists with different contents" in err
    assert odonata(*words, "--hostfile", "hosts", "--force")[0] == 0
    assert odonata(*words, "--force") == (2, "", "error: --force goes with --hostfile\n")
    assert Path("hosts").read_text() == "n06\nn10\n"
    told = json.loads(odonata(*words, "--place", "RRN", "-s", "start=first", "--json")[1])
    assert (told["policy"], told["nodes"], told["nodelist"]) == ("round-robin-nodes", ["n06", "n10"], "n[06,10]")


def chosen(*nodes: str) -> Selection:
    return Selection(list(nodes), "because", "level-spread", 9, ["g"], 1, 0.0)


SQUEUE = 'case "$*" in *states=all*) /bin/cat state;; esac'


def test_a_race_is_reported_and_the_job_is_moved(here: Path) -> None:
    Path("state").write_text("PENDING|Resources\n")
    fake(here, "squeue", SQUEUE)
    fake(here, "sinfo", "printf 'STATE|PARTITION|NODELIST\\nidle|m|n[2-4]\\nallocated|m|n1\\n'")
    fake(here, "sbatch", 'echo "$*" >asked; echo "7;cluster"')
    fake(here, "scontrol", 'echo "$*" >>asked; echo "RUNNING|None" >state')
    answers = iter([chosen("n1", "n2"), chosen("n3", "n4")])
    job = submit(lambda: next(answers), ["--time=1", "job.sh"], partition="m", sleep=lambda _: None)
    assert Path("asked").read_text().splitlines() == [
        "--time=1 --parsable --nodes=2 --nodelist=n[1-2] --partition=m job.sh",
        "update JobId=7 ReqNodeList=n[3-4]",
    ]
    assert (job.job, job.state, job.races) == ("7", "RUNNING", ["n1 was taken by another job"])
    assert job.selection.nodelist == "n[3-4]"


def test_a_job_that_waits_for_something_else_is_left_alone(here: Path) -> None:
    Path("state").write_text("PENDING|Dependency\n")
    fake(here, "squeue", SQUEUE)
    fake(here, "sinfo", "printf 'STATE|PARTITION|NODELIST\\nidle|m|n1\\n'")
    fake(here, "sbatch", "echo 7")
    moments = iter(range(0, 1000, 5))
    job = submit(lambda: chosen("n1"), ["job.sh"], sleep=lambda _: None, clock=lambda: next(moments))
    assert (job.state, job.why, job.races) == ("PENDING", "Dependency", [])


def test_nodes_that_are_taken_again_and_again(here: Path) -> None:
    Path("state").write_text("PENDING|Resources\n")
    fake(here, "squeue", SQUEUE)
    fake(here, "sinfo", "printf 'STATE|PARTITION|NODELIST\\nallocated|m|n1\\n'")
    fake(here, "sbatch", "echo 7")
    fake(here, "scontrol", "exit 0")
    with pytest.raises(RunError, match=r"job 7 waits: n1 was taken by another job, and so it was 3 times"):
        submit(lambda: chosen("n1"), ["job.sh"], retries=2, sleep=lambda _: None)


NAMES_NODES = ["-w", "-wn1", "--nodelist=n1", "-N", "-N4", "--nodes=3", "--nodel=n1", "--nodef=x", "-Hw", "-Jx -w n1"]


@pytest.mark.parametrize("argument", [*NAMES_NODES, "-J job.sh -w", "--job-name job.sh --nodel=n1", "-QHN2"])
def test_arguments_that_name_nodes_are_refused(argument: str, here: Path) -> None:
    Path("job.sh").write_text("")  # a value that is a file, and is not the script
    with pytest.raises(InputError, match="which nodes, or how many"):
        submit(lambda: chosen("n1"), [*argument.split(), "job.sh"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--new-option x job.sh", "value of `--new-option` or the script"),
        ("-z job.sh", "`-z` in `-z` is not a known option"),
        ("--time", "`--time` has no value"),
        ("--time=1 : --time=2 job.sh", "begins another job"),
    ],
)
def test_what_cannot_be_told_from_the_script_is_refused(arguments: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        submit(lambda: chosen("n1"), arguments.split())


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ("-t 1 -HJx --exclusive --new=3 job.sh -w n9", "-t 1 -HJx --exclusive --new=3 OURS job.sh -w n9"),
        ("--wrap=hostname", "--wrap=hostname OURS"),
        ("--wrap hostname", "--wrap hostname OURS"),
        ("-H -- job.sh --nodelist=n9", "-H OURS job.sh --nodelist=n9"),
    ],
)
def test_our_nodes_come_last(arguments: str, asked: str, here: Path) -> None:
    Path("state").write_text("RUNNING|None\n")
    fake(here, "squeue", SQUEUE)
    fake(here, "sbatch", 'echo "$*" >asked; echo 7')
    submit(lambda: chosen("n1"), arguments.split())
    assert Path("asked").read_text() == asked.replace("OURS", "--parsable --nodes=1 --nodelist=n1") + "\n"


def test_arguments_of_the_script_are_its_own(here: Path) -> None:
    Path("state").write_text("RUNNING|None\n")
    Path("job.sh").write_text("#!/bin/sh\n")
    fake(here, "squeue", SQUEUE)
    fake(here, "sbatch", "echo 7")
    assert submit(lambda: chosen("n1"), ["job.sh", "-N", "4"]).state == "RUNNING"


def test_nothing_to_submit() -> None:
    with pytest.raises(InputError, match="nothing to submit"):
        submit(lambda: chosen("n1"), [])
