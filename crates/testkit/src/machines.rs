//! Small machines of every kind, with and without failures.

use odonata_sim::spec::{Failures, TopologySpec};
use odonata_topology::{
    Arrangement, CascadeSpec, DragonflyArrangement, DragonflyPlus, DragonflyPlusSpec, DragonflySpec, FatTreeSpec,
    GraphSpec, HyperXSpec, Machine, Network, Peer, RailsOn, SlotId, Spread, TreeRails,
};

use super::choices::Choices;

/// More nodes make the runs slow and test nothing else.
const MOST_NODES: usize = 40;

/// A machine and its failures.
pub type Made = (TopologySpec, Failures);

/// A Dragonfly+ that is described by counts alone.
pub fn plain_dragonfly_plus(c: &mut Choices) -> Made {
    loop {
        let spec = counts(c);
        let nodes = spec.groups * spec.leaves * spec.nodes_per_leaf;
        if nodes >= 2 && DragonflyPlus::build(&spec).is_ok() {
            return (TopologySpec::DragonflyPlus(spec), Failures::default());
        }
    }
}

fn counts(c: &mut Choices) -> DragonflyPlusSpec {
    let groups = c.of(&[1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5]);
    DragonflyPlusSpec {
        groups,
        leaves: c.count(1, 3),
        spines: c.count(1, 3),
        nodes_per_leaf: c.count(1, 3),
        global_links_per_spine: c.count(1, 6),
        links_per_pair: (groups > 1 && c.chance(50)).then(|| c.count(1, 3)),
        arrangement: c.of(&[Arrangement::Linear, Arrangement::Parallel]),
        ..DragonflyPlusSpec::default()
    }
}

/// A Dragonfly+ with exceptions by pair, a smaller last group, listed cables, or failures.
pub fn odd_dragonfly_plus(c: &mut Choices) -> Made {
    loop {
        let mut spec = counts(c);
        let groups = spec.groups;
        if groups > 1 && c.chance(25) {
            spec.pair_links = pair_links(c, groups, 1);
        }
        if spec.leaves > 1 && c.chance(35) {
            spec.last_group_leaves = Some(c.count(1, spec.leaves - 1));
        }
        if groups > 1 && c.chance(35) {
            let last = spec.last_group_leaves.unwrap_or(spec.leaves);
            let spine = |c: &mut Choices, group: u32| {
                let leaves = if group + 1 == groups { last } else { spec.leaves };
                group * (spec.leaves + spec.spines) + leaves + c.count(0, spec.spines - 1)
            };
            let mut links = Vec::new();
            for (a, b) in pairs(groups) {
                for _ in 0..c.count(1, 3) {
                    let ends = [spine(c, a), spine(c, b)];
                    links.push(if c.chance(50) { ends } else { [ends[1], ends[0]] });
                }
            }
            c.shuffle(&mut links);
            (spec.links_per_pair, spec.pair_links) = (None, Vec::new());
            spec.arrangement = Arrangement::default();
            spec.global_links = Some(links);
            spec.global_links_per_spine = 8;
        }
        spec.rails = c.of(&[1, 1, 1, 2, 3]);
        if let Some(made) = broken(c, TopologySpec::DragonflyPlus(spec), 50, MOST_NODES) {
            return made;
        }
    }
}

/// A dragonfly or a cascade.
pub fn direct(c: &mut Choices) -> Made {
    loop {
        let groups = c.of(&[1, 2, 3, 3, 4, 4, 5, 6]);
        let topology = if c.chance(50) {
            let routers = c.count(1, 5);
            dragonfly(c, groups, routers)
        } else {
            let (rows, columns) = (c.count(1, 3), c.count(1, 3));
            cascade(c, groups, rows, columns)
        };
        if let Some(made) = broken(c, topology, 40, MOST_NODES) {
            return made;
        }
    }
}

