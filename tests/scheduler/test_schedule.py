"""Whole schedules: against one packet-level run, with any number of workers, after interruptions."""

import importlib
import json
import re
import tomllib
from concurrent.futures import Future
from importlib import resources
from types import SimpleNamespace

import polars as pl
import pytest
from tests.scheduler.conftest import HALO, SPREAD

import odonata
from odonata import runner
from odonata.errors import InputError, RunError
from odonata.scheduler.cache import FILE, Cache
from odonata.scheduler.plan import load
from odonata.scheduler.scheduling import Schedule, simulate
from odonata.scheduler.window import LEAST, LEAST_BESIDE, Member, Window
from odonata.scheduler.window import simulate as measure
from odonata.workload.book import default_text

MS = 1e-3
#: Submission, nodes, work and program (the names in the book). The first three fill the 16 nodes.
SIX = [
    (0, 6, 4 * MS, 1),
    (0.2 * MS, 4, 3 * MS, 2),
    (1 * MS, 6, 4 * MS, 1),
    (2 * MS, 8, 3 * MS, 2),
    (3 * MS, 3, 2 * MS, 1),
    (3 * MS, 2, 2 * MS, 2),
]
THREE = SIX[:3]


class Inline:
    """Simulates a window at once, and remembers it."""

    def __init__(self):
        self.windows = []

    def submit(self, function, window):
        self.windows.append(window)
        done = Future()
        done.set_result(function(window))
        return done


def scheduled(file, executor=None, cache=None, workers=1):
    plan = load(file)
    return simulate(plan, Cache(None) if cache is None else cache, workers, executor or Inline())


def ends(schedules):
    return [(job.number, job.start_ps, job.end_ps, job.nodes) for each in schedules for job in each.timeline.ended]


def test_windows_agree_with_one_uninterrupted_run(stream, tmp_path):
    """The ends of jobs by rates from windows, and by simulating the same schedule at packet level in one run."""
    apps = {1: tomllib.loads(HALO), 2: tomllib.loads(SPREAD)}
    alone = {}
    for _, nodes, _, program in THREE:
        member = Member(apps[program], tuple(range(nodes)), program=True)
        alone[program, nodes] = measure(Window({"system": "tiny"}, ".", (member,), 1, 0.05, 0, 10**11)).means_ps[0]
    counts = [round(run * 1e12 / alone[program, nodes]) for _, nodes, run, program in THREE]
    exact = [
        (submit, nodes, count * alone[program, nodes] / 1e12, program)
        for (submit, nodes, _, program), count in zip(THREE, counts, strict=True)
    ]
    [schedule] = scheduled(stream(*exact))
    jobs = []
    for job in sorted(schedule.timeline.ended, key=lambda ended: ended.number):
        place = {"name": f"j{job.number}", "place": {"nodes": list(job.nodes)}}
        times = {"iterations": counts[job.number], "start": f"{job.start_ps} ps"}
        jobs.append({**place, **apps[THREE[job.number][3]], **times})
    whole = runner.run({"system": "tiny", "job": jobs})
    times = whole.jobs["time_ps"].to_list()
    for job in schedule.timeline.ended:
        assert job.end_ps - job.start_ps == pytest.approx(times[job.number], rel=0.05)
    slowdowns = [times[n] / (exact[n][2] * 1e12) for n in range(len(THREE))]
    assert max(slowdowns) > 1.15  # they do slow each other down, so that agreement says something


def test_no_window_without_contention(stream):
    executor = Inline()
    [schedule] = scheduled(stream(*SIX, more="window.contention = false"), executor)
    assert not executor.windows
    for ended in schedule.timeline.ended:
        assert ended.end_ps - ended.start_ps == pytest.approx(SIX[ended.number][2] * 1e12, abs=2)


def test_each_window_is_simulated_once_and_jobs_of_one_node_need_none(stream):
    executor = Inline()
    scheduled(stream(*SIX, (0.5 * MS, 1, 1 * MS, 1), place='["random", "contiguous"]'), executor)
    assert len({window.key for window in executor.windows}) == len(executor.windows)
    assert all(len(member.nodes) > 1 for window in executor.windows for member in window.members)


