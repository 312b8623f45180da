//! The generator of the equality tests reaches what it is for: a rule that no specification meets is not compared.

use std::collections::BTreeMap;

use odonata_error::{Error, ErrorKind};
use odonata_sim::Spec;
use odonata_sim::output::NOT_FINISHED;
use odonata_sim::spec::{
    Body, Delivery, Entropy, Keys, MetricKind, NicOrder, PhaseAction, ROUTINGS, Rail, RoutingSpec, Switching,
    TopologySpec,
};
use odonata_testkit as testkit;
use odonata_topology::{GroupId, Machine};

type Counts = BTreeMap<String, u32>;

fn count(counts: &mut Counts, what: impl Into<String>, yes: bool) {
    *counts.entry(what.into()).or_default() += u32::from(yes);
}

fn of_any_machine(counts: &mut Counts, spec: &Spec) {
    let machine = spec.machine().expect("it was built before");
    let network = machine.network();
    count(counts, "failed links", !spec.failures.links.is_empty());
    count(counts, "failed routers", !spec.failures.routers.is_empty());
    for kind in [MetricKind::Backlog, MetricKind::Credits, MetricKind::Both, MetricKind::Occupancy, MetricKind::None] {
        count(counts, format!("sensor {kind:?}"), spec.sensing.kind == kind);
    }
    for kind in [MetricKind::OutputBuffer, MetricKind::OutputCredits] {
        count(counts, format!("sensor {kind:?}"), spec.sensing.kind == kind);
    }
    count(counts, "late news of credits", spec.sensing.delay_ps.values().any(|&d| d > 0));
    let used: Vec<&RoutingSpec> = spec.jobs.iter().map(|j| j.routing.as_ref().unwrap_or(&spec.routing)).collect();
    for job in &spec.jobs {
        let Some(bursts) = job.bursts else { continue };
        let of = if job.traffic.is_some() { "traffic" } else { "program" };
        for length in [bursts.on, bursts.off] {
            let text = format!("{length:?}");
            count(counts, format!("{of} {}", text.split(' ').next().expect("its name")), true);
        }
    }
    count(counts, "routings by job", used.iter().any(|&r| r != used[0]));
    for routing in used {
        // Name and the options that choose between rules; `{:?}` of numbers would make each specification its own.
        let text = format!("{routing:?}");
        for option in
            ["Random", "Hash", "LeastLoaded", "Group", "Router", "Spine", "Leaf", "Local", "Global", "Some(Router)"]
        {
            count(counts, format!("{} {option}", routing.name()), text.contains(option));
        }
        if let RoutingSpec::Aries { mode, .. } = routing {
            count(counts, format!("aries {mode:?}"), true);
        }
        count(counts, routing.name(), true);
    }
    let fabric = &spec.fabric;
    count(counts, "cut-through", fabric.switching == Switching::CutThrough);
    count(counts, "headers", fabric.header_bytes > 0);
    count(counts, "flits", fabric.flit_bytes > 1);
    let nodes = network.nodes() as u32;
    count(counts, "all nodes busy", spec.jobs.iter().map(|j| j.nodes.len() as u32).sum::<u32>() == nodes);
}

fn assert_each(counts: &Counts, least: u32, all: &[&str]) {
    for &what in all {
        assert!(counts.get(what).is_some_and(|&n| n >= least), "`{what}` is rare: {counts:#?}");
    }
}

/// Every routing of the list that is for a kind of machine with any NICs. The policies of application-aware routing have
/// a test of their own, with NICs that count.
fn routings_of(machine: &str) -> Vec<&'static str> {
    let fits = ROUTINGS.iter().filter(|info| info.machines.contains(&machine));
    fits.map(|info| info.name).filter(|name| !["application-aware", "custom"].contains(name)).collect()
}

