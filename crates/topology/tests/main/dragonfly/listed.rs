//! Cables that are listed one by one.

use odonata_topology::{
    Dragonfly, DragonflyArrangement, DragonflySpec, Failures, GroupId, IntermediateGroups, RouterId,
};

use super::support::dragonfly;
use crate::support::far;

fn listed(global_links: Vec<[u32; 2]>) -> DragonflySpec {
    DragonflySpec { global_links: Some(global_links), ..dragonfly([4, 2, 1, 2], DragonflyArrangement::Explicit) }
}

/// A ring of groups 0 - 1 - 2 - 3 - 0, the first pair twice. Catches cables or ports in another order than listed, and
/// groups between two others that are not joined to both.
#[test]
fn a_ring_of_groups() {
    let spec = listed(vec![[3, 1], [0, 2], [5, 2], [4, 6], [1, 7]]);
    let machine = Dragonfly::build(&spec, &Failures::default()).expect("a ring");
    let network = &machine.network;
    let peers: Vec<_> = [(1, 2), (1, 3), (2, 2), (2, 3), (3, 2)].map(|(r, p)| far(network, r, p)).into();
    assert_eq!(peers, [Some((3, 2)), Some((7, 2)), Some((0, 2)), Some((5, 2)), Some((1, 2))]);
    assert_eq!(network.ports(RouterId(3)), 3);
    let cables = |a, b| machine.cables(GroupId(a), GroupId(b)).len();
    assert_eq!([cables(0, 1), cables(1, 2), cables(2, 3), cables(3, 0), cables(0, 2)], [2, 1, 1, 1, 0]);
    assert_eq!(machine.links_per_pair(), 2);
    let intermediates = |a, b| machine.intermediates(GroupId(a), GroupId(b));
    assert_eq!(
        [intermediates(0, 2), intermediates(1, 3), intermediates(0, 1)],
        [IntermediateGroups::All, IntermediateGroups::All, IntermediateGroups::List(&[])]
    );
}

/// The cables of an arrangement, listed, are the same machine.
#[test]
fn a_list_of_an_arrangement_is_the_arrangement() {
    for arrangement in [DragonflyArrangement::Circulant, DragonflyArrangement::Palmtree] {
        let spec = dragonfly([5, 2, 3, 2], arrangement);
        let machine = Dragonfly::build(&spec, &Failures::default()).expect("it fits");
        // Both ends see their ports in ascending order if the list is in the order of the sum of the ports.
        let ends = |r: u32, p: u16| far(&machine.network, r, p).map(|(s, q)| (p + q, p, q, r, s)).filter(|x| x.3 < x.4);
        let mut cables: Vec<_> = (0..10).flat_map(|r| [4, 5].map(|p| ends(r, p))).flatten().collect();
        cables.sort_unstable();
        let links = cables.iter().map(|&(.., r, s)| [r, s]).collect();
        let arrangement = DragonflyArrangement::Explicit;
        let again = DragonflySpec { global_links: Some(links), arrangement, ..spec };
        let again = Dragonfly::build(&again, &Failures::default()).expect("it fits");
        for (r, p) in (0..10).flat_map(|r| [4, 5].map(|p| (r, p))) {
            let router = |machine: &Dragonfly| far(&machine.network, r, p).expect("global").0;
            let (mut a, mut b) = (
                [4, 5].map(|p| far(&machine.network, r, p).map(|x| x.0)),
                [4, 5].map(|p| far(&again.network, r, p).map(|x| x.0)),
            );
            a.sort_unstable();
            b.sort_unstable();
            assert_eq!(a, b, "{arrangement:?}: router {r}, {} and {}", router(&machine), router(&again));
        }
        assert_eq!(again.network.cables(), machine.network.cables());
    }
}
