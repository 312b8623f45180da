"""NICs that answer packets, from a machine's table to the core's document and to the results of a run."""

import polars as pl
import pytest

import odonata as od
from odonata import machine
from odonata.errors import InputError
from odonata.scenario import parse

#: A flit of 16 B on a link of 16 GiB/s, rounded up.
ARIES = {"packet_bytes": 64, "window": 1_024, "operation": "put", "cycle_ps": 932}
SCENARIO = """\
system = "tiny"

[fabric]
packet = "{packet}"
switching = "cut-through"
{nic}

[[job]]
name = "a"
nodes = 8
app = {{ pattern = "uniform-random", message = "1000 B", interval = "10 us", messages = 5 }}

[[job]]
name = "b"
nodes = 4
app = {{ collective = "allreduce", algorithm = "ring", message = "64 KiB", iterations = 2 }}
"""
NIC = 'nic = "aries"'


def fabric(nic, **more):
    return machine.load("tiny", fabric={"nic": nic, **more}).fabric


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("aries", {}),
        ({"kind": "aries", "window": 64}, {"window": 64}),
        ({"kind": "aries", "operation": "get"}, {"operation": "get"}),
        ({"kind": "aries", "packet": "128 B"}, {"packet_bytes": 128}),
        ({"kind": "aries", "cycle": "500 ps"}, {"cycle_ps": 500}),
    ],
)
def test_what_the_core_is_told(given, told):
    made = fabric(given)
    assert made["nic"]["aries"] == ARIES | told
    assert (made["header_bytes"], made["flit_bytes"]) == (16, 16)


def test_header_and_flit_may_be_others():
    made = fabric("aries", header="8 B", flit="8 B")
    assert (made["header_bytes"], made["flit_bytes"]) == (8, 8)


def test_a_preset_of_packets_without_headers_gets_those_of_aries():
    """Presets of Cray XC count no headers, because a packet stands for several of Aries."""
    plain = machine.load("piz-daint")
    assert plain.fabric.get("header_bytes", 0) == 0
    system = machine.load("piz-daint", fabric={"nic": "aries"})
    assert (system.fabric["header_bytes"], system.fabric["flit_bytes"]) == (16, 16)
    sources = {source.key: source.source for source in system.sources}
    assert sources["fabric.header"] == "De Sensi 2019, section 2.1: one header flit"
    assert machine.load("piz-daint", fabric={"nic": "aries", "header": "8 B"}).fabric["header_bytes"] == 8
    simple = machine.load(system.document(), fabric={"nic": "simple"})
    assert "aries" not in simple.fabric["nic"]


@pytest.mark.parametrize("simple", ["simple", {"kind": "simple"}])
def test_a_simple_nic_is_what_the_core_does_anyway(simple):
    """Runs with simple NICs keep their identity, and a system with others can be made simple again."""
    assert fabric(simple) == machine.load("tiny").fabric
    answering = machine.load("tiny", fabric={"nic": "aries"}).document()
    assert machine.load(answering, fabric={"nic": simple}).fabric == machine.load("tiny").fabric


def test_the_document_of_a_system_makes_the_same_system():
    system = machine.load("tiny", fabric={"nic": {"kind": "aries", "window": 5}})
    assert machine.load(system.document()).fabric == system.fabric


@pytest.mark.parametrize(
    ("nic", "message", "hint"),
    [
        ({"kind": "arise"}, "`kind`: expected `simple`, `aries` or `windowed`, found `arise`", "`aries`"),
        ({"window": 5}, "a `simple` NIC has no `window`", '"aries"'),
        ({"kind": "aries", "window": 0}, "a window must be between 1 and 1,048,576 packets, found 0", None),
        ({"kind": "aries", "packet": "0 B"}, "a packet must have between 1 and 65,536 bytes, found 0", None),
    ],
)
def test_what_is_no_nic_is_refused(nic, message, hint):
    with pytest.raises(InputError) as caught:
        machine.load("tiny", fabric={"nic": nic})
    assert message in str(caught.value)
    assert hint is None or hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("nic", "message"),
    [
        ('nic = { kind = "aries", cycle = "1 ns" }', "`cycle` is 1 ns, longer than a flit of 16 B takes"),
        ('nic = { kind = "aries", window = 3, packet = "16 B" }', "`window` is 3; it must be between 4 and 1048576"),
        ('nic = "aries"\nchannels = 9', "`channels` is 9; it must be between 1 and 8"),
    ],
)
def test_what_no_run_can_have_names_its_line(nic, message):
    with pytest.raises(InputError) as caught:
        od.run(parse(SCENARIO.format(packet="64 B", nic=nic)))
    assert message in str(caught.value)
    assert caught.value.line is not None


@pytest.fixture(scope="module")
def exact():
    return od.run(parse(SCENARIO.format(packet="64 B", nic=NIC)))


