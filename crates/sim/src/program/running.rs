//! A job that runs a program: the CPUs of its ranks, and what sending and receiving means.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use odonata_error::{Error, ErrorKind, path};
use odonata_programs::Program;

use super::agenda::{Agenda, Kind, Moment};
use super::letters::{Letter, Sort};
use super::matching::{Asking, Half, Key, Map};
use super::rank::Rank;
use super::sizes::least_packet;
use super::tally::Tally;
use crate::engine::LAST_TIME;
use crate::engine::random::{Stream, exponential, word};
use crate::spec::{Costs, ProgramSpec, Record, Spec};

/// What a rank is to do when a work is done or a receive is complete. For traces it is the number of the operation; for phases one of the
/// others below.
pub type Token = u32;
/// The rank goes on with its next iteration.
pub const GAP: Token = u32::MAX;
/// The rank goes on with the operation at which it stands.
pub const OWN: Token = 0;
/// An operation is complete for which the rank waits.
pub const BLOCKING: Token = 1;
/// An operation is complete that does not block.
pub const OPEN: Token = 2;

/// A job that runs a program.
pub struct Running {
    pub(super) job: u16,
    name: String,
    seed: u64,
    pub(super) program: Program,
    pub(super) costs: Costs,
    pub(super) gap: u64,
    start: u64,
    every: u64,
    /// Iterations of each rank; none if without end.
    pub(super) iterations: Option<u32>,
    pub(super) nodes: Vec<u32>,
    pub(super) ranks: Vec<Rank>,
    /// When the CPUs of the ranks will be free, and where those of a rank begin.
    cpus: Vec<u64>,
    first_cpu: Vec<usize>,
    /// Whether the program says which NIC a message takes.
    pub(super) names_nics: bool,
    /// For how many others each operation of a trace still waits, and where those of a rank begin.
    pub(super) waiting_for: Vec<u32>,
    pub(super) first_step: Vec<u32>,
    pub(super) at_receiver: Map<Half>,
    pub(super) at_sender: Map<Asking>,
    pub tally: Tally,
    /// Moments to come and letters in the network.
    pub alive: u64,
    unfinished: u32,
    finished_at: Option<u64>,
    /// Why it cannot go on.
    pub(super) failure: Option<Error>,
    /// Room for the operations of a chunk, and for operations that are ready.
    pub(super) ops: Vec<odonata_programs::Op>,
    pub(super) ready: BinaryHeap<Reverse<u32>>,
}

/// What the ranks of a node act on: the instant, their agenda, and what they send.
pub struct Here<'a> {
    pub now: u64,
    pub agenda: &'a mut Agenda,
    pub outbox: &'a mut Vec<Letter>,
}

impl Running {
    /// A checked job.
    #[must_use]
    pub fn new(spec: &Spec, index: u16, program: &ProgramSpec) -> Self {
        let job = &spec.jobs[usize::from(index)];
        let ranks = job.nodes.len();
        let compiled = Program::new(&program.body, ranks as u32).expect("checked before");
        let (first_cpu, first_step, waiting_for) = match &compiled {
            Program::Phases(_) => ((0..=ranks).collect(), Vec::new(), Vec::new()),
            Program::Trace(trace) => {
                let (mut cpu, mut step) = (vec![0], vec![0]);
                for graph in (0..ranks as u32).map(|rank| trace.graph(rank)) {
                    cpu.push(cpu[cpu.len() - 1] + graph.cpus().len());
                    step.push(step[step.len() - 1] + graph.steps().len() as u32);
                }
                (cpu, step.clone(), vec![0; step[ranks] as usize])
            }
        };
        let names_nics = matches!(&compiled, Program::Trace(trace) if trace.names_nics());
        Self {
            job: index,
            name: job.name.clone(),
            seed: spec.seed,
            program: compiled,
            costs: program.costs,
            gap: program.gap_ps,
            start: program.start_ps,
            every: program.every_ps,
            iterations: program.iterations.map(|n| n as u32),
            nodes: job.nodes.clone(),
            ranks: vec![Rank::default(); ranks],
            cpus: vec![0; first_cpu[ranks]],
            first_cpu,
            names_nics,
            waiting_for,
            first_step,
            at_receiver: Map::default(),
            at_sender: Map::default(),
            tally: Tally::new(&spec.measure, job.record == Record::EveryMessage),
            alive: ranks as u64,
            unfinished: ranks as u32,
            finished_at: None,
            failure: None,
            ops: Vec::new(),
            ready: BinaryHeap::new(),
        }
    }

