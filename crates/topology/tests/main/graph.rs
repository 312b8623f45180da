//! Any graph: numbering by hand, counts, shortest paths, failures, rails, and what cannot be built.

use odonata_topology::{ClassId, Failures, Graph, GraphSpec, NodeId, Peer, Port, RouterId};

fn spec(routers: u32, nics: &[u32], links: &[[u32; 3]]) -> GraphSpec {
    let classes = links.iter().map(|link| link[2]).max().unwrap_or(1);
    GraphSpec {
        routers,
        nics: nics.to_vec(),
        rails: 1,
        weights: (0..classes).map(|_| 1).collect(),
        links: links.to_vec(),
    }
}

fn build(spec: &GraphSpec) -> Graph {
    Graph::build(spec, &Failures::default()).unwrap_or_else(|e| panic!("{spec:?}: {e}"))
}

fn minimal(machine: &Graph, from: u32, to: u32) -> Vec<u16> {
    machine.minimal(RouterId(from), RouterId(to)).to_vec()
}

/// The links of a ring of six routers, of which 0, 1 and 2 have nodes: 0 - 3 - 1 - 4 - 2 - 5 - 0, and a second link
/// between 0 and 3, of another class.
const RING: [[u32; 3]; 7] = [[0, 3, 1], [3, 1, 1], [4, 1, 1], [4, 2, 1], [2, 5, 1], [0, 5, 1], [3, 0, 2]];

/// Catches a wiring in another order. Worked out by hand.
#[test]
fn ports_by_hand() {
    let machine = build(&spec(6, &[0, 0, 1, 2], &RING));
    let network = &machine.network;
    assert_eq!((network.routers(), network.nodes(), network.groups), (6, 4, 1));
    assert_eq!((network.classes, network.cables()), (&["node", "link", "link2"][..], vec![4, 6, 1]));
    assert_eq!((network.first_global, network.separate_rails), (ClassId(3), false));
    assert_eq!([0, 1, 2, 3].map(|node| network.router_of_node(NodeId(node)).0), [0, 0, 1, 2]);
    // Router 0 has two nodes, then its links in the order of the list: two to 3 and one to 5 between them.
    assert_eq!((network.ports(RouterId(0)), network.ports_down(RouterId(0))), (5, 2));
    let far = |router: u32, port: u16| {
        let Peer::Router(far) = network.peer[network.slot(RouterId(router), Port(port)).index()] else {
            panic!("port {port} of router {router} leads to no router")
        };
        let (to, at) = network.port_of(far);
        (to.0, at.0)
    };
    assert_eq!([2, 3, 4].map(|port| far(0, port)), [(3, 0), (5, 1), (3, 2)]);
    assert_eq!([0, 1].map(|port| far(4, port)), [(1, 2), (2, 1)]);
    assert_eq!(network.class[network.slot(RouterId(0), Port(4)).index()], ClassId(2));
}

/// Catches a port that leads no nearer, and a diameter of routers without nodes.
#[test]
fn shortest_paths_by_hand() {
    let machine = build(&spec(6, &[0, 0, 1, 2], &RING));
    // From 0 to 1 over 3, by either link; from 0 to 2 over 5; from 3 to 2 both ways around.
    assert_eq!((minimal(&machine, 0, 1), minimal(&machine, 0, 2)), (vec![2, 4], vec![3]));
    assert_eq!((minimal(&machine, 3, 2), machine.distance(RouterId(3), RouterId(2))), (vec![0, 1, 2], 3));
    assert_eq!((minimal(&machine, 1, 1), machine.distance(RouterId(1), RouterId(1))), (vec![], 0));
    assert_eq!((machine.diameter(), machine.ends(RouterId(5))), (2, &[0, 1, 2][..]));
}

/// Catches weights that are ignored: where links of the second class weigh 1 and the others 3, from 0 to 3 there is one
/// link only, and a detour of three light links is as short as a heavy one.
#[test]
fn weights_choose_among_paths() {
    let mut ring = spec(6, &[0, 0, 1, 2], &RING);
    ring.weights = vec![3, 1];
    let machine = build(&ring);
    assert_eq!((minimal(&machine, 0, 1), machine.diameter()), (vec![4], 2));
    // 0 - 1 weighs 3; 0 - 2 - 3 - 1 has three links of weight 1.
    let mut square = spec(4, &[0, 1, 2, 3], &[[0, 1, 1], [0, 2, 2], [2, 3, 2], [3, 1, 2]]);
    let ports = |weights: [u32; 2]| {
        let machine = build(&GraphSpec { weights: weights.to_vec(), ..square.clone() });
        (minimal(&machine, 0, 1), machine.distance(RouterId(0), RouterId(1)), machine.diameter())
    };
    assert_eq!((ports([1, 1]), ports([3, 1]), ports([4, 1])), ((vec![1], 1, 2), (vec![1, 2], 3, 3), (vec![2], 3, 3)));
    // Equal weights are those of links, whatever they are.
    square.weights = vec![7, 7];
    assert_eq!(build(&square).diameter(), 2);
}

