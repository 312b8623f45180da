//! HyperX: numbering by hand, counts, distances, failures, and what cannot be built.

use odonata_topology::{Address, ClassId, Failures, HyperX, HyperXSpec, NodeId, Peer, Port, RouterId, SlotId};
use proptest::prelude::*;

fn spec(dimensions: &[u32], dimension_links: &[u32], nodes_per_router: u32) -> HyperXSpec {
    let (dimensions, dimension_links) = (dimensions.to_vec(), dimension_links.to_vec());
    HyperXSpec { dimensions, dimension_links, nodes_per_router, rails: 1 }
}

fn build(spec: &HyperXSpec) -> HyperX {
    HyperX::build(spec, &Failures::default()).unwrap_or_else(|e| panic!("{spec:?}: {e}"))
}

/// The router and port at the far end of a port.
fn far(machine: &HyperX, router: u32, port: u16) -> (u32, u16) {
    let network = &machine.network;
    let Peer::Router(far) = network.peer[network.slot(RouterId(router), Port(port)).index()] else {
        panic!("port {port} of router {router} leads to no router")
    };
    let (router, port) = network.port_of(far);
    (router.0, port.0)
}

fn addresses<const N: usize>(machine: &HyperX, routers: [u32; N]) -> [Address; N] {
    routers.map(|r| machine.network.address_of_router[r as usize])
}

