//! The fast simulator and the reference, two programs written apart from one model, must agree in every number.
//! Catches any deviation of either from `docs/model.md`.

mod support;

use std::fmt::Write;

use odonata_sim::{Output, QueueChoice, Spec};

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
                let counts = (t.issued, t.delivered, t.packets, t.bytes, t.hops, t.minimal);
                format!("{counts:?} {:?} {:?} latency {latency:?}", t.first_issue_ps, t.last_delivery_ps)
            };
            let _ = writeln!(text, "jobs[{job}] (issued, delivered, packets, bytes, hops, minimal):");
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
    ];
    for (name, a, b) in columns {
        text += &first_difference(name, a, b).unwrap_or_default();
    }
    let _ = writeln!(text, "{:?} {:?}\nspec: {}", spec.routing, spec.fabric.nic.order, spec.to_json());
    text
}

fn compare(seed: u64, spec: &Spec) -> Result<(), String> {
    let reference = odonata_reference::run(spec, &mut ()).map_err(|e| format!("seed {seed}: reference: {e}"))?;
    for queue in [QueueChoice::Wheel, QueueChoice::Ordered] {
        let sim = odonata_sim::run_with(spec, &mut (), queue);
        let (sim, _) = sim.map_err(|e| format!("seed {seed}: sim, {queue:?}: {e}"))?;
        if sim != reference {
            let differences = differences(spec, &sim, &reference);
            return Err(format!("seed {seed}: sim ({queue:?}) and reference differ\n{differences}"));
        }
    }
    Ok(())
}

/// Compares many specifications; `ODONATA_SEED=17` compares that one only.
fn compare_all(count: u64, spec: fn(u64) -> Spec) {
    if let Some(seed) = std::env::var("ODONATA_SEED").ok().and_then(|s| s.parse().ok()) {
        return compare(seed, &spec(seed)).unwrap_or_else(|e| panic!("{e}"));
    }
    let failures: Vec<String> = (0..count).filter_map(|seed| compare(seed, &spec(seed)).err()).collect();
    assert!(failures.is_empty(), "{} of {count} specifications differ; the first:\n{}", failures.len(), failures[0]);
}

#[test]
fn sim_equals_the_reference_on_small_machines() {
    compare_all(1_000, support::spec);
}

/// Many events at one instant, and little time between them: the order of section 5 decides.
#[test]
fn sim_equals_the_reference_when_events_lie_picoseconds_apart() {
    compare_all(1_000, support::instant_spec);
}

#[test]
fn sim_equals_the_reference_on_larger_machines() {
    compare_all(20, support::larger_spec);
}

/// Uneven and broken machines, sensors, routings by hash and by job.
#[test]
fn sim_equals_the_reference_on_odd_dragonfly_plus_machines() {
    compare_all(400, support::odd_spec);
}

#[test]
fn sim_equals_the_reference_on_odd_dragonfly_plus_machines_when_events_lie_picoseconds_apart() {
    compare_all(200, support::instant_odd_spec);
}

#[test]
fn sim_equals_the_reference_on_dragonflies_and_cascades() {
    compare_all(1_000, support::direct_spec);
}

#[test]
fn sim_equals_the_reference_on_dragonflies_and_cascades_when_events_lie_picoseconds_apart() {
    compare_all(500, support::instant_direct_spec);
}

/// Decisions read the loads of other routers, so the order of routers at one instant decides.
#[test]
fn sim_equals_the_reference_when_routers_know_of_each_other() {
    compare_all(300, support::instant_global_spec);
}

#[test]
fn sim_equals_the_reference_on_larger_dragonflies_and_cascades() {
    compare_all(30, support::larger_direct_spec);
}
