//! What routings know of loads: five congestion metrics, and delayed credits.

use std::collections::BTreeMap;

use odonata_sim::Spec;
use odonata_sim::fabric::{CreditMetric, OutputPort, Wiring};
use odonata_sim::spec::{
    AriesMode, Arrival, Knowledge, MetricKind, Pattern, RoutingSpec, Select, Sensing, TopologySpec, Via,
};

use odonata_topology::Peer;

use super::support::{
    ALL, NEAREST, adaptive_local, aries, flat, grid, inside_groups, minimal, par, spec, ugal, valiant,
};
use crate::support::{job, link_mut, output, stream};
use odonata_testkit::Choices;

fn sensing(kind: MetricKind, delay_ps: u64, spec: &Spec) -> Sensing {
    let between = spec.fabric.links.keys().filter(|class| *class != "node");
    Sensing { kind, delay_ps: between.map(|class| (class.clone(), delay_ps)).collect(), levels: None }
}

/// Adaptive routings without a bias.
fn adaptive() -> Vec<RoutingSpec> {
    vec![
        ugal(Knowledge::Local, Via::Group, 1, ALL),
        ugal(Knowledge::Local, Via::Router, 2, ALL),
        ugal(Knowledge::Global, Via::Group, 2, ALL),
        par(Via::Group, 1, ALL),
        par(Via::Router, 2, ALL),
        adaptive_local(ALL),
        aries(AriesMode::Adaptive0, ALL),
    ]
}

/// Catches an option that is ignored: inside a group, packets take paths through other routers only if they are asked to,
/// always with Valiant and by load with UGAL, PAR and `adaptive-local`, and no path is longer than two links.
#[test]
fn packets_inside_a_group_go_through_other_routers_if_asked_to() {
    let minimal_packets = |routing: &RoutingSpec| {
        let job = job("all", (0..8).collect(), Pattern::Tornado { offset: 2 }, 3_000, 200_000, 60);
        let mut spec = spec(flat([5, 4, 2, 1]), routing.clone(), vec![job]);
        spec.fabric.links.values_mut().for_each(|link| link.buffer_bytes = 8_000);
        let totals = &output(&spec).jobs[0];
        assert_eq!(totals.hops, totals.packets + (totals.packets - totals.minimal), "one link, or two");
        (totals.minimal, totals.packets)
    };
    let local = Knowledge::Local;
    let groups = [valiant(Via::Group, Select::Random, ALL), adaptive_local(ALL), ugal(local, Via::Group, 2, ALL)];
    for routing in groups.into_iter().chain([par(Via::Group, 2, ALL)]) {
        let (minimal, packets) = minimal_packets(&routing);
        assert_eq!(minimal, packets, "{routing:?}");
    }
    let [ugal, par, valiant, adaptive] = inside_groups(ALL);
    assert_eq!(minimal_packets(&valiant).0, 0);
    for routing in [ugal, par] {
        let (minimal, packets) = minimal_packets(&routing);
        assert!(minimal > packets / 3 && minimal < packets, "{minimal} of {packets}");
    }
    let (minimal, packets) = minimal_packets(&adaptive);
    // A third of the draws are the destination's own router.
    assert!(minimal > packets / 3 && minimal < packets, "{minimal} of {packets}");
}

/// Catches a congestion metric that is read and ignored, and a routing that leaves the minimal path without a reason:
/// without known loads a packet stays on it, whatever the congestion; with known loads it leaves.
#[test]
fn without_a_metric_packets_stay_on_minimal_paths() {
    for topology in [flat([5, 4, 1, 1]), grid([3, 2, 3, 1, 1])] {
        for routing in adaptive() {
            for kind in
                [MetricKind::None, MetricKind::Backlog, MetricKind::Credits, MetricKind::Both, MetricKind::Occupancy]
            {
                let job = job("all", (0..18).collect(), Pattern::GroupShift { shift: 1 }, 3_000, 400_000, 60);
                let mut spec = spec(topology.clone(), routing.clone(), vec![job]);
                spec.fabric.links.values_mut().for_each(|link| link.buffer_bytes = 8_000);
                spec.sensing = sensing(kind, 0, &spec);
                let totals = &output(&spec).jobs[0];
                assert_eq!(totals.bytes, totals.issued * 3_000);
                assert_eq!(totals.minimal == totals.packets, kind == MetricKind::None, "{kind:?}, {routing:?}");
            }
        }
    }
}

