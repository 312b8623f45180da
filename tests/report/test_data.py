"""What a report says is what the tables of the run say."""

from __future__ import annotations

from math import prod

import numpy as np
import polars as pl
import pytest
from tests.report.conftest import TRAFFIC

import odonata as od
from odonata import scenario
from odonata.report import machine, report_of_runs, series, times
from odonata.report.differences import title_of
from odonata.report.machine import machine_of
from odonata.report.run import run_document
from odonata.report.verdict import verdict


@pytest.fixture(params=["tiny", "zhang2018-272", "theta"])
def run(request, made):
    text = TRAFFIC.format(system=request.param)
    return made(text.replace("20\n", "6\n") if request.param == "tiny" else text)


def test_loads_of_routers_nodes_groups_and_classes_are_those_of_their_links(run):
    machine, links = machine_of(run, []), run.links
    for router in machine["routers"].sample(5, seed=1).iter_rows(named=True):
        own = links.filter(from_kind="router", from_id=router["id"], to_kind="router")
        assert router["bytes"] == own["bytes"].sum()
        assert router["busy"] == pytest.approx(own["busy"].mean())
        assert router["busy_max"] == own["busy"].max()
        assert router["stalled_ps"] == own["stalled_ps"].sum()
    for node in machine["nodes"].sample(5, seed=1).iter_rows(named=True):
        assert node["sent"] == links.filter(from_kind="node", from_id=node["id"])["bytes"].sum()
        assert node["received"] == links.filter(to_kind="node", to_id=node["id"])["bytes"].sum()
    between = links.filter(pl.col("from_group") != pl.col("to_group"))
    assert machine["pairs"].height == between.n_unique(["from_group", "to_group"])
    for pair in machine["pairs"].iter_rows(named=True):
        own = links.filter(from_group=pair["from_group"], to_group=pair["to_group"])
        assert (pair["links"], pair["bytes"]) == (own.height, own["bytes"].sum())
    assert machine["classes"]["bytes"].sum() == links["bytes"].sum()
    assert machine["links"].height == links.height
    assert machine["hot_links"]["busy"].is_sorted(descending=True)
    busiest = links.filter(from_kind="router", to_kind="router")["busy"].max()
    assert machine["hot_links"]["busy"][0] == busiest


def test_every_node_has_its_job_and_its_router(run):
    drawn = machine_of(run, [])
    jobs = {row["id"]: row["job"] for row in drawn["nodes"].iter_rows(named=True)}
    for number, job in enumerate(run.resolved["spec"]["jobs"]):
        assert {jobs[node] for node in job["nodes"]} == {number}
    assert sum(job != machine.NO_JOB for job in jobs.values()) == run.jobs["nodes"].sum()
    routers = drawn["routers"]
    assert routers.select("group", "place").is_unique().all()
    assert set(drawn["nodes"]["router"]) <= set(routers.filter(pl.col("leaf"))["id"])


def test_leaves_come_before_spines_and_a_cascade_has_its_grid(made):
    plus = machine_of(made(TRAFFIC.format(system="tiny").replace("20\n", "6\n")), [])
    assert (plus["routers"]["leaf"] == (plus["routers"]["place"] < plus["leaves"])).all()
    cascade = machine_of(made(TRAFFIC.format(system="theta")), [])
    assert (cascade["columns"], cascade["routers"]["place"].max()) == (16, 95)
    assert cascade["group_name"] == "group"


@pytest.mark.parametrize(
    ("dimensions", "columns", "slices"), [([5], None, 5), ([3, 4], None, 4), ([3, 2, 4], 3, 4)], ids=["1", "2", "3"]
)
def test_a_slice_of_a_hyperx_is_a_grid(made, dimensions, columns, slices):
    """Catches routers of a slice that are drawn out of place, also where one of them has failed."""
    names = ["node", *(f"dim{n + 1}" for n in range(len(dimensions)))]
    links = "\n".join(f'{name} = {{ bandwidth = "1 GB/s" }}' for name in names)
    text = f"""
[system]
kind = "hyperx"
dimensions = {dimensions}
nodes_per_router = 2
failed = {{ routers = [1] }}

[system.fabric.links]
{links}

[[job]]
name = "a"
nodes = 6
place = "contiguous"
app = {{ pattern = "uniform-random", message = "1 KB", interval = "1 us", messages = 2 }}
"""
    shown = machine_of(made(text), [])
    per_slice = prod(dimensions[:-1])
    assert (shown["columns"], shown["routers"]["group"].max() + 1) == (columns, slices)
    assert shown["group_name"] == "slice"
    assert (shown["routers"]["place"] == shown["routers"]["id"] % per_slice).all()