/// A dragonfly or a cascade of some hundred nodes.
pub fn larger_direct(c: &mut Choices) -> Made {
    loop {
        let groups = c.count(5, 9);
        let topology = if c.chance(50) {
            let routers = c.count(6, 9);
            dragonfly(c, groups, routers)
        } else {
            let (rows, columns) = (c.count(2, 4), c.count(3, 5));
            cascade(c, groups, rows, columns)
        };
        if let Some(made) = broken(c, topology, 40, 250) {
            return made;
        }
    }
}

fn dragonfly(c: &mut Choices, groups: u32, routers: u32) -> TopologySpec {
    let (arrangement, arrangement_seed, global_links) = wiring(c, groups, routers);
    let (nodes_per_router, rails, rails_on) = nics(c);
    let arranged = global_links.is_none();
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers,
        nodes_per_router,
        local_links: c.of(&[1, 1, 1, 2, 3]),
        global_links_per_router: if arranged { c.count(1, 4) } else { 8 },
        links_per_pair: (arranged && groups > 1 && c.chance(40)).then(|| c.count(1, 3)),
        arrangement,
        arrangement_seed,
        spread: if arranged { c.of(&[Spread::Consecutive, Spread::RoundRobin]) } else { Spread::default() },
        pair_links: if arranged && groups > 1 && c.chance(30) { pair_links(c, groups, 0) } else { Vec::new() },
        last_group_routers: (routers > 1 && c.chance(25)).then(|| c.count(1, routers - 1)),
        global_links,
        rails,
        rails_on,
    })
}

fn cascade(c: &mut Choices, groups: u32, rows: u32, columns: u32) -> TopologySpec {
    let (arrangement, arrangement_seed, global_links) = wiring(c, groups, rows * columns);
    let (nodes_per_router, rails, rails_on) = nics(c);
    let arranged = global_links.is_none();
    TopologySpec::Cascade(CascadeSpec {
        groups,
        rows,
        columns,
        nodes_per_router,
        row_links: c.of(&[1, 1, 2]),
        column_links: c.of(&[1, 2, 3]),
        global_links_per_router: if arranged { c.count(1, 4) } else { 8 },
        links_per_pair: (arranged && groups > 1 && c.chance(40)).then(|| c.count(1, 3)),
        arrangement,
        arrangement_seed,
        spread: if arranged { c.of(&[Spread::Consecutive, Spread::RoundRobin]) } else { Spread::default() },
        pair_links: if arranged && groups > 1 && c.chance(30) { pair_links(c, groups, 0) } else { Vec::new() },
        last_group_rows: (rows > 1 && c.chance(25)).then(|| c.count(1, rows - 1)),
        global_links,
        rails,
        rails_on,
    })
}

/// An arrangement and its seed, or listed cables.
fn wiring(c: &mut Choices, groups: u32, routers: u32) -> (DragonflyArrangement, Option<u64>, Option<Vec<[u32; 2]>>) {
    use DragonflyArrangement::{Absolute, Circulant, Explicit, Palmtree, Random, Relative};
    if groups > 1 && c.chance(if groups == 2 { 50 } else { 20 }) {
        let mut links = Vec::new();
        for (a, b) in pairs(groups) {
            // A pair may have no cable, or more cables than `least-loaded` considers.
            for _ in 0..c.of(if groups == 2 { &[1, 3, 9, 12][..] } else { &[0, 1, 1, 2, 3] }) {
                // A smaller last group has the low router numbers, so these exist in every group.
                let ends = [a * routers + c.count(0, routers - 1), b * routers + c.count(0, routers - 1)];
                links.push(if c.chance(50) { ends } else { [ends[1], ends[0]] });
            }
        }
        c.shuffle(&mut links);
        return (Explicit, None, Some(links));
    }
    match c.of(&[Absolute, Relative, Circulant, Palmtree, Random]) {
        Random => (Random, Some(c.next()), None),
        other => (other, None, None),
    }
}

