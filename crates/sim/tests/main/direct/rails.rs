//! Nodes with several NICs.

use odonata_error::{ErrorKind, path};
use odonata_sim::spec::{Arrival, JobSpec, Pattern, Rail, Select, TopologySpec};
use odonata_sim::{Output, QueueChoice, Spec};
use odonata_topology::{DragonflyPlusSpec, DragonflySpec, RailsOn};

use super::support::{ALL, dragonfly, minimal, spec};
use crate::support::{PACKET, audited, audited_with_both_queues, job, link_mut, output, ser, stream};

const RAILS: u32 = 2;

/// Three groups of four routers; 24 nodes of two NICs each, at one router or at two.
fn machine(rails_on: RailsOn) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec { rails: RAILS, rails_on, ..dragonfly([3, 4, 2 * RAILS, 1]) })
}

fn with(rail: Rail, rails_on: RailsOn, jobs: Vec<JobSpec>) -> Spec {
    let mut spec = spec(machine(rails_on), minimal(Select::LeastLoaded, ALL), jobs);
    spec.fabric.nic.rail = rail;
    spec
}

fn all_rails() -> impl Iterator<Item = (Rail, RailsOn)> {
    [Rail::Hash, Rail::LeastBusy].into_iter().flat_map(|rail| {
        [RailsOn::OneRouter, RailsOn::DifferentRouters].into_iter().map(move |rails_on| (rail, rails_on))
    })
}

/// Bytes sent by each NIC, and bytes sent to each NIC.
fn by_nic(spec: &Spec, output: &Output) -> [Vec<u64>; 2] {
    let machine = spec.machine().expect("it can be built");
    let network = machine.network();
    let channels = usize::from(spec.fabric.channels);
    let first = network.peer.len() * channels;
    let sent = output.links.bytes[first..].to_vec();
    let received = network.node_slot.iter().map(|slot| output.links.bytes[slot.index() * channels]).collect();
    [sent, received]
}

/// Catches bytes that are lost between rails, a NIC that is never used, and a message that arrives on another rail than
/// the one it left on.
#[test]
fn every_nic_carries_its_share() {
    for (rail, rails_on) in all_rails() {
        let mut job = job("all", (0..24).collect(), Pattern::UniformRandom {}, 2_500, 400_000, 60);
        job.traffic_mut().arrival = Arrival::Poisson {};
        let spec = with(rail, rails_on, vec![job]);
        let (output, books) = audited_with_both_queues(&spec);
        let [sent, received] = by_nic(&spec, &output);
        let whole = 24 * 60 * 2_500;
        assert_eq!((sent.len(), sent.iter().sum::<u64>(), received.iter().sum::<u64>()), (48, whole, whole));
        assert!(sent.iter().chain(&received).all(|&bytes| bytes > 0), "{rail:?}, {rails_on:?}: {sent:?}, {received:?}");
        assert_eq!(books.delivered_bytes, whole, "{books:?}");

        // Of one pair, by rail.
        let one = with(
            rail,
            rails_on,
            vec![crate::support::job("one", vec![0, 23], Pattern::Broadcast { root: 0 }, 500, 1_000, 40)],
        );
        let [sent, received] = by_nic(&one, &crate::support::output(&one));
        assert_eq!(sent[..2], received[46..], "{rail:?}, {rails_on:?}");
        assert_eq!(sent.iter().sum::<u64>(), 20_000);
    }
}

/// Catches NICs that wait for each other, and a least-busy choice that ignores the load: two simultaneous messages take
/// the time of one, and each NIC gets half of a burst, while a hash gives one of them more.
#[test]
fn a_burst_is_dealt_out_evenly_to_the_least_busy() {
    for rails_on in [RailsOn::OneRouter, RailsOn::DifferentRouters] {
        let ends = [Rail::LeastBusy, Rail::Hash].map(|rail| {
            let burst = job("burst", (0..24).collect(), Pattern::Broadcast { root: 0 }, 20 * PACKET, 1, 1);
            let mut spec = with(rail, rails_on, vec![burst]);
            for class in ["local", "global"] {
                link_mut(&mut spec, class).bandwidth.0 *= 20;
            }
            let output = output(&spec);
            let [sent, _] = by_nic(&spec, &output);
            assert_eq!(sent.iter().sum::<u64>(), 23 * 20 * PACKET);
            if rail == Rail::LeastBusy {
                assert_eq!(sent[..2], [12 * 20 * PACKET, 11 * 20 * PACKET]);
            }
            output.end_ps
        });
        let alone = 12 * 20 * ser(PACKET, 10);
        assert!(ends[0] > alone && ends[0] < alone + 1_000_000, "{ends:?}");
        assert!(ends[1] > ends[0] + 20 * ser(PACKET, 10), "{ends:?}");
    }
}

