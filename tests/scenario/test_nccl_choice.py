"""`algorithm = "nccl"`: the estimates of NCCL's tuning model by hand, what follows from them, and what is refused."""

from pathlib import Path

import pytest
import tomlkit

from odonata import scenario
from odonata.errors import InputError
from odonata.machine.gpus import GpuTable
from odonata.machine.host import HostTable
from odonata.scenario.apps.nccl import Communicator, bandwidth, choice, communicator, latency, limits, time_us
from odonata.scenario.apps.protocols import Limits, with_limits

DGX = Communicator(nodes=4, per_node=8, channels=8, bandwidth=200.0, generation="ampere", cpu="amd")
"""Four DGX A100 with a NIC of 25 GB/s for each GPU."""
ONE = Communicator(nodes=1, per_node=8, channels=12, bandwidth=240.0, generation="ampere", cpu="amd")
"""A node of eight A100, each with twelve links of 20 GB/s."""
TWO = Communicator(nodes=2, per_node=8, channels=8, bandwidth=400.0, generation="hopper", cpu="intel")
"""Two DGX H100 with a NIC of 50 GB/s for each GPU."""


def test_latencies_by_hand():
    """62 steps of a ring, of which 6 between nodes; a tree down a chain of seven and two levels, and up."""
    assert latency(DGX, "ring", "ll128") == 14_000 + 56 * 2_000 + 6 * 4_000
    assert latency(DGX, "ring", "simple") == 8_400 + 56 * 6_000 + 6 * 14_000
    assert latency(DGX, "tree", "ll") == 6_800 + 2 * (7 * 600 + 2 * 5_000)
    assert latency(ONE, "ring", "simple") == 8_400 + 14 * 3_400
    assert latency(ONE, "tree", "simple") == 8_400 + 2 * 7 * 4_000
    assert latency(TWO, "ring", "simple") == 8_400 + 28 * 3_400 + 2 * 14_000  # Intel posts in 3 us
    assert latency(TWO, "ring", "ll") == 6_600 + 28 * 1_000 + 2 * 2_700


def test_bandwidths_by_hand():
    """In GB/s of the vector."""
    ring = 32 / 62
    assert bandwidth(DGX, "ring", "simple") == pytest.approx(200 * ring)
    assert bandwidth(DGX, "ring", "ll128") == pytest.approx(160 * ring)
    assert bandwidth(DGX, "ring", "ll") == pytest.approx(19 * ring)
    assert bandwidth(DGX, "tree", "simple") == pytest.approx(8 * 17.8 / 2)
    assert bandwidth(DGX, "tree", "ll128") == pytest.approx(8 * 17.8 * 120 / 128 / 2)
    assert bandwidth(ONE, "ring", "ll") == pytest.approx(87.7 * 8 / 14)
    assert bandwidth(ONE, "tree", "ll128") == pytest.approx(240 * 0.92 * 7 / 9 / 2)
    assert bandwidth(ONE, "tree", "ll") == pytest.approx(240 * 0.92 / 3.8 / 2)
    assert bandwidth(TWO, "ring", "ll") == pytest.approx(39 * 16 / 30)  # by the CPUs, not by the GPUs
    assert bandwidth(TWO, "ring", "ll128") == pytest.approx(8 * 36.7 * 16 / 30)
    assert bandwidth(TWO, "tree", "simple") == pytest.approx(8 * 41.4 / 2)


def test_times_by_hand():
    """1 MiB is place 14 of the factors of a tree; a ring with Simple has a plateau."""
    tree = 14 + 2 * (7 * 1.25 + 2 * 8.5) + 2**20 / (1e3 * 0.6 * 8 * 17.8 * 120 / 128 / 2)
    assert time_us(DGX, "tree", "ll128", 2**20) == pytest.approx(tree)
    small = 6.8 + 2 * (7 * 0.6 + 2 * 5) + 2**18 / (1e3 * 0.4 * 19 / 2)  # place 12
    assert time_us(DGX, "tree", "ll", 2**18) == pytest.approx(small)
    ring = 1.4 * (8.4 + 56 * 6 + 6 * 14) + 2**30 / (1e3 * 200 * 32 / 62)
    assert time_us(DGX, "ring", "simple", 2**30) == pytest.approx(ring)
    few = 8.4 + 56 * 6 + 6 * 14 + 8_192 / (1e3 * 200 * 32 / 62)
    assert time_us(DGX, "ring", "simple", 8_192) == pytest.approx(few)


def test_small_vectors_take_ll_and_large_ones_simple():
    for of in (DGX, ONE, TWO):
        choices = [choice(of, 2**power)[1] for power in range(6, 34)]
        assert (choices[0], choices[-1]) == ("ll", "simple")


