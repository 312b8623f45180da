//! A seeded generator of small specifications that covers all features of the model, for the tests of both simulators.

mod bursts;
mod choices;
mod fabrics;
mod gpu_collectives;
mod jobs;
mod machines;
mod own;
mod phases;
mod programs;
mod routings;
mod traces;

use odonata_error::{Error, ErrorKind};
use odonata_programs::Alltoall;
use odonata_sim::Spec;
use odonata_sim::routing::Routing;
use odonata_sim::spec::{
    Body, Delivery, Entropy, FabricSpec, Failures, Gateways, MAX_CHANNELS, MarkingPorts, MeasureSpec, NicOrder, Phase,
    PhaseAction, Prepared, ProgramSpec, RoutingSpec, SPEC_VERSION, Select, Sensing, Spread, TopologySpec, Via,
};
use odonata_topology::{Arrangement, DragonflyPlusSpec, Machine, Network};

pub use choices::Choices;
use machines::Made;
pub use own::make_known;
pub use routings::any_options;

/// A valid specification of a small Dragonfly+ without failures, with one routing and one congestion metric.
pub fn spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed);
    let made = machines::plain_dragonfly_plus(&mut c);
    make(&mut c, seed, &made, fabrics::fabric, Extent::Old)
}

/// As [`spec`], with events a few picoseconds apart.
pub fn instant_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x1257_a217);
    let made = machines::plain_dragonfly_plus(&mut c);
    make(&mut c, seed, &made, fabrics::instant, Extent::Old)
}

/// A valid specification of a Dragonfly+ of 144 nodes.
pub fn larger_spec(seed: u64) -> Spec {
    let topology = DragonflyPlusSpec {
        groups: 9,
        leaves: 4,
        spines: 4,
        nodes_per_leaf: 4,
        global_links_per_spine: 4,
        links_per_pair: None,
        arrangement: Arrangement::Linear,
        ..DragonflyPlusSpec::default()
    };
    let made = (TopologySpec::DragonflyPlus(topology), Failures::default());
    make(&mut Choices::new(seed), seed, &made, fabrics::fabric, Extent::Old)
}

/// A valid specification of a small Dragonfly+, perhaps irregular or with failures, with any congestion metric and one
/// routing per job.
pub fn odd_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x0dd);
    let made = machines::odd_dragonfly_plus(&mut c);
    make(&mut c, seed, &made, fabrics::fabric, Extent::All)
}

/// As [`odd_spec`], with events a few picoseconds apart.
pub fn instant_odd_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x1257_a0dd);
    let made = machines::odd_dragonfly_plus(&mut c);
    make(&mut c, seed, &made, fabrics::instant, Extent::All)
}

/// A valid specification of a small dragonfly or cascade, perhaps irregular or with failures, with any congestion
/// metric and one routing per job.
pub fn direct_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0xd12e_c700), seed, machines::direct, fabrics::fabric)
}

/// As [`direct_spec`], with events a few picoseconds apart.
pub fn instant_direct_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0x1257_d12e), seed, machines::direct, fabrics::instant)
}

/// As [`instant_direct_spec`], with only `ugal` with global knowledge: the order of routers decides.
pub fn instant_global_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x610_ba11);
    loop {
        let made = machines::direct(&mut c);
        let mut spec = unfit(&mut c, &made, fabrics::instant, Extent::All);
        if c.chance(70) {
            if !machines::has_rails_on_different_routers(&made) {
                continue;
            }
            // NICs that often wait for room, served in turn: the order in which their node handles its events matters.
            spec.fabric.nic.order = NicOrder::RoundRobin;
            let packet_bytes = u64::from(spec.fabric.packet_bytes);
            spec.fabric.links.get_mut("node").expect("there are nodes").buffer_bytes = packet_bytes;
        }
        spec.routing = routings::global_ugal(&mut c);
        spec.jobs.iter_mut().for_each(|job| job.routing = None);
        if let Ok(spec) = fit(&mut c, spec) {
            return valid(seed, spec);
        }
    }
}

/// As [`direct_spec`], of some hundred nodes.
pub fn larger_direct_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0xb16_d12e), seed, machines::larger_direct, fabrics::fabric)
}

