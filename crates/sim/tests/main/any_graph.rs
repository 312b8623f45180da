//! Any graph: times by hand, the machines of other families written as graphs, paths, and what is refused.

use std::collections::{BTreeMap, BTreeSet};

use odonata_error::{Error, ErrorKind, path};
use odonata_sim::fabric::RouterPlace;
use odonata_sim::routing::AllPaths;
use odonata_sim::routing::deadlock::{VcAddress, explore};
use odonata_sim::routing::graph::GraphRouting;
use odonata_sim::routing::show::paths;
use odonata_sim::spec::{
    Arrival, Failures, Gateways, JobSpec, MAX_CHANNELS, Pattern, Record, RoutingSpec, Select, Spread, TopologySpec, Via,
};
use odonata_sim::{Spec, check};
use odonata_testkit::Choices;
use odonata_topology::{
    DragonflyArrangement, DragonflySpec, FatTreeSpec, GraphSpec, Machine, Peer, RailsOn, RouterId, SlotId, TreeRails,
};

use crate::decisions::{Taken, branches, decisions, entries};
use crate::graph::acyclic;
use crate::support::{PACKET, job, link, link_mut, machine, output, ser, stream};

const SELECTS: [Select; 3] = [Select::Random, Select::Hash, Select::LeastLoaded];

fn minimal(select: Select) -> RoutingSpec {
    RoutingSpec::Minimal { select, gateways: None }
}

fn valiant(select: Select) -> RoutingSpec {
    RoutingSpec::Valiant { via: Via::Router, select, inside: None, gateways: None }
}

fn ugal(other_candidates: u8) -> RoutingSpec {
    RoutingSpec::UgalHops { other_candidates, bias_bytes: 0 }
}

fn autonet(select: Select) -> RoutingSpec {
    RoutingSpec::Autonet { select }
}

/// Each router has a node; all links are of one class unless they say otherwise.
fn routers(count: u32, links: &[[u32; 3]]) -> GraphSpec {
    let classes = links.iter().map(|link| link[2]).max().unwrap_or(1);
    let weights = (0..classes).map(|_| 1).collect();
    GraphSpec { routers: count, nics: (0..count).collect(), rails: 1, weights, links: links.to_vec() }
}

/// All links have 10 GB/s; a router decides 100 ns after it has a packet. There are channels for every routing.
fn spec(topology: GraphSpec, routing: RoutingSpec, jobs: Vec<JobSpec>) -> Spec {
    let mut spec = crate::support::spec(machine([1, 1, 1, 1, 0], None), routing, jobs);
    let classes = &odonata_topology::graph::CLASSES[..=topology.weights.len()];
    spec.fabric.links = classes.iter().map(|&class| (class.to_owned(), link(10))).collect::<BTreeMap<_, _>>();
    spec.fabric.channels = MAX_CHANNELS;
    spec.topology = TopologySpec::Graph(topology);
    spec
}

/// Catches links that all have the times of one class: seven in a row, each with its own bandwidth and latency.
#[test]
fn one_packet_takes_the_sum_of_its_parts() {
    let links: Vec<[u32; 3]> = (0..7).map(|r| [r, r + 1, r + 1]).collect();
    for routing in SELECTS.map(minimal).into_iter().chain([ugal(1)]) {
        let mut spec = spec(routers(8, &links), routing.clone(), vec![stream(0, 7, PACKET)]);
        let mut expected = 2 * ser(PACKET, 10) + 8 * 100_000;
        for (number, class) in (1..).zip(&odonata_topology::graph::CLASSES[1..]) {
            *link_mut(&mut spec, class) = link(number);
            link_mut(&mut spec, class).latency_ps = 1_000 * number * number;
            expected += ser(PACKET, number) + 1_000 * number * number;
        }
        let totals = &output(&spec).jobs[0];
        assert_eq!((totals.latency.max, totals.hops, totals.minimal), (expected, 7, 1), "{routing:?}");
    }
}