def test_guesses_change_nothing(stream):
    file = stream(*SIX, place='["random", "contiguous"]')
    assert ends(scheduled(file, workers=1)) == ends(scheduled(file, workers=4))


def test_the_same_bytes_with_processes_and_after_a_cut_file(stream, tmp_path):
    file = stream(*SIX, place='["random", "contiguous"]')
    odonata.schedule(file, out=tmp_path / "out", workers=2)
    before = {name: (tmp_path / "out" / name).read_bytes() for name in ("jobs.parquet", "schedule.json")}
    assert [(job.number, job.end_ps) for job in scheduled(file)[1].timeline.ended] == [
        (int(row["job"].partition("-")[0]), round(row["end_s"] * 1e12))
        for row in pl.read_parquet(tmp_path / "out" / "jobs.parquet")
        .filter(pl.col("case") == "contiguous")
        .sort("end_s", "start_s")
        .iter_rows(named=True)
    ]
    windows = (tmp_path / "out" / FILE).read_bytes()
    (tmp_path / "out" / FILE).write_bytes(windows[:-100])  # within the last line
    known = len(Cache(tmp_path / "out"))
    assert known == windows.count(b"\n") - 1
    reports = []
    odonata.schedule(file, out=tmp_path / "out", workers=1, report=lambda progress: reports.append(progress.simulated))
    assert reports[-1] <= 1  # at most the one that was cut: it may have been a guess
    assert before == {name: (tmp_path / "out" / name).read_bytes() for name in before}


DYING = """
import os, signal
from pathlib import Path
from odonata.scheduler.window import safely

def dies(window):
    os.kill(os.getpid(), signal.SIGKILL)

def dies_once(window):
    mark = Path(window.folder) / "died"
    if not mark.exists():
        mark.touch()
        dies(window)
    return safely(window)
"""


@pytest.fixture
def dying(tmp_path, monkeypatch):
    """A module whose functions kill the process that calls them."""
    (tmp_path / "dying_workers.py").write_text(DYING)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("dying_workers")


def test_a_worker_that_dies_is_replaced(stream, dying, monkeypatch):
    file = stream(*THREE[:1])
    expected = ends(scheduled(file))
    monkeypatch.setattr("odonata.scheduler.scheduling.safely", dying.dies_once)
    assert ends(simulate(load(file), Cache(None), 1)) == expected
    assert (file.parent / "died").exists()


def test_workers_that_always_die_end_the_schedule(stream, dying, monkeypatch):
    monkeypatch.setattr("odonata.scheduler.scheduling.safely", dying.dies)
    with pytest.raises(RunError, match="die again and again"):
        simulate(load(stream(*THREE[:1])), Cache(None), 1)


def test_a_window_that_cannot_be_simulated_says_why(stream):
    with pytest.raises(RunError, match=r"ends no iteration [^?]*window\.longest"):
        scheduled(stream(*SIX[:1], more='window.longest = "1 ns"'))


def test_the_outcome_is_that_of_its_jobs(stream, tmp_path):
    scheduled = odonata.schedule(stream(*SIX, place='["random", "contiguous"]'), out=tmp_path / "out", workers=1)
    jobs = pl.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert jobs.equals(scheduled.jobs)
    first = jobs.filter(pl.col("case") == "random")
    case = scheduled.cases[0]
    assert case.makespan_s == first["end_s"].max()
    assert case.utilisation == pytest.approx((first["nodes"] * first["run_s"]).sum() / (16 * case.makespan_s))
    assert case.useful < case.utilisation
    assert case.network_slowdown == pytest.approx((first["run_s"] / first["work_s"]).mean())
    assert case.worst_network_slowdown == (first["run_s"] / first["work_s"]).max()
    other = jobs.filter(pl.col("case") == "contiguous")
    difference = next(entry for entry in scheduled.differences if entry.column == "wait_s")
    assert difference.difference == pytest.approx((other["wait_s"] - first["wait_s"]).mean(), abs=1e-15)
    assert difference.interval is None  # six jobs are too few for twenty batches
    assert json.loads((tmp_path / "out" / "schedule.json").read_text()) == json.loads(json.dumps(scheduled.as_dict()))


