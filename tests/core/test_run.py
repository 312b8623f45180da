"""What a run returns: totals, columns, their types and how they fit together."""

import json

import numpy as np
import pytest

from odonata import _core

SLOTS, CHANNELS, NODES = 60, 3, 12


def columns(result):
    """Every array of a result with its name."""
    for part in ("messages", "links", "arrivals"):
        yield from ((f"{part}.{name}", column) for name, column in result[part].items() if hasattr(column, "dtype"))
    for index, job in enumerate(result["jobs"]):
        for name in ("lower", "upper", "bin_count"):
            yield f"jobs[{index}].latency.{name}", job["latency"][name]


def test_scalars_are_plain_numbers(result):
    assert all(type(result[key]) is int and result[key] > 0 for key in ("end_ps", "packet_hops", "events", "threads"))
    assert type(result["wall_s"]) is float
    assert result["wall_s"] > 0
    tables = {"jobs", "messages", "links", "arrivals", "ranks", "iterations", "class_bytes"}
    assert set(result) == {"end_ps", "packet_hops", "events", "threads", "windows", "longest", "wall_s"} | tables


def test_every_message_is_accounted_for(result):
    every, binned = result["jobs"]
    assert [every[key] for key in ("issued", "delivered", "packets", "bytes")] == [100, 100, 200, 400_000]
    assert [binned[key] for key in ("issued", "delivered", "packets", "bytes")] == [30, 30, 30, 3_000]
    assert every["minimal"] == 200
    assert every["first_issue_ps"] >= 1_000_000
    assert binned["first_issue_ps"] == 0
    assert max(job["last_delivery_ps"] for job in result["jobs"]) <= result["end_ps"]
    assert result["packet_hops"] >= every["hops"] + every["packets"] + binned["hops"] + binned["packets"]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("job", np.uint16),
        ("interval", np.uint32),
        ("source", np.uint32),
        ("destination", np.uint32),
        ("issue_ps", np.uint64),
        ("latency_ps", np.uint64),
    ],
)
def test_messages_are_the_recorded_ones(result, name, dtype):
    assert result["messages"][name].dtype == dtype
    assert result["messages"][name].shape == (100,)


def test_messages_are_sorted_and_agree_with_the_totals(result):
    messages, latency = result["messages"], result["jobs"][0]["latency"]
    keys = list(zip(messages["job"], messages["interval"], messages["source"], strict=True))
    assert keys == sorted(keys)
    assert set(messages["job"].tolist()) == {0}
    assert set(messages["source"].tolist()) == set(range(5))
    assert (messages["source"] != messages["destination"]).all()
    latencies = messages["latency_ps"].tolist()
    assert [latency[key] for key in ("count", "sum", "min", "max")] == [
        100,
        sum(latencies),
        min(latencies),
        max(latencies),
    ]


def test_histogram_holds_every_latency(result):
    for job, count in zip(result["jobs"], (100, 30), strict=True):
        latency = job["latency"]
        assert latency["bin_count"].sum() == latency["count"] == count
        assert latency["lower"][0] <= latency["min"] < latency["upper"][0]
        assert latency["lower"][-1] <= latency["max"] < latency["upper"][-1]
        assert (latency["lower"] < latency["upper"]).all()
        assert (latency["upper"][:-1] <= latency["lower"][1:]).all()


def test_links_have_a_row_per_slot_and_channel_and_per_node(result):
    links = result["links"]
    assert all(column.shape == (SLOTS * CHANNELS + NODES,) for column in links.values())
    assert links["bytes"][-NODES:].sum() == 403_000
    assert links["packets"][-NODES:].sum() == 230
    assert np.flatnonzero(links["packets"][-NODES:]).tolist() == [0, 1, 2, 3, 4, 5, 8, 11]


def test_arrivals_are_shaped_by_window_job_and_group(result):
    arrivals = result["arrivals"]
    assert arrivals["every_ps"] == 5_000_000
    assert 1 < arrivals["windows"] <= result["end_ps"] // 5_000_000 + 1
    assert arrivals["packets_in"][-1].any() or arrivals["packets_out"][-1].any()
    for name in ("packets_in", "bytes_in", "packets_out", "bytes_out"):
        assert arrivals[name].shape == (arrivals["windows"], 2, 3)
    assert arrivals["packets_in"].sum(axis=(0, 2)).tolist() == arrivals["packets_out"].sum(axis=(0, 2)).tolist()
    assert arrivals["bytes_in"].sum() > 0


def test_no_windows_unless_asked_for(edited):
    arrivals = _core.run(edited(None, "measure", "arrivals_every_ps"))["arrivals"]
    assert (arrivals["every_ps"], arrivals["windows"]) == (0, 0)
    assert arrivals["bytes_in"].shape == (0, 2, 3)


def test_columns_are_moved_not_copied(result):
    for name, column in columns(result):
        # An array that NumPy had allocated (a copy) would own its memory or rest on one that does.
        base = column
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert not base.flags.owndata, name
        owner = base.base.obj if isinstance(base.base, memoryview) else base.base
        assert type(owner).__name__ == "Column", name
        assert column.flags.c_contiguous, name


def test_counters_are_unsigned_64_bit(result):
    for name, column in columns(result):
        if not name.startswith("messages"):
            assert column.dtype == np.uint64, name


def test_the_same_specification_gives_the_same_bytes(result, spec):
    again = _core.run(json.dumps(spec))
    assert [name for name, _ in columns(again)] == [name for name, _ in columns(result)]
    for (name, column), (_, other) in zip(columns(again), columns(result), strict=True):
        assert column.tobytes() == other.tobytes(), name


def test_another_seed_gives_another_run(result, edited):
    other = _core.run(edited(8, "seed"))
    assert not np.array_equal(other["messages"]["destination"], result["messages"]["destination"])
