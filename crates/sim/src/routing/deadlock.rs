//! Proof that packets cannot wait for each other in a cycle.
//!
//! A packet in the buffer of virtual channel a that may request room in virtual channel b makes b depend on a. If the
//! graph of these dependencies has no cycle, some packet can always move (Dally and Seitz 1987). [`explore`] walks
//! every path that a packet may take, whatever the loads. [`check`] builds the graph of *kinds* of virtual channels
//! (up, down, across; by channel). If that graph has no cycle, the graph of the virtual channels has none either. Tests
//! build the latter in full.

use std::collections::BTreeSet;

use odonata_error::{Error, ErrorKind, path};
use odonata_topology::{DragonflyPlus, Peer, Port, RouterId};

use super::RouterPlace;
use super::dragonfly_plus::AnyDragonflyPlusAlgorithm;
use crate::fabric::packet::Event;

/// A virtual channel, by its sender: router, port and channel.
pub type VcAddress = (RouterId, Port, u8);

/// A step of a packet: the virtual channel on which it came (none if from its node), and the one on which it continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VcDependency {
    /// Router and port from which it was sent here, and the channel.
    pub came: Option<VcAddress>,
    /// Router, port and channel of the next link.
    pub goes: VcAddress,
    /// Routers visited before.
    pub hop: u8,
}

/// Walks every path that a packet from leaf `from` to leaf `to` may take, for every intermediate stop that it may be
/// given. Returns whether every path ends at `to` within the routing's bound.
pub fn explore(
    machine: &DragonflyPlus,
    routing: &AnyDragonflyPlusAlgorithm,
    from: RouterId,
    to: RouterId,
    visit: &mut dyn FnMut(VcDependency),
) -> bool {
    let (source, target) = (RouterPlace::of(&machine.network, from), RouterPlace::of(&machine.network, to));
    let mut first = Event::packet(0, 0, 0, 0, 1);
    first.to_group = target.group;
    first.to_local = target.local;
    let mut seen = BTreeSet::new();
    let mut open: Vec<(RouterId, Event, Option<VcAddress>)> = Vec::new();
    for intermediate in routing.intermediates(machine, source.group, target.group) {
        let mut packet = first;
        packet.intermediate = intermediate;
        open.push((from, packet, None));
    }
    while let Some((router, packet, came)) = open.pop() {
        if packet.hop() > routing.max_hops() {
            return false;
        }
        if router == to {
            continue;
        }
        let candidates = routing.candidates(machine, RouterPlace::of(&machine.network, router), &packet);
        if candidates.minimal.is_empty() && candidates.non_minimal.is_empty() {
            return false;
        }
        for (ports, channel) in
            [(candidates.minimal, candidates.minimal_channel), (candidates.non_minimal, candidates.non_minimal_channel)]
        {
            for port in ports.iter() {
                let goes = (router, Port(port), channel);
                visit(VcDependency { came, goes, hop: packet.hop() });
                let Peer::Router(far) = machine.network.peer[machine.network.slot(router, Port(port)).index()] else {
                    return false;
                };
                let (next, far_port) = machine.network.port_of(far);
                let mut on = packet;
                if candidates.begins_second_phase {
                    on.begin_second_phase();
                }
                on.port = far_port.0;
                on.set_channel(channel);
                on.next_hop();
                if seen.insert((next, on.port, channel, on.intermediate, on.in_second_phase(), on.hop())) {
                    open.push((next, on, Some(goes)));
                }
            }
        }
    }
    true
}

/// Kind of a virtual channel: `up`, `down` or `across`, and its channel number.
fn kind(machine: &DragonflyPlus, (router, port, channel): VcAddress) -> (&'static str, u8) {
    let direction = if machine.is_leaf(router) {
        "up"
    } else if u32::from(port.0) < machine.spec.leaves {
        "down"
    } else {
        "across"
    };
    (direction, channel)
}