def test_the_interval_over_streams_is_students(tmp_path):
    file = tmp_path / "model.toml"
    file.write_text(
        'system = "tiny"\nplace = ["contiguous", "random"]\nbackfill = ["none", "easy"]\nwindow.contention = false\n'
        '[stream.synthetic]\njobs = 60\nload = "300 %"\nseeds = [1, 2, 3, 4]\n'
    )
    scheduled = odonata.schedule(file)
    waits = {(case.case, case.stream): case.wait_s for case in scheduled.cases}
    values = [waits["contiguous, easy", f"seed {n}"] - waits["contiguous, none", f"seed {n}"] for n in range(1, 5)]
    backfilled = next(
        entry for entry in scheduled.differences if (entry.case, entry.column) == ("contiguous, easy", "wait_s")
    )
    mean = sum(values) / 4
    deviation = (sum((value - mean) ** 2 for value in values) / 3) ** 0.5
    assert backfilled.samples == 4
    assert backfilled.difference == pytest.approx(mean)
    assert backfilled.interval == pytest.approx(
        (mean - 3.1824 * deviation / 2, mean + 3.1824 * deviation / 2), rel=1e-4
    )
    assert backfilled.difference < 0  # backfilling helps


def test_what_a_killed_job_has_not_done_is_not_useful(stream):
    """A job of 50 s that requested 20 s, alone on the machine."""
    file = stream((0, 4, 50, 1), limit=0.4, more='window.contention = false\nover_limit = "kill"')
    scheduled = odonata.schedule(file)
    [case] = scheduled.cases
    assert case.killed == 1
    assert case.useful == pytest.approx(case.utilisation) == pytest.approx(4 / 16)
    assert scheduled.jobs["work_s"].to_list() == [20]
    assert case.bounded_slowdown == 1


def test_a_seed_is_given_once(tmp_path):
    file = tmp_path / "model.toml"
    file.write_text(
        'system = "tiny"\nplace = "random"\n[stream.synthetic]\njobs = 6\nload = "50 %"\nseeds = [1, 2, 1]\n'
    )
    with pytest.raises(InputError, match=r"model\.toml:6: the seed 1 is given twice"):
        odonata.schedule(file)


def test_another_folder_is_not_touched(stream, tmp_path):
    file = stream(*SIX[:1], more="window.contention = false")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="not the folder of a schedule"):
        odonata.schedule(file, out=tmp_path / "other")
    odonata.schedule(file, out=tmp_path / "out")
    with pytest.raises(InputError, match="another schedule"):
        odonata.schedule(file, ["place=contiguous"], out=tmp_path / "out")
    with pytest.raises(InputError, match="another schedule"):
        odonata.schedule(file, ["backfill_jobs=20"], out=tmp_path / "out")
    odonata.schedule(file, ["place=contiguous"], out=tmp_path / "out", force=True)


def test_small_changes_can_keep_the_rates(stream):
    every, some = Inline(), Inline()
    file = stream(*SIX, more='window.change = "0 %"')
    exact = {number: end - start for number, start, end, _ in ends(scheduled(file, every))}
    [schedule] = scheduled(stream(*SIX, more='window.change = "40 %"'), some)
    of_every, of_some = (sum(window.first_ps > 0 for window in outcome.windows) for outcome in (every, some))
    assert of_some < of_every
    for number, start, end, _ in ends([schedule]):
        assert end - start == pytest.approx(exact[number], rel=0.15)


def test_kept_rates_are_close_to_those_of_every_window(stream):
    """Catches rates that are kept for longer than `drift` allows, and new jobs whose placement does not count."""
    every, some = Inline(), Inline()
    jobs = [(job * 0.4 * MS, 2 + job % 2, (1 + job % 3) * MS, 1 + job % 2) for job in range(30)]
    [exact] = scheduled(stream(*jobs, more="window.exact = true"), every)
    [schedule] = scheduled(stream(*jobs), some)
    of_every, of_some = (sum(window.first_ps > 0 for window in outcome.windows) for outcome in (every, some))
    assert 2 * of_some < of_every
    assert {window.least for window in every.windows} == {LEAST}
    assert {window.least for window in some.windows if window.first_ps > 0} == {LEAST_BESIDE}
    assert all(drift < 0.1 for _, drift in schedule.drifts)
    took, would = (sum(end - start for _, start, end, _ in ends([each])) for each in (schedule, exact))
    assert took == pytest.approx(would, rel=0.02)
    assert ends(scheduled(stream(*jobs), workers=3)) == ends([schedule])  # guesses have rates that no window gave


