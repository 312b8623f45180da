//! Jobs that cannot be simulated.

use odonata_sim::spec::{Arrival, Pattern, Spec};

use super::{accepted, refused};

fn pattern(spec: &mut Spec, pattern: Pattern) {
    spec.jobs[0].traffic_mut().pattern = pattern;
}

#[test]
fn jobs() {
    refused(&[
        (|s| s.jobs.clear(), "jobs", "job-count (found = 0, most = 65535)"),
        (|s| s.jobs = vec![s.jobs[0].clone(); 65_536], "jobs", "job-count (found = 65536, most = 65535)"),
        (|s| s.jobs[1].name = "0 to 7".into(), "jobs[1].name", "job-name-taken (name = `0 to 7`)"),
        (|s| s.jobs[0].nodes[1] = 8, "jobs[0].nodes", "no-such-node (node = 8, nodes = 8)"),
        (|s| s.jobs[1].nodes[1] = 1, "jobs[1].nodes", "node-twice (node = 1)"),
        (|s| s.jobs[1].nodes[0] = 7, "jobs[1].nodes", "node-taken (node = 7, job = `0 to 7`)"),
        (|s| s.jobs[1].nodes.truncate(1), "jobs[1].nodes", "too-few-ranks (ranks = 1)"),
        (|s| s.jobs[1].nodes.clear(), "jobs[1].nodes", "too-few-ranks (ranks = 0)"),
        (
            |s| s.jobs[0].traffic_mut().message_bytes = 0,
            "jobs[0].traffic.message_bytes",
            "out-of-range (found = 0, least = 1, most = 1099511627776)",
        ),
        (
            |s| s.jobs[0].traffic_mut().message_bytes = (1 << 40) + 1,
            "jobs[0].traffic.message_bytes",
            "out-of-range (found = 1099511627777, least = 1, most = 1099511627776)",
        ),
        (
            |s| s.jobs[1].traffic_mut().interval_ps = 0,
            "jobs[1].traffic.interval_ps",
            "out-of-range (found = 0, least = 1, most = 18014398509481984)",
        ),
        (
            |s| s.jobs[1].traffic_mut().interval_ps = (1 << 54) + 1,
            "jobs[1].traffic.interval_ps",
            "out-of-range (found = 18014398509481985, least = 1, most = 18014398509481984)",
        ),
        (
            |s| s.jobs[1].traffic_mut().arrival = Arrival::Constant { jitter_ps: u64::MAX },
            "jobs[1].traffic.arrival.jitter_ps",
            "out-of-range (found = 18446744073709551615, least = 0, most = 18014398509481984)",
        ),
        (
            |s| s.jobs[1].traffic_mut().arrival = Arrival::Staggered { jitter_ps: (1 << 54) + 1 },
            "jobs[1].traffic.arrival.jitter_ps",
            "out-of-range (found = 18014398509481985, least = 0, most = 18014398509481984)",
        ),
        (
            |s| s.jobs[0].traffic_mut().intervals = Some(0),
            "jobs[0].traffic.intervals",
            "out-of-range (found = 0, least = 1, most = 2147483647)",
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
            "jobs[0].traffic.pattern.offset",
            "offset-to-self (offset = 0, ranks = 2)",
        ),
        (
            |s| pattern(s, Pattern::Tornado { offset: 6 }),
            "jobs[0].traffic.pattern.offset",
            "offset-to-self (offset = 6, ranks = 2)",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [1, 3, 1] }),
            "jobs[0].traffic.pattern.grid",
            "grid-of-other-size (grid = [1, 3, 1], points = 3, ranks = 2)",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [0, 1, 2] }),
            "jobs[0].traffic.pattern.grid",
            "grid-of-other-size (grid = [0, 1, 2], points = 0, ranks = 2)",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [u32::MAX; 3] }),
            "jobs[0].traffic.pattern.grid",
            "grid-of-other-size (grid = [4294967295, 4294967295, 4294967295], points = 18446744073709551615, ranks = 2)",
        ),
        (
            |s| pattern(s, Pattern::Broadcast { root: 2 }),
            "jobs[0].traffic.pattern.root",
            "root-not-a-rank (root = 2, ranks = 2)",
        ),
        (
            |s| {
                s.jobs[0].nodes = vec![0, 2];
                pattern(s, Pattern::GroupPeers {});
            },
            "jobs[0].traffic.pattern",
            "one-group",
        ),
        (
            |s| {
                s.jobs[0].nodes = vec![5, 0, 7];
                pattern(s, Pattern::GroupPeers {});
            },
            "jobs[0].traffic.pattern",
            "unequal-groups (group = 0, ranks = 1, other = 1, other_ranks = 2)",
        ),
    ]);
    accepted(&[
        |s| pattern(s, Pattern::Tornado { offset: 7 }),
        |s| pattern(s, Pattern::Stencil3d { grid: [1, 1, 2] }),
        |s| pattern(s, Pattern::GroupPeers {}),
    ]);
}