/// Catches a rail that is chosen by what was sent instead of by what is queued, and a tie that does not go to the
/// lowest rail.
#[test]
fn the_least_busy_is_the_one_with_the_least_left_to_send() {
    let sent = |rail, packets: u64| {
        let every = 30 * ser(PACKET, 10);
        let job = job("one after another", vec![0, 12], Pattern::Tornado { offset: 1 }, packets * PACKET, every, 20);
        let spec = with(rail, RailsOn::OneRouter, vec![job]);
        let [sent, _] = by_nic(&spec, &output(&spec));
        [sent[0], sent[1]].map(|bytes| bytes / (packets * PACKET))
    };
    // A message takes the time of 20 packets out of 30: the first NIC is idle again. With 40 packets it is not, but the
    // second one is.
    assert_eq!((sent(Rail::LeastBusy, 20), sent(Rail::LeastBusy, 40)), ([20, 0], [10, 10]));
    let hashed = sent(Rail::Hash, 20);
    assert!(hashed == sent(Rail::Hash, 40) && hashed[0].abs_diff(hashed[1]) < 14, "{hashed:?}");
}

/// Catches packets that are dealt out otherwise than in consecutive parts, a message that counts as delivered with another
/// part than its last, and a smaller message that is divided.
#[test]
fn a_striped_message_takes_as_long_as_its_largest_part() {
    let run = |rails_on, bytes: u64, least: Option<u64>| {
        let one = job("one", vec![0, 1], Pattern::Broadcast { root: 0 }, bytes, 1, 1);
        let mut spec = with(Rail::LeastBusy, rails_on, vec![one]);
        spec.fabric.nic.stripe_bytes = least;
        let (output, _) = audited(&spec, QueueChoice::Wheel);
        let [sent, received] = by_nic(&spec, &output);
        (sent[..2].to_vec(), received[2..4].to_vec(), output.jobs[0].latency.max)
    };
    let bytes = 20 * PACKET + 100;
    for rails_on in [RailsOn::OneRouter, RailsOn::DifferentRouters] {
        let (sent, received, _) = run(rails_on, bytes, Some(bytes));
        assert_eq!((sent, received), (vec![11 * PACKET, 9 * PACKET + 100], vec![11 * PACKET, 9 * PACKET + 100]));
        let (sent, ..) = run(rails_on, bytes - 1, Some(bytes));
        assert_eq!(sent, [bytes - 1, 0], "it is too small");
    }
    let (.., striped) = run(RailsOn::OneRouter, bytes, Some(1));
    let (.., eleven) = run(RailsOn::OneRouter, 11 * PACKET, None);
    let (.., whole) = run(RailsOn::OneRouter, bytes, None);
    assert_eq!(striped, eleven);
    assert_eq!(whole - striped, 9 * ser(PACKET, 10) + ser(100, 10));
}

/// Catches a rule for the ranks of programs that changes traffic.
#[test]
fn traffic_has_no_rail_by_rank() {
    let [by_rank, hashed] = [Rail::ByRank, Rail::Hash].map(|rail| {
        let all = job("all", (0..24).collect(), Pattern::UniformRandom {}, 2_500, 400_000, 20);
        output(&with(rail, RailsOn::OneRouter, vec![all]))
    });
    assert!(by_rank == hashed);
}