/// With one level all loads are equal, and no adaptive routing leaves minimal paths. With a level for each byte below a
/// full buffer, loads of whole bytes are exact: nothing changes. Catches levels that are ignored, or that round up, and
/// steps of another buffer. With a level for two packets results are others.
#[test]
fn one_level_says_nothing_and_one_for_each_byte_says_all() {
    let mut different = 0;
    for topology in [flat([5, 4, 1, 1]), grid([3, 2, 3, 1, 1])] {
        for routing in adaptive() {
            for kind in [MetricKind::Backlog, MetricKind::Credits, MetricKind::Both, MetricKind::Occupancy] {
                let job = job("all", (0..18).collect(), Pattern::GroupShift { shift: 1 }, 3_000, 400_000, 30);
                let mut spec = spec(topology.clone(), routing.clone(), vec![job]);
                spec.fabric.links.values_mut().for_each(|link| link.buffer_bytes = 8_000);
                spec.sensing = sensing(kind, 0, &spec);
                let bytes = u32::from(spec.fabric.channels) * 8_000;
                let mut with = |levels| {
                    spec.sensing.levels = levels;
                    output(&spec)
                };
                let exact = with(None);
                let totals = |output: &odonata_sim::Output| (output.jobs[0].minimal, output.jobs[0].packets);
                let (minimal, packets) = totals(&with(Some(1)));
                assert_eq!(minimal, packets, "{kind:?}, {routing:?}");
                assert_ne!(totals(&exact), (minimal, packets), "{kind:?}, {routing:?}");
                // Not all channels are full: loads are below the range.
                if kind == MetricKind::Credits {
                    assert!(with(Some(bytes)) == exact, "{kind:?}, {routing:?}");
                }
                different += u32::from(with(Some(bytes / 2_000)) != exact);
            }
        }
    }
    assert!(different > 40, "{different} of 56");
}

/// One packet of 100 ns each microsecond from router 0 to another group. Its credit returns after 300 ns: it takes 100
/// ns to send, 100 ns to its route decision, and 100 ns to leave the next router.
fn phantom(kind: MetricKind, delay_ps: u64) -> (u64, u64) {
    let pings = job("pings", vec![0, 19], Pattern::Tornado { offset: 1 }, 1_000, 1_000_000, 100);
    let mut spec = spec(flat([5, 4, 1, 1]), ugal(Knowledge::Local, Via::Group, 1, NEAREST), vec![pings]);
    spec.sensing = sensing(kind, delay_ps, &spec);
    let totals = &output(&spec).jobs[0];
    (totals.packets, totals.packets - totals.minimal)
}

/// Catches credit information that comes too early or too late, to the picosecond, and a delay that also delays flow
/// control (phantom congestion, D8): while the last packet is not known to have left, the next one takes the
/// non-minimal path.
#[test]
fn late_news_look_like_load() {
    for kind in [MetricKind::Credits, MetricKind::Both, MetricKind::Occupancy] {
        for delay in [0, 300_000, 699_999, 700_000] {
            assert_eq!(phantom(kind, delay), (200, 0), "{kind:?}, {delay} ps");
        }
        for delay in [700_001, 1_000_000, 3_000_000, 30_000_000] {
            let (packets, non_minimal) = phantom(kind, delay);
            assert!(
                packets == 200 && (80..=120).contains(&non_minimal),
                "{non_minimal} go round: {kind:?}, {delay} ps"
            );
        }
    }
    for kind in [MetricKind::Backlog, MetricKind::None] {
        assert_eq!(phantom(kind, 30_000_000), (200, 0), "{kind:?} knows of no credits");
    }
}

