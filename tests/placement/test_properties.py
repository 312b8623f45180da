"""What every policy promises."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from odonata import placement
from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement import LAYOUTS, Placement, Placer, place


@st.composite
def shapes(draw):
    """Small machines, some of whose last group is smaller."""
    routers = draw(st.integers(1, 4))
    return Shape(draw(st.integers(1, 5)), routers, draw(st.integers(1, 5)), draw(st.none() | st.integers(1, routers)))


#: Those that look at links are in `test_links.py`: here machines are known by their shape alone.
POLICIES = [name for name in placement.names() if name not in LAYOUTS and not placement.get(name).needs_links]
#: These cannot use every free node: they stay on one leaf, in one group, or out of a machine with one group.
PICKY = {"same-group", "same-island", "different-islands", "per-leaf"}
SEEDED = [name for name in POLICIES if placement.get(name).seeded]


def jobs_of(busy):
    """Owners for busy nodes: two jobs in turn."""
    return {node: f"job {node % 2}" for node in sorted(busy)}


@st.composite
def requests(draw, machines=shapes()):  # noqa: B008 - a strategy has no state
    """A policy, a machine partly busy, and options."""
    shape = draw(machines)
    busy = draw(st.sets(st.integers(0, shape.nodes - 1)))
    policy = draw(st.sampled_from(POLICIES))
    groups = draw(st.none() | st.sets(st.integers(0, shape.groups - 1), min_size=1))
    options = {} if groups is None or policy == "explicit" else {"groups": sorted(groups)}
    count = draw(st.integers(1, shape.nodes))
    if policy in SEEDED:
        options["seed"] = draw(st.integers(0, 2**64 - 1))
    if policy in ("level-spread", "round-robin-nodes", "round-robin-routers"):
        options["start"] = draw(st.sampled_from(["first", "after-last"]))
    if policy == "jokanovic":
        options["fall_through"] = draw(st.booleans())
    if policy == "intensity-aware":
        options["intensity"] = draw(st.sampled_from(["heavy", "light", 0, 0.1, 3]))
    if policy == "contention-aware":
        options["intensity"] = draw(st.sampled_from([0, 0.5, 1]))
    if policy == "per-leaf":
        options["per_leaf"] = draw(st.integers(1, shape.nodes_per_router))
        count = None
    if policy == "explicit":
        free = [n for n in range(shape.nodes) if n not in busy]
        assume(free)
        options["nodes"] = draw(st.lists(st.sampled_from(free), unique=True, min_size=1))
        count = len(options["nodes"])
    return policy, shape, count, busy, options


def asked(policy, shape, count, busy, options, owners=None):
    """The result of the policy on a new machine."""
    return Placer(shape, busy, owners).place(policy, count, options)


@given(requests())
def test_nodes_are_distinct_free_inside_and_of_the_right_number(request):
    policy, shape, count, busy, options = request
    inside = [n for n in range(shape.nodes) if shape.group_of(n) in options.get("groups", range(shape.groups))]
    free = [n for n in inside if n not in busy]
    try:
        placement = asked(policy, shape, count, busy, options, jobs_of(busy))
    except InputError as e:
        assert "do not fit" in e.message  # noqa: PT017
        assert policy in PICKY or count > len(free), "it would have fitted"
        assert cannot_fit(policy, shape, count, free, inside, options), "it would have fitted"
        return
    if policy == "per-leaf":
        count = options["per_leaf"] * len({shape.router_of(n) for n in inside})
    assert len(placement.nodes) == len(set(placement.nodes)) == count
    assert set(placement.nodes) <= set(free)
    assert placement.reason
    again = asked(policy, shape, count, sorted(busy, reverse=True), options, jobs_of(busy))
    assert again == placement, "the same question has the same answer"


@st.composite
def workloads(draw):
    """A machine, and the requests of successive jobs; many more small ones than large ones."""
    shape = draw(shapes())
    small = st.integers(1, 3) | st.integers(1, shape.nodes)
    jobs = []
    for _ in range(draw(st.integers(1, 12))):
        policy, _, _, _, options = draw(requests(st.just(shape)))
        count = None if policy in ("per-leaf", "explicit") else draw(small)
        jobs.append((policy, count, options))
    return shape, jobs


@given(workloads())
def test_a_job_gets_the_same_nodes_as_with_the_other_jobs_busy(workload):
    """Catches nodes of a job that remain in the lists of free nodes for the next job."""
    shape, jobs = workload
    placer = Placer(shape)
    owners = {}
    for number, (policy, count, options) in enumerate(jobs):
        expected = outcome(lambda: asked(policy, shape, count, owners.keys(), options, owners))  # noqa: B023
        obtained = outcome(lambda: placer.place(policy, count, options, owner=f"job {number}"))  # noqa: B023
        assert obtained == expected
        if isinstance(obtained, Placement):
            owners |= dict.fromkeys(obtained.nodes, f"job {number}")


@given(workloads(), st.data())
def test_released_nodes_are_free_again(workload, data):
    """Catches nodes of a job that has ended which are missing in a list of free nodes, and a copy that shares one."""
    shape, jobs = workload
    placer = Placer(shape)
    running = {}
    for number, (policy, count, options) in enumerate(jobs):
        for ended in data.draw(st.sets(st.sampled_from(sorted(running)))) if running else ():
            placer.release(running.pop(ended))
        owners = {node: f"job {job}" for job, nodes in running.items() for node in nodes}
        expected = outcome(lambda: asked(policy, shape, count, owners.keys(), options, owners))  # noqa: B023
        copied = placer.copy()
        assert outcome(lambda: copied.place(policy, count, options)) == expected  # noqa: B023
        obtained = outcome(lambda: placer.place(policy, count, options, owner=f"job {number}"))  # noqa: B023
        assert obtained == expected
        if isinstance(obtained, Placement):
            running[number] = obtained.nodes


def test_released_nodes_of_a_machine_with_failed_ones():
    """The lists with and without the failed nodes both get them back."""
    placer = Placer("tiny", unusable=[1, 2])
    nodes = placer.place("contiguous", 5).nodes
    placer.copy().release(nodes)
    assert placer.place("contiguous", 1).nodes == [7]
    placer.release(nodes)
    assert placer.place("explicit", options={"nodes": "0,3"}).nodes == [0, 3]
    assert placer.place("contiguous", 3).nodes == [4, 5, 6]


def outcome(ask):
    """A placement, or the words of the error."""
    try:
        return ask()
    except InputError as e:
        return e.message, e.path


def cannot_fit(policy, shape, count, free, inside, options):
    """Whether the job does not fit, by what the policy says of itself."""
    by_leaf = [sum(shape.router_of(n) == leaf for n in free) for leaf in {shape.router_of(n) for n in inside}]
    by_group = {g: [n for n in free if shape.group_of(n) == g] for g in {shape.group_of(n) for n in inside}}
    if policy == "per-leaf":
        return min(by_leaf) < options["per_leaf"]
    if policy == "same-group":
        return max(by_leaf) < count
    if policy == "same-island":
        leaves = {g: len({shape.router_of(n) for n in nodes}) for g, nodes in by_group.items()}
        return not any(len(nodes) >= count and leaves[g] >= min(2, count) for g, nodes in by_group.items())
    if policy == "different-islands":
        return count > len(free) or sum(map(bool, by_group.values())) < min(2, count)
    return count > len(free)


@pytest.mark.parametrize("policy", SEEDED)
def test_seeds(policy):
    """The same seed gives the same nodes, another one others; without one it is 1."""
    shape = Shape(9, 4, 4)
    by_seed = [place(policy, shape, 20, seed=seed).nodes for seed in range(20)]
    assert len({tuple(nodes) for nodes in by_seed}) > 8
    assert by_seed[7] == place(policy, shape, 20, seed=7).nodes
    assert by_seed[1] == place(policy, shape, 20).nodes


def test_which_policies_draw():
    assert SEEDED == ["random", "random-nodes", "random-routers", "random-groups"]


@pytest.mark.parametrize("policy", [p for p in POLICIES if p not in {*PICKY, "explicit"}])
def test_a_job_may_have_the_whole_machine_and_no_node_more(policy):
    shape = Shape(3, 4, 2)
    options = {"intensity": "light"} if policy == "intensity-aware" else {}
    assert sorted(place(policy, shape, 24, **options).nodes) == list(range(24))
    with pytest.raises(InputError, match="25 nodes do not fit: only 24 are free anywhere"):
        place(policy, shape, 25, **options)
    with pytest.raises(InputError, match="4 nodes do not fit: only 3 are free in group 1"):
        place(policy, shape, 4, busy="8-12", groups=1, **options)
    with pytest.raises(InputError, match="the number of nodes is missing"):
        place(policy, shape, **options)


@pytest.mark.parametrize("policy", [p for p in POLICIES if p not in {"explicit", "per-leaf"}])
def test_a_full_machine(policy):
    options = {"intensity": "light"} if policy == "intensity-aware" else {}
    with pytest.raises(InputError, match="1 nodes do not fit"):
        place(policy, Shape(3, 4, 2), 1, busy=range(24), **options)