/// Catches a wiring in another order: 3 x 2 x 2 routers, two cables in the second dimension. Worked out by hand.
#[test]
fn three_dimensions_by_hand() {
    let machine = build(&HyperXSpec { rails: 2, ..spec(&[3, 2, 2], &[1, 2, 1], 2) });
    let network = &machine.network;
    assert_eq!((network.routers(), network.nodes(), network.endpoints(), network.groups), (12, 24, 48, 2));
    assert_eq!(network.classes, ["node", "dim1", "dim2", "dim3"]);
    // Rows: 2 x 2 of three routers, 3 x 2 of two with two cables, 3 x 2 of two.
    assert_eq!(network.cables(), [48, 12, 12, 6]);
    assert_eq!((network.ports(RouterId(0)), network.ports_down(RouterId(0))), (4 + 2 + 2 + 1, 4));
    assert_eq!(network.group_of_router, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    assert_eq!((network.first_global, network.levels.group), (ClassId(3), "slice"));
    assert_eq!(network.router_of_node(NodeId(15)), RouterId(7));
    // Router 4 is at (1, 1, 0): its row is 3, 4, 5; above it in the second dimension is 1, and in the third is 10.
    assert_eq!([4, 5, 6, 7, 8].map(|port| far(&machine, 4, port)), [(3, 4), (5, 5), (1, 6), (1, 7), (10, 8)]);
    // Router 5 is the second other router for 3, the first for 4 it is not: 4 numbers 3 and 5, and 5 numbers 3 and 4.
    assert_eq!((far(&machine, 3, 4), far(&machine, 3, 5)), ((4, 4), (5, 4)));
    let classes = [0, 4, 6, 8].map(|port| network.class[network.slot(RouterId(4), Port(port)).index()]);
    assert_eq!(classes, [ClassId::NODE, ClassId(1), ClassId(2), ClassId(3)]);
}

/// Catches a port that leads elsewhere: from (1, 1, 0) to (2, 0, 0), and around. Worked out by hand.
#[test]
fn ports_towards_a_router_by_hand() {
    let machine = build(&spec(&[3, 2, 2], &[1, 2, 1], 2));
    let [here, there, own_row] = addresses(&machine, [4, 2, 5]);
    let to = machine.offset(here, there);
    assert_eq!(to.distance, 2);
    // Ports 2 and 3 lead to x = 0 and 2, ports 4 and 5 to y = 0, port 6 to z = 1.
    assert_eq!(machine.minimal(to), [3, 4, 5]);
    assert_eq!((machine.aside(to), machine.first_dimension(to)), (&[2][..], &[3][..]));
    let to = machine.offset(here, own_row);
    assert_eq!((to.distance, machine.minimal(to), machine.aside(to)), (1, &[3][..], &[2][..]));
    let line = build(&spec(&[5], &[2], 1));
    let [first, last] = addresses(&line, [0, 4]);
    let to = line.offset(last, first);
    assert_eq!((line.minimal(to), line.aside(to)), (&[1, 2][..], &[3, 4, 5, 6, 7, 8][..]));
    assert_eq!((line.network.groups, line.diameter(), machine.diameter()), (5, 1, 3));
}

/// Catches a refusal that went missing, and one that names the wrong number.
#[test]
fn refusals() {
    let text = |spec: HyperXSpec| HyperX::build(&spec, &Failures::default()).expect_err("it is refused").to_string();
    assert_eq!(text(spec(&[], &[], 1)), "topology.dimensions: number-of-dimensions (found = 0, most = 3)");
    assert_eq!(text(spec(&[2; 4], &[1; 4], 1)), "topology.dimensions: number-of-dimensions (found = 4, most = 3)");
    assert_eq!(
        text(spec(&[2, 2], &[1], 1)),
        "topology.dimension_links: links-of-dimensions (found = 1, dimensions = 2)"
    );
    assert_eq!(text(spec(&[2, 0], &[1, 1], 1)), "topology.dimensions[1]: zero");
    assert_eq!(text(spec(&[2, 2], &[0, 1], 1)), "topology.dimension_links[0]: zero");
    assert_eq!(text(spec(&[2], &[1], 0)), "topology.nodes_per_router: zero");
    assert_eq!(text(HyperXSpec { rails: 0, ..spec(&[2], &[1], 1) }), "topology.rails: zero");
    assert_eq!(
        text(spec(&[30_000, 2_770], &[1, 1], 1)),
        "topology: machine-too-large (what = `ports per router`, found = 32769, most = 32768)"
    );
    assert!(text(spec(&[300, 257, 2], &[1; 3], 1)).contains("positions in a slice"));
    assert!(text(spec(&[u32::MAX; 3], &[u32::MAX; 3], u32::MAX)).contains("machine-too-large"));
    // 256 x 256 positions still have an address.
    assert_eq!(build(&spec(&[256, 256, 1], &[1; 3], 1)).network.routers(), 1 << 16);
}

/// Catches a path over what has failed: without its cable to router 1, router 0 of a row of three reaches it by router
/// 2, and a router that no path reaches is refused unless it has failed itself.
#[test]
fn failures_by_hand() {
    let row = spec(&[3], &[1], 1);
    let with = |links: Vec<[u32; 2]>, routers: Vec<u32>| HyperX::build(&row, &Failures { links, routers });
    // Ports 1 and 2 of router 0 lead to routers 1 and 2.
    let machine = with(vec![[0, 1]], vec![]).expect("a path is left");
    let [a, b, c] = addresses(&machine, [0, 1, 2]);
    assert_eq!((machine.diameter(), machine.has_failures()), (2, true));
    let to = machine.offset(a, b);
    assert_eq!((to.distance, machine.minimal(to), machine.aside(to)), (2, &[2][..], &[][..]));
    // To router 2 there is no detour of two links any more: the cable to router 1 is the failed one.
    let to = machine.offset(a, c);
    assert_eq!((to.distance, machine.minimal(to), machine.aside(to)), (1, &[2][..], &[][..]));
    let cut = with(vec![[0, 1], [0, 2]], vec![]).expect_err("router 0 is apart");
    assert_eq!(cut.to_string(), "failures: routers-cut-apart (routers = [1, 0])");
    assert!(with(vec![[0, 1], [0, 2]], vec![0]).is_ok());
}

proptest! {
    /// Catches a cable that is wired to one side only, a row that lacks one, and ports that do not lead where they
    /// should: against the coordinates of the routers.
    #[test]
    fn rows_are_complete_and_ports_lead_nearer(
        sizes in prop::collection::vec((1..5_u32, 1..3_u32), 1..=3), nodes in 1..3_u32, rails in 1..3_u32,
    ) {
        let (dimensions, links): (Vec<u32>, Vec<u32>) = sizes.into_iter().unzip();
        let machine = build(&HyperXSpec { rails, ..spec(&dimensions, &links, nodes) });
        let network = &machine.network;
        let coordinates = |r: RouterId| -> Vec<u32> {
            let place = |rest: &mut u32, size: &u32| { let at = *rest % size; *rest /= size; Some(at) };
            dimensions.iter().scan(r.0, place).collect()
        };
        let differing = |a: RouterId, b: RouterId| -> Vec<usize> {
            let (a, b) = (coordinates(a), coordinates(b));
            (0..dimensions.len()).filter(|&d| a[d] != b[d]).collect()
        };
        let routers = || (0..network.routers() as u32).map(RouterId);
        for (a, b) in routers().flat_map(|a| routers().map(move |b| (a, b))) {
            let slots = network.first_slot[a.index()]..network.first_slot[a.index() + 1];
            let ends: Vec<(u16, RouterId, ClassId)> = slots
                .filter_map(|slot| match network.peer[slot as usize] {
                    Peer::Router(far) => {
                        assert_eq!(network.peer[far.index()], Peer::Router(SlotId(slot)));
                        let port = network.port_of(SlotId(slot)).1.0;
                        Some((port, network.router_of_slot[far.index()], network.class[slot as usize]))
                    }
                    _ => None,
                })
                .collect();
            let between = differing(a, b);
            let cables = ends.iter().filter(|&&(_, far, _)| far == b).count() as u32;
            prop_assert_eq!(cables, if between.len() == 1 { links[between[0]] } else { 0 });
            if a == b {
                continue;
            }
            let [from, target] = [a, b].map(|r| network.address_of_router[r.index()]);
            prop_assert_eq!(machine.router(from), a);
            let to = machine.offset(from, target);
            prop_assert_eq!(usize::from(to.distance), between.len());
            let leading = |wanted: usize| -> Vec<u16> {
                ends.iter().filter(|&&(_, far, _)| differing(far, b).len() == wanted).map(|&(port, ..)| port).collect()
            };
            prop_assert_eq!(machine.minimal(to), leading(between.len() - 1));
            prop_assert_eq!(machine.aside(to), leading(between.len()));
            let first = machine.first_dimension(to);
            let of_first: Vec<u16> = ends
                .iter()
                .filter(|(port, _, class)| class.index() == between[0] + 1 && machine.minimal(to).contains(port))
                .map(|&(port, ..)| port)
                .collect();
            prop_assert_eq!(first, of_first);
        }
    }
}
