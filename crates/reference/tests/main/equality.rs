//! The fast simulator and the reference, two programs written apart from one model, must agree in every number.
//! Catches any deviation of either from `docs/model.md`.
//!
//! In the same runs of the reference nothing is lost or made: packets, bytes and credits. Catches a packet dropped or
//! delivered twice, a credit given back twice, late or never, and a message cut into the wrong packets.

use std::fmt::Write;

use odonata_error::{Error, ErrorKind};
use odonata_reference::{Audit, run_audited};
use odonata_sim::output::{Blame, Wait};
use odonata_sim::spec::{RoutingSpec, Select, TopologySpec};
use odonata_sim::{Output, QueueChoice, Spec};
use odonata_testkit as testkit;

/// The first thing in which two columns of rows differ.
fn first_difference<T: PartialEq + std::fmt::Debug>(name: &str, sim: &[T], reference: &[T]) -> Option<String> {
    let row = (0..sim.len().max(reference.len())).find(|&i| sim.get(i) != reference.get(i))?;
    Some(format!("{name}[{row}]: sim {:?}, reference {:?}\n", sim.get(row), reference.get(row)))
}

/// What differs, readably: for messages the row with the earliest issue of all rows that differ.
fn differences(spec: &Spec, sim: &Output, reference: &Output) -> String {
    let mut text = String::new();
    let totals = [(sim.end_ps, reference.end_ps), (sim.packet_hops, reference.packet_hops)];
    for (name, (a, b)) in ["end_ps", "packet_hops"].into_iter().zip(totals) {
        if a != b {
            let _ = writeln!(text, "{name}: sim {a}, reference {b}");
        }
    }
    for (job, (a, b)) in sim.jobs.iter().zip(&reference.jobs).enumerate() {
        if a != b {
            let short = |t: &odonata_sim::output::JobTotals| {
                let h = &t.latency;
                let latency = (h.count, h.sum, h.min, h.max);
                let counts = [t.issued, t.delivered, t.packets, t.bytes, t.hops, t.minimal, t.intra_node, t.control];
                let modes = t.modes.map(|sent| (sent.messages, sent.bytes));
                let times = (t.first_issue_ps, t.last_delivery_ps);
                format!("{counts:?} {times:?} latency {latency:?} {modes:?} {:?}", t.reordering)
            };
            let _ = writeln!(text, "jobs[{job}] (issued, delivered, packets, bytes, hops, minimal, near, control):");
            let _ = writeln!(text, "  sim       {}\n  reference {}", short(a), short(b));
        }
    }
    let rows = |o: &Output| -> Vec<(u64, u16, u32, u32, u32, u64)> {
        let m = &o.messages;
        let row = |i| (m.issue_ps[i], m.job[i], m.interval[i], m.source[i], m.destination[i], m.latency_ps[i]);
        (0..m.job.len()).map(row).collect()
    };
    let (a, b) = (rows(sim), rows(reference));
    if a.len() != b.len() {
        let _ = writeln!(text, "{} message rows in sim, {} in the reference", a.len(), b.len());
    }
    if let Some((x, y)) = a.iter().zip(&b).filter(|(x, y)| x != y).min_by_key(|(x, _)| x.0) {
        let _ = writeln!(text, "message (issue, job, interval, source, destination, latency):");
        let _ = writeln!(text, "  sim       {x:?}\n  reference {y:?}");
    }
    let columns = [
        ("links.packets", &sim.links.packets, &reference.links.packets),
        ("links.bytes", &sim.links.bytes, &reference.links.bytes),
        ("links.stalled_ps", &sim.links.stalled_ps, &reference.links.stalled_ps),
        ("arrivals.packets_in", &sim.arrivals.packets_in, &reference.arrivals.packets_in),
        ("arrivals.bytes_in", &sim.arrivals.bytes_in, &reference.arrivals.bytes_in),
        ("arrivals.packets_out", &sim.arrivals.packets_out, &reference.arrivals.packets_out),
        ("arrivals.bytes_out", &sim.arrivals.bytes_out, &reference.arrivals.bytes_out),
        ("ranks.finish_ps", &sim.ranks.finish_ps, &reference.ranks.finish_ps),
        ("ranks.work_ps", &sim.ranks.work_ps, &reference.ranks.work_ps),
        ("iterations.first_begin_ps", &sim.iterations.first_begin_ps, &reference.iterations.first_begin_ps),
        ("iterations.last_begin_ps", &sim.iterations.last_begin_ps, &reference.iterations.last_begin_ps),
        ("iterations.first_end_ps", &sim.iterations.first_end_ps, &reference.iterations.first_end_ps),
        ("iterations.last_end_ps", &sim.iterations.last_end_ps, &reference.iterations.last_end_ps),
        ("iterations.longest_ps", &sim.iterations.longest_ps, &reference.iterations.longest_ps),
        ("iterations.total_ps", &sim.iterations.total_ps, &reference.iterations.total_ps),
        ("class_bytes", &sim.class_bytes, &reference.class_bytes),
    ];
    text += &first_difference("blame", &waits(&sim.blame), &waits(&reference.blame)).unwrap_or_default();
    text += &first_difference("roots", &root_rows(&sim.blame), &root_rows(&reference.blame)).unwrap_or_default();
    text += &first_difference("nics", &sim.nics, &reference.nics).unwrap_or_default();
    text +=
        &first_difference("message_counters", &sim.message_counters, &reference.message_counters).unwrap_or_default();
    for (name, a, b) in columns {
        text += &first_difference(name, a, b).unwrap_or_default();
    }
    text +=
        &first_difference("iterations.ranks", &sim.iterations.ranks, &reference.iterations.ranks).unwrap_or_default();
    let _ = writeln!(text, "{:?} {:?}\nspec: {}", spec.routing, spec.fabric.nic.order, spec.to_json());
    text
}