#[test]
fn dragonflies_and_cascades_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..600 {
        let spec = testkit::direct_spec(seed);
        of_any_machine(&mut counts, &spec);
        let Machine::Dragonfly(machine) = spec.machine().expect("it was built before") else {
            panic!("seed {seed} is no dragonfly or cascade")
        };
        let groups = machine.network.groups;
        let pairs =
            || (0..groups).flat_map(|a| (0..groups).filter(move |&b| b != a).map(move |b| [GroupId(a), GroupId(b)]));
        count(&mut counts, "one group", groups == 1);
        count(&mut counts, "two groups", groups == 2);
        count(&mut counts, "bridged", pairs().any(|[a, b]| machine.cables(a, b).is_empty()));
        count(&mut counts, "more than 8 cables", pairs().any(|[a, b]| machine.cables(a, b).len() > 8));
        count(&mut counts, "several cables", pairs().any(|[a, b]| machine.cables(a, b).len() > 1));
        count(&mut counts, "S = 2", machine.subs() == 2);
        count(&mut counts, "S > 2", machine.subs() > 2);
        count(&mut counts, "D > 2", machine.diameter() > 2);
        count(&mut counts, "rails", machine.network.rails > 1);
        count(&mut counts, "least busy rails", machine.network.rails > 1 && spec.fabric.nic.rail == Rail::LeastBusy);
        let (arrangement, last, rails_on, pairs) = match &spec.topology {
            TopologySpec::Dragonfly(s) => (s.arrangement, s.last_group_routers, s.rails_on, &s.pair_links),
            TopologySpec::Cascade(s) => (s.arrangement, s.last_group_rows, s.rails_on, &s.pair_links),
            _ => unreachable!("it is a dragonfly or a cascade"),
        };
        count(&mut counts, format!("{arrangement:?}"), true);
        count(&mut counts, format!("{rails_on:?}"), true);
        count(&mut counts, "smaller last group", last.is_some());
        count(&mut counts, "pairs of their own", !pairs.is_empty());
    }
    let machines = ["one group", "two groups", "bridged", "several cables", "S = 2", "rails", "least busy rails"];
    let rare = ["more than 8 cables", "S > 2", "D > 2", "DifferentRouters", "smaller last group", "pairs of their own"];
    let wiring = ["Absolute", "Relative", "Circulant", "Palmtree", "Random", "Explicit"];
    let sensors =
        ["sensor Backlog", "sensor Credits", "sensor Both", "sensor Occupancy", "sensor None", "late news of credits"];
    let buffers = ["sensor OutputBuffer", "sensor OutputCredits"];
    let jobs = ["routings by job", "all nodes busy", "failed links", "failed routers"];
    let packets = ["cut-through", "headers", "flits"];
    let minimal = ["minimal Random", "minimal Hash", "minimal LeastLoaded", "adaptive-local Some(Router)"];
    let valiant = ["valiant Random", "valiant Hash", "valiant LeastLoaded", "valiant Group", "valiant Some(Router)"];
    let adaptive = ["ugal Local", "ugal Global", "ugal Group", "ugal Router", "par Group", "par Router"];
    let aries = ["aries Adaptive0", "aries Adaptive1", "aries Adaptive2", "aries Adaptive3"];
    let hashed = ["aries MinHash", "aries NminHash", "aries InOrder"];
    assert_each(&counts, 20, &machines);
    assert_each(&counts, 5, &rare);
    assert_each(&counts, 10, &routings_of("dragonfly"));
    for list in [&wiring[..], &sensors, &buffers, &packets, &jobs, &minimal, &valiant, &adaptive, &aries, &hashed] {
        assert_each(&counts, 10, list);
    }
}

#[test]
fn odd_dragonfly_plus_machines_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..400 {
        let spec = testkit::odd_spec(seed);
        of_any_machine(&mut counts, &spec);
        let TopologySpec::DragonflyPlus(topology) = &spec.topology else { panic!("seed {seed} is no Dragonfly+") };
        count(&mut counts, "pairs of their own", !topology.pair_links.is_empty());
        count(&mut counts, "smaller last group", topology.last_group_leaves.is_some());
        count(&mut counts, "listed cables", topology.global_links.is_some());
        count(&mut counts, "rails", topology.rails > 1);
    }
    let machines =
        ["pairs of their own", "smaller last group", "listed cables", "failed links", "failed routers", "rails"];
    let sensors =
        ["sensor Backlog", "sensor Credits", "sensor Both", "sensor Occupancy", "sensor None", "late news of credits"];
    let routings = ["minimal Hash", "valiant Hash", "valiant Spine", "valiant Leaf", "fpar", "prog-adaptive"];
    for list in [&machines[..], &sensors, &routings, &["routings by job"]] {
        assert_each(&counts, 20, list);
    }
}

#[test]
fn fat_trees_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..400 {
        let spec = testkit::tree_spec(seed);
        of_any_machine(&mut counts, &spec);
        let TopologySpec::FatTree(topology) = &spec.topology else { panic!("seed {seed} is no fat tree") };
        let several = topology.rails > 1;
        count(&mut counts, "two levels", topology.cores == 0);
        count(&mut counts, "three levels", topology.cores > 0);
        count(&mut counts, "several cores of a spine", topology.cores > topology.spines);
        count(&mut counts, "parallel cables", topology.leaf_links > 1 && topology.core_links > 1);
        count(&mut counts, format!("rails on {:?}", topology.rails_on), several);
        let routings = spec.jobs.iter().map(|job| spec.routing_of(job));
        for routing in routings {
            let RoutingSpec::UpDown { spread } = routing else { panic!("seed {seed} has another routing") };
            count(&mut counts, format!("{spread:?}"), true);
            count(&mut counts, format!("{spread:?} with failures"), !spec.failures.is_empty());
        }
    }
    let machines = ["two levels", "three levels", "several cores of a spine", "parallel cables", "failed links"];
    let rails =
        ["rails on OneLeaf", "rails on DifferentLeaves", "rails on Planes", "failed routers", "routings by job"];
    let spreads = ["Hash", "DModK", "Packet", "LeastLoaded"];
    let broken = spreads.map(|spread| format!("{spread} with failures"));
    let lengths = ["Fixed", "Exponential", "Uniform", "Lognormal", "Pareto"].map(|of| format!("traffic {of}"));
    assert_each(&counts, 10, &lengths.each_ref().map(String::as_str));
    assert_each(&counts, 20, &machines);
    assert_each(&counts, 10, &rails);
    assert_each(&counts, 50, &spreads);
    assert_each(&counts, 15, &broken.each_ref().map(String::as_str));
}

