//! Dragonflies and cascades that cannot be built, each with the message a user reads. Catches a refusal that went
//! missing, and a message that names the wrong number or parameter.

use odonata_topology::{
    CascadeSpec, Dragonfly, DragonflyArrangement, DragonflySpec, Failures, RailsOn, Spread, TopologyError, TopologySpec,
};

use super::support::{cascade, dragonfly, try_direct};

fn absolute(size: [u32; 4]) -> DragonflySpec {
    dragonfly(size, DragonflyArrangement::Absolute)
}

fn grid(size: [u32; 7]) -> CascadeSpec {
    cascade(size, DragonflyArrangement::Absolute)
}

fn refusal(spec: DragonflySpec) -> TopologyError {
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
        assert_eq!(refusal(absolute(size)), TopologyError::Zero { what });
    }
    let whats = ["groups", "rows", "columns", "nodes_per_router", "row_links", "column_links"];
    for (at, what) in whats.into_iter().enumerate() {
        let mut size = [3, 2, 2, 2, 1, 1, 1];
        size[at] = 0;
        let built = Dragonfly::build_cascade(&grid(size), &Failures::default());
        assert_eq!(built.err(), Some(TopologyError::Zero { what }));
    }
    let small = || absolute([3, 2, 2, 1]);
    for (spec, what) in [
        (DragonflySpec { local_links: 0, ..small() }, "local_links"),
        (DragonflySpec { rails: 0, ..small() }, "rails"),
        (DragonflySpec { links_per_pair: Some(0), ..small() }, "links_per_pair"),
        (DragonflySpec { last_group_routers: Some(0), ..small() }, "last_group_routers"),
    ] {
        assert_eq!(refusal(spec), TopologyError::Zero { what });
    }
}

#[test]
fn more_links_than_ports() {
    assert_eq!(
        text(DragonflySpec { links_per_pair: Some(3), ..absolute([4, 2, 1, 4]) }),
        "3 links to each of 3 other groups need 9 global ports per group, but 2 routers with 4 global links each have \
         only 8; lower `groups` or `links_per_pair`, or raise `global_links_per_router`"
    );
    assert_eq!(
        text(absolute([10, 2, 1, 4])),
        "10 groups need at least 9 global ports per group, one per other group, but 2 routers with 4 global links each \
         have only 8; at most 9 groups can be connected"
    );
    assert_eq!(
        text(DragonflySpec { pair_links: vec![[1, 2, 7]], ..absolute([3, 2, 1, 4]) }),
        "group 1 needs 11 global ports for its links to other groups, but its 2 routers with 4 global links each have \
         only 8; lower `pair_links` or `links_per_pair`, or raise `global_links_per_router`"
    );
    assert_eq!(
        text(DragonflySpec { last_group_routers: Some(1), ..absolute([4, 2, 1, 2]) }),
        "`last_group_routers` leaves the last group 2 global ports, but it needs one to each of 3 other groups; raise \
         it, or raise `global_links_per_router`"
    );
}

#[test]
fn exceptions_that_name_no_pair() {
    let with = |pair_links| text(DragonflySpec { pair_links, ..absolute([3, 2, 1, 4]) });
    assert_eq!(with(vec![[0, 1, 1], [0, 3, 1]]), "`pair_links[1]` names group 3, but the groups are 0 to 2");
    assert_eq!(with(vec![[1, 1, 1]]), "`pair_links[0]` names group 1 twice; a pair is two different groups");
    let again = "`pair_links[1]` names the pair of groups 1 and 0 again; leave one of the two out";
    assert_eq!(with(vec![[0, 1, 1], [1, 0, 2]]), again);
}

#[test]
fn a_last_group_larger_than_the_others() {
    let spec = CascadeSpec { last_group_rows: Some(3), ..grid([3, 2, 2, 2, 1, 1, 1]) };
    assert_eq!(
        Dragonfly::build_cascade(&spec, &Failures::default()).expect_err("too large").to_string(),
        "`last_group_rows` is 3, but a full group has 2; it can be 1 to 2"
    );
}

#[test]
fn rails_that_do_not_fit() {
    assert_eq!(
        text(DragonflySpec { rails: 2, ..absolute([3, 2, 3, 1]) }),
        "`nodes_per_router` is 3, but every node of a router has 2 NICs (`rails`): use a multiple of 2"
    );
    let apart = DragonflySpec { rails_on: RailsOn::DifferentRouters, rails: 2, ..absolute([3, 3, 3, 1]) };
    let text_of = text(apart.clone());
    let expected =
        "`rails` is 2, each on another router, but a group has 3 routers: that must be a multiple of `rails`";
    assert_eq!(text_of, expected);
    let last = DragonflySpec { routers: 4, last_group_routers: Some(3), ..apart };
    assert!(text(last).contains("but the last group has 3 routers"));
}

