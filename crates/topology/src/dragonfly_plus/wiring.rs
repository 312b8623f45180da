//! Checks a Dragonfly+ description and wires it.

use super::{Arrangement, CLASSES, DragonflyPlus, DragonflyPlusSpec, GLOBAL, LOCAL, peer_rank};
use crate::error::{GlobalNames, TopologyError};
use crate::ids::{NodeId, RouterId, SlotId};
use crate::network::{ClassId, MAX_PORTS, Network, Peer};

const NAMES: GlobalNames = GlobalNames { routers: "spines", parameter: "global_links_per_spine" };

/// Most entries of the table that says which ports of a spine lead to which group, 2 B each.
const MAX_TABLE: u64 = 1 << 28;

/// Refuses what cannot be built, and fills in `links_per_pair`.
pub(super) fn check(spec: &DragonflyPlusSpec) -> Result<DragonflyPlusSpec, TopologyError> {
    for (what, value) in [
        ("groups", spec.groups),
        ("leaves", spec.leaves),
        ("spines", spec.spines),
        ("nodes_per_leaf", spec.nodes_per_leaf),
    ] {
        if value == 0 {
            return Err(TopologyError::Zero { what });
        }
    }
    let (groups, spines) = (u64::from(spec.groups), u64::from(spec.spines));
    let (leaves, per_spine) = (u64::from(spec.leaves), u64::from(spec.global_links_per_spine));
    let ports = (u64::from(spec.nodes_per_leaf) + spines).max(leaves + per_spine);
    let nodes = u128::from(groups) * u128::from(leaves) * u128::from(spec.nodes_per_leaf);
    let slots = (u128::from(groups) * u128::from(leaves)) * u128::from(u64::from(spec.nodes_per_leaf) + spines)
        + u128::from(groups) * u128::from(spines) * u128::from(leaves + per_spine);
    let table = u128::from(groups) * u128::from(groups) * u128::from(spines);
    for (what, found, max) in [
        ("ports per router", ports, u64::from(u16::MAX)),
        ("groups", groups, u64::from(u16::MAX)),
        ("nodes", u64::try_from(nodes).unwrap_or(u64::MAX), u64::from(u32::MAX)),
        ("ports", u64::try_from(slots).unwrap_or(u64::MAX), MAX_PORTS),
        ("entries in its table of spines and groups", u64::try_from(table).unwrap_or(u64::MAX), MAX_TABLE),
    ] {
        if found > max {
            return Err(TopologyError::TooLarge { what, found, max });
        }
    }
    let (peers, have) = (groups - 1, spines * per_spine);
    let links = if peers == 0 {
        0
    } else if let Some(links) = spec.links_per_pair {
        if links == 0 {
            return Err(TopologyError::Zero { what: "links_per_pair" });
        }
        let need = u64::from(links) * peers;
        if need > have {
            let links_per_pair = u64::from(links);
            let (routers, per_router, names) = (spines, per_spine, NAMES);
            return Err(TopologyError::GlobalPorts { links_per_pair, peers, need, routers, per_router, have, names });
        }
        links
    } else if have < peers {
        let (need, routers, per_router, max, names) = (peers, spines, per_spine, have + 1, NAMES);
        return Err(TopologyError::TooManyGroups { groups, need, routers, per_router, have, max, names });
    } else {
        (have / peers) as u32
    };
    if spec.arrangement == Arrangement::Parallel && !u64::from(links).is_multiple_of(spines) {
        return Err(TopologyError::ParallelNeedsWholeRounds { links_per_pair: u64::from(links), spines });
    }
    Ok(DragonflyPlusSpec { links_per_pair: (peers > 0).then_some(links), ..spec.clone() })
}

/// The two spines that cable `x` of the pair `(i, j)`, `i < j`, joins.
///
/// Both groups hand their links out round robin over their spines, peer after peer; with whole rounds this is
/// K4's `k -> (k + l) mod spines` with `k = x mod spines` and `l = x / spines`. A last round that is not whole
/// keeps its place (`l = 0`), so that no spine gets more links than it has ports.
fn ends(spec: &DragonflyPlusSpec, i: u32, j: u32, x: u32) -> (u32, u32) {
    let (spines, links) = (u64::from(spec.spines), u64::from(spec.links_per_pair.unwrap_or(0)));
    let (x, rank_j, rank_i) = (u64::from(x), u64::from(peer_rank(i, j)), u64::from(peer_rank(j, i)));
    let whole = links / spines * spines;
    let turn = match spec.arrangement {
        Arrangement::Linear if x < whole => x / spines,
        Arrangement::Linear | Arrangement::Parallel => 0,
    };
    let low = (rank_j * links + x) % spines;
    let in_block = (rank_i * links + x) % spines;
    // A whole block is turned inside itself; its first spine is where the block starts.
    ((low) as u32, ((in_block + turn) % spines) as u32)
}