def test_the_counters_of_a_run(exact):
    """1,000 B are 15 packets of 5 flits and one of 40 B, of 4 flits."""
    a = exact.nics.filter(pl.col("job") == 0)
    assert a["request_packets"].to_list() == [5 * 16] * 8
    assert a["request_flits"].to_list() == [5 * 79] * 8
    assert exact.nics["answered_packets"].sum() == exact.nics["response_packets"].sum()
    messages = exact.nic_messages.filter(pl.col("job") == 0)
    assert set(messages["packets"]) == {16}
    assert set(messages["flits"]) == {79}
    assert (messages["complete_ps"] > exact.messages.filter(pl.col("job") == 0)["latency_ps"]).all()


def test_a_job_has_the_sums_of_its_own_nics(exact):
    for row in exact.jobs.iter_rows(named=True):
        own = exact.nics.filter(pl.col("job") == row["job"])
        assert row["request_packets"] == own["request_packets"].sum() > 0
        assert row["request_flits"] == own["request_flits"].sum()
        assert abs(row["stalled_cycles"] - own["stalled_cycles"].sum()) <= len(own)  # each is rounded down
        mean = own["latency_ps"].sum() / own["answered_packets"].sum()
        assert row["packet_latency_mean_ps"] == pytest.approx(mean)


def test_links_show_the_flits_of_both_directions(exact):
    node = exact.links.filter((pl.col("from_kind") == "router") & (pl.col("to_kind") == "node"))
    assert node["flits"].sum() == exact.nics["request_flits"].sum() + exact.nics["response_flits"].sum()
    assert exact.links["packets_2"].sum() > 0, "responses use channels of their own"


def test_bursts_count_the_same_flits(exact):
    coarse = od.run(parse(SCENARIO.format(packet="1 KiB", nic=NIC)))
    assert coarse.summary["packet_hops"] < exact.summary["packet_hops"] / 8
    for column in ("request_packets", "request_flits"):
        assert coarse.nics[column].to_list() == exact.nics[column].to_list()


FETCH = """\
system = "tiny"

[fabric]
packet = "64 B"
nic = {{ kind = "aries", operation = "{operation}" }}

[[job]]
name = "fetch"
nodes = 2
app = {{ motif = "ping-pong", message = "128 KiB", iterations = 1 }}
overhead = {{ control = "64 B" }}
record = "every-message"
"""


def of_the_ranks(run):
    """The counters of the two NICs; their ranks are in order of nodes."""
    return run.nics.filter(pl.col("job") == 0).sort("node")


@pytest.mark.parametrize(("operation", "flits"), [("put", 5), ("get", 1)])
def test_the_receiver_of_a_rendezvous_fetches_the_data_with_requests_of_one_flit(operation, flits):
    """A message each way. Besides the data, a node sends an RTS and a CTS or FIN; each is a put of 5 flits."""
    run = od.run(parse(FETCH.format(operation=operation)))
    packets, nics = 128 * 1024 // 64, of_the_ranks(run)
    assert nics["request_packets"].to_list() == [packets + 2] * 2
    assert nics["request_flits"].to_list() == [packets * flits + 2 * 5] * 2
    assert nics["response_flits"].to_list() == [packets * (6 - flits) + 2 * 1] * 2
    assert set(run.nic_messages["flits"]) == {packets * flits}
    assert run.jobs["messages_control"].to_list() == [4]
    assert run.messages.select("source", "destination").rows() == [(0, 1), (1, 0)]


def test_only_the_rank_that_fetches_counts_the_requests():
    """A broadcast from rank 0: rank 1 fetches it."""
    text = FETCH.format(operation="get").replace('motif = "ping-pong"', 'collective = "broadcast", algorithm = "flat"')
    source, destination = of_the_ranks(od.run(parse(text))).iter_rows(named=True)
    packets = 128 * 1024 // 64
    assert (source["request_packets"], source["request_flits"]) == (1, 5)
    assert (destination["request_packets"], destination["request_flits"]) == (packets + 1, packets + 5)
    assert (source["response_packets"], destination["response_packets"]) == (packets + 1, 1)


def test_a_run_of_simple_nics_has_no_counters():
    run = od.run(parse(SCENARIO.format(packet="1 KiB", nic="")))
    assert run.nics.is_empty()
    assert run.nic_messages.is_empty()
    assert run.jobs["request_packets"].to_list() == [None, None]
    assert run.links["flits"].null_count() == len(run.links)


def test_tables_of_a_folder(exact, tmp_path):
    od.run(parse(SCENARIO.format(packet="64 B", nic=NIC)), out=tmp_path / "run")
    opened = od.open(tmp_path / "run")
    assert opened.nics.equals(exact.nics)
    assert opened.nic_messages.equals(exact.nic_messages)
