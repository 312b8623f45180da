//! Checks descriptions of a Dragonfly+: after these checks, no size can overflow.

use odonata_error::{Error, ErrorKind, path};

use super::{Arrangement, DragonflyPlusSpec};
use crate::error::{GlobalNames, bounded};
use crate::network::{MAX_PORTS, MAX_ROUTER_PORTS};
use crate::pairs::{Groups, Pairs};

/// Most entries of the table of ports by spine and group, 2 B each.
const MAX_TABLE: u64 = 1 << 28;

const NAMES: GlobalNames = GlobalNames { routers: "spines", parameter: "global_links_per_spine" };

/// Checks that the machine can be built. Returns the description with `links_per_pair` filled in, and the cables
/// between each pair of groups, unless they are listed one by one.
pub(super) fn check(spec: &DragonflyPlusSpec) -> Result<(DragonflyPlusSpec, Option<Pairs>), Error> {
    check_sizes(spec)?;
    check_last(spec)?;
    let arranged = !spec.arrangement.is_explicit();
    if spec.global_links.is_some() {
        for (what, given) in [
            ("arrangement", arranged),
            ("links_per_pair", spec.links_per_pair.is_some()),
            ("pair_links", !spec.pair_links.is_empty()),
        ] {
            if given {
                return Err(ErrorKind::BesideGlobalLinks {}.at(path!["topology", what]));
            }
        }
        return Ok((spec.clone(), None));
    }
    if !arranged {
        let choices = vec!["linear", "parallel"];
        return Err(ErrorKind::MissingArrangement { choices }.at(path!["topology", "arrangement"]));
    }
    let pairs = Pairs::new(&Groups {
        groups: spec.groups,
        routers: [spec.spines; 2],
        per_router: spec.global_links_per_spine,
        names: NAMES,
        last_name: "last_group_leaves",
        links_per_pair: spec.links_per_pair,
        pair_links: &spec.pair_links,
    })?;
    if spec.arrangement == Arrangement::Parallel {
        check_rounds(spec, &pairs)?;
    }
    let links_per_pair = (spec.groups > 1).then_some(pairs.usual());
    Ok((DragonflyPlusSpec { links_per_pair, ..spec.clone() }, Some(pairs)))
}

fn check_sizes(spec: &DragonflyPlusSpec) -> Result<(), Error> {
    for (what, value) in [
        ("groups", spec.groups),
        ("leaves", spec.leaves),
        ("spines", spec.spines),
        ("nodes_per_leaf", spec.nodes_per_leaf),
        ("rails", spec.rails),
    ] {
        if value == 0 {
            return Err(ErrorKind::Zero {}.at(path!["topology", what]));
        }
    }
    let [groups, leaves, spines, per_spine] =
        [spec.groups, spec.leaves, spec.spines, spec.global_links_per_spine].map(u128::from);
    let nics_per_leaf = u128::from(spec.nodes_per_leaf) * u128::from(spec.rails);
    let (of_leaf, of_spine) = (nics_per_leaf + spines, leaves + per_spine);
    bounded(&[
        ("ports per router", of_leaf.max(of_spine), MAX_ROUTER_PORTS),
        ("groups", groups, u64::from(u16::MAX)),
        ("nodes", groups * leaves * nics_per_leaf, u64::from(u32::MAX)),
        ("ports", groups * (leaves * of_leaf + spines * of_spine), MAX_PORTS),
        ("entries in its table of spines and groups", groups * groups * spines, MAX_TABLE),
    ])
}

fn check_last(spec: &DragonflyPlusSpec) -> Result<(), Error> {
    let (what, full) = ("last_group_leaves", spec.leaves);
    match spec.last_group_leaves {
        Some(0) => Err(ErrorKind::Zero {}.at(path!["topology", what])),
        Some(found) if found > full => Err(ErrorKind::LastGroupTooLarge { found, full }.at(path!["topology", what])),
        _ => Ok(()),
    }
}

/// Checks that the parallel arrangement has whole rounds of spines, for exceptions as well.
fn check_rounds(spec: &DragonflyPlusSpec, pairs: &Pairs) -> Result<(), Error> {
    let whole = |links: u32| links.is_multiple_of(spec.spines);
    let links = pairs.usual();
    if !whole(links) {
        return Err(
            ErrorKind::UnevenParallelLinks { links, spines: spec.spines }.at(path!["topology", "links_per_pair"])
        );
    }
    match spec.pair_links.iter().enumerate().find(|(_, exception)| !whole(exception[2])) {
        None => Ok(()),
        Some((at, &[.., links])) => {
            let kind = ErrorKind::UnevenParallelLinks { links, spines: spec.spines };
            Err(kind.at(path!["topology", "pair_links", at]))
        }
    }
}