fn direct(mut c: Choices, seed: u64, machine: fn(&mut Choices) -> Made, fabric: MakesFabric) -> Spec {
    loop {
        let made = machine(&mut c);
        let spec = unfit(&mut c, &made, fabric, Extent::All);
        if let Ok(spec) = fit(&mut c, spec) {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of a small machine of any kind on which some jobs run programs.
pub fn program_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x9306_7a35);
    let (machine, fabric) = (any_machine(&mut c), fabric_of(&mut c));
    with_programs(c, seed, machine, fabric)
}

/// As [`program_spec`], with events a few picoseconds apart.
pub fn instant_program_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x1257_9306);
    let machine = any_machine(&mut c);
    with_programs(c, seed, machine, fabrics::instant)
}

/// As [`program_spec`], with routings that read the loads of other routers: the order of routers decides.
pub fn global_program_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x610_9306);
    let fabric = fabric_of(&mut c);
    loop {
        let made = machines::direct(&mut c);
        let mut spec = unfit(&mut c, &made, fabric, Extent::Programs);
        spec.routing = routings::global_ugal(&mut c);
        spec.jobs.iter_mut().for_each(|job| job.routing = None);
        if let Ok(spec) = fit(&mut c, spec) {
            return valid(seed, spec);
        }
    }
}

/// Specifications of any kind.
const MAKERS: [fn(u64) -> Spec; 8] = [
    spec,
    odd_spec,
    direct_spec,
    instant_direct_spec,
    instant_odd_spec,
    program_spec,
    instant_program_spec,
    global_program_spec,
];

/// A valid specification of any kind whose NICs have a window towards each destination.
pub fn windowed_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x317d_0700);
    loop {
        let mut spec = c.of(&MAKERS)(c.next());
        fabrics::window(&mut c, &mut spec.fabric);
        fabrics::coalesce(seed, &mut spec.fabric);
        if spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of any kind whose routings know loads in levels.
pub fn levelled_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x1e_7e15);
    let makers: [fn(u64) -> Spec; 10] = [
        odd_spec,
        direct_spec,
        instant_direct_spec,
        instant_global_spec,
        program_spec,
        tree_spec,
        hyperx_spec,
        graph_spec,
        classed_spec,
        own_routing_spec,
    ];
    loop {
        let mut spec = c.of(&makers)(c.next());
        let small = c.of(&[1, 2, 3, 4, 16]);
        spec.sensing.levels = Some(if c.chance(80) { small } else { c.within(5, 1 << 32) as u32 });
        if spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of any kind with congestion control.
pub fn congested_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0xc0_9e57);
    loop {
        let mut spec = c.of(&MAKERS)(c.next());
        fabrics::congestion_control(&mut c, &mut spec.fabric);
        fabrics::coalesce(seed, &mut spec.fabric);
        if spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of several jobs with blame and a congestion control whose marks come from any queue, often.
pub fn held_back_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x4e_1d5);
    loop {
        let mut spec = c.of(&MAKERS)(c.next());
        fabrics::congestion_control(&mut c, &mut spec.fabric);
        fabrics::coalesce(seed, &mut spec.fabric);
        let full = u64::from(spec.fabric.packet_bytes);
        let Some(control) = &mut spec.fabric.congestion_control else { continue };
        if control.law.marking() != MarkingPorts::All || spec.jobs.len() < 2 {
            continue;
        }
        (control.window_bytes, control.mark_above_bytes) = (full * c.of(&[2, 2, 3, 8]), Some(full * c.of(&[0, 0, 1])));
        (spec.measure.blame, spec.measure.roots) = (true, c.chance(30));
        if spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of any kind whose packets are numbered as they leave, with NICs of any kind: packets that come
/// after later ones are counted, or wait for earlier ones, or both.
pub fn numbered_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x0de_2ed);
    let makers: [fn(u64) -> Spec; 17] = [
        spec,
        odd_spec,
        direct_spec,
        instant_direct_spec,
        tree_spec,
        instant_tree_spec,
        graph_spec,
        instant_graph_spec,
        program_spec,
        tree_program_spec,
        graph_program_spec,
        windowed_spec,
        congested_spec,
        answered_spec,
        striped_spec,
        classed_spec,
        classed_spec,
    ];
    let mut spec = c.of(&makers)(c.next());
    if c.chance(80) {
        let sprayed = sprayed(&mut c, spec.clone());
        let machine = sprayed.machine().map(|machine| Routing::new(&sprayed, machine).is_ok());
        if odonata_reference::check(&sprayed).is_ok() && machine.is_ok_and(|fits| fits) {
            spec = sprayed;
        }
    }
    if spec.fabric.nic.aries.is_none() && c.chance(70) {
        spec.fabric.nic.delivery = Delivery::InOrder;
    }
    spec.measure.reordering = spec.fabric.nic.delivery == Delivery::OnArrival || c.chance(70);
    valid(seed, spec)
}