/// Catches a Valiant path that goes straight, and one that turns more than once: a line of three has one other router,
/// and so has one of three with nodes and more without. On its way to 2 a packet from 0 to 1 stays at 1.
#[test]
fn a_packet_of_valiant_goes_through_the_third_router() {
    let line = routers(3, &[[0, 1, 1], [1, 2, 1]]);
    let star = GraphSpec { routers: 4, ..routers(3, &[[0, 3, 1], [1, 3, 1], [2, 3, 1]]) };
    for select in SELECTS {
        let totals = |graph: &GraphSpec, to: u32| {
            let totals = &output(&spec(graph.clone(), valiant(select), vec![stream(0, to, PACKET)])).jobs[0];
            (totals.hops, totals.minimal)
        };
        assert_eq!((totals(&line, 2), totals(&line, 1), totals(&star, 1)), ((2, 0), (1, 0), (4, 0)));
        // Two routers have no third: the packet goes straight.
        assert_eq!(totals(&routers(2, &[[0, 1, 1]]), 1), (1, 1));
    }
}

/// The machine of another family as a graph, with its classes of links; `numbers` are those that its routers get.
fn as_graph(topology: &TopologySpec, weights: Vec<u32>) -> GraphSpec {
    let machine = Machine::build(topology, &Failures::default()).expect("it is a machine");
    let network = machine.network();
    let has_nodes = |r: &u32| network.node_slot.iter().any(|slot| network.router_of_slot[slot.index()].0 == *r);
    let all = 0..network.routers() as u32;
    let order: Vec<u32> = all.clone().filter(has_nodes).chain(all.filter(|r| !has_nodes(r))).collect();
    let number = |r: RouterId| order.iter().position(|&other| other == r.0).expect("all have a number") as u32;
    let mut links = Vec::new();
    for (slot, peer) in network.peer.iter().enumerate() {
        if let Peer::Router(far) = peer
            && far.index() > slot
        {
            let [a, b] = [SlotId(slot as u32), *far].map(|slot| number(network.router_of_slot[slot.index()]));
            links.push([a, b, network.class[slot].0.into()]);
        }
    }
    let nics = network.node_slot.iter().map(|slot| number(network.router_of_slot[slot.index()])).collect();
    GraphSpec { routers: order.len() as u32, nics, rails: 1, weights, links }
}

fn dragonfly() -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups: 9,
        routers: 4,
        nodes_per_router: 2,
        local_links: 1,
        global_links_per_router: 2,
        links_per_pair: None,
        arrangement: DragonflyArrangement::Palmtree,
        arrangement_seed: None,
        spread: odonata_topology::Spread::Consecutive,
        pair_links: Vec::new(),
        last_group_routers: None,
        global_links: None,
        rails: 1,
        rails_on: RailsOn::OneRouter,
    })
}

fn fat_tree() -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        pods: 4,
        leaves: 2,
        spines: 2,
        cores: 4,
        nodes_per_leaf: 2,
        leaf_links: 1,
        core_links: 1,
        rails: 1,
        rails_on: TreeRails::OneLeaf,
    })
}

/// A family with its routing, and the same machine as a graph: the classes of links, their GB/s and latencies in ns.
fn both(
    family: TopologySpec,
    routing: RoutingSpec,
    select: Select,
    classes: [(&str, u64, u64); 2],
    jobs: &[JobSpec],
) -> [Spec; 2] {
    // As long as a packet takes for the link and the decision behind it, in nanoseconds.
    let weights = classes.map(|(_, gigabytes, ns)| (ser(PACKET, gigabytes) / 1_000 + ns + 100) as u32);
    let mut graph = spec(as_graph(&family, weights.to_vec()), minimal(select), jobs.to_vec());
    let mut family = Spec { topology: family, routing, ..graph.clone() };
    family.fabric.links.clear();
    family.fabric.links.insert("node".to_owned(), link(10));
    for ((name, gigabytes, ns), own) in classes.into_iter().zip(["link", "link2"]) {
        let mut link = link(gigabytes);
        link.latency_ps = 1_000 * ns;
        family.fabric.links.insert(name.to_owned(), link);
        *link_mut(&mut graph, own) = link;
    }
    [family, graph]
}

const DRAGONFLY_LINKS: [(&str, u64, u64); 2] = [("local", 10, 20), ("global", 10, 300)];
const TREE_LINKS: [(&str, u64, u64); 2] = [("leaf", 10, 20), ("core", 10, 60)];

