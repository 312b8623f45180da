//! Numbers that cannot be used are refused, with the field.

use odonata_programs::{Exchange, Halo, Part, PingPong, ProgramError, Sweep, Training, What};

use crate::training::spec;

const MANY: u64 = (1 << 40) + 1;

fn refused(what: What, ranks: u32, field: &str, problem: &str) {
    let found = what.part(ranks).err();
    let expected = ProgramError::Invalid { field: field.into(), problem: problem.into() };
    assert_eq!(found, Some(expected), "{what:?}");
}

fn parts(what: &What, ranks: u32) -> Box<dyn Part + Send + Sync> {
    what.part(ranks).unwrap_or_else(|error| panic!("{what:?}: {error}"))
}

#[test]
fn halos() {
    let (face_bytes, order) = ([1, 1, 1], Exchange::AllAtOnce);
    let good = Halo { grid: [2, 3, 1], periodic: false, face_bytes, edge_bytes: [0; 3], corner_bytes: 0, order };
    parts(&What::Halo(good), 6);
    let refused = |halo, ranks, field: &str, problem: &str| refused(What::Halo(halo), ranks, field, problem);
    refused(good, 7, "grid", "2 x 3 x 1 are 6, but there are 7 ranks");
    refused(Halo { grid: [2, 3, 0], ..good }, 6, "grid", "2 x 3 x 0 are 0, but there are 6 ranks");
    refused(Halo { grid: [0, 3, 2], ..good }, 0, "grid", "0 x 3 x 2 are 0, but there are 0 ranks");
    let grid = [1 << 31, 1 << 31, 4];
    refused(
        Halo { grid, ..good },
        0,
        "grid",
        "2147483648 x 2147483648 x 4 are 18446744073709551616, but there are 0 ranks",
    );
    let large = "1099511627777 bytes are more than 2^40 (1099511627776)";
    refused(Halo { face_bytes: [1, MANY, 1], ..good }, 6, "face_bytes[1]", large);
    refused(Halo { edge_bytes: [0, 0, MANY], ..good }, 6, "edge_bytes[2]", large);
    refused(Halo { corner_bytes: MANY, ..good }, 6, "corner_bytes", large);
    parts(
        &What::Halo(Halo { face_bytes: [MANY - 1; 3], edge_bytes: [MANY - 1; 3], corner_bytes: MANY - 1, ..good }),
        6,
    );
    refused(Halo { face_bytes: [0; 3], ..good }, 6, "face_bytes", "all sizes are 0: there is no message to send");
    for order in [Exchange::AxisByAxis, Exchange::EvenReceivesFirst] {
        let only = "must be 0: across edges and corners messages are sent by the order all-at-once only";
        refused(Halo { edge_bytes: [0, 5, 0], order, ..good }, 6, "edge_bytes", &format!("[0, 5, 0] {only}"));
        refused(Halo { corner_bytes: 5, order, ..good }, 6, "corner_bytes", &format!("5 {only}"));
    }
}

#[test]
fn sweeps() {
    let good = Sweep { grid: [2, 3], blocks: 1, x_bytes: 1, y_bytes: 1, compute_ps: 0, sweeps: 1 };
    parts(&What::Sweep(good), 6);
    let refused = |sweep, ranks, field, problem| refused(What::Sweep(sweep), ranks, field, problem);
    refused(good, 5, "grid", "2 x 3 are 6, but there are 5 ranks");
    refused(Sweep { blocks: 0, ..good }, 6, "blocks", "0 is not at least 1");
    refused(Sweep { sweeps: 0, ..good }, 6, "sweeps", "0 is not at least 1");
    let large = "1099511627777 bytes are more than 2^40 (1099511627776)";
    refused(Sweep { x_bytes: MANY, ..good }, 6, "x_bytes", large);
    refused(Sweep { y_bytes: MANY, ..good }, 6, "y_bytes", large);
    let many = "1099512676352 messages from a rank to another are more than 2^40";
    refused(Sweep { blocks: 1 << 20, sweeps: (1 << 20) + 1, ..good }, 6, "blocks", many);
}

#[test]
fn ping_pongs() {
    let good = PingPong { stride: 2, bytes: 0, rounds: 1 };
    parts(&What::PingPong(good), 8);
    let refused = |ping_pong, ranks, field, problem| refused(What::PingPong(ping_pong), ranks, field, problem);
    refused(good, 6, "stride", "6 ranks are not whole blocks of 2 x 2 = 4: some have no partner");
    refused(good, 0, "stride", "0 ranks are not whole blocks of 2 x 2 = 4: some have no partner");
    let stride = u32::MAX;
    let problem = "8 ranks are not whole blocks of 2 x 4294967295 = 8589934590: some have no partner";
    refused(PingPong { stride, ..good }, 8, "stride", problem);
    refused(PingPong { stride: 0, ..good }, 8, "stride", "0 is not at least 1");
    refused(PingPong { rounds: 0, ..good }, 8, "rounds", "0 is not at least 1");
    refused(PingPong { bytes: MANY, ..good }, 8, "bytes", "1099511627777 bytes are more than 2^40 (1099511627776)");
}

#[test]
fn trainings() {
    let good = spec(2, 3, 2, 1);
    parts(&What::Training(good), 12);
    let refused = |training, ranks, field, problem| refused(What::Training(training), ranks, field, problem);
    refused(good, 8, "pipeline", "2 x 3 x 2 are 12, but there are 8 ranks");
    let none = "0 is not at least 1";
    refused(Training { tensor: 0, ..good }, 12, "tensor", none);
    refused(Training { data: 0, ..good }, 12, "data", none);
    refused(Training { pipeline: 0, ..good }, 12, "pipeline", none);
    refused(Training { microbatches: 0, ..good }, 12, "microbatches", none);
    let large = "1099511627777 bytes are more than 2^40 (1099511627776)";
    refused(Training { tensor_bytes: MANY, ..good }, 12, "tensor_bytes", large);
    refused(Training { activation_bytes: MANY, ..good }, 12, "activation_bytes", large);
    refused(Training { gradient_bytes: MANY, ..good }, 12, "gradient_bytes", large);
    let many = "1099512676352 messages from a rank to another are more than 2^40";
    let step = Training { tensor_reductions: (1 << 19) + 1, ..spec(2, 1, 1, 1 << 19) };
    refused(
        Training { microbatches: 1 << 19, ..step },
        2,
        "tensor_reductions",
        &many.replace("1099512676352", "1099513724928"),
    );
    // Nothing is reduced where a group has one rank.
    parts(&What::Training(Training { tensor: 1, tensor_reductions: u32::MAX, microbatches: u32::MAX, ..step }), 1);
}