/// Catches a refusal that went missing, and one that names the wrong number.
#[test]
fn refusals() {
    let text = |spec: GraphSpec| Graph::build(&spec, &Failures::default()).expect_err("it is refused").to_string();
    let good = spec(3, &[0, 1], &[[0, 1, 1], [1, 2, 1]]);
    assert_eq!(text(GraphSpec { routers: 0, ..good.clone() }), "topology.routers: zero");
    assert_eq!(text(GraphSpec { rails: 0, ..good.clone() }), "topology.rails: zero");
    assert_eq!(
        text(GraphSpec { weights: vec![], ..good.clone() }),
        "topology.weights: out-of-range (found = 0, least = 1, most = 7)"
    );
    assert_eq!(
        text(GraphSpec { weights: vec![1; 8], ..good.clone() }),
        "topology.weights: out-of-range (found = 8, least = 1, most = 7)"
    );
    assert_eq!(text(GraphSpec { weights: vec![1, 0], ..good.clone() }), "topology.weights[1]: zero");
    assert_eq!(text(GraphSpec { rails: 3, ..good.clone() }), "topology.nics: uneven-nics (nics = 2, rails = 3)");
    assert_eq!(text(spec(3, &[], &[[0, 1, 1]])), "topology.nics: uneven-nics (nics = 0, rails = 1)");
    assert_eq!(text(spec(3, &[0, 3], &[[0, 1, 1]])), "topology.nics[1]: no-such-router (router = 3, last = 2)");
    assert_eq!(
        text(spec(3, &[0, 1], &[[0, 1, 1], [5, 1, 1]])),
        "topology.links[1]: no-such-router (router = 5, last = 2)"
    );
    assert_eq!(text(spec(3, &[0, 1], &[[0, 1, 1], [2, 2, 1]])), "topology.links[1]: link-to-itself (router = 2)");
    let class = GraphSpec { links: vec![[0, 1, 2]], ..good.clone() };
    assert_eq!(text(class), "topology.links[0]: out-of-range (found = 2, least = 1, most = 1)");
    assert_eq!(
        text(spec(3, &[1, 0], &[[0, 1, 1], [1, 2, 1]])),
        "topology.nics: nodes-out-of-order (node = 1, routers = [1, 0])"
    );
    assert_eq!(
        text(spec(3, &[0, 2], &[[0, 1, 1], [1, 2, 1]])),
        "topology.nics: routers-out-of-order (routers = [1, 2])"
    );
    assert_eq!(text(spec(3, &[0, 1], &[[0, 2, 1]])), "topology.links: routers-cut-apart (routers = [0, 1])");
    // A path may have 254 links.
    let line = |routers: u32| {
        let nics: Vec<u32> = (0..routers).collect();
        spec(routers, &nics, &nics.iter().skip(1).map(|&to| [to - 1, to, 1]).collect::<Vec<_>>())
    };
    assert_eq!(build(&line(255)).diameter(), 254);
    assert_eq!(
        text(line(256)),
        "topology: machine-too-large (what = `links of a shortest path`, found = 255, most = 254)"
    );
    let crowd = spec(20_000, &(0..20_000).collect::<Vec<_>>(), &[]);
    assert!(text(crowd).contains("pairs of a router and a router with nodes"));
}

/// Catches a path over what has failed, and a machine that failures cut apart.
#[test]
fn failures_by_hand() {
    let ring = spec(6, &[0, 0, 1, 2], &RING);
    let with = |links: Vec<[u32; 2]>, routers: Vec<u32>| Graph::build(&ring, &Failures { links, routers });
    // Without router 3 all packets from 0 to 1 go the other way around.
    let machine = with(vec![], vec![3]).expect("a path is left");
    assert_eq!((minimal(&machine, 0, 1), machine.diameter()), (vec![3], 4));
    // Of two parallel links the other one is left.
    let machine = with(vec![[3, 0]], vec![]).expect("a path is left");
    assert_eq!(minimal(&machine, 0, 1), [4]);
    let cut = with(vec![[5, 0]], vec![4]).expect_err("router 2 is apart");
    assert_eq!(cut.to_string(), "failures: routers-cut-apart (routers = [2, 0])");
    assert!(with(vec![[5, 0]], vec![4, 2]).is_ok());
}

/// Catches rails that are joined or told apart wrongly.
#[test]
fn rails_may_have_networks_of_their_own() {
    // Two nodes with a NIC on 0 or 1, and one on 2 or 3.
    let two = |links: &[[u32; 3]]| GraphSpec { rails: 2, ..spec(4, &[0, 2, 1, 3], links) };
    let machine = build(&two(&[[0, 1, 1], [2, 3, 1]]));
    assert!(machine.network.separate_rails);
    assert_eq!((machine.ends(RouterId(3)), machine.diameter()), (&[2, 3][..], 1));
    let machine = build(&two(&[[0, 1, 1], [2, 3, 1], [1, 2, 1]]));
    assert!(!machine.network.separate_rails);
    assert_eq!((machine.ends(RouterId(3)), machine.diameter()), (&[0, 1, 2, 3][..], 3));
    // Four NICs in two networks: the first and the third, the second and the fourth.
    let planes = GraphSpec { rails: 4, ..spec(4, &[0, 1, 0, 1, 2, 3, 2, 3], &[[0, 2, 1], [1, 3, 1]]) };
    let machine = build(&planes);
    assert!(machine.network.separate_rails);
    assert_eq!((machine.ends(RouterId(2)), machine.diameter()), (&[0, 2][..], 1));
    // A network of NIC 0 of one node and NIC 1 of the other is none.
    let crossed = Graph::build(&two(&[[0, 3, 1], [2, 1, 1]]), &Failures::default()).expect_err("it is refused");
    assert_eq!(crossed.to_string(), "topology.links: routers-cut-apart (routers = [0, 1])");
}

/// Catches tables that take long: a ring of 1,000 routers with 10 nodes each, with links to the next, the tenth and the
/// hundredth. (14 is the eccentricity that a breadth-first search of another program finds.)
#[test]
fn ten_thousand_nodes() {
    let nics: Vec<u32> = (0..10_000).map(|node| node / 10).collect();
    let links: Vec<[u32; 3]> = (0..1_000).flat_map(|r| [1, 10, 100].map(|step| [r, (r + step) % 1_000, 1])).collect();
    let machine = build(&spec(1_000, &nics, &links));
    assert_eq!((machine.network.nodes(), machine.diameter()), (10_000, 14));
}
