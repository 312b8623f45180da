//! What a decision may be, and what it is: for the tests of families whose packets choose among branches.

use std::collections::BTreeSet;

use odonata_sim::fabric::packet::Event;
use odonata_sim::fabric::{OutputPort, RouterPlace};
use odonata_sim::routing::{AllPaths, Backlog, Loads, RoutingAlgorithm};
use odonata_testkit::Choices;
use odonata_topology::Address;

/// What a decision or a branch is: port, channel, and the packet's memory after it.
pub type Taken = (u16, u8, u32, bool, bool);

/// Decisions after which one that was not seen is taken to be impossible.
const TRIES: u32 = 20_000;
const ENTRIES: u32 = 2_000;

fn taken(port: u16, channel: u8, packet: &Event) -> Taken {
    (port, channel, packet.intermediate, packet.in_second_phase(), packet.diverted())
}

/// The branches of a packet at a router.
pub fn branches(routing: &impl AllPaths, place: RouterPlace, packet: &Event) -> BTreeSet<Taken> {
    routing.branches(place, packet).iter().map(|b| taken(b.port, b.channel, &b.packet)).collect()
}

/// The decisions of a packet at a router with random loads of its `ports` and random keys, all of which are `known`;
/// until all of these are seen.
pub fn decisions(
    routing: &impl RoutingAlgorithm,
    place: RouterPlace,
    packet: &Event,
    known: &BTreeSet<Taken>,
    ports: usize,
    c: &mut Choices,
) -> BTreeSet<Taken> {
    let mut decided = BTreeSet::new();
    for _ in 0..TRIES {
        let load = |c: &mut Choices| if c.chance(30) { 0 } else { c.within(0, 5) };
        let outs: Vec<OutputPort> = (0..ports).map(|_| OutputPort { free: 9 + load(c), blocked_ps: 0 }).collect();
        let mut after = *packet;
        after.key = c.next() as u32;
        let loads = Loads::new(&outs, Backlog, place.first, place.ports, 9);
        let decision = routing.route(place, &after, &loads);
        after.follow(decision);
        let decision = taken(decision.port(), decision.channel(), &after);
        assert!(known.contains(&decision), "{decision:?} is not in {known:?}");
        decided.insert(decision);
        if decided.len() == known.len() {
            break;
        }
    }
    decided
}

/// The states in which packets enter at a router, with random keys.
pub fn entries(
    routing: &impl RoutingAlgorithm,
    from: Address,
    destination: Address,
    number: u8,
    c: &mut Choices,
) -> BTreeSet<(u32, bool)> {
    let mut entered = BTreeSet::new();
    for _ in 0..ENTRIES {
        let mut packet = Event::to_address(destination, number);
        packet.key = c.next() as u32;
        routing.enter(&mut packet, from);
        entered.insert((packet.intermediate, packet.diverted()));
    }
    entered
}
