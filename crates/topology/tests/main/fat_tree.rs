//! Fat trees: numbering by hand, counts, and what cannot be built.

use odonata_topology::fat_tree::{CORE, LEAF};
use odonata_topology::{Address, Failures, FatTree, FatTreeSpec, NO_GROUP, NodeId, Peer, Port, RouterId, TreeRails};
use proptest::prelude::*;

fn spec([pods, leaves, spines, cores, nodes_per_leaf]: [u32; 5]) -> FatTreeSpec {
    FatTreeSpec {
        pods,
        leaves,
        spines,
        cores,
        nodes_per_leaf,
        leaf_links: 1,
        core_links: 1,
        rails: 1,
        rails_on: TreeRails::OneLeaf,
    }
}

fn build(spec: &FatTreeSpec) -> FatTree {
    FatTree::build(spec, &Failures::default()).unwrap_or_else(|e| panic!("{spec:?}: {e}"))
}

/// The router and port at the far end of a port.
fn far(tree: &FatTree, router: u32, port: u16) -> (u32, u16) {
    let network = &tree.network;
    let Peer::Router(far) = network.peer[network.slot(RouterId(router), Port(port)).index()] else {
        panic!("port {port} of router {router} leads to no router")
    };
    let (router, port) = network.port_of(far);
    (router.0, port.0)
}

/// Catches a wiring in another order: two pods of two leaves and two spines, four cores. Worked out by hand.
#[test]
fn three_levels_by_hand() {
    let tree = build(&FatTreeSpec { leaf_links: 2, ..spec([2, 2, 2, 4, 3]) });
    let network = &tree.network;
    assert_eq!((network.routers(), network.nodes(), network.groups), (12, 12, 2));
    assert_eq!(network.classes, ["node", "leaf", "core"]);
    assert_eq!(network.cables(), [12, 16, 8]);
    assert_eq!(network.kind_of_router, [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 2]);
    assert_eq!(network.group_of_router[3..9], [0, 1, 1, 1, 1, NO_GROUP]);
    assert_eq!(network.address_of_router[5], Address::new(1, 1));
    assert_eq!(network.router_of_node(NodeId(7)), RouterId(4));
    // Leaf 1 of pod 1 (router 5): ports 3 and 4 to spine 0, 5 and 6 to spine 1, there ports 2 and 3.
    assert_eq!([3, 4, 5, 6].map(|port| far(&tree, 5, port)), [(6, 2), (6, 3), (7, 2), (7, 3)]);
    // Spine 1 of pod 1 (router 7): ports 4 and 5 to cores 2 and 3 (routers 10 and 11), there port 1 for pod 1.
    assert_eq!([4, 5].map(|port| far(&tree, 7, port)), [(10, 1), (11, 1)]);
    assert_eq!(
        (network.ports_down(RouterId(5)), network.ports_down(RouterId(7)), network.ports(RouterId(7))),
        (3, 4, 6)
    );
    assert_eq!(network.class[network.slot(RouterId(7), Port(4)).index()], CORE);
    assert_eq!(network.class[network.slot(RouterId(5), Port(3)).index()], LEAF);
}

/// Catches rails at the wrong leaves: NIC k of each node of a block is on leaf k of the block, or in plane k.
#[test]
fn rails_by_hand() {
    let leaf_of = |spec: &FatTreeSpec| -> Vec<(u32, u16)> {
        let tree = build(spec);
        tree.network.node_slot.iter().map(|&slot| tree.network.port_of(slot)).map(|(r, p)| (r.0, p.0)).collect()
    };
    let rails = |rails_on| FatTreeSpec { rails: 2, rails_on, ..spec([1, 2, 1, 0, 2]) };
    // Four nodes on two leaves of four ports each.
    let one = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)];
    assert_eq!(leaf_of(&rails(TreeRails::OneLeaf)), one);
    // Two nodes on one block of two leaves.
    assert_eq!(leaf_of(&rails(TreeRails::DifferentLeaves)), [(0, 0), (1, 0), (0, 1), (1, 1)]);
    // Four nodes; plane 0 has leaves 0 and 1, plane 1 has leaves 2 and 3.
    let planes = [(0, 0), (2, 0), (0, 1), (2, 1), (1, 0), (3, 0), (1, 1), (3, 1)];
    assert_eq!(leaf_of(&rails(TreeRails::Planes)), planes);
    let tree = build(&rails(TreeRails::Planes));
    assert!(tree.network.separate_rails && !build(&rails(TreeRails::OneLeaf)).network.separate_rails);
    assert_eq!((0..6).map(|r| tree.plane(RouterId(r))).collect::<Vec<_>>(), [0, 0, 1, 1, 0, 1]);
    assert_eq!((far(&tree, 1, 2), far(&tree, 3, 2)), ((4, 1), (5, 1)));
}

