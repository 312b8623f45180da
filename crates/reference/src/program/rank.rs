//! The events of a rank, its iterations and its end (model, section 10).

use std::collections::BTreeMap;

use odonata_error::{Error, ErrorKind, path};
use odonata_sim::output::Task;
use odonata_sim::spec::SETTLE_PS;

use super::Running;
use super::cpu::Cpus;
use super::exchange::RendezvousSend;
use super::execution::{Execution, Next};
use super::matching::Matching;
use super::rank_event::{MessageKey, RankEvent, RankId};
use crate::calendar::Event;
use crate::traffic::{Pauses, begins};
use crate::world::World;

/// A rank of a job with a program.
#[derive(Debug)]
pub(crate) struct Rank {
    /// Its node.
    pub(crate) node: u32,
    /// Its CPUs.
    pub(crate) cpus: Cpus,
    /// Its plan.
    pub(crate) execution: Execution,
    /// Its arrivals and posted receives.
    pub(crate) matching: Matching,
    /// Its messages that wait for a CTS or a FIN, or whose data is leaving.
    pub(crate) rendezvous: BTreeMap<MessageKey, RendezvousSend>,
    /// Its iteration; between iterations, the number of those that it has ended.
    pub(crate) iteration: u64,
    /// When its iteration began, while it is in one.
    began: Option<u64>,
    /// From when on the iteration is timed.
    timed_from: u64,
    /// Its pauses so far.
    pauses: Pauses,
    /// When it finished.
    pub(crate) finished: Option<u64>,
}

impl Rank {
    /// A rank that has not started.
    pub(crate) fn new(node: u32, execution: Execution) -> Self {
        Self {
            node,
            cpus: Cpus::default(),
            execution,
            matching: Matching::default(),
            rendezvous: BTreeMap::new(),
            iteration: 0,
            began: None,
            timed_from: 0,
            pauses: Pauses::default(),
            finished: None,
        }
    }
}

impl<'a> World<'a> {
    /// The program of a job that has one.
    pub(crate) fn running(&mut self, job: usize) -> &mut Running<'a> {
        self.programs[job].as_mut().expect("asked of jobs with a program only")
    }

    /// A rank of such a job.
    pub(crate) fn rank(&mut self, who: RankId) -> &mut Rank {
        &mut self.running(who.job).ranks[who.rank as usize]
    }

    /// Schedules the starts of all ranks of all programs.
    pub(crate) fn expect_starts(&mut self) {
        for job in 0..self.programs.len() {
            let Some(running) = &self.programs[job] else { continue };
            let (start, ranks) = (running.spec.start_ps, running.ranks.len() as u32);
            for rank in 0..ranks {
                self.expect(start, RankId { job, rank }, RankEvent::Start);
            }
        }
    }

    /// Schedules an event at time `t`.
    pub(crate) fn expect(&mut self, t: u64, who: RankId, event: RankEvent) {
        self.running(who.job).pending_events += 1;
        let nic = self.first_nic(self.spec.jobs[who.job].nodes[who.rank as usize]);
        self.calendar.add(t, Event::Rank { nic, who, event });
    }

    /// An event happens.
    pub(crate) fn rank_event(&mut self, t: u64, who: RankId, event: RankEvent) -> Result<(), Error> {
        self.running(who.job).pending_events -= 1;
        match event {
            RankEvent::Arrival(arrival) => self.arrive(t, who, arrival),
            RankEvent::Begun { task_number } => self.task_begun(who, task_number),
            RankEvent::Done { task_number } => self.task_done(t, who, task_number),
            RankEvent::Sent(key) => self.sent(who, key),
            RankEvent::Start => self.begin_iteration(t, who),
            RankEvent::Queue(transfer) => {
                self.ask_queue(t, who, transfer);
            }
        }
        self.go_on(t, who)?;
        self.check_deadlock(who.job)
    }

    /// The gap is over: the next iteration of a rank begins at its time.
    pub(crate) fn next_iteration(&mut self, t: u64, who: RankId) {
        let running = self.running(who.job);
        let iteration = running.ranks[who.rank as usize].iteration;
        let spec = running.spec;
        let (seed, job) = (self.spec.seed, &self.spec.jobs[who.job]);
        let earliest = t.max(spec.start_ps.saturating_add(spec.every_ps.saturating_mul(iteration)));
        let earliest = begins(seed, job, &mut self.rank(who).pauses, spec.start_ps, earliest);
        if earliest > t {
            self.expect(earliest, who, RankEvent::Start);
        } else {
            self.begin_iteration(t, who);
        }
    }

    /// An iteration of a rank begins.
    pub(crate) fn begin_iteration(&mut self, t: u64, who: RankId) {
        let rank = self.rank(who);
        (rank.began, rank.timed_from) = (Some(t), t);
        rank.execution.begin();
    }

    /// A rank acts until it must wait.
    fn go_on(&mut self, t: u64, who: RankId) -> Result<(), Error> {
        while self.rank(who).began.is_some() {
            match self.rank(who).execution.next() {
                Next::Begin(action) => self.carry_out(t, who, action),
                Next::Timed => self.rank(who).timed_from = t,
                Next::Wait => break,
                Next::End => self.end_iteration(t, who)?,
            }
        }
        Ok(())
    }

    fn end_iteration(&mut self, t: u64, who: RankId) -> Result<(), Error> {
        let running = self.running(who.job);
        let spec = running.spec;
        let rank = &mut running.ranks[who.rank as usize];
        let began = rank.began.take().expect("it is in an iteration");
        if spec.iterations.is_none() && spec.every_ps == 0 && began == t {
            let at = path!["jobs", who.job, "program", "iterations"];
            return Err(ErrorKind::EndlessIterations {}.at(at));
        }
        running.iterations.entry(rank.iteration).or_default().count(rank.timed_from, t);
        rank.iteration += 1;
        if spec.iterations == Some(rank.iteration) {
            rank.finished = Some(t);
            running.unfinished -= 1;
            if running.unfinished == 0 {
                self.job_ends(who.job, t.saturating_add(SETTLE_PS));
            }
        } else if spec.gap_ps > 0 {
            self.occupy(t, who, 0, Task::Gap, spec.gap_ps, super::cpu::AfterTask::Iteration);
        } else {
            self.next_iteration(t, who);
        }
        Ok(())
    }

    /// A program is deadlocked if some rank waits and no event of the job is scheduled.
    fn check_deadlock(&mut self, job: usize) -> Result<(), Error> {
        let running = self.running(job);
        if running.unfinished == 0 || running.pending_events > 0 || running.under_way > 0 {
            return Ok(());
        }
        let ranks = running.unfinished;
        // The oracle does not report what each of them waits for.
        let job = self.spec.jobs[job].name.clone();
        Err(ErrorKind::DeadlockedProgram { job, ranks, first: Vec::new() }.into())
    }
}
