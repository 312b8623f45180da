//! The two event queues give the same bytes. Catches a wheel whose windows are longer than the lookahead, or that
//! returns the events of a router in the wrong order, and an order that matters although it must not.

use odonata_sim::{Output, QueueChoice, Spec, run_with};

use odonata_testkit as generator;
use odonata_topology::Bandwidth;

fn with(spec: &Spec, queue: QueueChoice) -> Output {
    run_with(spec, &mut (), queue).unwrap_or_else(|e| panic!("{queue:?}: {e}\nspec: {}", spec.to_json())).0
}

fn compare(count: u64, of: fn(u64) -> Spec) {
    for seed in 0..count {
        let spec = of(seed);
        let ordered = with(&spec, QueueChoice::Ordered);
        for queue in [QueueChoice::Wheel, QueueChoice::Estimate] {
            assert!(with(&spec, queue) == ordered, "seed {seed}: {queue:?} differs\nspec: {}", spec.to_json());
        }
    }
}

#[test]
fn equal_on_small_machines() {
    compare(600, generator::spec);
}

/// Messages of a few bytes, no latencies, no router delays: lookaheads of a few picoseconds.
#[test]
fn equal_when_events_lie_picoseconds_apart() {
    compare(400, generator::instant_spec);
}

/// Deliveries that are known only picoseconds ahead on machines with long cables: a run that ends with a message ends in
/// the middle of a long window.
#[test]
fn equal_when_messages_are_delivered_at_once() {
    compare(300, |seed| {
        let mut spec = generator::spec(seed);
        spec.fabric.router_delay_ps += 300_000;
        for (class, link) in &mut spec.fabric.links {
            if class == "node" {
                (link.latency_ps, link.bandwidth) = (0, Bandwidth(1_000_000_000_000_000_000));
            } else {
                link.latency_ps += 200_000;
            }
        }
        spec
    });
}

#[test]
fn equal_on_a_larger_machine() {
    compare(12, generator::larger_spec);
}