fn of_dragonfly(select: Select) -> RoutingSpec {
    RoutingSpec::Minimal { select, gateways: Some(Gateways::Nearest) }
}

/// Catches a graph whose shortest paths are not those of the family: every pair of nodes has the same latency alone.
#[test]
fn a_family_as_a_graph_has_the_same_zero_load_latencies() {
    let tree = RoutingSpec::UpDown { spread: Spread::Hash };
    for (family, routing, links, nodes) in
        [(dragonfly(), of_dragonfly(Select::Random), DRAGONFLY_LINKS, 72), (fat_tree(), tree, TREE_LINKS, 16)]
    {
        let mut seen = BTreeSet::new();
        for (from, to) in (0..3).flat_map(|from| (0..nodes).map(move |to| (from, to))).filter(|(from, to)| from != to) {
            let specs = both(family.clone(), routing.clone(), Select::Random, links, &[stream(from, to, PACKET)]);
            let [family, graph] = specs.map(|spec| output(&spec).jobs[0].latency.max);
            assert_eq!(family, graph, "{from} to {to}");
            seen.insert(family);
        }
        assert!(seen.len() >= 3, "{seen:?}");
    }
}

/// Accepted load in the second half of a run at full offered load, in bytes.
fn accepted(mut spec: Spec) -> u64 {
    const END_PS: u64 = 60_000_000;
    for class in spec.fabric.links.keys().cloned().collect::<Vec<_>>() {
        link_mut(&mut spec, &class).buffer_bytes = 32 * PACKET;
    }
    spec.stop.jobs.clear();
    let [half, all] = [END_PS / 2, END_PS].map(|at| {
        spec.stop.at_ps = Some(at);
        output(&spec).jobs[0].bytes
    });
    all - half
}

/// Catches paths that are unevenly used: under full load both accept about as much. (They draw other paths, and their
/// channels have other packets.)
#[test]
fn a_family_as_a_graph_saturates_at_the_same_load() {
    let tree = RoutingSpec::UpDown { spread: Spread::LeastLoaded };
    for (family, routing, links, nodes) in
        [(dragonfly(), of_dragonfly(Select::LeastLoaded), DRAGONFLY_LINKS, 72), (fat_tree(), tree, TREE_LINKS, 16)]
    {
        let mut job = job("all", (0..nodes).collect(), Pattern::UniformRandom {}, PACKET, ser(PACKET, 10), 1);
        (job.traffic_mut().intervals, job.traffic_mut().arrival, job.record) =
            (None, Arrival::Poisson {}, Record::Nothing);
        let [family, graph] = both(family, routing, Select::LeastLoaded, links, &[job]).map(accepted);
        let ratio = graph as f64 / family as f64;
        println!("{family} and {graph} bytes: {ratio}");
        assert!((0.93..1.07).contains(&ratio), "{ratio}");
    }
}

/// Catches a comparison without lengths: two nodes of a router send to the next router of a ring of five. Alone, the
/// packets go straight; behind a queue they go around.
#[test]
fn ugal_leaves_a_queue() {
    let ring: Vec<[u32; 3]> = (0..5).map(|r| [r, (r + 1) % 5, 1]).collect();
    let mut graph = routers(5, &ring);
    graph.nics = vec![0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4];
    let jobs = |senders: u32| (0..senders).map(|node| stream(node, 4 + node, 40 * PACKET)).collect::<Vec<_>>();
    let share = |routing: RoutingSpec, senders: u32| {
        let output = output(&spec(graph.clone(), routing, jobs(senders)));
        let sum = |of: fn(&odonata_sim::output::JobTotals) -> u64| output.jobs.iter().map(of).sum::<u64>();
        sum(|job| job.minimal) as f64 / sum(|job| job.packets) as f64
    };
    assert!(share(ugal(2), 1) > 0.99 && share(minimal(Select::LeastLoaded), 4) > 0.99);
    let other = share(ugal(2), 4);
    assert!((0.5..0.95).contains(&other), "{other}");
    let biased = RoutingSpec::UgalHops { other_candidates: 2, bias_bytes: 1_000_000 };
    assert!(share(biased, 4) > 0.99);
}

