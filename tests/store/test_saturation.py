"""The test of saturation: right on queues whose load is known, silent where it cannot tell.

The queues are Lindley's recursion for one queue a rank, which is what a NIC is; their messages are cut into slices as
the core does it (the core's own slices are held against the reference simulator in Rust).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from odonata.store.saturation import mean_backlog, saturation

if TYPE_CHECKING:
    from numpy.typing import NDArray

SERVICE = 232_832
"""A message of 4,000 bytes at the NIC of `kang2019`, in picoseconds."""
WIRE = 300_000


def queues(load: float, *, ranks: int, intervals: int, arrival: str, seed: int, burst: int = 1) -> dict[str, Any]:
    """Arguments of the test, for ranks that each send `burst` messages an interval through a queue of their own."""
    draw = np.random.default_rng(seed)
    gap, shape = SERVICE * burst / load, (ranks, intervals)
    gaps = draw.exponential(gap, shape) if arrival == "poisson" else gap + draw.exponential(1000, shape)
    start = draw.uniform(0, gap, (ranks, 1)) if arrival == "staggered" else 0
    issue = np.repeat(start + np.cumsum(gaps, axis=1), burst, axis=1)
    served = SERVICE * np.arange(1, issue.shape[1] + 1)
    delivery = served + np.maximum.accumulate(issue - served + SERVICE, axis=1) + WIRE
    issue, delivery = (times.ravel().astype(np.int64) for times in (issue, delivery))
    return arguments(issue, delivery, ranks, intervals, gap, arrival)


def arguments(
    issue: NDArray[np.int64], delivery: NDArray[np.int64], ranks: int, intervals: int, gap: float, arrival: str
) -> dict[str, Any]:
    width = 1
    while max(issue.max(), delivery.max()) // width > 127:
        width *= 2
    slices = int(max(issue.max(), delivery.max()) // width) + 1
    backlog: dict[str, Any] = {"width_ps": width}
    for name, offset, times in (
        ("issued", "issue_offset_ps", issue),
        ("delivered", "delivery_offset_ps", delivery),
    ):
        backlog[name] = np.bincount(times // width, minlength=slices).astype(np.uint64)
        backlog[offset] = np.bincount(times // width, weights=times % width, minlength=slices)
    named = {"name": arrival} | ({} if arrival == "poisson" else {"jitter_ps": 1000})
    traffic = {"pattern": {"name": "tornado"}, "interval_ps": int(gap), "intervals": intervals, "arrival": named}
    totals = {"first_issue_ps": int(issue.min()), "intervals": ranks * intervals, "backlog": backlog}
    totals |= {"first_delivery_ps": int(delivery.min()), "last_delivery_ps": int(delivery.max())}
    return {"totals": totals, "job": {"nodes": list(range(ranks)), "traffic": traffic}, "end_ps": int(delivery.max())}


def verdicts(load: float, seeds: int, **given: Any) -> Counter[bool | None]:
    judged = [saturation(**queues(load, seed=seed, **given)) for seed in range(seeds)]
    return Counter(None if judgement is None else judgement.saturated for judgement in judged)


ARRIVALS = ("poisson", "constant", "staggered")


@pytest.mark.parametrize("arrival", ARRIVALS)
@pytest.mark.parametrize(("ranks", "intervals"), [(16, 300), (200, 100)])
def test_loads_below_one_are_not_saturated(arrival: str, ranks: int, intervals: int) -> None:
    for load in (0.5, 0.8, 0.95):
        verdict_of = verdicts(load, 20, ranks=ranks, intervals=intervals, arrival=arrival)
        assert verdict_of[True] == 0, (load, verdict_of)
        assert verdict_of[False] >= 18, (load, verdict_of)


@pytest.mark.parametrize("arrival", ARRIVALS)
@pytest.mark.parametrize(("ranks", "intervals"), [(16, 300), (200, 100)])
def test_loads_above_one_are_saturated(arrival: str, ranks: int, intervals: int) -> None:
    for load, least in ((1.1, 12), (1.5, 20), (4.0, 20)):
        verdict_of = verdicts(load, 20, ranks=ranks, intervals=intervals, arrival=arrival)
        assert verdict_of[False] == 0, (load, verdict_of)
        assert verdict_of[True] >= least, (load, verdict_of)


def test_sending_that_is_short_compared_with_delivery_is_saturated() -> None:
    """There are too few slices of sending for batches."""
    assert verdicts(40.0, 5, ranks=16, intervals=1000, arrival="constant") == {True: 5}


def test_the_growth_is_the_share_that_is_not_carried() -> None:
    for load in (1.1, 1.5, 4.0):
        judgement = saturation(**queues(load, ranks=200, intervals=300, arrival="poisson", seed=1))
        assert judgement is not None
        assert judgement.growth == pytest.approx(1 - 1 / load, abs=0.02)


@pytest.mark.parametrize("arrival", ARRIVALS)
def test_bursts_that_are_carried_are_not_saturated(arrival: str) -> None:
    """Each interval brings 20 messages at once, which take 80 % of the interval."""
    verdict_of = verdicts(0.8, 20, ranks=16, intervals=60, arrival=arrival, burst=20)
    assert verdict_of[True] == 0, verdict_of
    if arrival != "poisson":
        assert verdict_of[False] == 20, verdict_of


def test_short_runs_give_no_wrong_answer() -> None:
    """Of 200 runs of 30 intervals at random times, 6 at load 0.95 are taken for saturated; of 40 intervals, 1."""
    for intervals in (2, 5, 14, 20, 40):
        for arrival in ARRIVALS:
            assert verdicts(0.95, 10, ranks=100, intervals=intervals, arrival=arrival)[True] == 0
            assert verdicts(1.1, 10, ranks=100, intervals=intervals, arrival=arrival)[False] <= 1
            assert verdicts(1.5, 10, ranks=100, intervals=intervals, arrival=arrival)[False] == 0
    assert verdicts(3.0, 5, ranks=200, intervals=5, arrival="constant") == {None: 5}


def test_messages_on_their_way_are_no_queue() -> None:
    """All messages take 5 us in an idle network, and are sent within 3 us: nothing can be said."""
    issue = np.tile(np.arange(30, dtype=np.int64) * 100_000, 16)
    assert saturation(**arguments(issue, issue + 5_000_000, 16, 30, 100_000, "constant")) is None


def test_bursts_that_pause_until_the_end_say_nothing() -> None:
    """A tenth of the time is a burst, the rest a pause: no backlog grows, and none is measured."""
    issue = np.tile(np.arange(30, dtype=np.int64) * 100_000, 16)
    given = arguments(issue, issue + 500_000, 16, 300, 100_000, "constant")
    backlog = given["totals"]["backlog"]
    for name, counts in backlog.items():  # the slices of the pause
        if name != "width_ps":
            backlog[name] = np.append(counts, np.zeros(30_000_000 // backlog["width_ps"], counts.dtype))
    given["end_ps"] = 30_000_000
    with np.errstate(all="raise"):
        assert saturation(**given) is None


def test_a_job_that_is_cut_off_is_tested_too() -> None:
    whole = queues(1.5, ranks=16, intervals=300, arrival="poisson", seed=3)
    end = whole["end_ps"] // 2
    assert saturation(**{**whole, "end_ps": end}).saturated is True  # type: ignore[union-attr]
    endless = {**whole["job"], "traffic": {**whole["job"]["traffic"], "intervals": None}}
    assert saturation(whole["totals"], endless, end).saturated is True  # type: ignore[union-attr]


def test_the_question_has_no_meaning_where_messages_are_waited_for() -> None:
    given = queues(1.5, ranks=16, intervals=100, arrival="constant", seed=1)
    given["job"]["traffic"]["pattern"]["name"] = "broadcast"
    assert saturation(**given) is None
    assert saturation(given["totals"], {"nodes": [0, 1], "program": {}}, 10) is None


def test_the_mean_backlog_is_exact() -> None:
    """One message from 3 to 21 and one from 10 to 12: under way 1, 2, 1 of the time, over slices of 8 ps."""
    offsets = [[0, 1, 1], [3.0, 2.0, 0.0], [0, 1, 1], [0.0, 4.0, 5.0]]
    names = ("issued", "issue_offset_ps", "delivered", "delivery_offset_ps")
    backlog = {name: np.array(values) for name, values in zip(names, offsets, strict=True)}
    backlog["issued"] = np.array([1, 1, 0])
    assert mean_backlog({"width_ps": 8, **backlog}).tolist() == [5 / 8, (8 + 2) / 8, 5 / 8]