#[test]
fn hyperx_machines_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..400 {
        let spec = testkit::hyperx_spec(seed);
        of_any_machine(&mut counts, &spec);
        let Machine::HyperX(machine) = spec.machine().expect("it was built before") else {
            panic!("seed {seed} is no HyperX")
        };
        let topology = &machine.spec;
        count(&mut counts, format!("{} dimensions", topology.dimensions.len()), true);
        count(&mut counts, "D = 0", machine.diameter() == 0);
        count(&mut counts, "D = 1", machine.diameter() == 1);
        count(&mut counts, "D = 3", machine.diameter() == 3);
        count(&mut counts, "longer paths after failures", machine.diameter() > topology.diameter());
        count(&mut counts, "parallel cables", topology.dimension_links.iter().any(|&links| links > 1));
        count(&mut counts, "rails", topology.rails > 1);
        let broken = !spec.failures.is_empty();
        let (output, _) = odonata_sim::run(&spec, &mut ()).expect("it is valid");
        for (job, totals) in spec.jobs.iter().zip(&output.jobs) {
            let name = spec.routing_of(job).name();
            count(&mut counts, format!("{name} with failures"), broken);
            count(&mut counts, format!("{name} takes other paths"), totals.minimal < totals.packets);
            count(&mut counts, format!("{name} takes minimal paths"), totals.minimal > 0);
        }
    }
    let machines = ["1 dimensions", "2 dimensions", "3 dimensions", "parallel cables", "rails", "routings by job"];
    let shapes = ["D = 1", "D = 3", "failed links", "failed routers", "longer paths after failures"];
    let options = ["minimal Random", "minimal Hash", "minimal LeastLoaded", "valiant Hash", "valiant LeastLoaded"];
    let order = ["dimension-order Random", "dimension-order Hash", "dimension-order LeastLoaded"];
    let broken = ["minimal with failures", "valiant with failures", "omni-war with failures"];
    let taken = ["valiant takes other paths", "omni-war takes other paths", "omni-war takes minimal paths"];
    for list in [&machines[..], &shapes, &options, &order, &broken, &taken] {
        assert_each(&counts, 10, list);
    }
    assert_each(&counts, 30, &routings_of("hyperx"));
    assert_each(&counts, 3, &["D = 0"]);
}

#[test]
fn graphs_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..400 {
        let spec = testkit::graph_spec(seed);
        of_any_machine(&mut counts, &spec);
        let Machine::Graph(machine) = spec.machine().expect("it was built before") else {
            panic!("seed {seed} is no graph")
        };
        let topology = &machine.spec;
        let ends = machine.ends(odonata_topology::RouterId(0)).len();
        let weights = topology.weights.iter().any(|&weight| weight != topology.weights[0]);
        let pair = |link: &[u32; 3]| (link[0].min(link[1]), link[0].max(link[1]));
        let mut pairs: Vec<_> = topology.links.iter().map(pair).collect();
        pairs.sort_unstable();
        let nodes = topology.nics.chunks(topology.rails as usize);
        let split = nodes.into_iter().any(|nics| nics.iter().any(|router| *router != nics[0]));
        count(&mut counts, "D = 0", machine.diameter() == 0);
        count(&mut counts, "D = 1", machine.diameter() == 1);
        count(&mut counts, "D = 4", machine.diameter() == 4);
        count(&mut counts, "one class", topology.weights.len() == 1);
        count(&mut counts, "seven classes", topology.weights.len() == 7);
        count(&mut counts, "weights differ", weights);
        count(&mut counts, "parallel links", pairs.windows(2).any(|pair| pair[0] == pair[1]));
        count(&mut counts, "routers without nodes", topology.routers as usize > ends && topology.rails == 1);
        count(&mut counts, "rails on one router", topology.rails > 1 && !split);
        count(&mut counts, "rails on several routers", split && !machine.network.separate_rails);
        count(&mut counts, "rails with their own networks", machine.network.separate_rails);
        let shared = ends * topology.rails as usize > machine.spec.ends() as usize;
        count(&mut counts, "rails that share a network of several", machine.network.separate_rails && shared);
        let broken = !spec.failures.is_empty();
        let (output, _) = odonata_sim::run(&spec, &mut ()).expect("it is valid");
        for (job, totals) in spec.jobs.iter().zip(&output.jobs) {
            let routing = spec.routing_of(job);
            let name = routing.name();
            count(&mut counts, format!("{name} with failures"), broken);
            count(&mut counts, format!("{name} takes other paths"), totals.minimal < totals.packets);
            count(&mut counts, format!("{name} takes minimal paths"), totals.minimal > 0);
            count(&mut counts, "a bias", matches!(routing, RoutingSpec::UgalHops { bias_bytes: 1.., .. }));
        }
    }
    let machines = ["one class", "seven classes", "weights differ", "parallel links", "routers without nodes"];
    let rails = ["rails on one router", "rails on several routers", "rails with their own networks"];
    let shapes = ["D = 0", "D = 1", "D = 4", "failed links", "failed routers", "routings by job", "a bias"];
    let options = ["minimal Random", "minimal Hash", "minimal LeastLoaded", "valiant Hash", "valiant LeastLoaded"];
    let broken = ["minimal with failures", "valiant with failures", "ugal-hops with failures"];
    let taken = ["valiant takes other paths", "ugal-hops takes other paths", "ugal-hops takes minimal paths"];
    for list in [&machines[..], &rails, &shapes, &options, &broken, &taken] {
        assert_each(&counts, 10, list);
    }
    assert_each(&counts, 5, &["rails that share a network of several"]);
    assert_each(&counts, 30, &routings_of("graph"));
}