/// Catches paths that `odonata show` forgets: around a ring of four there are two shortest paths to the opposite router.
/// To the next one, a packet through another router goes straight (it never passes its destination), or around, or back.
#[test]
fn all_paths_by_hand() {
    let ring: Vec<[u32; 3]> = (0..4).map(|r| [r, (r + 1) % 4, 1]).collect();
    let count = |routing: RoutingSpec, to: u32| {
        let spec = spec(routers(4, &ring), routing, vec![stream(0, to, PACKET)]);
        let all = paths(&spec, 0, to, 100).expect("they exist");
        (all.total, all.first.iter().filter(|path| path.minimal).count())
    };
    assert_eq!((count(minimal(Select::Random), 2), count(minimal(Select::Random), 1)), ((2, 2), (1, 1)));
    assert_eq!((count(valiant(Select::Random), 2), count(valiant(Select::Random), 1)), ((2, 0), (3, 0)));
    assert_eq!(count(ugal(1), 1), (3, 1));
}

fn routings() -> Vec<RoutingSpec> {
    let rising = [minimal(Select::Random), minimal(Select::LeastLoaded), valiant(Select::Random), ugal(1), ugal(2)];
    rising.into_iter().chain([autonet(Select::Random), autonet(Select::LeastLoaded)]).collect()
}

/// A machine of the generator with all routings, if there are channels for them.
fn made(seed: u64) -> Option<GraphRouting> {
    let mut spec = odonata_testkit::graph_spec(seed);
    let Ok(Machine::Graph(machine)) = spec.machine() else { panic!("seed {seed} is no graph") };
    spec.fabric.channels = MAX_CHANNELS;
    let routings: Vec<_> = routings().into_iter().map(|routing| (path!["routing"], routing)).collect();
    GraphRouting::new(machine, &spec.fabric, &routings).ok()
}

/// The working routers with nodes that paths join.
fn ends(routing: &GraphRouting, part: u32) -> Vec<RouterId> {
    let network = routing.network();
    let ends = routing.machine().ends(RouterId(part)).iter().map(|&r| RouterId(r));
    ends.filter(|&r| network.router_works(r)).collect()
}

/// Every path on machines of the generator ends, avoids what has failed, and uses channels in rising order; the graph of
/// channels of all routings together has no cycle. It has one as soon as channels are not told apart.
#[test]
fn no_packets_can_wait_in_a_cycle() {
    let (mut total, mut merged_cycles, mut broken) = (0, 0, 0);
    for seed in 0..150 {
        let Some(routing) = made(seed) else { continue };
        let network = routing.network();
        broken += u32::from(!network.failed.is_empty());
        let (mut edges, mut merged) = (BTreeSet::new(), BTreeSet::new());
        let ends = ends(&routing, 0);
        for (&from, &to) in ends.iter().flat_map(|from| ends.iter().map(move |to| (from, to))) {
            for number in 0..routings().len() as u8 {
                let ends = explore(&routing, number, from, to, &mut |step| {
                    let (router, port, channel) = step.goes;
                    assert!(!network.has_failed(network.slot(router, port)), "seed {seed}: a failed link is used");
                    assert!(channel < routing.max_hops(number).max(1), "seed {seed}: channel {channel}");
                    edges.extend(step.came.map(|came| (came, step.goes)));
                    let zero = |(router, port, _): VcAddress| (router, port, 0);
                    merged.extend(step.came.map(|came| (zero(came), zero(step.goes))));
                });
                assert!(ends, "seed {seed}: a path from {from} to {to} does not end");
            }
        }
        assert!(acyclic(&edges), "seed {seed}");
        merged_cycles += u32::from(!acyclic(&merged));
        total += edges.len();
    }
    assert!(total > 10_000 && merged_cycles > 50, "only {total} edges, {merged_cycles} cycles without channels");
    assert!(broken > 20, "{broken} machines with failures");
}