/// The same with routings that draw a path for each packet, and larger messages of traffic.
fn sprayed(c: &mut Choices, mut spec: Spec) -> Spec {
    let gateways = spec.routing.gateways();
    spec.routing = match (&spec.topology, c.chance(50)) {
        (TopologySpec::FatTree(_), _) => RoutingSpec::UpDown { spread: Spread::Packet },
        (TopologySpec::DragonflyPlus(_) | TopologySpec::Dragonfly(_), true) => {
            RoutingSpec::Valiant { via: Via::Spine, select: Select::Random, inside: None, gateways }
        }
        _ => RoutingSpec::Minimal { select: Select::Random, gateways },
    };
    if let (TopologySpec::Dragonfly(_), RoutingSpec::Valiant { via, .. }) = (&spec.topology, &mut spec.routing) {
        *via = Via::Group;
    }
    for job in &mut spec.jobs {
        job.routing = None;
        if let Some(traffic) = &mut job.traffic {
            traffic.message_bytes += u64::from(spec.fabric.packet_bytes) * c.of(&[0, 3, 10]);
        }
    }
    spec
}

/// A valid specification whose NICs use the keys of packets again that came back without a mark, on a machine whose
/// packets are sprayed; packets may be numbered.
pub fn recycled_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x2e_c1c1ed);
    let makers: [fn(u64) -> Spec; 9] = [
        tree_spec,
        instant_tree_spec,
        tree_program_spec,
        graph_spec,
        instant_graph_spec,
        graph_program_spec,
        odd_spec,
        direct_spec,
        instant_direct_spec,
    ];
    loop {
        let mut spec = c.of(&makers)(c.next());
        fabrics::congestion_control(&mut c, &mut spec.fabric);
        fabrics::coalesce(c.next(), &mut spec.fabric);
        let full = u64::from(spec.fabric.packet_bytes);
        let Some(control) = &mut spec.fabric.congestion_control else { continue };
        (control.window_bytes, control.mark_above_bytes) =
            (full * c.of(&[2, 4, 8, 30]), Some(full * c.of(&[1, 1, 2, 4])));
        spec.routing = match &spec.topology {
            TopologySpec::FatTree(_) => RoutingSpec::UpDown { spread: Spread::Packet },
            _ => RoutingSpec::Minimal { select: Select::Random, gateways: spec.routing.gateways() },
        };
        spec.jobs.iter_mut().for_each(|job| job.routing = None);
        spec.fabric.nic.entropy = Entropy::Reps;
        spec.measure.reordering = c.chance(50);
        if c.chance(30) {
            spec.fabric.nic.delivery = Delivery::InOrder;
        }
        if let Ok(spec) = fit(&mut c, spec)
            && spec.check().is_ok()
        {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of any kind of machine with traffic classes, sometimes with windows or congestion control.
pub fn classed_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0xc1_a55e5);
    let others: [fn(u64) -> Spec; 4] = [tree_spec, tree_program_spec, hyperx_spec, instant_hyperx_spec];
    loop {
        let maker = if c.chance(30) { c.of(&others) } else { c.of(&MAKERS) };
        let mut spec = maker(c.next());
        match c.within(0, 3) {
            0 => fabrics::window(&mut c, &mut spec.fabric),
            1 => fabrics::congestion_control(&mut c, &mut spec.fabric),
            _ => {}
        }
        fabrics::coalesce(seed, &mut spec.fabric);
        fabrics::traffic_classes(&mut c, &mut spec.fabric);
        (spec.measure.blame, spec.measure.roots) = (false, false);
        let classes = spec.fabric.traffic_classes.len() as u64;
        for job in &mut spec.jobs {
            job.class = c.within(0, classes.saturating_sub(1)) as u8;
        }
        if classes > 1
            && spec.check().is_ok()
            && let Ok(machine) = spec.machine()
            && Routing::new(&spec, machine).is_ok()
        {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of any kind whose NICs answer every packet.
pub fn answered_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0xa41e_5000);
    loop {
        let mut spec = c.of(&MAKERS)(c.next());
        let gets = c.chance(40);
        fabrics::answer(&mut c, &mut spec.fabric, gets);
        if spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of a machine of any kind whose jobs run programs, and whose receivers fetch large messages.
pub fn fetching_program_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0xfe7c_9306);
    let makers: [fn(u64) -> Spec; 4] = [program_spec, instant_program_spec, tree_program_spec, hyperx_program_spec];
    loop {
        let mut spec = c.of(&makers)(c.next());
        fabrics::answer(&mut c, &mut spec.fabric, true);
        if spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of a machine of any kind whose jobs run collectives made for nodes with several GPUs.
pub fn gpu_collective_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x69_0a11_4ed0);
    let makers: [fn(u64) -> Spec; 8] = [
        program_spec,
        program_spec,
        instant_program_spec,
        global_program_spec,
        tree_program_spec,
        hyperx_program_spec,
        windowed_spec,
        striped_spec,
    ];
    loop {
        let mut spec = c.of(&makers)(c.next());
        gpu_collectives::put(&mut c, &mut spec);
        if spec.jobs.iter().any(|job| job.program.is_some()) && spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of a machine of any kind whose nodes have several NICs, over which large messages are divided;
/// the NICs may answer packets.
pub fn striped_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x57_213e_0000);
    let trees: [fn(u64) -> Spec; 3] = [tree_spec, instant_tree_spec, tree_program_spec];
    loop {
        let maker = if c.chance(30) { c.of(&trees) } else { c.of(&MAKERS) };
        let mut spec = maker(c.next());
        if spec.machine().expect("it was built before").network().rails == 1 {
            continue;
        }
        match c.within(0, 3) {
            0 => fabrics::window(&mut c, &mut spec.fabric),
            1 => {
                let gets = c.chance(40);
                fabrics::answer(&mut c, &mut spec.fabric, gets);
            }
            _ => {}
        }
        fabrics::coalesce(seed, &mut spec.fabric);
        let packet = u64::from(spec.fabric.packet_bytes);
        spec.fabric.nic.stripe_bytes = Some(c.of(&[1, packet, packet + 1, packet * 3, packet * 10]));
        if spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// As [`answered_spec`], on a dragonfly or cascade, where at least one job is application-aware.
pub fn application_aware_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0xa11_a3a6e);
    let makers: [fn(u64) -> Spec; 5] =
        [direct_spec, instant_direct_spec, program_spec, instant_program_spec, global_program_spec];
    loop {
        let mut spec = c.of(&makers)(c.next());
        let Some(gateways) = spec.routing.gateways() else { continue };
        let gets = c.chance(40);
        fabrics::answer(&mut c, &mut spec.fabric, gets);
        let first = c.within(0, spec.jobs.len() as u64 - 1) as usize;
        for (index, job) in spec.jobs.iter_mut().enumerate() {
            if index == first || c.chance(40) {
                job.routing = Some(routings::application_aware(&mut c, gateways, &spec.fabric));
            }
            if let Some(ProgramSpec { body: Body::Phases { phases, .. }, .. }) = &mut job.program
                && c.chance(40)
            {
                let bytes = u64::from(spec.fabric.packet_bytes) * c.of(&[0, 1, 3]);
                let what = match c.chance(80) {
                    true => PhaseAction::Alltoall { algorithm: c.of(Alltoall::ALL), bytes },
                    false => PhaseAction::PxnAlltoall { per_node: 1, bytes },
                };
                phases.insert(c.within(0, phases.len() as u64) as usize, Phase { along: None, what });
            }
        }
        if c.chance(30) {
            spec.routing = routings::application_aware(&mut c, gateways, &spec.fabric);
        }
        if let Ok(spec) = fit(&mut c, spec)
            && let Ok(machine) = spec.machine()
            && Routing::new(&spec, machine).is_ok()
        {
            return valid(seed, spec);
        }
    }
}

/// A valid specification of a small fat tree, perhaps with several rails or failures, with any congestion metric and one
/// routing per job.
pub fn tree_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0xfa7_73ee), seed, machines::fat_tree, fabrics::fabric)
}

