"""All-reduces of NCCL: the points, their scenarios, and rows that match and rows that do not."""

import pytest

from odonata.reproduce import find
from odonata.reproduce.nccl.busbw import CLUSTERS, TOLERANCE, bus_bandwidth, chosen, make, published, tuned


@pytest.fixture(scope="module")
def study():
    return find("nccl")


def test_the_points_of_both_forms(study):
    full, few = study.points(False), study.points(True)
    assert len(full) == sum(len(CLUSTERS[cluster].models) for cluster, _ in published())
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
        assert [(what["first"], what["per_node"], what["bytes"]) for what in whats] == [(k, 8, 2**17) for k in range(8)]
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
    assert page.startswith("# All-reduces of NCCL\n\nMade by `odonata reproduce nccl`; do not edit.")
    assert "$" not in page
