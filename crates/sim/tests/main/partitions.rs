//! Any number of threads gives the same bytes. Catches state that two partitions share without telling each other, a
//! window in which one can affect another, and a sum that is taken twice or not at all.

use odonata_sim::{Audit, Cost, Output, QueueChoice, Spec, audit, run_with};
use odonata_testkit as generator;

fn with(spec: &Spec, queue: QueueChoice) -> (Output, Cost) {
    run_with(spec, &mut (), queue).unwrap_or_else(|e| panic!("{queue:?}: {e}\nspec: {}", spec.to_json()))
}

fn balanced(spec: &Spec, queue: QueueChoice) -> Audit {
    let audit = audit(spec, queue).unwrap_or_else(|e| panic!("{queue:?}: {e}\nspec: {}", spec.to_json()));
    assert!(audit.balanced(), "{queue:?}: {audit:?}\nspec: {}", spec.to_json());
    audit
}

fn compare(count: u64, of: fn(u64) -> Spec) {
    let mut shared = 0;
    for seed in 0..count {
        let mut spec = of(seed);
        (spec.measure.arrivals_every_ps, spec.measure.blame, spec.measure.roots) = (None, false, false);
        let one = with(&spec, QueueChoice::Wheel);
        for threads in [2, 3, 7] {
            let (queue, shown) = (QueueChoice::Partitions(threads), spec.to_json());
            let several = with(&spec, queue);
            assert!(several.0 == one.0, "seed {seed}: {threads} threads differ\nspec: {shown}");
            assert_eq!(several.1.events, one.1.events, "seed {seed}: {threads} threads\nspec: {shown}");
            shared += u64::from(several.1.threads > 1);
        }
        assert_eq!(balanced(&spec, QueueChoice::Partitions(3)), balanced(&spec, QueueChoice::Wheel), "seed {seed}");
    }
    assert!(3 * shared > count, "only {shared} of {} runs were shared by threads", 3 * count);
}

#[test]
fn equal_on_small_machines() {
    compare(100, generator::spec);
}

#[test]
fn equal_when_events_lie_picoseconds_apart() {
    compare(80, generator::instant_spec);
}

#[test]
fn equal_on_irregular_machines_with_any_metric() {
    compare(80, generator::odd_spec);
    compare(80, generator::direct_spec);
    compare(60, generator::instant_direct_spec);
}

#[test]
fn equal_on_larger_machines() {
    compare(8, generator::larger_spec);
    compare(8, generator::larger_direct_spec);
}