/// Victim, cause, kind of wait, link and time of each row.
fn waits(of: &Blame) -> Vec<(u16, u16, Wait, u32, u64)> {
    (0..of.ps.len()).map(|i| (of.victim[i], of.cause[i], of.wait[i], of.link[i], of.ps[i])).collect()
}

/// Victim, cause, link and time of each row of the roots.
fn root_rows(of: &Blame) -> Vec<(u16, u16, u32, u64)> {
    let of = &of.roots;
    (0..of.ps.len()).map(|i| (of.victim[i], of.cause[i], of.link[i], of.ps[i])).collect()
}

/// What ends a run of a program without a result, but for the words.
fn failure(error: &Error) -> Option<String> {
    match &error.kind {
        ErrorKind::DeadlockedProgram { job, ranks, .. } => Some(format!("{job} is dead with {ranks} ranks")),
        ErrorKind::EndlessIterations {} => Some(error.path.to_string()),
        _ => None,
    }
}

/// How runs ended.
#[derive(Default)]
struct Ends {
    complete: u64,
    cut_short: u64,
    /// With packets that waited for room.
    stalled: u64,
    /// With packets on paths that are not minimal.
    diverted: u64,
    of: u64,
}

impl Ends {
    /// The generator must reach both kinds of end, full buffers and non-minimal paths.
    fn are_all_reached(&self) {
        let Ends { complete, cut_short, stalled, diverted, of } = *self;
        for (what, runs) in
            [("cut short", cut_short), ("complete", complete), ("stalled", stalled), ("diverted", diverted)]
        {
            assert!(15 * runs >= 2 * of, "only {runs} runs of {of} are {what}");
        }
    }
}