/// Catches leaves whose NICs share a port: on a Dragonfly+, two messages at once between two nodes of two leaves take
/// the time of one, on their way up, across and down.
#[test]
fn the_nics_of_a_node_of_a_leaf_send_at_once() {
    let latencies = |rails| {
        let machine = DragonflyPlusSpec { rails, ..crate::support::machine([3, 2, 2, 2, 4], None) };
        let pair = job("pair", vec![0, 4, 5], Pattern::Broadcast { root: 0 }, PACKET, 1, 1);
        let mut spec = crate::support::spec(machine, crate::support::MINIMAL, vec![pair]);
        spec.fabric.nic.rail = Rail::LeastBusy;
        for class in ["local", "global"] {
            *link_mut(&mut spec, class) = crate::support::link(10_000);
        }
        output(&spec).messages.latency_ps
    };
    let (one, two) = (latencies(1), latencies(2));
    assert!(two[0] == one[0] && one[1] == one[0] + ser(PACKET, 10), "{one:?}");
    assert!(two[1] < two[0] + 1_000, "{two:?}");
}

/// Catches a message that enters or leaves at the router of another rail: on an empty machine the path from each NIC
/// starts at its own router.
#[test]
fn each_rail_starts_at_its_own_router() {
    // Nodes 0 to 3 have a NIC at router 0 and one at router 1; 4 to 7 at routers 2 and 3.
    let spec = with(Rail::LeastBusy, RailsOn::DifferentRouters, vec![stream(0, 4, PACKET), stream(1, 2, PACKET)]);
    let rows = output(&spec).messages;
    let [near, own] = [2 * 100_000 + 100_000 + 2 * 100_000, 2 * 100_000 + 100_000];
    assert_eq!(rows.latency_ps, [near, own], "rail 0 to rail 0: routers 0 to 2, router 0 to 0");

    // Two messages at once, to two nodes: the second uses rail 1, from router 1 to router 3.
    let both = job("both", vec![0, 4, 5], Pattern::Broadcast { root: 0 }, PACKET, 1, 1);
    let spec = with(Rail::LeastBusy, RailsOn::DifferentRouters, vec![both]);
    let output = output(&spec);
    assert_eq!(output.messages.latency_ps, [near, near], "the second does not wait for the first");
    let machine = spec.machine().expect("it can be built");
    let network = machine.network();
    let channels = usize::from(spec.fabric.channels);
    let carried = |router: usize| {
        let slots = network.first_slot[router] as usize..network.first_slot[router + 1] as usize;
        slots.map(|slot| output.links.packets[slot * channels..][..channels].iter().sum::<u64>()).sum::<u64>()
    };
    assert_eq!([0, 1, 2, 3].map(carried), [1; 4], "one link between routers or to a node each");
}

/// Catches packets that are sent to a failed router: a node with a NIC there cannot be used.
#[test]
fn a_node_with_a_lost_nic_is_refused() {
    for router in [0, 1] {
        for rail in [Rail::Hash, Rail::LeastBusy] {
            let pair = job("pair", vec![0, 23], Pattern::Tornado { offset: 1 }, PACKET, 1_000, 20);
            let mut spec = with(rail, RailsOn::DifferentRouters, vec![pair]);
            spec.failures.routers = vec![router];
            let refusal = ErrorKind::NodeFailed { node: 0 }.at(path!["jobs", 0, "nodes"]);
            assert_eq!(odonata_sim::check(&spec), Err(refusal), "router {router}");
        }
    }
}

/// Catches windows that are too long for nodes with NICs at two routers. Such a node belongs to the router of its first
/// NIC, and the credits of the second NIC come from another router, faster than anything else between routers.
#[test]
fn both_queues_agree_on_nics_at_two_routers() {
    for seed in 0..10 {
        let mut job = job("all", (0..24).collect(), Pattern::UniformRandom {}, 3_500, 3_000_000, 20);
        job.traffic_mut().arrival = Arrival::Poisson {};
        let mut spec = with(Rail::LeastBusy, RailsOn::DifferentRouters, vec![job]);
        spec.seed = seed;
        *link_mut(&mut spec, "node") = crate::support::link(1);
        link_mut(&mut spec, "node").buffer_bytes = PACKET;
        for class in ["local", "global"] {
            (link_mut(&mut spec, class).bandwidth.0, link_mut(&mut spec, class).latency_ps) =
                (40 * crate::support::GB, 3_000_000);
        }
        let [wheel, ordered] = [QueueChoice::Wheel, QueueChoice::Ordered]
            .map(|queue| odonata_sim::run_with(&spec, &mut (), queue).expect("it runs").0);
        assert!(wheel == ordered, "seed {seed}");
        assert!(wheel.links.stalled_ps.iter().any(|&ps| ps > 0), "the NICs wait for credits");
    }
}