#[test]
fn arrangements_and_lists() {
    let explicit = || dragonfly([3, 2, 1, 2], DragonflyArrangement::Explicit);
    assert_eq!(
        text(explicit()),
        "`arrangement` is missing; it can be absolute, relative, circulant, palmtree or random (or give `global_links`)"
    );
    let listed = || DragonflySpec { global_links: Some(vec![[0, 2]]), ..explicit() };
    for (spec, what) in [
        (DragonflySpec { arrangement: DragonflyArrangement::Absolute, ..listed() }, "arrangement"),
        (DragonflySpec { links_per_pair: Some(1), ..listed() }, "links_per_pair"),
        (DragonflySpec { pair_links: vec![[0, 1, 1]], ..listed() }, "pair_links"),
        (DragonflySpec { spread: Spread::RoundRobin, ..listed() }, "spread"),
    ] {
        let expected =
            format!("`{what}` has no meaning beside `global_links`, which lists every cable: leave one of them out");
        assert_eq!(text(spec), expected);
    }
    let random = DragonflySpec { arrangement: DragonflyArrangement::Random, ..absolute([3, 2, 1, 2]) };
    assert_eq!(text(random), "`arrangement_seed` is missing; the arrangement `random` needs one");
    let seeded = DragonflySpec { arrangement_seed: Some(1), ..absolute([3, 2, 1, 2]) };
    let expected = "`arrangement_seed` has no meaning here; only the arrangement `random` uses it: leave it out";
    assert_eq!([text(seeded), text(DragonflySpec { arrangement_seed: Some(1), ..listed() })], [expected, expected]);
}

#[test]
fn cables_that_cannot_be() {
    let with = |links: &[[u32; 2]]| {
        let global_links = Some(links.to_vec());
        text(DragonflySpec { global_links, ..dragonfly([3, 2, 1, 2], DragonflyArrangement::Explicit) })
    };
    assert_eq!(with(&[[0, 2], [6, 0]]), "`global_links[1]` names router 6, but the routers are 0 to 5");
    assert_eq!(with(&[[2, 3]]), "`global_links[0]` joins routers 2 and 3, both of group 1");
    assert_eq!(with(&[[2, 2]]), "`global_links[0]` joins routers 2 and 2, both of group 1");
    assert_eq!(
        with(&[[0, 2], [4, 0], [0, 3]]),
        "`global_links[2]` is one link too many for router 0, which has 2 global ports; raise \
         `global_links_per_router`"
    );
}

#[test]
fn failures_of_what_is_not_there() {
    let links = |links: &[[u32; 2]]| failing(Failures { links: links.to_vec(), ..Failures::default() });
    assert_eq!(links(&[[0, 3], [6, 0]]), "`failures.links[1]` names router 6, but the routers are 0 to 5");
    assert_eq!(links(&[[1, 4]]), "`failures.links[0]` names port 4 of router 1, whose ports are 0 to 3");
    assert_eq!(
        links(&[[1, 1]]),
        "`failures.links[0]` names port 1 of router 1, which leads to node 3; only links between routers can fail: \
         leave the node out of the jobs instead"
    );
    let routers = Failures { routers: vec![0, 9], ..Failures::default() };
    assert_eq!(failing(routers), "`failures.routers[1]` names router 9, but the routers are 0 to 5");
    assert_eq!(
        links(&[[3, 2]]),
        "the failures leave no way from router 2 to router 3 inside group 1; let more of the group's local links work, \
         or take one of the two routers out as well (`failures.routers`)"
    );
}

#[test]
fn more_than_can_be_numbered() {
    for (size, what, found, max) in [
        ([2, 2, 65_535, 1], "ports per router", 65_537, 65_535),
        ([65_536, 1, 1, 65_534], "groups", 65_536, 65_535),
        ([20_000, 1, 1, 20_000], "pairs of groups", 400_000_000, 1 << 28),
        ([2, 5_000, 1, 1], "pairs of routers in a group", 25_000_000, 1 << 24),
        ([9_000, 100, 1, 90], "ports", 171_000_000, 1 << 26),
    ] {
        assert_eq!(refusal(absolute(size)), TopologyError::TooLarge { what, found, max }, "{size:?}");
    }
}

/// Catches arithmetic that overflows, or memory that is taken before the size is refused.
#[test]
fn absurd_numbers_are_refused_too() {
    let most = u32::MAX;
    assert!(matches!(refusal(absolute([most; 4])), TopologyError::TooLarge { .. }));
    let large = Dragonfly::build_cascade(&grid([most; 7]), &Failures::default());
    assert!(matches!(large, Err(TopologyError::TooLarge { .. })));
    let many = DragonflySpec { links_per_pair: Some(most), ..absolute([3, 2, 1, 4]) };
    assert!(matches!(refusal(many), TopologyError::GlobalPorts { .. }));
    let many = DragonflySpec { pair_links: vec![[0, 1, most], [0, 2, most]], ..absolute([3, 2, 1, 4]) };
    assert!(matches!(refusal(many), TopologyError::GroupPorts { need: 0x1_ffff_fffe, .. }));
    let wide = CascadeSpec { column_links: most, ..grid([1, 3, 1, 1, most, 1, 0]) };
    let wide = Dragonfly::build_cascade(&wide, &Failures::default());
    assert!(matches!(wide, Err(TopologyError::TooLarge { what: "ports per router", .. })));
}
