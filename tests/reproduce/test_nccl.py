"""All-reduces of NCCL: the points, their scenarios, and rows that match and rows that do not."""

import pytest

from odonata.reproduce import find
from odonata.reproduce.nccl import version
from odonata.reproduce.nccl.busbw import (
    CLUSTERS,
    OLD,
    START_US,
    STARTED,
    TOLERANCE,
    bus_bandwidth,
    chosen,
    make,
    old,
    published,
    tuned,
)


@pytest.fixture(scope="module")
def study():
    return find("nccl")


def test_the_points_of_both_forms(study):
    full, few = study.points(False), study.points(True)
    assert len(full) == sum(len(CLUSTERS[of].models) + len(CLUSTERS[of].tried) for of, _ in published())
    assert [point for point in full if point["bytes"] <= 2**22] == few
    assert {point["cluster"] for point in few} == set(CLUSTERS)


def test_the_published_values_are_those_of_times(study):
    """The two tables print times too; these are three of them, in microseconds."""
    for cluster, size, time in (("nd-a100", 2**20, 74.78), ("nd-a100", 2**33, 63_896), ("dgx-a100", 2**30, 11_643)):
        value = bus_bandwidth(cluster, size, round(time * 1e6))
        assert published()[cluster, size] == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("model", ["ring", "ring-channels", "hierarchical"])
