//! A step of training: the messages.

use std::collections::BTreeMap;

use odonata_programs::{Op, Training};

use crate::run::{Run, Sends};
use crate::training::{spec, specs, trained};

/// Coordinates of a rank: tensor, data, stage.
fn at(rank: u32, spec: &Training) -> [u32; 3] {
    [rank % spec.tensor, rank / spec.tensor % spec.data, rank / (spec.tensor * spec.data)]
}

/// Messages and bytes by the coordinate in which their ends differ, and the group, which is given by the others.
fn books(run: &Run, spec: &Training) -> [BTreeMap<[u32; 3], (u64, u64)>; 3] {
    let mut books = [const { BTreeMap::new() }; 3];
    for (&(from, to), sizes) in &run.messages {
        let (from, to) = (at(from, spec), at(to, spec));
        let axes: Vec<usize> = (0..3).filter(|&axis| from[axis] != to[axis]).collect();
        assert_eq!(axes.len(), 1, "a message from {from:?} to {to:?}");
        let mut group = from;
        group[axes[0]] = 0;
        let (count, bytes) = books[axes[0]].entry(group).or_default();
        *count += sizes.len() as u64;
        *bytes += sizes.iter().sum::<u64>();
    }
    books
}

/// Lost bytes, a missing reduction, groups mixed up: the formulas of the documentation.
#[test]
fn groups_send_what_the_formulas_say() {
    let silent = Training { tensor_reductions: 0, ..spec(3, 2, 2, 2) };
    for spec in specs().chain([silent]) {
        let run = trained(&spec, Sends::Rendezvous);
        let [tensor, data, stages] = books(&run, &spec);
        let [t, d, p, m] = [spec.tensor, spec.data, spec.pipeline, spec.microbatches].map(u64::from);
        let reductions = 2 * m * u64::from(spec.tensor_reductions);
        let all = |groups, one: (u64, u64), book: &BTreeMap<_, _>| {
            assert_eq!(book.len() as u64, if one.0 == 0 { 0 } else { groups }, "{spec:?}");
            assert!(book.values().all(|&found| found == one), "{book:?} instead of {one:?} in {spec:?}");
        };
        all(d * p, (reductions * 2 * (t - 1) * t, reductions * 2 * (t - 1) * spec.tensor_bytes), &tensor);
        all(t * p, (2 * (d - 1) * d, 2 * (d - 1) * spec.gradient_bytes), &data);
        all(t * d, (2 * m * (p - 1), 2 * m * (p - 1) * spec.activation_bytes), &stages);
    }
}

/// Of one pipeline: each stage sends its microbatches to the next, and as many back.
#[test]
fn neighbouring_stages_exchange_each_microbatch() {
    let spec = spec(2, 2, 3, 4);
    let run = trained(&spec, Sends::Eager);
    for rank in 0..8 {
        assert_eq!(run.messages[&(rank, rank + 4)], [77; 4]);
        assert_eq!(run.messages[&(rank + 4, rank)], [77; 4]);
    }
}

/// The ring: each step sends the data of the step before, and each block travels around the ring once to be summed and
/// once to be distributed. Sizes distinguish blocks, since some are a byte larger.
#[test]
fn gradients_go_round_a_ring() {
    for (data, bytes) in [(2_u64, 5_u64), (3, 7), (5, 13), (7, 3), (8, 64)] {
        let spec = Training { gradient_bytes: bytes, ..spec(1, data as u32, 1, 1) };
        let run = trained(&spec, Sends::Rendezvous);
        let block = |member: u64| bytes * (member % data + 1) / data - bytes * (member % data) / data;
        for (member, ops) in run.ops.iter().enumerate() {
            let member = member as u64;
            let mut sent = Vec::new();
            let mut received = Vec::new();
            let mut combined = Vec::new();
            for op in ops {
                match *op {
                    Op::Send { to, bytes, blocking, .. } => {
                        assert_eq!((u64::from(to), blocking), ((member + 1) % data, false));
                        sent.push(bytes);
                    }
                    Op::Receive { from, bytes, blocking, .. } => {
                        assert_eq!((u64::from(from), blocking), ((member + data - 1) % data, false));
                        received.push(bytes);
                    }
                    Op::Combine { bytes, .. } => combined.push(bytes),
                    Op::Wait => assert_eq!(sent.len(), received.len(), "a step ends before both have begun"),
                    Op::Compute { .. } => assert!(sent.is_empty(), "gradients go before the last pass"),
                }
            }
            assert_eq!(sent.len() as u64, 2 * (data - 1));
            assert_eq!(sent[0], block(member + data - 1), "the block of the rank before goes first");
            assert_eq!(sent[1..], received[..received.len() - 1]);
            let reduced: Vec<u64> = received[..data as usize - 1].iter().copied().filter(|&bytes| bytes > 0).collect();
            assert_eq!(combined, reduced, "the first half of the ring reduces");
            let total: u64 = sent.iter().sum();
            assert_eq!(total, 2 * bytes - block(member) - block(member + 1));
            let waits = ops.iter().filter(|op| **op == Op::Wait).count() as u64;
            assert_eq!(waits, 2 * (data - 1), "each step waits for the one before");
        }
    }
}

/// A reduction comes after its part of the computing, and what is sent on after the last reduction.
#[test]
fn a_pass_computes_reduces_and_sends() {
    let spec = Training { tensor_reductions: 2, ..spec(2, 1, 2, 1) };
    let run = trained(&spec, Sends::Rendezvous);
    let word = |op: &Op| match *op {
        Op::Send { to, label, .. } => format!("s{to}.{label}"),
        Op::Receive { from, label, .. } => format!("r{from}.{label}"),
        Op::Compute { ps, .. } => format!("C{ps}"),
        Op::Combine { .. } => "+".to_string(),
        Op::Wait => "W".to_string(),
    };
    let words: Vec<String> = run.ops[2].iter().map(word).collect();
    let expected = "r0.0 C501 r3.0 s3.0 W + r3.1 s3.1 W C500 r3.2 s3.2 W + r3.3 s3.3 W \
                    C1002 r3.4 s3.4 W + r3.5 s3.5 W C1001 r3.6 s3.6 W + r3.7 s3.7 W s0.0";
    assert_eq!(words.join(" "), expected);
}