/// What jobs with programs are and what happens to them, by one generator.
fn of_programs(counts: &mut Counts, spec: &Spec) {
    let traffic = spec.jobs.iter().any(|job| job.traffic.is_some());
    count(counts, "beside traffic", traffic);
    for job in &spec.jobs {
        let Some(program) = &job.program else { continue };
        let mut nodes = job.nodes.clone();
        nodes.sort_unstable();
        nodes.dedup();
        let several = nodes.len() < job.nodes.len() && nodes.len() > 1;
        count(counts, "several ranks a node", several);
        let rails = spec.machine().expect("it was built before").network().rails;
        count(counts, "rails by rank", several && rails > 1 && spec.fabric.nic.rail == Rail::ByRank);
        count(counts, "all on one node", nodes.len() == 1);
        count(counts, "endless", program.iterations.is_none());
        count(counts, "several iterations", program.iterations.is_some_and(|n| n > 1));
        count(counts, "costs by size", !program.by_size.is_empty());
        count(counts, "combining by size", !program.combine_by_size.is_empty());
        count(counts, "pauses", job.bursts.is_some() && program.iterations != Some(1));
        count(counts, "every", program.every_ps > 0 && program.iterations != Some(1));
        count(counts, "gap", program.gap_ps > 0 && program.iterations != Some(1));
        count(counts, "start", program.start_ps > 0);
        if let Some(gpus) = &program.gpus {
            let kind = format!("{:?}", gpus.network);
            let used = several || nodes.len() == 1;
            count(counts, format!("GPUs {}", kind.split(' ').next().expect("its name")), used && gpus.count > 1);
            count(counts, "several ranks a GPU", used && job.nodes.len() > gpus.count as usize * nodes.len());
            count(counts, "NICs of GPUs", rails > 1 && gpus.nics.iter().any(|&nic| nic > 0));
            count(counts, "CPUs with rates", used && gpus.count > 1 && !gpus.rates.is_empty());
        }
        count(counts, "copies", program.costs.copy.is_some());
        count(counts, "large requests", program.costs.control_bytes > spec.fabric.packet_bytes);
        match &program.body {
            Body::Trace { goal } => {
                count(counts, "trace", true);
                count(counts, "irequires", goal.contains("irequires"));
                count(counts, "several CPUs", goal.contains("cpu 1"));
                count(counts, "large tags", goal.contains("tag 18446744073709551"));
                count(counts, "named NICs of several", rails > 1 && goal.contains(" nic "));
            }
            Body::Stages(_) => unreachable!("they are drawn for nodes with GPUs"),
            Body::Phases { phases, .. } => {
                for phase in phases {
                    let text = format!("{:?}", phase.what);
                    // `Broadcast { algorithm: Flat, ...` and `Halo(Halo { ... order: AllAtOnce }`: name and option.
                    let name = text.split([' ', '(']).next().expect("it has a name");
                    let option = text.split("algorithm: ").nth(1).or(text.split("order: ").nth(1)).unwrap_or("");
                    count(counts, format!("{name} {}", option.split([',', ' ']).next().unwrap_or("")).trim(), true);
                    count(counts, "along an axis", phase.along.is_some());
                }
            }
        }
    }
    // Both simulators end alike (equality.rs). The reference takes minutes for a few of these specifications.
    match odonata_sim::run(spec, &mut ()).map(|(output, _)| output) {
        Err(Error { kind: ErrorKind::DeadlockedProgram { .. }, .. }) => count(counts, "dead", true),
        Err(_) => count(counts, "takes no time", true),
        Ok(output) => {
            let of = |what: fn(&odonata_sim::output::JobTotals) -> bool| output.jobs.iter().any(what);
            count(counts, "near messages", of(|job| job.intra_node > 0));
            count(counts, "rendezvous", of(|job| job.control > 0));
            count(counts, "messages under way at the end", of(|job| job.delivered < job.issued));
            count(counts, "cut short", output.ranks.finish_ps.contains(&NOT_FINISHED));
            count(counts, "complete", !output.ranks.finish_ps.contains(&NOT_FINISHED));
            count(counts, "stalled", output.links.stalled_ps.iter().any(|&t| t > 0));
            count(counts, "many iterations", output.iterations.ranks.len() > 20);
        }
    }
}