/// Counts how a run of the reference ended; an error if something is lost, made or counted twice.
fn account(ends: &mut Ends, spec: &Spec, output: &Output, audit: &Audit) -> Result<(), String> {
    if let Some(problem) = audit.problem() {
        return Err(format!("{problem}\nspec: {}", spec.to_json()));
    }
    let left = audit.packets_at_nics + audit.packets_under_way;
    ends.cut_short += u64::from(left > 0);
    ends.complete += u64::from(left == 0);
    ends.stalled += u64::from(output.links.stalled_ps.iter().any(|&t| t > 0));
    ends.diverted += u64::from(output.jobs.iter().any(|j| j.minimal < j.packets));

    // Every packet was granted one injection link, one ejection link and its links between routers. (With responses,
    // the links of routers carry more, and the jobs count only packets with payload.)
    let nodes = spec.machine().expect("it was built before").network().endpoints();
    let routers = output.links.packets.len() - nodes;
    let injected: u64 = output.links.packets[routers..].iter().sum();
    let mut equal = vec![("packets that left a NIC", injected, audit.packets_issued - audit.packets_at_nics)];
    if left == 0 && !spec.fabric.answers() {
        let hops: u64 = output.jobs.iter().map(|j| j.hops).sum();
        let between: u64 = output.links.packets[..routers].iter().sum();
        equal.push(("packets on links", between, hops + audit.packets_delivered));
        equal.push(("packet-hops", output.packet_hops, between));
    }
    match equal.iter().find(|(_, a, b)| a != b) {
        Some((what, a, b)) => Err(format!("{what}: {a} and {b}\nspec: {}", spec.to_json())),
        None => Ok(()),
    }
}

fn compare(seed: u64, spec: &Spec, ends: &mut Ends) -> Result<(), String> {
    let reference = match run_audited(spec, &mut ()) {
        Ok((output, audit)) => {
            account(ends, spec, &output, &audit).map_err(|problem| format!("seed {seed}: {problem}"))?;
            Ok(output)
        }
        Err(error) => Err(error),
    };
    for queue in [QueueChoice::Wheel, QueueChoice::Ordered] {
        let sim = odonata_sim::run_with(spec, &mut (), queue).map(|(output, _)| output);
        let (sim, reference) = match (&sim, &reference) {
            (Ok(sim), Ok(reference)) => (sim, reference),
            (Err(a), Err(b)) if failure(a).is_some() && failure(a) == failure(b) => continue,
            (a, b) => {
                let said =
                    |r: &Result<Output, Error>| r.as_ref().map_or_else(ToString::to_string, |_| "a result".into());
                let both = format!("sim ({queue:?}): {}, reference: {}", said(a), said(b));
                return Err(format!("seed {seed}: {both}\nspec: {}", spec.to_json()));
            }
        };
        if sim != reference {
            let differences = differences(spec, sim, reference);
            return Err(format!("seed {seed}: sim ({queue:?}) and reference differ\n{differences}"));
        }
    }
    Ok(())
}

/// Compares many specifications; `ODONATA_SEED=17` compares that one only, `ODONATA_TIMES=10` ten times as many.
fn compare_all(count: u64, spec: fn(u64) -> Spec) -> Ends {
    let mut ends = Ends::default();
    if let Some(seed) = std::env::var("ODONATA_SEED").ok().and_then(|s| s.parse().ok()) {
        compare(seed, &spec(seed), &mut ends).unwrap_or_else(|e| panic!("{e}"));
        return Ends::default();
    }
    let times = std::env::var("ODONATA_TIMES").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let count = count * times;
    let failures: Vec<String> = (0..count).filter_map(|seed| compare(seed, &spec(seed), &mut ends).err()).collect();
    let brief = |failure: &String| failure.lines().take(2).collect::<Vec<_>>().join(": ");
    let all: Vec<String> = failures.iter().map(brief).map(|line| line.chars().take(150).collect()).collect();
    let (first, all) = (failures.first().map_or("", |f| f), all.join("\n"));
    assert!(failures.is_empty(), "{} of {count} specifications differ:\n{all}\nthe first:\n{first}", failures.len());
    Ends { of: count, ..ends }
}

