"""Streams of jobs: from the files of clusters, and from the model of Lublin and Feitelson."""

import statistics

import pytest

from odonata.errors import InputError
from odonata.queue.accounting import read_runs
from odonata.scheduler.submission import read_stream
from odonata.scheduler.synthetic import stream

SACCT = (
    "JobID|JobName|User|Account|Partition|Submit|Start|End|Timelimit|NodeList\n"
    "7|vasp|ann|chem|main|2026-05-01T10:00:00|2026-05-01T11:00:00|2026-05-01T11:30:00|{limit}|n[1-4]\n"
    "7.batch|batch|||main|2026-05-01T11:00:00|2026-05-01T11:00:00|2026-05-01T11:30:00||n1\n"
    "6|job|ben|cfd|main|2026-05-01T09:50:00|2026-05-01T11:10:00|2026-05-01T11:20:00|UNLIMITED|n5\n"
    "8|waits|ben|cfd|main|2026-05-01T11:00:00|Unknown|Unknown|01:00:00|None assigned\n"
)
SWF = "; MaxNodes: 4\n; MaxProcs: 16\n1 100 50 60 8 -1 -1 8 120 -1 1 3 4 9 -1 2 -1 -1\n"
PM100 = (
    "job_id,submit_time,start_time,end_time,time_limit,nodes,user_id,partition\n"
    "5,2020-05-01 10:00:00,2020-05-01 10:01:00,2020-05-01 10:11:00,30,\"['r1', 'r2']\",17,1\n"
)
JSON = (
    '{"jobs": [{"job_id": 3, "name": "fft", "user_name": "ann", "account": "chem", "partition": "main",'
    ' "submit_time": 1000, "start_time": 1060, "end_time": 1120, "time_limit": {"set": true, "number": 90},'
    ' "job_state": ["COMPLETED"], "nodes": "n[1-2]"}]}'
)


def read(tmp_path, text, **options):
    file = tmp_path / "jobs"
    file.write_text(text)
    notes: list[str] = []
    given = {"cores_per_node": None, "first": None, "speed_up": 1.0, **options}
    return read_stream(file, notes=notes, **given), notes


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [("01:00:00", 3600), ("1-12:00:00", 129600), ("2-00", 172800), ("90", 5400), ("90:30", 5430), ("UNLIMITED", None)],
)
def test_sacct(tmp_path, limit, seconds):
    jobs, notes = read(tmp_path, SACCT.format(limit=limit))
    first, second = jobs  # in the order of submission
    assert (first.id, first.submit_s, first.nodes, first.work_s, first.limit_s) == ("6", 0, 1, 600, None)
    assert (second.id, second.submit_s, second.nodes, second.work_s, second.limit_s) == ("7", 600, 4, 1800, seconds)
    assert (second.name, second.user, second.account, second.partition) == ("vasp", "ann", "chem", "main")
    assert any("requested the time that they ran" in note for note in notes)


def test_a_limit_that_is_none_is_an_error_with_its_line(tmp_path):
    with pytest.raises(InputError, match=r"jobs:2: job 7: expected a time limit such as 1-12:00:00, found `soon`"):
        read(tmp_path, SACCT.format(limit="soon"))


def test_swf(tmp_path):
    [job], notes = read(tmp_path, SWF)
    assert (job.id, job.nodes, job.work_s, job.limit_s) == ("1", 2, 60, 120)
    assert (job.name, job.user, job.partition) == ("9", "3", "2")
    assert notes == []
    [run] = read_runs(tmp_path / "jobs").runs
    assert (run.submit, run.start) == (100, 150)


