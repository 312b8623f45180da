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
        # A ring over a line uses each direction of a link once; one of three GPUs and one beside uses what all have.
        ({"network": "mesh", "bandwidth": "20 GB/s", "links": [[0, 1, 2], [1, 2], [2, 3]]}, 1, 1, 20),
        ({"network": "mesh", "bandwidth": "20 GB/s", "links": [[0, 1, 2], [1, 2], [2, 3], [0, 3, 3]]}, 1, 2, 40),
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
    asked = resolved(size, nodes=nodes, algorithm=algorithm, protocol=protocol)
    assert made.spec == asked.spec
    said = f"`a`: `nccl` takes `{algorithm}` with the protocol `{protocol}` for allreduce of {size} on "
    assert any(note.startswith(said) for note in made.notes)
    assert not any("`nccl` takes" in note for note in asked.notes)


def test_an_all_to_all_says_what_nccl_takes():
    made = resolved(collective="alltoall")
    algorithm = made.document["scenario"]["job"][0]["app"]["algorithm"]
    assert f"`a`: `nccl` takes `{algorithm}` for the all-to-all on 32 ranks" in made.notes


def test_the_choice_keeps_to_a_protocol_that_is_given():
    app = resolved("1 GiB", protocol="ll").document["scenario"]["job"][0]["app"]
    assert app["protocol"] == "ll"


def test_trees_count_with_what_a_node_carries_on_two_nodes():
    """By hand: a channel of 12 GB/s between nodes (a NIC of 12.5) has 24 inside, as NVLink carries it. A tree then
    takes 256 MB / (24 x 0.92 / 2 x 0.9 GB/s), a ring 256 MB / (12.5 x 16 / 30 GB/s). On more nodes both have 12.5.
    """
    gpu = {"count": 8, "network": "switch", "bandwidth": "300 GB/s", "latency": "1 us"}
    table = GpuTable.model_validate(gpu | {"generation": "hopper", "cpu": "intel", "nics": [0] * 8}).on_rails(1)
    of = communicator(table, 2, 12_500 * 10**12)
    assert (of.channels, of.inside, of.bandwidth) == (1, 24.0, 12.5)
    assert bandwidth(of, "tree", "simple") == pytest.approx(24 * 0.92 / 2)
    assert choice(of, 256_000_000)[0] == "tree"
    more = communicator(table, 3, 12_500 * 10**12)
    assert (more.inside, bandwidth(more, "tree", "simple")) == (None, pytest.approx(12.5 * 0.92 / 2))
    assert choice(more, 256_000_000)[0] == "ring"


@pytest.mark.parametrize(
    ("generation", "nics", "nic", "channels", "inside"),
    [
        # A speed of the list inside nodes, up to twice that between them.
        ("ampere", 4, 25.0, 4, 48.0),
        ("hopper", 8, 50.0, 8, 48.0),
        # Two channels for a NIC of 100 GB/s; more than four of 48 GB/s are not doubled on Hopper.
        ("hopper", 4, 100.0, 8, 48.0),
        # Few or slow ones are, with half of the speed.
        ("hopper", 4, 50.0, 8, 48.0),
        ("ampere", 8, 50.0, 16, 48.0),
        # A list has steps; slower than its last speed counts as it is.
        ("hopper", 2, 0.1, 2, 0.24),
    ],
)
def test_the_channels_of_nics(generation, nics, nic, channels, inside):
    gpu = {"count": 8, "network": "switch", "bandwidth": "8 TB/s", "latency": "1 us", "cpu": "intel"}
    table = GpuTable.model_validate(gpu | {"generation": generation}).on_rails(nics)
    of = communicator(table, 2, int(nic * 10**15))
    assert (of.channels, of.inside / of.channels) == (channels, pytest.approx(inside))
    assert of.bandwidth == pytest.approx(nics * nic)