/// As [`tree_spec`], with events a few picoseconds apart.
pub fn instant_tree_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0x1257_73ee), seed, machines::fat_tree, fabrics::instant)
}

/// As [`tree_spec`], with jobs that run programs, and sometimes with NICs that answer every packet.
pub fn tree_program_spec(seed: u64) -> Spec {
    answered_programs(Choices::new(seed ^ 0x9306_73ee), seed, machines::fat_tree)
}

/// A valid specification of a small HyperX, perhaps with several rails or failures, with any congestion metric and one
/// routing per job.
pub fn hyperx_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0x4e9e_0000), seed, machines::hyperx, fabrics::fabric)
}

/// As [`hyperx_spec`], with events a few picoseconds apart.
pub fn instant_hyperx_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0x1257_4e9e), seed, machines::hyperx, fabrics::instant)
}

/// As [`hyperx_spec`], with jobs that run programs, and sometimes with NICs that answer every packet.
pub fn hyperx_program_spec(seed: u64) -> Spec {
    answered_programs(Choices::new(seed ^ 0x9306_4e9e), seed, machines::hyperx)
}

/// A valid specification of any graph, with links of several kinds, perhaps with several rails or failures, with any
/// congestion metric and one routing per job.
pub fn graph_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0x64a9_4000), seed, machines::graph, fabrics::fabric)
}

