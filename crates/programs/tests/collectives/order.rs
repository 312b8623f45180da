//! Who does what with whom, in which order, by hand. Would catch: another algorithm that ends with the same data,
//! messages and time.

use odonata_programs::{Allgather, Allreduce, Alltoall, Barrier, Broadcast, Op, PhaseAction, Reduce, ReduceScatter};

/// All operations of a rank: s and r with the peer and the bytes, S and R if they block, w for a wait.
fn ops(what: PhaseAction, ranks: u32, rank: u32) -> String {
    let part = what.part(ranks).unwrap();
    let mut ops = Vec::new();
    (0..part.chunks(rank)).for_each(|index| part.chunk(rank, index, &mut ops));
    let word = |op| match op {
        Op::Send { to, bytes, blocking, .. } => format!("{}{to}:{bytes}", if blocking { 'S' } else { 's' }),
        Op::Receive { from, bytes, blocking, .. } => format!("{}{from}:{bytes}", if blocking { 'R' } else { 'r' }),
        Op::Wait => "w".to_owned(),
        Op::Combine { bytes, .. } => format!("c{bytes}"),
        Op::Compute { .. } => "compute".to_owned(),
    };
    ops.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn broadcasts() {
    let ops = |algorithm, ranks, root, rank| ops(PhaseAction::Broadcast { algorithm, root, bytes: 10 }, ranks, rank);
    assert_eq!(ops(Broadcast::Flat, 5, 2, 2), "s3:10 s4:10 s0:10 s1:10 w");
    assert_eq!(ops(Broadcast::Flat, 5, 2, 0), "R2:10");
    assert_eq!(ops(Broadcast::Binary, 6, 2, 2), "s3:10 s4:10 w");
    assert_eq!(ops(Broadcast::Binary, 6, 2, 3), "R2:10 s5:10 s0:10 w");
    assert_eq!(ops(Broadcast::Binary, 6, 2, 4), "R2:10 S1:10");
    assert_eq!(ops(Broadcast::Binary, 6, 2, 1), "R4:10");
    assert_eq!(ops(Broadcast::Binomial, 7, 0, 0), "S4:10 S2:10 S1:10");
    assert_eq!(ops(Broadcast::Binomial, 7, 0, 4), "R0:10 S6:10 S5:10");
    assert_eq!(ops(Broadcast::Binomial, 7, 1, 0), "R5:10");
    assert_eq!(ops(Broadcast::Knomial, 12, 0, 0), "S4:10 S8:10 S1:10 S2:10 S3:10");
    assert_eq!(ops(Broadcast::Knomial, 12, 0, 8), "R0:10 S9:10 S10:10 S11:10");
    assert_eq!(ops(Broadcast::Knomial, 11, 1, 0), "R9:10");
    assert_eq!(ops(Broadcast::Chain, 4, 1, 2), "R1:10 S3:10");
    assert_eq!(ops(Broadcast::Chain, 4, 1, 0), "R3:10");
    assert_eq!(ops(Broadcast::ScatterDoubling, 4, 1, 1), "S3:5 S2:3 r2:3 s2:2 w r3:5 s3:5 w");
    assert_eq!(ops(Broadcast::ScatterDoubling, 4, 1, 3), "R1:5 S0:3 r0:3 s0:2 w r1:5 s1:5 w");
    let ring = "r4:2 s1:2 w r4:2 s1:2 w r4:2 s1:2 w r4:2 s1:2 w";
    assert_eq!(ops(Broadcast::ScatterAllgather, 5, 0, 0), format!("S4:2 S2:4 S1:2 {ring}"));
    assert_eq!(ops(Broadcast::ScatterAllgather, 5, 3, 0), format!("R3:4 S1:2 {ring}"));
}

#[test]
fn reductions() {
    let reduce = |algorithm, ranks, root, rank| ops(PhaseAction::Reduce { algorithm, root, bytes: 10 }, ranks, rank);
    assert_eq!(reduce(Reduce::Binary, 6, 2, 3), "r5:10 r0:10 w c10 c10 S2:10");
    assert_eq!(reduce(Reduce::Binomial, 7, 0, 0), "R1:10 c10 R2:10 c10 R4:10 c10");
    assert_eq!(reduce(Reduce::Binomial, 7, 0, 4), "R5:10 c10 R6:10 c10 S0:10");
    let all = |algorithm, ranks, rank| ops(PhaseAction::Allreduce { algorithm, bytes: 80 }, ranks, rank);
    assert_eq!(all(Allreduce::Binary, 6, 1), "r3:80 r4:80 w c80 c80 S0:80 R0:80 s3:80 s4:80 w");
    assert_eq!(all(Allreduce::RecursiveDoubling, 8, 5), "r4:80 s4:80 w c80 r7:80 s7:80 w c80 r1:80 s1:80 w c80");
    assert_eq!(all(Allreduce::RecursiveDoubling, 5, 0), "S1:80 R1:80");
    assert_eq!(all(Allreduce::RecursiveDoubling, 5, 1), "R0:80 c80 r2:80 s2:80 w c80 r3:80 s3:80 w c80 S0:80");
    assert_eq!(all(Allreduce::RecursiveDoubling, 5, 4), "r3:80 s3:80 w c80 r2:80 s2:80 w c80");
    let (halving, doubling) =
        ("r4:40 s4:40 w c40 r7:20 s7:20 w c20 r1:10 s1:10 w c10", "r1:10 s1:10 w r7:20 s7:20 w r4:40 s4:40 w");
    assert_eq!(all(Allreduce::Rabenseifner, 8, 5), format!("{halving} {doubling}"));
    // Blocks of 26, 27 and 27 bytes; rank 1 sends 0, 2; 1, 0 and receives 2, 1; 0, 2.
    assert_eq!(all(Allreduce::Ring, 3, 1), "r0:27 s2:26 w c27 r0:27 s2:27 w c27 r0:26 s2:27 w r0:27 s2:26 w");
    let blocks = |algorithm, ranks, rank| ops(PhaseAction::ReduceScatter { algorithm, bytes: 80 }, ranks, rank);
    assert_eq!(blocks(ReduceScatter::RecursiveHalving, 8, 5), "r1:40 s1:40 w c40 r7:20 s7:20 w c20 r4:10 s4:10 w c10");
    assert_eq!(blocks(ReduceScatter::RecursiveHalving, 5, 1), "R0:80 c80 r3:48 s3:32 w c48 r2:32 s2:16 w c32 S0:16");
    assert_eq!(
        blocks(ReduceScatter::Pairwise, 5, 1),
        "r0:16 s2:16 w c16 r4:16 s3:16 w c16 r3:16 s4:16 w c16 r2:16 s0:16 w c16"
    );
    assert_eq!(blocks(ReduceScatter::Ring, 4, 0), "r3:20 s1:20 w c20 r3:20 s1:20 w c20 r3:20 s1:20 w c20");
}

#[test]
fn gathers_and_exchanges() {
    let gather = |algorithm, ranks, rank| ops(PhaseAction::Allgather { algorithm, bytes: 10 }, ranks, rank);
    assert_eq!(gather(Allgather::Ring, 4, 0), "r3:10 s1:10 w r3:10 s1:10 w r3:10 s1:10 w");
    assert_eq!(gather(Allgather::RecursiveDoubling, 8, 5), "r4:10 s4:10 w r7:20 s7:20 w r1:40 s1:40 w");
    assert_eq!(gather(Allgather::RecursiveDoubling, 5, 1), "R0:10 r2:10 s2:20 w r3:20 s3:30 w S0:40");
    assert_eq!(gather(Allgather::Bruck, 6, 0), "r1:10 s5:10 w r2:20 s4:20 w r4:20 s2:20 w");
    assert_eq!(gather(Allgather::NeighborExchange, 6, 0), "r1:10 s1:10 w r5:20 s5:20 w r1:20 s1:20 w");
    assert_eq!(gather(Allgather::NeighborExchange, 6, 3), "r2:10 s2:10 w r4:20 s4:20 w r2:20 s2:20 w");
    let exchange = |algorithm, ranks, rank| ops(PhaseAction::Alltoall { algorithm, bytes: 10 }, ranks, rank);
    assert_eq!(exchange(Alltoall::Pairwise, 4, 1), "r0:10 s0:10 w r3:10 s3:10 w r2:10 s2:10 w");
    for (algorithm, ranks) in [(Alltoall::LinearShift, 4), (Alltoall::LinearShift, 5), (Alltoall::Pairwise, 5)] {
        let step = |c| format!("r{}:10 s{}:10 w", (1 + ranks - c) % ranks, (1 + c) % ranks);
        assert_eq!(exchange(algorithm, ranks, 1), (1..ranks).map(step).collect::<Vec<_>>().join(" "));
    }
    assert_eq!(exchange(Alltoall::Linear, 4, 0), "r1:10 s1:10 r2:10 s2:10 r3:10 s3:10 w");
    assert_eq!(exchange(Alltoall::Linear, 4, 2), "r0:10 s0:10 r1:10 s1:10 r3:10 s3:10 w");
    assert_eq!(exchange(Alltoall::Scattered, 4, 1), "r2:10 s0:10 r3:10 s3:10 r0:10 s2:10 w");
    assert_eq!(exchange(Alltoall::Bruck, 6, 0), "r5:30 s1:30 w r4:20 s2:20 w r2:20 s4:20 w");
    let grouped = |per_node, ranks, rank| ops(PhaseAction::GroupedAlltoall { per_node, bytes: 10 }, ranks, rank);
    // Two nodes of three: inside the node first, then with the rank of the same number of the other node.
    assert_eq!(grouped(3, 6, 4), "r3:10 s5:10 r5:10 s3:10 r1:10 s1:10 r0:10 s2:10 r2:10 s0:10 w");
    assert_eq!(grouped(1, 4, 1), "r0:10 s2:10 r3:10 s3:10 r2:10 s0:10 w");
    let rails = |per_node, ranks, rank| ops(PhaseAction::PxnAlltoall { per_node, bytes: 10 }, ranks, rank);
    // Two nodes of three: the exchange inside, what goes to the rails of the other node, what comes for it, the message.
    assert_eq!(rails(3, 6, 4), "r3:10 s5:10 r5:10 s3:10 s5:10 s3:10 R3:10 R5:10 r1:30 s1:30 w");
    // Three nodes of two: each round sends ahead for the next one.
    assert_eq!(rails(2, 6, 1), "r0:10 s0:10 s0:10 s0:10 R0:10 r5:20 s3:20 R0:10 r3:20 s5:20 w");
    assert_eq!(rails(1, 4, 1), "r0:10 s2:10 r3:10 s3:10 r2:10 s0:10 w");
    assert_eq!(rails(4, 4, 1), "r0:10 s2:10 r3:10 s3:10 r2:10 s0:10 w");
}

#[test]
fn barriers() {
    let ops = |algorithm, rank| ops(PhaseAction::Barrier { algorithm }, 6, rank);
    assert_eq!(ops(Barrier::Dissemination, 0), "r5:0 s1:0 w r4:0 s2:0 w r2:0 s4:0 w");
    assert_eq!(ops(Barrier::Binary, 0), "r1:0 r2:0 w s1:0 s2:0 w");
    assert_eq!(ops(Barrier::Binary, 2), "R5:0 S0:0 R0:0 S5:0");
}
