//! Everything that a specification is refused for: where, and with which words. Catches a check that went missing, one
//! that is off by one, and a message that names the wrong value.

mod fabric;
mod jobs;

use odonata_sim::spec::{First, Pattern, Spec, TopologySpec};
use odonata_sim::{SimError, run};
use odonata_topology::TopologyError;

use crate::support::{MINIMAL, job, machine, output, spec, stream};

/// Two groups of two leaves of two nodes; jobs `0 to 7` and `1 to 6`.
pub fn valid() -> Spec {
    spec(machine([2, 2, 2, 2, 2], None), MINIMAL, vec![stream(0, 7, 100), stream(1, 6, 100)])
}

pub type Change = fn(&mut Spec);

pub fn with(change: Change) -> Spec {
    let mut spec = valid();
    change(&mut spec);
    spec
}

pub fn refused(cases: &[(Change, &str, &str)]) {
    for &(change, at, problem) in cases {
        let expected = SimError::invalid(at, problem);
        assert_eq!(with(change).check(), Err(expected.clone()));
        assert_eq!(odonata_sim::check(&with(change)), Err(expected.clone()));
        assert_eq!(run(&with(change), &mut ()).err(), Some(expected.clone()));
        assert_eq!(expected.to_string(), format!("{at}: {problem}"));
    }
}

pub fn accepted(changes: &[Change]) {
    for (index, &change) in changes.iter().enumerate() {
        assert_eq!(with(change).check(), Ok(()), "number {index}");
    }
}

#[test]
fn version_and_machine() {
    refused(&[
        (|s| s.version = 2, "version", "this core reads version 1, not 2"),
        (|s| s.version = 0, "version", "this core reads version 1, not 0"),
    ]);
    let zero = with(|s| s.topology = TopologySpec::DragonflyPlus(machine([2, 0, 2, 2, 2], None)));
    assert_eq!(zero.check(), Err(SimError::Topology(TopologyError::Zero { what: "leaves" })));
    assert_eq!(zero.check().map_err(|e| e.to_string()), Err("`leaves` is 0, but a machine needs at least 1".into()));
}

#[test]
fn stop_and_measure() {
    refused(&[
        (|s| s.stop.jobs.clear(), "stop", "neither a job nor a time ends the run"),
        (|s| s.stop.at_ps = Some(0), "stop.at_ps", "0 ps is not between 1 and 4611686018427387904 ps"),
        (
            |s| s.stop.at_ps = Some((1 << 62) + 1),
            "stop.at_ps",
            "4611686018427387905 ps is not between 1 and 4611686018427387904 ps",
        ),
        (|s| s.stop.jobs.push(2), "stop.jobs", "there is no job 2"),
        (
            |s| s.jobs[1].traffic_mut().intervals = None,
            "stop.jobs",
            "job `1 to 6` never ends, so the run would not either",
        ),
        (|s| s.measure.arrivals_every_ps = Some(0), "measure.arrivals_every_ps", "a window of 0 ps has no end"),
        (
            |s| (s.measure.from_ps, s.measure.until_ps) = (50, Some(50)),
            "measure.until_ps",
            "the measured interval ends at 50 ps, before it begins",
        ),
    ]);
    accepted(&[|s| (s.stop.jobs, s.stop.at_ps) = (vec![], Some(1)), |s| s.measure.until_ps = Some(1)]);
}

/// Catches a table of windows that eats all memory, and time that wraps round.
#[test]
fn runs_that_leave_all_bounds() {
    let mut windows = valid();
    (windows.measure.arrivals_every_ps, windows.jobs[0].traffic_mut().first) = (Some(1), First::AfterInterval);
    windows.jobs[0].traffic_mut().interval_ps = 1 << 40;
    let problem = "the run has more windows of this width than fit into memory; use wider ones";
    assert_eq!(run(&windows, &mut ()).err(), Some(SimError::invalid("measure.arrivals_every_ps", problem)));

    let mut ages = valid();
    ages.jobs = vec![job("ages", vec![0, 7], Pattern::Tornado { offset: 1 }, 1, 1 << 54, 600)];
    ages.stop.jobs = vec![0];
    assert_eq!(run(&ages, &mut ()).err(), Some(SimError::TimeOverflow));
    ages.jobs[0].traffic_mut().intervals = Some(512);
    assert_eq!(output(&ages).jobs[0].delivered, 1_024, "the last one is issued at 511 * 2^54 ps");
}