/// Refuses routings that could deadlock on this kind of machine, alone or together.
///
/// The paths are walked on a machine of at most four groups of at most two leaves and three spines with the same
/// algorithms: which kinds of virtual channels follow each other does not depend on how many of each there are. It does
/// depend on whether a spine has links to a group. Where some have none, or something has failed, both the machine with
/// all links and one with few links are walked, and the dependencies of both count. (So the check may refuse more than
/// necessary, but never less.)
///
/// # Errors
/// [`ErrorKind::CouldDeadlock`] with the cycle.
pub fn check(machine: &DragonflyPlus, routings: &[AnyDragonflyPlusAlgorithm]) -> Result<(), Error> {
    let mut follows = BTreeSet::new();
    let links: &[u32] =
        if machine.complete && !machine.has_failures() { &[machine.spec.spines] } else { &[machine.spec.spines, 1] };
    for &links_per_pair in links {
        let small = small(machine, links_per_pair);
        let leaves: Vec<RouterId> =
            (0..small.network.routers() as u32).map(RouterId).filter(|&r| small.is_leaf(r)).collect();
        for &from in &leaves {
            for &to in &leaves {
                let mut visit = |dependency: VcDependency| {
                    if let Some(came) = dependency.came {
                        follows.insert((kind(&small, came), kind(&small, dependency.goes)));
                    }
                };
                for routing in routings {
                    let ends = explore(&small, routing, from, to, &mut visit);
                    debug_assert!(ends, "a way of `{}` does not end", routing.name());
                }
            }
        }
    }
    let Some(cycle) = cycle(&follows) else { return Ok(()) };
    let cycle = cycle.iter().map(|(name, channel)| format!("{name}, channel {channel}")).collect();
    let routings = routings.iter().map(AnyDragonflyPlusAlgorithm::name).collect();
    Err(ErrorKind::CouldDeadlock { routings, cycle }.at(path!["routing"]))
}

/// A machine of the same kind with few parts; `links_per_pair` is at most its number of spines.
fn small(machine: &DragonflyPlus, links_per_pair: u32) -> DragonflyPlus {
    let (groups, leaves, spines) = (machine.spec.groups.min(4), machine.spec.leaves.min(2), machine.spec.spines.min(3));
    let spec = odonata_topology::DragonflyPlusSpec {
        groups,
        leaves,
        spines,
        nodes_per_leaf: 1,
        global_links_per_spine: 3,
        links_per_pair: (groups > 1).then_some(links_per_pair.min(spines)),
        arrangement: odonata_topology::Arrangement::Linear,
        ..odonata_topology::DragonflyPlusSpec::default()
    };
    DragonflyPlus::build(&spec).expect("a link from every spine to each of three groups takes three ports")
}

/// A cycle in a relation, if there is one.
pub fn cycle<T: Copy + Ord>(follows: &BTreeSet<(T, T)>) -> Option<Vec<T>> {
    let mut state = std::collections::BTreeMap::new();
    let starts: BTreeSet<T> = follows.iter().map(|&(a, _)| a).collect();
    for start in starts {
        if state.contains_key(&start) {
            continue;
        }
        let mut path: Vec<(T, Vec<T>)> = vec![(start, after(follows, start))];
        state.insert(start, false);
        while let Some((at, next)) = path.last_mut() {
            let Some(to) = next.pop() else {
                state.insert(*at, true);
                path.pop();
                continue;
            };
            match state.get(&to) {
                Some(true) => {}
                Some(false) => {
                    let from = path.iter().position(|(t, _)| *t == to).unwrap_or(0);
                    let mut cycle: Vec<T> = path[from..].iter().map(|(t, _)| *t).collect();
                    cycle.push(to);
                    return Some(cycle);
                }
                None => {
                    state.insert(to, false);
                    path.push((to, after(follows, to)));
                }
            }
        }
    }
    None
}

fn after<T: Copy + Ord>(follows: &BTreeSet<(T, T)>, at: T) -> Vec<T> {
    follows.iter().filter(|f| f.0 == at).map(|f| f.1).collect()
}
