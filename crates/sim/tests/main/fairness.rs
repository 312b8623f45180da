//! Packets that wait for the same link are served in order of arrival. No channel, port or neighbour has priority.

use odonata_sim::spec::{NicOrder, Pattern, Spec, Via};

use crate::support::{MINIMAL, PACKET, job, link, link_mut, machine, output, spec, stream, valiant};

/// Far more than a run can carry.
const ENDLESS: u64 = 1 << 30;

/// Bytes that each job has delivered by the time that `packets` packets could pass a link of 2 GB/s.
fn shares(mut spec: Spec, packets: u64) -> Vec<u64> {
    (spec.stop.jobs, spec.stop.at_ps) = (vec![], Some(packets * 500_000));
    output(&spec).jobs.iter().map(|j| j.bytes).collect()
}

/// One slow class, all others fast, buffers of `packets` packets everywhere.
fn slow(spec: &mut Spec, class: &str, packets: u64) {
    for each in ["node", "local", "global"] {
        *link_mut(spec, each) = link(if each == class { 2 } else { 20 });
        link_mut(spec, each).buffer_bytes = packets * PACKET;
    }
}

fn within_one_percent(share: u64, of: u64) -> bool {
    share.abs_diff(of) * 100 <= of
}

/// Catches an arbiter that prefers a port: two nodes of one leaf share the link up, two leaves share the global link.
#[test]
fn two_inputs_get_half_each() {
    for buffer in [1, 4, 64] {
        for (class, pairs) in [("local", [(0, 6), (1, 9)]), ("global", [(0, 6), (3, 9)])] {
            let jobs = pairs.map(|(from, to)| stream(from, to, ENDLESS)).to_vec();
            let mut spec = spec(machine([2, 2, 1, 3, 1], None), MINIMAL, jobs);
            slow(&mut spec, class, buffer);
            let shares = shares(spec, 4_000);
            let total: u64 = shares.iter().sum();
            assert!(total > 3_900 * PACKET || buffer == 1, "the link is busy: {shares:?}");
            assert!(shares.iter().all(|&s| within_one_percent(s, total / 2)), "{class}, buffer {buffer}: {shares:?}");
        }
    }
}

/// Catches shares by node instead of by input, or the reverse: behind a full buffer each input of a router has one
/// share, however many nodes are behind it. Two nodes of one leaf and one of another: a quarter, a quarter, a half.
#[test]
fn a_share_belongs_to_an_input() {
    let jobs = [(0, 6), (1, 7), (3, 9)].map(|(from, to)| stream(from, to, ENDLESS)).to_vec();
    let mut spec = spec(machine([2, 2, 1, 3, 1], None), MINIMAL, jobs);
    slow(&mut spec, "global", 8);
    let shares = shares(spec, 8_000);
    let total: u64 = shares.iter().sum();
    for (share, part) in shares.iter().zip([4, 4, 2]) {
        assert!(within_one_percent(*share, total / part), "{shares:?}");
    }
}

/// Catches strict priority of a channel. The link from group 2 to group 1 carries packets from 0 to 1 through 2, on
/// channel 1, and packets from 2 to 0 through 1, on channel 0. Both want its full bandwidth.
#[test]
fn both_channels_of_a_link_get_half() {
    for buffer in [1, 3, 32] {
        let jobs = vec![stream(0, 1, ENDLESS), stream(2, 3, ENDLESS)];
        let mut spec = spec(machine([3, 1, 1, 2, 2], None), valiant(Via::Spine), jobs);
        (spec.jobs[0].nodes, spec.jobs[1].nodes) = (vec![0, 2], vec![4, 1]);
        slow(&mut spec, "global", buffer);
        let shares = shares(spec, 4_000);
        let total: u64 = shares.iter().sum();
        assert!(shares.iter().all(|&s| within_one_percent(s, total / 2)), "buffer {buffer}: {shares:?}");
        assert!(total > 3_900 * PACKET || buffer == 1, "{shares:?}");
    }
}

/// Catches small packets that overtake a large one that waits for room: they would take every byte that becomes free,
/// and the large one would starve. Served in order of arrival, both leaves send about as many packets.
#[test]
fn large_packets_are_not_starved_by_small_ones() {
    let mut small = job("small", vec![3, 9], Pattern::Tornado { offset: 1 }, 100, 5_000, 1);
    small.traffic_mut().intervals = None;
    let mut spec = spec(machine([2, 2, 1, 3, 1], None), MINIMAL, vec![stream(0, 6, ENDLESS), small]);
    slow(&mut spec, "global", 1);
    link_mut(&mut spec, "global").buffer_bytes = 1_150;
    (spec.stop.jobs, spec.stop.at_ps) = (vec![], Some(1_000_000_000));
    let jobs = output(&spec).jobs;
    let (large, small) = (jobs[0].packets, jobs[1].packets / 2); // the small ones go in both directions
    assert!(large > 500 && small > 500, "{large} large and {small} small packets");
}

/// Catches packets of one source that overtake each other on one path, at a link where many wait.
#[test]
fn packets_of_one_path_arrive_in_order() {
    let jobs = [(0, 6), (1, 9), (3, 10)]
        .map(|(a, b)| job(&format!("{a}"), vec![a, b], Pattern::Tornado { offset: 1 }, 700, 100_000, 300));
    let mut spec = spec(machine([2, 2, 1, 3, 1], None), MINIMAL, jobs.to_vec());
    slow(&mut spec, "global", 2);
    let rows = output(&spec).messages;
    let mut last = std::collections::BTreeMap::new();
    for row in 0..rows.job.len() {
        let arrival = rows.issue_ps[row] + rows.latency_ps[row];
        let before = last.insert((rows.job[row], rows.source[row]), arrival);
        assert!(before.is_none_or(|before| before < arrival), "row {row}");
    }
    assert_eq!(last.len(), 6);
}

/// Catches a NIC that ignores its order: with first come first served, the messages of a burst end one after another;
/// in turn, they end together.
#[test]
fn messages_of_a_nic_are_served_in_their_order() {
    let arrivals = |order| {
        let burst = job("burst", vec![0, 1, 2, 3], Pattern::Broadcast { root: 0 }, 20 * PACKET, 1, 1);
        let mut spec = spec(machine([1, 1, 1, 4, 0], None), MINIMAL, vec![burst]);
        spec.fabric.nic.order = order;
        output(&spec).messages.latency_ps
    };
    let (step, way) = (100_000, 100_000 + 100_000);
    let packet = |n: u64| n * step + way;
    assert_eq!(arrivals(NicOrder::Fcfs), [packet(20), packet(40), packet(60)]);
    assert_eq!(arrivals(NicOrder::RoundRobin), [packet(58), packet(59), packet(60)]);
}
