"""The rules of backfilling: hand-made cases, and definitions on a grid of time as oracles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.scheduler.backfill import BACKFILL, LOOKS_AT, Queued, Waiting, conservative, easy, first_come
from odonata.scheduler.reservations import Plan, Profile

MACHINE = 10


def queue(*jobs: tuple[int, int]) -> Waiting:
    """Jobs as (nodes, limit)."""
    return Waiting(Queued(number, nodes, limit) for number, (nodes, limit) in enumerate(jobs))


# Ten nodes; six are taken until time 10.
@pytest.mark.parametrize(
    ("jobs", "first", "by_easy", "by_conservative"),
    [
        pytest.param([(4, 5)], [0], [0], [0], id="it fits"),
        pytest.param([(8, 5), (4, 10)], [], [1], [1], id="a later job ends just when the first one starts"),
        pytest.param([(8, 5), (4, 11)], [], [], [], id="it would end later and needs the nodes of the first one"),
        pytest.param([(8, 5), (2, 99)], [], [1], [1], id="it ends later on nodes that the first one leaves free"),
        pytest.param([(8, 5), (2, 99), (1, 99)], [], [1], [1], id="such nodes are given once"),
        pytest.param([(2, 5), (8, 5), (2, 10)], [0], [0, 2], [0, 2], id="a job that starts now counts as running"),
        # The third job delays the second one, not the first: only EASY allows it.
        pytest.param([(10, 5), (6, 9), (4, 10)], [], [2], [2], id="the second one waits anyway"),
        pytest.param([(8, 5), (10, 5), (2, 99)], [], [2], [], id="a job that delays the second one"),
    ],
)
def test_ten_nodes_by_hand(jobs, first, by_easy, by_conservative):
    running = [(10, 6)]
    assert first_come(0, 4, running, queue(*jobs)) == first
    assert easy(0, 4, running, queue(*jobs)) == by_easy
    assert conservative(0, 4, running, queue(*jobs)) == by_conservative


def test_a_running_job_beyond_its_limit_is_expected_to_end_at_any_moment():
    # The first job waits for six nodes whose job should have ended: a later one may use only what it leaves free.
    assert easy(20, 4, [(10, 6)], queue((8, 5), (4, 1), (2, 1))) == [2]
    assert conservative(20, 4, [(10, 6)], queue((8, 5), (4, 1), (2, 99))) == [1]


JOBS = st.lists(st.tuples(st.integers(1, MACHINE), st.integers(1, 12)), min_size=1, max_size=7)
RUNNING = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 4)), max_size=3).filter(
    lambda jobs: sum(nodes for _, nodes in jobs) <= MACHINE
)


def free_over_time(running) -> list[int]:
    """Free nodes at each unit of time, long enough for all jobs one after the other."""
    return [MACHINE - sum(nodes for end, nodes in running if end > time) for time in range(200)]


def earliest(free: list[int], nodes: int, length: int) -> int:
    return next(t for t in range(200) if all(there >= nodes for there in free[t : t + length]))


def take(free: list[int], begin: int, length: int, nodes: int) -> list[int]:
    return [there - nodes * (begin <= time < begin + length) for time, there in enumerate(free)]


def easy_by_definition(running, jobs) -> list[int]:
    """A job starts if it fits now, and the first job that waits could start no later than without it."""
    free, started = free_over_time(running), []
    head = None
    for number, (nodes, length) in enumerate(jobs):
        if free[0] < nodes:
            head = number if head is None else head
            continue
        after = take(free, 0, length, nodes)
        if head is not None and earliest(after, jobs[head][0], 1) > earliest(free, jobs[head][0], 1):
            continue
        free, started = after, [*started, number]
    return started


def conservative_by_definition(running, jobs) -> list[int]:
    free, started = free_over_time(running), []
    for number, (nodes, length) in enumerate(jobs):
        begin = earliest(free, nodes, length)
        free = take(free, begin, length, nodes)
        started += [number] * (begin == 0)
    return started


@given(RUNNING, JOBS)
def test_rules_are_their_definitions(running, jobs):
    free = MACHINE - sum(nodes for _, nodes in running)
    assert conservative(0, free, running, queue(*jobs)) == conservative_by_definition(running, jobs)
    assert easy(0, free, running, queue(*jobs)) == easy_by_definition(running, jobs)


@given(RUNNING, JOBS)
@pytest.mark.parametrize("rule", BACKFILL)
def test_no_rule_starts_more_than_there_is(rule, running, jobs):
    free = MACHINE - sum(nodes for _, nodes in running)
    started = BACKFILL[rule](0, free, running, queue(*jobs))
    assert len(set(started)) == len(started)
    assert sum(jobs[number][0] for number in started) <= free
    assert started[: len(first_come(0, free, running, queue(*jobs)))] == first_come(0, free, running, queue(*jobs))


@given(RUNNING, JOBS, st.integers(0, 3))
@pytest.mark.parametrize("rule", BACKFILL)
def test_a_limit_beyond_the_queue_changes_nothing(rule, running, jobs, more):
    free = MACHINE - sum(nodes for _, nodes in running)
    assert BACKFILL[rule](0, free, running, queue(*jobs), len(jobs) + more) == BACKFILL[rule](
        0, free, running, queue(*jobs), None
    )


@given(RUNNING, JOBS, st.integers(1, 7))
@pytest.mark.parametrize("rule", BACKFILL)
def test_jobs_beyond_the_limit_count_as_if_they_were_not_there(rule, running, jobs, limit):
    free = MACHINE - sum(nodes for _, nodes in running)
    head = len(first_come(0, free, running, queue(*jobs)))
    cut = BACKFILL[rule](0, free, running, queue(*jobs[: head + limit]), None)
    assert BACKFILL[rule](0, free, running, queue(*jobs), limit) == cut


@given(RUNNING, JOBS)
@pytest.mark.parametrize("rule", BACKFILL)
def test_with_a_limit_of_one_job_nothing_is_backfilled(rule, running, jobs):
    free = MACHINE - sum(nodes for _, nodes in running)
    assert BACKFILL[rule](0, free, running, queue(*jobs), 1) == first_come(0, free, running, queue(*jobs))


def test_the_default_limit_is_that_of_slurm():
    behind = [(8, 5)] * LOOKS_AT
    assert LOOKS_AT == 500
    for rule in (easy, conservative):
        assert rule(0, 4, [(10, 6)], queue(*behind, (2, 5)), LOOKS_AT) == []
        assert rule(0, 4, [(10, 6)], queue(*behind, (2, 5)), LOOKS_AT + 1) == [LOOKS_AT]


LONG = st.lists(st.tuples(st.integers(1, MACHINE), st.integers(1, 40)), min_size=20, max_size=120)


@given(RUNNING, LONG)
def test_long_queues_by_definition(running, jobs):
    """Catches a job that is passed over because the rules look only at jobs that could start, and jobs before them."""
    free = MACHINE - sum(nodes for _, nodes in running)
    over_time = [MACHINE - sum(nodes for end, nodes in running if end > time) for time in range(6_000)]
    started = []
    for number, (nodes, length) in enumerate(jobs):
        begin = next(t for t in range(6_000) if all(there >= nodes for there in over_time[t : t + length]))
        over_time[begin : begin + length] = [there - nodes for there in over_time[begin : begin + length]]
        started += [number] if begin == 0 else []
    assert conservative(0, free, running, queue(*jobs)) == started
    assert easy(0, free, running, queue(*jobs)) == easy_by_definition(running, jobs)


def test_a_queue_keeps_its_order():
    waiting = queue(*[(n, 10 * n) for n in range(1, 41)])
    copied = waiting.copy()
    waiting.remove([0, 5, 39])
    waiting.add(Queued(99, 3, 2**80))
    left = [*range(1, 5), *range(6, 39), 99]
    assert [waiting[position].number for position in range(len(waiting))] == left
    assert waiting.nodes.tolist() == [waiting[position].nodes for position in range(len(waiting))]
    assert waiting.limits.tolist()[:-1] == [waiting[position].limit_ps for position in range(len(waiting) - 1)]
    assert waiting.limits[-1] == 2**63 - 1
    assert len(copied) == 40


@given(st.lists(st.integers(0, 3) | st.lists(st.integers(0, 40), max_size=4), max_size=60))
def test_a_queue_is_a_list(steps):
    """Numbers are jobs that join; lists are the positions of jobs that leave."""
    waiting, model, number = Waiting(), [], 0
    for step in steps:
        if isinstance(step, int):
            for _ in range(step):
                model.append(Queued(number, 1 + number % 7, 3 * number))
                waiting.add(model[-1])
                number += 1
        elif model:
            gone = list({model[position % len(model)].number for position in step})
            waiting.remove(gone)
            model = [job for job in model if job.number not in gone]
        assert [waiting[position] for position in range(len(waiting))] == model
        assert waiting.nodes.tolist() == [job.nodes for job in model]
        assert waiting.limits.tolist() == [job.limit_ps for job in model]


@pytest.mark.parametrize("count", [500, 4_000])
def test_conservative_backfilling_does_not_plan_the_whole_queue(count, monkeypatch):
    """Catches a plan of the whole queue at each event, which made the time of a schedule grow with its cube."""
    planned = 0
    find = Profile.find

    def counted(self, *given):
        nonlocal planned
        planned += 1
        return find(self, *given)

    monkeypatch.setattr(Profile, "find", counted)
    running = [(100 + 3 * k, 4) for k in range(16)]
    jobs = [(1 + (7 * k) % 32, 50 + (13 * k) % 400) for k in range(count)]
    assert conservative(0, 3, running, queue(*jobs))
    assert planned < 200


DEEP = st.lists(
    st.tuples(st.integers(1, MACHINE), st.integers(1, 40)) | st.tuples(st.integers(1, 2), st.integers(1, 6)),
    min_size=20,
    max_size=90,
)


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 3)), max_size=3), DEEP)
def test_putting_off_reservations_changes_nothing(running, jobs):
    """A plan with a horizon starts the jobs that one with all reservations starts."""
    free = MACHINE - sum(nodes for _, nodes in running)
    waiting, profile, expected = queue(*jobs), Profile(0, free, running), []
    for position, (nodes, length) in enumerate(jobs):
        first, last = profile.find(nodes, length, 0, 10**9)
        profile.take(nodes, length, first, last)
        expected += [position] if profile.begins[first] == 0 else []
    profile = Profile(0, free, running)
    could = [n for n, job in enumerate(jobs) if job[0] <= free]
    assert (Plan(profile, waiting.nodes, waiting.limits, could).starts() if could else []) == expected


def test_a_job_that_is_put_off_takes_its_nodes_before_a_later_one():
    """One of ten nodes is free until 2, three until 10. The last job fits now and ends at 4, which is the horizon.

    The first job begins at 10, so it is put off. The second one begins at 2 only if it ends before the first one.
    """
    running = [(2, 2), (10, 7)]
    assert conservative(0, 1, running, queue((10, 5), (3, 9), (1, 4))) == [2]
    assert conservative(0, 1, running, queue((10, 5), (3, 8), (1, 4))) == []


def test_times_beyond_what_arrays_hold():
    """A job that requests more than 2^63 ps counts as if it requested so much."""
    endless = 2**70
    assert conservative(0, 4, [(endless, 6)], queue((8, 5), (4, endless), (2, 5))) == [1]
    assert conservative(0, 4, [(9, 6)], queue((8, endless), (2, endless), (2, endless))) == [1]


@given(RUNNING, JOBS, st.integers(0, 7))
def test_settled_jobs_do_not_start_and_keep_their_reservations(running, jobs, more):
    """A second look at the same time starts nothing, and a job that joins meets the same reservations."""
    free = MACHINE - sum(nodes for _, nodes in running)
    first = conservative(0, free, running, queue(*jobs))
    running = [*running, *((jobs[number][1], jobs[number][0]) for number in first)]
    free -= sum(jobs[number][0] for number in first)
    left = [job for number, job in enumerate(jobs) if number not in first]
    assert conservative(0, free, running, queue(*left)) == []
    joined = queue(*left, (1 + more % 3, 1 + more))
    assert conservative(0, free, running, joined, None, len(left)) == conservative(0, free, running, joined)
