//! Runs a specification given as a JSON file and prints what it cost: the bare core, for measurements.
//!
//! `cargo run --release -p odonata-sim --example hops -- SPEC.json [wheel|ordered|THREADS|=PARTITIONS]`

use std::time::Instant;

use odonata_sim::{QueueChoice, Spec, run_with};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: hops SPEC.json [wheel|ordered|THREADS|=PARTITIONS]")?;
    let choice = match args.next().as_deref() {
        Some(forced) if forced.starts_with('=') => QueueChoice::Partitions(forced[1..].parse()?),
        None => QueueChoice::Estimate,
        Some("wheel") => QueueChoice::Wheel,
        Some("ordered") => QueueChoice::Ordered,
        Some(threads) => QueueChoice::Threads(threads.parse()?),
    };
    odonata_testkit::make_known(); // routings of one's own of the generator, such as `test-any`
    let spec = Spec::from_json(&std::fs::read_to_string(path)?)?;
    let start = Instant::now();
    let (output, cost) = run_with(&spec, &mut (), choice)?;
    let wall = start.elapsed().as_secs_f64();
    let hops = output.packet_hops;
    println!("packet_hops {hops} events {} events_per_hop {:.3}", cost.events, cost.events as f64 / hops as f64);
    println!("wall_s {wall:.3} ns_per_hop {:.1} end_us {:.3}", wall * 1e9 / hops as f64, output.end_ps as f64 / 1e6);
    for (job, totals) in spec.jobs.iter().zip(&output.jobs) {
        let mean = totals.latency.sum as f64 / totals.latency.count.max(1) as f64 / 1e6;
        println!(
            "{}: delivered {} of {}, mean {mean:.4} us, min {:.4} us, max {:.4} us, minimal {:.4}",
            job.name,
            totals.delivered,
            totals.issued,
            totals.latency.min as f64 / 1e6,
            totals.latency.max as f64 / 1e6,
            totals.minimal as f64 / totals.packets.max(1) as f64
        );
    }
    Ok(())
}
