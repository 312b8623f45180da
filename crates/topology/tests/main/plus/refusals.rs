//! Irregular Dragonfly+ machines that cannot be built, each with its code, path and parameters. Catches a refusal that
//! went missing, and one that names the wrong number or parameter.

use odonata_error::{ErrorKind, path};
use odonata_topology::{Arrangement, DragonflyPlus, DragonflyPlusSpec, Failures};

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
    assert_eq!(with(vec![[0, 5, 1]]), "topology.pair_links[0]: no-such-group (group = 5, last = 2)");
    assert_eq!(
        with(vec![[0, 1, 7]]),
        "topology.pair_links: group-lacks-ports (group = 0, need = 9, have = 8, per_router = 4, routers = 2, router_name = `spines`, parameter = `global_links_per_spine`)"
    );
    let parallel = spec([3, 2, 2, 1, 4], Some(2), Arrangement::Parallel);
    assert_eq!(
        text(DragonflyPlusSpec { pair_links: vec![[0, 2, 2], [0, 1, 3]], ..parallel }),
        "topology.pair_links[1]: uneven-parallel-links (links = 3, spines = 2)"
    );
    assert_eq!(with(vec![[1, 2, 0]]), "topology: leaves-cut-apart (routers = [4, 8])");
}

#[test]
fn last_group() {
    let with = |n| DragonflyPlus::build(&DragonflyPlusSpec { last_group_leaves: Some(n), ..linear(None) }).err();
    assert_eq!(with(0), Some(ErrorKind::Zero {}.at(path!["topology", "last_group_leaves"])));
    let text = with(3).expect("too many").to_string();
    assert_eq!(text, "topology.last_group_leaves: last-group-too-large (found = 3, full = 2)");
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
    assert_eq!(text(listed(&[[2, 12]])), "topology.global_links[0]: no-such-router (router = 12, last = 11)");
    assert_eq!(
        text(listed(&[[2, 6], [3, 8]])),
        "topology.global_links[1]: not-a-spine (router = 8, group = 2, first = 10, last = 11)"
    );
    assert_eq!(text(listed(&[[2, 3]])), "topology.global_links[0]: same-group (routers = [2, 3], group = 0)");
    assert_eq!(
        text(listed(&[[2, 6], [10, 6]])),
        "topology.global_links[1]: too-many-links-of-router (router = 6, most = 1, parameter = `global_links_per_spine`)"
    );
    assert!(text(listed(&[[2, 6], [3, 10]])) == "topology: leaves-cut-apart (routers = [4, 8])");
    assert!(DragonflyPlus::build(&listed(&[[2, 6], [3, 10], [7, 11]])).is_ok());
    for (spec, what) in [
        (DragonflyPlusSpec { arrangement: Arrangement::Linear, ..listed(&[]) }, "arrangement"),
        (DragonflyPlusSpec { links_per_pair: Some(1), ..listed(&[]) }, "links_per_pair"),
        (DragonflyPlusSpec { pair_links: vec![[0, 1, 1]], ..listed(&[]) }, "pair_links"),
    ] {
        assert_eq!(text(spec), format!("topology.{what}: beside-global-links"));
    }
    assert_eq!(
        text(DragonflyPlusSpec { arrangement: Arrangement::Explicit, ..linear(None) }),
        "topology.arrangement: missing-arrangement (choices = [`linear`, `parallel`])"
    );
}

#[test]
fn failures() {
    let with = |failures: &Failures| DragonflyPlus::build_with(&linear(None), failures).err().map(|e| e.to_string());
    let links = |links: &[[u32; 2]]| with(&Failures { links: links.to_vec(), ..Failures::default() });
    let node = links(&[[4, 0]]).expect("a node's link");
    assert!(node == "failures.links[0]: port-to-node (router = 4, port = 0, node = 2)");
    // Both ends of one cable, twice: tolerated. Leaf 0 without spines: not.
    assert_eq!(links(&[[0, 1], [2, 0], [0, 1]]), None);
    let cut = links(&[[0, 1], [0, 2]]).expect("leaf 0 has no spine");
    assert!(cut == "failures: leaves-cut-apart (routers = [0, 1])", "{cut}");
    assert_eq!(with(&Failures { links: vec![[0, 1], [0, 2]], routers: vec![0] }), None);
}