#[test]
fn programs_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..1_200 {
        let spec = testkit::program_spec(seed);
        of_any_machine(&mut counts, &spec);
        of_programs(&mut counts, &spec);
    }
    let jobs = [
        "several ranks a node",
        "all on one node",
        "endless",
        "several iterations",
        "gap",
        "every",
        "start",
        "copies",
        "pauses",
        "costs by size",
        "combining by size",
    ];
    let costs =
        ["large requests", "trace", "irequires", "several CPUs", "large tags", "along an axis", "beside traffic"];
    let ends = ["near messages", "rendezvous", "messages under way at the end", "cut short", "complete", "stalled"];
    let gpus = ["GPUs Switch", "GPUs Mesh", "GPUs Pcie", "several ranks a GPU", "NICs of GPUs", "CPUs with rates"];
    assert_each(&counts, 30, &gpus);
    for list in [&jobs[..], &costs, &ends] {
        assert_each(&counts, 100, list);
    }
    let lengths = ["Fixed", "Exponential", "Uniform", "Lognormal", "Pareto"];
    let lengths = ["traffic", "program"].map(|of| lengths.map(|length| format!("{of} {length}"))).concat();
    assert_each(&counts, 10, &lengths.iter().map(String::as_str).collect::<Vec<_>>());
    let collectives = [
        "Broadcast Flat",
        "Broadcast Binary",
        "Broadcast Binomial",
        "Broadcast ScatterAllgather",
        "Broadcast ScatterDoubling",
        "Broadcast Knomial",
        "Broadcast Chain",
        "Reduce Binary",
        "Reduce Binomial",
        "Allreduce Binary",
        "Allreduce RecursiveDoubling",
        "Allreduce Ring",
        "Allreduce Rabenseifner",
        "Allgather Ring",
        "Allgather RecursiveDoubling",
        "Allgather Bruck",
        "Allgather NeighborExchange",
        "ReduceScatter Ring",
        "ReduceScatter Pairwise",
        "ReduceScatter RecursiveHalving",
        "Alltoall Pairwise",
        "Alltoall LinearShift",
        "Alltoall Linear",
        "Alltoall Scattered",
        "Alltoall Bruck",
        "Barrier Dissemination",
        "Barrier Binary",
    ];
    let motifs = [
        "Compute",
        "Halo AllAtOnce",
        "Halo AxisByAxis",
        "Halo EvenReceivesFirst",
        "Sweep",
        "PingPong",
        "Training",
        "Incast",
        "Matrix",
    ];
    let rare = [
        "dead",
        "rails by rank",
        "named NICs of several",
        "many iterations",
        "failed links",
        "failed routers",
        "late news of credits",
    ];
    for list in [&collectives[..], &motifs, &rare] {
        assert_each(&counts, 10, list);
    }
    assert_each(&counts, 5, &["takes no time"]);
}