#[test]
fn sim_equals_the_reference_on_small_machines() {
    compare_all(1_000, testkit::spec).are_all_reached();
}

/// Many events at one instant, and little time between them: the order of section 5 decides.
#[test]
fn sim_equals_the_reference_when_events_lie_picoseconds_apart() {
    compare_all(1_000, testkit::instant_spec);
}

#[test]
fn sim_equals_the_reference_on_larger_machines() {
    compare_all(20, testkit::larger_spec);
}

/// Uneven and broken machines, sensors, routings by hash and by job.
#[test]
fn sim_equals_the_reference_on_odd_dragonfly_plus_machines() {
    compare_all(400, testkit::odd_spec).are_all_reached();
}

#[test]
fn sim_equals_the_reference_on_odd_dragonfly_plus_machines_when_events_lie_picoseconds_apart() {
    compare_all(200, testkit::instant_odd_spec);
}

#[test]
fn sim_equals_the_reference_on_dragonflies_and_cascades() {
    compare_all(1_000, testkit::direct_spec).are_all_reached();
}

#[test]
fn sim_equals_the_reference_on_dragonflies_and_cascades_when_events_lie_picoseconds_apart() {
    compare_all(500, testkit::instant_direct_spec);
}

/// Decisions read the loads of other routers, so the order of routers at one instant decides.
#[test]
fn sim_equals_the_reference_when_routers_know_of_each_other() {
    compare_all(300, testkit::instant_global_spec);
}

#[test]
fn sim_equals_the_reference_on_larger_dragonflies_and_cascades() {
    compare_all(30, testkit::larger_direct_spec);
}

/// Two and three levels, parallel cables, rails on one leaf, on several and in planes, failures.
#[test]
fn sim_equals_the_reference_on_fat_trees() {
    compare_all(300, testkit::tree_spec);
}

#[test]
fn sim_equals_the_reference_on_fat_trees_when_events_lie_picoseconds_apart() {
    compare_all(200, testkit::instant_tree_spec);
}

#[test]
fn sim_equals_the_reference_on_fat_trees_when_jobs_run_programs() {
    compare_all(150, testkit::tree_program_spec);
}

/// One to three dimensions, parallel cables, rails, failures.
#[test]
fn sim_equals_the_reference_on_any_graph() {
    compare_all(250, testkit::graph_spec);
}

#[test]
fn sim_equals_the_reference_on_any_graph_when_events_lie_picoseconds_apart() {
    compare_all(150, testkit::instant_graph_spec);
}

#[test]
fn sim_equals_the_reference_on_any_graph_when_jobs_run_programs() {
    compare_all(120, testkit::graph_program_spec);
}

/// Functions that draw, read loads, remember a router in the packet, and learn from answers, on every kind of machine.
#[test]
fn sim_equals_the_reference_with_routings_of_ones_own() {
    compare_all(1000, testkit::own_routing_spec).are_all_reached();
}

/// Graphs on which all packets go up and down. On half of them those from router 1 to router 2 come down to router x,
/// from where a way up again would be as short: 1 - x - a - 2 and 1 - x - y - 2.
fn up_and_down_spec(seed: u64) -> Spec {
    let mut spec = testkit::graph_spec(seed);
    let mut c = testkit::Choices::new(seed ^ 0x75);
    spec.routing = RoutingSpec::Autonet { select: c.of(&[Select::Random, Select::Hash, Select::LeastLoaded]) };
    spec.jobs.iter_mut().for_each(|job| job.routing = None);
    let TopologySpec::Graph(graph) = &mut spec.topology else { panic!("seed {seed} is no graph") };
    let ends = graph.ends();
    if graph.rails == 1 && spec.failures.is_empty() && ends >= 3 {
        graph.routers = ends + 5;
        let [z, w, y, x, a] = [0, 1, 2, 3, 4].map(|other| ends + other);
        let known = [[0, 1], [0, z], [0, w], [1, x], [z, y], [w, a], [x, a], [a, 2], [x, y], [y, 2]];
        let others = (3..ends).map(|end| [0, end]);
        graph.links = known.into_iter().chain(others).map(|[a, b]| [a, b, 1]).collect();
        c.shuffle(&mut graph.links);
    }
    spec
}

