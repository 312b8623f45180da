//! Eager, rendezvous and near messages.

use odonata_sim::spec::RoutingSpec;

use super::system::{CONTROL, MEMORY, RECEIVE, SEND, hop, run, run_job, spec, trace, two_hops};

const SENDS: &str = "s: send 50b to 1 tag 1";
const RECEIVES: &str = "r: recv 50b from 0 tag 1";

/// Catches a copy that is forgotten at one end, and a latency that does not begin at the hand-over.
#[test]
fn an_eager_message_is_copied_at_both_ends() {
    for (nodes, transit, links) in [([0, 1], hop(50), 0), ([0, 2], two_hops(50), 1)] {
        let output = run_job(trace(&nodes, &[SENDS, RECEIVES]));
        let handed_over = SEND + 50;
        assert_eq!(output.ranks.finish_ps, [handed_over, handed_over + transit + RECEIVE + 50]);
        assert_eq!(output.ranks.work_ps, [SEND + 50, RECEIVE + 50]);
        assert_eq!(
            (&output.messages.issue_ps[..], &output.messages.latency_ps[..]),
            (&[handed_over][..], &[transit][..])
        );
        assert_eq!(output.class_bytes, [100, 50 * links, 0]);
        let job = &output.jobs[0];
        assert_eq!((job.issued, job.delivered, job.intra_node, job.control), (1, 1, 0, 0));
        assert_eq!((job.packets, job.bytes, job.hops), (1, 50, links));
        assert_eq!((job.first_issue_ps, job.last_delivery_ps), (Some(handed_over), Some(handed_over + transit)));
    }
}

/// Catches a receive whose work begins before it is posted, and one that waits for a message that is there.
#[test]
fn a_message_waits_for_its_receive() {
    let late = 500_000;
    let output = run_job(trace(&[0, 1], &[SENDS, "c: calc 500; r: recv 50b from 0 tag 1; r requires c"]));
    assert_eq!(output.ranks.finish_ps, [SEND + 50, late + RECEIVE + 50]);
    assert_eq!(output.messages.latency_ps, [hop(50)], "the latency knows nothing of the receive");
}

/// Empty messages and such as are smaller than `control_bytes` take that much on the network.
#[test]
fn nothing_on_the_network_is_smaller_than_an_rts() {
    for bytes in [0, 1, CONTROL] {
        let [send, receive] = [format!("s: send {bytes}b to 1 tag 1"), format!("r: recv {bytes}b from 0 tag 1")];
        let output = run_job(trace(&[0, 1], &[&send, &receive]));
        assert_eq!(output.messages.latency_ps, [hop(CONTROL)]);
        assert_eq!(output.jobs[0].bytes, CONTROL);
        assert_eq!(output.ranks.finish_ps[1], SEND + bytes + hop(CONTROL) + RECEIVE + bytes);
    }
}

/// Catches a rendezvous that is copied, a clearance before the receive is posted, and a send that is complete too early
/// or late.
#[test]
fn a_rendezvous_asks_first() {
    let bytes = 200;
    let lines = ["s: send 200b to 1 tag 1", "r: recv 200b from 0 tag 1"];
    let check = |output: &odonata_sim::Output, match_at: u64| {
        let cts = match_at + hop(CONTROL);
        assert_eq!(output.ranks.finish_ps, [cts + 1000 * bytes, cts + hop(bytes) + RECEIVE]);
        assert_eq!(output.messages.issue_ps, [SEND]);
        assert_eq!(output.messages.latency_ps, [cts + hop(bytes) - SEND]);
        let job = &output.jobs[0];
        assert_eq!((job.issued, job.delivered, job.control, job.packets), (1, 1, 2, 3));
        assert_eq!(job.bytes, bytes + 2 * CONTROL);
        assert_eq!(output.class_bytes, [2 * (bytes + 2 * CONTROL), 0, 0]);
    };
    let early = run_job(trace(&[0, 1], &lines));
    check(&early, SEND + hop(CONTROL));
    assert_eq!(early.ranks.work_ps, [SEND, RECEIVE]);
    // The request has to wait for the receive.
    let late = run_job(trace(&[0, 1], &[lines[0], "c: calc 700; r: recv 200b from 0 tag 1; r requires c"]));
    check(&late, 700_000);
    // A receiver that computes clears at once, since a clearance costs no time of a CPU; it only receives later.
    let busy = run_job(trace(&[0, 1], &[lines[0], "c: calc 700; r: recv 200b from 0 tag 1"]));
    let cts = SEND + 2 * hop(CONTROL);
    assert_eq!(busy.ranks.finish_ps, [cts + 1000 * bytes, 700_000 + RECEIVE]);
}

