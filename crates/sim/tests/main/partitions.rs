//! Any number of threads gives the same bytes. Catches state that two partitions share without telling each other, a
//! window in which one can affect another, and a sum that is taken twice or not at all.

use odonata_sim::{Audit, Output, QueueChoice, Spec, run_audited, run_with};
use odonata_testkit as generator;

/// What a run gives: its output, its audit and how many events it took, or its error; and how many threads shared it.
fn with(spec: &Spec, queue: QueueChoice) -> (Result<(Output, Audit, u64), String>, usize) {
    match run_audited(spec, queue) {
        Ok((output, cost, audit)) => (Ok((output, audit, cost.events)), cost.threads),
        Err(error) => (Err(error.to_string()), 1),
    }
}

fn compare(count: u64, of: fn(u64) -> Spec) {
    let mut shared = 0;
    for seed in 0..count {
        let mut spec = of(seed);
        (spec.measure.blame, spec.measure.roots) = (seed % 2 == 0, seed % 4 == 0);
        spec.measure.series = seed % 3 == 0;
        spec.measure.operations = seed % 5 == 0;
        let (one, _) = with(&spec, QueueChoice::Wheel);
        // One number of partitions for each seed. Their period is no multiple of those of what is measured.
        let partitions = [2, 3, 7, 2, 3, 7, 7][seed as usize % 7];
        for queue in [QueueChoice::Partitions(partitions), QueueChoice::Changing(2 + seed as usize % 3)] {
            let (several, used) = with(&spec, queue);
            assert!(several == one, "seed {seed}: {queue:?} differs\nspec: {}", spec.to_json());
            shared += u64::from(used > 1);
        }
        if let Ok((_, audit, _)) = one {
            assert!(audit.balanced(), "seed {seed}: {audit:?}");
        }
    }
    assert!(4 * shared > count, "only {shared} of {} runs were shared by threads", 2 * count);
}

/// The part of the longest thread lies between an equal share and everything. Catches a window that is counted twice
/// or not at all.
#[test]
fn windows_and_their_longest_parts_are_counted() {
    for seed in 0..4 {
        let spec = generator::larger_spec(seed);
        let cost = |queue| run_with(&spec, &mut (), queue).expect("it runs").1;
        let (one, three) = (cost(QueueChoice::Wheel), cost(QueueChoice::Partitions(3)));
        assert_eq!((one.windows, one.longest), (0, 0));
        assert_eq!((three.threads, three.events), (3, one.events));
        assert!(three.windows > 0 && three.windows <= three.longest, "{three:?}");
        assert!(3 * three.longest >= three.events && three.longest < three.events, "{three:?}");
    }
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

#[test]
fn equal_with_programs() {
    compare(120, generator::program_spec);
    compare(80, generator::instant_program_spec);
}

#[test]
fn equal_with_stages_whose_operations_are_computed() {
    compare(120, generator::gpu_collective_spec);
}

#[test]
fn equal_when_receivers_fetch_the_data_of_a_rendezvous() {
    compare(80, generator::fetching_program_spec);
}

#[test]
fn equal_when_loads_are_known_in_levels() {
    compare(100, generator::levelled_spec);
}

#[test]
fn equal_when_packets_are_answered() {
    compare(100, generator::answered_spec);
    compare(60, generator::application_aware_spec);
    compare(60, generator::windowed_spec);
    compare(100, generator::congested_spec);
    compare(60, generator::held_back_spec);
    compare(60, generator::classed_spec);
}

#[test]
fn equal_when_packets_are_numbered() {
    compare(160, generator::numbered_spec);
    compare(80, generator::recycled_spec);
}

#[test]
fn equal_when_messages_are_striped() {
    compare(120, generator::striped_spec);
}
