"""Acknowledgements of several packets: from the table of a system to a run."""

import pytest

import odonata as od
from odonata.errors import InputError


def scenario(**fabric):
    app = {"motif": "incast", "message": "64 KiB"}
    job = {"name": "incast", "nodes": 8, "app": app, "iterations": 3}
    return od.Scenario.of({"system": {"preset": "tiny", "fabric": fabric}, "job": [job]})


def test_the_number_reaches_the_core_and_one_is_left_out():
    """Catches a key that is parsed and ignored, and ids that change where nothing does."""
    without = scenario(congestion_control="nscc").resolve()
    assert "acknowledge_every" not in without.spec["fabric"]["nic"]
    for number in (1, 4):
        with_key = scenario(congestion_control="nscc", nic={"acknowledge_every": number}).resolve()
        assert with_key.spec["fabric"]["nic"].get("acknowledge_every", 1) == number
        assert (with_key.id == without.id) == (number == 1)


@pytest.mark.parametrize(
    ("nic", "text"),
    [
        ({"acknowledge_every": 4}, "simple; one acknowledgement for up to 4 packets"),
        ({"acknowledge_every": 1}, None),
        (
            {"acknowledge_every": 4, "stripe_above": 1 << 20},
            "simple; one acknowledgement for up to 4 packets; messages from 1 MiB on over all NICs of the node",
        ),
    ],
)
def test_show_names_it(nic, text):
    table = scenario(congestion_control="nscc").system.table.fabric
    changed = table.model_copy(update={"nic": table.nic.model_copy(update=nic)})
    assert changed.nic_text == text


@pytest.mark.parametrize("fabric", [{"congestion_control": "ecn-window"}, {"nic": {"window": "64 KiB"}}])
def test_fewer_acknowledgements_are_fewer_packets_and_all_arrives(fabric):
    nic = fabric.get("nic", {})
    hops = {}
    for number in (1, 4):
        run = od.run(scenario(**fabric | {"nic": {**nic, "acknowledge_every": number}}))
        assert run.jobs["complete"][0]
        assert run.nics["answered_packets"].sum() == run.nics["request_packets"].sum()
        hops[number] = run.manifest["packet_hops"]
    assert hops[4] < 0.75 * hops[1]


@pytest.mark.parametrize(
    ("fabric", "message"),
    [
        ({"nic": {"acknowledge_every": 0}}, "a number of packets from 1 to 1,048,576, found `0`"),
        ({"nic": {"acknowledge_every": True}}, "a number of packets from 1 to"),
        ({"nic": {"acknowledge_every": "4"}}, "a number of packets from 1 to"),
        ({"nic": {"acknowledge_every": 4}}, "`simple` NIC acknowledges no packet"),
        ({"nic": {"kind": "aries", "acknowledge_every": 4}}, "`aries` NIC answers every packet"),
        ({"congestion_control": "slingshot", "nic": {"acknowledge_every": 4}}, "`slingshot` needs an acknowledgement"),
        ({"congestion_control": "receiver-credit", "nic": {"acknowledge_every": 4}}, "`receiver-credit` needs"),
        ({"congestion_control": "none", "nic": {"acknowledge_every": 4}}, "`simple` NIC acknowledges no packet"),
    ],
)
def test_what_no_nic_has_is_refused(fabric, message):
    with pytest.raises(InputError, match=message) as caught:
        scenario(**fabric).resolve()
    assert caught.value.path[-2:] == ("nic", "acknowledge_every")