def test_the_ranks_are_on_the_gpus_of_the_nodes(model):
    spec = make({"cluster": "dgx-a100", "model": model, "bytes": 2**20}).resolve().spec
    [job] = spec["jobs"]
    assert job["nodes"] == [rank // 8 for rank in range(32)]
    gpus = job["program"]["gpus"]
    assert (gpus["count"], gpus["nics"], gpus["network"]["port"]) == (8, [*range(8)], 240 * 10**15)
    body = job["program"]["body"]
    if model == "ring-channels":
        whats = [phase["what"] for of in body["collectives"] for phase in of["phases"]]
        orders = [[(first + step) % 8 for step in range(8)] for first in range(8)]
        assert [(what["order"], what["bytes"]) for what in whats] == [(order, 2**17) for order in orders]
        return
    sizes = [phase["what"].get("bytes") for phase in body["phases"]]
    assert [size for size in sizes if size] == ([2**20] if model == "ring" else [2**20, 2**17, 2**17])


def test_the_model_nccl_has_the_algorithm_and_protocol_of_a_size():
    """A tree for 1 MiB on four nodes, rings for 1 GiB."""
    for size, algorithm, protocol in ((2**20, "double-binary-tree", "ll128"), (2**30, "ring-channels", "simple")):
        resolved = make({"cluster": "dgx-a100", "model": "nccl", "bytes": size}).resolve()
        app = resolved.document["scenario"]["job"][0]["app"]
        assert (app["algorithm"], app["protocol"]) == (algorithm, protocol)
        names = {"double-binary-tree": "tree-channel", "ring-channels": "ring-channel"}
        entries = resolved.spec["jobs"][0]["program"]["body"]["collectives"]
        assert {of["phases"][0]["what"]["name"] for of in entries} == {names[algorithm]}


def test_what_the_tuning_model_knows_of_the_clusters():
    """Twelve links of NVLink at 20 GB/s on one node; a NIC of 25 GB/s for each GPU on four."""
    one, four = tuned("nd-a100"), tuned("dgx-a100")
    assert (one.nodes, one.per_node, one.channels, one.bandwidth) == (1, 8, 12, 240)
    assert (four.nodes, four.per_node, four.channels, four.bandwidth) == (4, 8, 8, 200)
    assert {of.generation for of in (one, four)} == {"ampere"}
    assert {of.cpu for of in (one, four)} == {"amd"}
    assert len(chosen()) == len(published())


def test_the_model_with_a_start_begins_as_late_as_an_empty_all_reduce_takes():
    """8.4 us of NCCL's model and 34.69 us. Catches a start that is lost in the costs of a protocol."""
    point = {"cluster": "nd-a100", "bytes": 2**20}
    calls = []
    for model in ("nccl", STARTED):
        body = make({**point, "model": model}).resolve().spec["jobs"][0]["program"]["body"]
        [[call, *_]] = body["stages"]
        calls.append(call["what"]["ps"])
    assert calls[1] - calls[0] == round(START_US * 1e6)


def test_what_version_2_7_5_estimates_and_chooses():
    """By hand from its tables: LL128 of a tree of eight channels carries 105 GB/s x 0.915, that of a ring 8 x 16.7, and
    a ring with Simple waits 1.9 times as long."""
    of = old("dgx-a100")
    assert version.bus(of, "tree", "ll128") == pytest.approx(105 * 0.915)
    assert version.bus(of, "ring", "ll128") == pytest.approx(8 * 16.7)
    assert version.bus(of, "ring", "ll") == pytest.approx(192 / 4)
    assert version.carried(of, "ring", "simple") == 235
    tree = 4.4 + 2 * (7 * 1.2 + 2 * 8.5) + 2**20 / (500 * 105 * 0.915 * 0.6)
    ring = 1.9 * (8.4 + 56 * 3.4 + 6 * 9.6) + 2**28 * 62 / 32 / 192_000
    for name, protocol, size, time in (("tree", "ll128", 2**20, tree), ("ring", "simple", 2**28, ring)):
        assert version.choice(of, size) == (name, protocol)
        assert version.time_us(of, name, protocol, size) == pytest.approx(time)


@pytest.mark.parametrize(("size", "call", "inside"), [(2**23, 10.0, 1.9), (2**28, 8.4, 3.4)])
def test_steps_of_version_2_7_5_take_the_times_of_its_tables(size, call, inside):
    """A ring with LL128 and one with Simple: the start, and a step inside a node without its bytes."""
    resolved = make({"cluster": "dgx-a100", "model": OLD, "bytes": size}).resolve()
    program = resolved.spec["jobs"][0]["program"]
    [[start, *_]] = program["body"]["stages"]
    assert start["what"]["ps"] == pytest.approx(call * 1e6, abs=10)
    costs = program["costs"]
    step = costs["send_ps"] + costs["receive_ps"] + program["gpus"]["network"]["latency_ps"]
    assert step == pytest.approx(inside * 1e6, abs=10)


def run(cluster, model, size, time_us):
    return {"cluster": cluster, "model": model, "bytes": size, "time_ps": time_us * 10**6}


def test_rows_that_match_and_rows_that_do_not(study):
    theirs = published()["nd-a100", 2**30]
    time = 1.75 * 2**30 / (theirs * 1e9) * 1e6
    runs = [
        run("nd-a100", "ring", 2**30, round(time * 1.1)),
        run("nd-a100", "ring", 2**29, 1),
        run("dgx-a100", "hierarchical", 2**20, 10**6),
    ]
    rows = study.rows(runs)
    assert [row.verdict for row in rows] == ["match", "no match", "no match"]
    assert {row.tolerance for row in rows} == {TOLERANCE}
    assert rows[0].ours == pytest.approx(theirs / 1.1, rel=1e-3)
    page = study.page(rows, runs)
    assert "Experiment" not in "".join(row.experiment for row in rows)
    assert page.startswith("## All-reduces by size\n\n`nccl`: Odonata ")
    assert "$" not in page


def test_a_late_start_is_the_cause_where_it_gives_the_published_value(study):
    """For `nccl` on both clusters, and not where the late start does not help."""
    runs = []
    for cluster, size, late in (("nd-a100", 2**20, 1.0), ("dgx-a100", 2**20, 1.0), ("nd-a100", 2**21, 0.5)):
        ranks = CLUSTERS[cluster].ranks
        time = 2 * (ranks - 1) / ranks * size / (published()[cluster, size] * 1e9) * 1e6
        runs += [run(cluster, "nccl", size, round(time / 2)), run(cluster, STARTED, size, round(time / late))]
    rows = study.rows(runs)
    causes = {(row.what, row.model): row.why for row in rows}
    assert [model for _, model in causes] == ["nccl", STARTED, "nccl", "nccl", STARTED]
    assert causes["nd-a100: all-reduce of 1 MiB", "nccl"].startswith("a collective starts sooner here")
    assert "not published for `dgx-a100`" in causes["dgx-a100: all-reduce of 1 MiB", "nccl"]
    assert causes["nd-a100: all-reduce of 2 MiB", "nccl"] == ""
