//! The slowest link of a path delivers its bandwidth: it is never idle from its first packet to its last.

use odonata_sim::spec::{Pattern, RoutingSpec, Select, Spec, Via};

use crate::support::{MINIMAL, PACKET, job, link, link_mut, machine, output, ser, spec, stream, valiant};

const PACKETS: u64 = 400;
const DELAY: u64 = 100_000;

/// Two groups of two leaves and one spine; three nodes a leaf; one cable between the groups.
fn pair_of_groups(jobs: Vec<odonata_sim::spec::JobSpec>) -> Spec {
    let mut spec = spec(machine([2, 2, 1, 3, 1], Some(1)), MINIMAL, jobs);
    for class in ["node", "local", "global"] {
        *link_mut(&mut spec, class) = link(20);
    }
    spec
}

/// Catches a link that idles between packets (late credits, a lost event), whichever link is slow: the last packet ends
/// exactly when the bottleneck has sent all packets back to back.
#[test]
fn a_stream_takes_the_time_of_its_slowest_link() {
    for slow in ["node", "local", "global"] {
        let mut spec = pair_of_groups(vec![stream(0, 11, PACKETS * PACKET)]);
        *link_mut(&mut spec, slow) = link(2);
        let [node, local, global] = ["node", "local", "global"].map(|c| ser(PACKET, if c == slow { 2 } else { 20 }));
        let one = 2 * node + 2 * local + global + 4 * DELAY;
        assert_eq!(output(&spec).end_ps, one + (PACKETS - 1) * ser(PACKET, 2), "{slow}");
    }
}

/// Catches a wrong credit window: with room for w packets, w packets pass in each round trip.
#[test]
fn a_small_buffer_lets_its_size_through_in_each_round_trip() {
    for window in [1, 2, 3, 5] {
        let mut spec = pair_of_groups(vec![stream(0, 11, PACKETS * PACKET)]);
        let global = link_mut(&mut spec, "global");
        (global.latency_ps, global.buffer_bytes, global.credit_delay_ps) = (700_000, window * PACKET, 30_000);
        let step = ser(PACKET, 20);
        // The credit of a packet returns when it has been sent on: its own transmission, the wire, the router, the next
        // transmission, the wire back, the credit delay.
        let round_trip = step + 700_000 + DELAY + step + 700_000 + 30_000;
        assert!(window * step < round_trip);
        let first = 5 * step + 700_000 + 4 * DELAY;
        let (rounds, rest) = ((PACKETS - 1) / window, (PACKETS - 1) % window);
        assert_eq!(output(&spec).end_ps, first + rounds * round_trip + rest * step, "window {window}");
    }
}

/// Catches a global link that gives more or less than its bandwidth to all that share it.
#[test]
fn a_shared_global_link_saturates() {
    let mut spec = pair_of_groups((0..6).map(|n| stream(n, 6 + n, PACKETS * PACKET)).collect());
    *link_mut(&mut spec, "global") = link(4);
    let step = ser(PACKET, 20);
    let all = 4 * step + 4 * DELAY + 6 * PACKETS * ser(PACKET, 4);
    assert_eq!(output(&spec).end_ps, all);

    // The same at any earlier time: the link has carried its bandwidth, within one packet.
    for at in [5_000_000, 77_777_777, 300_000_001] {
        spec.stop.at_ps = Some(at);
        let bytes: u64 = output(&spec).jobs.iter().map(|j| j.bytes).sum();
        let busy = at - (2 * step + 2 * DELAY); // when the first packet reached the link
        let carried = busy / ser(PACKET, 4) * PACKET;
        // Packets in the two routers and on the two links after the bottleneck have not arrived yet.
        let behind = (2 * DELAY + 2 * step) / ser(PACKET, 4) * PACKET;
        assert!(bytes.abs_diff(carried - behind) <= PACKET, "{bytes} of {carried} at {at} ps");
    }
}

/// Catches an ejection link that serves two packets at once, or none while some wait. Every rank sends to every other,
/// so ranks 1 and 2 flood rank 0 first.
#[test]
fn two_nodes_that_flood_one_share_its_link() {
    for spines in [1, 3] {
        let peers = job("peers", vec![0, 1, 2], Pattern::GroupPeers {}, PACKETS * PACKET, 1, 1);
        let mut spec = spec(
            machine([3, 1, spines, 1, 2], None),
            RoutingSpec::Minimal { select: Select::LeastLoaded, gateways: None },
            vec![peers],
        );
        for class in ["local", "global"] {
            *link_mut(&mut spec, class) = link(100);
        }
        let between = 3 * ser(PACKET, 100) + 4 * DELAY;
        let node = ser(PACKET, 10);
        let rows = output(&spec).messages;
        let latency = |from, to| {
            let row = (0..6).find(|&r| (rows.source[r], rows.destination[r]) == (from, to)).expect("all are sent");
            rows.latency_ps[row]
        };
        let last = node + between + 2 * PACKETS * node;
        assert_eq!(latency(1, 0).max(latency(2, 0)), last, "{spines} spines");
        assert!(latency(1, 0).abs_diff(latency(2, 0)) <= node, "the two end together");
    }
}

/// Catches Valiant routing that does not spread: between two groups of three, with all traffic in one direction,
/// minimal routing has the links of one pair, and Valiant those through the third group.
#[test]
fn valiant_uses_the_links_of_the_third_group() {
    for (routing, through_third) in [(MINIMAL, 0), (valiant(Via::Spine), PACKETS)] {
        let mut spec = spec(machine([3, 1, 1, 1, 2], None), routing, vec![stream(0, 1, PACKETS * PACKET)]);
        *link_mut(&mut spec, "global") = link(1);
        let output = output(&spec);
        // Slots of a group: leaf (node, spine), spine (leaf, two global ports); group 2 begins at slot 10, two rows
        // each.
        let from_third = output.links.packets[2 * 10..2 * 15].iter().sum::<u64>();
        assert_eq!(from_third, through_third, "{:?}", spec.routing);
        assert_eq!(output.jobs[0].hops, PACKETS * if through_third > 0 { 4 } else { 3 });
    }
}