#[test]
fn collectives_of_gpus_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..700 {
        let spec = testkit::gpu_collective_spec(seed);
        let rails = spec.machine().expect("it was built before").network().rails;
        for job in &spec.jobs {
            let Some(program) = &job.program else { continue };
            let gpus = program.gpus.as_ref().expect("it has some");
            let per_node = job.nodes.iter().filter(|&&node| node == job.nodes[0]).count();
            let kind = format!("{:?}", gpus.network);
            count(&mut counts, format!("GPUs {}", kind.split(' ').next().expect("its name")), per_node > 1);
            count(&mut counts, "a rank for each GPU of several", gpus.count as usize == per_node && per_node > 1);
            count(&mut counts, "several nodes of several ranks", per_node > 1 && per_node < job.nodes.len());
            count(&mut counts, "NICs of GPUs", rails > 1 && gpus.nics.iter().any(|&nic| nic > 0));
            count(&mut counts, "CPUs with rates", per_node > 1 && !gpus.rates.is_empty());
            let combines = program.costs.combine.is_some() || !program.combine_by_size.is_empty();
            match &program.body {
                Body::Phases { phases, .. } if phases.len() == 1 => {
                    let several = per_node > 1 && per_node < job.nodes.len();
                    let PhaseAction::PxnAlltoall { per_node, bytes } = phases[0].what else {
                        let what = &phases[0].what;
                        assert!(matches!(what, PhaseAction::GroupedAlltoall { .. }), "it is {what:?}");
                        count(&mut counts, "GroupedAlltoall", several);
                        continue;
                    };
                    let asks = bytes * u64::from(per_node) > program.costs.eager_bytes;
                    count(&mut counts, "PxnAlltoall, eager", several && !asks);
                    count(&mut counts, "PxnAlltoall, rendezvous", several && asks);
                }
                Body::Phases { phases, .. } => {
                    let empty = matches!(phases[0].what, PhaseAction::ReduceScatter { bytes: 0, .. });
                    count(&mut counts, "hierarchical", true);
                    count(&mut counts, "hierarchical, combines", combines && !empty);
                }
                Body::Stages(stages)
                    if stages.stages.len() > 1 || stages.stages[0].len() != 1 + stages.collectives.len() =>
                {
                    count(&mut counts, "pipeline", true);
                    count(&mut counts, "pipeline, several stages", stages.stages.len() > 1);
                }
                Body::Stages(stages) => {
                    let name = format!("{:?}", stages.collectives[0].phases[0].what);
                    let name = name.split(' ').next().expect("its name");
                    count(&mut counts, name, true);
                    let several = stages.collectives.len() > 1;
                    count(&mut counts, format!("{name}, several"), several);
                    count(&mut counts, format!("{name}, combines"), stages.collectives[0].combine_ps > 0);
                    let chunks = stages.collectives.len() > 4 * per_node && name == "TreeChannel";
                    count(&mut counts, "TreeChannel, several chunks", chunks);
                }
                Body::Trace { .. } => unreachable!("its body is another"),
            }
        }
        let Ok((output, _)) = odonata_sim::run(&spec, &mut ()) else { continue };
        let of = |what: fn(&odonata_sim::output::JobTotals) -> bool| output.jobs.iter().any(what);
        count(&mut counts, "near messages", of(|job| job.intra_node > 0));
        count(&mut counts, "rendezvous", of(|job| job.control > 0));
        count(&mut counts, "complete", !output.ranks.finish_ps.contains(&NOT_FINISHED));
        count(&mut counts, "cut short", output.ranks.finish_ps.contains(&NOT_FINISHED));
    }
    let forms = [
        "hierarchical",
        "hierarchical, combines",
        "RingChannel, several",
        "RingChannel, combines",
        "RingSteps, several",
    ];
    let exchanges = ["PxnAlltoall, eager", "PxnAlltoall, rendezvous", "GroupedAlltoall"];
    let trees = ["TreeChannel, several", "TreeChannel, combines", "TreeChannel, several chunks"];
    let gpus = ["GPUs Switch", "GPUs Mesh", "GPUs Pcie", "NICs of GPUs", "CPUs with rates"];
    let nodes = ["a rank for each GPU of several", "several nodes of several ranks"];
    let pipelines = ["pipeline", "pipeline, several stages"];
    let ends = ["near messages", "rendezvous", "complete", "cut short"];
    for list in [&forms[..], &exchanges, &trees, &pipelines, &gpus, &nodes, &ends] {
        assert_each(&counts, 30, list);
    }
}

#[test]
fn nics_that_answer_packets_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..300 {
        let spec = testkit::answered_spec(seed);
        let aries = spec.fabric.nic.aries.expect("it has such NICs");
        let burst = aries.burst(spec.fabric.packet_bytes);
        let machine = spec.machine().expect("it was built before");
        count(&mut counts, format!("{:?}", aries.operation), true);
        count(&mut counts, "exact", burst == 1);
        count(&mut counts, "bursts", burst > 1);
        count(&mut counts, "a window of one packet", aries.window == burst);
        count(&mut counts, "crossbar", spec.fabric.router.is_some());
        count(&mut counts, "cut-through", spec.fabric.switching == Switching::CutThrough);
        count(&mut counts, "rails", machine.network().rails > 1);
        count(&mut counts, "programs", spec.jobs.iter().any(|job| job.program.is_some()));
        let Ok((output, _)) = odonata_sim::run(&spec, &mut ()) else { continue };
        count(&mut counts, "waits for the window", output.nics.iter().any(|nic| nic.window_ps > 0));
        count(&mut counts, "stalls", output.nics.iter().any(|nic| nic.stalled_ps > 0));
        let rendezvous = output.jobs.iter().any(|job| job.control > 0);
        count(&mut counts, format!("rendezvous {:?}", aries.operation), rendezvous);
        let unanswered = output.nics.iter().any(|nic| nic.answered_packets < nic.request_packets);
        count(&mut counts, "ends with requests under way", unanswered);
    }
    let all = ["Put", "Get", "exact", "bursts", "a window of one packet", "crossbar", "cut-through", "programs"];
    assert_each(&counts, 20, &all);
    assert_each(
        &counts,
        10,
        &[
            "rails",
            "waits for the window",
            "stalls",
            "rendezvous Put",
            "rendezvous Get",
            "ends with requests under way",
        ],
    );
}

