//! Who makes whom wait: rows worked out by hand from the model, and the sum of waits and service over random runs.
//! Catches a wait that is attributed to the wrong job, counted twice or lost, and a reading of the model that is wrong
//! in both simulators alike.

use odonata_error::{Error, ErrorKind};
use odonata_sim::output::{Blame, RootRows, Wait};
use odonata_sim::spec::{
    Arbitration, AriesSpec, CongestionLaw, CongestionSpec, Gateways, LinkSpec, MeasureSpec, Operation, Pattern, Record,
    RouterKind, RouterSpec, RoutingSpec, Select, Sensing, Switching, TopologySpec, Via,
};
use odonata_sim::{Output, Spec};
use odonata_testkit as testkit;
use odonata_topology::{Bandwidth, Peer};

/// One byte each nanosecond.
const GB: u64 = 1_000_000_000_000_000;
const NS: u64 = 1_000;

/// Two routers with four nodes each: 0 to 3 and 4 to 7. Links to nodes take 3 ns, the link between the routers 20 ns,
/// a credit 7 ns more and a decision 50 ns. Bandwidths are in GB/s, buffers in bytes.
///
/// A job has nodes, a number of bytes and a time in nanoseconds: its first node sends one message of this size to each
/// of the others at this time.
fn spec(node: (u64, u64), local: (u64, u64), packet_bytes: u32, jobs: &[(&[u32], u64, u64)]) -> Spec {
    let job = |(index, &(nodes, bytes, ns)): (usize, &(&[u32], u64, u64))| {
        let first = if ns == 0 { "at-zero" } else { "after-interval" };
        format!(
            r#"{{"name":"job-{index}","nodes":{nodes:?},"record":"every-message","traffic":{{
            "pattern":{{"name":"broadcast","root":0}},"message_bytes":{bytes},"interval_ps":{},"intervals":1,
            "arrival":{{"name":"constant","jitter_ps":0}},"first":"{first}"}}}}"#,
            (ns * NS).max(1),
        )
    };
    let text = format!(
        r#"{{"version":1,"seed":5,"compat":null,
        "topology":{{"kind":"dragonfly","groups":1,"routers":2,"nodes_per_router":4,"global_links_per_router":0,
            "arrangement":"absolute"}},
        "fabric":{{"packet_bytes":{packet_bytes},"router_delay_ps":50000,"channels":2,
            "nic":{{"overhead_ps":0,"order":"fcfs"}},"links":{{}}}},
        "routing":{{"name":"minimal","select":"random","gateways":"all"}},
        "jobs":[{}],
        "stop":{{"jobs":{:?},"at_ps":null}},
        "measure":{{"from_ps":0,"until_ps":null,"arrivals_every_ps":null,"blame":true}}}}"#,
        jobs.iter().enumerate().map(job).collect::<Vec<_>>().join(","),
        (0..jobs.len()).collect::<Vec<_>>(),
    );
    let mut spec = Spec::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    for (name, (gb, buffer_bytes), ns) in [("node", node, 3), ("local", local, 20), ("global", local, 20)] {
        let (bandwidth, latency_ps, credit_delay_ps) = (Bandwidth(gb * GB), ns * NS, 7 * NS);
        spec.fabric.links.insert(name.into(), LinkSpec { bandwidth, latency_ps, buffer_bytes, credit_delay_ps });
    }
    spec
}

/// What a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// From a router to another.
    Between,
    /// To this node.
    To(u32),
    /// From this node.
    From(u32),
}