/// Catches paths that go up after they have come down, on the ring of five with router 0 as its root: from 4 to 2 the two
/// links by 3 would go down and up, so packets go by 0. The way back from 2 is as long. Other paths are the shortest.
#[test]
fn up_and_down_by_hand() {
    let ring: Vec<[u32; 3]> = (0..5).map(|r| [r, (r + 1) % 5, 1]).collect();
    let path = |from: u32, to: u32| {
        let spec = spec(routers(5, &ring), autonet(Select::Random), vec![stream(from, to, PACKET)]);
        let all = paths(&spec, from, to, 100).expect("they exist");
        assert_eq!((all.total, all.first[0].minimal), (1, true));
        assert!(all.first[0].hops.iter().all(|hop| hop.channel == 0));
        all.first[0].hops.iter().map(|hop| hop.router).collect::<Vec<_>>()
    };
    assert_eq!((path(4, 2), path(2, 4)), (vec![4, 0, 1, 2], vec![2, 1, 0, 4]));
    assert_eq!((path(1, 3), path(3, 1), path(2, 3)), (vec![1, 2, 3], vec![3, 2, 1], vec![2, 3]));
}

/// Catches packets that forget that they have come down: from 1 to 7, by 5, the way by 4 is as short, but 4 is above 5.
/// A packet that begins at 5 may take it.
#[test]
fn a_packet_that_has_come_down_stays_below() {
    let links = [[0, 1], [0, 2], [0, 3], [1, 5], [2, 4], [3, 6], [5, 6], [6, 7], [5, 4], [4, 7]];
    let graph = routers(8, &links.map(|[a, b]| [a, b, 1]));
    let ways = |from: u32| {
        let spec = spec(graph.clone(), autonet(Select::Random), vec![stream(from, 7, 40 * PACKET)]);
        let all = paths(&spec, from, 7, 100).expect("they exist");
        assert_eq!(output(&spec).jobs[0].packets, 40);
        all.total
    };
    assert_eq!((ways(1), ways(5)), (1, 2));
}

/// Catches a cycle of waiting packets on the only channel, and paths that go up again: all of `autonet` alone on machines
/// of the generator. Shortest paths on one channel have cycles there.
#[test]
fn one_channel_is_enough_to_go_up_and_down() {
    let (mut checked, mut shortest_cycles, mut longer) = (0, 0, 0);
    for seed in 0..300 {
        let Some(routing) = made(seed) else { continue };
        let ends = ends(&routing, 0);
        let mut edges = [BTreeSet::new(), BTreeSet::new()];
        for (&from, &to) in ends.iter().flat_map(|from| ends.iter().map(move |to| (from, to))) {
            for (edges, number) in edges.iter_mut().zip([5, 0]) {
                explore(&routing, number, from, to, &mut |step| {
                    assert!(number == 0 || step.goes.2 == 0, "seed {seed}");
                    let zero = |(router, port, _): VcAddress| (router, port, 0);
                    edges.extend(step.came.map(|came| (zero(came), zero(step.goes))));
                });
            }
            longer += u32::from(from != to && routing.max_hops(5) > routing.max_hops(0));
        }
        assert!(acyclic(&edges[0]), "seed {seed}");
        shortest_cycles += u32::from(!acyclic(&edges[1]));
        checked += edges[0].len();
    }
    assert!(checked > 2_000 && shortest_cycles > 30, "{checked} edges, {shortest_cycles} cycles of shortest paths");
    assert!(longer > 0, "no path is longer than a shortest one");
}

/// Catches packets that stop: all nodes of a torus of 5 x 5 send as fast as they can, on one channel of two packets.
#[test]
fn a_full_torus_goes_on_with_one_channel() {
    let at = |x: u32, y: u32| x % 5 * 5 + y % 5;
    let links = |x: u32, y: u32| [[at(x, y), at(x + 1, y), 1], [at(x, y), at(x, y + 1), 1]];
    let links: Vec<[u32; 3]> = (0..25).flat_map(|n| links(n / 5, n % 5)).collect();
    for select in SELECTS {
        let all = job("all", (0..25).collect(), Pattern::UniformRandom {}, 4 * PACKET, ser(PACKET, 10), 60);
        let mut spec = spec(routers(25, &links), autonet(select), vec![all]);
        spec.fabric.channels = 1;
        for link in spec.fabric.links.values_mut() {
            link.buffer_bytes = 2 * PACKET;
        }
        assert_eq!(output(&spec).jobs[0].delivered, 25 * 60);
    }
}

