//! Proof that packets cannot wait for each other in a cycle.
//!
//! A packet in the buffer of virtual channel a that may request room in virtual channel b makes b depend on a. If the
//! graph of these dependencies has no cycle, some packet can always move (Dally and Seitz 1987). [`explore`] walks
//! every path that a packet may take, whatever the loads. [`check`] builds the graph of *kinds* of virtual channels
//! (up, down, across; by channel). If that graph has no cycle, the graph of the virtual channels has none either. Tests
//! build the latter in full.

use std::collections::BTreeSet;

use odonata_error::{Error, ErrorKind, path};
use odonata_topology::{Port, RouterId};

use super::{AllPaths, RouterPlace};
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

/// Walks every path that a packet of routing number `routing` may take from one router with nodes to any node of
/// another, whatever its state where it enters. Returns whether every path ends at `to` within the routing's bound.
pub fn explore(
    paths: &impl AllPaths,
    routing: u8,
    from: RouterId,
    to: RouterId,
    visit: &mut dyn FnMut(VcDependency),
) -> bool {
    let network = paths.network();
    let address = |r: RouterId| network.address_of_router[r.index()];
    let mut seen = BTreeSet::new();
    let starts = paths.starts(address(from), address(to), routing);
    let to_ports = |packet: Event| (0..network.ports_down(to)).map(move |port| packet.to_port(port));
    let mut open: Vec<(RouterId, Event, Option<VcAddress>)> =
        starts.into_iter().flat_map(to_ports).map(|packet| (from, packet, None)).collect();
    while let Some((router, packet, came)) = open.pop() {
        if packet.hop() > paths.max_hops(routing) {
            return false;
        }
        if router == to {
            continue;
        }
        let branches = paths.branches(RouterPlace::of(network, router), &packet);
        if branches.is_empty() {
            return false;
        }
        for branch in branches {
            let goes = (router, Port(branch.port), branch.channel);
            visit(VcDependency { came, goes, hop: packet.hop() });
            let (next, on) = paths.follow(router, branch);
            let state = (on.channel(), on.intermediate, on.in_second_phase(), on.hop());
            if seen.insert((next, on.port, on.to_port, state)) {
                open.push((next, on, Some(goes)));
            }
        }
    }
    true
}

/// A family whose freedom from deadlock is proved before each run.
pub trait Proof: AllPaths + Sized {
    /// Small machines with the same routings, on which the kinds of virtual channels follow each other as they do on
    /// this one.
    fn small(&self) -> Vec<Self>;

    /// The direction of a link between routers; with a channel it is the kind of a virtual channel.
    fn direction(&self, router: RouterId, port: u16) -> &'static str;

    /// The names of the routings, by their numbers.
    fn routings(&self) -> Vec<&'static str>;
}

/// Refuses routings that could deadlock on their kind of machine, alone or together.
///
/// # Errors
/// [`ErrorKind::CouldDeadlock`] with the cycle.
pub fn check(routings: &impl Proof) -> Result<(), Error> {
    let mut follows = BTreeSet::new();
    let names = routings.routings();
    for small in routings.small() {
        let network = small.network();
        let leaves: Vec<RouterId> =
            (0..network.routers() as u32).map(RouterId).filter(|r| network.kind_of_router[r.index()] == 0).collect();
        let kind = |(router, port, channel): VcAddress| (small.direction(router, port.0), channel);
        for (&from, &to) in leaves.iter().flat_map(|from| leaves.iter().map(move |to| (from, to))) {
            let mut visit = |dependency: VcDependency| {
                if let Some(came) = dependency.came {
                    follows.insert((kind(came), kind(dependency.goes)));
                }
            };
            for (number, name) in (0..).zip(&names) {
                let ends = explore(&small, number, from, to, &mut visit);
                debug_assert!(ends, "a way of `{name}` does not end");
            }
        }
    }
    let Some(cycle) = cycle(&follows) else { return Ok(()) };
    let cycle = cycle.iter().map(|(name, channel)| format!("{name}, channel {channel}")).collect();
    Err(ErrorKind::CouldDeadlock { routings: names, cycle }.at(path!["routing"]))
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
