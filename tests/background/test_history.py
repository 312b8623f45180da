"""Background utilisation over the past, from every file of jobs that is read."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import polars as pl
import pytest

from odonata.cli.main import main
from odonata.cluster import read_history
from odonata.compressed import unpacked
from odonata.errors import InputError
from odonata.scheduler.submission import read_stream

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
#: Minutes: A on two nodes from 0 to 60, B on n2 and n3 from 20 to 40, C on n4 from 30 to 60. Ten nodes.
SACCT = """\
JobID|JobName|State|Start|End|NNodes|NodeList
1|a|b|COMPLETED|2026-05-01T12:00:00|2026-05-01T13:00:00|2|n[1-2]
1.batch|batch|COMPLETED|2026-05-01T12:00:00|2026-05-01T13:00:00|1|n1
2|x|CANCELLED by 0|2026-05-01T12:20:00|2026-05-01T12:40:00|2|n[2-3]
3|x|RUNNING|2026-05-01T12:30:00|Unknown|1|n4
4|x|PENDING|Unknown|Unknown|4|None assigned
5|x|CANCELLED|None|2026-05-01T12:40:00|4|None assigned
"""
ROWS = [  # start, end, nodes in minutes
    (0, 60, ["1", "2"]),
    (20, 40, ["2", "3"]),
    (30, 60, ["4"]),
]
SWF = f"""\
; Version: 2.2
; UnixStartTime: {int(BEGIN)}
; MaxNodes: 10
; MaxProcs: 40
1 0 0 3600 8 -1 -1 8 -1 -1 1 1 1 1 1 1 -1 -1
2 600 600 1200 -1 -1 -1 7 -1 -1 1 1 1 1 1 1 -1 -1
3 1800 0 1800 4 -1 -1 4 -1 -1 1 1 1 1 1 1 -1 -1
4 1900 -1 -1 -1 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "jobs"
    path.write_text(text)
    return path


def check(path: Path, shared: int = 1) -> None:
    history = read_history(path, nodes_total=10, every_s=600)
    assert [at - BEGIN for at in history.times] == [0, 600, 1200, 1800, 2400, 3000]
    three = 4 - shared  # n2 has both jobs; without names of nodes this is unknown
    assert [sample.nodes_communicating for sample in history.samples] == [2, 2, three, three, 2, 2]
    b = [0.2, 0.2, three / 10, three / 10 * 4 / 5, 0.2 * 2 / 3, 0.2 * 2 / 3]
    assert [sample.b for sample in history.samples] == pytest.approx(b)
    assert history.mean_b == pytest.approx(sum(b) / 6)
    assert history.runs == 3
    assert history.frame().columns[:3] == ["time", "b1", "b"]
    assert history.frame()["time"][0] == datetime(2026, 5, 1, 12)


def test_sacct(tmp_path: Path) -> None:
    check(write(tmp_path, SACCT))


def test_sacct_json(tmp_path: Path) -> None:
    jobs = [
        {
            "job_id": at,
            "state": {"current": ["COMPLETED"], "reason": "None"},
            "time": {"start": {"set": True, "infinite": False, "number": BEGIN + 60 * a}, "end": BEGIN + 60 * b},
            "nodes": ",".join(f"n{name}" for name in names),
        }
        for at, (a, b, names) in enumerate(ROWS)
    ]
    waiting = {"job_id": 9, "state": {"current": ["PENDING"]}, "time": {"start": 0, "end": 0}, "nodes": "None assigned"}
    check(write(tmp_path, json.dumps({"jobs": [*jobs, waiting], "meta": {}, "errors": []})))


HEAD = "; UnixStartTime: 1000000000\n; MaxNodes: 64\n; MaxProcs: 64\n"
#: A job of an hour on 16 nodes that was swapped out for ten minutes: the line that sums it up, and its two parts.
SUM, PARTS = (
    "1 100 0 3600 16 -1 -1 16 7200 -1 1 1 1 1 1 1 -1 -1\n",
    "1 100 0 1200 16 -1 -1 16 7200 -1 2 1 1 1 1 1 -1 -1\n1 -1 600 2400 16 -1 -1 16 7200 -1 3 1 1 1 1 1 -1 -1\n",
)
OTHER = "2 100 0 3600 16 -1 -1 16 7200 -1 0 1 1 1 1 1 -1 -1\n"