def test_of_a_large_machine_the_busiest_links_are_kept_and_the_report_says_so(run, monkeypatch):
    monkeypatch.setattr(machine, "MOST_LINKS", 40)
    left_out: list[str] = []
    drawn = machine_of(run, left_out)
    assert drawn["links"].height == 20
    busy = run.links["busy"].sort(descending=True)
    kept = run.links.filter(pl.col("link").is_in(drawn["links"]["link"].implode()))
    assert kept["busy"].sort(descending=True).to_list() == busy.head(20).to_list()
    assert drawn["classes"]["links"].sum() == run.links.height
    assert left_out == [
        f"The machine has {run.links.height:,} directed links. The lists of links have the 20 busiest of them. Numbers "
        "of routers, nodes, pairs of groups and classes count all links."
    ]


def test_distributions_have_all_messages_and_the_right_quantiles(run):
    bins = times.distributions(run.jobs)
    for job in run.jobs.iter_rows(named=True):
        own = bins.filter(job=job["job"])
        assert own["count"].sum() == job["latency_count"]
        reached = own.filter(pl.col("count").cum_sum() * 2 >= job["latency_count"])
        assert reached["lower_ps"][0] <= job["latency_p50_ps"] <= reached["upper_ps"][0]


def test_long_distributions_are_joined_and_keep_their_tail():
    """A hundred thousand bins: about 1,200 stay, the last 300 as they are, and no message is lost."""
    count = np.ones(100_000, np.uint64)
    lower = np.arange(100_000, dtype=np.uint64) * np.uint64(10)
    row = {"job": [0], "bin_lower_ps": [lower], "bin_upper_ps": [lower + np.uint64(10)], "bin_count": [count]}
    bins = times.distributions(pl.DataFrame(row))
    assert 1_200 <= bins.height <= 1_520
    assert bins["count"].sum() == 100_000
    assert bins["count"].tail(300).to_list() == [1] * 300
    assert (bins["upper_ps"][:-1] == bins["lower_ps"][1:]).all()