def test_an_interrupted_job_of_swf_is_one_job(tmp_path):
    """Its parts are lines beside the one that sums it up, or alone; its work is the time in which it ran."""
    parts = SWF[:-1].replace("50 60", "50 20").replace("-1 1 3 4", "-1 2 3 4") + "\n"
    parts += "1 -1 300 40 8 -1 -1 8 120 -1 3 3 4 9 -1 2 -1 -1\n"
    for text in (SWF + parts.partition("MaxProcs: 16\n")[2], parts):
        [job], _ = read(tmp_path, text)
        assert (job.id, job.nodes, job.submit_s, job.work_s, job.limit_s) == ("1", 2, 0, 60, 120)
    [run] = read_runs(tmp_path / "jobs").runs
    assert (run.start, run.end, run.spans) == (150, 510, ((150, 170), (470, 510)))


def test_pm100(tmp_path):
    [job], _ = read(tmp_path, PM100)
    assert (job.id, job.nodes, job.work_s, job.limit_s, job.user, job.partition) == ("5", 2, 600, 1800, "17", "1")


def test_json_of_sacct(tmp_path):
    [job], _ = read(tmp_path, JSON)
    assert (job.id, job.nodes, job.work_s, job.limit_s) == ("3", 2, 60, 5400)
    assert (job.name, job.user, job.account, job.partition) == ("fft", "ann", "chem", "main")


def test_first_and_speed_up(tmp_path):
    jobs, _ = read(tmp_path, SACCT.format(limit="90"), speed_up=2.0)
    assert [job.submit_s for job in jobs] == [0, 300]
    assert len(read(tmp_path, SACCT.format(limit="90"), first=1)[0]) == 1


def test_a_file_without_an_ended_job(tmp_path):
    with pytest.raises(InputError, match="no job of the file has ended"):
        read(tmp_path, SACCT.splitlines()[0] + "\n" + SACCT.splitlines()[-1] + "\n")


def drawn(**changes):
    given = {"jobs": 3000, "load": 0.8, "nodes": 128, "largest": 128, "names": {"a": 1.0, "b": 3.0}, "over": 2.0}
    return stream(**{**given, "seed": 1, **changes})


def test_the_model_has_its_shares():
    jobs = drawn()
    parallel = [job.nodes for job in jobs if job.nodes > 1]
    assert 1 - len(parallel) / len(jobs) == pytest.approx(0.244, abs=0.03)
    # Powers of two are drawn, and hit by chance as well.
    assert sum(size & (size - 1) == 0 for size in parallel) / len(parallel) > 0.576
    assert max(parallel) == 128
    # 86 % of the logarithms are uniform below 4.5, the others above.
    assert sum(size > 2**4.5 for size in parallel) / len(parallel) == pytest.approx(0.14, abs=0.03)
    assert sum(job.name == "a" for job in jobs) / len(jobs) == pytest.approx(0.25, abs=0.03)
    assert all(job.limit_s == 2 * job.work_s for job in jobs)


def test_run_times_are_those_of_two_gammas():
    # The logarithms have the means 4.2 x 0.94 and 312 x 0.03; their mixture depends on the nodes.
    serial = [job.work_s for job in drawn(jobs=6000) if job.nodes == 1]
    share = 0.78 - 0.0054
    expected = share * 4.2 * 0.94 + (1 - share) * 312 * 0.03
    logs = [__import__("math").log(time) for time in serial if time > 1]
    assert statistics.mean(logs) == pytest.approx(expected, rel=0.04)
    assert max(job.work_s for job in drawn()) <= 162_755  # exp(12)


def test_the_load_is_met_and_changes_only_the_arrivals():
    for load in (0.4, 0.8):
        jobs = drawn(load=load)
        work = sum(job.nodes * job.work_s for job in jobs)
        assert work / (128 * jobs[-1].submit_s) == pytest.approx(load, rel=0.08)
    assert [(job.nodes, job.work_s) for job in drawn(load=0.4)] == [(job.nodes, job.work_s) for job in drawn()]


def test_a_seed_is_a_stream():
    assert drawn(jobs=50) == drawn(jobs=50)
    assert drawn(jobs=50, seed=2) != drawn(jobs=50)
    first = drawn(jobs=3)
    assert [(job.nodes, job.work_s, job.name) for job in first] == [
        (16, 143.122, "b"),
        (4, 604.022, "b"),
        (2, 2827.15, "a"),
    ]
