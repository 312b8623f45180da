//! What the counters of a NIC say at an instant (docs/model.md, section 6): for policies that read them, not for others.

use std::collections::VecDeque;

use crate::spec::Spec;

/// What the NICs of a node have counted before an instant, since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Request flits that were committed.
    pub flits: u64,
    /// For how long they were stalled.
    pub stalled_ps: u64,
    /// Request packets that were answered.
    pub answered: u64,
    /// Sum of their times from request to response.
    pub latency_ps: u64,
}

impl Reading {
    /// What was counted since an earlier reading.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            flits: self.flits - earlier.flits,
            stalled_ps: self.stalled_ps - earlier.stalled_ps,
            answered: self.answered - earlier.answered,
            latency_ps: self.latency_ps - earlier.latency_ps,
        }
    }

    const fn add(&mut self, other: Self) {
        self.flits += other.flits;
        self.stalled_ps += other.stalled_ps;
        self.answered += other.answered;
        self.latency_ps += other.latency_ps;
    }
}

/// The counters of one NIC, as far as an instant that has not passed may still ask for them.
#[derive(Debug, Default)]
struct Log {
    /// All that is known and is not in `answers`.
    total: Reading,
    /// The last instant at which a request was committed, and `total` before it.
    last: (u64, Reading),
    /// Responses that come later than all that is in `total`: when, Aries packets, latency.
    answers: VecDeque<(u64, u64, u64)>,
}

impl Log {
    /// Adds what has come before `now`.
    fn take_answers(&mut self, now: u64) {
        while let Some(&(at, answered, latency_ps)) = self.answers.front()
            && at < now
        {
            // A commit at the last instant came after it: the reading before that commit has it too.
            let answer = Reading { answered, latency_ps, ..Reading::default() };
            self.total.add(answer);
            self.last.1.add(answer);
            self.answers.pop_front();
        }
    }
}

/// The counters of all NICs that a policy reads.
#[derive(Debug, Default)]
pub struct Readings {
    /// By NIC; none at all if no policy reads one.
    logs: Vec<Option<Box<Log>>>,
    /// NICs of a node.
    rails: u32,
}

impl Readings {
    /// The NICs of a run.
    #[must_use]
    pub fn new(spec: &Spec, nics: usize, rails: u32) -> Self {
        let mut logs: Vec<Option<Box<Log>>> = Vec::new();
        for job in spec.jobs.iter().filter(|job| spec.routing_of(job).reads_nics()) {
            logs.resize_with(nics, || None);
            for nic in job.nodes.iter().flat_map(|node| node * rails..(node + 1) * rails) {
                logs[nic as usize] = Some(Box::default());
            }
        }
        Self { logs, rails }
    }

    #[inline]
    fn log(&mut self, nic: u32) -> Option<&mut Log> {
        self.logs.get_mut(nic as usize)?.as_deref_mut()
    }

    /// A request is committed at `now`.
    #[inline]
    pub fn request(&mut self, nic: u32, now: u64, flits: u64, stalled_ps: u64) {
        let Some(log) = self.log(nic) else { return };
        log.take_answers(now);
        if log.last.0 < now {
            log.last = (now, log.total);
        }
        log.total.add(Reading { flits, stalled_ps, ..Reading::default() });
    }

    /// The response to so many Aries packets comes at `at`, which may lie ahead.
    #[inline]
    pub fn answer(&mut self, nic: u32, at: u64, answered: u64, latency_ps: u64) {
        if let Some(log) = self.log(nic) {
            log.answers.push_back((at, answered, latency_ps));
        }
    }

    /// What the NICs of a node have counted before `now`.
    pub fn read(&mut self, node: u32, now: u64) -> Reading {
        let mut sum = Reading::default();
        for nic in node * self.rails..(node + 1) * self.rails {
            let Some(log) = self.log(nic) else { continue };
            log.take_answers(now);
            sum.add(if log.last.0 == now { log.last.1 } else { log.total });
        }
        sum
    }
}