/// A send is complete when the last packet of its data has left the NIC.
#[test]
fn a_rendezvous_of_several_packets_is_sent_with_the_last() {
    let output = run_job(trace(&[0, 1], &["s: send 2500b to 1 tag 1", "r: recv 2500b from 0 tag 1"]));
    let cts = SEND + 2 * hop(CONTROL);
    assert_eq!(output.ranks.finish_ps[0], cts + 1000 * 2500);
    // The last packet of 500 bytes follows the two full ones on the link to the node.
    let delivered = cts + 1000 * 1000 + 1000 + 3000 + 1000 * 2500 + 1000;
    assert_eq!(output.ranks.finish_ps[1], delivered + RECEIVE);
}

/// Catches a near message on the network, with a rendezvous, or without its copies.
#[test]
fn ranks_of_one_node_need_no_network() {
    let output = run_job(trace(&[3, 3], &["s: send 200b to 1 tag 1", "r: recv 200b from 0 tag 1"]));
    let handed_over = SEND + 200;
    assert_eq!(output.ranks.finish_ps, [handed_over, handed_over + MEMORY + RECEIVE + 200]);
    assert_eq!((&output.messages.issue_ps[..], &output.messages.latency_ps[..]), (&[handed_over][..], &[MEMORY][..]));
    let job = &output.jobs[0];
    assert_eq!((job.issued, job.delivered, job.intra_node, job.packets, job.bytes), (1, 1, 1, 0, 0));
    assert_eq!((job.first_issue_ps, job.last_delivery_ps), (Some(handed_over), None));
    assert_eq!((job.latency.count, job.latency.sum), (1, u128::from(MEMORY)));
    assert_eq!(output.class_bytes, [0, 0, 0]);
    assert_eq!(output.packet_hops, 0);
}

/// Two ranks of one node share its NIC in the order in which they hand over: by time, then by rank.
#[test]
fn ranks_of_one_node_share_its_nic() {
    let receiver = "a: recv 50b from 0 tag 1; b: recv 50b from 1 tag 1";
    let sender = "s: send 50b to 2 tag 1";
    let output = run_job(trace(&[0, 0, 1], &[sender, sender, receiver]));
    let handed_over = SEND + 50;
    assert_eq!(output.messages.issue_ps, [handed_over; 2]);
    assert_eq!(output.messages.latency_ps, [hop(50), hop(50) + 50_000], "one after the other on each link");
    let last = handed_over + hop(50) + 50_000 + RECEIVE + 50;
    assert_eq!(output.ranks.finish_ps, [handed_over, handed_over, last]);
    // Rank 0 is later: rank 1 has the link first.
    let output = run_job(trace(&[0, 0, 1], &["c: calc 10; s: send 50b to 2 tag 1; s requires c", sender, receiver]));
    assert_eq!(output.messages.latency_ps, [hop(50) + 40_000, hop(50)]);
}

/// Messages of a program draw random words like all others: the first of a node has number 0.
#[test]
fn rts_and_cts_count_among_the_messages_of_a_node() {
    // Valiant by random routers on a machine with one other router: all the same; so look at the words by a rail.
    let mut odd = spec(&[trace(&[0, 2], &["s: send 200b to 1 tag 1", "r: recv 200b from 0 tag 1"])]);
    let odonata_sim::spec::TopologySpec::Dragonfly(topology) = &mut odd.topology else { panic!("it is a dragonfly") };
    (topology.nodes_per_router, topology.rails) = (4, 2);
    odd.routing = RoutingSpec::Minimal { select: odonata_sim::spec::Select::Hash, gateways: odd_gateways() };
    let rail = |seed: u64, node: u64, q: u64| {
        use odonata_sim::engine::random::{Stream, below, mix64, random};
        below(mix64(random(seed, Stream::Message, node, q)), 2)
    };
    for seed in 0..20 {
        odd.seed = seed;
        let output = run(&odd).expect("it runs");
        let injection = output.links.bytes.len() - 8;
        let mut expected = [0; 8];
        // Request and data leave node 0, as numbers 0 and 1; the clearance leaves node 2.
        expected[rail(seed, 0, 0) as usize] += CONTROL;
        expected[rail(seed, 0, 1) as usize] += 200;
        expected[4 + rail(seed, 2, 0) as usize] += CONTROL;
        assert_eq!(output.links.bytes[injection..], expected, "seed {seed}");
    }
}