@pytest.mark.parametrize("text", [SUM + PARTS, PARTS + SUM, SUM.replace(" -1 1 1 1 1", " -1 0 1 1 1") + PARTS])
def test_parts_of_an_interrupted_job_do_not_count_beside_the_line_that_sums_it_up(text: str, tmp_path: Path) -> None:
    history = read_history(write(tmp_path, HEAD + text))
    assert (history.runs, history.mean_b) == (1, 0.25)
    assert {sample.b for sample in history.samples} == {0.25}


def test_an_interrupted_job_without_that_line_is_its_parts(tmp_path: Path) -> None:
    """The nodes are free between two parts; of the second, only the wait since the first is known."""
    history = read_history(write(tmp_path, HEAD + PARTS), every_s=300)
    assert history.runs == 1
    assert [sample.b for sample in history.samples] == [0.25] * 4 + [0.0] * 2 + [0.25] * 8
    assert history.mean_b == pytest.approx(0.25 * 3600 / 4200)
    both = read_history(write(tmp_path, HEAD + PARTS + OTHER), every_s=300)
    assert both.runs == 2
    assert [sample.b for sample in both.samples] == [0.5] * 4 + [0.25] * 2 + [0.5] * 6 + [0.25] * 2


def test_parts_whose_first_is_missing_ran_nobody_knows_when(tmp_path: Path) -> None:
    history = read_history(write(tmp_path, HEAD + PARTS.partition("\n")[2] + OTHER))
    assert history.runs == 1
    with pytest.raises(InputError, match="no job in the file ran"):
        read_history(write(tmp_path, HEAD + PARTS.partition("\n")[2]))


def test_a_number_of_a_job_may_come_again_after_its_last_part(tmp_path: Path) -> None:
    later = PARTS.replace("1 100 0", "1 10100 0", 1)
    assert read_history(write(tmp_path, HEAD + PARTS + later)).runs == 2


def test_files_may_be_compressed_by_gzip(tmp_path: Path) -> None:
    """The archive of SWF has only such files."""
    path = tmp_path / "jobs.swf.gz"
    path.write_bytes(gzip.compress(SWF.encode()))
    check(path, shared=0)
    path.write_bytes(gzip.compress(SWF[:100].encode()) + gzip.compress(SWF[100:].encode()))
    check(path, shared=0)
    path.write_bytes(gzip.compress(SACCT.encode()))
    check(path)
    whole = path.read_bytes()
    for data, words in (
        (whole[:-9], "a gzip file that ends early: it may be cut"),
        (whole[:40] + b"x" * 20 + whole[60:], "a damaged gzip file: "),
        (whole + b"more", "a damaged gzip file: something follows its end"),
        (bz2.compress(SWF.encode()), "compressed by bzip2; expected text"),
        (lzma.compress(SWF.encode()), "compressed by xz; expected text"),
        (b"\x28\xb5\x2f\xfd" + bytes(9), "compressed by zstd; expected text"),
    ):
        path.write_bytes(data)
        with pytest.raises(InputError, match=words):
            read_history(path, nodes_total=10)
    path.write_bytes(gzip.compress(bytes(2000)))
    with pytest.raises(InputError, match="expected a file that unpacks to at most 1,000 bytes, found more"):
        unpacked(path, path.read_bytes(), 1000)


def test_swf(tmp_path: Path) -> None:
    check(write(tmp_path, SWF), shared=0)
    assert read_history(write(tmp_path, SWF)).samples[0].nodes_total == 10
    without = SWF.replace("; MaxProcs: 40\n", "")
    assert read_history(write(tmp_path, without), cores_per_node=4).mean_b == read_history(write(tmp_path, SWF)).mean_b


def table(nodes: list) -> pl.DataFrame:
    moments = [[datetime.fromtimestamp(BEGIN + 60 * row[i], UTC) for row in ROWS] for i in (0, 1)]
    counts = [len(row[2]) for row in ROWS]
    return pl.DataFrame(
        {
            "job_id": [1, 2, 3],
            "start_time": moments[0],
            "end_time": moments[1],
            "num_nodes_alloc": counts,
            "nodes": nodes,
        }
    )


