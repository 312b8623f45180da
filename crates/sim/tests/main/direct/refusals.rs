//! The errors for specifications of dragonflies and cascades: path, code and parameters. Catches a missing check, a
//! check that is off by one, and an error that names the wrong value.

mod documents;
mod routings;

use odonata_error::{ErrorKind, path};
use odonata_sim::spec::{AriesMode, Knowledge, MetricKind, Pattern, RoutingSpec, Select, Spec, Via};
use odonata_sim::{check, run};

use super::support::{ALL, aries, flat, grid, minimal, spec, ugal, valiant};
use crate::support::{machine, stream};

const LOCAL: Knowledge = Knowledge::Local;
const GROUP: Via = Via::Group;

/// Three groups of four routers; jobs `0 to 11` and `1 to 10`.
fn valid() -> Spec {
    spec(grid([3, 2, 2, 1, 1]), minimal(Select::Random, ALL), vec![stream(0, 11, 100), stream(1, 10, 100)])
}

/// Three groups of two leaves of two nodes.
fn plus() -> Spec {
    crate::support::spec(
        machine([3, 2, 3, 2, 4], None),
        crate::support::MINIMAL,
        vec![stream(0, 11, 100), stream(1, 10, 100)],
    )
}

type Case = (fn(&mut Spec), &'static str, &'static str);

fn refused(base: fn() -> Spec, cases: &[Case]) {
    assert_eq!(check(&base()), Ok(()));
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for &(change, at, problem) in cases {
        let mut spec = base();
        change(&mut spec);
        let error = check(&spec).expect_err(at);
        assert_eq!(run(&spec, &mut ()).err().as_ref(), Some(&error));
        found.push(error.to_string());
        expected.push(format!("{at}: {problem}"));
    }
    assert_eq!(found, expected);
}

fn accepted(base: fn() -> Spec, changes: &[fn(&mut Spec)]) {
    for (index, change) in changes.iter().enumerate() {
        let mut spec = base();
        change(&mut spec);
        assert_eq!(check(&spec), Ok(()), "number {index}");
    }
}

/// Four routings of minimal paths, and others through other groups.
fn different(count: usize) -> Vec<RoutingSpec> {
    let mut all = vec![aries(AriesMode::InOrder, ALL)];
    let selects = [Select::Random, Select::Hash, Select::LeastLoaded];
    all.extend(selects.map(|select| minimal(select, ALL)));
    all.extend(selects.map(|select| valiant(GROUP, select, ALL)));
    all.extend(selects.map(|select| valiant(Via::Router, select, ALL)));
    all.truncate(count);
    all
}

/// Catches a routing number that wraps around, and jobs that use the routing of others.
#[test]
fn at_most_eight_routings_in_a_run() {
    let many = |count: usize| {
        let jobs = different(count).into_iter().enumerate().map(|(n, routing)| {
            // Node n of the first group to node n of the last one.
            let mut job = stream(n as u32, 20 + n as u32, 5_000);
            job.routing = Some(routing);
            job
        });
        spec(flat([3, 5, 2, 1]), ugal(LOCAL, GROUP, 1, ALL), jobs.collect())
    };
    let jobs = crate::support::output(&many(8)).jobs;
    let minimal: Vec<(u64, u64)> = jobs.iter().map(|job| (job.packets, job.minimal)).collect();
    assert_eq!(minimal, [[(5, 5); 4], [(5, 0); 4]].concat());
    let refusal = ErrorKind::TooManyRoutings { found: 9, most: 8 }.at(path!["jobs"]);
    assert_eq!(check(&many(9)), Err(refusal.clone()));
    // The routing of the run counts only where a job uses it, and equal ones count once.
    let mut alike = many(9);
    alike.jobs[8].routing = alike.jobs[7].routing.clone();
    assert_eq!(check(&alike), Ok(()));
    alike.jobs[8].routing = None;
    assert_eq!(check(&alike), Err(refusal));
}