/// Catches a load that is not the model's sum, and a load that falls with the delay of credits.
#[test]
fn loads_are_sums_of_what_is_not_known_to_have_left() {
    let mut c = Choices::new(11);
    for _ in 0..200 {
        let mut spec = spec(grid([2, 2, 2, 1, 1]), adaptive_local(ALL), Vec::new());
        for link in spec.fabric.links.values_mut() {
            link.bandwidth.0 = c.within(1_000_000_000_000_000, 20_000_000_000_000_000);
        }
        let machine = spec.machine().expect("it can be built");
        let network = machine.network();
        let slot = c.within(0, network.peer.len() as u64 - 1) as u32;
        let Peer::Router(far) = network.peer[slot as usize] else { continue };
        let class = network.classes[network.class[slot as usize].index()];
        let scaled = u128::from(spec.fabric.links[class].bandwidth.serialisation_ps(65_536));
        let sent: Vec<(u32, Option<u64>)> =
            (0..c.within(1, 40)).map(|_| (c.count(1, 1_000), c.chance(80).then(|| c.within(1, 1_000)))).collect();
        let now = c.within(1, 1_200);
        let port = OutputPort { free: now + c.within(0, 5_000), blocked_ps: c.within(0, 5_000) };
        let mut last = 0;
        for delay in [0, 1, 100, 400, 2_000] {
            let load = |kind| {
                spec.sensing = sensing(kind, delay, &spec);
                let wiring = Wiring::new(&spec, network);
                let mut credit_metric =
                    CreditMetric::new(&spec.sensing, &wiring, network.classes, wiring.slots(&(0..u32::MAX)))?;
                for &(bytes, leaves) in &sent {
                    credit_metric.send(slot, bytes);
                    leaves.into_iter().for_each(|stamp| credit_metric.leave(far.0, bytes, stamp, 0));
                }
                Some(credit_metric.load(slot, &port, now))
            };
            let mut load = load;
            let known = |leaves: Option<u64>| leaves.is_some_and(|stamp| stamp + delay <= now);
            let bytes: u128 = sent.iter().filter(|s| !known(s.1)).map(|s| u128::from(s.0)).sum();
            let credits = (bytes * scaled / 65_536) as u64;
            assert_eq!(load(MetricKind::Credits), Some(credits));
            assert_eq!(load(MetricKind::Both), Some(credits + port.backlog(now)));
            assert_eq!(load(MetricKind::Occupancy), Some(credits + port.blocked_ps), "what is committed counts once");
            assert_eq!(load(MetricKind::None), Some(0));
            assert_eq!(load(MetricKind::Backlog), None, "the backlog needs no sensor");
            assert!(credits >= last, "later news, less load");
            last = credits;
        }
    }
}

/// Share of minimal packets, and mean square deviation of latencies, with `adaptive-0` of Aries.
fn spread(topology: &TopologySpec, nodes: u32, every_ps: u64, metric_kind: (MetricKind, u64), seed: u64) -> (f64, f64) {
    let pattern = Pattern::Tornado { offset: u64::from(nodes / 2) };
    let mut job = job("all", (0..nodes).collect(), pattern, 1_000, every_ps, 60);
    job.traffic_mut().arrival = Arrival::Staggered { jitter_ps: every_ps / 4 };
    let mut spec = spec(topology.clone(), aries(AriesMode::Adaptive0, ALL), vec![job]);
    let classes: Vec<String> = spec.fabric.links.keys().cloned().collect();
    for class in classes {
        (link_mut(&mut spec, &class).buffer_bytes, link_mut(&mut spec, &class).latency_ps) = (16_000, 50_000);
    }
    spec.seed = seed;
    spec.sensing = sensing(metric_kind.0, metric_kind.1, &spec);
    let output = output(&spec);
    let latencies: Vec<f64> = output.messages.latency_ps.iter().map(|&latency| latency as f64).collect();
    let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
    let square = latencies.iter().map(|latency| (latency - mean).powi(2)).sum::<f64>() / latencies.len() as f64;
    (output.jobs[0].minimal as f64 / output.jobs[0].packets as f64, square)
}