fn run(spec: &Spec) -> Output {
    odonata_reference::run(spec, &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

/// The rows in order: victim, cause, kind, link and picoseconds.
fn rows(spec: &Spec, blame: &Blame) -> Vec<(u16, u16, Wait, Place, u64)> {
    let machine = spec.machine().expect("it ran");
    let peers = &machine.network().peer;
    let place = |link: u32| match peers.get(link as usize) {
        Some(Peer::Router(_)) => Place::Between,
        Some(Peer::Node(node)) => Place::To(node.0),
        Some(Peer::None) => panic!("nothing crosses an unused port"),
        None => Place::From(link - peers.len() as u32),
    };
    let row = |i| (blame.victim[i], blame.cause[i], blame.wait[i], place(blame.link[i]), blame.ps[i]);
    (0..blame.ps.len()).map(row).collect()
}

/// Packets of 800 B, 600 B and 500 B whose link between the routers takes 1 ns for a byte.
fn three_jobs() -> Spec {
    // NICs take 80, 60 and 50 ns: decisions at 0 + 80 + 53, 10 + 60 + 53 and 40 + 50 + 53 ns.
    spec((10, 10_000), (1, 10_000), 1_000, &[(&[0, 4], 800, 0), (&[1, 5], 600, 10), (&[2, 6], 500, 40)])
}

/// Decided at 133, 123 and 143 ns, the packets occupy the link in [723, 1523), [123, 723) and [1523, 2023).
const THREE_JOBS: [(u16, u16, Wait, Place, u64); 3] = [
    (0, 1, Wait::Link, Place::Between, 590 * NS),
    (2, 0, Wait::Link, Place::Between, 800 * NS),
    (2, 1, Wait::Link, Place::Between, 580 * NS),
];

#[test]
fn a_packet_waits_for_those_before_it_on_a_link() {
    let spec = three_jobs();
    let blame = run(&spec).blame;
    assert_eq!(rows(&spec, &blame), THREE_JOBS);
    // To the link, over it with 70 ns of wire and decision, from it.
    assert_eq!(blame.service_ps, [133 + 870 + 83, 113 + 670 + 63, 103 + 570 + 53].map(|ns| ns * NS));
}

/// Victims are those whose messages were issued in the window; causes are all.
#[test]
fn only_victims_need_to_be_measured() {
    let mut spec = three_jobs();
    spec.measure.from_ps = 40 * NS;
    let late = run(&spec).blame;
    assert_eq!(rows(&spec, &late), THREE_JOBS[1..]);
    assert_eq!(late.service_ps, [0, 0, 726 * NS]);
    (spec.measure.from_ps, spec.measure.until_ps) = (0, Some(40 * NS));
    let early = run(&spec).blame;
    assert_eq!(rows(&spec, &early), THREE_JOBS[..1]);
    assert_eq!(early.service_ps, [1086 * NS, 846 * NS, 0]);
}

/// A wait counts from the commit on, even if the run ends before the packet leaves.
#[test]
fn a_wait_that_outlasts_the_run_counts_whole() {
    let mut spec = three_jobs();
    spec.stop.at_ps = Some(143 * NS);
    let blame = run(&spec).blame;
    assert_eq!(rows(&spec, &blame), THREE_JOBS);
    assert_eq!(blame.service_ps, [133 + 870, 113 + 670, 103 + 570].map(|ns| ns * NS));
    spec.stop.at_ps = Some(143 * NS - 1);
    let blame = run(&spec).blame;
    assert_eq!(rows(&spec, &blame), THREE_JOBS[..1]);
    assert_eq!(blame.service_ps, [133 + 870, 113 + 670, 103].map(|ns| ns * NS));
}

/// Slow links to a fast one with cut-through: a packet is ready when its tail will come in time, and it occupies the
/// link from its commit on, though it leaves later.
#[test]
fn a_packet_waits_for_one_whose_tail_is_still_to_come() {
    let jobs: [(&[u32], u64, u64); 3] = [(&[0, 4], 800, 0), (&[1, 5], 600, 200), (&[2, 6], 500, 40)];
    let mut spec = spec((1, 10_000), (10, 10_000), 1_000, &jobs);
    (spec.fabric.switching, spec.fabric.flit_bytes) = (Switching::CutThrough, 100);
    let blame = run(&spec).blame;
    // Heads of 100 B: decisions at 153, 353 and 193 ns, tails at 853, 853 and 593 ns, ready at 773, 793 and 543 ns.
    // Occupied in [153, 853), [903, 963) and [853, 903).
    let expected = [
        (1, 0, Wait::Link, Place::Between, 60 * NS),
        (1, 2, Wait::Link, Place::Between, 50 * NS),
        (2, 0, Wait::Link, Place::Between, 310 * NS),
    ];
    assert_eq!(rows(&spec, &blame), expected);
    // Delivered 80 ns of head, wire and decision and 803, 603 and 503 ns after 773, 903 and 853 ns.
    assert_eq!(blame.service_ps, [1656, 1586 - 200 - 110, 1436 - 40 - 310].map(|ns| ns * NS));
}

/// Packets of 300, 600 and 100 B of jobs 0, 1 and 3 fill the buffer of 1,000 B before one of 500 B of job 2.
fn full_buffer() -> Spec {
    let jobs: [(&[u32], u64, u64); 4] =
        [(&[0, 4], 300, 0), (&[1, 5], 600, 0), (&[2, 6], 500, 121), (&[3, 7], 100, 500)];
    spec((1, 10_000), (10, 1_000), 600, &jobs)
}

/// Jobs 0, 1 and 3 are committed at 353, 653 and 653 ns. Their packets leave router 1 at 753, 1383 and 893 ns, and the
/// credits arrive 27 ns later. The victim is decided on at 674 ns and committed at 1410 ns. So the H are 300 * 106,
/// 600 * 736 and 100 * 246: 31,800, 441,600 and 24,600. Their parts of 736,000 ps are 46,997.59, 652,645.78 and
/// 36,356.63 ps. The sums of these up to each job are 46,997.59, 699,643.37 and 736,000 ps; each is rounded down.
#[test]
fn a_packet_waits_for_those_that_hold_the_buffer() {
    let spec = full_buffer();
    let blame = run(&spec).blame;
    let expected = [
        (2, 0, Wait::Buffer, Place::Between, 46_997),
        (2, 1, Wait::Buffer, Place::Between, 652_646),
        (2, 3, Wait::Buffer, Place::Between, 36_357),
        (3, 1, Wait::Link, Place::Between, 60 * NS),
    ];
    assert_eq!(rows(&spec, &blame), expected);
    let service = |bytes: u64| 2 * (bytes + 53) + bytes / 10 + 70 - 50;
    assert_eq!(blame.service_ps, [300, 600, 500, 100].map(|bytes| service(bytes) * NS));
}

/// Three groups of two routers with two nodes each. Jobs 0 and 1 cross the link from router 4 to router 5 on channel 0.
/// Job 2 crosses it on channel 1, because it goes from group 0 to group 1 by way of group 2.
///
/// The packet of job 0 holds the buffer from 653 to 1410 ns, and that of job 1 waits for it from 703 ns on. The packet
/// of job 2 holds its own from 743 to 880 ns.
#[test]
fn a_packet_does_not_wait_for_those_on_other_channels() {
    let jobs: [(&[u32], u64, u64); 3] = [(&[8, 10], 600, 0), (&[9, 11], 500, 150), (&[2, 6], 200, 400)];
    let mut spec = spec((1, 10_000), (10, 600), 600, &jobs);
    let TopologySpec::Dragonfly(topology) = &mut spec.topology else { panic!("it is one") };
    (topology.groups, topology.nodes_per_router, topology.global_links_per_router) = (3, 2, 1);
    spec.fabric.channels = 3;
    let gateways = Some(Gateways::All);
    spec.jobs[2].routing =
        Some(RoutingSpec::Valiant { via: Via::Group, select: Select::Random, inside: None, gateways });
    let output = run(&spec);
    assert_eq!(output.jobs.iter().map(|job| job.hops).collect::<Vec<_>>(), [1, 1, 3]);
    assert_eq!(rows(&spec, &output.blame), [(1, 0, Wait::Buffer, Place::Between, 707 * NS)]);
}

#[test]
fn a_packet_that_is_blocked_at_the_end_has_no_row() {
    let mut spec = full_buffer();
    for (end, count) in [(1410 * NS, 4), (1410 * NS - 1, 1)] {
        spec.stop.at_ps = Some(end);
        let blame = run(&spec).blame;
        assert_eq!(rows(&spec, &blame).len(), count);
        let to_the_router = 553 * NS;
        let over_the_link = if count == 4 { 120 * NS } else { 0 };
        assert_eq!(blame.service_ps[2], to_the_router + over_the_link);
    }
}

/// The roots in order: victim, cause, link and picoseconds.
fn roots(mut spec: Spec) -> Vec<(u16, u16, Place, u64)> {
    spec.measure.roots = true;
    let roots = run(&spec).blame.roots;
    let waits = vec![Wait::Buffer; roots.ps.len()];
    let RootRows { victim, cause, link, ps } = roots;
    let as_blame = Blame { victim, cause, wait: waits, link, ps, ..Blame::default() };
    let rows = rows(&spec, &as_blame).into_iter();
    rows.map(|(victim, cause, _, place, ps)| (victim, cause, place, ps)).collect()
}

/// The credit that ends the wait is that of the packet of job 1, which waits for nothing on its way to node 5.
#[test]
fn the_root_of_a_wait_is_the_next_link_of_the_packet_that_made_room() {
    assert_eq!(roots(full_buffer()), [(2, 1, Place::To(5), 736 * NS)]);
}

/// The packet of job 1 is sent to node 5 in [783, 1383), and its credit arrives at 1410 ns. The first packet of job 0 is
/// decided on at 753 ns and waits for this credit. It leaves at 1470 ns, and its own credit arrives at 1480 ns. The second
/// has waited for that one at its NIC since 100 ns.
#[test]
fn roots_pass_through_full_buffers() {
    let jobs: [(&[u32], u64, u64); 2] = [(&[0, 4], 1_000, 100), (&[1, 5], 600, 0)];
    let chain = spec((1, 600), (10, 1_000), 600, &jobs);
    assert_eq!(roots(chain), [(0, 1, Place::To(5), (657 + 1380) * NS)]);
}

/// The first packet of job 0 waits for the link between the routers in [123, 713), behind job 1. Its credit arrives at
/// 1323 ns; the second packet has waited for it at its NIC since 10 ns.
#[test]
fn a_chain_of_full_buffers_ends_at_a_busy_link() {
    let jobs: [(&[u32], u64, u64); 2] = [(&[0, 4], 1_000, 10), (&[1, 5], 600, 0)];
    let busy = spec((10, 600), (1, 10_000), 600, &jobs);
    assert_eq!(roots(busy), [(0, 1, Place::Between, 1313 * NS)]);
}

/// From each of two nodes to the other, two messages of 500, 500 and 250 B at 0 and 700 ns, with an overhead of 10 ns
/// and room for 1,000 B.
///
/// | packet | committed | sent | decided | ejected | credit |
/// |---|---:|---|---:|---|---:|
/// | 1 | 0 | 10 to 510 | 563 | 563 to 1063 | 1073 |
/// | 2 | 0 | 510 to 1010 | 1063 | 1063 to 1563 | 1573 |
/// | 3 | 1073 | 1073 to 1323 | 1376 | 1563 to 1813 | 1823 |
/// | 4 | 1573 | 1583 to 2083 | 2136 | 2136 to 2636 | 2646 |
/// | 5 | 1823 | 2083 to 2583 | 2636 | 2636 to 3136 | |
/// | 6 | 2646 | 2646 to 2896 | 2949 | 3136 to 3386 | |
#[test]
fn packets_wait_at_their_source() {
    let mut spec = spec((1, 1_000), (1, 1_000), 500, &[(&[0, 1], 1_250, 0)]);
    spec.fabric.nic.overhead_ps = 10 * NS;
    let traffic = spec.jobs[0].traffic.as_mut().expect("it has traffic");
    (traffic.interval_ps, traffic.intervals) = (700 * NS, Some(2));
    // The second message of a broadcast waits for the first. With this pattern both nodes send.
    traffic.pattern = Pattern::Tornado { offset: 1 };
    let output = run(&spec);
    assert_eq!(output.messages.latency_ps, [1816, 1816, 3389 - 700, 3389 - 700].map(|ns| ns * NS));
    let at = |node: u32, link, buffer, source| {
        [
            (0, 0, Wait::Link, Place::To(1 - node), link * NS),
            (0, 0, Wait::SourceBuffer, Place::From(node), buffer * NS),
            (0, 0, Wait::SourceLink, Place::From(node), source * NS),
        ]
    };
    let both = |link, buffer, source| {
        let mut rows = [at(0, link, buffer, source), at(1, link, buffer, source)].concat();
        rows.sort_unstable();
        rows
    };
    let expected = both(187 + 187, 1073 + (1573 - 700) + (1823 - 700) + (2646 - 700), 510 + (2083 - 1823));
    assert_eq!(rows(&spec, &output.blame), expected);
    let service = (563 + 503) + (553 + 503) + (303 + 253); // of each message; the first packet with the overhead
    assert_eq!(output.blame.service_ps, [2 * 2 * service * NS]);

    spec.measure.from_ps = 700 * NS;
    let second = run(&spec).blame;
    assert_eq!(rows(&spec, &second), both(187, 873 + 1123 + 1946, 260));
    assert_eq!(second.service_ps, [2 * service * NS]);
}

/// The same with a crossbar of so many GB/s and output buffers of so many bytes in each router.
fn behind_crossbars(mut spec: Spec, kind: RouterKind, gb: u64, output_buffer_bytes: u64) -> Spec {
    let (crossbar, arbitration) = (Bandwidth(gb * GB), Arbitration::LeastRecentlyServed);
    spec.fabric.router = Some(RouterSpec { kind, crossbar, output_buffer_bytes, arbitration });
    spec
}

/// Packets cross router 0 in 400, 300 and 250 ns: job 1 in [123, 423), job 0 in [423, 823) and job 2 in [823, 1073). The
/// link sends them in [423, 1023), [1023, 1823) and [1823, 2323). Nothing waits at router 1.
#[test]
fn a_packet_waits_for_those_that_cross_to_its_output() {
    let spec = behind_crossbars(three_jobs(), RouterKind::InputQueued, 2, 10_000);
    let blame = run(&spec).blame;
    let expected = [
        (0, 1, Wait::Link, Place::Between, 200 * NS),
        (0, 1, Wait::CrossbarOutput, Place::Between, 290 * NS),
        (2, 0, Wait::Link, Place::Between, 750 * NS),
        (2, 0, Wait::CrossbarOutput, Place::Between, 400 * NS),
        (2, 1, Wait::CrossbarOutput, Place::Between, 280 * NS),
    ];
    assert_eq!(rows(&spec, &blame), expected);
    let across = |bytes: u64| 2 * bytes / 2;
    assert_eq!(blame.service_ps, [1086 + across(800), 846 + across(600), 726 + across(500)].map(|ns| ns * NS));
}

/// Packets of 800, 500 and 100 B are decided on at 133, 143 and 163 ns. They cross router 0 in [133, 933), [933, 1433)
/// and [1433, 1533), and are decided on at 1083, 1553 and 1613 ns at router 1, which they enter by one port. There they
/// cross in [1083, 1883), [1883, 2383) and [2383, 2483).
#[test]
fn a_packet_waits_behind_the_head_of_its_queue_and_for_its_input() {
    let jobs: [(&[u32], u64, u64); 3] = [(&[0, 4], 800, 0), (&[1, 5], 500, 40), (&[2, 6], 100, 100)];
    let spec = spec((10, 10_000), (10, 10_000), 1_000, &jobs);
    let at_router_0 = [
        (1, 0, Wait::CrossbarOutput, Place::Between, 790 * NS),
        (2, 0, Wait::CrossbarOutput, Place::Between, 770 * NS),
        (2, 1, Wait::CrossbarOutput, Place::Between, 500 * NS),
    ];
    let in_one_queue = [
        (1, 0, Wait::CrossbarInput, Place::To(5), 330 * NS),
        (2, 1, Wait::Queue, Place::To(6), 270 * NS),
        (2, 1, Wait::CrossbarInput, Place::To(6), 500 * NS),
    ];
    let in_queues_of_their_own = [
        (1, 0, Wait::CrossbarInput, Place::To(5), 330 * NS),
        (2, 0, Wait::CrossbarInput, Place::To(6), 270 * NS),
        (2, 1, Wait::CrossbarInput, Place::To(6), 500 * NS),
    ];
    let kinds = [(RouterKind::InputQueued, in_one_queue), (RouterKind::VirtualOutputQueued, in_queues_of_their_own)];
    for (kind, at_router_1) in kinds {
        let spec = behind_crossbars(spec.clone(), kind, 1, 10_000);
        let mut expected = [at_router_0, at_router_1].concat();
        expected.sort_unstable();
        let blame = run(&spec).blame;
        let mut found = rows(&spec, &blame);
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(blame.service_ps, [1966, 1276, 356].map(|ns| ns * NS));
    }
}

/// Packets of 600, 300 and 500 B are decided on at 113, 123 and 203 ns. The first two are granted at 113 and 173 ns, and
/// fill the output buffer of 1,000 B until the first has left by the link, in [173, 773). So the third waits for 570 ns,
/// in which they hold 600 and 300 B. It is across at 823 ns, and the second is on the link in [773, 1073).
#[test]
fn a_packet_waits_for_those_that_hold_the_output_buffer() {
    let jobs: [(&[u32], u64, u64); 3] = [(&[0, 4], 600, 0), (&[1, 5], 300, 40), (&[2, 6], 500, 100)];
    let spec = spec((10, 10_000), (1, 10_000), 600, &jobs);
    let spec = behind_crossbars(spec, RouterKind::InputQueued, 10, 1_000);
    let expected = [
        (1, 0, Wait::Link, Place::Between, 570 * NS),
        (1, 0, Wait::CrossbarOutput, Place::Between, 50 * NS),
        (2, 0, Wait::OutputBuffer, Place::Between, 380 * NS),
        (2, 1, Wait::Link, Place::Between, 250 * NS),
        (2, 1, Wait::OutputBuffer, Place::Between, 190 * NS),
    ];
    assert_eq!(rows(&spec, &run(&spec).blame), expected);
    // The packet that has made room has waited for nothing on its way to the link.
    assert_eq!(roots(spec), [(2, 0, Place::Between, 570 * NS)]);
}

/// The first packet of job 0 is decided on at 123 ns. The packet of job 1 crosses router 0 in [113, 713), to the same
/// output. So that of job 0 crosses in [713, 1313), and its credit arrives at 1323 ns. The second packet has waited for it
/// at its NIC since 10 ns.
#[test]
fn a_chain_of_full_buffers_ends_at_a_busy_crossbar() {
    let jobs: [(&[u32], u64, u64); 2] = [(&[0, 4], 1_000, 10), (&[1, 5], 600, 0)];
    let busy = spec((10, 600), (10, 10_000), 600, &jobs);
    for kind in [RouterKind::InputQueued, RouterKind::VirtualOutputQueued] {
        let busy = behind_crossbars(busy.clone(), kind, 1, 10_000);
        assert_eq!(roots(busy), [(0, 1, Place::Between, 1313 * NS)]);
    }
}

/// Two packets of 64 B with a window of one. The first is sent in [0, 80), decided on at 133 and 283 ns and arrives at
/// 366 ns. Its response of 16 B is decided on at 435 and 521 ns and arrives at 540 ns; then the second packet goes.
#[test]
fn a_packet_waits_for_the_window() {
    let mut spec = spec((1, 10_000), (1, 10_000), 64, &[(&[0, 4], 128, 0)]);
    (spec.fabric.header_bytes, spec.fabric.flit_bytes) = (16, 16);
    let (operation, cycle_ps) = (Operation::Put, 16 * NS);
    spec.fabric.nic.aries = Some(AriesSpec { packet_bytes: 64, window: 1, operation, cycle_ps });
    let blame = run(&spec).blame;
    assert_eq!(rows(&spec, &blame), [(0, 0, Wait::Window, Place::From(0), 540 * NS)]);
    assert_eq!(blame.service_ps, [2 * 540 * NS]);
}

/// Three packets of job 0 of 600 B, and one of job 1 before them on the link between the routers, in [113, 713) ns. Two of
/// job 0 may be on the way; they go at 10 ns, and the window is as large as it can be until the first is acknowledged. It
/// is decided on at 123 ns, behind the packet of job 1 only, and marked. It crosses in [713, 1313) and arrives at 1446 ns;
/// its acknowledgement of 1 B arrives 127.2 ns later. Now the window is one packet, and job 1 is its holder, until the
/// second is acknowledged 600 ns later.
#[test]
fn a_nic_waits_for_the_jobs_that_hold_the_queue_that_has_marked() {
    let mut spec = spec((10, 10_000), (1, 10_000), 600, &[(&[0, 4], 1_800, 10), (&[1, 5], 600, 0)]);
    let law = CongestionLaw::EcnWindow;
    spec.fabric.congestion_control = Some(CongestionSpec { law, window_bytes: 1_200, mark_above_bytes: Some(0) });
    let window = |spec: &Spec| {
        let rows = rows(spec, &run(spec).blame).into_iter();
        rows.filter(|row| row.2 == Wait::Window).collect::<Vec<_>>()
    };
    let at = Place::From(0);
    assert_eq!(window(&spec), [(0, 0, Wait::Window, at, 1_563_200), (0, 1, Wait::Window, at, 600 * NS)]);
    // Without a mark the window stays as it is.
    spec.fabric.congestion_control = Some(CongestionSpec { law, window_bytes: 1_200, mark_above_bytes: Some(10_000) });
    assert_eq!(window(&spec), [(0, 0, Wait::Window, at, 1_563_200)]);
}

/// Queues between routers are held by packets of any job, and those before nodes by packets of one.
#[test]
fn only_marks_between_routers_name_other_jobs() {
    let mut counts = std::collections::BTreeMap::<_, [u32; 2]>::new();
    for seed in 0..600 {
        let mut spec = if seed % 2 == 0 { testkit::congested_spec(seed) } else { testkit::held_back_spec(seed) };
        (spec.measure.blame, spec.measure.roots) = (true, false);
        let law = spec.fabric.congestion_control.expect("it has one").law.name();
        let Ok(Output { blame, .. }) = odonata_reference::run(&spec, &mut ()) else { continue };
        for i in (0..blame.ps.len()).filter(|&i| blame.wait[i] == Wait::Window) {
            counts.entry(law).or_default()[usize::from(blame.victim[i] != blame.cause[i])] += 1;
        }
    }
    let of = |law: &str| counts.get(law).copied().unwrap_or_default();
    for law in ["ecn-window", "nscc"] {
        assert!(of(law).iter().all(|&count| count >= 20), "{law}: {counts:?}");
    }
    for law in ["slingshot", "receiver-credit"] {
        assert!(of(law)[0] >= 20 && of(law)[1] == 0, "{law}: {counts:?}");
    }
}

/// The waits and services of each job, and the sums of the latencies of its counted messages.
fn sums(spec: &Spec, output: &Output) -> (Vec<u64>, Vec<u64>) {
    let (blame, messages) = (&output.blame, &output.messages);
    let mut sums = blame.service_ps.clone();
    for (&victim, ps) in blame.victim.iter().zip(&blame.ps) {
        sums[usize::from(victim)] += ps;
    }
    let mut latencies = vec![0; spec.jobs.len()];
    let counted = spec.measure.from_ps..spec.measure.until_ps.unwrap_or(u64::MAX);
    for i in (0..messages.job.len()).filter(|&i| counted.contains(&messages.issue_ps[i])) {
        latencies[messages.job[i] as usize] += messages.latency_ps[i];
    }
    (sums, latencies)
}

/// Compares a run without roots with the same run with roots.
fn has_one_root_for_each_wait_for_room(seed: u64, spec: &Spec, output: &Output) {
    let (blame, slots) = (&output.blame, spec.machine().expect("it ran").network().peer.len());
    let of_roots = run(&Spec { measure: MeasureSpec { roots: true, ..spec.measure.clone() }, ..spec.clone() });
    let roots = &of_roots.blame.roots;
    let mut for_room = vec![0; spec.jobs.len()];
    for (i, &wait) in blame.wait.iter().enumerate() {
        let counts = matches!(wait, Wait::Buffer | Wait::SourceBuffer | Wait::OutputBuffer);
        for_room[usize::from(blame.victim[i])] += if counts { blame.ps[i] } else { 0 };
    }
    let mut by_root = vec![0; spec.jobs.len()];
    for (i, &ps) in roots.ps.iter().enumerate() {
        by_root[usize::from(roots.victim[i])] += ps;
        let at_nic = roots.link[i] as usize >= slots;
        assert!(!at_nic || spec.fabric.nic.aries.is_some(), "seed {seed}: no chain ends at a NIC that answers nothing");
    }
    assert_eq!(by_root, for_room, "seed {seed}: each wait for room has one root");
    let keys = |i: usize| (roots.victim[i], roots.cause[i], roots.link[i]);
    assert!((1..roots.ps.len()).all(|i| keys(i - 1) < keys(i)), "seed {seed}: roots are sorted");
    let without = Blame { roots: RootRows::default(), ..of_roots.blame.clone() };
    assert_eq!(&Output { blame: without, ..of_roots }, output, "seed {seed}: roots change nothing else");
}

/// A request and its response together take the latency of a get.
#[test]
fn waits_and_service_add_up_behind_crossbars_and_at_nics_of_aries() {
    let mut counts = std::collections::BTreeMap::<_, u32>::new();
    let makers = [GENERATORS.as_slice(), &[testkit::answered_spec]].concat();
    for (seed, make) in (0..120).flat_map(|seed| makers.iter().map(move |make| (seed, make))) {
        let spec = make(seed);
        // Programs also have puts, whose responses come after the delivery.
        let gets = spec.fabric.gets() && spec.jobs.iter().all(|job| job.program.is_none());
        if !gets && (spec.fabric.router.is_none() || spec.fabric.nic.aries.is_some()) {
            continue;
        }
        let spec = whole(spec);
        let output = run(&spec);
        let (sums, latencies) = sums(&spec, &output);
        assert_eq!(sums, latencies, "seed {seed}: {}", spec.to_json());
        has_one_root_for_each_wait_for_room(seed, &spec, &output);
        for (i, &wait) in output.blame.wait.iter().enumerate() {
            *counts.entry((wait, output.blame.victim[i] == output.blame.cause[i])).or_default() += 1;
        }
    }
    for (wait, own) in [Wait::Queue, Wait::CrossbarInput, Wait::CrossbarOutput, Wait::OutputBuffer]
        .into_iter()
        .flat_map(|wait| [(wait, false), (wait, true)])
        .chain([(Wait::Window, true)])
    {
        let count = counts.get(&(wait, own)).copied().unwrap_or(0);
        assert!(count >= 20, "{wait:?}, own {own}: {counts:?}");
    }
    assert!(!counts.contains_key(&(Wait::Window, false)), "a NIC waits for its own window: {counts:?}");
}

/// A random specification whose messages have one packet and are all delivered.
fn whole(mut spec: Spec) -> Spec {
    for job in &mut spec.jobs {
        let traffic = job.traffic.as_mut().expect("it has traffic");
        traffic.message_bytes = traffic.message_bytes.min(spec.fabric.packet_bytes.into());
        traffic.intervals = traffic.intervals.or(Some(12));
        job.record = Record::EveryMessage;
    }
    spec.stop.jobs = (0..spec.jobs.len() as u32).collect();
    spec.stop.at_ps = None;
    (spec.measure.blame, spec.measure.roots) = (true, false);
    spec
}

/// The same without crossbars, to see every kind of wait at ideal routers often enough.
fn with_ideal_routers(mut spec: Spec) -> Spec {
    spec.fabric.router = None;
    if spec.sensing.kind.reads_output_buffers() {
        spec.sensing = Sensing::default();
    }
    spec
}

#[test]
fn waits_and_service_add_up_to_the_latencies() {
    let mut counts = std::collections::BTreeMap::<_, u32>::new();
    for (seed, make) in (0..80).flat_map(|seed| GENERATORS.map(|make| (seed, make))) {
        let spec = with_ideal_routers(whole(make(seed)));
        let output = run(&spec);
        let slots = spec.machine().expect("it ran").network().peer.len();
        let blame = &output.blame;
        for (i, &wait) in blame.wait.iter().enumerate() {
            let at_source = matches!(wait, Wait::SourceBuffer | Wait::SourceLink);
            assert_eq!(blame.link[i] as usize >= slots, at_source, "seed {seed}");
            let cut_through = spec.fabric.switching == Switching::CutThrough;
            *counts.entry((wait, cut_through, blame.victim[i] == blame.cause[i])).or_default() += 1;
        }
        let (sums, latencies) = sums(&spec, &output);
        assert_eq!(sums, latencies, "seed {seed}: {}", spec.to_json());
        let keys = |i: usize| (blame.victim[i], blame.cause[i], blame.wait[i], blame.link[i]);
        assert!((1..blame.ps.len()).all(|i| keys(i - 1) < keys(i)), "seed {seed}: rows are sorted");
        assert!(blame.ps.iter().all(|&ps| ps > 0), "seed {seed}: no row is 0");

        has_one_root_for_each_wait_for_room(seed, &spec, &output);
    }
    let at_router = [Wait::Link, Wait::Buffer].map(|wait| [(wait, true), (wait, false)]);
    let at_source = [Wait::SourceBuffer, Wait::SourceLink].map(|wait| [(wait, true), (wait, true)]);
    for (wait, own) in [at_router, at_source].concat().concat() {
        for cut_through in [false, true] {
            let count = counts.get(&(wait, cut_through, own)).copied().unwrap_or(0);
            assert!(count >= 50, "{wait:?}, cut-through {cut_through}, own {own}: {counts:?}");
        }
    }
    assert_eq!(counts.len(), 12, "the cause of waits at a source is the victim: {counts:?}");
}

const GENERATORS: [fn(u64) -> Spec; 4] =
    [testkit::spec, testkit::odd_spec, testkit::direct_spec, testkit::instant_direct_spec];

/// With programs as well, and in runs that are cut short.
#[test]
fn blame_changes_nothing_else() {
    for seed in 0..100 {
        let mut spec = testkit::program_spec(seed);
        let run = |spec: &Spec| match odonata_reference::run(spec, &mut ()) {
            Err(Error { kind: ErrorKind::DeadlockedProgram { .. } | ErrorKind::EndlessIterations {}, .. }) => None,
            result => Some(result.unwrap_or_else(|e| panic!("seed {seed}: {e}"))),
        };
        (spec.measure.blame, spec.measure.roots) = (false, false);
        let off = run(&spec);
        (spec.measure.blame, spec.measure.roots) = (true, true);
        let on = run(&spec);
        assert_eq!(on.is_some(), off.is_some(), "seed {seed}");
        let (Some(on), Some(off)) = (on, off) else { continue };
        assert_eq!(off.blame, Blame::default(), "seed {seed}");
        assert_eq!(on.blame.service_ps.len(), spec.jobs.len(), "seed {seed}");
        assert_eq!(Output { blame: Blame::default(), ..on }, off, "seed {seed}");
    }
}
