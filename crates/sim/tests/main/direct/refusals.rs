//! Everything that a specification is refused for that came with dragonflies and cascades: where, and with which words.
//! Catches a check that went missing, one that is off by one, and a message that names the wrong value.

mod documents;
mod routings;

use odonata_sim::spec::{AriesMode, Knowledge, Pattern, RoutingSpec, Select, Sensed, Spec, Via};
use odonata_sim::{SimError, check, run};

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
    for &(change, at, problem) in cases {
        let mut spec = base();
        change(&mut spec);
        let expected = SimError::invalid(at, problem);
        assert_eq!(check(&spec), Err(expected.clone()));
        assert_eq!(run(&spec, &mut ()).err(), Some(expected));
    }
}

fn accepted(base: fn() -> Spec, changes: &[fn(&mut Spec)]) {
    for (index, change) in changes.iter().enumerate() {
        let mut spec = base();
        change(&mut spec);
        assert_eq!(check(&spec), Ok(()), "number {index}");
    }
}

/// Four routings of shortest ways, and others by way of other groups.
fn different(count: usize) -> Vec<RoutingSpec> {
    let mut all = vec![aries(AriesMode::InOrder, ALL)];
    let selects = [Select::Random, Select::Hash, Select::LeastLoaded];
    all.extend(selects.map(|select| minimal(select, ALL)));
    all.extend(selects.map(|select| valiant(GROUP, select, ALL)));
    all.extend(selects.map(|select| valiant(Via::Router, select, ALL)));
    all.truncate(count);
    all
}

/// Catches a number of a routing that wraps round, and jobs that follow the routing of others.
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
    let problem = "the jobs have 9 different routings, but a run knows at most 8";
    assert_eq!(check(&many(9)), Err(SimError::invalid("jobs", problem)));
    // The routing of the whole counts only where a job uses it, and equal ones count once.
    let mut alike = many(9);
    alike.jobs[8].routing = alike.jobs[7].routing.clone();
    assert_eq!(check(&alike), Ok(()));
    alike.jobs[8].routing = None;
    assert_eq!(check(&alike), Err(SimError::invalid("jobs", problem)));
}

#[test]
fn sensors_links_and_patterns() {
    refused(
        valid,
        &[
            (
                |s| s.sensing.delay_ps.extend([("local".to_owned(), 1)]),
                "sensing.delay_ps.local",
                "the links between routers are of the classes [\"chassis\", \"group\", \"optical\"]",
            ),
            (
                |s| s.sensing.delay_ps.extend([("node".to_owned(), 1)]),
                "sensing.delay_ps.node",
                "the links between routers are of the classes [\"chassis\", \"group\", \"optical\"]",
            ),
            (
                |s| s.sensing.delay_ps.extend([("optical".to_owned(), 1_000_000_001)]),
                "sensing.delay_ps.optical",
                "1000000001 ps is not between 0 and 1000000000 ps",
            ),
            (
                |s| {
                    let optical = s.fabric.links.remove("optical").expect("it is there");
                    s.fabric.links.insert("global".to_owned(), optical);
                },
                "fabric.links",
                "this machine has links of the classes {\"chassis\", \"group\", \"node\", \"optical\"}, found {\"chassis\", \
                 \"global\", \"group\", \"node\"}",
            ),
            (
                |s| s.jobs[0].traffic_mut().pattern = Pattern::GroupShift { shift: 2 },
                "jobs[0].traffic.pattern",
                "a shift of 2 makes each of the job's 2 groups its own partner",
            ),
            (
                |s| s.jobs[0].traffic_mut().pattern = Pattern::GroupShift { shift: 0 },
                "jobs[0].traffic.pattern",
                "a shift of 0 makes each of the job's 2 groups its own partner",
            ),
            (
                |s| {
                    s.jobs[1].nodes = vec![1, 2];
                    s.jobs[1].traffic_mut().pattern = Pattern::GroupShift { shift: 7 };
                },
                "jobs[1].traffic.pattern",
                "a shift of 7 makes each of the job's 1 groups its own partner",
            ),
            (|s| s.jobs[0].nodes[1] = 12, "jobs[0].nodes", "node 12 does not exist: the machine has 12 nodes"),
            (|s| s.failures.routers = vec![10], "jobs[1].nodes", "node 10 is on a router that has failed"),
        ],
    );
    accepted(
        valid,
        &[
            |s| s.sensing.delay_ps.extend([("optical".to_owned(), 1_000_000_000)]),
            |s| s.sensing.kind = Sensed::None,
            |s| s.jobs[0].traffic_mut().pattern = Pattern::GroupShift { shift: 3 },
            |s| s.failures.routers = vec![9],
            |s| s.failures.links = vec![[0, 1], [1, 1]],
        ],
    );
}

#[test]
fn failures_that_do_not_exist() {
    for (failing, text) in [
        ([12, 0], "`failures.links[0]` names router 12, but the routers are 0 to 11"),
        ([0, 9], "`failures.links[0]` names port 9 of router 0, whose ports are 0 to 4"),
        (
            [3, 0],
            "`failures.links[0]` names port 0 of router 3, which leads to node 3; only links between routers can fail: \
             leave the node out of the jobs instead",
        ),
    ] {
        let mut spec = valid();
        spec.failures.links = vec![failing];
        assert_eq!(check(&spec).map_err(|e| e.to_string()), Err(text.to_owned()));
    }
    let mut spec = valid();
    spec.failures.routers = vec![12];
    let text = "`failures.routers[0]` names router 12, but the routers are 0 to 11";
    assert_eq!(check(&spec).map_err(|e| e.to_string()), Err(text.to_owned()));
}

/// What a Dragonfly+ cannot do once something has failed.
#[test]
fn broken_dragonfly_plus() {
    let by_leaf = "with failures packets cannot be sent by way of a leaf, only of a `spine`";
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
    let problem = "with failures `valiant` knows groups of at most 64 spines, not 65";
    assert_eq!(check(&wide(65)), Err(SimError::invalid("routing.name", problem)));
}

/// Catches a machine that is built, and then takes more memory than there is.
#[test]
fn more_channels_than_memory_holds() {
    let mut spec = valid();
    spec.topology = grid([1, 1, 1_500, 1, 1]);
    spec.fabric.channels = 16;
    let problem = "2250000 router ports with 16 virtual channels each are more than the 33554432 channels that can be \
                   simulated; use a smaller machine or fewer channels";
    assert_eq!(check(&spec), Err(SimError::invalid("topology", problem)));
}
