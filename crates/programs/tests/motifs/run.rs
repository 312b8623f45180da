//! A machine on which messages take no time, for programs of a few ranks.

use std::collections::BTreeMap;

use odonata_programs::{Op, Part};

/// When a send that blocks is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// At once.
    Eager,
    /// When its receive is posted.
    Rendezvous,
}

pub const BOTH: [Sends; 2] = [Sends::Eager, Sends::Rendezvous];

/// What happened.
pub struct Run {
    /// Operations of each rank.
    pub ops: Vec<Vec<Op>>,
    /// When each rank ended.
    pub ends: Vec<u64>,
    /// Sizes of the messages, by source and destination, in the order of their labels.
    pub messages: BTreeMap<(u32, u32), Vec<u64>>,
}

impl Run {
    pub fn end(&self) -> u64 {
        self.ends.iter().copied().max().unwrap_or(0)
    }

    pub fn count(&self) -> u64 {
        self.messages.values().map(|sizes| sizes.len() as u64).sum()
    }
}

/// Runs a part; panics on a deadlock, on messages without a partner and on a chunk that is not what chunks should be.
pub fn run(part: &dyn Part, ranks: u32, sends: Sends) -> Run {
    let ops: Vec<_> = (0..ranks).map(|rank| operations(part, rank)).collect();
    let (ends, messages) = execute(&ops, sends).unwrap_or_else(|stuck| panic!("deadlock with {sends:?}: {stuck:#?}"));
    Run { ops, ends, messages }
}

fn operations(part: &dyn Part, rank: u32) -> Vec<Op> {
    let before = Op::Send { to: 7, label: 7, bytes: 7, blocking: true };
    let chunk = |index| {
        let mut ops = vec![before];
        part.chunk(rank, index, &mut ops);
        assert_eq!(ops.remove(0), before, "chunk {index} of rank {rank} changes what stood before it");
        assert!((1..=27).contains(&ops.len()), "chunk {index} of rank {rank} has {} operations", ops.len());
        ops
    };
    let forth: Vec<_> = (0..part.chunks(rank)).map(chunk).collect();
    let mut back: Vec<_> = (0..part.chunks(rank)).rev().map(chunk).collect();
    back.reverse();
    assert_eq!(forth, back, "a chunk of rank {rank} depends on what was asked for before");
    forth.concat()
}

/// Source, destination and label.
type Key = (u32, u32, u64);

#[derive(Default)]
struct Mail {
    /// Time and size.
    sent: BTreeMap<Key, (u64, u64)>,
    posted: BTreeMap<Key, (u64, u64)>,
}

impl Mail {
    /// When both sides have come.
    fn met(&self, key: Key) -> Option<u64> {
        Some(self.sent.get(&key)?.0.max(self.posted.get(&key)?.0))
    }
}

#[derive(Default)]
struct Rank {
    next: usize,
    begun: bool,
    clock: u64,
    /// Incomplete non-blocking operations: whether they are sends.
    open: Vec<(Key, bool)>,
}

type Ends = (Vec<u64>, BTreeMap<(u32, u32), Vec<u64>>);

/// Executes operations; the error says for each rank that is stuck where.
pub fn execute(ops: &[Vec<Op>], sends: Sends) -> Result<Ends, Vec<String>> {
    let mut mail = Mail::default();
    let mut ranks: Vec<Rank> = ops.iter().map(|_| Rank::default()).collect();
    let mut moved = true;
    while moved {
        moved = false;
        for (number, rank) in ranks.iter_mut().enumerate() {
            while rank.next < ops[number].len() && step(number as u32, rank, ops[number][rank.next], &mut mail, sends) {
                (rank.next, rank.begun, moved) = (rank.next + 1, false, true);
            }
        }
    }
    let place = |(number, rank): (usize, &Rank)| {
        Some(format!("rank {number}, operation {}: {:?}", rank.next, ops[number].get(rank.next)?))
    };
    let stuck: Vec<_> = ranks.iter().enumerate().filter_map(place).collect();
    if !stuck.is_empty() {
        return Err(stuck);
    }
    let sizes =
        |side: &BTreeMap<Key, (u64, u64)>| side.iter().map(|(&key, &(_, bytes))| (key, bytes)).collect::<Vec<_>>();
    assert_eq!(sizes(&mail.sent), sizes(&mail.posted), "sends and receives differ");
    let mut messages: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for ((from, to, label), bytes) in sizes(&mail.sent) {
        assert!(from != to && (to as usize) < ops.len() && label < 1 << 40, "{from} {to} {label}");
        messages.entry((from, to)).or_default().push(bytes);
    }
    Ok((ranks.iter().map(|rank| rank.clock).collect(), messages))
}

