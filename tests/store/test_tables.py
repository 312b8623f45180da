"""The tables say what the core counted: ids, units and what is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from odonata.store import COLUMNS, TABLES, columns_of
from odonata.store.latency import Latency
from odonata.store.tables import Alone, counters_frame, job_latency, jobs_frame, links_frame, polars_type

if TYPE_CHECKING:
    from odonata.store.result import Run


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_exactly_the_registered_columns_and_types(table: str, run_in_memory: Run) -> None:
    registered = {column.name: polars_type(column.dtype) for column in columns_of(table, channels=2)}
    assert dict(run_in_memory.scan(table).collect_schema()) == registered


def test_lists_of_equal_length_are_lists(result: dict[str, Any], spec: dict[str, Any]) -> None:
    """A frame of one job has bins of one length; such columns must go together with those of other runs."""
    jobs = [{**result, "jobs": result["jobs"][:1]}, {**spec, "jobs": spec["jobs"][:1]}]
    table = jobs_frame(*jobs, [False], {})
    assert dict(table.schema) == {c.name: polars_type(c.dtype) for c in columns_of("jobs")}


def test_every_column_says_what_it_is() -> None:
    assert len({(column.table, column.name) for column in COLUMNS}) == len(COLUMNS)
    for column in COLUMNS:
        assert column.meaning
        assert column.name.endswith("_ps") == (column.unit == "ps"), column.name


def test_a_single_channel_has_no_columns_of_its_own() -> None:
    assert not [column.name for column in columns_of("links", channels=1) if "0" in column.name]
    assert [column.name for column in columns_of("links", channels=2)][-6:] == [
        "packets_0",
        "packets_1",
        "bytes_0",
        "bytes_1",
        "stalled_0_ps",
        "stalled_1_ps",
    ]


def test_an_undelivered_message_has_no_latency(run_in_memory: Run) -> None:
    assert run_in_memory.messages["latency_ps"].to_list() == [2000, 1500, 1800, 1000, None]


def test_totals_of_a_job(run_in_memory: Run) -> None:
    target = run_in_memory.jobs.row(0, named=True)
    assert (target["messages_sent"], target["messages_delivered"], target["nodes"]) == (5, 4, 2)
    assert target["time_ps"] == 2_048_000
    assert target["throughput"] == pytest.approx(4096 / 2.048e-6)
    assert (target["hops_mean"], target["minimal_fraction"]) == (3.0, 0.75)
    assert (target["latency_p50_ps"], target["latency_max_ps"], target["latency_mean_ps"]) == (1500, 2000, 1575.0)
    assert target["slowdown"] is None


def test_a_job_that_delivered_nothing_has_no_values_rather_than_zeros(run_in_memory: Run) -> None:
    noise = run_in_memory.jobs.row(1, named=True)
    absent = {name for name, value in noise.items() if value is None}
    assert {"time_ps", "throughput", "hops_mean", "minimal_fraction", "latency_min_ps", "latency_mean_ps"} <= absent
    assert noise["latency_count"] == 0


def test_slowdown_is_the_ratio_of_means(result: dict[str, Any], spec: dict[str, Any]) -> None:
    alone = Latency.from_rows(np.array([1000, 1100], np.uint64))
    deliver_all(result)
    target = jobs_frame(result, spec, [False, True], {0: Alone(alone)}).row(0, named=True)
    assert target["alone_mean_ps"] == 1050.0
    assert target["slowdown"] == pytest.approx(1.5)


def deliver_all(result: dict[str, Any]) -> None:
    """The target has sent all of its three intervals of two ranks, and everything has arrived."""
    result["jobs"][0] |= {"measured_issued": 5, "measured_delivered": 5, "intervals": 6}


def complete(result: dict[str, Any], spec: dict[str, Any]) -> list[bool | None]:
    return jobs_frame(result, spec, [False, True], {})["complete"].to_list()


def test_a_job_is_complete_when_all_is_sent_and_all_has_arrived(result: dict[str, Any], spec: dict[str, Any]) -> None:
    """The background job has no end: where measuring has none either, the question has no meaning."""
    deliver_all(result)
    assert complete(result, spec) == [True, None]
    result["jobs"][0]["measured_delivered"] = 4
    assert complete(result, spec) == [False, None]
    result["jobs"][0] |= {"measured_delivered": 5, "intervals": 5}
    assert complete(result, spec) == [False, None]


def test_with_a_window_only_what_was_issued_in_it_must_have_arrived(
    result: dict[str, Any], spec: dict[str, Any]
) -> None:
    deliver_all(result)
    result["jobs"][0]["intervals"] = 5
    spec["measure"]["until_ps"] = result["end_ps"] + 1
    assert complete(result, spec) == [True, False]
    spec["measure"]["until_ps"] += 1  # more could have been issued in the window
    assert complete(result, spec) == [False, None]


def test_there_is_no_slowdown_of_what_is_cut_off(result: dict[str, Any], spec: dict[str, Any]) -> None:
    latency = Latency.from_rows(np.array([1000, 1100], np.uint64))
    for here, alone, given in ((True, True, True), (False, True, False), (True, False, False)):
        if here:
            deliver_all(result)
        else:
            result["jobs"][0]["measured_delivered"] = 4
        row = jobs_frame(result, spec, [False, True], {0: Alone(latency, complete=alone)}).row(0, named=True)
        assert (row["slowdown"] is not None) == given
        assert (row["complete"], row["alone_complete"]) == (here, alone)


def test_only_messages_issued_in_the_measured_interval_count(result: dict[str, Any], spec: dict[str, Any]) -> None:
    spec["measure"] = {"from_ps": 200, "until_ps": 1200, "arrivals_every_ps": None}
    latency = job_latency(result, spec, 0)
    assert latency is not None
    assert (latency.count, latency.quantiles["min"], latency.quantiles["max"]) == (2, 1500, 1800)


def test_a_histogram_serves_when_rows_were_not_kept(result: dict[str, Any], spec: dict[str, Any]) -> None:
    exact = job_latency(result, spec, 0)
    spec["jobs"][0]["record"] = "histogram"
    assert job_latency(result, spec, 0) == exact


def test_links_join_the_right_ends(run_in_memory: Run) -> None:
    links = run_in_memory.links
    assert links.height == 10 + 4  # two ports have no cable
    ends = ["class", "from_kind", "from_id", "from_port", "from_group", "to_kind", "to_id", "to_group"]
    assert links.select(ends).rows()[0] == ("node", "router", 0, 0, 0, "node", 0, 0)
    assert links.filter(pl.col("class") == "global").select(ends).rows() == [
        ("global", "router", 1, 1, 0, "router", 3, 1),
        ("global", "router", 3, 1, 1, "router", 1, 0),
    ]
    assert links.select(ends).rows()[-1] == ("node", "node", 3, 0, 1, "router", 2, 1)


def test_link_totals_are_summed_and_split_by_channel(run_in_memory: Run) -> None:
    up = run_in_memory.links.filter(pl.col("from_id") == 0, pl.col("class") == "local").row(0, named=True)
    assert (up["packets"], up["packets_0"], up["packets_1"]) == (4, 3, 1)
    assert (up["bytes"], up["stalled_ps"], up["stalled_1_ps"]) == (4000, 40, 10)
    assert up["busy"] == pytest.approx(1.6)  # 4,000 bytes in 2.5 us at 1 GB/s are more than go
    down = run_in_memory.links.filter(pl.col("from_id") == 1, pl.col("class") == "local").row(0, named=True)
    assert (down["packets"], down["busy"]) == (0, 0.0)
    injection = run_in_memory.links.filter(from_kind="node", from_id=0).row(0, named=True)
    assert (injection["packets"], injection["packets_1"]) == (4, 0)
    assert injection["busy"] == pytest.approx(4000 / (2e9 * 2.5e-6))


def test_what_is_granted_and_not_yet_sent_counts_as_busy(
    result: dict[str, Any], spec: dict[str, Any], system: dict[str, Any]
) -> None:
    result["links"]["bytes"][4 * 2] = 10**9  # granted, to be sent after the end
    links = links_frame(result, spec, system)
    assert links.filter(pl.col("class") == "global")["busy"].to_list() == [400_000.0, 0.0]


def test_arrivals_by_window_job_and_group(run_in_memory: Run) -> None:
    counters = run_in_memory.counters
    assert counters.height == 3 * 2 * 2
    first = counters.filter(window=0, job=0, group=1).row(0, named=True)
    assert (first["packets_in"], first["packets_out"], first["packets_both"]) == (3, 0, 3)
    assert first["rate_in"] == pytest.approx(3 * 1024 / 1e-6 / 2**30)
    last = counters.filter(window=2, job=1, group=0).row(0, named=True)
    assert last["width_ps"] == 500_000  # the run ends in the middle of the last window
    assert last["rate_both"] == pytest.approx(1024 / 0.5e-6 / 2**30)


def test_no_arrivals_asked_for_is_an_empty_table(result: dict[str, Any]) -> None:
    empty = np.zeros((0, 2, 2), np.uint64)
    result["arrivals"] = {"every_ps": 0, "windows": 0} | dict.fromkeys(
        ("packets_in", "bytes_in", "packets_out", "bytes_out"), empty
    )
    frame = counters_frame(result)
    assert frame.height == 0
    assert frame.columns == [column.name for column in columns_of("counters")]