def test_links_inside_bound_what_trees_count_with():
    """Four GPUs in a line of 20 GB/s: chains of two NICs cross the same links, so none has more than its share."""
    gpu = {"count": 4, "network": "mesh", "bandwidth": "20 GB/s", "latency": "1 us", "cpu": "intel"}
    table = GpuTable.model_validate(gpu | {"generation": "ampere", "links": [[0, 1], [1, 2], [2, 3]]}).on_rails(2)
    assert communicator(table, 2, 15 * 10**15).inside / 2 == pytest.approx(20)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_gathers_and_scatters_take_rings_with_the_best_protocol(collective):
    """Half the steps of an all-reduce, and no trees. By hand for DGX: 31 steps, of which 3 between nodes."""
    assert latency(DGX, "ring", "ll", collective) == 6_600 + 28 * 2_000 + 3 * 2_700
    assert bandwidth(DGX, "ring", "simple", collective) == pytest.approx(200 * 32 / 31)
    simple = 8.4 + 28 * 6 + 3 * 14 + 2**30 / (1e3 * 200 * 32 / 31)  # no plateau
    assert time_us(DGX, "ring", "simple", 2**30, collective) == pytest.approx(simple)
    assert choice(DGX, 2**16, collective=collective) == ("ring", "ll")
    each = 32 if collective == "allgather" else 1
    for size, protocol in ((2**16, "ll"), (2**30, "simple")):
        app = resolved(f"{size // each} B", collective=collective).document["scenario"]["job"][0]["app"]
        assert (app["algorithm"], app["protocol"]) == ("ring-channels", protocol)


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
        ({"collective": "broadcast"}, "found `nccl`", ("app", "algorithm")),
        ({"collective": "allgather", "chunk": "64 KiB"}, "unknown key `chunk`", ("app", "chunk")),
        ({"collective": "allgather", "algorithm": "bruck", "protocol": "ll"}, "has no protocol", ("app", "protocol")),
        ({"collective": "reduce-scatter", "algorithm": "hierarchical"}, "found `hierarchical`", ("app", "algorithm")),
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
    """In bytes of messages a second, with flags: of a GPU inside its node, and of a CPU of a rank between nodes.

    Of what a GPU writes for a tree, the part of the heads of chains goes to other nodes, an eighth.
    """
    giga = 10**15
    assert limits(ONE, "ring-channels", "simple") is None
    assert limits(ONE, "ring-channels", "ll").inside == 2 * 87_700 * giga // 1_000
    four = limits(DGX, "ring-channels", "ll")
    assert (four.inside, four.between) == (2 * 87_700 * giga // 1_000, 2 * 19 * giga // 8)
    assert (four.nic, four.shared) == (None, False)  # a CPU writes a message whole before its NIC sends it
    assert limits(DGX, "ring-channels", "ll128") == Limits(
        160 * giga * 128 // 120, pytest.approx(20 * giga * 128 / 120, rel=1e-9), 25 * giga, shared=False
    )
    tree = limits(DGX, "double-binary-tree", "simple")
    assert (tree.inside, tree.between) == (7 * 17_800 * giga // 1_000, 17_800 * giga // 1_000 // 2)
    assert (tree.nic, tree.shared) == (25 * giga, True)
    assert limits(DGX, "double-binary-tree", "ll").nic is None
    assert limits(DGX, "double-binary-tree", "ll128").inside == pytest.approx(7 * 17.8 * giga * 128 / 120)
    assert limits(TWO, "double-binary-tree", "ll128").inside == pytest.approx(7 * 36.7 * giga * 128 / 120)
    assert limits(ONE, "double-binary-tree", "simple").between is None


def costs(size="1 MiB", **more):
    """What a rank of the job pays: the port of its GPU, and a list by size."""
    program = resolved(size, **more).spec["jobs"][0]["program"]
    return program["gpus"]["network"]["port"], program.get("by_size", ())


def rates(size="1 MiB", **more):
    """CPU of a rank -> most that it writes to other GPUs of its node."""
    return dict(resolved(size, **more).spec["jobs"][0]["program"]["gpus"].get("rates", []))


def test_a_protocol_carries_no_more_than_its_limits():
    """A ring with LL: 175.4 GB/s of 240 inside a node, and 4.75 GB/s of a channel between nodes, until a message costs
    1 ms. Catches limits that count data in place of messages, and a port that becomes faster.
    """
    port, by_size = costs(algorithm="ring-channels", protocol="ll")
    assert port == 240 * 10**15
    first, last = by_size
    assert first["send_ps"] == 8 * 10**12 // (4_750 * 10**6)
    assert last["send_ps"] <= 10**9 < last["send_ps"] + 1_000
    assert last["bytes"] == 10**9 * 4_750 * 10**6 // 10**12
    # Eight rings, of which seven leave a port of 240 GB/s.
    assert rates(algorithm="ring-channels", protocol="ll") == dict.fromkeys(range(8), 175_400 * 10**12 // 8)
    assert rates(algorithm="ring-channels", protocol="ll128") == dict.fromkeys(range(8), 20 * 10**15 * 128 // 120)
    assert rates("1 GiB", algorithm="ring-channels", protocol="simple") == dict.fromkeys(range(8), 240 * 10**15 // 7)
    assert rates("1 GiB", nodes=1, algorithm="ring-channels", protocol="simple") == {}
    assert rates(nodes=1, algorithm="ring-channels", protocol="ll") == {0: 175_400 * 10**12}
    assert rates(nodes=1, algorithm="ring", protocol="ll") == {0: 175_400 * 10**12}
    # A channel with LL128 writes 20 GB/s of data while its NIC sends 25 GB/s of messages: 0.006875 ps a byte more.
    base, last = costs(algorithm="ring-channels", protocol="ll128")[1]
    assert base["send_ps"] < 10**6
    assert (last["delay_ps"] - base["delay_ps"]) / last["bytes"] == pytest.approx(6.875, rel=1e-6)
    assert costs(algorithm="double-binary-tree", protocol="simple")[0] == 7 * 17_800 * 10**12


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
