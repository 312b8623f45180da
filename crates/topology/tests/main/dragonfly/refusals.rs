//! Dragonflies and cascades that cannot be built, each with its code, path and parameters. Catches a refusal that went
//! missing, and one that names the wrong number or parameter.

use odonata_error::{Error, ErrorKind, path};
use odonata_topology::{
    CascadeSpec, Dragonfly, DragonflyArrangement, DragonflySpec, Failures, RailsOn, Spread, TopologySpec,
};

use super::support::{cascade, dragonfly, try_direct};

fn absolute(size: [u32; 4]) -> DragonflySpec {
    dragonfly(size, DragonflyArrangement::Absolute)
}

fn grid(size: [u32; 7]) -> CascadeSpec {
    cascade(size, DragonflyArrangement::Absolute)
}

fn refusal(spec: DragonflySpec) -> Error {
    Dragonfly::build(&spec, &Failures::default()).err().unwrap_or_else(|| panic!("{spec:?} was built"))
}

fn text(spec: DragonflySpec) -> String {
    refusal(spec).to_string()
}

fn failing(failures: Failures) -> String {
    let spec = TopologySpec::Dragonfly(absolute([3, 2, 2, 1]));
    try_direct(&spec, &failures).expect_err("a bad list of failures").to_string()
}

#[test]
fn no_count_may_be_zero() {
    for (at, what) in ["groups", "routers", "nodes_per_router"].into_iter().enumerate() {
        let mut size = [3, 2, 2, 1];
        size[at] = 0;
        assert_eq!(refusal(absolute(size)), ErrorKind::Zero {}.at(path!["topology", what]));
    }
    let whats = ["groups", "rows", "columns", "nodes_per_router", "row_links", "column_links"];
    for (at, what) in whats.into_iter().enumerate() {
        let mut size = [3, 2, 2, 2, 1, 1, 1];
        size[at] = 0;
        let built = Dragonfly::build_cascade(&grid(size), &Failures::default());
        assert_eq!(built.err(), Some(ErrorKind::Zero {}.at(path!["topology", what])));
    }
    let small = || absolute([3, 2, 2, 1]);
    for (spec, what) in [
        (DragonflySpec { local_links: 0, ..small() }, "local_links"),
        (DragonflySpec { rails: 0, ..small() }, "rails"),
        (DragonflySpec { links_per_pair: Some(0), ..small() }, "links_per_pair"),
        (DragonflySpec { last_group_routers: Some(0), ..small() }, "last_group_routers"),
    ] {
        assert_eq!(refusal(spec), ErrorKind::Zero {}.at(path!["topology", what]));
    }
}

#[test]
fn more_links_than_ports() {
    assert_eq!(
        text(DragonflySpec { links_per_pair: Some(3), ..absolute([4, 2, 1, 4]) }),
        "topology.links_per_pair: too-few-global-ports (links_per_pair = 3, peers = 3, need = 9, have = 8, per_router = 4, routers = 2, router_name = `routers`, parameter = `global_links_per_router`)"
    );
    assert_eq!(
        text(absolute([10, 2, 1, 4])),
        "topology.groups: too-many-groups (groups = 10, need = 9, have = 8, per_router = 4, routers = 2, most = 9, router_name = `routers`)"
    );
    assert_eq!(
        text(DragonflySpec { pair_links: vec![[1, 2, 7]], ..absolute([3, 2, 1, 4]) }),
        "topology.pair_links: group-lacks-ports (group = 1, need = 11, have = 8, per_router = 4, routers = 2, router_name = `routers`, parameter = `global_links_per_router`)"
    );
    assert_eq!(
        text(DragonflySpec { last_group_routers: Some(1), ..absolute([4, 2, 1, 2]) }),
        "topology.last_group_routers: last-group-lacks-ports (have = 2, peers = 3, parameter = `global_links_per_router`)"
    );
}

#[test]
fn exceptions_that_name_no_pair() {
    let with = |pair_links| text(DragonflySpec { pair_links, ..absolute([3, 2, 1, 4]) });
    assert_eq!(with(vec![[0, 1, 1], [0, 3, 1]]), "topology.pair_links[1]: no-such-group (group = 3, last = 2)");
    assert_eq!(with(vec![[1, 1, 1]]), "topology.pair_links[0]: pair-of-one-group (group = 1)");
    let again = "topology.pair_links[1]: pair-again (groups = [1, 0])";
    assert_eq!(with(vec![[0, 1, 1], [1, 0, 2]]), again);
}

#[test]
fn a_last_group_larger_than_the_others() {
    let spec = CascadeSpec { last_group_rows: Some(3), ..grid([3, 2, 2, 2, 1, 1, 1]) };
    assert_eq!(
        Dragonfly::build_cascade(&spec, &Failures::default()).expect_err("too large").to_string(),
        "topology.last_group_rows: last-group-too-large (found = 3, full = 2)"
    );
}

#[test]
fn rails_that_do_not_fit() {
    assert_eq!(
        text(DragonflySpec { rails: 2, ..absolute([3, 2, 3, 1]) }),
        "topology.nodes_per_router: uneven-rails (ports = 3, rails = 2)"
    );
    let apart = DragonflySpec { rails_on: RailsOn::DifferentRouters, rails: 2, ..absolute([3, 3, 3, 1]) };
    let text_of = text(apart.clone());
    let expected = "topology.rails: uneven-rail-routers (rails = 2, routers = 3, group = `every`)";
    assert_eq!(text_of, expected);
    let last = DragonflySpec { routers: 4, last_group_routers: Some(3), ..apart };
    assert!(text(last).contains("routers = 3, group = `last`"));
}

