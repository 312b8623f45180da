//! The full channel dependency graph: a vertex for every virtual channel (router, port, channel), and an edge wherever
//! a packet in the buffer of one virtual channel may request room in another.

use std::collections::{BTreeMap, BTreeSet};

use odonata_sim::Spec;
use odonata_sim::routing::deadlock::{VcAddress, explore};
use odonata_topology::{DragonflyPlus, Peer, RouterId};

use crate::support::{build, paths};

pub struct Graph {
    /// Virtual channels on which a packet may be sent.
    pub vcs: BTreeSet<VcAddress>,
    /// Which virtual channels may follow which.
    pub edges: BTreeSet<(VcAddress, VcAddress)>,
    /// Most links between routers on any path.
    pub longest: u8,
}

/// All paths between all leaves. Panics if a path does not end at its leaf, or leaves a router by a port to a node.
pub fn graph(spec: &Spec) -> Graph {
    let machine = build(spec);
    let paths = paths(spec);
    let mut graph = Graph { vcs: BTreeSet::new(), edges: BTreeSet::new(), longest: 0 };
    for (from, to) in leaves(&machine).flat_map(|a| leaves(&machine).map(move |b| (a, b)).collect::<Vec<_>>()) {
        let mut visit = |dependency: odonata_sim::routing::deadlock::VcDependency| {
            let (router, port, _) = dependency.goes;
            let peer = machine.network.peer[machine.network.slot(router, port).index()];
            assert!(matches!(peer, Peer::Router(_)), "{router} sends a packet out by port {port}, to no router");
            assert!(
                dependency.came.is_some() == (dependency.hop > 0),
                "only at its first router a packet comes from a node"
            );
            graph.vcs.insert(dependency.goes);
            graph.edges.extend(dependency.came.map(|came| (came, dependency.goes)));
            graph.longest = graph.longest.max(dependency.hop + 1);
        };
        assert!(explore(&paths, 0, from, to, &mut visit), "a way from {from} to {to} does not end there");
    }
    graph
}

pub fn leaves(machine: &DragonflyPlus) -> impl Iterator<Item = RouterId> + Clone {
    (0..machine.network.routers() as u32).map(RouterId).filter(|&r| machine.is_leaf(r))
}

/// Whether vertices can be removed one after another, each when no edge leads to it (Kahn 1962). This holds exactly for
/// graphs without a cycle.
pub fn acyclic<T: Copy + Ord>(edges: &BTreeSet<(T, T)>) -> bool {
    let mut into: BTreeMap<T, u32> = BTreeMap::new();
    let mut out: BTreeMap<T, Vec<T>> = BTreeMap::new();
    for &(a, b) in edges {
        into.entry(a).or_default();
        *into.entry(b).or_default() += 1;
        out.entry(a).or_default().push(b);
    }
    let mut free: Vec<T> = into.iter().filter(|&(_, &n)| n == 0).map(|(&vc, _)| vc).collect();
    let mut taken = 0;
    while let Some(vc) = free.pop() {
        taken += 1;
        for next in out.get(&vc).into_iter().flatten() {
            let n = into.get_mut(next).expect("every end is counted");
            *n -= 1;
            if *n == 0 {
                free.push(*next);
            }
        }
    }
    taken == into.len()
}
