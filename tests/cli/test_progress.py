"""Without a terminal there is a line now and then, also while nothing is reported."""

from __future__ import annotations

import threading

import pytest

from odonata.cli import progress
from odonata.cli.sweep_progress import described
from odonata.errors import InputError, RunError
from odonata.expectation import Expectation, JobCount
from odonata.study.axis import Axis


def test_it_ticks_until_it_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.01)
    told, enough = [], threading.Event()

    def tell() -> None:
        told.append(1)
        if len(told) == 3:
            enough.set()

    with progress.ticking(tell):
        assert enough.wait(10)
    after = len(told)
    threading.Event().wait(0.05)
    assert len(told) == after


def test_a_line_is_due_every_30_seconds() -> None:
    assert progress.LINE_EVERY_S == 30


def test_axes_with_many_keys_are_described_in_short() -> None:
    short, many = Axis(("run.seed",), ((1,), (2,))), Axis(("a", "b", "c", "d"), ((1, 2, 3, 4),))
    assert described([short, many]) == "2 run.seed x 1 a with 3 other keys"
    assert described([Axis(("a", "b", "c"), ((1, 2, 3),))]) == "1 a with b with c"


def test_the_time_left_follows_from_what_is_done() -> None:
    assert progress.left(0.0, 100.0) == "no estimate yet"
    assert progress.left(0.25, 100.0) == "about 5 min left"
    assert progress.left(1.0, 100.0) == "about 0 s left"


def test_only_an_interruption_promises_that_the_command_continues() -> None:
    assert progress.again(KeyboardInterrupt(), "; it continues") == "; it continues"
    assert progress.again(RunError("no iteration ends"), "; it continues") == ""
    assert progress.again(InputError("the file has changed"), "; it continues") == ""


def test_a_run_soon_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a run that says nothing for 30 s, and never how long it takes."""
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    state = {"stage": "", "now_ps": 10**6, "packet_hops": 5, "delivered": 0, "expected": 4}
    line = progress.ProgressLine(quiet=False)
    with line:
        line.report(state)
        assert capsys.readouterr().err == ""
        clock[0] += 4
        line.report({**state, "delivered": 1})
        assert capsys.readouterr().err.endswith("; about 12 s left\n")
        clock[0] += 20
        line.report({**state, "delivered": 2})
        assert capsys.readouterr().err == ""


def test_a_long_run_says_what_it_has_to_simulate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches "0 % done, no estimate yet" of a program of one iteration, which delivers nothing until its end."""
    clock, asked = [100.0], []
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    job = JobCount("a", ends=True, messages=10, packets=1000, hops=4.0, program=True)

    def expects() -> Expectation:
        asked.append(clock[0])
        return Expectation((job,), None, 0)

    state = {"stage": "", "now_ps": 10**6, "packet_hops": 0, "delivered": 0, "expected": 16}
    with progress.ProgressLine(quiet=False, expects=expects) as line:
        line.report(state)
        assert not asked
        clock[0] += 4
        line.report({**state, "packet_hops": 4})
        assert capsys.readouterr().err.splitlines() == [
            "expected: 10 messages between nodes in 1,000 packets, about 4 k packet-hops",
            "simulating: 0 % done, 1 us simulated, 0.0 M packet-hops/s; about 67 min left",
            "hint: it takes about 67 min; what makes it shorter: larger packets (`system.fabric.packet`); smaller jobs "
            "on a smaller machine",
        ]
        clock[0] += 31
        line.report({**state, "packet_hops": 2000})
        assert (
            capsys.readouterr().err == "simulating: 50 % done, 1 us simulated, 0.0 M packet-hops/s; about 35 s left\n"
        )
        line.report({**state, "stage": "a alone"})
        clock[0] += 31
        line.report({**state, "stage": "a alone", "packet_hops": 2000})
        assert capsys.readouterr().err.startswith("a alone: 50 % done, ")
    assert asked == [104.0]


def test_a_short_or_quiet_run_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    state = {"stage": "", "now_ps": 10**6, "packet_hops": 5, "delivered": 0, "expected": 4}
    for quiet, seconds in ((False, 2.9), (True, 60.0)):
        with progress.ProgressLine(quiet=quiet, expects=pytest.fail) as line:
            line.report(state)
            clock[0] += seconds
            line.report(state)


def test_a_long_set_up_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told = threading.Event()
    monkeypatch.setattr(progress, "FIRST_LINE_S", 0.01)
    monkeypatch.setattr(progress.ProgressLine, "say", lambda self, text: (print(text), told.set()))
    with progress.ProgressLine(quiet=False):
        assert told.wait(10)
    assert capsys.readouterr().out == "setting up: machine, programs (0 s)\n"


def test_after_the_first_report_there_is_no_set_up(capsys: pytest.CaptureFixture[str]) -> None:
    line = progress.ProgressLine(quiet=False)
    with line:
        line.report({"stage": "", "now_ps": 0, "packet_hops": 0, "delivered": 0, "expected": 0})
        line._tick()
    assert capsys.readouterr().err == ""