#[test]
fn striped_messages_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..300 {
        let spec = testkit::striped_spec(seed);
        let machine = spec.machine().expect("it was built before");
        let rails = machine.network().rails;
        let nic = spec.fabric.nic;
        count(&mut counts, "answered", spec.fabric.answers());
        count(&mut counts, "gets", spec.fabric.gets());
        count(&mut counts, "planes", machine.network().separate_rails);
        count(&mut counts, "round robin", nic.order == NicOrder::RoundRobin);
        count(&mut counts, "overhead", nic.overhead_ps > 0);
        for job in &spec.jobs {
            if let Some(traffic) = &job.traffic {
                let striped = nic.stripes(traffic.message_bytes, rails);
                count(&mut counts, "striped traffic", striped);
                count(&mut counts, "traffic in one piece", !striped);
                let packets = traffic.message_bytes.div_ceil(spec.fabric.packet_bytes.into());
                count(&mut counts, "fewer packets than NICs", striped && packets < rails.into());
                count(
                    &mut counts,
                    "unequal parts",
                    striped && packets > rails.into() && packets % u64::from(rails) > 0,
                );
            } else if let Some(program) = &job.program {
                let large = nic.stripe_bytes.is_some_and(|least| least > program.costs.control_bytes.into());
                count(&mut counts, "programs", true);
                count(&mut counts, "control messages of that size", !large);
                let trace = matches!(&program.body, Body::Trace { goal } if goal.contains(" nic "));
                count(&mut counts, "named NICs", trace);
            }
        }
        let Ok((output, _)) = odonata_sim::run(&spec, &mut ()) else { continue };
        count(&mut counts, "rendezvous", output.jobs.iter().any(|job| job.control > 0));
    }
    let all = [
        "answered",
        "planes",
        "round robin",
        "overhead",
        "striped traffic",
        "traffic in one piece",
        "fewer packets than NICs",
        "unequal parts",
        "programs",
        "control messages of that size",
        "rendezvous",
    ];
    assert_each(&counts, 10, &all);
    assert_each(&counts, 5, &["gets", "named NICs"]);
}

#[test]
fn packets_that_are_numbered_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..500 {
        let spec = testkit::numbered_spec(seed);
        let Ok((output, _)) = odonata_sim::run(&spec, &mut ()) else { continue };
        let reordered = output.jobs.iter().any(|job| job.reordering.reordered > 0);
        let far = output.jobs.iter().any(|job| job.reordering.most_extent > 3);
        let programs = spec.jobs.iter().any(|job| job.program.is_some());
        count(&mut counts, "reordered", reordered);
        count(&mut counts, "far", far);
        count(&mut counts, "gets", reordered && spec.fabric.gets());
        let mut free = spec.clone();
        free.fabric.nic.delivery = Delivery::OnArrival;
        let in_order = spec.fabric.nic.delivery == Delivery::InOrder
            && odonata_sim::run(&free, &mut ()).is_ok_and(|(free, _)| free != output);
        count(&mut counts, "order costs", in_order);
        count(&mut counts, "order costs, answered", in_order && spec.fabric.answers());
        count(&mut counts, "order costs, crossbar", in_order && spec.fabric.router.is_some());
        count(&mut counts, "order costs, programs", in_order && programs);
        count(&mut counts, "order costs, classes", in_order && !spec.fabric.traffic_classes.is_empty());
        count(&mut counts, "order costs, striped", in_order && spec.fabric.nic.stripe_bytes.is_some());
    }
    assert_each(&counts, 60, &["reordered", "order costs"]);
    assert_each(&counts, 30, &["far", "order costs, crossbar"]);
    assert_each(&counts, 8, &["order costs, answered", "order costs, classes"]);
    assert_each(&counts, 3, &["gets", "order costs, striped", "order costs, programs"]);
}

#[test]
fn keys_that_are_used_again_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..200 {
        let spec = testkit::recycled_spec(seed);
        let Ok((output, _)) = odonata_sim::run(&spec, &mut ()) else { continue };
        let mut fresh = spec.clone();
        fresh.fabric.nic.entropy = Entropy::Fresh;
        let matters = odonata_sim::run(&fresh, &mut ()).is_ok_and(|(fresh, _)| fresh != output);
        count(&mut counts, "they matter", matters);
        count(&mut counts, spec.topology.kind(), matters);
        count(&mut counts, "in order", matters && spec.fabric.nic.delivery == Delivery::InOrder);
        count(&mut counts, "programs", matters && spec.jobs.iter().any(|job| job.program.is_some()));
    }
    assert_each(&counts, 60, &["they matter"]);
    assert_each(&counts, 10, &["fat-tree", "graph", "in order", "programs"]);
}

