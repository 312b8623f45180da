"""Several jobs: the order in which they are placed (L17), and what each sees of the others."""

import pytest

from odonata.errors import InputError
from odonata.machine import Shape, load
from odonata.placement import Job, arrange, place, place_all, seed_of_job

SHAPE = Shape(4, 2, 4)
JOBS = [Job("a", "simple", 5), Job("b", "simple", 3), Job("c", "simple", 9), Job("d", "simple", 3)]


@pytest.mark.parametrize(("order", "names"), [("arrival", "abcd"), ("small-first", "bdac"), ("large-first", "cabd")])
def test_orders(order, names):
    assert [job.name for job in arrange(JOBS, order)] == list(names)
    placed = place_all(JOBS, SHAPE, order=order)
    assert list(placed) == list("abcd"), "the answer is as listed"
    assert [n for name in names for n in placed[name].nodes] == list(range(20)), "each behind the one before"


def test_jobs_that_name_their_nodes_come_first():
    jobs = [Job("free", "simple", 4), Job("named", "explicit", options={"nodes": "1-2"})]
    placed = place_all(jobs, SHAPE, order="large-first")
    assert placed["named"].nodes == [1, 2]
    assert placed["free"].nodes == [0, 3, 4, 5]


def test_busy_nodes_stay_free_of_jobs():
    assert place_all(JOBS[:1], SHAPE, busy="0-3").popitem()[1].nodes == [4, 5, 6, 7, 8]


def test_each_job_draws_with_its_own_seed_whatever_the_order():
    jobs = [Job("x", "RDN", 4), Job("y", "RDN", 5), Job("z", "RDN", 4, {"seed": 99})]
    placed = place_all(jobs, SHAPE, seed=7)
    assert placed["x"].nodes == place("RDN", SHAPE, 4, seed=seed_of_job(7, 0)).nodes
    assert placed["y"].nodes == place("RDN", SHAPE, 5, seed=seed_of_job(7, 1), busy=placed["x"].nodes).nodes
    assert placed["z"].nodes == place("RDN", SHAPE, 4, seed=99, busy=placed["x"].nodes + placed["y"].nodes).nodes
    large_first = place_all(jobs, SHAPE, order="large-first", seed=7)
    assert large_first["y"].nodes == place("RDN", SHAPE, 5, seed=seed_of_job(7, 1)).nodes


def test_seeds_of_jobs_are_hashes():
    """Streams never change, and no sum of seed and number tells them apart."""
    assert seed_of_job(1, 0) == 16084263516076407670
    seeds = {seed_of_job(seed, number) for seed in range(100) for number in range(100)}
    assert len(seeds) == 100 * 100
    assert place_all([Job("x", "RDN", 4), Job("y", "RDN", 4)], SHAPE, busy="0-3", seed=1)["y"].nodes != (
        place_all([Job("y", "RDN", 4)], SHAPE, busy="0-3", seed=2)["y"].nodes
    )


def test_jobs_see_whose_nodes_are_busy():
    """The second round robin continues after the last node of the first job."""
    jobs = [Job("one", "RRN", 5), Job("two", "RRN", 3, {"start": "after-last"})]
    placed = place_all(jobs, SHAPE)
    assert placed["one"].nodes == [0, 8, 16, 24, 1]
    assert placed["two"].nodes == [9, 17, 25]


@pytest.mark.parametrize(
    ("jobs", "order", "message"),
    [
        (JOBS, "big-first", "unknown order of jobs `big-first`"),
        ([JOBS[0], JOBS[0]], "arrival", "two jobs are named `a`"),
        ([*JOBS, Job("e", "simple", 13)], "arrival", "job `e`: 13 nodes do not fit: only 12 are free"),
        ([Job("e", "simpel", 13)], "arrival", "job `e`: unknown placement policy `simpel`"),
        ([Job("e", "simple", 3, {"seed": 1})], "arrival", "job `e`: unknown option of `simple` `seed`"),
    ],
)
def test_what_is_refused(jobs, order, message):
    with pytest.raises(InputError, match=message):
        place_all(jobs, SHAPE, order=order)


def test_nodes_whose_router_has_failed_are_never_given():
    """Leaf 0 of `tiny` (nodes 0 and 1) is gone, for policies that choose and for those that name."""
    tiny = load({"preset": "tiny", "failed": {"routers": [0]}})
    assert tiny.unusable_nodes == (0, 1)
    assert place("simple", tiny, 2).nodes == [2, 3]
    assert place_all([Job("a", "simple", 2), Job("b", "RRN", 2)], tiny)["b"].nodes == [4, 8]
    with pytest.raises(InputError, match="15 nodes do not fit: only 14 are free"):
        place("simple", tiny, 15)
    with pytest.raises(InputError, match="node 1 cannot be used: its router has failed"):
        place("explicit", tiny, nodes="1-3")
    with pytest.raises(InputError, match="nodes 0-1 cannot be used: their routers have failed"):
        place("explicit", tiny, nodes="0-3")
    assert "of 1 running job:" in place("contention-aware", tiny, 6, busy="0-1,4-5").reason
    assert "of 0 running jobs:" in place("contention-aware", tiny, 6, busy="0-1").reason, "failed nodes send nothing"
