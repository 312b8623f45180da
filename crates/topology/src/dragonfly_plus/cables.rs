//! Global cables of a Dragonfly+: the spines and ports that each one joins.

use super::{Arrangement, DragonflyPlusSpec};
use crate::pairs::Pairs;
use odonata_error::{Error, ErrorKind, path};

/// One end of a global cable: the spine (group * spines + number in the group), and the index among its global ports.
pub(super) type End = (u32, u32);

/// All global cables.
pub(super) struct Cables {
    /// Both ends of each cable.
    pub ends: Vec<[End; 2]>,
    /// For each spine, the groups that its global ports lead to, in the order of the ports (ascending).
    pub far_group: Vec<Vec<u32>>,
}

/// Lays the cables: by the arrangement for `pairs`, or as the description lists them.
pub(super) fn cables(spec: &DragonflyPlusSpec, pairs: Option<&Pairs>) -> Result<Cables, Error> {
    let joined = match (pairs, &spec.global_links) {
        (Some(pairs), _) => arranged(spec, pairs),
        (None, Some(links)) => listed(spec, links)?,
        (None, None) => Vec::new(),
    };
    // The ports of a spine are in the order of the other group, and within one group in the order of the cables.
    let mut of_spine: Vec<Vec<(u32, u32)>> = vec![Vec::new(); spec.groups as usize * spec.spines as usize];
    for (cable, &[a, b]) in joined.iter().enumerate() {
        for (here, there) in [(a, b), (b, a)] {
            of_spine[here as usize].push((there / spec.spines, cable as u32));
        }
    }
    let mut ends = vec![[(0, 0); 2]; joined.len()];
    for (spine, cables) in of_spine.iter_mut().enumerate() {
        cables.sort_unstable();
        for (port, &(_, cable)) in cables.iter().enumerate() {
            let side = usize::from(joined[cable as usize][0] != spine as u32);
            ends[cable as usize][side] = (spine as u32, port as u32);
        }
    }
    let far_group = of_spine.into_iter().map(|cables| cables.into_iter().map(|(group, _)| group).collect()).collect();
    Ok(Cables { ends, far_group })
}

/// The spines that each cable of an arrangement joins, pair after pair.
///
/// Both groups assign their links round-robin to their spines, peer by peer. With whole rounds this is K4's `k -> (k +
/// l) mod spines` with `k = x mod spines` and `l = x / spines`. An incomplete last round is not shifted (`l = 0`), so
/// no spine gets more links than it has ports.
fn arranged(spec: &DragonflyPlusSpec, pairs: &Pairs) -> Vec<[u32; 2]> {
    let spines = spec.spines;
    let mut joined = Vec::new();
    // Links that each group has assigned to the groups before this one.
    let mut given = vec![0_u32; spec.groups as usize];
    for i in 0..spec.groups {
        for j in i + 1..spec.groups {
            let links = pairs.links(i, j);
            let whole = links / spines * spines;
            for x in 0..links {
                let turn = match spec.arrangement {
                    Arrangement::Linear if x < whole => x / spines,
                    _ => 0,
                };
                let low = (given[i as usize] + x) % spines;
                let high = (given[j as usize] + x + turn) % spines;
                joined.push([i * spines + low, j * spines + high]);
            }
            given[i as usize] += links;
            given[j as usize] += links;
        }
    }
    joined
}

/// The cables of `global_links`, which names them by their routers.
fn listed(spec: &DragonflyPlusSpec, links: &[[u32; 2]]) -> Result<Vec<[u32; 2]>, Error> {
    let (spines, per_group) = (spec.spines, spec.leaves + spec.spines);
    let last_leaves = spec.last_group_leaves.unwrap_or(spec.leaves);
    let routers = (spec.groups - 1) * per_group + last_leaves + spines;
    let mut used = vec![0_u32; spec.groups as usize * spines as usize];
    let mut joined = Vec::with_capacity(links.len());
    for (at, &[a, b]) in links.iter().enumerate() {
        let wrong = |kind: ErrorKind| Err(kind.at(path!["topology", "global_links", at]));
        let mut ends = [0; 2];
        for (end, router) in ends.iter_mut().zip([a, b]) {
            if router >= routers {
                return wrong(ErrorKind::NoSuchRouter { router, last: routers - 1 });
            }
            let (group, local) = (router / per_group, router % per_group);
            let leaves = if group + 1 == spec.groups { last_leaves } else { spec.leaves };
            if local < leaves {
                let first = group * per_group + leaves;
                return wrong(ErrorKind::NotASpine { router, group, first, last: first + spines - 1 });
            }
            *end = group * spines + local - leaves;
        }
        if a / per_group == b / per_group {
            return wrong(ErrorKind::SameGroup { routers: vec![a, b], group: a / per_group });
        }
        for (end, router) in ends.into_iter().zip([a, b]) {
            used[end as usize] += 1;
            if used[end as usize] > spec.global_links_per_spine {
                let most = spec.global_links_per_spine;
                return wrong(ErrorKind::TooManyLinksOfRouter { router, most, parameter: "global_links_per_spine" });
            }
        }
        joined.push(ends);
    }
    Ok(joined)
}
