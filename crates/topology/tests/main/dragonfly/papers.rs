//! The machines of the papers: catalogue rows D1, D3, D4 and L1.

use odonata_topology::{
    CascadeSpec, ClassId, Dragonfly, DragonflyArrangement, DragonflySpec, Failures, GroupId, NodeId, Peer, RouterId,
};

use super::support::{cascade, dragonfly};
use crate::support::distances;

fn aries(groups: u32, links_per_pair: Option<u32>) -> Dragonfly {
    let size = [groups, 6, 16, 4, 1, 3, 10];
    let spec = CascadeSpec { links_per_pair, ..cascade(size, DragonflyArrangement::Absolute) };
    Dragonfly::build_cascade(&spec, &Failures::default()).expect("Aries")
}

/// D1: 6 chassis x 16 blades = 96 routers, 384 nodes; per router 15 tiles in the chassis, 5 x 3 in the group, 10
/// optical, 8 for 4 nodes: 48. Catches a grid with rows and columns exchanged, or with single links along columns.
#[test]
fn tiles_of_an_aries_router() {
    let machine = aries(97, Some(10)); // 96 others x 10 links: every optical port is in use
    let network = &machine.network;
    assert_eq!((network.routers(), network.nodes()), (97 * 96, 97 * 384));
    let nic_tiles = 2; // 8 processor tiles for the NICs of 4 nodes, where a node port is one here
    for r in (0..96 * 97).step_by(61).map(RouterId) {
        let mut tiles = [0; 4];
        for port in 0..network.ports(r) {
            tiles[network.class[network.slot(r, odonata_topology::Port(port)).index()].index()] += 1;
        }
        assert_eq!(tiles, [4, 15, 15, 10], "router {r}");
        assert_eq!(tiles[1] + tiles[2] + tiles[3] + tiles[0] * nic_tiles, 48);
    }
    // Router 17 = row 1, column 1: ports 4 to 18 to the other columns, 19 to 33 three each to the other rows.
    let far = |port: u16| crate::support::far(network, 17, port).expect("a router").0;
    assert_eq!((4..19).map(far).collect::<Vec<_>>(), (16..32).filter(|&r| r != 17).collect::<Vec<_>>());
    let rows = [1, 1, 1, 33, 33, 33, 49, 49, 49, 65, 65, 65, 81, 81, 81];
    assert_eq!((19..34).map(far).collect::<Vec<_>>(), rows);
    assert_eq!(network.classes, ["node", "chassis", "group", "optical"]);
    assert_eq!(network.first_global, ClassId(3));
}

/// D3: at most 5 links on a minimal path (2 + 1 + 2) and 1 to 6 routers. Catches a group that needs three links inside.
#[test]
fn minimal_paths_have_at_most_five_links() {
    let machine = aries(9, None); // Theta has 9 groups (D4)
    assert_eq!((machine.diameter(), machine.subs()), (2, 2));
    assert_eq!(machine.links_per_pair(), 960 / 8);
    for from in [0, 100, 863] {
        let distance = distances(&machine.network, RouterId(from));
        assert_eq!(distance.iter().max(), Some(&3), "any gateway, as there are 120 for each pair");
    }
    // With one cable a pair, to reach the gateway may take two links at both ends.
    let machine = aries(15, Some(1)); // Edison has 15 groups
    let most = (0..15 * 96).step_by(7).flat_map(|r| distances(&machine.network, RouterId(r))).max();
    assert_eq!(most, Some(5));
}

/// D1: two paths of two links that differ in their parallel ports: one along the row first, three along the column.
#[test]
fn paths_to_another_row_and_column() {
    let machine = aries(2, Some(1));
    assert_eq!(machine.local_ports(RouterId(0), 17), [4, 19, 20, 21]);
    assert_eq!(machine.local_ports(RouterId(96), 17), [4, 19, 20, 21], "in every group");
    assert_eq!(machine.local_ports(RouterId(0), 16), [19, 20, 21]);
    assert_eq!(machine.local_ports(RouterId(0), 15), [18]);
    assert!(machine.local_ports(RouterId(5), 5).is_empty());
    let distance = |r: u32, s| machine.local_distance(RouterId(r), s);
    assert_eq!([distance(0, 0), distance(0, 15), distance(0, 16), distance(0, 17)], [0, 1, 1, 2]);
}

/// L1: p = 4, a in {4, 8}, g in {17, 33}, one link a pair: four machines of 272, 528, 544 and 1056 nodes, and
/// h = (g - 1) / a. Catches a machine with more than one link a pair, or with unused global ports.
#[test]
fn the_four_machines() {
    for (a, g, h, nodes) in [(4, 17, 4, 272), (4, 33, 8, 528), (8, 17, 2, 544), (8, 33, 4, 1056)] {
        assert_eq!(h, (g - 1) / a);
        for arrangement in [DragonflyArrangement::Absolute, DragonflyArrangement::Circulant] {
            let machine = Dragonfly::build(&dragonfly([g, a, 4, h], arrangement), &Failures::default()).expect("L1");
            let network = &machine.network;
            assert_eq!(network.nodes(), nodes as usize);
            assert_eq!((machine.links_per_pair(), machine.diameter(), machine.subs()), (1, 1, 1));
            assert_eq!(
                network.cables(),
                [u64::from(nodes), u64::from(g * a * (a - 1) / 2), u64::from(g * (g - 1) / 2)]
            );
            assert!((0..g * a).all(|r| u32::from(network.ports(RouterId(r))) == 4 + a - 1 + h));
            assert!((0..g * a).step_by(5).all(|r| distances(network, RouterId(r)).into_iter().all(|d| d <= 3)));
            for node in 0..nodes {
                assert_eq!(network.router_of_node(NodeId(node)).0, node / 4);
                assert_eq!(network.group_of_node(NodeId(node)).0, node / 4 / a);
            }
        }
    }
}

/// L1 and L2: the first router of a group with `absolute` leads to groups 0, 1, 2, 3 (itself left out).
#[test]
fn labels_of_the_first_global_ports() {
    let machine = Dragonfly::build(&dragonfly([17, 4, 4, 4], DragonflyArrangement::Absolute), &Failures::default());
    let machine = machine.expect("L1");
    let groups = |r: u32| (7..11).map(|p| crate::support::far(&machine.network, r, p).expect("global").0 / 4).collect();
    let first: [Vec<u32>; 3] = [groups(0), groups(8), groups(11)];
    assert_eq!(first, [vec![1, 2, 3, 4], vec![0, 1, 3, 4], vec![13, 14, 15, 16]]);
    let cable = machine.cables(GroupId(2), GroupId(14));
    assert_eq!(machine.network.port_of(cable[0]).0, RouterId(11));
    assert!(matches!(machine.network.peer[cable[0].index()], Peer::Router(_)));
}

/// Catches a spec whose own numbers are lost: links a pair that were asked for, parallel local links.
#[test]
fn parallel_local_links_are_separate() {
    let spec = DragonflySpec { local_links: 2, ..dragonfly([2, 3, 1, 2], DragonflyArrangement::Relative) };
    let machine = Dragonfly::build(&spec, &Failures::default()).expect("it fits");
    assert_eq!(machine.network.cables(), [6, 12, 6]);
    assert_eq!(machine.local_ports(RouterId(4), 0), [1, 2]);
    assert_eq!(machine.local_ports(RouterId(4), 2), [3, 4]);
}
