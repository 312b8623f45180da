//! The two simulators accept and refuse the same specifications: channels counted from the model's table, groups that
//! nothing joins. Catches a count of stages or of `S` that is too small or too large in one of them.

use odonata_error::Error;
use odonata_testkit as testkit;

/// What is wrong, without the words.
fn at(result: &Result<(), Error>) -> String {
    match result {
        Ok(()) => "nothing".into(),
        Err(error) => error.path.to_string(),
    }
}

#[test]
fn both_refuse_too_few_channels_and_groups_that_nothing_joins() {
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    for seed in 0..1_000 {
        let spec = testkit::unchecked_direct_spec(seed);
        let (sim, reference) = (odonata_sim::check(&spec), odonata_reference::check(&spec));
        assert_eq!(at(&sim), at(&reference), "seed {seed}: {sim:?} {reference:?}\n{}", spec.to_json());
        *counts.entry(at(&reference)).or_default() += 1;
    }
    for what in ["nothing", "fabric.channels", "topology"] {
        assert!(counts.get(what).is_some_and(|&n| n >= 10), "{what} is rare: {counts:?}");
    }
}

/// Channels of a Dragonfly+, and what is not known on a broken one.
#[test]
fn both_refuse_the_same_on_a_dragonfly_plus() {
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    for seed in 0..1_000 {
        let spec = testkit::unchecked_odd_spec(seed);
        let (sim, reference) = (odonata_sim::check(&spec), odonata_reference::check(&spec));
        // Of several faults each may name its first.
        assert_eq!(sim.is_ok(), reference.is_ok(), "seed {seed}: {sim:?} {reference:?}\n{}", spec.to_json());
        *counts.entry(at(&reference)).or_default() += 1;
    }
    for what in ["nothing", "fabric.channels", "routing.via"] {
        assert!(counts.get(what).is_some_and(|&n| n >= 10), "{what} is rare: {counts:?}");
    }
}

/// The least number of channels is the same in both.
#[test]
fn both_need_as_many_channels() {
    for seed in 0..300 {
        let mut spec = testkit::direct_spec(seed);
        while spec.fabric.channels > 1 {
            spec.fabric.channels -= 1;
            let (sim, reference) = (odonata_sim::check(&spec), odonata_reference::check(&spec));
            assert_eq!(at(&sim), at(&reference), "seed {seed}: {sim:?} {reference:?}\n{}", spec.to_json());
        }
    }
}