/// As [`graph_spec`], with events a few picoseconds apart.
pub fn instant_graph_spec(seed: u64) -> Spec {
    direct(Choices::new(seed ^ 0x1257_64a9), seed, machines::graph, fabrics::instant)
}

/// As [`graph_spec`], with jobs that run programs, and sometimes with NICs that answer every packet.
pub fn graph_program_spec(seed: u64) -> Spec {
    answered_programs(Choices::new(seed ^ 0x9306_64a9), seed, machines::graph)
}

/// A specification whose jobs run programs, sometimes with NICs that answer every packet.
fn answered_programs(mut c: Choices, seed: u64, machine: fn(&mut Choices) -> Made) -> Spec {
    loop {
        let fabric = fabric_of(&mut c);
        let mut spec = with_programs(Choices::new(c.next()), seed, machine, fabric);
        if c.chance(40) {
            let gets = c.chance(40);
            fabrics::answer(&mut c, &mut spec.fabric, gets);
        }
        if spec.check().is_ok() {
            return valid(seed, spec);
        }
    }
}

/// A specification of any machine, with all kinds of jobs, routers and NICs, whose jobs have routings of one's own.
pub fn own_routing_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x0a14_0a14);
    let makers: [fn(u64) -> Spec; 12] = [
        odd_spec,
        direct_spec,
        instant_direct_spec,
        tree_spec,
        hyperx_spec,
        graph_spec,
        instant_graph_spec,
        graph_program_spec,
        program_spec,
        congested_spec,
        answered_spec,
        classed_spec,
    ];
    loop {
        let mut spec = c.of(&makers)(c.next());
        let most = if spec.fabric.answers() { MAX_CHANNELS / 2 } else { MAX_CHANNELS };
        spec.fabric.channels = most / (spec.fabric.traffic_classes.len().max(1) as u8);
        let most = spec.fabric.channels;
        spec.routing = own::own(&mut c, 1, most);
        for job in &mut spec.jobs {
            job.routing = c.chance(30).then(|| own::own(&mut c, 1, most));
        }
        let mut check = odonata_reference::check(&spec);
        if let Err(Error { kind: ErrorKind::TooFewHops { need, .. }, .. }) = check {
            let given = spec.jobs.iter_mut().filter_map(|job| job.routing.as_mut());
            for routing in given.chain([&mut spec.routing]) {
                *routing = own::own(&mut c, need, most);
            }
            check = odonata_reference::check(&spec);
        }
        if check.is_ok() {
            return valid(seed, spec);
        }
    }
}

fn any_machine(c: &mut Choices) -> fn(&mut Choices) -> Made {
    c.of(&[machines::plain_dragonfly_plus, machines::odd_dragonfly_plus, machines::direct, machines::direct])
}

fn fabric_of(c: &mut Choices) -> MakesFabric {
    c.of(&[fabrics::fabric, fabrics::fabric, fabrics::instant])
}

fn with_programs(mut c: Choices, seed: u64, machine: fn(&mut Choices) -> Made, fabric: MakesFabric) -> Spec {
    loop {
        let made = machine(&mut c);
        let spec = unfit(&mut c, &made, fabric, Extent::Programs);
        if let Ok(spec) = fit(&mut c, spec) {
            return valid(seed, spec);
        }
    }
}

/// As [`direct_spec`], with any number of channels. Groups without a cable between them are allowed.
pub fn unchecked_direct_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x0bad);
    let made = machines::direct(&mut c);
    let mut spec = unfit(&mut c, &made, fabrics::fabric, Extent::All);
    spec.fabric.channels = c.within(1, u64::from(MAX_CHANNELS)) as u8;
    spec
}

