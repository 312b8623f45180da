//! The tasks of the CPUs of a rank (model, section 10, "CPU tasks").

use std::collections::BTreeMap;

use odonata_sim::output::Task;

use super::exchange::Outgoing;
use super::rank_event::{RankEvent, RankId};
use crate::world::World;

/// What follows a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AfterTask {
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
    /// When each CPU becomes free; 0 if absent.
    free: BTreeMap<u16, u64>,
    /// Tasks requested so far.
    started: u64,
    /// Tasks that have not ended: their durations, and what follows.
    tasks: BTreeMap<u64, (u64, AfterTask)>,
    /// Total duration of all tasks that have ended.
    pub(crate) worked: u64,
    /// All tasks that were requested: iteration, CPU, purpose, begin and end.
    pub(crate) requested: Vec<(u64, u16, Task, [u64; 2])>,
}

impl World<'_> {
    /// A CPU runs a task of duration `d` as soon as it is free, but not before `t`.
    pub(crate) fn occupy(&mut self, t: u64, who: RankId, cpu: u16, task: Task, d: u64, after: AfterTask) {
        let rank = self.rank(who);
        let free = rank.cpus.free.entry(cpu).or_default();
        let begin = t.max(*free);
        let end = begin.saturating_add(d);
        *free = end;
        rank.cpus.requested.push((rank.iteration, cpu, task, [begin, end]));
        let task_number = rank.cpus.started;
        rank.cpus.started += 1;
        // A receive began when it was posted.
        if let AfterTask::Computed { op } | AfterTask::HandOver(Outgoing { op, .. }) = after {
            if begin == t {
                rank.execution.begun(op);
            } else {
                self.expect(begin, who, RankEvent::Begun { task_number });
            }
        }
        if end == t {
            self.follow(t, who, after);
        } else {
            self.rank(who).cpus.tasks.insert(task_number, (d, after));
            self.expect(end, who, RankEvent::Done { task_number });
        }
    }

    /// A task that had to wait for its CPU begins.
    pub(crate) fn task_begun(&mut self, who: RankId, task_number: u64) {
        let rank = self.rank(who);
        let (_, after) = rank.cpus.tasks[&task_number];
        if let AfterTask::Computed { op } | AfterTask::HandOver(Outgoing { op, .. }) = after {
            rank.execution.begun(op);
        }
    }

    /// A task ends.
    pub(crate) fn task_done(&mut self, t: u64, who: RankId, task_number: u64) {
        let cpus = &mut self.rank(who).cpus;
        let (d, after) = cpus.tasks.remove(&task_number).expect("a work ends once");
        cpus.worked += d;
        self.follow(t, who, after);
    }

    fn follow(&mut self, t: u64, who: RankId, after: AfterTask) {
        match after {
            AfterTask::Iteration => self.next_iteration(t, who),
            AfterTask::Computed { op } | AfterTask::Received { op } => self.rank(who).execution.complete(op),
            AfterTask::HandOver(message) => self.hand_over(t, who, message),
        }
    }
}