/// Catches a refusal that went missing, and one that names the wrong number.
#[test]
fn refusals() {
    let text = |spec: FatTreeSpec| FatTree::build(&spec, &Failures::default()).expect_err("it is refused").to_string();
    assert_eq!(text(spec([0, 2, 2, 0, 1])), "topology.pods: zero");
    assert_eq!(text(spec([1, 2, 2, 2, 1])), "topology.cores: needless-cores (cores = 2)");
    assert_eq!(text(spec([2, 2, 2, 3, 1])), "topology.cores: uneven-cores (cores = 3, spines = 2)");
    assert_eq!(text(spec([2, 2, 2, 0, 1])), "topology.cores: uneven-cores (cores = 0, spines = 2)");
    let uneven = FatTreeSpec { rails: 2, rails_on: TreeRails::DifferentLeaves, ..spec([1, 3, 2, 0, 1]) };
    assert_eq!(text(uneven), "topology.rails: uneven-rail-leaves (rails = 2, leaves = 3)");
    assert_eq!(
        text(spec([1, 2, 70_000, 0, 1])),
        "topology: machine-too-large (what = `ports per router`, found = 70001, most = 32768)"
    );
    let huge = FatTreeSpec { leaf_links: u32::MAX, ..spec([u32::MAX; 5]) };
    assert!(text(huge).contains("machine-too-large"));
}

/// Catches a leaf that is forgotten where all its spines have failed: two leaves that no path joins are refused, with
/// both of them, and nodes of a failed leaf are not missed.
#[test]
fn failures_that_cut_leaves_apart_are_refused() {
    // Leaves 0 and 1, spines 2 and 3: leaf 0 keeps spine 2 only, leaf 1 keeps spine 3 only.
    let cut = Failures { links: vec![[0, 2], [1, 1]], routers: vec![] };
    let error = FatTree::build(&spec([1, 2, 2, 0, 1]), &cut).expect_err("they are apart");
    assert_eq!(error.to_string(), "failures: leaves-cut-apart (routers = [1, 0])");
    let gone = Failures { links: cut.links, routers: vec![1] };
    let tree = FatTree::build(&spec([1, 2, 2, 0, 1]), &gone).expect("one leaf is left");
    assert!(tree.has_failures() && tree.ports_live(RouterId(0), RouterId(1)).is_empty());
}

/// Catches ports up that lead nowhere: spine 0 of pod 1 has lost leaf 0 there, so pod 0 sends packets for this leaf up
/// by spine 1 only, and packets for leaf 1 by both.
#[test]
fn ports_up_avoid_what_cannot_go_down() {
    // Pods of leaves 0, 1 and spines 2, 3; pod 1 begins at router 4; cores 8 and 9.
    let failures = Failures { links: vec![[6, 0]], routers: vec![] };
    let tree = FatTree::build(&spec([2, 2, 2, 2, 1]), &failures).expect("another path is left");
    assert_eq!(tree.ports_live(RouterId(0), RouterId(4)), [2]);
    assert_eq!(tree.ports_live(RouterId(0), RouterId(5)), [1, 2]);
    assert_eq!(tree.ports_live(RouterId(5), RouterId(4)), [2]);
    assert!(tree.ports_live(RouterId(2), RouterId(4)).is_empty());
    assert_eq!(tree.ports_live(RouterId(3), RouterId(4)), [2]);
    assert_eq!(tree.ports_live(RouterId(9), RouterId(4)), [1]);
}

proptest! {
    /// Catches a cable that is wired to one side only, a port without a cable, and a cable too many or too few.
    #[test]
    fn every_leaf_has_every_spine(
        pods in 1..4_u32, leaves in 1..4_u32, spines in 1..4_u32, cores in 1..3_u32, cables in (1..3_u32, 1..3_u32),
        planes in 1..3_u32,
    ) {
        let spec = FatTreeSpec {
            cores: if pods > 1 { cores * spines } else { 0 },
            leaf_links: cables.0,
            core_links: cables.1,
            rails: planes,
            rails_on: TreeRails::Planes,
            ..spec([pods, leaves, spines, 0, 2])
        };
        let tree = build(&spec);
        let network = &tree.network;
        let mut between = std::collections::BTreeMap::new();
        for (slot, peer) in network.peer.iter().enumerate() {
            match peer {
                Peer::Router(far) => {
                    prop_assert_eq!(network.peer[far.index()], Peer::Router(odonata_topology::SlotId(slot as u32)));
                    let ends = [slot, far.index()].map(|slot| network.router_of_slot[slot]);
                    *between.entry(ends).or_insert(0) += 1;
                }
                Peer::Node(_) => {}
                Peer::None => prop_assert!(false, "an unused port"),
            }
        }
        for ([a, b], cables) in between {
            let (low, high) = if network.kind_of_router[a.index()] < network.kind_of_router[b.index()] { (a, b) } else { (b, a) };
            let kinds = [low, high].map(|r| network.kind_of_router[r.index()]);
            prop_assert!(kinds == [0, 1] || kinds == [1, 2]);
            prop_assert_eq!(cables, if kinds == [0, 1] { spec.leaf_links } else { spec.core_links });
            prop_assert_eq!(tree.plane(low), tree.plane(high));
        }
        let [_, leaf, core] = [0, 1, 2].map(|class| network.cables().get(class).copied().unwrap_or(0));
        prop_assert_eq!(leaf, u64::from(planes * pods * leaves * spines * cables.0));
        prop_assert_eq!(core, u64::from(planes * pods * spec.cores * cables.1));
    }
}
