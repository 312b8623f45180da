//! Routers with a crossbar: who waits for whom, and for how long (docs/model.md, section 4).

use odonata_sim::spec::{
    Arbitration, FparCandidates, JobSpec, MetricKind, Pattern, RouterKind, RouterSpec, RoutingSpec, Sensing, Spec,
    StopSpec, Switching, Via,
};
use odonata_topology::Bandwidth;

use crate::support::{GB, MINIMAL, PACKET, fpar, job, link_mut, machine, output, ser, spec, stream, valiant};

const KINDS: [RouterKind; 2] = [RouterKind::InputQueued, RouterKind::VirtualOutputQueued];
const SWITCHINGS: [Switching; 2] = [Switching::StoreAndForward, Switching::CutThrough];

fn router(kind: RouterKind, gigabytes: u64, output_buffer_bytes: u64) -> Option<RouterSpec> {
    let crossbar = Bandwidth(gigabytes * GB);
    Some(RouterSpec { kind, crossbar, output_buffer_bytes, arbitration: Arbitration::LeastRecentlyServed })
}

/// Two leaves with so many nodes each and one spine; links of 10 GB/s, a router delay of 100 ns.
fn two_leaves(nodes: u32, jobs: Vec<JobSpec>) -> Spec {
    let mut spec = spec(machine([1, 2, 1, nodes, 0], None), MINIMAL, jobs);
    link_mut(&mut spec, "local").bandwidth = Bandwidth(10 * GB);
    spec
}

/// Head and tail of one packet, router by router: the recursion of the model page, with crossbars slower and faster than links.
#[test]
fn one_packet_crosses_each_router_in_the_time_of_the_closed_form() {
    for (kind, switching) in KINDS.into_iter().flat_map(|kind| SWITCHINGS.map(|switching| (kind, switching))) {
        for (crossbar, links) in [(10, [10, 10, 10]), (20, [10, 10, 10]), (3, [10, 10, 10]), (7, [1, 10, 40])] {
            let [node, local, global] = links;
            let mut spec = spec(machine([4, 2, 1, 2, 3], None), MINIMAL, vec![stream(1, 15, PACKET)]);
            (spec.fabric.switching, spec.fabric.header_bytes, spec.fabric.flit_bytes) = (switching, 30, 8);
            spec.fabric.router = router(kind, crossbar, 2_000);
            for (class, gigabytes) in ["node", "local", "global"].into_iter().zip(links) {
                let link = link_mut(&mut spec, class);
                (link.bandwidth, link.latency_ps) = (Bandwidth(gigabytes * GB), 20_011);
            }
            let wire = (PACKET + 30).next_multiple_of(8);
            let first = if switching == Switching::CutThrough { 32 } else { wire };
            let (mut head, mut tail) = (0, 0);
            for (position, link) in [node, local, global, local, node].into_iter().enumerate() {
                if position > 0 {
                    tail = u64::max(head + ser(wire, crossbar), tail);
                    head += ser(first, crossbar);
                }
                let begins = u64::max(head, u64::saturating_sub(tail, ser(wire, link)));
                let delay = 20_011 + if position < 4 { 100_000 } else { 0 };
                (head, tail) = (begins + ser(first, link) + delay, begins + ser(wire, link) + delay);
            }
            let found = output(&spec).messages.latency_ps[0];
            assert_eq!(found, tail, "{kind:?}, {switching:?}, crossbar {crossbar}, links {links:?}");
        }
    }
}

/// Node 0 sends three packets to the other leaf. Node 1 sends one there, which must wait for them, and then one to node 2, whose
/// way is free: the latency of this one, in nanoseconds.
fn behind_a_blocked_head(router: Option<RouterSpec>) -> u64 {
    let two = job("two", vec![1, 4, 2], Pattern::Broadcast { root: 0 }, PACKET, 1, 1);
    let mut spec = two_leaves(3, vec![two, stream(0, 3, 3 * PACKET)]);
    spec.fabric.router = router;
    let messages = output(&spec).messages;
    let row = (0..messages.job.len()).find(|&row| messages.destination[row] == 2).expect("it is delivered");
    messages.latency_ps[row] / 1_000
}

/// A packet takes 100 ns on a link and is decided on at 200 ns, the next of the same node at 300. Output buffers hold one packet.
#[test]
fn a_packet_for_a_free_output_waits_behind_one_for_a_busy_output_only_if_inputs_are_queued() {
    // Granted at 200: the first of node 0, which is sent from 300 to 400. Then there is room for the one of node 1, which was
    // never granted and goes before the second of node 0. It is the successor's turn when the input side is free, at 500: it is
    // sent from 600 to 700.
    assert_eq!(behind_a_blocked_head(router(RouterKind::InputQueued, 10, PACKET)), 700);
    // The successor crosses as it comes, at 300, and is sent from 400 to 500.
    assert_eq!(behind_a_blocked_head(router(RouterKind::VirtualOutputQueued, 10, PACKET)), 500);
    assert_eq!(behind_a_blocked_head(None), 400);
}

