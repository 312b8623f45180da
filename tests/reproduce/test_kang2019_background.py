"""`kang2019-background`: what it keeps of the messages, what it judges and what it only scans."""

import polars as pl
import pytest

import odonata as od
from odonata.reproduce import find
from odonata.reproduce.kang2019 import background
from odonata.reproduce.kang2019.published import compare, expected
from odonata.reproduce.kang2019.runs import met


def run_by_hand(case, by_message, model="as-published"):
    mean = sum(by_message) / len(by_message)
    return {
        "model": model,
        "case": case,
        "messages": len(by_message),
        "latency_mean_ps": mean,
        "by_message": by_message,
        "overlapped": 0.25,
    }


def test_the_judged_slowdown_is_that_of_the_first_messages_of_the_longest_run():
    alone, beside = background.UNIFORM, background.BASE.beside(background.UNIFORM)
    assert beside == f"{background.UNIFORM}/130%@100us"
    runs = [
        run_by_hand(alone, [1.0e8] * 16),
        run_by_hand(beside, [2.0e8] * 4 + [6.0e8] * 4),
        run_by_hand(beside, [9.0e8] * 2),
    ]
    (row,) = [row for row in find("kang2019-background").rows(runs) if row.why != background._SCAN]
    assert (row.id, row.theirs, row.model, row.messages) == ("K36", 5.08, "as-published", 8)
    assert row.by_messages == {1: 2.0, 2: 2.0, 4: 2.0, 8: 4.0}
    # Twice the messages double it: it depends on their number, which the paper does not state.
    assert (row.growth, row.verdict) == ("grows", "not comparable")
    assert row.meets_at == pytest.approx(4 + (5.08 - 2) / 2 * 4)


def test_a_scan_compares_with_the_job_alone_under_the_same_setting():
    order, minimal = (
        next(setting for setting in background.SETTINGS if key in setting.changed)
        for key in ("fabric.nic.order", "job.background.routing")
    )
    job = background.TORNADO
    assert (order.alone(job), minimal.alone(job)) == (f"{job}/order=round-robin", job)
    runs = [
        run_by_hand(case, [value] * 4, "correct")
        for case, value in (
            (job, 1e8),
            (order.alone(job), 2e8),
            (order.beside(job), 5e8),
            (minimal.beside(job), 8.22e8),
        )
    ]
    rows = find("kang2019-background").rows(runs)
    assert {row.what.partition(":")[0]: row.ours for row in rows} == {"order of the NIC": 2.5, "background": 8.22}
    assert {row.verdict for row in rows} == {"not comparable"}
    said = find("kang2019-background").text.of_rows(rows, {})["within"]
    assert said == f"Within the tolerance are: correct, {rows[1].what}: 8.22 x."


def test_messages_that_overlap_are_those_that_may_wait_at_their_nic():
    """Every 20 us a message of 1 MB, which takes longer on its link: all but the first overlap; every second, none."""
    table = """
system = "tiny"
[[job]]
name = "target"
nodes = 4
app = {pattern = "tornado", offset = 1, message = "1 MB", interval = "EVERY", messages = 4}
"""
    for every, share in (("20 us", 0.75), ("1 s", 0.0)):
        kept = background.keep(od.run(od.scenario.parse(table.replace("EVERY", every), "test.toml")))
        assert kept["overlapped"] == share
        assert len(kept["by_message"]) == 4
        assert (kept["by_message"][3] > kept["by_message"][0] * 1.5) == (share > 0)


def test_messages_of_other_jobs_do_not_count():
    run = type("Run", (), {})()
    run.messages = pl.DataFrame(
        {
            "job": [0, 0, 1],
            "source": [0, 0, 0],
            "interval": [0, 1, 0],
            "issue_ps": [0, 10, 0],
            "latency_ps": [5, 7, 900],
        }
    )
    assert background.keep(run) == {"by_message": [5.0, 7.0], "overlapped": 0.0}


@pytest.mark.parametrize(
    ("case", "messages", "share"),
    [
        ("stencil/contiguous/3us/130%@100us", 20, 0.0),
        ("stencil/contiguous/3us/130%@1us", 20, 1.0),
        ("tornado/random/1us/130%@100us", 100, 0.01),
        ("tornado/random/0.5us/130%@100us", 300, 101 / 300),
        ("tornado/random/512KB@100us/130%@100us", 1, 1.0),
        ("broadcast/contiguous/100us", 1, 1.0),
    ],
)
def test_a_background_meets_the_messages_after_its_first_interval(case, messages, share):
    assert met(case, messages) == pytest.approx(share)


def test_a_job_that_ends_before_its_background_begins_is_no_evidence():
    wanted = [row for row in expected() if row.what.startswith("stencil, contiguous: largest slowdown by 130 %")]
    every_us, every_100_us = wanted
    for row, verdict in ((every_us, "direction"), (every_100_us, "not comparable")):
        runs = [
            {"model": "correct", "case": case, "messages": 20, "latency_mean_ps": 1.0}
            for case in (*row.cases, *row.reference)
        ]
        (ours,) = compare([row], runs)
        assert ours.verdict == verdict
    assert ours.why == "at some interval the job has sent its messages before the background begins"