/// Wires a checked description.
pub(super) fn build(spec: DragonflyPlusSpec) -> DragonflyPlus {
    let (groups, leaves, spines) = (spec.groups, spec.leaves, spec.spines);
    let per_group = leaves + spines;
    let links = spec.links_per_pair.unwrap_or(0);

    // Global links of each spine as (peer group, link number), in the order of its ports.
    let mut of_spine: Vec<Vec<(u32, u32)>> = vec![Vec::new(); (groups * spines) as usize];
    for i in 0..groups {
        for j in i + 1..groups {
            for x in 0..links {
                let (a, b) = ends(&spec, i, j, x);
                of_spine[(i * spines + a) as usize].push((j, x));
                of_spine[(j * spines + b) as usize].push((i, x));
            }
        }
    }
    for ports in &mut of_spine {
        ports.sort_unstable();
    }

    let mut first_slot = Vec::with_capacity((groups * per_group) as usize + 1);
    let mut next = 0_u32;
    for group in 0..groups {
        for local in 0..per_group {
            first_slot.push(next);
            next += if local < leaves {
                spec.nodes_per_leaf + spines
            } else {
                leaves + of_spine[(group * spines + local - leaves) as usize].len() as u32
            };
        }
    }
    first_slot.push(next);

    let router = |group: u32, local: u32| group * per_group + local;
    let slot = |r: u32, port: u32| SlotId(first_slot[r as usize] + port);
    let mut peer = vec![Peer::None; next as usize];
    let mut class = vec![ClassId::NODE; next as usize];
    let mut node_slot = Vec::with_capacity((groups * leaves * spec.nodes_per_leaf) as usize);
    let mut router_of_slot = vec![RouterId(0); next as usize];
    let mut global_ports = Vec::with_capacity(groups as usize * spines as usize * groups as usize);
    for group in 0..groups {
        for leaf in 0..leaves {
            let r = router(group, leaf);
            for port in 0..spec.nodes_per_leaf {
                let s = slot(r, port);
                peer[s.index()] = Peer::Node(NodeId(node_slot.len() as u32));
                node_slot.push(s);
            }
            for spine in 0..spines {
                let up = slot(r, spec.nodes_per_leaf + spine);
                let down = slot(router(group, leaves + spine), leaf);
                peer[up.index()] = Peer::Router(down);
                peer[down.index()] = Peer::Router(up);
                class[up.index()] = LOCAL;
                class[down.index()] = LOCAL;
            }
        }
        for spine in 0..spines {
            let mine = &of_spine[(group * spines + spine) as usize];
            let mut port = 0;
            for rank in 0..groups {
                global_ports.push((leaves + port as u32) as u16);
                while port < mine.len() && peer_rank(group, mine[port].0) == rank {
                    port += 1;
                }
            }
            for (port, &(far, x)) in mine.iter().enumerate() {
                let (a, b) = if group < far { ends(&spec, group, far, x) } else { ends(&spec, far, group, x) };
                let (own, far_spine) = if group < far { (a, b) } else { (b, a) };
                debug_assert_eq!(own, spine);
                let theirs = &of_spine[(far * spines + far_spine) as usize];
                let far_port = theirs.binary_search(&(group, x)).expect("both ends list the cable") as u32;
                let s = slot(router(group, leaves + spine), leaves + port as u32);
                peer[s.index()] = Peer::Router(slot(router(far, leaves + far_spine), leaves + far_port));
                class[s.index()] = GLOBAL;
            }
        }
    }
    for r in 0..groups * per_group {
        for s in first_slot[r as usize]..first_slot[r as usize + 1] {
            router_of_slot[s as usize] = RouterId(r);
        }
    }

    let mut gateway_start = Vec::with_capacity(groups as usize * groups as usize + 1);
    let mut gateways = Vec::new();
    let mut row: Vec<(u32, u16)> = Vec::new();
    for from in 0..groups {
        row.clear();
        for spine in 0..spines {
            let mut far: Vec<u32> = of_spine[(from * spines + spine) as usize].iter().map(|&(far, _)| far).collect();
            far.dedup();
            row.extend(far.into_iter().map(|far| (far, spine as u16)));
        }
        row.sort_unstable();
        let mut at = 0;
        for to in 0..groups {
            gateway_start.push(gateways.len() as u32);
            while at < row.len() && row[at].0 == to {
                gateways.push(row[at].1);
                at += 1;
            }
        }
    }
    gateway_start.push(gateways.len() as u32);

    let group_of_router = (0..groups * per_group).map(|r| r / per_group).collect();
    let network = Network {
        classes: CLASSES,
        groups,
        first_slot,
        group_of_router,
        peer,
        class,
        node_slot,
        router_of_slot,
        rails: 1,
        first_global: GLOBAL,
        routers_per_group: per_group,
        dead: Vec::new(),
        dead_router: Vec::new(),
    };
    let complete = gateways.len() as u64 == u64::from(groups) * u64::from(groups - 1) * u64::from(spines);
    DragonflyPlus { spec, network, complete, gateway_start, gateways, global_ports }
}