/// De Sensi 2019, section 2.2 (D8): with delayed credit information, packets avoid congestion that no longer exists;
/// without the delay, latencies of `adaptive-0` vary less. This holds on a machine with a light load, if the delay is
/// about the time between packets. (The reverse is below.)
#[test]
fn latencies_vary_less_without_the_delay_of_credits() {
    for (topology, nodes) in [(flat([9, 4, 2, 2]), 72), (grid([5, 2, 3, 2, 2]), 60), (grid([3, 3, 4, 2, 3]), 72)] {
        for kind in [MetricKind::Credits, MetricKind::Both, MetricKind::Occupancy] {
            for seed in 0..2 {
                let [(minimal, at_once), (fewer, late)] =
                    [0, 1_000_000].map(|delay| spread(&topology, nodes, 3_000_000, (kind, delay), seed));
                assert!(late > 1.15 * at_once, "{late} to {at_once}: {kind:?}, {topology:?}");
                assert!(fewer < minimal - 0.1, "{fewer} to {minimal}: {kind:?}, {topology:?}");
            }
        }
    }
}

/// The opposite of D8, for the record: information that is delayed by much more than the time between packets reflects
/// an average of the load. Under steady traffic it keeps packets on minimal paths, and latencies vary less.
#[test]
fn under_steady_load_news_that_come_very_late_are_an_average() {
    for (topology, nodes) in [(flat([9, 4, 2, 2]), 72), (grid([5, 2, 3, 2, 2]), 60)] {
        let steady = |delay| {
            let mut job = job("all", (0..nodes).collect(), Pattern::UniformRandom {}, 1_000, 150_000, 150);
            job.traffic_mut().arrival = Arrival::Poisson {};
            let mut spec = spec(topology.clone(), aries(AriesMode::Adaptive0, ALL), vec![job]);
            spec.sensing = sensing(MetricKind::Both, delay, &spec);
            let output = output(&spec);
            let latency = &output.jobs[0].latency;
            (output.jobs[0].minimal as f64 / output.jobs[0].packets as f64, latency.sum / u128::from(latency.count))
        };
        let [(minimal, mean), (more, late)] = [0, 10_000_000].map(steady);
        assert!(more > minimal + 0.05 && late < mean, "{more} to {minimal}, {late} to {mean}: {topology:?}");
    }
}

/// Catches a delay that is stored under the wrong class: one of the two paths begins with a local link, the other with
/// the cable.
#[test]
fn delays_belong_to_their_class() {
    for (class, to, late) in [("local", 19, true), ("global", 19, false), ("local", 4, false), ("global", 4, true)] {
        let pings = job("pings", vec![0, to], Pattern::Broadcast { root: 0 }, 1_000, 1_000_000, 100);
        let mut spec = spec(flat([5, 4, 1, 1]), ugal(Knowledge::Local, Via::Group, 1, NEAREST), vec![pings]);
        let delay_ps = BTreeMap::from([(class.to_owned(), 5_000_000)]);
        spec.sensing = Sensing { kind: MetricKind::Credits, delay_ps, levels: None };
        let totals = &output(&spec).jobs[0];
        assert_eq!(totals.minimal < totals.packets, late, "{class}, to {to}");
    }
}

/// Catches global knowledge that ends at the own router (UGAL-G), or local knowledge that does not (UGAL-L). A stream
/// from router 0 fills the queue of the only cable to its group. Router 1 has packets for that group, and its own ports
/// are idle.
#[test]
fn only_global_knowledge_sees_the_queue_at_another_router() {
    for (knowledge, minimal_packets) in [(Knowledge::Local, 20), (Knowledge::Global, 0)] {
        let pings = job("pings", vec![1, 5], Pattern::Broadcast { root: 0 }, 1_000, 1_000_000, 20);
        let mut spec =
            spec(flat([5, 4, 1, 1]), ugal(knowledge, Via::Group, 1, ALL), vec![pings, stream(0, 4, 300_000)]);
        spec.jobs[1].routing = Some(minimal(Select::Random, ALL));
        link_mut(&mut spec, "global").bandwidth.0 /= 10;
        let totals = &output(&spec).jobs[0];
        assert_eq!((totals.packets, totals.minimal), (20, minimal_packets), "{knowledge:?}");
    }
}
