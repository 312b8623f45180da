//! Global links: which router of which group each cable joins.
//!
//! Group `i` lists its peers in the order of the arrangement and numbers its links slice by slice: first one link to
//! each peer in that order, then a second to each peer that has more than one, and so on. The entries of that list are
//! assigned to its routers (`spread`). Link `l` of a pair joins the entries that both groups have for it. With one link
//! per pair and `consecutive` this is the palmtree, absolute, relative and circulant wiring of the literature (Camarero
//! 2014, section 3; Hastings 2015, section 2).

use super::design::{Design, NAMES};
use super::{DragonflyArrangement, Spread};
use crate::pairs::{Groups, Pairs};
use odonata_error::{Error, ErrorKind, path};

/// One end of a global cable: the router, and the index among its global ports.
pub(super) type End = (u32, u32);

/// All global cables.
pub(super) struct Cables {
    pub ends: Vec<[End; 2]>,
    /// Global ports in use, by router.
    pub used: Vec<u32>,
}

/// Lays the global cables.
pub(super) fn cables(design: &Design) -> Result<Cables, Error> {
    let routers = (design.groups - 1) * design.full.routers() + design.last.routers();
    let mut cables = Cables { ends: Vec::new(), used: vec![0; routers as usize] };
    match design.global_links {
        Some(links) => listed(design, links, &mut cables)?,
        None => arranged(design, &mut cables)?,
    }
    Ok(cables)
}

/// The cables of `global_links`, in its order.
fn listed(design: &Design, links: &[[u32; 2]], cables: &mut Cables) -> Result<(), Error> {
    let (routers, per_group) = (cables.used.len() as u32, design.full.routers());
    for (at, &[a, b]) in links.iter().enumerate() {
        let wrong = |kind: ErrorKind| Err(kind.at(path!["topology", "global_links", at]));
        if let Some(router) = [a, b].into_iter().find(|&router| router >= routers) {
            return wrong(ErrorKind::NoSuchRouter { router, last: routers - 1 });
        }
        if a / per_group == b / per_group {
            return wrong(ErrorKind::SameGroup { routers: vec![a, b], group: a / per_group });
        }
        let end = |router: u32, used: &mut [u32]| {
            used[router as usize] += 1;
            (router, used[router as usize] - 1)
        };
        let ends = [end(a, &mut cables.used), end(b, &mut cables.used)];
        if let Some((router, _)) = ends.into_iter().find(|&(_, port)| port >= design.per_router) {
            let most = design.per_router;
            return wrong(ErrorKind::TooManyLinksOfRouter { router, most, parameter: "global_links_per_router" });
        }
        cables.ends.push(ends);
    }
    Ok(())
}

/// The cables of an arrangement.
fn arranged(design: &Design, cables: &mut Cables) -> Result<(), Error> {
    let groups = design.groups;
    let pairs = Pairs::new(&Groups {
        groups,
        routers: [design.full.routers(), design.last.routers()],
        per_router: design.per_router,
        names: NAMES,
        last_name: design.last_name,
        links_per_pair: design.links_per_pair,
        pair_links: design.pair_links,
    })?;
    // For each group, where the entries of each peer start, and the entry of each link by (peer, link).
    let mut entries: Vec<(Vec<u32>, Vec<u32>)> = Vec::with_capacity(groups as usize);
    for group in 0..groups {
        entries.push(number(group, &peers(design, group), &pairs, groups));
    }
    let seat = |group: u32, peer: u32, link: u32| -> End {
        let (start, entry) = &entries[group as usize];
        let q = entry[(start[peer as usize] + link) as usize];
        let routers = design.grid(group).routers();
        let (router, port) = match design.spread {
            Spread::Consecutive => (q / design.per_router, q % design.per_router),
            Spread::RoundRobin => (q % routers, q / routers),
        };
        (group * design.full.routers() + router, port)
    };
    for a in 0..groups {
        for b in a + 1..groups {
            for link in 0..pairs.links(a, b) {
                let ends = [seat(a, b, link), seat(b, a, link)];
                for (router, _) in ends {
                    cables.used[router as usize] += 1;
                }
                cables.ends.push(ends);
            }
        }
    }
    Ok(())
}

/// Numbers the links of a group slice by slice.
fn number(group: u32, peers: &[u32], pairs: &Pairs, groups: u32) -> (Vec<u32>, Vec<u32>) {
    let mut start = Vec::with_capacity(groups as usize);
    let mut total = 0;
    for peer in 0..groups {
        start.push(total);
        total += if peer == group { 0 } else { pairs.links(group, peer) };
    }
    let mut entry = vec![0; total as usize];
    let mut open: Vec<u32> = peers.to_vec();
    let (mut next, mut slice) = (0, 0);
    while next < total {
        open.retain(|&peer| pairs.links(group, peer) > slice);
        for &peer in &open {
            entry[(start[peer as usize] + slice) as usize] = next;
            next += 1;
        }
        slice += 1;
    }
    (start, entry)
}

/// The other groups, in the order in which group `i` lists them.
fn peers(design: &Design, i: u32) -> Vec<u32> {
    let g = design.groups;
    let others = || (0..g).filter(|&j| j != i);
    match design.arrangement {
        DragonflyArrangement::Absolute | DragonflyArrangement::Explicit => others().collect(),
        DragonflyArrangement::Relative => (1..g).map(|d| (i + d) % g).collect(),
        DragonflyArrangement::Palmtree => (1..g).map(|d| (i + g - d) % g).collect(),
        DragonflyArrangement::Circulant => {
            let mut peers: Vec<u32> = (1..=g / 2).flat_map(|d| [(i + d) % g, (i + g - d) % g]).collect();
            peers.truncate(g as usize - 1); // if the number of groups is even, the opposite group appears twice
            peers
        }
        DragonflyArrangement::Random => {
            let mut peers: Vec<u32> = others().collect();
            shuffle(&mut peers, design.seed.unwrap_or(0), i);
            peers
        }
    }
}

/// The increment of splitmix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Finaliser of splitmix64 (Steele, Lea, Flood 2014).
fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The Fisher-Yates shuffle, from the last position down. Position `k` uses the splitmix64 number `k` of a stream that
/// starts at a mix of the seed and the group.
fn shuffle(peers: &mut [u32], seed: u64, group: u32) {
    let stream = mix64(seed ^ mix64(u64::from(group).wrapping_add(1).wrapping_mul(GOLDEN)));
    for k in (1..peers.len()).rev() {
        let word = mix64(stream.wrapping_add((k as u64).wrapping_mul(GOLDEN)));
        let other = ((u128::from(word) * (k as u128 + 1)) >> 64) as usize;
        peers.swap(k, other);
    }
}
