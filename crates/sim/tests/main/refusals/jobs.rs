//! Jobs that cannot be simulated.

use odonata_sim::spec::{Arrival, Pattern, Spec};

use super::{accepted, refused};

fn pattern(spec: &mut Spec, pattern: Pattern) {
    spec.jobs[0].traffic_mut().pattern = pattern;
}

#[test]
fn jobs() {
    refused(&[
        (|s| s.jobs.clear(), "jobs", "a run has between 1 and 65,535 jobs, not 0"),
        (|s| s.jobs = vec![s.jobs[0].clone(); 65_536], "jobs", "a run has between 1 and 65,535 jobs, not 65536"),
        (|s| s.jobs[1].name = "0 to 7".into(), "jobs[1].name", "another job is named `0 to 7` too"),
        (|s| s.jobs[0].nodes[1] = 8, "jobs[0].nodes", "node 8 does not exist: the machine has 8 nodes"),
        (|s| s.jobs[1].nodes[1] = 1, "jobs[1].nodes", "node 1 is listed twice"),
        (|s| s.jobs[1].nodes[0] = 7, "jobs[1].nodes", "node 7 belongs to job `0 to 7` already"),
        (|s| s.jobs[1].nodes.truncate(1), "jobs[1].nodes", "1 ranks have nobody to send to"),
        (|s| s.jobs[1].nodes.clear(), "jobs[1].nodes", "0 ranks have nobody to send to"),
        (
            |s| s.jobs[0].traffic_mut().message_bytes = 0,
            "jobs[0].traffic.message_bytes",
            "0 is not between 1 and 2^40 bytes",
        ),
        (
            |s| s.jobs[0].traffic_mut().message_bytes = (1 << 40) + 1,
            "jobs[0].traffic.message_bytes",
            "1099511627777 is not between 1 and 2^40 bytes",
        ),
        (
            |s| s.jobs[1].traffic_mut().interval_ps = 0,
            "jobs[1].traffic.interval_ps",
            "0 ps is not between 1 and 18014398509481984 ps",
        ),
        (
            |s| s.jobs[1].traffic_mut().interval_ps = (1 << 54) + 1,
            "jobs[1].traffic.interval_ps",
            "18014398509481985 ps is not between 1 and 18014398509481984 ps",
        ),
        (
            |s| s.jobs[1].traffic_mut().arrival = Arrival::Constant { jitter_ps: u64::MAX },
            "jobs[1].traffic.arrival.jitter_ps",
            "18446744073709551615 ps is not between 0 and 18014398509481984 ps",
        ),
        (
            |s| s.jobs[1].traffic_mut().arrival = Arrival::Staggered { jitter_ps: (1 << 54) + 1 },
            "jobs[1].traffic.arrival.jitter_ps",
            "18014398509481985 ps is not between 0 and 18014398509481984 ps",
        ),
        (
            |s| s.jobs[0].traffic_mut().intervals = Some(0),
            "jobs[0].traffic.intervals",
            "0 is not between 1 and 2^31 - 1",
        ),
    ]);
    accepted(&[
        |s| s.jobs[0].traffic_mut().message_bytes = 1 << 40,
        |s| s.jobs[0].traffic_mut().interval_ps = 1 << 54,
        |s| s.jobs[0].traffic_mut().arrival = Arrival::Staggered { jitter_ps: 1 << 54 },
        |s| s.jobs[0].traffic_mut().intervals = Some(1 << 30),
    ]);
}

#[test]
fn patterns() {
    refused(&[
        (
            |s| pattern(s, Pattern::Tornado { offset: 0 }),
            "jobs[0].traffic.pattern",
            "an offset of 0 makes each of 2 ranks its own partner",
        ),
        (
            |s| pattern(s, Pattern::Tornado { offset: 6 }),
            "jobs[0].traffic.pattern",
            "an offset of 6 makes each of 2 ranks its own partner",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [1, 3, 1] }),
            "jobs[0].traffic.pattern",
            "a grid of 1 x 3 x 1 has 3 points for 2 ranks",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [0, 1, 2] }),
            "jobs[0].traffic.pattern",
            "a grid of 0 x 1 x 2 has 0 points for 2 ranks",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [u32::MAX; 3] }),
            "jobs[0].traffic.pattern",
            "a grid of 4294967295 x 4294967295 x 4294967295 has 79228162458924105385300197375 points for 2 ranks",
        ),
        (|s| pattern(s, Pattern::Broadcast { root: 2 }), "jobs[0].traffic.pattern", "root 2 is not one of 2 ranks"),
        (
            |s| {
                s.jobs[0].nodes = vec![0, 2];
                pattern(s, Pattern::GroupPeers {});
            },
            "jobs[0].traffic.pattern",
            "group-peers needs ranks in at least two groups",
        ),
        (
            |s| {
                s.jobs[0].nodes = vec![5, 0, 7];
                pattern(s, Pattern::GroupPeers {});
            },
            "jobs[0].traffic.pattern",
            "group-peers needs equally many ranks in each group, but group 0 has 1 and group 1 has 2",
        ),
    ]);
    accepted(&[
        |s| pattern(s, Pattern::Tornado { offset: 7 }),
        |s| pattern(s, Pattern::Stencil3d { grid: [1, 1, 2] }),
        |s| pattern(s, Pattern::GroupPeers {}),
    ]);
}