#[test]
fn sim_equals_the_reference_going_up_and_down() {
    compare_all(300, up_and_down_spec);
}

/// Both say the same of functions that pick no port or write too large a memory, and take the largest that is allowed.
#[test]
fn sim_equals_the_reference_with_functions_that_are_wrong() {
    let mut failures = 0;
    for seed in 0..60 {
        for program in ["test-beyond", "test-memory", "test-largest"] {
            let mut spec = testkit::own_routing_spec(seed);
            let RoutingSpec::Custom { program: of_run, .. } = &mut spec.routing else { panic!("seed {seed}") };
            *of_run = program.to_owned();
            spec.jobs.iter_mut().for_each(|job| job.routing = None);
            let kind = |result: Result<Output, Error>| result.err().map(|error| error.kind);
            let reference = kind(run_audited(&spec, &mut ()).map(|(output, _)| output));
            for queue in [QueueChoice::Wheel, QueueChoice::Ordered] {
                let sim = kind(odonata_sim::run_with(&spec, &mut (), queue).map(|(output, _)| output));
                assert_eq!(sim, reference, "seed {seed}, {program}, {queue:?}");
            }
            let told = matches!(reference, Some(ErrorKind::NoSuchChoice { .. } | ErrorKind::MemoryOutOfRange { .. }));
            assert!(!told || program != "test-largest", "seed {seed}: the largest memory is refused");
            failures += u32::from(told);
        }
    }
    assert!(failures > 60, "{failures} runs failed");
}

#[test]
fn sim_equals_the_reference_on_hyperx_machines() {
    compare_all(250, testkit::hyperx_spec);
}

#[test]
fn sim_equals_the_reference_on_hyperx_machines_when_events_lie_picoseconds_apart() {
    compare_all(150, testkit::instant_hyperx_spec);
}

#[test]
fn sim_equals_the_reference_on_hyperx_machines_when_jobs_run_programs() {
    compare_all(120, testkit::hyperx_program_spec);
}

/// Programs: ranks that wait for each other, on every kind of machine, beside open-loop traffic.
#[test]
fn sim_equals_the_reference_when_jobs_run_programs() {
    compare_all(500, testkit::program_spec).are_all_reached();
}

#[test]
fn sim_equals_the_reference_when_jobs_run_programs_and_events_lie_picoseconds_apart() {
    compare_all(500, testkit::instant_program_spec);
}

#[test]
fn sim_equals_the_reference_when_jobs_run_programs_and_routers_know_of_each_other() {
    compare_all(150, testkit::global_program_spec);
}

/// All-reduces in phases along two axes, and as graphs with several CPUs, whose messages share the queues between GPUs.
#[test]
fn sim_equals_the_reference_when_jobs_run_collectives_of_gpus() {
    compare_all(500, testkit::gpu_collective_spec);
}

#[test]
fn sim_equals_the_reference_when_nics_answer_every_packet() {
    compare_all(300, testkit::answered_spec).are_all_reached();
}

/// A NIC passes over the messages whose destination has too much in flight.
#[test]
fn sim_equals_the_reference_when_nics_have_windows_towards_destinations() {
    compare_all(300, testkit::windowed_spec).are_all_reached();
}

/// Routings compare loads that are rounded down to steps of the buffers.
#[test]
fn sim_equals_the_reference_when_loads_are_known_in_levels() {
    compare_all(500, testkit::levelled_spec).are_all_reached();
}