@pytest.mark.parametrize(
    ("more", "nodes", "channels", "gbps"),
    [
        ({"network": "switch", "bandwidth": "240 GB/s"}, 1, 12, 240),
        ({"network": "mesh", "bandwidth": "80 GB/s"}, 1, 12, 240),
        ({"network": "mesh", "bandwidth": "20 GB/s", "links": [[0, 1, 2], [1, 2], [2, 3]]}, 1, 3, 60),
        ({"network": "switch", "bandwidth": "370.8 GB/s", "generation": "hopper"}, 1, 18, 370.8),
        ({"network": "switch", "bandwidth": "240 GB/s"}, 3, 4, 100),
        ({"network": "switch", "bandwidth": "240 GB/s", "nics": [0, 0, 1, 1]}, 3, 2, 50),
    ],
)
def test_the_channels_of_a_system(more, nodes, channels, gbps):
    """By hand: a channel for each link of a GPU on one node, else for each NIC."""
    table = {"count": 4, "latency": "1 us", "generation": "ampere", "cpu": "amd"} | more
    of = communicator(GpuTable.model_validate(table).on_rails(4), nodes, 25 * 10**15)
    assert (of.channels, of.bandwidth) == (channels, pytest.approx(gbps))


def resolved(size="1 MiB", *, nodes=4, per_node=8, gpu=None, preset="superpod-h100-gpu", **app):
    """An all-reduce on A100 unless `gpu` says something else."""
    known = {"bandwidth": "240 GB/s", "generation": "ampere", "cpu": "amd"} if gpu is None else gpu
    table = {"collective": "allreduce", "algorithm": "nccl", "message": size} | app
    job = {"name": "a", "nodes": nodes, "ranks_per_node": per_node, "place": "contiguous", "app": table}
    links = {"node": {"bandwidth": "200 Gbit/s"}}
    document = {"system": {"preset": preset, "fabric": {"links": links}, "host": {"gpu": known}}, "job": [job]}
    return scenario.parse(tomlkit.dumps(document), Path("s.toml")).resolve()


@pytest.mark.parametrize(
    ("nodes", "size", "algorithm", "protocol"),
    [
        # A tree takes 35.2 + 11.5 us with LL and 65.5 + 1.6 us with LL128; a ring begins with 134.8 us.
        (4, "64 KiB", "double-binary-tree", "ll"),
        (4, "1 MiB", "double-binary-tree", "ll128"),
        (4, "1 GiB", "ring-channels", "simple"),
        # 15.0 + 20.9 us with LL, 40.6 + 8.3 us with LL128, 56.0 + 7.6 us with Simple.
        (1, "1 MiB", "ring-channels", "ll"),
        # 15.0 + 83.7, 40.6 + 33.2, 56.0 + 30.6 us.
        (1, "4 MiB", "ring-channels", "ll128"),
        (1, "64 MiB", "ring-channels", "simple"),
    ],
)
def test_a_scenario_has_what_nccl_chooses(nodes, size, algorithm, protocol):
    """The resolved scenario names it, and is the same run as one that asks for it."""
    made = resolved(size, nodes=nodes)
    app = made.document["scenario"]["job"][0]["app"]
    assert (app["algorithm"], app["protocol"]) == (algorithm, protocol)
    assert made.spec == resolved(size, nodes=nodes, algorithm=algorithm, protocol=protocol).spec


def test_the_choice_keeps_to_a_protocol_that_is_given():
    app = resolved("1 GiB", protocol="ll").document["scenario"]["job"][0]["app"]
    assert app["protocol"] == "ll"


@pytest.mark.parametrize("name", ["alps-gpu", "leonardo-gpu", "perlmutter-gpu"])
def test_presets_of_nvidia_have_what_it_needs(name):
    made = resolved("1 GiB", nodes=2, per_node=4, preset=name, gpu={})
    assert made.document["scenario"]["job"][0]["app"]["algorithm"] in ("ring-channels", "double-binary-tree")


@pytest.mark.parametrize(
    ("more", "message", "path"),
    [
        ({"gpu": "none"}, "`nccl` is for nodes with GPUs", ("app", "algorithm")),
        (
            {"preset": "frontier-gpu", "gpu": {}},
            "`nccl` needs `generation` and `cpu` of the GPUs",
            ("app", "algorithm"),
        ),
        (
            {"gpu": {"network": "pcie", "root": "1 GB/s"}},
            "`nccl` is for GPUs that are joined by NVLink",
            ("app", "algorithm"),
        ),
        ({"per_node": 4}, "`nccl` needs a rank for each GPU", ("ranks_per_node",)),
        ({"size": "1 GiB", "chunk": "64 KiB"}, "`ring-channels` has no chunks", ("app", "chunk")),
        ({"collective": "allgather"}, "found `nccl`", ("app", "algorithm")),
    ],
)
def test_what_is_refused(more, message, path):
    with pytest.raises(InputError, match=message) as caught:
        resolved(**more)
    assert caught.value.path[-len(path) :] == path