    /// Node of a rank.
    #[must_use]
    pub fn node(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }

    /// The smallest packet that it sends, if packets hold `full` bytes; or less.
    #[must_use]
    pub fn least_packet(&self, full: u32) -> u32 {
        least_packet(&self.program, self.ranks.len() as u32, &self.costs, u64::from(full)) as u32
    }

    /// Size on the network.
    #[must_use]
    pub fn wire_bytes(&self, letter: &Letter) -> u64 {
        let control = u64::from(self.costs.control_bytes);
        let bytes = match letter.sort {
            Sort::Eager | Sort::Data => letter.bytes.max(control),
            Sort::Request | Sort::Clearance => control,
        };
        bytes + u64::from(self.costs.header_bytes)
    }

    /// Of each rank when it finished, and how long its CPUs worked.
    pub fn finishes(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        self.ranks.iter().map(|rank| (rank.finish, rank.worked))
    }

    /// Rank-iterations ended, and in all; 0 if without end.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.tally.ended, self.iterations.map_or(0, |n| u64::from(n) * self.ranks.len() as u64))
    }

    /// When the last rank finished, if that has just happened.
    pub fn just_finished(&mut self) -> Option<u64> {
        self.finished_at.take()
    }

    /// Handles a moment.
    ///
    /// # Errors
    /// If the program cannot go on.
    pub fn handle(
        &mut self,
        moment: Moment,
        now: u64,
        agenda: &mut Agenda,
        outbox: &mut Vec<Letter>,
    ) -> Result<(), Error> {
        self.alive -= 1;
        let here = &mut Here { now, agenda, outbox };
        let rank = moment.rank;
        match moment.kind {
            Kind::Arrival => self.arrival(moment, here),
            Kind::Begun => self.begun(rank, moment.token, here),
            Kind::Done => {
                let worked = &mut self.ranks[rank as usize].worked;
                *worked = worked.saturating_add(moment.value); // of several CPUs
                self.done(rank, moment.token, here);
            }
            Kind::Sent => {
                let key = Key { to: moment.peer, from: rank, iteration: moment.iteration, label: moment.label };
                let asking = self.at_sender.remove(&key).expect("what was sent was asked for");
                self.complete(rank, asking.token, here);
            }
            Kind::Start => self.begin_iteration(rank, here),
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Takes a CPU of a rank for so long; returns when that begins and ends. If it ends later than now, a moment is made.
    pub(super) fn occupy(&mut self, rank: u32, cpu: u16, ps: u64, token: Token, here: &mut Here) -> (u64, u64) {
        let free = &mut self.cpus[self.first_cpu[rank as usize] + usize::from(cpu)];
        let begin = (*free).max(here.now);
        let end = begin.saturating_add(ps);
        *free = end;
        if end >= LAST_TIME {
            self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
        }
        let of = &mut self.ranks[rank as usize];
        let number = of.works;
        of.works += 1;
        if end > here.now {
            self.work_moment(Kind::Done, end, rank, number, token, ps, here);
        }
        (begin, end)
    }

    /// A moment of a work.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn work_moment(
        &mut self,
        kind: Kind,
        time: u64,
        rank: u32,
        number: u64,
        token: Token,
        value: u64,
        here: &mut Here,
    ) {
        self.alive += 1;
        let sort = Sort::Eager;
        here.agenda.add(Moment { time, rank, kind, peer: 0, iteration: 0, label: number, sort, token, value });
    }

    /// How long a computation takes.
    pub(super) fn computing(&mut self, rank: u32, ps: u64, jitter_ps: u64) -> u64 {
        let of = &mut self.ranks[rank as usize];
        let number = of.computes;
        of.computes += 1;
        if jitter_ps == 0 {
            return ps;
        }
        let component = u64::from(self.job) << 32 | u64::from(rank);
        ps.saturating_add(exponential(word(self.seed, Stream::Compute, component, number), jitter_ps))
    }

    /// A work has begun for whose beginning something waits.
    fn begun(&mut self, rank: u32, token: Token, here: &mut Here) {
        self.release(rank, token, odonata_programs::trace::Start::AtBegin);
        self.run_ready(rank, here);
    }

    /// A work is done.
    fn done(&mut self, rank: u32, token: Token, here: &mut Here) {
        if token == GAP {
            if self.may_begin(rank, here) {
                self.begin_iteration(rank, here);
            }
            return;
        }
        match self.program {
            Program::Phases(_) if token == OWN => self.go_on(rank, here),
            Program::Phases(_) => self.complete(rank, token, here),
            Program::Trace(_) => self.step_done(rank, token, here),
        }
    }

    /// A send or a receive is complete.
    pub(super) fn complete(&mut self, rank: u32, token: Token, here: &mut Here) {
        match self.program {
            Program::Phases(_) => self.operation_complete(rank, token, here),
            Program::Trace(_) => self.step_complete(rank, token, here),
        }
    }

    /// A rank begins an iteration.
    fn begin_iteration(&mut self, rank: u32, here: &mut Here) {
        self.ranks[rank as usize].begun = here.now;
        match self.program {
            Program::Phases(_) => self.advance(rank, here),
            Program::Trace(_) => self.begin_graph(rank, here),
        }
    }

    /// A rank has ended an iteration. Returns whether it begins the next at once.
    pub(super) fn end_iteration(&mut self, rank: u32, here: &mut Here) -> bool {
        let of = &mut self.ranks[rank as usize];
        self.tally.end(of.iteration, of.begun, here.now);
        if self.iterations == Some(of.iteration + 1) {
            of.finish = Some(here.now);
            self.unfinished -= 1;
            if self.unfinished == 0 {
                // Not `here.now`: nodes do not keep step, so the rank that is handled last need not be the last to finish.
                self.finished_at = self.ranks.iter().filter_map(|rank| rank.finish).max();
            }
            return false;
        }
        if self.iterations.is_none() && self.every == 0 && of.begun == here.now {
            let at = path!["jobs", usize::from(self.job), "program", "iterations"];
            self.failure.get_or_insert(ErrorKind::EndlessIterations {}.at(at));
            return false;
        }
        if of.iteration == u32::MAX {
            self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
            return false;
        }
        of.iteration += 1;
        if self.gap > 0 && self.occupy(rank, 0, self.gap, GAP, here).1 > here.now {
            return false;
        }
        self.may_begin(rank, here)
    }

    /// Begins the next iteration if it is time for it; otherwise a moment is made for when it is.
    fn may_begin(&mut self, rank: u32, here: &mut Here) -> bool {
        let of = &mut self.ranks[rank as usize];
        let earliest = self.start.saturating_add(self.every.saturating_mul(u64::from(of.iteration)));
        if earliest <= here.now {
            of.begun = here.now;
            return true;
        }
        if earliest >= LAST_TIME {
            self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
        }
        self.alive += 1;
        here.agenda.start(earliest, rank);
        false
    }

    /// Refuses to wait for ever.
    ///
    /// # Errors
    /// [`ErrorKind::DeadProgram`] if nothing is left to happen to a job that has not finished.
    pub fn still_alive(&self) -> Result<(), Error> {
        if self.alive > 0 || self.unfinished == 0 {
            return Ok(());
        }
        let (job, ranks, first) = (self.name.clone(), u64::from(self.unfinished), self.what_waits());
        Err(ErrorKind::DeadProgram { job, ranks, first }.into())
    }
}