/// A trace that names NICs: they count modulo the rails, each end has its own, and the clearance goes back the same
/// way.
#[test]
fn nics_that_a_trace_names_are_rails() {
    let mut odd = spec(&[trace(&[0, 2], &["s: send 200b to 1 tag 1 nic 5", "r: recv 200b from 0 tag 1 nic 4"])]);
    let odonata_sim::spec::TopologySpec::Dragonfly(topology) = &mut odd.topology else { panic!("it is a dragonfly") };
    (topology.nodes_per_router, topology.rails) = (4, 2);
    let machine = odd.machine().expect("it can be built");
    let network = machine.network();
    for seed in 0..5 {
        odd.seed = seed;
        let output = run(&odd).expect("it runs");
        let bytes = &output.links.bytes;
        let channels = (bytes.len() - network.endpoints()) / network.peer.len();
        let injected = &bytes[bytes.len() - network.endpoints()..];
        let ejected = |endpoint: usize| {
            let first = network.node_slot[endpoint].index() * channels;
            bytes[first..first + channels].iter().sum::<u64>()
        };
        // Endpoint = 2 x node + rail: from rail 5 mod 2 of node 0 to rail 4 mod 2 of node 2.
        assert_eq!(injected[..8], [0, CONTROL + 200, 0, 0, CONTROL, 0, 0, 0]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(ejected), [0, CONTROL, 0, 0, CONTROL + 200, 0]);
    }
}

/// The NIC of a rank: its place among the ranks of its job on its node, modulo the rails. Each end has its own, and the
/// clearance goes back the same way. A trace that names NICs keeps them.
#[test]
fn ranks_take_the_nics_of_their_node_in_turn() {
    // Ranks 0, 2 and 4 of node 0 have rails 0, 1 and 0; ranks 1 and 3 of node 2 have 0 and 1.
    let by_nic = |send: &str| {
        let receive = "r: recv 200b from 2 tag 1";
        let ranks = ["c: calc 1", receive, send, "r: recv 50b from 4 tag 2", "s: send 50b to 3 tag 2"];
        // Another job on node 1 does not count.
        let mut spec = spec(&[trace(&[1, 1], &["c: calc 1"; 2]), trace(&[0, 2, 0, 2, 0], &ranks)]);
        let odonata_sim::spec::TopologySpec::Dragonfly(topology) = &mut spec.topology else { panic!("a dragonfly") };
        (topology.nodes_per_router, topology.rails) = (4, 2);
        spec.fabric.nic.rail = odonata_sim::spec::Rail::ByRank;
        let machine = spec.machine().expect("it can be built");
        let network = machine.network();
        let bytes = run(&spec).expect("it runs").links.bytes;
        let channels = (bytes.len() - network.endpoints()) / network.peer.len();
        let injected = bytes[bytes.len() - network.endpoints()..][..6].to_vec();
        let ejected = (0..6).map(|endpoint| {
            let first = network.node_slot[endpoint].index() * channels;
            bytes[first..first + channels].iter().sum::<u64>()
        });
        (injected, ejected.collect::<Vec<_>>())
    };
    let (injected, ejected) = by_nic("s: send 200b to 1 tag 1");
    assert_eq!(injected, [50, CONTROL + 200, 0, 0, CONTROL, 0]);
    assert_eq!(ejected, [0, CONTROL, 0, 0, CONTROL + 200, 50]);
    // Operations that name none then name NIC 0.
    let (injected, ejected) = by_nic("s: send 200b to 1 tag 1 nic 3");
    assert_eq!(injected, [50, CONTROL + 200, 0, 0, CONTROL, 0]);
    assert_eq!(ejected, [0, CONTROL, 0, 0, CONTROL + 200 + 50, 0]);
}

fn odd_gateways() -> Option<odonata_sim::spec::Gateways> {
    Some(odonata_sim::spec::Gateways::All)
}