def test_a_phase_cannot_choose():
    """It does not know the nodes of its job."""
    phase = {"collective": "allreduce", "algorithm": "nccl", "message": "1 MB"}
    document = {"system": {"preset": "superpod-h100-gpu"}}
    document["job"] = [{"name": "a", "nodes": 2, "app": {"motif": "phases", "phases": [phase]}}]
    with pytest.raises(InputError, match="`nccl` depends on the nodes of a job"):
        scenario.parse(tomlkit.dumps(document), Path("s.toml")).resolve()


def test_limits_by_hand():
    """In bytes of messages a second, with flags: of a GPU inside its node, and of a CPU of a rank between nodes."""
    giga = 10**15
    assert limits(ONE, "ring-channels", "simple") is None
    assert limits(ONE, "ring-channels", "ll").inside == 2 * 87_700 * giga // 1_000
    four = limits(DGX, "ring-channels", "ll")
    assert (four.inside, four.between) == (2 * 87_700 * giga // 1_000, 2 * 19 * giga // 8)
    assert limits(DGX, "ring-channels", "ll128") == Limits(
        160 * giga * 128 // 120, pytest.approx(20 * giga * 128 / 120, rel=1e-9)
    )
    tree = limits(DGX, "double-binary-tree", "simple")
    assert (tree.inside, tree.between) == (8 * 17_800 * giga // 1_000, 17_800 * giga // 1_000 // 2)
    assert limits(DGX, "double-binary-tree", "ll128").inside == pytest.approx(8 * 17.8 * giga * 128 / 120)
    assert limits(TWO, "double-binary-tree", "ll128").inside == pytest.approx(8 * 36.7 * giga * 128 / 120)


def costs(size="1 MiB", **more):
    """What a rank of the job pays: the port of its GPU, and a list by size."""
    program = resolved(size, **more).spec["jobs"][0]["program"]
    return program["gpus"]["network"]["port"], program.get("by_size", ())


def test_a_protocol_carries_no_more_than_its_limits():
    """A ring with LL: 175.4 GB/s of 240 inside a node, and 4.75 GB/s of a channel between nodes, until a message costs
    1 ms. Catches limits that count data in place of messages, and a port that becomes faster.
    """
    port, by_size = costs(algorithm="ring-channels", protocol="ll")
    assert port == 175_400 * 10**12
    first, last = by_size
    assert first["send_ps"] == 8 * 10**12 // (4_750 * 10**6)
    assert last["send_ps"] <= 10**9 < last["send_ps"] + 1_000
    assert last["bytes"] == 10**9 * 4_750 * 10**6 // 10**12
    assert costs(algorithm="ring-channels", protocol="ll128")[0] == 160 * 10**15 * 128 // 120
    assert costs("1 GiB", algorithm="ring-channels", protocol="simple")[0] == 240 * 10**15
    assert costs("1 GiB", nodes=1, algorithm="ring-channels", protocol="ll128")[0] == 240 * 10**15


def test_gpus_that_nccl_does_not_know_have_no_limits():
    """A protocol alone needs no generation."""
    unknown = {"count": 8, "network": "switch", "bandwidth": "240 GB/s", "latency": "600 ns"}
    port, by_size = costs(preset="superpod-h100", gpu=unknown, algorithm="ring-channels", protocol="ll")
    assert port == 240 * 10**15
    assert by_size == [{"bytes": 8, "send_ps": 0, "receive_ps": 0, "delay_ps": 500_000}], "the times of LL alone"


def test_limits_keep_the_costs_of_a_host_without_sizes():
    """A message that asks first still pays for it, and each pays for its bytes: 2 GB/s."""
    plain = {"send": "1 us", "receive": "2 us", "rendezvous": "5 us", "eager": "1 KB", "by_size": []}
    gpu = {"count": 2, "network": "switch", "bandwidth": "9 GB/s", "latency": "1 us"}
    host = with_limits(HostTable.model_validate(plain | {"gpu": gpu}), Limits(8 * 10**15, 2 * 10**15))
    assert host.gpu.bandwidth == 8 * 10**15
    sends = {of.size: of.send for of in host.by_size}
    assert (sends[1], sends[1_000], sends[1_001]) == (1_000_500, 1_500_000, 6_500_500)
    assert max(sends.values()) == 10**9
    assert {of.receive for of in host.by_size} == {2_000_000}
