//! The errors for specifications: path, code and parameters. Catches a missing check, a check that is off by one, and
//! an error that names the wrong value.

mod fabric;
mod jobs;

use odonata_error::{ErrorKind, path};
use odonata_sim::run;
use odonata_sim::spec::{First, Pattern, Spec, TopologySpec};

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
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for &(change, at, problem) in cases {
        let error = with(change).check().expect_err(at);
        assert_eq!(odonata_sim::check(&with(change)).as_ref(), Err(&error));
        assert_eq!(run(&with(change), &mut ()).err().as_ref(), Some(&error));
        found.push(error.to_string());
        expected.push(format!("{at}: {problem}"));
    }
    assert_eq!(found, expected);
}

pub fn accepted(changes: &[Change]) {
    for (index, &change) in changes.iter().enumerate() {
        assert_eq!(with(change).check(), Ok(()), "number {index}");
    }
}

#[test]
fn version_and_machine() {
    refused(&[
        (|s| s.version = 2, "version", "unsupported-version (found = 2, supported = 1)"),
        (|s| s.version = 0, "version", "unsupported-version (found = 0, supported = 1)"),
    ]);
    let zero = with(|s| s.topology = TopologySpec::DragonflyPlus(machine([2, 0, 2, 2, 2], None)));
    assert_eq!(zero.check(), Err(ErrorKind::Zero {}.at(path!["topology", "leaves"])));
}

#[test]
fn stop_and_measure() {
    refused(&[
        (|s| s.stop.jobs.clear(), "stop", "no-end"),
        (|s| s.stop.at_ps = Some(0), "stop.at_ps", "out-of-range (found = 0, least = 1, most = 4611686018427387904)"),
        (
            |s| s.stop.at_ps = Some((1 << 62) + 1),
            "stop.at_ps",
            "out-of-range (found = 4611686018427387905, least = 1, most = 4611686018427387904)",
        ),
        (|s| s.stop.jobs.push(2), "stop.jobs", "no-such-job (job = 2)"),
        (|s| s.jobs[1].traffic_mut().intervals = None, "stop.jobs", "endless-job (job = `1 to 6`)"),
        (|s| s.measure.arrivals_every_ps = Some(0), "measure.arrivals_every_ps", "zero"),
        (
            |s| (s.measure.from_ps, s.measure.until_ps) = (50, Some(50)),
            "measure.until_ps",
            "window-ends-early (from_ps = 50, until_ps = 50)",
        ),
    ]);
    accepted(&[|s| (s.stop.jobs, s.stop.at_ps) = (vec![], Some(1)), |s| s.measure.until_ps = Some(1)]);
}

/// Catches a table of windows that takes all memory, and time that wraps around.
#[test]
fn runs_that_leave_all_bounds() {
    let mut windows = valid();
    (windows.measure.arrivals_every_ps, windows.jobs[0].traffic_mut().first) = (Some(1), First::AfterInterval);
    windows.jobs[0].traffic_mut().interval_ps = 1 << 40;
    let expected = ErrorKind::TooManyWindows {}.at(path!["measure", "arrivals_every_ps"]);
    assert_eq!(run(&windows, &mut ()).err(), Some(expected));

    let mut ages = valid();
    ages.jobs = vec![job("ages", vec![0, 7], Pattern::Tornado { offset: 1 }, 1, 1 << 54, 600)];
    ages.stop.jobs = vec![0];
    assert_eq!(run(&ages, &mut ()).err(), Some(ErrorKind::TimeOverflow {}.into()));
    ages.jobs[0].traffic_mut().intervals = Some(512);
    assert_eq!(output(&ages).jobs[0].delivered, 1_024, "the last one is issued at 511 * 2^54 ps");
}
