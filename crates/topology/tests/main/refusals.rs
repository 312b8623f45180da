//! Machines that cannot be built, each with its code, path and parameters. Catches a refusal that went missing, and
//! one that names the wrong number.

use odonata_error::{Error, ErrorKind, path};
use odonata_topology::{Arrangement, DragonflyPlus, DragonflyPlusSpec};

use crate::support::spec;

fn refusal(size: [u32; 5], links: Option<u32>, arrangement: Arrangement) -> Error {
    match DragonflyPlus::build(&spec(size, links, arrangement)) {
        Ok(_) => panic!("{size:?} with {links:?} links was built"),
        Err(error) => error,
    }
}

fn linear(size: [u32; 5], links: Option<u32>) -> Error {
    refusal(size, links, Arrangement::Linear)
}

#[test]
fn no_count_may_be_zero() {
    for (at, what) in ["groups", "leaves", "spines", "nodes_per_leaf"].into_iter().enumerate() {
        let mut size = [3, 2, 2, 2, 4];
        size[at] = 0;
        let error = linear(size, None);
        assert_eq!(error, ErrorKind::Zero {}.at(path!["topology", what]));
    }
    let no_nics = DragonflyPlusSpec { rails: 0, ..spec([3, 2, 2, 2, 4], None, Arrangement::Linear) };
    assert_eq!(DragonflyPlus::build(&no_nics).err(), Some(ErrorKind::Zero {}.at(path!["topology", "rails"])));
    assert_eq!(linear([3, 2, 2, 2, 4], Some(0)), ErrorKind::Zero {}.at(path!["topology", "links_per_pair"]));
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
    assert_eq!(
        error.to_string(),
        "topology.links_per_pair: too-few-global-ports (links_per_pair = 5, peers = 3, need = 15, have = 12, per_router = 4, routers = 3, router_name = `spines`, parameter = `global_links_per_spine`)"
    );
    assert!(DragonflyPlus::build(&spec([4, 2, 3, 1, 4], Some(4), Arrangement::Linear)).is_ok(), "12 ports are enough");
}

#[test]
fn more_groups_than_can_be_connected() {
    let error = linear([8, 2, 3, 1, 2], None);
    assert_eq!(
        error.to_string(),
        "topology.groups: too-many-groups (groups = 8, need = 7, have = 6, per_router = 2, routers = 3, most = 7, router_name = `spines`)"
    );
    assert!(DragonflyPlus::build(&spec([7, 2, 3, 1, 2], None, Arrangement::Linear)).is_ok(), "7 groups are connected");
}

#[test]
fn parallel_needs_whole_rounds() {
    let error = refusal([4, 2, 3, 1, 4], Some(4), Arrangement::Parallel);
    assert_eq!(error.to_string(), "topology.links_per_pair: uneven-parallel-links (links = 4, spines = 3)");
}

#[test]
fn more_than_can_be_numbered() {
    for (size, what, found, max) in [
        ([2, 1, 1, 65_535, 1], "ports per router", 65_536, 32_768),
        ([2, 65_535, 1, 1, 1], "ports per router", 65_536, 32_768),
        ([65_536, 1, 4, 1, 20_000], "groups", 65_536, 65_535),
        ([200, 5_000, 1, 5_000, 300], "nodes", 5_000_000_000, 4_294_967_295),
        ([65_000, 30, 3_000, 1, 30], "ports", 17_551_950_000, 1 << 26),
        ([30_000, 1, 2, 1, 1_000], "entries in its table of spines and groups", 1_800_000_000, 1 << 28),
    ] {
        let error = linear(size, None);
        assert_eq!(error.kind, ErrorKind::MachineTooLarge { what, found, most: max }, "{size:?}");
    }
}

/// Catches arithmetic that overflows before the size is refused.
#[test]
fn absurd_numbers_are_refused_too() {
    let most = u32::MAX;
    assert!(matches!(linear([most; 5], Some(most)).kind, ErrorKind::MachineTooLarge { .. }));
    assert!(matches!(linear([most, most, 1, most, most], None).kind, ErrorKind::MachineTooLarge { .. }));
    let nics = DragonflyPlusSpec { rails: most, ..spec([most; 5], Some(most), Arrangement::Linear) };
    let error = DragonflyPlus::build(&nics).expect_err("it is too large");
    assert!(matches!(error.kind, ErrorKind::MachineTooLarge { .. }));
}
