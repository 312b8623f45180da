//! [`Direct::branches`], the source of the deadlock proofs and of the listed paths, against the decisions: both must
//! know the same paths.

use std::collections::BTreeSet;

use odonata_sim::fabric::RouterPlace;
use odonata_sim::fabric::packet::Event;
use odonata_sim::fabric::{CreditMetric, OutputPort, Wiring};
use odonata_sim::routing::AllPaths;
use odonata_sim::routing::direct::Direct;
use odonata_sim::routing::{Backlog, Loads, RoutingAlgorithm};
use odonata_sim::spec::{MetricKind, RoutingSpec, Sensing};

use super::support::{ALL, Known, Made, NEAREST, machines, routings};
use super::walk::{State, Walk};
use odonata_testkit::Choices;
use odonata_topology::Peer;

/// Most states that are tested for each routing of a machine.
const STATES: usize = 24;
/// Number of tries within which each branch must be taken.
const TRIES: u32 = 40_000;

/// The result of a decision: port, channel, the memory of the packet, whether its second phase has begun, whether it
/// was diverted.
type Taken = (u16, u8, u32, bool, bool);

fn taken(port: u16, channel: u8, packet: &Event) -> Taken {
    (port, channel, packet.intermediate, packet.in_second_phase(), packet.diverted())
}

/// Loads: some zero, some equal, some very different.
fn outs(c: &mut Choices, count: usize, now: u64) -> Vec<OutputPort> {
    let scale = c.of(&[1, 1_000, 1_000_000]);
    let load = |c: &mut Choices| if c.chance(30) { 0 } else { c.within(0, 5) * scale };
    (0..count).map(|_| OutputPort { free: now + load(c), blocked_ps: load(c) }).collect()
}

/// The routing with a weight of one half, so that a non-minimal path may be taken even if it begins with the same link
/// as the minimal path. The weight of Aries is fixed.
fn daring(mut known: Known) -> Known {
    match &mut known.routing {
        RoutingSpec::Ugal { factor_milli, .. }
        | RoutingSpec::Par { factor_milli, .. }
        | RoutingSpec::AdaptiveLocal { factor_milli, .. } => *factor_milli = 500,
        _ => {}
    }
    known
}

/// Buffers about as large as the loads, so that `adaptive-local` finds some nearly full.
fn direct(made: &Made, known: &Known) -> Direct {
    let mut spec = made.spec(known.routing.clone(), Vec::new());
    spec.fabric.links.values_mut().for_each(|link| link.buffer_bytes = 10_000);
    Direct::new(&spec, made.build().into(), &[(odonata_error::path!["routing"], known.routing.clone())])
        .expect("there are channels enough")
}

/// A congestion metric that has counted packets on every port.
fn credit_metric(c: &mut Choices, made: &Made, known: &Known, slots: usize, now: u64) -> Option<CreditMetric> {
    let mut spec = made.spec(known.routing.clone(), Vec::new());
    let kind = c.of(&[MetricKind::Backlog, MetricKind::Credits, MetricKind::Both, MetricKind::Occupancy]);
    spec.sensing = Sensing { kind, ..Sensing::default() };
    let machine = made.build();
    let wiring = Wiring::new(&spec, &machine.network);
    let mut credit_metric =
        CreditMetric::new(&spec.sensing, &wiring, machine.network.classes, wiring.slots(&(0..u32::MAX)))?;
    for slot in 0..slots {
        let Peer::Router(far) = machine.network.peer[slot] else { continue };
        for _ in 0..c.within(0, 3) {
            credit_metric.send(slot as u32, 1_000);
            if c.chance(50) {
                credit_metric.leave(far.0, 1_000, now - 1 + c.within(0, 1_000), 0);
            }
        }
    }
    Some(credit_metric)
}

/// Decides on a packet with random numbers and random loads until every branch is taken. Panics if a decision is not a
/// branch, or if a branch is never taken.
fn compare(c: &mut Choices, made: &Made, known: &Known, direct: &Direct, state: &State) -> usize {
    let network = &direct.paths().machine().network;
    let place = RouterPlace::of(network, state.router);
    let branches: BTreeSet<Taken> =
        direct.branches(place, &state.packet).iter().map(|b| taken(b.port, b.channel, &b.packet)).collect();
    let now = 1_000_000;
    let mut missing = branches.clone();
    if let RoutingSpec::Aries { .. } = known.routing {
        let straight: Vec<u16> = branches.iter().filter(|b| !b.4).map(|b| b.0).collect();
        missing.retain(|b| !b.4 || state.packet.diverted() || !straight.contains(&b.0));
    }
    for tries in 0..TRIES {
        let outs = outs(c, network.peer.len(), now);
        let credit_metric = if tries % 4 == 0 { credit_metric(c, made, known, network.peer.len(), now) } else { None };
        // Making new loads costs more than deciding.
        for _ in 0..16 {
            let mut packet = state.packet;
            packet.key = c.next() as u32;
            let (first, ports) = (place.first, place.ports);
            let step = match &credit_metric {
                None => direct.route(place, &packet, &Loads::new(&outs, Backlog, first, ports, now)),
                Some(credit_metric) => {
                    direct.route(place, &packet, &Loads::new(&outs, credit_metric, first, ports, now))
                }
            };
            packet.follow(step);
            let taken = taken(step.port(), step.channel(), &packet);
            assert!(
                branches.contains(&taken),
                "{}, {:?}: {taken:?} is none of {branches:?}\n{state:?}",
                made.name,
                known.routing
            );
            missing.remove(&taken);
        }
        if missing.is_empty() && tries >= 8 {
            return branches.len();
        }
    }
    panic!("{}, {:?}: {missing:?} of {branches:?} are never taken\n{state:?}", made.name, known.routing)
}

/// Catches a path that is taken but not listed (so that no proof has covered it), and one that is listed but never
/// taken: on every machine, for every routing, for packets at every position, with all random numbers and loads.
#[test]
fn decisions_take_the_listed_paths_and_no_others() {
    let mut c = Choices::new(5);
    let mut most = 0;
    for made in machines() {
        for gateways in [NEAREST, ALL] {
            for known in routings(gateways).into_iter().map(daring) {
                let direct = direct(&made, &known);
                let mut walked = Walk::default();
                walked.walk(&direct, 0);
                c.shuffle(&mut walked.states);
                for state in walked.states.iter().take(STATES) {
                    most = most.max(compare(&mut c, &made, &known, &direct, state));
                }
            }
        }
    }
    assert!(most >= 12, "at most {most} ways to choose from");
}
