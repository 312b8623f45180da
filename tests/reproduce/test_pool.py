"""Running cases: results are kept, and nothing finished is lost."""

import dataclasses
import json
import threading
from pathlib import Path

import pytest

from odonata.errors import RunError
from odonata.reproduce import pool
from odonata.reproduce.case import Background, Case
from odonata.reproduce.pool import run_cases

CASE = Case(
    model="correct",
    pattern="uniform-random",
    place="contiguous",
    interval="1 us",
    background=Background(),
    messages=3,
    seed=1,
    settings=(("routing", '"minimal"'),),
    label="",
    app='{"pattern": "uniform-random", "message": "4 KB"}',
    nodes='{"policy": "contiguous"}',
    system="tiny",
    ranks=8,
)
CASES = [dataclasses.replace(CASE, messages=number) for number in (3, 4, 5, 6)]


def test_outcomes_come_in_the_order_of_the_cases(tmp_path):
    found = run_cases(CASES, tmp_path)
    assert list(found) == CASES
    assert [outcome.delivered for outcome in found.values()] == [8 * case.messages for case in CASES]
    assert all(outcome.mean_ps > 0 and outcome.minimal == 1 for outcome in found.values())


def test_what_was_done_is_not_simulated_again(tmp_path, monkeypatch):
    first = run_cases(CASES, tmp_path)

    def fail(*_):
        raise AssertionError("simulated again")

    monkeypatch.setattr(pool, "simulate", fail)
    seen = []
    again = run_cases(CASES, tmp_path, done=lambda case, number, of, kept: seen.append((number, of, kept)))
    assert again == first
    assert seen == [(1, 4, True), (2, 4, True), (3, 4, True), (4, 4, True)]


def test_two_cases_that_are_the_same_run_do_not_disturb_each_other(tmp_path, monkeypatch):
    """The second one writes and is done while the first one writes."""
    twin = dataclasses.replace(CASE, label="twin")
    write, others = Path.write_text, []

    def slowly(path, *given, **named):
        written = write(path, *given, **named)
        if not others:
            others.append(threading.Thread(target=run_cases, args=([twin], tmp_path)))
            others[0].start()
            others[0].join()
        return written

    monkeypatch.setattr(Path, "write_text", slowly)
    first = run_cases([CASE], tmp_path)
    assert len(others) == 1
    assert [file.suffix for file in tmp_path.iterdir()] == [".json"]
    assert run_cases([twin], tmp_path)[twin] == first[CASE]


def test_a_kept_result_of_another_format_or_damaged_is_made_anew(tmp_path):
    first = run_cases([CASE], tmp_path)
    (file,) = tmp_path.iterdir()
    kept = json.loads(file.read_text())
    for text in ("{", json.dumps(kept | {"format": 0}), json.dumps(kept | {"outcome": {}})):
        file.write_text(text)
        assert run_cases([CASE], tmp_path) == first


def test_a_failing_case_is_named_and_finished_ones_are_kept(tmp_path):
    wrong = dataclasses.replace(CASE, settings=(("run.horizon", '"1 ns"'), ("run.until", '"1 ns"')))
    with pytest.raises(RunError, match=r"uniform-random/contiguous/1us \(correct, 3 messages\).*no message"):
        run_cases([CASE, wrong], tmp_path, workers=1)
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_an_interruption_ends_runs_that_are_under_way(tmp_path, monkeypatch):
    """Ctrl-C reaches the main thread only; the simulations hear of it through their progress."""
    started = threading.Event()

    def endless(_, progress):
        started.set()
        while True:
            progress({})

    def interrupt(_):
        started.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "simulate", endless)
    monkeypatch.setattr(pool, "as_completed", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_cases(CASES, tmp_path)
    assert list(tmp_path.iterdir()) == []
