//! Machines that cannot be built, each with the message a user reads. Catches a refusal that went missing, and a
//! message that names the wrong number.

use odonata_topology::{Arrangement, DragonflyPlus, GlobalNames, TopologyError};

use crate::support::spec;

const SPINES: GlobalNames = GlobalNames { routers: "spines", parameter: "global_links_per_spine" };

fn refusal(size: [u32; 5], links: Option<u32>, arrangement: Arrangement) -> TopologyError {
    match DragonflyPlus::build(&spec(size, links, arrangement)) {
        Ok(_) => panic!("{size:?} with {links:?} links was built"),
        Err(error) => error,
    }
}

fn linear(size: [u32; 5], links: Option<u32>) -> TopologyError {
    refusal(size, links, Arrangement::Linear)
}

#[test]
fn no_count_may_be_zero() {
    for (at, what) in ["groups", "leaves", "spines", "nodes_per_leaf"].into_iter().enumerate() {
        let mut size = [3, 2, 2, 2, 4];
        size[at] = 0;
        let error = linear(size, None);
        assert_eq!(error, TopologyError::Zero { what });
        assert_eq!(error.to_string(), format!("`{what}` is 0, but a machine needs at least 1"));
    }
    assert_eq!(linear([3, 2, 2, 2, 4], Some(0)), TopologyError::Zero { what: "links_per_pair" });
}

#[test]
fn a_single_group_needs_no_global_links() {
    for links in [None, Some(0), Some(7)] {
        let machine = DragonflyPlus::build(&spec([1, 2, 2, 2, 0], links, Arrangement::Parallel)).expect("one group");
        assert_eq!((machine.links_per_pair(), machine.network.cables()[2]), (0, 0));
    }
}

#[test]
fn more_links_than_ports() {
    let error = linear([4, 2, 3, 1, 4], Some(5));
    let expected = TopologyError::GlobalPorts {
        links_per_pair: 5,
        peers: 3,
        need: 15,
        routers: 3,
        per_router: 4,
        have: 12,
        names: SPINES,
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "5 links to each of 3 other groups need 15 global ports per group, but 3 spines with 4 global links each have \
         only 12; lower `groups` or `links_per_pair`, or raise `global_links_per_spine`"
    );
    assert!(DragonflyPlus::build(&spec([4, 2, 3, 1, 4], Some(4), Arrangement::Linear)).is_ok(), "12 ports are enough");
}

#[test]
fn more_groups_than_can_be_connected() {
    let error = linear([8, 2, 3, 1, 2], None);
    assert_eq!(
        error,
        TopologyError::TooManyGroups { groups: 8, need: 7, routers: 3, per_router: 2, have: 6, max: 7, names: SPINES }
    );
    assert_eq!(
        error.to_string(),
        "8 groups need at least 7 global ports per group, one per other group, but 3 spines with 2 global links each \
         have only 6; at most 7 groups can be connected"
    );
    assert!(DragonflyPlus::build(&spec([7, 2, 3, 1, 2], None, Arrangement::Linear)).is_ok(), "7 groups are connected");
}

#[test]
fn parallel_needs_whole_rounds() {
    let error = refusal([4, 2, 3, 1, 4], Some(4), Arrangement::Parallel);
    assert_eq!(error, TopologyError::ParallelNeedsWholeRounds { links_per_pair: 4, spines: 3 });
    assert_eq!(
        error.to_string(),
        "the parallel arrangement gives every spine the same number of links to a group: `links_per_pair` = 4 is not a \
         multiple of 3 spines; use `linear`"
    );
}

#[test]
fn more_than_can_be_numbered() {
    for (size, what, found, max) in [
        ([2, 1, 1, 65_535, 1], "ports per router", 65_536, 65_535),
        ([2, 65_535, 1, 1, 1], "ports per router", 65_536, 65_535),
        ([65_536, 1, 1, 1, 65_534], "groups", 65_536, 65_535),
        ([200, 5_000, 1, 5_000, 300], "nodes", 5_000_000_000, 4_294_967_295),
        ([65_000, 30, 3_000, 1, 30], "ports", 17_551_950_000, 1 << 26),
        ([30_000, 1, 2, 1, 1_000], "entries in its table of spines and groups", 1_800_000_000, 1 << 28),
    ] {
        let error = linear(size, None);
        assert_eq!(error, TopologyError::TooLarge { what, found, max }, "{size:?}");
        let text = format!("the machine has {what} = {found}, but at most {max} are possible");
        assert_eq!(error.to_string(), text);
    }
}

/// Catches arithmetic that overflows before the size is refused.
#[test]
fn absurd_numbers_are_refused_too() {
    let most = u32::MAX;
    assert!(matches!(linear([most; 5], Some(most)), TopologyError::TooLarge { .. }));
    assert!(matches!(linear([most, most, 1, most, most], None), TopologyError::TooLarge { .. }));
}