#[test]
fn arrangements_and_lists() {
    let explicit = || dragonfly([3, 2, 1, 2], DragonflyArrangement::Explicit);
    assert_eq!(
        text(explicit()),
        "topology.arrangement: missing-arrangement (choices = [`absolute`, `relative`, `circulant`, `palmtree`, `random`])"
    );
    let listed = || DragonflySpec { global_links: Some(vec![[0, 2]]), ..explicit() };
    for (spec, what) in [
        (DragonflySpec { arrangement: DragonflyArrangement::Absolute, ..listed() }, "arrangement"),
        (DragonflySpec { links_per_pair: Some(1), ..listed() }, "links_per_pair"),
        (DragonflySpec { pair_links: vec![[0, 1, 1]], ..listed() }, "pair_links"),
        (DragonflySpec { spread: Spread::RoundRobin, ..listed() }, "spread"),
    ] {
        assert_eq!(text(spec), format!("topology.{what}: beside-global-links"));
    }
    let random = DragonflySpec { arrangement: DragonflyArrangement::Random, ..absolute([3, 2, 1, 2]) };
    assert_eq!(text(random), "topology.arrangement_seed: missing-seed");
    let seeded = DragonflySpec { arrangement_seed: Some(1), ..absolute([3, 2, 1, 2]) };
    let expected = "topology.arrangement_seed: needless-seed";
    assert_eq!([text(seeded), text(DragonflySpec { arrangement_seed: Some(1), ..listed() })], [expected, expected]);
}

#[test]
fn cables_that_cannot_be() {
    let with = |links: &[[u32; 2]]| {
        let global_links = Some(links.to_vec());
        text(DragonflySpec { global_links, ..dragonfly([3, 2, 1, 2], DragonflyArrangement::Explicit) })
    };
    assert_eq!(with(&[[0, 2], [6, 0]]), "topology.global_links[1]: no-such-router (router = 6, last = 5)");
    assert_eq!(with(&[[2, 3]]), "topology.global_links[0]: same-group (routers = [2, 3], group = 1)");
    assert_eq!(with(&[[2, 2]]), "topology.global_links[0]: same-group (routers = [2, 2], group = 1)");
    assert_eq!(
        with(&[[0, 2], [4, 0], [0, 3]]),
        "topology.global_links[2]: too-many-links-of-router (router = 0, most = 2, parameter = `global_links_per_router`)"
    );
}

#[test]
fn failures_of_what_is_not_there() {
    let links = |links: &[[u32; 2]]| failing(Failures { links: links.to_vec(), ..Failures::default() });
    assert_eq!(links(&[[0, 3], [6, 0]]), "failures.links[1]: no-such-router (router = 6, last = 5)");
    assert_eq!(links(&[[1, 4]]), "failures.links[0]: no-such-port (router = 1, port = 4, last = 3)");
    assert_eq!(links(&[[1, 1]]), "failures.links[0]: port-to-node (router = 1, port = 1, node = 3)");
    let routers = Failures { routers: vec![0, 9], ..Failures::default() };
    assert_eq!(failing(routers), "failures.routers[1]: no-such-router (router = 9, last = 5)");
    assert_eq!(links(&[[3, 2]]), "failures: group-cut-apart (group = 1, routers = [2, 3])");
}

#[test]
fn more_than_can_be_numbered() {
    for (size, what, found, max) in [
        ([2, 2, 65_535, 1], "ports per router", 65_537, 32_768),
        ([65_536, 4, 1, 20_000], "groups", 65_536, 65_535),
        ([20_000, 1, 1, 20_000], "pairs of groups", 400_000_000, 1 << 28),
        ([2, 5_000, 1, 1], "pairs of routers in a group", 25_000_000, 1 << 24),
        ([9_000, 100, 1, 90], "ports", 171_000_000, 1 << 26),
    ] {
        assert_eq!(refusal(absolute(size)).kind, ErrorKind::MachineTooLarge { what, found, most: max }, "{size:?}");
    }
}

/// Catches arithmetic that overflows, or memory that is taken before the size is refused.
#[test]
fn absurd_numbers_are_refused_too() {
    let most = u32::MAX;
    assert!(matches!(refusal(absolute([most; 4])).kind, ErrorKind::MachineTooLarge { .. }));
    let large = Dragonfly::build_cascade(&grid([most; 7]), &Failures::default());
    assert!(matches!(large, Err(Error { kind: ErrorKind::MachineTooLarge { .. }, .. })));
    let many = DragonflySpec { links_per_pair: Some(most), ..absolute([3, 2, 1, 4]) };
    assert!(matches!(refusal(many).kind, ErrorKind::TooFewGlobalPorts { .. }));
    let many = DragonflySpec { pair_links: vec![[0, 1, most], [0, 2, most]], ..absolute([3, 2, 1, 4]) };
    assert!(matches!(refusal(many).kind, ErrorKind::GroupLacksPorts { need: 0x1_ffff_fffe, .. }));
    let wide = CascadeSpec { column_links: most, ..grid([1, 3, 1, 1, most, 1, 0]) };
    let wide = Dragonfly::build_cascade(&wide, &Failures::default());
    assert!(matches!(wide, Err(Error { kind: ErrorKind::MachineTooLarge { what: "ports per router", .. }, .. })));
}