#[test]
fn policies_select_every_mode_from_what_they_observe() {
    let mut counts = Counts::new();
    for seed in 0..300 {
        let spec = testkit::application_aware_spec(seed);
        let aries = spec.fabric.nic.aries.expect("it has such NICs");
        count(&mut counts, format!("{:?}", aries.operation), true);
        count(&mut counts, "bursts", aries.burst(spec.fabric.packet_bytes) > 1);
        count(&mut counts, "crossbar", spec.fabric.router.is_some());
        count(&mut counts, "rails", spec.machine().expect("it was built before").network().rails > 1);
        let Ok((output, _)) = odonata_sim::run(&spec, &mut ()) else { continue };
        for (job, totals) in spec.jobs.iter().zip(&output.jobs) {
            let RoutingSpec::ApplicationAware { policy, then, .. } = spec.routing_of(job) else { continue };
            count(&mut counts, "in turn", !then.is_empty());
            let program = job.program.as_ref();
            let iterations = program.is_some_and(|program| program.iterations.is_none_or(|count| count > 1));
            count(&mut counts, "iterations in turn", iterations && !then.is_empty());
            if !then.is_empty() {
                continue;
            }
            count(&mut counts, format!("{policy:?}"), true);
            let [default, alltoall, high] = totals.modes.map(|sent| sent.messages);
            count(&mut counts, "an all-to-all", alltoall > 0);
            count(&mut counts, format!("{policy:?} selects both"), default + alltoall > 0 && high > 0);
            count(&mut counts, "program", job.program.is_some());
        }
    }
    assert_each(
        &counts,
        20,
        &["Put", "Get", "bursts", "crossbar", "rails", "program", "in turn", "iterations in turn"],
    );
    assert_each(&counts, 5, &["an all-to-all"]);
    for policy in ["AppAware", "AppAwareContinuous", "AppAwareH", "Bandit"] {
        assert_each(&counts, 10, &[policy, &format!("{policy} selects both")]);
    }
    assert_each(&counts, 10, &["Default", "HighBias"]);
}

#[test]
fn routings_of_ones_own_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..400 {
        let spec = testkit::own_routing_spec(seed);
        let Ok((output, _)) = odonata_sim::run(&spec, &mut ()) else { continue }; // a program that is dead
        count(&mut counts, spec.topology.kind(), true);
        count(&mut counts, "failures", !spec.failures.is_empty());
        count(&mut counts, "a crossbar", spec.fabric.router.is_some());
        count(&mut counts, "classes", !spec.fabric.traffic_classes.is_empty());
        count(&mut counts, "answers of NICs", spec.fabric.answers());
        for (job, totals) in spec.jobs.iter().zip(&output.jobs) {
            let RoutingSpec::Custom { program, keys, .. } = spec.routing_of(job) else { panic!("seed {seed}") };
            count(&mut counts, program.clone(), true);
            count(&mut counts, "keys of flows", *keys == Keys::Flow);
            count(&mut counts, format!("{program} takes other paths"), totals.minimal < totals.packets);
        }
    }
    let kinds = ["dragonfly-plus", "dragonfly", "cascade", "fat-tree", "hyperx", "graph"];
    let rest = ["failures", "a crossbar", "classes", "answers of NICs", "keys of flows"];
    let programs = ["test-any", "test-least", "test-through", "test-learning"];
    let taken = programs.map(|program| format!("{program} takes other paths"));
    for list in [&kinds[..], &rest, &programs, &taken.each_ref().map(String::as_str)] {
        assert_each(&counts, 10, list);
    }
}

#[test]
fn acknowledgements_of_several_packets_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..300 {
        for maker in [testkit::windowed_spec, testkit::congested_spec] {
            let spec = maker(seed);
            let fabric = &spec.fabric;
            let Some(every) = fabric.nic.acknowledge_every else { continue };
            let window = fabric.most_in_flight().expect("there are windows");
            let packets = window / u64::from(fabric.packet_bytes);
            count(&mut counts, "windows of fewer packets", packets < every.into());
            count(&mut counts, "windows of more packets", packets > every.into());
            let law = fabric.congestion_control.map_or("fixed", |control| control.law.name());
            let marks = fabric.congestion_control.is_some_and(|control| control.mark_above_bytes.is_some());
            count(&mut counts, law, true);
            count(&mut counts, "marks", marks);
            count(&mut counts, "programs", spec.jobs.iter().any(|job| job.program.is_some()));
        }
    }
    let windows = ["windows of fewer packets", "windows of more packets"];
    assert_each(&counts, 20, &[&windows[..], &["fixed", "ecn-window", "nscc", "marks", "programs"]].concat());
}