@pytest.mark.parametrize(
    ("drifts", "more", "due"),
    [
        ([], "", True),  # nothing is known
        ([(0.25, 0.01)] * 3, "", False),  # jobs on 3 of 16 nodes: expected 0.75 %
        ([(0.25, 0.04)] * 3, "", True),  # expected 3 %
        ([(0.25, 0.01)] * 3, 'window.drift = "0.5 %"', True),
        ([(0.25, 0.01)] * 3, 'window.change = "10 %"', True),
        ([], 'window.change = "20 %"', False),
        ([(0.25, 0.0)] * 3, "window.exact = true", True),
    ],
)
def test_a_window_is_due_when_rates_have_probably_drifted(stream, drifts, more, due):
    file = stream(*SIX, more=more or "window.contention = false")
    given = load(file).table.window
    [schedule] = scheduled(stream(*SIX, more="window.contention = false"))
    running = Schedule("case", schedule.stream, schedule.timeline, seen={0: 6, 1: 4, 2: 6}, drifts=drifts)
    running.timeline = SimpleNamespace(network=(0, 1, 2, 4))
    assert running.changed() == 3
    assert running.needs_window(given, 16) is due
    running.timeline = SimpleNamespace(network=(0, 1, 2))
    assert not running.needs_window(given, 16)  # nothing has changed


def test_a_new_job_has_what_the_others_left_to_its_application(stream):
    """Catches a job that is slow on its nodes and gets the rate of jobs on better ones."""
    [schedule] = scheduled(stream(*SIX, more="window.contention = false"))
    running = Schedule("case", schedule.stream, schedule.timeline, {0: 450_000, 2: 800_000}, {0: 6, 2: 6})
    running.own = {0: 900_000, 2: 1_000_000, 4: 500_000}
    running.timeline = SimpleNamespace(network=(0, 2, 4))
    assert running.carried() == {0: 450_000, 2: 800_000, 4: 325_000}


def test_a_new_job_has_the_mean_rate_of_its_application(stream):
    [schedule] = scheduled(stream(*SIX, more="window.contention = false"))
    running = Schedule(
        "case", schedule.stream, schedule.timeline, {0: 600_000, 2: 800_000, 1: 300_000}, {0: 6, 1: 4, 2: 6}
    )
    running.timeline = SimpleNamespace(network=(0, 1, 2, 4))  # jobs 0, 2 and 4 run the same program
    assert running.changed() == 3
    assert running.carried() == {0: 600_000, 1: 300_000, 2: 800_000, 4: 700_000}


def test_a_new_pattern_has_the_rate_1(stream):
    """Catches the mean rate of the programs for a job that no congestion makes slower."""
    [schedule] = scheduled(stream(*SIX, more="window.contention = false"))
    programs, pattern = (0, 2), schedule.stream.jobs[1].app  # jobs 0, 2 and 4 run the same program, 1 and 3 the other
    running = Schedule("case", schedule.stream, schedule.timeline, dict.fromkeys(programs, 500_000))
    running.seen, running.patterns = {0: 6, 2: 6}, frozenset({pattern})
    running.timeline = SimpleNamespace(network=(0, 1, 2, 4))
    assert running.carried() == {0: 500_000, 1: 1_000_000, 2: 500_000, 4: 500_000}
    assert running.patterns == frozenset({pattern})


LOUD = """[[rule]]
name = "loud"
job_name = "1"
app = { pattern = "uniform-random", message = "64 KiB", interval = "20 us"%s }

[[rule]]
name = "spread"
app = { collective = "alltoall", message = "16 KiB" }
gap = "20 us"
"""


def test_a_pattern_sends_for_as_long_as_its_job_runs(stream, tmp_path):
    """Catches a pattern that is silent after the number of messages that its rule names, and one that is refused."""
    times = []
    for messages in ("", ", messages = 2"):
        file = stream((0, 8, 4 * MS, 1), (0, 8, 4 * MS, 2))
        (tmp_path / "book.toml").write_text(LOUD % messages)
        schedules = scheduled(file)
        assert schedules[0].patterns == frozenset({0})
        times.append({number: end - start for number, start, end, _ in ends(schedules)})
    assert times[0] == times[1]
    assert times[0][0] == 4 * 10**9
    assert times[0][1] > 1.1 * 4 * 10**9


