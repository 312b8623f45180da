//! The generator of the equality tests reaches what it is for: a rule that no specification meets is not compared.

mod support;

use std::collections::BTreeMap;

use odonata_sim::Spec;
use odonata_sim::spec::{Rail, RoutingSpec, Sensed, TopologySpec};
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
    for kind in [Sensed::Backlog, Sensed::Credits, Sensed::Both, Sensed::None] {
        count(counts, format!("sensor {kind:?}"), spec.sensing.kind == kind);
    }
    count(counts, "late news of credits", spec.sensing.delay_ps.values().any(|&d| d > 0));
    let used: Vec<&RoutingSpec> = spec.jobs.iter().map(|j| j.routing.as_ref().unwrap_or(&spec.routing)).collect();
    count(counts, "routings by job", used.iter().any(|&r| r != used[0]));
    for routing in used {
        // Name and the options that choose between rules; `{:?}` of numbers would make each specification its own.
        let text = format!("{routing:?}");
        for option in ["Random", "Hash", "LeastLoaded", "Group", "Router", "Spine", "Leaf", "Local", "Global"] {
            count(counts, format!("{} {option}", routing.name()), text.contains(option));
        }
        if let RoutingSpec::Aries { mode, .. } = routing {
            count(counts, format!("aries {mode:?}"), true);
        }
        count(counts, routing.name(), true);
    }
    let nodes = network.nodes() as u32;
    count(counts, "all nodes busy", spec.jobs.iter().map(|j| j.nodes.len() as u32).sum::<u32>() == nodes);
}

fn assert_each(counts: &Counts, least: u32, all: &[&str]) {
    for &what in all {
        assert!(counts.get(what).is_some_and(|&n| n >= least), "`{what}` is rare: {counts:#?}");
    }
}

#[test]
fn dragonflies_and_cascades_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..600 {
        let spec = support::direct_spec(seed);
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
            TopologySpec::DragonflyPlus(_) => unreachable!("it is a dragonfly or a cascade"),
        };
        count(&mut counts, format!("{arrangement:?}"), true);
        count(&mut counts, format!("{rails_on:?}"), true);
        count(&mut counts, "smaller last group", last.is_some());
        count(&mut counts, "pairs of their own", !pairs.is_empty());
    }
    let machines = ["one group", "two groups", "bridged", "several cables", "S = 2", "rails", "least busy rails"];
    let rare = ["more than 8 cables", "S > 2", "D > 2", "DifferentRouters", "smaller last group", "pairs of their own"];
    let wiring = ["Absolute", "Relative", "Circulant", "Palmtree", "Random", "Explicit"];
    let sensors = ["sensor Backlog", "sensor Credits", "sensor Both", "sensor None", "late news of credits"];
    let jobs = ["routings by job", "all nodes busy", "failed links", "failed routers"];
    let minimal = ["minimal Random", "minimal Hash", "minimal LeastLoaded", "adaptive-local"];
    let valiant = ["valiant Random", "valiant Hash", "valiant LeastLoaded", "valiant Group", "valiant Router"];
    let adaptive = ["ugal Local", "ugal Global", "ugal Group", "ugal Router", "par Group", "par Router"];
    let aries = ["aries Adaptive0", "aries Adaptive1", "aries Adaptive2", "aries Adaptive3"];
    let hashed = ["aries MinHash", "aries NminHash", "aries InOrder"];
    assert_each(&counts, 20, &machines);
    assert_each(&counts, 5, &rare);
    for list in [&wiring[..], &sensors, &jobs, &minimal, &valiant, &adaptive, &aries, &hashed] {
        assert_each(&counts, 10, list);
    }
}

#[test]
fn odd_dragonfly_plus_machines_meet_every_rule() {
    let mut counts = Counts::new();
    for seed in 0..400 {
        let spec = support::odd_spec(seed);
        of_any_machine(&mut counts, &spec);
        let TopologySpec::DragonflyPlus(topology) = &spec.topology else { panic!("seed {seed} is no Dragonfly+") };
        count(&mut counts, "pairs of their own", !topology.pair_links.is_empty());
        count(&mut counts, "smaller last group", topology.last_group_leaves.is_some());
        count(&mut counts, "listed cables", topology.global_links.is_some());
    }
    let machines = ["pairs of their own", "smaller last group", "listed cables", "failed links", "failed routers"];
    let sensors = ["sensor Backlog", "sensor Credits", "sensor Both", "sensor None", "late news of credits"];
    let routings = ["minimal Hash", "valiant Hash", "valiant Spine", "valiant Leaf", "fpar", "prog-adaptive"];
    for list in [&machines[..], &sensors, &routings, &["routings by job"]] {
        assert_each(&counts, 20, list);
    }
}
