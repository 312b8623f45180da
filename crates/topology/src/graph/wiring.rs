//! Builds the ports of all routers of a graph.

use odonata_error::{Error, ErrorKind, path};

use super::{CLASSES, GraphSpec};
use crate::ids::{Address, NodeId, RouterId, SlotId};
use crate::network::{ClassId, Levels, Network, Peer};

const LEVELS: Levels = Levels { routers: &["router"], group: "group" };

/// Number of ports of each router.
pub(super) fn ports(spec: &GraphSpec) -> Vec<u32> {
    let mut ports = vec![0; spec.routers as usize];
    spec.nics.iter().for_each(|&router| ports[router as usize] += 1);
    spec.links.iter().for_each(|&[a, b, _]| [a, b].iter().for_each(|&router| ports[router as usize] += 1));
    ports
}

/// For each router, the lowest router that links join to it.
pub(super) fn parts(spec: &GraphSpec) -> Vec<u32> {
    let mut part: Vec<u32> = (0..spec.routers).collect();
    let root = |part: &mut Vec<u32>, mut router: u32| {
        while part[router as usize] != router {
            part[router as usize] = part[part[router as usize] as usize];
            router = part[router as usize];
        }
        router
    };
    for &[a, b, _] in &spec.links {
        let (a, b) = (root(&mut part, a), root(&mut part, b));
        part[a.max(b) as usize] = a.min(b);
    }
    (0..spec.routers).map(|router| root(&mut part, router)).collect()
}

/// Whether some NICs with different numbers cannot reach each other, so that messages go between NICs with the same
/// number. Refuses nodes that cannot reach each other.
fn separate_rails(spec: &GraphSpec, part: &[u32]) -> Result<bool, Error> {
    let rails = spec.rails as usize;
    let of = |router: &u32| part[*router as usize];
    let first: Vec<u32> = spec.nics[..rails].iter().map(of).collect();
    let mut different = first.clone();
    different.sort_unstable();
    different.dedup();
    let separate = different.len() > 1;
    for (nic, router) in spec.nics.iter().enumerate() {
        let same = if separate { nic % rails } else { 0 };
        if of(router) != first[same] {
            let routers = vec![spec.nics[same], *router];
            return Err(ErrorKind::RoutersCutApart { routers }.at(path!["topology", "links"]));
        }
    }
    Ok(separate)
}

/// Wires a checked description, without failures.
pub(super) fn wire(spec: &GraphSpec, part: &[u32]) -> Result<Network, Error> {
    let separate_rails = separate_rails(spec, part)?;
    let mut first_slot = vec![0];
    for ports in ports(spec) {
        first_slot.push(first_slot[first_slot.len() - 1] + ports);
    }
    let routers = spec.routers as usize;
    let slots = first_slot[routers] as usize;
    let router_of = |r: usize| (first_slot[r]..first_slot[r + 1]).map(move |_| RouterId(r as u32));
    let mut free = first_slot[..routers].to_vec();
    let mut next = |router: u32| {
        free[router as usize] += 1;
        SlotId(free[router as usize] - 1)
    };
    let node_slot: Vec<SlotId> = spec.nics.iter().map(|&router| next(router)).collect();
    let (mut peer, mut class) = (vec![Peer::None; slots], vec![ClassId::NODE; slots]);
    for (nic, slot) in (0..).zip(&node_slot) {
        peer[slot.index()] = Peer::Node(NodeId(nic));
    }
    for &[a, b, of] in &spec.links {
        let ends = [next(a), next(b)];
        for (end, far) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            peer[end.index()] = Peer::Router(far);
            class[end.index()] = ClassId(of as u8);
        }
    }
    let classes = spec.weights.len() + 1;
    Ok(Network {
        classes: &CLASSES[..classes],
        groups: 1,
        group_of_router: vec![0; routers],
        first_of_group: vec![0, spec.routers],
        levels: LEVELS,
        kind_of_router: vec![0; routers],
        address_of_router: (0..spec.routers).map(|r| Address::new(r >> 16, r & 0xffff)).collect(),
        peer,
        class,
        node_slot,
        router_of_slot: (0..routers).flat_map(router_of).collect(),
        first_slot,
        rails: spec.rails,
        separate_rails,
        first_global: ClassId(classes as u8),
        failed: Vec::new(),
        failed_router: Vec::new(),
    })
}