@pytest.mark.parametrize("form", ["lists", "texts", "host lists", "csv"])
def test_tables_of_jobs(form: str, tmp_path: Path) -> None:
    lists = [row[2] for row in ROWS]
    path = tmp_path / "jobs"
    if form == "csv":
        table([str(names) for names in lists]).write_csv(path)
    else:
        texts = {"lists": lists, "texts": [str(x) for x in lists], "host lists": ["n[1-2]", "n[2-3]", "n4"]}
        table(texts[form]).write_parquet(path)
    check(path)


def test_a_time_that_is_not_a_number_is_not_known(tmp_path: Path) -> None:
    """As tables have it that pandas wrote: a job without a start has not run, one without an end still runs."""
    path = tmp_path / "jobs"
    times = {"start_time": [float("nan"), 1_000.0, 2_000.0], "end_time": [float("nan"), float("nan"), 3_000.0]}
    pl.DataFrame({**times, "nodes": [["a"], ["b", "c"], ["d", "e"]]}).write_parquet(path)
    history = read_history(path, nodes_total=4)
    assert (history.runs, history.mean_b) == (2, pytest.approx(0.75))


def test_a_clock_that_went_back(tmp_path: Path) -> None:
    history = read_history(
        write(tmp_path, SACCT + "6|x|COMPLETED|2026-05-01T12:50:00|2026-05-01T12:49:00|2|n[7-8]\n"), nodes_total=10
    )
    assert (history.runs, history.skipped) == (3, 1)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (SACCT, {}, "F: the number of nodes of the machine is not known\n  hint: give --nodes-total N"),
        (SACCT, {"nodes_total": 2}, "F: jobs run on 3 nodes at once, more than the 2 of the machine"),
        (SACCT.replace("|End", "|Ende"), {}, "F:1: expected the header of `sacct` with `END`, found"),
        (SACCT.replace("2026-05-01T12:20:00", "20 past"), {}, "F:4: job 2: expected a time such as"),
        (SACCT.replace("n[2-3]", "n[3-2]"), {}, "F:4: job 2: host list `n[3-2]`, character 3: the range `3-2` ends"),
        (SACCT[:-30], {}, "F:7: expected 7 columns as in the header, found 5"),
        (
            '{"jobs": [{"job_id": 1, "state": "COMPLETED", "time": [1, 2], "nodes": "n1"}]}',
            {"nodes_total": 9},
            "F: jobs[0] (job 1): expected an object under `time`, with `start` and `end`, found `[1, 2]`",
        ),
        ("JobID|Start|End|NodeList\n", {"nodes_total": 9}, "F: no job in the file ran"),
        (SWF[:-20], {}, "F:8: expected the 18 columns of SWF, found"),
        (SWF.replace("MaxNodes", "Nodes"), {}, "F: the trace counts processors, and its header does not say"),
        (SWF.replace("1800 0", "1800 x"), {}, "F:7: expected numbers, found `3 1800 x"),
        ("start_time,end_time\n1,2\n", {"nodes_total": 9}, "F: the table of jobs has no `nodes`"),
        ("start_time,end_time,nodes\n1,2\n", {"nodes_total": 9}, "F:2: the row has not as many columns"),
        ("PAR1 and no more", {"nodes_total": 9}, "F: not a whole Parquet file"),
        (SACCT, {"nodes_total": 9, "every_s": 1e-6}, "F: samples of 1e-06 s make more than"),
        (SACCT, {"nodes_total": 9, "every_s": float("inf")}, "expected a finite number of seconds above 0"),
        (SACCT.replace("2026-05-01T12:20:00", "2026-05-01T12:20:00+02:00"), {}, "F:4: job 2: one of the times"),
        (
            SACCT.replace("n[2-3]", "n2"),
            {},
            "F:4: job 2: the job has 2 nodes, but its list names 1: the list is cut\n  hint: print the whole list: "
            "`sacct --parsable2` or",
        ),
        (SWF.replace("1800 0", "1e300 0"), {}, "F:7: expected seconds before the year 10000"),
        (SWF.replace("1800 0", "-1e18 0"), {}, "F:7: expected seconds before the year 10000"),
        ('start_time,end_time,nodes\n1,2,"[1,2"\n', {"nodes_total": 9}, "F: line 2: the list of nodes `[1,2` is not"),
        (
            "start_time,end_time,nodes\n1,9000000000000000,n1\n",
            {"nodes_total": 9},
            "F: line 2: expected a time before the year 10000",
        ),
        (
            '{"jobs": [{"job_id": 1, "state": "COMPLETED", "time": {"start": NaN, "end": 2}, "nodes": "n1"}]}',
            {"nodes_total": 9},
            "F: jobs[0] (job 1): expected a time in seconds, found `nan`",
        ),
        (
            '{"jobs": [{"job_id": 1, "state": "COMPLETED", "time": {"start": "abc", "end": 2}, "nodes": "n1"}]}',
            {"nodes_total": 9},
            "F: jobs[0] (job 1): expected a time in seconds, found `abc`",
        ),
    ],
)
def test_wrong_files(text: str, options: dict, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as raised:
        read_history(path, **options)
    assert str(raised.value).replace(str(path), "F").startswith(message)


PAST = {
    "sacct --parsable2": "JobID|State|Start|End|NNodes|NodeList\n1|COMPLETED|2026-05-01T00:00:00|2026-05-01T01:00:00|2|"
    "n[1-2]\n2|WOBBLE by 100|2026-05-01T00:00:00|2026-05-01T01:00:00|2|n[3-4]\n"
    "3|CANCELLED by 1000|2026-05-01T00:00:00|2026-05-01T01:00:00|2|n[5-6]\n"
    "4|OUT_OF_ME+|2026-05-01T00:00:00|2026-05-01T01:00:00|2|n[7-8]\n"
    "5||2026-05-01T00:00:00|2026-05-01T01:00:00|2|n[9-10]\n",
    "sacct --json": json.dumps(
        {
            "jobs": [
                {"job_id": at, "state": {"current": states}, "nodes": f"n[{2 * at}-{2 * at + 1}]"}
                | {"time": {"start": 3600, "end": 7200}}
                for at, states in enumerate([["COMPLETED"], ["WOBBLE"], ["CANCELLED"], "OUT_OF_MEMORY", []])
            ]
        }
    ),
    "a table": 'job_id,job_state,start_time,end_time,nodes\n1,COMPLETED,10,20,"n[1-2]"\n2,WOBBLE,10,20,"n[3-4]"\n'
    '3,CANCELLED,10,20,"n[5-6]"\n4,OUT_OF_MEMORY,10,20,"n[7-8]"\n5,,10,20,"n[9-10]"\n',
}


@pytest.mark.parametrize("form", PAST)
def test_states_that_are_not_known_are_counted_and_named(form: str, tmp_path: Path, capsys) -> None:
    """As in a queue: jobs in them are taken as not running."""
    path = write(tmp_path, PAST[form])
    history = read_history(path, nodes_total=12)
    assert (history.runs, history.unknown_states) == (3, {"WOBBLE": 1, "NO STATE": 1})
    assert history.mean_b == 0.5
    said = "assumed: 2 jobs are in states that are not known here, taken as not running: WOBBLE, NO STATE"
    asked = ["cluster", "background", "--history", str(path), "--nodes-total", "12"]
    assert main(asked) == 0
    assert capsys.readouterr().out.endswith(f"\n{said}\n")
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unknown_states"] == {"WOBBLE": 1, "NO STATE": 1}
    notes: list[str] = []
    read_stream(path, cores_per_node=None, first=None, speed_up=1.0, notes=notes)
    assert said in notes


def test_a_history_of_states_that_are_not_known_says_so(tmp_path: Path) -> None:
    header, _, strange = PAST["sacct --parsable2"].splitlines()[:3]
    path = write(tmp_path, f"{header}\n{strange}\n")
    with pytest.raises(InputError, match="no job in the file ran") as told:
        read_history(path, nodes_total=12)
    assert told.value.hint == "1 job is in a state that is not known here, taken as not running: WOBBLE"
