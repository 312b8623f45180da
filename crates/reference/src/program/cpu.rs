//! What occupies the CPUs of a rank (model, section 10, "Work").

use std::collections::BTreeMap;

use super::exchange::Outgoing;
use super::moment::{Moment, Who};
use crate::world::World;

/// What follows a work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    /// The gap is over: the next iteration begins.
    Iteration,
    /// A compute has ended.
    Computed {
        /// The operation.
        op: usize,
    },
    /// A message is handed over.
    HandOver(Outgoing),
    /// A receive is complete.
    Received {
        /// The operation.
        op: usize,
    },
}

/// The CPUs of a rank.
#[derive(Debug, Default)]
pub(crate) struct Cpus {
    /// When each is free; 0 if absent.
    free: BTreeMap<u16, u64>,
    /// Works asked for.
    asked: u64,
    /// Works that have not ended: how long they take, and what follows.
    works: BTreeMap<u64, (u64, Then)>,
    /// How long all works took that have ended.
    pub(crate) worked: u64,
}

impl World<'_> {
    /// A CPU works for `d` as soon as it is free, but not before `t`.
    pub(crate) fn occupy(&mut self, t: u64, who: Who, cpu: u16, d: u64, then: Then) {
        let rank = self.rank(who);
        let free = rank.cpus.free.entry(cpu).or_default();
        let begin = t.max(*free);
        let end = begin.saturating_add(d);
        *free = end;
        let work = rank.cpus.asked;
        rank.cpus.asked += 1;
        // A receive has begun when it was posted.
        if let Then::Computed { op } | Then::HandOver(Outgoing { op, .. }) = then {
            if begin == t {
                rank.plan.begun(op);
            } else {
                self.expect(begin, who, Moment::Begun { work });
            }
        }
        if end == t {
            self.follow(t, who, then);
        } else {
            self.rank(who).cpus.works.insert(work, (d, then));
            self.expect(end, who, Moment::Done { work });
        }
    }

    /// A work begins that had to wait for its CPU.
    pub(crate) fn work_begun(&mut self, who: Who, work: u64) {
        let rank = self.rank(who);
        let (_, then) = rank.cpus.works[&work];
        if let Then::Computed { op } | Then::HandOver(Outgoing { op, .. }) = then {
            rank.plan.begun(op);
        }
    }

    /// A work ends.
    pub(crate) fn work_done(&mut self, t: u64, who: Who, work: u64) {
        let cpus = &mut self.rank(who).cpus;
        let (d, then) = cpus.works.remove(&work).expect("a work ends once");
        cpus.worked += d;
        self.follow(t, who, then);
    }

    fn follow(&mut self, t: u64, who: Who, then: Then) {
        match then {
            Then::Iteration => self.next_iteration(t, who),
            Then::Computed { op } | Then::Received { op } => self.rank(who).plan.complete(op),
            Then::HandOver(message) => self.hand_over(t, who, message),
        }
    }
}
