//! Every path between two nodes, hop by hop, for `odonata show`.

use std::collections::{HashMap, HashSet};

use odonata_error::{Error, ErrorKind, path};
use odonata_topology::{NodeId, RouterId, SlotId};

use super::{AllPaths, Branch, RouterPlace, Routing, distinct, with_algorithm};
use crate::fabric::packet::Event;
use crate::spec::Spec;

/// One link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// Router that the packet leaves.
    pub router: u32,
    /// Port through which it leaves.
    pub port: u16,
    /// Virtual channel.
    pub channel: u8,
}

/// One path between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketPath {
    /// Whether a packet that takes it counts as minimal.
    pub minimal: bool,
    /// Its links; the last leads to the node.
    pub hops: Vec<Hop>,
}

/// All paths between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketPaths {
    /// The number of paths. Beyond [`COUNTED_ONE_BY_ONE`], a path counts several times if a packet can take it for
    /// several reasons (to reach different cables through the same ports). At most 2^64 - 1.
    pub total: u64,
    /// The first paths, minimal ones before others.
    pub first: Vec<PacketPath>,
}

/// Steps of the search after which no further paths are listed.
const MAX_STEPS: u32 = 1 << 20;
/// The largest number of paths that are counted by their links.
pub const COUNTED_ONE_BY_ONE: usize = 10_000;

/// The paths that packets of a specification's routing may take from one node to another, whatever the loads; at most
/// `limit` of each kind are listed.
///
/// # Errors
/// Any that a run of the specification would have, and an error if there is no such node.
pub fn paths(spec: &Spec, from: u32, to: u32, limit: usize) -> Result<PacketPaths, Error> {
    let machine = spec.checked()?;
    let routings = distinct(spec)?;
    let routing = Routing::of(spec, machine, &[(routings[0].at.clone(), routings[0].routing.clone())])?;
    with_algorithm!(&routing, algorithm => Graph { paths: algorithm }.paths(from, to, limit))
}

struct Graph<'a, P> {
    paths: &'a P,
}

/// The state of a packet that decides where it may go.
type SearchKey = (u32, u16, u8, u32, bool, bool, u8);

impl<P: AllPaths> Graph<'_, P> {
    fn paths(&self, from: u32, to: u32, limit: usize) -> Result<PacketPaths, Error> {
        let network = self.paths.network();
        for (at, node) in [("from", from), ("to", to)] {
            if node as usize >= network.nodes() {
                return Err(ErrorKind::NoSuchNode { node, nodes: network.nodes() }.at(path![at]));
            }
        }
        if from == to {
            return Err(ErrorKind::SameNode { node: to }.at(path!["to"]));
        }
        let end = network.node_slot[(to * network.rails) as usize];
        let source = network.router_of_node(NodeId(from));
        let [first, last] =
            [source, network.router_of_node(NodeId(to))].map(|router| network.address_of_router[router.index()]);
        let to_port = network.port_of(end).1.0;
        let starts = self.paths.starts(first, last, 0).into_iter().map(|packet| packet.with_port(to_port));
        let starts: Vec<Event> = starts.collect();
        let (mut total, mut known) = (0_u64, HashMap::new());
        let (mut search, mut hops) = (Search::default(), Vec::new());
        for packet in &starts {
            total = total.saturating_add(self.count(source, packet, end, &mut known));
        }
        let mut complete = true;
        for minimal in [true, false] {
            search.minimal = minimal;
            for packet in &starts {
                self.list(source, packet, end, &mut hops, &mut search);
            }
            complete &= search.seen.len() < search.most() && search.steps < MAX_STEPS;
            search.steps = 0;
        }
        if complete {
            total = search.seen.len() as u64;
        }
        let of = |minimal: bool| search.paths.iter().filter(move |path| path.minimal == minimal).take(limit);
        Ok(PacketPaths { total, first: of(true).chain(of(false)).cloned().collect() })
    }

    /// Where a packet may go from a router: the link, the next router, and the packet as it arrives there.
    fn next(&self, router: RouterId, packet: &Event) -> Vec<(Hop, RouterId, Event)> {
        let branches = self.paths.branches(RouterPlace::of(self.paths.network(), router), packet);
        let step = |branch: Branch| {
            let (next, packet) = self.paths.follow(router, branch);
            (Hop { router: router.0, port: branch.port, channel: branch.channel }, next, packet)
        };
        branches.into_iter().map(step).collect()
    }

    fn arrived(&self, router: RouterId, end: SlotId) -> bool {
        self.paths.network().router_of_slot[end.index()] == router
    }

    /// Number of paths from a router.
    fn count(&self, router: RouterId, packet: &Event, end: SlotId, known: &mut HashMap<SearchKey, u64>) -> u64 {
        if self.arrived(router, end) {
            return 1;
        }
        let key = (
            router.0,
            packet.port,
            packet.channel(),
            packet.intermediate,
            packet.in_second_phase(),
            packet.diverted(),
            packet.hop(),
        );
        if let Some(&count) = known.get(&key) {
            return count;
        }
        let next = self.next(router, packet);
        let count = next
            .iter()
            .fold(0_u64, |sum, (_, router, packet)| sum.saturating_add(self.count(*router, packet, end, known)));
        known.insert(key, count);
        count
    }

    /// Lists the minimal paths, or the non-minimal ones, each once.
    fn list(&self, router: RouterId, packet: &Event, end: SlotId, hops: &mut Vec<Hop>, search: &mut Search) {
        search.steps += 1;
        if search.seen.len() >= search.most() || search.steps >= MAX_STEPS || (search.minimal && packet.diverted()) {
            return;
        }
        if self.arrived(router, end) {
            if packet.diverted() != search.minimal {
                let port = (end.0 - self.paths.network().first_slot[router.index()]) as u16;
                let last = Hop { router: router.0, port, channel: 0 };
                let hops: Vec<Hop> = hops.iter().copied().chain([last]).collect();
                if search.seen.insert(hops.clone()) {
                    search.paths.push(PacketPath { minimal: search.minimal, hops });
                }
            }
            return;
        }
        for (hop, next, packet) in self.next(router, packet) {
            hops.push(hop);
            self.list(next, &packet, end, hops, search);
            hops.pop();
        }
    }
}

/// Paths seen so far.
#[derive(Default)]
struct Search {
    /// Whether the search is for minimal paths.
    minimal: bool,
    /// Steps of the search so far.
    steps: u32,
    seen: HashSet<Vec<Hop>>,
    paths: Vec<PacketPath>,
}

impl Search {
    /// The number of paths to search for: half of them may be minimal.
    fn most(&self) -> usize {
        if self.minimal { COUNTED_ONE_BY_ONE / 2 } else { COUNTED_ONE_BY_ONE }
    }
}
