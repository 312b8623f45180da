//! Numbers that cannot be used are refused, with the field.

use odonata_programs::{Exchange, Halo, Incast, Part, PhaseAction, PingPong, Sweep, Training};

use crate::training::spec;

const MANY: u64 = (1 << 40) + 1;

fn refused(what: PhaseAction, ranks: u32, field: &str, problem: &str) {
    let found = what.part(ranks).err().map(|error| error.to_string());
    assert_eq!(found.unwrap_or_default(), format!("{field}: {problem}"), "{what:?}");
}

fn parts(what: &PhaseAction, ranks: u32) -> Box<dyn Part + Send + Sync> {
    what.part(ranks).unwrap_or_else(|error| panic!("{what:?}: {error}"))
}

#[test]
fn halos() {
    let (face_bytes, order) = ([1, 1, 1], Exchange::AllAtOnce);
    let good = Halo { grid: [2, 3, 1], periodic: false, face_bytes, edge_bytes: [0; 3], corner_bytes: 0, order };
    parts(&PhaseAction::Halo(good), 6);
    let refused = |halo, ranks, field: &str, problem: &str| refused(PhaseAction::Halo(halo), ranks, field, problem);
    refused(good, 7, "grid", "grid-of-other-size (grid = [2, 3, 1], points = 6, ranks = 7)");
    refused(
        Halo { grid: [2, 3, 0], ..good },
        6,
        "grid",
        "grid-of-other-size (grid = [2, 3, 0], points = 0, ranks = 6)",
    );
    refused(
        Halo { grid: [0, 3, 2], ..good },
        0,
        "grid",
        "grid-of-other-size (grid = [0, 3, 2], points = 0, ranks = 0)",
    );
    let grid = [1 << 31, 1 << 31, 4];
    refused(
        Halo { grid, ..good },
        0,
        "grid",
        "grid-of-other-size (grid = [2147483648, 2147483648, 4], points = 18446744073709551615, ranks = 0)",
    );
    let large = "out-of-range (found = 1099511627777, least = 0, most = 1099511627776)";
    refused(Halo { face_bytes: [1, MANY, 1], ..good }, 6, "face_bytes[1]", large);
    refused(Halo { edge_bytes: [0, 0, MANY], ..good }, 6, "edge_bytes[2]", large);
    refused(Halo { corner_bytes: MANY, ..good }, 6, "corner_bytes", large);
    parts(
        &PhaseAction::Halo(Halo {
            face_bytes: [MANY - 1; 3],
            edge_bytes: [MANY - 1; 3],
            corner_bytes: MANY - 1,
            ..good
        }),
        6,
    );
    refused(Halo { face_bytes: [0; 3], ..good }, 6, "face_bytes", "nothing-to-send");
    for order in [Exchange::AxisByAxis, Exchange::EvenReceivesFirst] {
        let only = "faces-only (order = `all-at-once`)";
        refused(Halo { edge_bytes: [0, 5, 0], order, ..good }, 6, "edge_bytes", only);
        refused(Halo { corner_bytes: 5, order, ..good }, 6, "corner_bytes", only);
    }
}

#[test]
fn sweeps() {
    let good = Sweep { grid: [2, 3], blocks: 1, x_bytes: 1, y_bytes: 1, compute_ps: 0, sweeps: 1 };
    parts(&PhaseAction::Sweep(good), 6);
    let refused = |sweep, ranks, field, problem| refused(PhaseAction::Sweep(sweep), ranks, field, problem);
    refused(good, 5, "grid", "grid-of-other-size (grid = [2, 3], points = 6, ranks = 5)");
    refused(Sweep { blocks: 0, ..good }, 6, "blocks", "zero");
    refused(Sweep { sweeps: 0, ..good }, 6, "sweeps", "zero");
    let large = "out-of-range (found = 1099511627777, least = 0, most = 1099511627776)";
    refused(Sweep { x_bytes: MANY, ..good }, 6, "x_bytes", large);
    refused(Sweep { y_bytes: MANY, ..good }, 6, "y_bytes", large);
    let many = "too-many-messages (found = 1099512676352, most = 1099511627776)";
    refused(Sweep { blocks: 1 << 20, sweeps: (1 << 20) + 1, ..good }, 6, "blocks", many);
}

#[test]
fn ping_pongs() {
    let good = PingPong { stride: 2, bytes: 0, rounds: 1 };
    parts(&PhaseAction::PingPong(good), 8);
    let refused = |ping_pong, ranks, field, problem| refused(PhaseAction::PingPong(ping_pong), ranks, field, problem);
    refused(good, 6, "stride", "no-partner (ranks = 6, stride = 2, block = 4)");
    refused(good, 0, "stride", "no-partner (ranks = 0, stride = 2, block = 4)");
    let stride = u32::MAX;
    let problem = "no-partner (ranks = 8, stride = 4294967295, block = 8589934590)";
    refused(PingPong { stride, ..good }, 8, "stride", problem);
    refused(PingPong { stride: 0, ..good }, 8, "stride", "zero");
    refused(PingPong { rounds: 0, ..good }, 8, "rounds", "zero");
    refused(
        PingPong { bytes: MANY, ..good },
        8,
        "bytes",
        "out-of-range (found = 1099511627777, least = 0, most = 1099511627776)",
    );
}

#[test]
fn incasts() {
    let good = Incast { root: 7, bytes: MANY - 1 };
    parts(&PhaseAction::Incast(good), 8);
    let refused = |incast, ranks, field, problem| refused(PhaseAction::Incast(incast), ranks, field, problem);
    refused(good, 7, "root", "root-not-a-rank (root = 7, ranks = 7)");
    refused(Incast { root: 0, ..good }, 0, "root", "root-not-a-rank (root = 0, ranks = 0)");
    refused(
        Incast { bytes: MANY, ..good },
        8,
        "bytes",
        "out-of-range (found = 1099511627777, least = 0, most = 1099511627776)",
    );
}

#[test]
fn trainings() {
    let good = spec(2, 3, 2, 1);
    parts(&PhaseAction::Training(good), 12);
    let refused = |training, ranks, field, problem| refused(PhaseAction::Training(training), ranks, field, problem);
    refused(good, 8, "pipeline", "grid-of-other-size (grid = [2, 3, 2], points = 12, ranks = 8)");
    let none = "zero";
    refused(Training { tensor: 0, ..good }, 12, "tensor", none);
    refused(Training { data: 0, ..good }, 12, "data", none);
    refused(Training { pipeline: 0, ..good }, 12, "pipeline", none);
    refused(Training { microbatches: 0, ..good }, 12, "microbatches", none);
    let large = "out-of-range (found = 1099511627777, least = 0, most = 1099511627776)";
    refused(Training { tensor_bytes: MANY, ..good }, 12, "tensor_bytes", large);
    refused(Training { activation_bytes: MANY, ..good }, 12, "activation_bytes", large);
    refused(Training { gradient_bytes: MANY, ..good }, 12, "gradient_bytes", large);
    let many = "too-many-messages (found = 1099513724928, most = 1099511627776)";
    let step = Training { tensor_reductions: (1 << 19) + 1, ..spec(2, 1, 1, 1 << 19) };
    refused(Training { microbatches: 1 << 19, ..step }, 2, "tensor_reductions", many);
    // Nothing is reduced where a group has one rank.
    parts(
        &PhaseAction::Training(Training { tensor: 1, tensor_reductions: u32::MAX, microbatches: u32::MAX, ..step }),
        1,
    );
}
