//! Packets that come in another order than they left: what is counted, what it costs to put them in order, and keys
//! that come back with acknowledgements and are used again (docs/model.md, sections 3 and 9).

use std::collections::BTreeMap;

use odonata_error::ErrorKind;
use odonata_sim::output::Reordering;
use odonata_sim::spec::{
    CongestionLaw, CongestionSpec, Delivery, Entropy, JobSpec, MAX_CHANNELS, Pattern, Record, RoutingSpec, Select,
    TopologySpec,
};
use odonata_sim::{Output, QueueChoice, Spec, check, run_with};
use odonata_topology::GraphSpec;

use crate::support::{PACKET, audited_with_both_queues, job, link, machine, output, ser};

/// Two leaves with so many nodes each, and four spines. All links have 10 GB/s but those of the first spine, which have
/// `slow` GB/s.
fn spec(nodes_per_leaf: u32, slow: u64, select: Select, jobs: Vec<JobSpec>) -> Spec {
    let routing = RoutingSpec::Minimal { select, gateways: None };
    let mut spec = crate::support::spec(machine([1, 1, 1, 1, 0], None), routing, jobs);
    let nics = (0..2).flat_map(|leaf| (0..nodes_per_leaf).map(move |_| leaf)).collect();
    let links =
        (0..2).flat_map(|leaf| (2..6).map(move |spine| [leaf, spine, if spine == 2 { 2 } else { 1 }])).collect();
    spec.topology = TopologySpec::Graph(GraphSpec { routers: 6, nics, rails: 1, weights: vec![1, 1], links });
    let classes = [("node", link(10)), ("link", link(10)), ("link2", link(slow))];
    spec.fabric.links = classes.into_iter().map(|(name, link)| (name.to_owned(), link)).collect::<BTreeMap<_, _>>();
    spec.fabric.channels = MAX_CHANNELS / 2;
    spec
}

/// Two nodes send each other messages of one packet as fast as their links allow.
fn exchange(select: Select) -> Spec {
    let jobs = vec![job("both", vec![0, 1], Pattern::Tornado { offset: 1 }, PACKET, ser(PACKET, 10), 200)];
    let mut spec = spec(1, 1, select, jobs);
    spec.measure.reordering = true;
    spec
}

/// When the messages of each rank were issued and when they came, in order of issue.
fn arrivals(output: &Output, source: u32) -> Vec<(u64, u64)> {
    let m = &output.messages;
    let rows = (0..m.source.len()).filter(|&row| m.source[row] == source);
    let mut all: Vec<_> = rows.map(|row| (m.issue_ps[row], m.issue_ps[row] + m.latency_ps[row])).collect();
    all.sort_unstable();
    all
}

/// Catches a packet that is counted as late although it is not, a wrong extent, and a buffer that is too small.
#[test]
fn packets_that_come_late_are_counted_as_by_hand() {
    let output = output(&exchange(Select::Random));
    let mut expected = Reordering::default();
    for source in [0, 1] {
        let came = arrivals(&output, source);
        let mut order: Vec<usize> = (0..came.len()).collect();
        order.sort_by_key(|&number| came[number].1);
        for (place, number) in order.iter().enumerate() {
            expected.arrived += 1;
            if let Some(first) = order[..place].iter().position(|before| before > number) {
                expected.reordered += 1;
                expected.extents += (place - first) as u64;
                expected.most_extent = expected.most_extent.max((place - first) as u64);
            }
            let missing = (0..came.len()).find(|other| !order[..=place].contains(other)).unwrap_or(came.len());
            let waiting = order[..=place].iter().filter(|&&other| other > missing).count() as u64;
            expected.buffer_bytes = expected.buffer_bytes.max(waiting * PACKET);
        }
    }
    assert_eq!(output.jobs[0].reordering, expected);
    assert!(expected.arrived == 400 && expected.reordered > 40 && expected.most_extent > 10, "{expected:?}");
}

/// A message in order comes with the latest of those before it. Nothing else changes.
#[test]
fn in_order_a_message_comes_with_the_latest_of_those_before_it() {
    let (mut spec, free) = (exchange(Select::Random), output(&exchange(Select::Random)));
    spec.fabric.nic.delivery = Delivery::InOrder;
    let ordered = output(&spec);
    let mut delayed = 0;
    for source in [0, 1] {
        let mut latest = 0;
        for (free, ordered) in arrivals(&free, source).into_iter().zip(arrivals(&ordered, source)) {
            latest = latest.max(free.1);
            assert_eq!(ordered, (free.0, latest));
            delayed += u32::from(latest > free.1);
        }
    }
    assert!(delayed > 100, "{delayed}");
    assert_eq!(ordered.jobs[0].reordering, free.jobs[0].reordering);
    assert_eq!((&ordered.links, ordered.end_ps), (&free.links, free.end_ps));
    audited_with_both_queues(&spec);
}