/// Marks come back with acknowledgements, windows change, and pairs pause.
#[test]
fn sim_equals_the_reference_with_congestion_control() {
    compare_all(300, testkit::congested_spec).are_all_reached();
}

/// Messages of 13 B are a packet of 8 B and one of 5 B, and windows of 13 B have room for one full packet. Catches a
/// credit for a full packet that opens the window by 5 B: many senders to a node, each of them without room, wait for
/// ever if the receiver asks for one packet or two ahead.
#[test]
fn receivers_that_ask_for_little_ahead_do_not_wait_for_senders_without_room() {
    for seed in 0..20 {
        for ahead in [8, 16] {
            let text = format!(
                r#"{{"version":1,"seed":{seed},"compat":null,
                "topology":{{"kind":"dragonfly","groups":1,"routers":2,"nodes_per_router":8,
                    "global_links_per_router":0,"arrangement":"absolute"}},
                "fabric":{{"packet_bytes":8,"router_delay_ps":5000,"channels":2,
                    "nic":{{"overhead_ps":0,"order":"fcfs"}},
                    "congestion_control":{{"law":{{"receiver-credit":{{"ahead_bytes":{ahead}}}}},"window_bytes":13}},
                    "links":{LINKS}}},
                "routing":{{"name":"minimal","select":"random","gateways":"all"}},
                "jobs":[{{"name":"all","nodes":{nodes:?},"record":"every-message","traffic":{{
                    "pattern":{{"name":"uniform-random"}},"message_bytes":13,"interval_ps":300,"intervals":20,
                    "arrival":{{"name":"constant","jitter_ps":0}},"first":"at-zero"}}}}],
                "stop":{{"jobs":[0],"at_ps":null}},
                "measure":{{"from_ps":0,"until_ps":null,"arrivals_every_ps":null}}}}"#,
                nodes = (0..16).collect::<Vec<_>>(),
            );
            let spec = Spec::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            compare(seed, &spec, &mut Ends::default()).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

/// Links of 1 GB/s.
const LINKS: &str = r#"{"node":{"bandwidth":1000000000000000,"latency_ps":3000,"buffer_bytes":800,"credit_delay_ps":0},
    "local":{"bandwidth":1000000000000000,"latency_ps":20000,"buffer_bytes":800,"credit_delay_ps":0},
    "global":{"bandwidth":1000000000000000,"latency_ps":20000,"buffer_bytes":800,"credit_delay_ps":0}}"#;

/// Marks name the jobs that hold queues, and NICs wait for them.
#[test]
fn sim_equals_the_reference_when_marks_name_jobs() {
    compare_all(150, testkit::held_back_spec);
}

/// Links serve classes by priority and share, and each class has its own buffers.
#[test]
fn sim_equals_the_reference_with_traffic_classes() {
    compare_all(300, testkit::classed_spec).are_all_reached();
}

/// Parts of one message leave by several NICs and come by several links: what the last of them does.
#[test]
fn sim_equals_the_reference_when_messages_are_striped() {
    compare_all(300, testkit::striped_spec).are_all_reached();
}

/// Packets of a pair of NICs come in another order than they left.
#[test]
fn sim_equals_the_reference_when_packets_are_numbered() {
    compare_all(500, testkit::numbered_spec).are_all_reached();
}

/// Keys of packets come back with acknowledgements, and are used again.
#[test]
fn sim_equals_the_reference_when_keys_are_used_again() {
    compare_all(400, testkit::recycled_spec);
}

#[test]
fn sim_equals_the_reference_when_policies_select_the_mode_of_each_message() {
    compare_all(300, testkit::application_aware_spec);
}

#[test]
fn the_same_specification_gives_the_same_output() {
    for seed in 0..10 {
        let spec = testkit::spec(seed);
        let once = odonata_reference::run(&spec, &mut ()).expect("it runs");
        assert_eq!(once, odonata_reference::run(&spec, &mut ()).expect("it runs again"), "seed {seed}");
    }
}
