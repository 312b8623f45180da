//! Irregular Dragonfly+ machines that cannot be built, each with the message a user reads. Catches a refusal that went
//! missing, and a message that names the wrong number or parameter.

use odonata_topology::{Arrangement, DragonflyPlus, DragonflyPlusSpec, Failures, TopologyError};

use crate::support::spec;

fn linear(links: Option<u32>) -> DragonflyPlusSpec {
    spec([3, 2, 2, 1, 4], links, Arrangement::Linear)
}

fn text(spec: DragonflyPlusSpec) -> String {
    DragonflyPlus::build(&spec).err().unwrap_or_else(|| panic!("{spec:?} was built")).to_string()
}

#[test]
fn exceptions() {
    let with = |pair_links| text(DragonflyPlusSpec { pair_links, ..linear(Some(2)) });
    assert_eq!(with(vec![[0, 5, 1]]), "`pair_links[0]` names group 5, but the groups are 0 to 2");
    assert_eq!(
        with(vec![[0, 1, 7]]),
        "group 0 needs 9 global ports for its links to other groups, but its 2 spines with 4 global links each have \
         only 8; lower `pair_links` or `links_per_pair`, or raise `global_links_per_spine`"
    );
    let parallel = spec([3, 2, 2, 1, 4], Some(2), Arrangement::Parallel);
    assert_eq!(
        text(DragonflyPlusSpec { pair_links: vec![[0, 2, 2], [0, 1, 3]], ..parallel }),
        "`pair_links[1]` asks for 3 links, but the parallel arrangement gives every spine the same number of links to a \
         group: use a multiple of 2 spines, or the arrangement `linear`"
    );
    assert_eq!(
        with(vec![[1, 2, 0]]),
        "leaf 4 (router) cannot reach leaf 8 by a shortest way; give their groups a link between spines that both \
         leaves are linked to, or take one of the two leaves out as well (`failures.routers`)"
    );
}

#[test]
fn last_group() {
    let with = |n| DragonflyPlus::build(&DragonflyPlusSpec { last_group_leaves: Some(n), ..linear(None) }).err();
    assert_eq!(with(0), Some(TopologyError::Zero { what: "last_group_leaves" }));
    let text = with(3).expect("too many").to_string();
    assert_eq!(text, "`last_group_leaves` is 3, but a full group has 2; it can be 1 to 2");
    assert_eq!(with(2), None);
}

#[test]
fn listed_cables() {
    let listed = |links: &[[u32; 2]]| DragonflyPlusSpec {
        global_links: Some(links.to_vec()),
        global_links_per_spine: 1,
        arrangement: Arrangement::Explicit,
        ..linear(None)
    };
    assert_eq!(text(listed(&[[2, 12]])), "`global_links[0]` names router 12, but the routers are 0 to 11");
    assert_eq!(
        text(listed(&[[2, 6], [3, 8]])),
        "`global_links[1]` names router 8, a leaf; global links join spines, which are routers 10 to 11 in group 2"
    );
    assert_eq!(text(listed(&[[2, 3]])), "`global_links[0]` joins routers 2 and 3, both of group 0");
    assert_eq!(
        text(listed(&[[2, 6], [10, 6]])),
        "`global_links[1]` is one link too many for router 6, which has 1 global ports; raise \
         `global_links_per_spine`"
    );
    assert!(text(listed(&[[2, 6], [3, 10]])).starts_with("leaf 4 (router) cannot reach leaf 8"));
    assert!(DragonflyPlus::build(&listed(&[[2, 6], [3, 10], [7, 11]])).is_ok());
    for (spec, what) in [
        (DragonflyPlusSpec { arrangement: Arrangement::Linear, ..listed(&[]) }, "arrangement"),
        (DragonflyPlusSpec { links_per_pair: Some(1), ..listed(&[]) }, "links_per_pair"),
        (DragonflyPlusSpec { pair_links: vec![[0, 1, 1]], ..listed(&[]) }, "pair_links"),
    ] {
        let expected =
            format!("`{what}` has no meaning beside `global_links`, which lists every cable: leave one of them out");
        assert_eq!(text(spec), expected);
    }
    assert_eq!(
        text(DragonflyPlusSpec { arrangement: Arrangement::Explicit, ..linear(None) }),
        "`arrangement` is missing; it can be linear or parallel (or give `global_links`)"
    );
}

#[test]
fn failures() {
    let with = |failures: &Failures| DragonflyPlus::build_with(&linear(None), failures).err().map(|e| e.to_string());
    let links = |links: &[[u32; 2]]| with(&Failures { links: links.to_vec(), ..Failures::default() });
    let node = links(&[[4, 0]]).expect("a node's link");
    assert!(node.starts_with("`failures.links[0]` names port 0 of router 4, which leads to node 2; only links"));
    // Both ends of one cable, twice: tolerated. Leaf 0 without spines: not.
    assert_eq!(links(&[[0, 1], [2, 0], [0, 1]]), None);
    let cut = links(&[[0, 1], [0, 2]]).expect("leaf 0 has no spine");
    assert!(cut.starts_with("leaf 0 (router) cannot reach leaf 1 by a shortest way"), "{cut}");
    assert_eq!(with(&Failures { links: vec![[0, 1], [0, 2]], routers: vec![0] }), None);
}