/// As [`odd_spec`], with one channel or more, and with routings that do not support failures.
pub fn unchecked_odd_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x0bad_0dd0);
    let made = machines::odd_dragonfly_plus(&mut c);
    let mut spec = unfit(&mut c, &made, fabrics::fabric, Extent::All);
    spec.fabric.channels = c.within(1, 3) as u8;
    spec.routing = routings::dragonfly_plus(&mut c, &spec.topology, false, true);
    spec.jobs[0].routing = None;
    spec
}

type MakesFabric = fn(&mut Choices, &Network) -> FabricSpec;

/// Which features a specification uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Old,
    All,
    Programs,
}

fn make(c: &mut Choices, seed: u64, made: &Made, fabric: MakesFabric, extent: Extent) -> Spec {
    let spec = unfit(c, made, fabric, extent);
    let spec = fit(c, spec).unwrap_or_else(|e| panic!("the generator made no machine from seed {seed}: {e}"));
    valid(seed, spec)
}

fn valid(seed: u64, spec: Spec) -> Spec {
    spec.check().unwrap_or_else(|e| panic!("the generator made an invalid specification from seed {seed}: {e}"));
    spec
}

/// A specification with one channel.
fn unfit(c: &mut Choices, (topology, failures): &Made, fabric: MakesFabric, extent: Extent) -> Spec {
    let machine = Machine::build(topology, failures).expect("it was built before");
    let network = machine.network();
    let fabric = fabric(c, network);
    let gateways = c.of(&[Gateways::Nearest, Gateways::All]);
    let routing = |c: &mut Choices| match machine {
        Machine::DragonflyPlus(_) => routings::dragonfly_plus(c, topology, extent == Extent::Old, failures.is_empty()),
        Machine::Dragonfly(_) => routings::direct(c, topology, gateways, &fabric),
        Machine::FatTree(_) => routings::fat_tree(c, topology),
        Machine::HyperX(_) => routings::hyperx(c, topology, failures.is_empty()),
        Machine::Graph(_) => routings::graph(c, topology, &fabric),
    };
    let whole: RoutingSpec = routing(c);
    let make_jobs = if extent == Extent::Programs { programs::jobs } else { jobs::jobs };
    let mut jobs = make_jobs(c, network, machines::usable_nodes(network), &fabric);
    let mut sensing = Sensing::default();
    if extent != Extent::Old {
        sensing = fabrics::sensing(c, network, &fabric);
        for job in &mut jobs {
            job.routing = c.chance(40).then(|| routing(c));
        }
    }
    let (stop, horizon) =
        if extent == Extent::Programs { programs::stop(c, &jobs, &fabric) } else { jobs::stop(c, &jobs) };
    let mut measure = MeasureSpec {
        from_ps: if c.chance(50) { c.within(0, horizon / 2) } else { 0 },
        until_ps: c.chance(30).then(|| c.within(horizon / 2 + 1, horizon + 1)),
        arrivals_every_ps: c.chance(60).then(|| c.within(horizon / 40 + 1, horizon)),
        blame: c.chance(40),
        roots: false,
        series: c.chance(30),
        operations: false,
        reordering: false,
    };
    let seed = c.next();
    if extent != Extent::Old {
        bursts::add(&mut Choices::new(seed ^ 0xb125_75ed), &mut jobs);
    }
    // (Not drawn, so that all other draws stay what they were.)
    measure.roots = measure.blame && !seed.is_multiple_of(3);
    measure.operations = extent == Extent::Programs && seed.is_multiple_of(2);
    Spec {
        version: SPEC_VERSION,
        seed,
        compat: None,
        compat_without: Vec::new(),
        topology: topology.clone(),
        fabric,
        routing: whole,
        sensing,
        failures: failures.clone(),
        jobs,
        stop,
        measure,
        prepared: Prepared::default(),
    }
}

/// The specification with as many channels as it needs, or with one or two more.
fn fit(c: &mut Choices, mut spec: Spec) -> Result<Spec, Error> {
    let lacks_channels = |e: &Error| matches!(e.kind, ErrorKind::TooFewChannels { .. });
    while let Err(error) = odonata_reference::check(&spec) {
        if !lacks_channels(&error) || spec.fabric.channels == MAX_CHANNELS {
            return Err(error);
        }
        spec.fabric.channels += 1;
    }
    let more = c.of(&[0, 0, 1, 2]);
    let most = if spec.fabric.answers() { MAX_CHANNELS / 2 } else { MAX_CHANNELS };
    spec.fabric.channels = (spec.fabric.channels + more).min(most);
    Ok(spec)
}
