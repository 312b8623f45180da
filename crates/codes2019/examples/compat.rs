//! Runs a specification from a JSON file in the compatibility model and prints means, to compare them with published
//! ones.
//!
//! `cargo run --release -p odonata-codes2019 --example compat -- SPEC.json`

use std::time::Instant;

use odonata_codes2019::run;
use odonata_sim::Spec;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: compat SPEC.json")?;
    let spec = Spec::from_json(&std::fs::read_to_string(path)?)?;
    let start = Instant::now();
    let output = run(&spec, &mut ())?;
    let (wall_s, end_us) = (start.elapsed().as_secs_f64(), output.end_ps as f64 / 1e6);
    println!("packet_hops {} wall_s {wall_s:.2} end_us {end_us:.3}", output.packet_hops);
    for (job, totals) in spec.jobs.iter().zip(&output.jobs) {
        let (latency, packets) = (&totals.latency, totals.packets.max(1) as f64);
        println!(
            "{}: delivered {} of {}, mean {:.4} us, min {:.4} us, max {:.4} us, minimal {:.4}, hops {:.3}",
            job.name,
            totals.delivered,
            totals.issued,
            latency.sum as f64 / latency.count.max(1) as f64 / 1e6,
            latency.min as f64 / 1e6,
            latency.max as f64 / 1e6,
            totals.minimal as f64 / packets,
            totals.hops as f64 / packets
        );
    }
    Ok(())
}