/// Catches a crossbar as fast as the links whatever is said, and output buffers of another size.
#[test]
fn a_crossbar_of_twice_the_speed_relieves_blocking_and_so_do_larger_output_buffers() {
    // 50 ns in the crossbar: the first of node 0 is sent from 250 to 350, the one of node 1 crosses from 350 to 400, and its
    // successor from 400 to 450; it is sent until 550.
    assert_eq!(behind_a_blocked_head(router(RouterKind::InputQueued, 20, PACKET)), 550);
    // With room for two the one of node 1 crosses when the output side is free, from 250 to 300; its successor does as it comes.
    assert_eq!(behind_a_blocked_head(router(RouterKind::InputQueued, 20, 2 * PACKET)), 450);
}

/// Three nodes send over one link without pause and are served in turn. Catches an arbitration that favours a port, which starves
/// the others.
#[test]
fn the_least_recently_served_input_goes_first() {
    for (kind, crossbar) in KINDS.into_iter().flat_map(|kind| [10, 20].map(|crossbar| (kind, crossbar))) {
        let jobs = (0..3).map(|node| stream(node, node + 3, 1 << 30)).collect();
        let mut spec = two_leaves(3, jobs);
        spec.fabric.router = router(kind, crossbar, 2 * PACKET);
        spec.stop = StopSpec { jobs: vec![], at_ps: Some(300 * 100_000) };
        let packets: Vec<u64> = output(&spec).jobs.iter().map(|job| job.packets).collect();
        let (least, most) = (packets.iter().min().expect("jobs"), packets.iter().max().expect("jobs"));
        assert!(most - least <= 1, "{kind:?}: {packets:?}");
        assert!(packets.iter().sum::<u64>() > 290, "the link is busy: {packets:?}");
    }
}

/// Packets per packet time and link that one router of 8 ports carries, if every node always has packets for random others.
fn saturated(router: Option<RouterSpec>) -> f64 {
    let all = job("all", (0..8).collect(), Pattern::UniformRandom {}, PACKET, 1, 2_000);
    let mut spec = spec(machine([1, 1, 1, 8, 0], None), MINIMAL, vec![all]);
    spec.fabric.router = router;
    spec.stop = StopSpec { jobs: vec![], at_ps: Some(1_000 * 100_000) };
    output(&spec).jobs[0].packets as f64 / 8_000.0
}

/// Karol 1987, table I: with one FIFO per input, uniform traffic saturates a switch of 8 ports at 61.84 % of its links. (A node
/// never sends to itself here, but to the next one instead: about 1 % more.)
#[test]
fn input_queues_saturate_where_karol_1987_says_and_virtual_output_queues_do_not() {
    let fifo = saturated(router(RouterKind::InputQueued, 10, 100 * PACKET));
    assert!((fifo - 0.618).abs() < 0.02, "{fifo}");
    let virtual_outputs = saturated(router(RouterKind::VirtualOutputQueued, 10, 100 * PACKET));
    assert!(virtual_outputs > 0.8, "{virtual_outputs}");
    let twice_as_fast = saturated(router(RouterKind::InputQueued, 20, 100 * PACKET));
    assert!(twice_as_fast > 0.9, "{twice_as_fast}");
    assert!(saturated(None) > 0.9);
}

/// What may wait for what is as with ideal routers, and so are the channels that a routing needs: buffers of one packet everywhere
/// are enough.
#[test]
fn crossbars_run_on_buffers_of_one_packet() {
    for (kind, switching) in KINDS.into_iter().flat_map(|kind| SWITCHINGS.map(|switching| (kind, switching))) {
        for routing in [MINIMAL, valiant(Via::Leaf), fpar(0, FparCandidates::AllGroups)] {
            let all = job("all", (0..16).collect(), Pattern::UniformRandom {}, 5_000, 1_000, 40);
            let mut spec = spec(machine([4, 2, 1, 2, 3], None), routing.clone(), vec![all]);
            spec.fabric.switching = switching;
            spec.fabric.router = router(kind, 10, PACKET);
            for class in ["node", "local", "global"] {
                link_mut(&mut spec, class).buffer_bytes = PACKET;
            }
            assert_eq!(output(&spec).jobs[0].delivered, 16 * 40, "{kind:?}, {switching:?}, {routing:?}");
            if let RoutingSpec::Valiant { .. } = routing {
                spec.fabric.channels = 1;
                assert!(odonata_sim::run(&spec, &mut ()).is_err(), "too few channels are refused as ever");
            }
        }
    }
}

/// A threshold of a quarter of the buffers is reached in small output buffers and not in large ones. Catches a threshold that is held
/// against another buffer than the one sensed.
#[test]
fn routings_that_sense_output_buffers_divert_when_these_fill() {
    let minimal = |metric_kind, kind, output_buffer_bytes| {
        let shift = job("shift", (0..16).collect(), Pattern::GroupShift { shift: 1 }, 4_000, 100, 20);
        let mut spec = spec(machine([4, 2, 1, 2, 3], None), fpar(250_000, FparCandidates::AllGroups), vec![shift]);
        link_mut(&mut spec, "global").bandwidth = Bandwidth(GB);
        spec.fabric.router = router(kind, 10, output_buffer_bytes);
        spec.sensing = Sensing { kind: metric_kind, ..Sensing::default() };
        let output = output(&spec);
        output.jobs[0].minimal as f64 / output.jobs[0].packets as f64
    };
    for kind in KINDS {
        for metric_kind in [MetricKind::OutputBuffer, MetricKind::OutputCredits] {
            assert!(minimal(metric_kind, kind, 2 * PACKET) < 0.97);
            assert!((minimal(metric_kind, kind, 1 << 20) - 1.0).abs() < 1e-9);
        }
    }
}