#[test]
fn sensors_links_and_patterns() {
    refused(
        valid,
        &[
            (
                |s| s.sensing.delay_ps.extend([("local".to_owned(), 1)]),
                "sensing.delay_ps.local",
                "unknown-class (class = `local`, classes = [`chassis`, `group`, `optical`])",
            ),
            (
                |s| s.sensing.delay_ps.extend([("node".to_owned(), 1)]),
                "sensing.delay_ps.node",
                "unknown-class (class = `node`, classes = [`chassis`, `group`, `optical`])",
            ),
            (
                |s| s.sensing.delay_ps.extend([("optical".to_owned(), 1_000_000_001)]),
                "sensing.delay_ps.optical",
                "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
            ),
            (
                |s| {
                    let optical = s.fabric.links.remove("optical").expect("it is there");
                    s.fabric.links.insert("global".to_owned(), optical);
                },
                "fabric.links",
                "other-classes (classes = [`chassis`, `group`, `node`, `optical`], found = [`chassis`, `global`, `group`, `node`])",
            ),
            (
                |s| s.jobs[0].traffic_mut().pattern = Pattern::GroupShift { shift: 2 },
                "jobs[0].traffic.pattern.shift",
                "shift-to-self (shift = 2, groups = 2)",
            ),
            (
                |s| s.jobs[0].traffic_mut().pattern = Pattern::GroupShift { shift: 0 },
                "jobs[0].traffic.pattern.shift",
                "shift-to-self (shift = 0, groups = 2)",
            ),
            (
                |s| {
                    s.jobs[1].nodes = vec![1, 2];
                    s.jobs[1].traffic_mut().pattern = Pattern::GroupShift { shift: 7 };
                },
                "jobs[1].traffic.pattern.shift",
                "shift-to-self (shift = 7, groups = 1)",
            ),
            (|s| s.jobs[0].nodes[1] = 12, "jobs[0].nodes", "no-such-node (node = 12, nodes = 12)"),
            (|s| s.failures.routers = vec![10], "jobs[1].nodes", "node-failed (node = 10)"),
        ],
    );
    accepted(
        valid,
        &[
            |s| s.sensing.delay_ps.extend([("optical".to_owned(), 1_000_000_000)]),
            |s| s.sensing.kind = MetricKind::None,
            |s| s.jobs[0].traffic_mut().pattern = Pattern::GroupShift { shift: 3 },
            |s| s.failures.routers = vec![9],
            |s| s.failures.links = vec![[0, 1], [1, 1]],
        ],
    );
}

#[test]
fn failures_that_do_not_exist() {
    for (failing, text) in [
        ([12, 0], "failures.links[0]: no-such-router (router = 12, last = 11)"),
        ([0, 9], "failures.links[0]: no-such-port (router = 0, port = 9, last = 4)"),
        ([3, 0], "failures.links[0]: port-to-node (router = 3, port = 0, node = 3)"),
    ] {
        let mut spec = valid();
        spec.failures.links = vec![failing];
        assert_eq!(check(&spec).map_err(|e| e.to_string()), Err(text.to_owned()));
    }
    let mut spec = valid();
    spec.failures.routers = vec![12];
    let text = "failures.routers[0]: no-such-router (router = 12, last = 11)";
    assert_eq!(check(&spec).map_err(|e| e.to_string()), Err(text.to_owned()));
}

/// What a Dragonfly+ with failures does not support.
#[test]
fn broken_dragonfly_plus() {
    let by_leaf = "via-leaf-with-failures";
    refused(
        plus,
        &[(
            |s| {
                s.failures.links = vec![[0, 2]];
                s.jobs[1].routing = Some(crate::support::valiant(Via::Leaf));
            },
            "jobs[1].routing.via",
            by_leaf,
        )],
    );
    let wide = |spines: u32| {
        let mut spec = crate::support::spec(
            machine([2, 1, spines, 1, 1], None),
            crate::support::valiant(Via::Spine),
            vec![stream(0, 1, 100)],
        );
        spec.failures.links = vec![[0, 1]];
        spec
    };
    assert_eq!(check(&wide(64)), Ok(()));
    let kind = ErrorKind::TooManySpines { routing: "valiant", found: 65, most: 64 };
    assert_eq!(check(&wide(65)), Err(kind.at(path!["routing", "name"])));
}

/// Catches a machine that is built and then needs more memory than there is.
#[test]
fn more_channels_than_memory_holds() {
    let mut spec = valid();
    spec.topology = grid([1, 1, 1_500, 1, 1]);
    spec.fabric.channels = 16;
    let kind = ErrorKind::TooManyVcs { ports: 2_250_000, channels: 16, most: 1 << 25 };
    assert_eq!(check(&spec), Err(kind.at(path!["topology"])));
}