/// Node ports of a router, NICs per node, and the routers that they are attached to.
fn nics(c: &mut Choices) -> (u32, u32, RailsOn) {
    let rails = c.of(&[1, 1, 1, 2, 3]);
    match c.of(&[RailsOn::OneRouter, RailsOn::DifferentRouters]) {
        RailsOn::OneRouter => (rails * c.count(1, 2), rails, RailsOn::OneRouter),
        RailsOn::DifferentRouters if rails > 1 => (c.count(1, 3), rails, RailsOn::DifferentRouters),
        RailsOn::DifferentRouters => (c.count(1, 3), 1, RailsOn::OneRouter),
    }
}

/// A fat tree of two or three levels, perhaps with parallel cables, several rails or failures.
pub fn fat_tree(c: &mut Choices) -> Made {
    loop {
        let pods = c.of(&[1, 1, 2, 3, 4]);
        let spines = c.count(1, 3);
        let rails = c.of(&[1, 1, 1, 2, 3]);
        let rails_on = if rails > 1 {
            c.of(&[TreeRails::OneLeaf, TreeRails::DifferentLeaves, TreeRails::Planes])
        } else {
            TreeRails::OneLeaf
        };
        let leaves = if rails_on == TreeRails::DifferentLeaves { rails * c.count(1, 2) } else { c.count(1, 4) };
        let spec = FatTreeSpec {
            pods,
            leaves,
            spines,
            cores: if pods > 1 { spines * c.count(1, 3) } else { 0 },
            nodes_per_leaf: c.count(1, 3),
            leaf_links: c.of(&[1, 1, 2, 3]),
            core_links: c.of(&[1, 1, 2]),
            rails,
            rails_on,
        };
        if let Some(made) = broken(c, TopologySpec::FatTree(spec), 40, MOST_NODES) {
            return made;
        }
    }
}

/// A HyperX of one to three dimensions, perhaps with parallel cables, several rails or failures.
pub fn hyperx(c: &mut Choices) -> Made {
    loop {
        let count = c.of(&[1, 2, 2, 2, 3, 3]);
        let dimensions: Vec<u32> = (0..count).map(|_| c.of(&[1, 2, 2, 3, 3, 4, 5])).collect();
        let dimension_links = (0..count).map(|_| c.of(&[1, 1, 1, 2, 3])).collect();
        let (nodes_per_router, rails) = (c.count(1, 3), c.of(&[1, 1, 1, 2, 3]));
        let routers: u32 = dimensions.iter().product();
        let spec = HyperXSpec { dimensions, dimension_links, nodes_per_router, rails };
        // The reference finds shortest paths in a time that grows with the third power of the routers.
        if routers > 30 {
            continue;
        }
        if let Some(made) = broken(c, TopologySpec::HyperX(spec), 40, MOST_NODES) {
            return made;
        }
    }
}

