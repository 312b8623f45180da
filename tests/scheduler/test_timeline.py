"""The schedule of a stream, without the simulator: by hand, and its invariants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.machine import load
from odonata.scheduler.backfill import BACKFILL
from odonata.scheduler.submission import Submission
from odonata.scheduler.timeline import ONE, Case, Timeline

S = 10**12
TINY = load("tiny")  # 16 nodes


def jobs(*given: tuple[float, int, float, float]) -> list[Submission]:
    """Jobs as (submission, nodes, work, limit) in seconds."""
    return [
        Submission(f"j{number}", round(submit * S), nodes, round(work * S), round(limit * S), 0)
        for number, (submit, nodes, work, limit) in enumerate(given)
    ]


def played(
    submitted, rates=lambda running: {}, *, backfill="easy", kill=False, policy="contiguous", most=None
) -> Timeline:
    """The finished schedule; `rates` gives the rate of each job from the set of running jobs."""
    timeline = Timeline(Case(TINY, backfill, policy, {}, kill, 1, backfill_jobs=most), submitted)
    timeline.step({})
    while not timeline.done:
        timeline.step(rates(set(timeline.running)))
    return timeline


def times(timeline: Timeline) -> dict[int, tuple[float, float]]:
    return {job.number: (job.start_ps / S, job.end_ps / S) for job in timeline.ended}


def test_jobs_that_fit_start_at_once_and_take_their_work():
    assert times(played(jobs((0, 8, 10, 10), (3, 8, 5, 5)))) == {0: (0, 10), 1: (3, 8)}


def test_a_job_that_does_not_fit_waits_and_a_small_one_is_backfilled():
    stream = jobs((0, 12, 10, 10), (1, 8, 5, 5), (2, 4, 8, 8), (2, 4, 9, 9))
    assert times(played(stream)) == {0: (0, 10), 1: (10, 15), 2: (2, 10), 3: (10, 19)}
    assert times(played(stream, backfill="none")) == {0: (0, 10), 1: (10, 15), 2: (10, 18), 3: (10, 19)}


def test_backfilling_looks_at_as_many_jobs_as_the_case_says():
    stream = jobs((0, 12, 10, 10), (1, 8, 5, 5), (2, 8, 5, 5), (2, 4, 8, 8))
    for backfill in ("easy", "conservative"):
        starts = {most: times(played(stream, backfill=backfill, most=most))[3][0] for most in (1, 2, 3, None)}
        assert starts == {1: 15, 2: 15, 3: 2, None: 2}


def test_an_early_end_starts_the_next_job_before_its_reservation():
    assert times(played(jobs((0, 16, 4, 10), (1, 16, 5, 5)))) == {0: (0, 4), 1: (4, 9)}


def test_contention_makes_jobs_longer_while_both_run():
    # Both at half rate from 0 on. The second ends at 8; the first has 6 of 10 s left then.
    halved = played(jobs((0, 8, 10, 99), (0, 8, 4, 99)), lambda running: dict.fromkeys(running, ONE // len(running)))
    assert times(halved) == {1: (0, 8), 0: (0, 14)}


def test_work_is_exact_over_many_changes_of_the_rate():
    # Thirds are not whole millionths: the job ends when its work is done, never before.
    short = [(float(at), 1, 0.5, 1.0) for at in range(1, 8)]
    ended = played(jobs((0, 8, 10, 99), *short), lambda running: dict.fromkeys(running, ONE // 3))
    assert times(ended)[0][1] == pytest.approx(10 * ONE / (ONE // 3), abs=1e-11)


def test_a_job_over_its_limit_is_killed_or_goes_on():
    slow = lambda running: dict.fromkeys(running, ONE // 2)  # noqa: E731
    stream = jobs((0, 16, 10, 12), (1, 16, 1, 2))
    killed = played(stream, slow, kill=True)
    assert times(killed) == {0: (0, 12), 1: (12, 14)}
    assert [(job.killed, job.left_ps) for job in killed.ended] == [(True, 4 * 10**12), (False, 0)]
    assert times(played(stream, slow)) == {0: (0, 20), 1: (20, 22)}


def test_a_job_that_ends_at_its_limit_is_not_killed():
    assert [job.killed for job in played(jobs((0, 4, 3, 3)), kill=True).ended] == [False]


def test_policies_with_random_numbers_give_each_job_other_nodes_and_always_the_same():
    stream = jobs((0, 4, 1, 1), (2, 4, 1, 1))
    first, second = (job.nodes for job in played(stream, policy="random").ended)
    assert first != second
    assert [job.nodes for job in played(stream, policy="random").ended] == [first, second]


def test_a_copy_goes_on_by_itself():
    timeline = Timeline(Case(TINY, "easy", "contiguous", {}, False, 1), jobs((0, 8, 10, 10), (3, 8, 5, 5)))
    timeline.step({})
    other = timeline.copy()
    while not other.done:
        other.step({})
    assert len(timeline.running) == 1
    assert not timeline.ended
    assert len(other.ended) == 2


STREAMS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 16), st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=12
).map(lambda rows: jobs(*sorted((submit, nodes, work, work + over) for submit, nodes, work, over in rows)))


@given(STREAMS, st.integers(1, ONE), st.booleans())
@pytest.mark.parametrize("backfill", BACKFILL)
def test_nodes_are_given_once_and_every_job_ends(backfill, stream, rate, kill):
    ended = played(stream, lambda running: dict.fromkeys(running, rate), backfill=backfill, kill=kill).ended
    assert sorted(job.number for job in ended) == list(range(len(stream)))
    for ended_job in ended:
        job = stream[ended_job.number]
        assert ended_job.start_ps >= job.submit_ps
        assert len(set(ended_job.nodes)) == job.nodes
        whole = -(-job.work_ps * ONE // rate)
        assert ended_job.end_ps - ended_job.start_ps == (min(whole, job.limit_ps) if kill else whole)
        assert ended_job.killed == (kill and whole > job.limit_ps)
        for other in ended:
            if ended_job.number < other.number and set(ended_job.nodes) & set(other.nodes):
                assert ended_job.end_ps <= other.start_ps or other.end_ps <= ended_job.start_ps


@given(STREAMS, st.lists(st.sampled_from([ONE, ONE // 2, ONE // 3]), min_size=1, max_size=5), st.booleans())
def test_what_a_schedule_remembers_is_what_its_running_jobs_say(stream, rates, kill):
    """Free nodes and ends are kept from event to event; here they are counted anew, also with changing rates."""
    timeline = Timeline(Case(TINY, "easy", "contiguous", {}, kill, 1), stream)
    timeline.step({})
    step = 0
    while not timeline.done:
        stays = timeline.running.values()
        assert timeline._free == 16 - sum(len(stay.nodes) for stay in stays)
        assert timeline._expected == sorted((timeline._limit_end(stay), len(stay.nodes)) for stay in stays)
        assert sorted(timeline._ends) == sorted((timeline._end(stay), stay.number) for stay in stays)
        step += 1
        timeline.step({number: rates[(step + number) % len(rates)] for number in timeline.running} if step % 3 else {})


@given(STREAMS, st.integers(ONE // 4, ONE), st.booleans(), st.sampled_from([None, 1, 2, 3]))
def test_jobs_that_cannot_start_before_one_ends_are_not_looked_at_again(stream, rate, kill, most):
    """Also if jobs run beyond their requested times."""
    slow = lambda running: dict.fromkeys(running, rate)  # noqa: E731
    timeline = played(stream, slow, backfill="conservative", kill=kill, most=most)
    with pytest.MonkeyPatch.context() as patch:
        rule = BACKFILL["conservative"]
        patch.setitem(BACKFILL, "conservative", lambda *given: rule(*given[:5]))
        assert played(stream, slow, backfill="conservative", kill=kill, most=most).ended == timeline.ended


@given(STREAMS)
def test_first_come_first_served_starts_in_order(stream):
    starts = times(played(stream, backfill="none"))
    assert [starts[number][0] for number in range(len(stream))] == sorted(start for start, _ in starts.values())


@given(STREAMS)
def test_with_exact_limits_conservative_delays_nobody(stream):
    exact = [Submission(j.name, j.submit_ps, j.nodes, j.work_ps, j.work_ps, 0) for j in stream]
    plain, filled = times(played(exact, backfill="none")), times(played(exact, backfill="conservative"))
    assert all(filled[number][0] <= plain[number][0] for number in plain)