/// Catches a path that is proved and listed and never taken, and the reverse: with random loads and keys the decisions
/// at a router are exactly its branches, and packets enter in exactly the states of `starts`.
#[test]
fn decisions_and_branches_know_the_same_paths() {
    let mut c = Choices::new(6);
    let mut states = 0;
    for seed in 0..60 {
        let Some(routing) = made(seed) else { continue };
        let network = routing.network();
        let ends = ends(&routing, 0);
        for number in 0..routings().len() as u8 {
            let (mut router, to) = (c.of(&ends), c.of(&ends));
            if router == to {
                continue;
            }
            let [from, destination] = [router, to].map(|r| network.address_of_router[r.index()]);
            let starts = routing.starts(from, destination, number);
            let entered = entries(&routing, from, destination, number, &mut c);
            let known: BTreeSet<_> = starts.iter().map(|packet| (packet.intermediate, packet.diverted())).collect();
            assert_eq!(entered, known, "seed {seed}, {:?}", routings()[usize::from(number)]);
            let mut packet = c.of(&starts);
            while router != to {
                let place = RouterPlace::of(network, router);
                let known = branches(&routing, place, &packet);
                let decided = decisions(&routing, place, &packet, &known, network.peer.len(), &mut c);
                // A longer path by the port of a minimal one never weighs less.
                let straight: BTreeSet<u16> = decided.iter().filter(|t| !t.4).map(|t| t.0).collect();
                let loses = |t: &Taken| t.4 && packet.hop() == 0 && straight.contains(&t.0);
                let known: BTreeSet<Taken> = known.into_iter().filter(|t| decided.contains(t) || !loses(t)).collect();
                assert_eq!(decided, known, "seed {seed}, {:?}", routings()[usize::from(number)]);
                states += 1;
                (router, packet) = routing.follow(router, c.of(&routing.branches(place, &packet)));
            }
        }
    }
    assert!(states > 200, "only {states} states");
}

/// The error of a specification on a ring of five routers.
fn refusal(routing: RoutingSpec, channels: u8, failures: Failures) -> Result<(), Error> {
    let ring: Vec<[u32; 3]> = (0..5).map(|r| [r, (r + 1) % 5, 1]).collect();
    let mut spec = spec(routers(5, &ring), routing, vec![stream(0, 1, PACKET)]);
    (spec.fabric.channels, spec.failures) = (channels, failures);
    check(&spec)
}

/// Catches a routing that is silently replaced by another, options that are ignored, and too few channels.
#[test]
fn what_does_not_fit_is_refused() {
    let none = Failures::default();
    let choices = vec!["minimal", "valiant", "ugal-hops", "autonet"];
    let other = |routing| ErrorKind::RoutingNotForMachine { routing, machine: "graph", choices: choices.clone() };
    let up_down = RoutingSpec::UpDown { spread: Spread::Hash };
    assert_eq!(refusal(up_down, 8, none.clone()), Err(other("up-down").at(path!["routing", "name"])));
    for via in [Via::Spine, Via::Leaf, Via::Group] {
        let routing = RoutingSpec::Valiant { via, select: Select::Random, inside: None, gateways: None };
        assert_eq!(refusal(routing, 8, none.clone()), Err(other("valiant").at(path!["routing", "name"])));
    }
    let gateways = RoutingSpec::Minimal { select: Select::Random, gateways: Some(Gateways::All) };
    let needless = ErrorKind::NeedlessGateways { machine: "graph" };
    assert_eq!(refusal(gateways, 8, none.clone()), Err(needless.at(path!["routing", "gateways"])));
    // A ring of five has D = 2; without a link it is a line with D = 4.
    let broken = Failures { links: vec![[0, 1]], routers: Vec::new() };
    for (failures, diameter) in [(none, 2), (broken, 4)] {
        for (routing, need) in
            [(minimal(Select::Random), diameter), (valiant(Select::Hash), 2 * diameter), (ugal(1), 2 * diameter)]
        {
            assert_eq!(refusal(routing.clone(), need, failures.clone()), Ok(()));
            let (name, have) = (routing.name(), u32::from(need) - 1);
            let kind = ErrorKind::TooFewChannels { routing: name, need: need.into(), have };
            assert_eq!(refusal(routing, need - 1, failures.clone()), Err(kind.at(path!["fabric", "channels"])));
        }
    }
}