/// Any graph: links of several classes, perhaps in parallel, routers with and without nodes, several NICs of a node on
/// one router, on any routers or in networks of their own, failures.
pub fn graph(c: &mut Choices) -> Made {
    loop {
        let rails = c.of(&[1, 1, 1, 2, 3]);
        let separate = rails > 1 && c.chance(40);
        let classes = c.of(&[1, 1, 2, 3, 7]);
        let (ends, others) = (c.count(1, 7), c.of(&[0, 0, 1, 2, 4]));
        let nodes_of: Vec<u32> = (0..ends).map(|_| c.of(&[1, 1, 2, 3])).collect();
        let planes = if separate { c.of(&[2, rails]) } else { 1 };
        let routers = planes * (ends + others);
        // Each plane has its routers with nodes first, and then come the others of all planes.
        let router = |plane: u32, number: u32| {
            if number < ends { plane * ends + number } else { planes * ends + plane * others + number - ends }
        };
        let one = c.chance(50);
        let mut nics = Vec::new();
        for (end, &nodes) in (0..ends).zip(&nodes_of) {
            for _ in 0..nodes {
                nics.push(end);
                nics.extend((1..rails).map(|rail| match (separate, one) {
                    (true, _) => router(rail % planes, end),
                    (false, true) => end,
                    (false, false) => c.count(0, ends - 1),
                }));
            }
        }
        let mut links = Vec::new();
        for plane in 0..planes {
            let each = ends + others;
            // A tree joins all; more links follow.
            let tree: Vec<(u32, u32)> = (1..each).map(|to| (c.count(0, to - 1), to)).collect();
            let more = c.of(&[0, 1, each, 2 * each]);
            let more: Vec<(u32, u32)> = (0..more).map(|_| (c.count(0, each - 1), c.count(0, each - 1))).collect();
            for (a, b) in tree.into_iter().chain(more).filter(|(a, b)| a != b) {
                let ends = if c.chance(50) { [a, b] } else { [b, a] };
                let [a, b] = ends.map(|number| router(plane, number));
                links.push([a, b, c.count(1, classes)]);
            }
        }
        c.shuffle(&mut links);
        let same = c.chance(50);
        let weights = (0..classes).map(|_| if same { 1 } else { c.count(1, 3) }).collect();
        let spec = GraphSpec { routers, nics, rails, weights, links };
        if let Some(made) = broken(c, TopologySpec::Graph(spec), 40, MOST_NODES) {
            return made;
        }
    }
}

fn pairs(groups: u32) -> Vec<(u32, u32)> {
    (0..groups).flat_map(|a| (a + 1..groups).map(move |b| (a, b))).collect()
}

/// Some pairs of groups with their own number of cables.
fn pair_links(c: &mut Choices, groups: u32, least: u32) -> Vec<[u32; 3]> {
    let some: Vec<(u32, u32)> = pairs(groups).into_iter().filter(|_| c.chance(35)).collect();
    some.into_iter().map(|(a, b)| [a, b, c.count(least, 3)]).collect()
}

/// Adds failures to a machine, with this chance in percent; none if the machine cannot be built or used.
fn broken(c: &mut Choices, topology: TopologySpec, percent: u64, most_nodes: usize) -> Option<Made> {
    let whole = Machine::build(&topology, &Failures::default()).ok()?;
    let network = whole.network();
    if network.nodes() > most_nodes {
        return None;
    }
    let mut failures = Failures::default();
    if c.chance(percent) {
        let share = c.of(&[3, 10, 25]);
        for (slot, peer) in network.peer.iter().enumerate() {
            if matches!(peer, Peer::Router(_)) && c.chance(share) {
                let (router, port) = network.port_of(SlotId(slot as u32));
                failures.links.push([router.0, u32::from(port.0)]);
            }
        }
        let share = c.of(&[0, 0, 5, 15]);
        failures.routers = (0..network.routers() as u32).filter(|_| c.chance(share)).collect();
    }
    let machine = Machine::build(&topology, &failures).ok()?;
    (usable_nodes(machine.network()).len() >= 2).then_some((topology, failures))
}

/// The nodes whose NICs are all on working routers.
pub fn usable_nodes(network: &Network) -> Vec<u32> {
    let works = |endpoint: usize| network.router_works(network.router_of_slot[network.node_slot[endpoint].index()]);
    let rails = network.rails as usize;
    (0..network.nodes()).filter(|n| (n * rails..(n + 1) * rails).all(works)).map(|n| n as u32).collect()
}

/// Whether the nodes of a machine have NICs on several routers each.
pub fn has_rails_on_different_routers((topology, _): &Made) -> bool {
    let rails = match topology {
        TopologySpec::Dragonfly(spec) => (spec.rails, spec.rails_on),
        TopologySpec::Cascade(spec) => (spec.rails, spec.rails_on),
        TopologySpec::Graph(spec) => {
            return spec.nics.chunks(spec.rails as usize).any(|nics| nics.iter().any(|router| *router != nics[0]));
        }
        _ => return false,
    };
    rails.0 > 1 && rails.1 == RailsOn::DifferentRouters
}
