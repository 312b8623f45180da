"""A run under way: progress, threads, exceptions and Ctrl-C."""

import json
import signal
import subprocess
import sys
import threading
import time

import pytest

from odonata import _core


@pytest.fixture
def endless(spec):
    """A run that would take days and keeps nothing: only an exception ends it."""
    for job in spec["jobs"]:
        job["traffic"]["intervals"] = None
        job["record"] = "nothing"
    spec["stop"] = {"jobs": [], "at_ps": 2**60}
    spec["measure"]["arrivals_every_ps"] = None
    return json.dumps(spec)


class EnoughError(Exception):
    """Raised by a callback that has seen enough."""


def stop_after(count, reports):
    """A callback that keeps its arguments and raises on the last call."""

    def look(report):
        reports.append(report)
        if len(reports) == count:
            raise EnoughError

    return look


def test_progress_is_told_and_grows(endless):
    reports = []
    start = time.monotonic()
    with pytest.raises(EnoughError):
        _core.run(endless, stop_after(3, reports))
    assert 0.5 < time.monotonic() - start < 60
    assert set(reports[0]) == {"now_ps", "events", "packet_hops", "delivered", "expected"}
    for key in ("now_ps", "events", "packet_hops"):
        values = [report[key] for report in reports]
        assert values == sorted(set(values)), key
    assert reports[-1]["expected"] == 0


def test_progress_says_how_many_messages_the_run_waits_for(spec):
    for job in spec["jobs"]:
        job["traffic"]["intervals"] = 10**9
        job["record"] = "nothing"
    spec["stop"]["jobs"] = [0]
    spec["measure"]["arrivals_every_ps"] = None
    reports = []
    with pytest.raises(EnoughError):
        _core.run(json.dumps(spec), stop_after(1, reports))
    assert reports[0]["expected"] == 5 * 10**9
    assert 0 < reports[0]["delivered"] < 5 * 10**9


def test_other_threads_go_on_meanwhile(endless):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(EnoughError):
        _core.run(endless, stop_after(3, []))
    done.set()
    thread.join()
    # With the interpreter lock held there would be one tick per report.
    assert len(ticks) > 15


def test_what_is_not_callable_is_a_type_error(spec):
    with pytest.raises(TypeError, match="not callable"):
        _core.run(json.dumps(spec), 3)


SCRIPT = """
import sys, time
from odonata import _core
try:
    _core.run(sys.argv[1], lambda report: print("running", flush=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("run", range(2))
def test_ctrl_c_ends_a_run_soon(endless, run):
    child = subprocess.Popen([sys.executable, "-c", SCRIPT, endless], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "running\n"
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
        assert child.wait(timeout=60) == 0  # within a second on a machine with nothing else to do
        assert rest.splitlines()[-1] == "interrupted"
    finally:
        child.kill()
        child.stdout.close()
        child.wait()