/// One packet may bring many messages with it, and with the last of them the run ends: catches windows that are too
/// long for that, in which others go on.
#[test]
fn a_run_ends_with_the_messages_that_waited() {
    for seed in 0..60 {
        let of = |name, nodes, interval_ps, intervals| {
            let mut job = job(name, nodes, Pattern::Tornado { offset: 1 }, PACKET, interval_ps, 1);
            (job.traffic_mut().intervals, job.record) = (intervals, Record::Nothing);
            job
        };
        let jobs = vec![of("ends", vec![0, 2], ser(PACKET, 10), Some(40)), of("goes on", vec![1, 3], 450_000, None)];
        let mut spec = spec(2, 2, Select::Random, jobs);
        (spec.seed, spec.stop.jobs) = (seed, vec![0]);
        spec.fabric.nic.delivery = Delivery::InOrder;
        // A router acts on another one after 305 ns or more, and a packet reaches its node after 205 ns.
        spec.fabric.links.values_mut().for_each(|link| link.credit_delay_ps = 200_000);
        let expected = run_with(&spec, &mut (), QueueChoice::Ordered).expect("it runs").0;
        for queue in [QueueChoice::Wheel, QueueChoice::Partitions(2), QueueChoice::Partitions(5)] {
            let other = run_with(&spec, &mut (), queue).expect("it runs").0;
            assert!(other == expected, "seed {seed}: {queue:?}: {} and {}", other.end_ps, expected.end_ps);
        }
    }
}

/// On one path nothing overtakes, and order costs nothing.
#[test]
fn on_one_path_order_costs_nothing() {
    let mut spec = exchange(Select::Hash);
    let free = output(&spec);
    assert_eq!(free.jobs[0].reordering, Reordering { arrived: 400, ..Reordering::default() });
    spec.fabric.nic.delivery = Delivery::InOrder;
    assert_eq!(output(&spec), free);
}

/// Nothing of a run changes if its packets are numbered.
#[test]
fn counting_changes_nothing_else() {
    let mut spec = exchange(Select::Random);
    let mut counted = output(&spec);
    counted.jobs[0].reordering = Reordering::default();
    spec.measure.reordering = false;
    assert_eq!(output(&spec), counted);
}

/// Every node sends to the other leaf, through four spines of which one is as fast as `slow` GB/s.
fn sprayed(entropy: Entropy, slow: u64) -> Spec {
    let jobs = vec![job("all", (0..8).collect(), Pattern::Tornado { offset: 4 }, 400 * PACKET, 1, 1)];
    let mut spec = spec(4, slow, Select::Random, jobs);
    let law = CongestionLaw::Nscc { target_ps: 8 * ser(PACKET, 10) };
    spec.fabric.congestion_control =
        Some(CongestionSpec { law, window_bytes: 32 * PACKET, mark_above_bytes: Some(8 * PACKET) });
    spec.fabric.nic.entropy = entropy;
    spec
}

/// The share of the packets from the first leaf that take the first spine, and when all have come.
fn use_of_first_spine(spec: &Spec) -> (f64, u64) {
    let output = output(spec);
    let channels = usize::from(spec.fabric.all_channels());
    // Ports 0 to 3 of the first leaf lead to its nodes, and the next ones to the spines. Requests have the lower
    // channels.
    let sent = |port: usize| output.links.bytes[port * channels..][..channels / 2].iter().sum::<u64>() as f64;
    (sent(4) / (4..8).map(sent).sum::<f64>(), output.jobs[0].last_delivery_ps.expect("all have come"))
}

/// Published of REPS is that it leaves slow links (Bonato 2025): here half a bandwidth is left to a quarter of the
/// sprayed packets, so spraying alone is bound by it.
#[test]
fn keys_that_come_back_without_a_mark_leave_a_slow_link() {
    let ((spread, long), (share, short)) =
        (use_of_first_spine(&sprayed(Entropy::Fresh, 5)), use_of_first_spine(&sprayed(Entropy::Reps, 5)));
    assert!((0.2..0.3).contains(&spread), "{spread}");
    assert!(share < 0.8 * spread, "{share} of {spread}");
    assert!(short < long - long / 10, "{short} of {long} ps");
    // Without a slow link they are spread evenly, and it takes no longer.
    let ((_, long), (share, short)) =
        (use_of_first_spine(&sprayed(Entropy::Fresh, 10)), use_of_first_spine(&sprayed(Entropy::Reps, 10)));
    assert!((0.2..0.3).contains(&share), "{share}");
    assert!(short <= long + long / 50, "{short} of {long} ps");
}

#[test]
fn keys_are_used_again_only_with_marks_and_where_paths_follow_from_them() {
    let kind = |change: &dyn Fn(&mut Spec)| {
        let mut spec = sprayed(Entropy::Reps, 5);
        change(&mut spec);
        check(&spec).err().map(|error| (error.kind, error.path.to_string()))
    };
    assert_eq!(kind(&|_| ()), None);
    let without = Some((ErrorKind::RepsWithoutMarks {}, "fabric.nic.entropy".into()));
    assert_eq!(kind(&|spec| spec.fabric.congestion_control = None), without);
    let slingshot = |spec: &mut Spec| {
        if let Some(control) = &mut spec.fabric.congestion_control {
            control.law = CongestionLaw::Slingshot;
        }
    };
    assert_eq!(kind(&slingshot), without, "only ports to nodes mark");
    for select in [Select::Hash, Select::LeastLoaded] {
        let routing = RoutingSpec::Minimal { select, gateways: None };
        let expected = ErrorKind::RepsWithoutSpraying { routing: "minimal" };
        assert_eq!(kind(&|spec| spec.routing = routing.clone()), Some((expected.clone(), "routing".into())));
        let of_job = kind(&|spec| spec.jobs[0].routing = Some(routing.clone()));
        assert_eq!(of_job, Some((expected, "jobs[0].routing".into())));
    }
}