def test_the_documented_book_can_be_used(stream, tmp_path):
    file = stream((0, 8, 4 * MS, 1), (0, 8, 4 * MS, 2))
    (tmp_path / "book.toml").write_text(default_text())
    assert len(ends(scheduled(file))) == 2


def test_a_file_with_line_ends_of_windows_is_continued(stream, tmp_path):
    file = stream(*SIX, more="window.contention = false")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    first = odonata.schedule(file, out=tmp_path / "out")
    assert odonata.schedule(file, out=tmp_path / "out").cases == first.cases
    (tmp_path / "out" / "schedule.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is the folder of another schedule"):
        odonata.schedule(file, out=tmp_path / "out")


def test_windows_are_kept_also_for_another_current_directory(tmp_path, monkeypatch):
    file = tmp_path / "day.toml"
    file.write_text('system = "tiny"\nplace = "contiguous"\n[stream.synthetic]\njobs = 3\nload = "90 %"\nlargest = 6\n')
    simulated = []
    first = odonata.schedule(file, out=tmp_path / "out", workers=1, report=lambda now: simulated.append(now.simulated))
    assert simulated[-1] > 0
    monkeypatch.chdir(tmp_path)
    simulated.clear()
    again = odonata.schedule("day.toml", out="out", workers=1, report=lambda now: simulated.append(now.simulated))
    assert set(simulated) <= {0}
    assert again.cases == first.cases


def test_windows_are_kept_by_the_content_of_the_machine(stream, tmp_path):
    """Catches windows that are kept under the name of a file: another machine of the same name used them."""
    tiny = (resources.files("odonata.machine") / "presets" / "tiny.toml").read_text()
    (tmp_path / "ours.toml").write_text(tiny)
    file = stream(*SIX[:2])
    file.write_text(file.read_text().replace('"tiny"', '"ours.toml"'))

    def simulated():
        counts = []
        odonata.schedule(file, out=tmp_path / "out", workers=1, report=lambda now: counts.append(now.simulated))
        return counts[-1]

    assert simulated() > 0
    assert simulated() == 0
    (tmp_path / "ours.toml").write_text(tiny.replace('"4.37 GiB/s"', '"0.2 GiB/s"'))
    assert simulated() > 0
    assert simulated() == 0


def test_a_changed_digit_of_a_kept_window_is_noticed(stream, tmp_path):
    file = stream(*SIX[:2])
    odonata.schedule(file, out=tmp_path / "out", workers=1)
    kept = tmp_path / "out" / FILE
    lines = kept.read_text().splitlines(keepends=True)
    many = len(Cache(tmp_path / "out"))
    row = json.loads(lines[0])
    row["length_ps"] += 1
    kept.write_text("".join([json.dumps(row) + "\n", *lines[1:]]))
    assert len(Cache(tmp_path / "out")) == many - 1


FEW = """system = "zhang2018-272"
place = "contiguous"
window.contention = false
[stream.synthetic]
jobs = %d
load = "90 %%"
largest = 64
"""


def test_a_machine_that_stays_empty_is_said(tmp_path):
    """Catches a load of 90 % that fills a part of the machine without a word; the number in the message fills it."""
    (tmp_path / "s.toml").write_text(FEW % 20)
    said = []
    scheduled = odonata.schedule(tmp_path / "s.toml", report=lambda now: said.append(now.warnings))
    [warning] = scheduled.warnings
    assert said[0]  # before anything is simulated
    assert (
        f"the utilisation is {100 * scheduled.cases[0].utilisation:.1f} % at most, far from the load of 90 %" in warning
    )
    assert warning in str(scheduled)
    needed = int(re.search(r"About ([\d,]+) jobs are needed for 81 %", warning)[1].replace(",", ""))
    (tmp_path / "s.toml").write_text(FEW % needed)
    enough = odonata.schedule(tmp_path / "s.toml")
    assert enough.warnings == ()
    assert enough.cases[0].utilisation > 0.7