/// Begins an operation if it has not begun, and returns whether the rank continues.
fn step(me: u32, rank: &mut Rank, op: Op, mail: &mut Mail, sends: Sends) -> bool {
    let (key, is_send, blocking) = match op {
        Op::Compute { ps, .. } => {
            rank.clock += ps;
            return true;
        }
        Op::Combine { .. } => return true, // free here
        Op::Wait => {
            rank.open.retain(|&(key, is_send)| match complete(key, is_send, mail, sends) {
                Some(at) => {
                    rank.clock = rank.clock.max(at);
                    false
                }
                None => true,
            });
            return rank.open.is_empty();
        }
        Op::Send { to, label, blocking, .. } => ((me, to, label), true, blocking),
        Op::Receive { from, label, blocking, .. } => ((from, me, label), false, blocking),
    };
    if !rank.begun {
        rank.begun = true;
        let (Op::Send { bytes, .. } | Op::Receive { bytes, .. }) = op else { unreachable!() };
        let side = if is_send { &mut mail.sent } else { &mut mail.posted };
        assert!(side.insert(key, (rank.clock, bytes)).is_none(), "{key:?} is used twice");
    }
    if !blocking {
        rank.open.push((key, is_send));
        return true;
    }
    let Some(at) = complete(key, is_send, mail, sends) else { return false };
    rank.clock = rank.clock.max(at);
    true
}

fn complete(key: Key, is_send: bool, mail: &Mail, sends: Sends) -> Option<u64> {
    if is_send && sends == Sends::Eager { mail.sent.get(&key).map(|sent| sent.0) } else { mail.met(key) }
}

/// Two ranks that both send first: only rendezvous gets stuck. (A machine that never does would pass all tests.)
#[test]
fn the_machine_notices_a_deadlock() {
    let exchange = |peer| {
        vec![
            Op::Send { to: peer, label: 0, bytes: 1, blocking: true },
            Op::Receive { from: peer, label: 0, bytes: 1, blocking: true },
        ]
    };
    let both = [exchange(1), exchange(0)];
    assert!(execute(&both, Sends::Eager).is_ok());
    assert_eq!(execute(&both, Sends::Rendezvous).unwrap_err().len(), 2);
    let deaf = [vec![Op::Send { to: 1, label: 0, bytes: 1, blocking: false }, Op::Wait], vec![]];
    assert!(execute(&deaf, Sends::Rendezvous).is_err());
}

/// Time passes correctly: a rank that waits for another continues when the other has computed.
#[test]
fn the_machine_keeps_time() {
    let compute = |ps| Op::Compute { ps, jitter_ps: 0 };
    let send = |blocking| Op::Send { to: 1, label: 0, bytes: 1, blocking };
    let receive = |blocking| Op::Receive { from: 0, label: 0, bytes: 1, blocking };
    let ends = |a: Vec<Op>, b: Vec<Op>, sends| execute(&[a, b], sends).unwrap().0;
    assert_eq!(ends(vec![compute(5), send(true)], vec![receive(true), compute(2)], Sends::Eager), [5, 7]);
    assert_eq!(ends(vec![send(true)], vec![compute(9), receive(true)], Sends::Eager), [0, 9]);
    assert_eq!(ends(vec![send(true)], vec![compute(9), receive(true)], Sends::Rendezvous), [9, 9]);
    assert_eq!(
        ends(vec![send(false), compute(4), Op::Wait], vec![compute(9), receive(true)], Sends::Rendezvous),
        [9, 9]
    );
    assert_eq!(ends(vec![compute(8), send(true)], vec![receive(false), compute(1), Op::Wait], Sends::Eager), [8, 8]);
}
