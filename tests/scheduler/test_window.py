"""Packet-level windows: the estimate of an iteration's time, and how long a window is."""

from dataclasses import replace

import pytest

from odonata import runner
from odonata.scheduler.window import BATCHES, LEAST, STUDENT, Member, Window, half_width, safely
from odonata.scheduler.window import simulate as measure

HALO = {"app": {"motif": "halo3d", "message": "32 KiB"}, "gap": "20 us"}
LOUD = {"app": {"pattern": "uniform-random", "message": "16 KiB", "interval": "4 us"}}
MACHINE = {"system": "tiny"}


def window(*members: Member, first_ps: int = 10**9, error: float = 0.05, longest_ps: int = 10**11) -> Window:
    return Window(MACHINE, ".", members, 1, error, first_ps, longest_ps)


def test_the_interval_is_students_over_batches():
    # Batches of two iterations with means 1, 2, 3, 4 and 5: mean 3, standard deviation 1.5811.
    ends, now = [0], 0
    for mean in range(1, 6):
        for _ in range(2):
            now += mean
            ends.append(now)
    assert half_width(ends) == pytest.approx(STUDENT * 1.5811388 / BATCHES**0.5 / 3)


def test_equal_iterations_have_no_error_and_few_have_no_interval():
    assert half_width(list(range(0, 10 * (LEAST + 1), 10))) == 0
    assert half_width(list(range(LEAST))) is None


def test_a_job_alone_takes_its_iteration_time():
    # The time of many iterations, divided by their number, from a run of its own.
    rates = measure(window(Member(HALO, tuple(range(8)), program=True), first_ps=0))
    job = {"name": "job", "place": {"nodes": "0-7"}, **HALO, "iterations": 40}
    rows = runner.run({**MACHINE, "job": [job]}).iterations
    ends = rows["last_end_ps"].to_list()
    assert rates.means_ps[0] == pytest.approx(
        (ends[-1] - ends[4]) / (len(ends) - 5), rel=0.05
    )  # the error that is allowed
    assert rates.errors[0] <= 0.05


def test_a_window_is_doubled_until_each_job_is_known():
    member = Member(HALO, tuple(range(8)), program=True)
    short, long = measure(window(member, first_ps=10**8)), measure(window(member, first_ps=4 * 10**9))
    assert short.length_ps > 10**8
    doublings = short.length_ps // 10**8
    assert doublings & (doublings - 1) == 0
    assert short.means_ps[0] == pytest.approx(long.means_ps[0], rel=0.05)
    limited = measure(window(member, first_ps=10**8, error=0.0, longest_ps=8 * 10**8))
    assert limited.length_ps == 8 * 10**8


def test_a_pattern_has_no_time_and_makes_others_slower():
    halo, loud = Member(HALO, tuple(range(0, 16, 2)), program=True), Member(LOUD, tuple(range(1, 16, 2)), program=False)
    alone, beside = measure(window(halo)), measure(window(halo, loud))
    assert beside.means_ps[1] is None
    assert beside.errors[1] is None
    assert beside.means_ps[0] > 1.1 * alone.means_ps[0]


def test_a_job_without_an_iteration_is_an_error():
    rates, problem = safely(window(Member(HALO, tuple(range(8)), program=True), first_ps=1000, longest_ps=2000))
    assert rates is None
    assert "ends no iteration" in problem
    assert "window.longest" in problem


def test_the_key_knows_everything_that_decides():
    plain = window(Member(HALO, (0, 1), program=True))
    others = [
        replace(plain, machine={**MACHINE, "routing": "minimal"}),
        replace(plain, members=(Member(HALO, (0, 2), program=True),)),
        replace(plain, members=(Member(LOUD, (0, 1), program=False),)),
        replace(plain, seed=2),
        replace(plain, error=0.1),
        replace(plain, first_ps=2 * 10**9),
        replace(plain, longest_ps=10**12),
        replace(plain, least=5),
        replace(plain, content="another machine in a file of the same name"),
        replace(plain, members=(Member(HALO, (0, 1), program=True, content="another mapping"),)),
    ]
    assert len({plain.key, *(other.key for other in others)}) == 1 + len(others)
    assert window(Member(HALO, (0, 1), program=True)).key == plain.key