def test_latencies_by_distance_and_over_time_cover_the_recorded_messages(run):
    messages = times.messages_of(run, [])
    arrived = run.messages.filter(pl.col("latency_ps").is_not_null())
    for job in run.jobs.filter(record="every-message")["job"]:
        own = arrived.filter(job=job)
        by_distance = [row for row in messages["distances"] if row["job"] == job]
        assert sum(row["count"] for row in by_distance) == own.height
        assert max(row["max"] for row in by_distance) == own["latency_ps"].max()
        slices = messages["over_time"].filter(job=job)
        assert slices["count"].sum() == own.height
        assert slices["sum_ps"].sum() == own["latency_ps"].sum()
        first = slices.row(0, named=True)
        inside = own.filter(pl.col("issue_ps") // messages["slice_ps"] == first["slice"])["latency_ps"].sort()
        assert first["p50_ps"] == inside[(len(inside) + 1) // 2 - 1]
        assert first["p99_ps"] == inside[-(-99 * len(inside) // 100) - 1]


def test_distances_are_those_of_the_machine(made):
    """On theta, nodes 0 and 1 share a router, node 4 is in their group, and node 400 is in another."""
    text = TRAFFIC.format(system="theta").split("[[job]]")
    job = text[1].replace("nodes = 20", "nodes = 2")
    for other, distance in ((1, "same router"), (4, "same group"), (400, "other group")):
        scenario = f"[[job]]{job}".replace('"random"', f"{{ nodes = [0, {other}] }}")
        run = made(f'system = "theta"\n{scenario}\n[measure]\nlatency = "every-message"\n'.replace("nodes = 2\n", ""))
        assert {row["distance"] for row in times.messages_of(run, [])["distances"]} == {distance}


def test_traffic_keeps_every_byte_also_if_windows_are_joined(run, monkeypatch):
    for most in (200, 3):
        monkeypatch.setattr(times, "SLICES", most)
        left_out: list[str] = []
        traffic = times.traffic_of(run, left_out)
        assert traffic["windows"].height <= most
        assert bool(left_out) is (most == 3)
        assert traffic["windows"]["width_ps"].sum() == run.counters.unique("window")["width_ps"].sum()
        for name in ("bytes_in", "packets_out"):
            assert traffic["rows"][name].sum() == run.counters[name].sum()


def test_paths_over_time_add_up_to_the_packets_of_the_jobs(run):
    routes = series.routes_of(run)
    assert routes["width_ps"] == run.series["width_ps"][0]
    sums = routes["rows"].group_by("job").agg(pl.col("packets", "minimal").sum()).sort("job")
    packets = run.links.filter(to_kind="node")["packets"].sum()
    assert sums["packets"].sum() == packets
    assert (sums["minimal"] / sums["packets"]).to_list() == pytest.approx(run.jobs["minimal_fraction"].to_list())
    # A packet reaches its node in the slice in which the link to its node has its bytes.
    to_nodes = run.links.filter(to_kind="node").select("link")
    slices = run.series.join(to_nodes, on="link").select("slice", "job").unique().sort("slice", "job")
    assert routes["rows"].select("slice", "job").equals(slices)


def test_loads_over_time_are_those_of_the_series(run):
    document = run_document(run)
    loads, links = document["series"], document["machine"]["links"]
    cells, slices, full = loads["cells"], loads["slices"], loads["full"]
    assert cells.height == links.height * slices
    shown = {name: cells[name].to_numpy().reshape(-1, slices) for name in cells.columns}
    jobs = range(run.jobs.height)
    bandwidth = dict(run.links.select("link", "bandwidth").iter_rows())
    rows = run.series.with_columns(pl.col("start_ps").floordiv(loads["width_ps"]).cast(pl.Int64).alias("slice"))
    seen = 0
    for row in range(0, links.height, max(1, links.height // 200)):
        link = links["link"][row]
        capacity = bandwidth[link] * loads["width_ps"] * 1e-12
        of = rows.filter(link=link)
        queue = dict(of.group_by("slice").agg(pl.col("wait_ps").sum()).iter_rows())
        by_job = of.group_by("slice", "job").agg(pl.col("bytes").sum())
        started = {(part, job): size for part, job, size in by_job.iter_rows()}
        left = [0.0 for _ in jobs]  # bytes on their way, which the link sends as fast as it can
        for part in range(slices):
            left = [left[job] + started.get((part, job), 0) for job in jobs]
            share = min(1, capacity / sum(left)) if sum(left) else 0
            now = [size * share / capacity * full for size in left]
            assert shown["busy"][row, part] == pytest.approx(sum(now), abs=1.001)
            if "job_0" in shown:
                assert all(shown[f"job_{job}"][row, part] == pytest.approx(now[job], abs=1.001) for job in jobs)
            assert shown["queue"][row, part] == min(
                255, np.ceil(queue.get(part, 0) / loads["width_ps"] * loads["per_packet"] - 1e-6)
            )
            left = [size * (1 - share) for size in left]
        assert shown["busy"][row].any() == (of.height > 0)
        seen += of.height > 0
    assert seen > 0
    assert shown["busy"].max() <= full


def test_slices_are_joined_and_jobs_left_out_where_there_are_too_many_numbers(run, monkeypatch):
    links, slices = run.links.height, int(run.series["slice"].max()) + 1
    for most, parts, jobs in ((4 * links * slices, slices, True), (3 * links * slices, slices, False)):
        monkeypatch.setattr(series, "MOST_CELLS", most)
        left_out: list[str] = []
        joined_loads = series.series_of(run, run.links, left_out)
        assert (joined_loads["slices"], "job_0" in joined_loads["cells"].columns, len(left_out)) == (
            parts,
            jobs,
            not jobs,
        )
    monkeypatch.setattr(series, "MOST_CELLS", 2 * links * slices - 1)
    joined = series.series_of(run, run.links, left_out)
    assert (joined["slices"], joined["width_ps"]) == (-(-slices // 2), 2 * joined_loads["width_ps"])
    assert "2 slices of the run are one slice of this report" in " ".join(left_out)


def test_iterations_are_those_of_the_table_and_thinned_if_there_are_many(program, monkeypatch):
    whole = times.iterations_of(program, [])
    assert whole["time_ps"].to_list() == program.iterations["time_ps"].drop_nulls().to_list()
    monkeypatch.setattr(times, "MOST_ITERATIONS", 2)
    left_out: list[str] = []
    assert times.iterations_of(program, left_out).height < whole.height
    assert left_out == ["Iterations: one in 3 is drawn. The table of jobs counts all of them."]


def test_the_verdict_says_for_whom_the_slowest_job_waits_as_explain_does(made, plus, program):
    job = plus.jobs.row(0, named=True)
    assert verdict(plus)[0].startswith(
        f"target has a mean latency {job['slowdown']:.2f} times that of the job alone. Packets waited for room in "
        "buffers, "
    )
    assert "`odonata explain` finds it" in verdict(plus)[0]
    text = TRAFFIC.format(system="tiny").replace("20\n", "6\n").replace("series = true", "")
    blamed = made(f"{text}\nblame = true", alone=True)
    waits = blamed.blame.filter((pl.col("victim") == 0) & (pl.col("wait") != "service"))
    share = 100 * waits.filter(pl.col("cause") == 1)["time_ps"].sum() / waits["time_ps"].sum()
    first = verdict(blamed)[0]
    assert f"{share:.0f} % of this waiting is for `noise`, " in first
    assert f"{share:.0f} % of this waiting is for `noise`, " in "\n".join(
        od.explain(blamed, "target").as_dict()["sentences"]
    )
    assert " of that at links " in first
    assert verdict(program)[0].startswith(("sum takes ", "halo takes ", "No job takes longer beside the others"))


def test_two_runs_say_in_the_title_what_differs(made):
    text = TRAFFIC.format(system="tiny").replace("20\n", "6\n").replace("series = true", "")
    first, other = made(text), made(text.replace("seed = 1", "seed = 2").replace('"4 KB"', '"8 KB"'))
    assert title_of(first, other) == "job.target.app.message 4 KB or 8 KB, run.seed 1 or 2"
    assert title_of(first, first) == "the same scenario, seed and version"
    own = made(text.replace('name = "target"\n', 'name = "target"\nrouting = "minimal"\n'))
    assert title_of(first, own) == f"job.target.routing {first.resolved['scenario']['routing']['name']} or minimal"
    page = report_of_runs([first, other]).decode()
    assert f": {title_of(first, other)} - Odonata</title>" in page


def test_a_run_without_messages_says_so(made):
    text = TRAFFIC.format(system="tiny").replace("20\n", "6\n")
    run = made(text.replace("seed = 1", 'seed = 1\nhorizon = "100 ns"'))
    document = run_document(run)
    assert "No packet waited for room in a buffer." in document["verdict"][0]
    assert document["messages"]["distances"] == []
    assert document["distributions"].height == 0


def test_flow_completion_times_are_those_of_the_summary(tmp_path):
    (tmp_path / "f.csv").write_text("0,1,10 kB\n2,1,1 kB\n")
    apps = [{"flows": "f.csv"}, {"collective": "broadcast", "message": "1 kB"}]
    jobs = [{"name": name, "nodes": nodes, "app": app} for name, nodes, app in zip("ab", (3, 2), apps, strict=True)]
    run = od.run(scenario.load({"system": "tiny", "job": jobs}, folder=tmp_path))
    document = run_document(run)
    assert document["flows"] == [{"job": "a", "by_size": run.summary["jobs"][0]["flows"]["by_size"]}]
    assert document["flows"][0]["by_size"][0]["slowdown"]["p50"] >= 1
    assert document["jobs"][1]["busbw"] == run.jobs["busbw"][1] > 0
    assert "nccl-tests" in document["meanings"]["busbw"]
