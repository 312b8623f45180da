//! A job that runs a program: the CPUs of its ranks, and what follows their tasks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use odonata_error::{Error, ErrorKind, path};
use odonata_programs::Program;

use super::chunks::Chunks;
use super::costs::MessageCosts;
use super::gpus::Gpus;
use super::matching::{Fetching, Issued, Map, MessageKey, RendezvousSend, Transfer};
use super::protocol_messages::{ProtocolMessage, ProtocolMessageKind};
use super::rank::Rank;
use super::rank_events::{RankEvent, RankEventKind, RankEvents};
use super::receivers::Receivers;
use super::stages::Nodes;
use super::tally::Tally;
use crate::engine::random::{Stream, exponential, random};
use crate::engine::{Burst, Bursts, LAST_TIME, prefetch_whole};
use crate::observe::{OperationCounts, Operations, Task};
use crate::spec::{Costs, ProgramSpec, Rail, Record, SizedCombine, Spec};

/// What a rank does when a CPU task is done or a receive is complete. In a trace it is the number of the operation, in
/// stages the place of the operation among those that have begun; in phases it is one of the others below.
pub type Token = u32;
/// The rank begins its next iteration.
pub const GAP: Token = u32::MAX;
/// The rank continues with its present operation.
pub const OWN: Token = 0;
/// When an iteration begins whose first timed phase has not begun.
const UNTIMED: u64 = u64::MAX;
/// An operation is complete that the rank waits for.
pub const BLOCKING: Token = 1;
/// A non-blocking operation is complete.
pub const OPEN: Token = 2;

/// A job that runs a program.
pub struct Running {
    pub(super) job: u16,
    name: String,
    seed: u64,
    pub(super) program: Arc<Program>,
    pub(super) costs: Costs,
    pub(super) message_costs: MessageCosts,
    /// The bandwidths at which vectors are combined, by their size, if they are given so.
    pub(super) combine_by_size: Vec<SizedCombine>,
    pub(super) gap: u64,
    start: u64,
    every: u64,
    /// When ranks pause, if they do.
    bursts: Option<Bursts>,
    /// How many of the first phases the time of an iteration leaves out.
    untimed: u32,
    /// Iterations of each rank; none if there is no end.
    pub(super) iterations: Option<u32>,
    pub(super) nodes: Vec<u32>,
    /// NIC of each rank, modulo their number, if the rank chooses it.
    own_nics: Option<Vec<u32>>,
    /// The network between the GPUs of a node, if ranks are on GPUs.
    pub(super) gpus: Option<Gpus>,
    pub(super) ranks: Vec<Rank>,
    /// When each CPU of the ranks becomes free, and where the CPUs of each rank begin.
    cpus: Vec<u64>,
    first_cpu: Vec<usize>,
    /// Whether the receiver of a rendezvous fetches the data.
    pub(super) gets: bool,
    /// Whether the program names the NIC of each message.
    pub(super) names_nics: bool,
    /// How many dependencies each operation of a trace still waits for, and where the operations of a rank begin.
    pub(super) waiting_for: Vec<u32>,
    pub(super) first_operation: Vec<u32>,
    /// How far ranks are in the nodes of stages.
    pub(super) nodes_of_stages: Nodes,
    pub(super) at_receiver: Receivers,
    pub(super) at_sender: Map<RendezvousSend>,
    /// Messages whose RTS has come and whose data have not been fetched, if receivers fetch them.
    pub(super) offers: Map<Issued>,
    /// What each rank has asked for, if that is bounded.
    pub(super) fetching: Vec<Fetching>,
    /// Transfers between GPUs that are on their way.
    pub(super) transfers: Map<Transfer>,
    pub tally: Tally,
    /// The tasks of the CPUs, if they are recorded.
    pub operations: Option<OperationCounts>,
    /// Scheduled rank events and protocol messages in the network. In a partition it may be negative: a message counts
    /// where it is issued until it is handled where it arrives.
    pub pending: i64,
    /// Ranks that have finished, and when the last of them did.
    finished: (u64, u64),
    finished_at: Option<u64>,
    /// Why it cannot continue.
    pub(super) failure: Option<Error>,
    /// The operations that ranks have generated last (phases).
    pub(super) chunks: Chunks,
    /// A buffer for operations, or nodes, that are ready.
    pub(super) ready: BinaryHeap<Reverse<u32>>,
}

/// What the ranks of a node act on: the time, their event queue, and what they send.
pub struct NodeContext<'a> {
    pub now: u64,
    pub rank_events: &'a mut RankEvents,
    pub outbox: &'a mut Vec<ProtocolMessage>,
}

impl Running {
    /// A checked job with its compiled program.
    #[must_use]
    pub fn new(spec: &Spec, index: u16, program: &ProgramSpec, compiled: Arc<Program>) -> Self {
        let job = &spec.jobs[usize::from(index)];
        let ranks = job.nodes.len();
        let bursts = Bursts::of(job, spec.seed);
        let burst = bursts.map_or_else(Burst::default, |bursts| bursts.first(program.start_ps));
        let (first_cpu, first_operation, waiting_for) = match &*compiled {
            Program::Phases(_) => ((0..=ranks).collect(), Vec::new(), Vec::new()),
            Program::Stages(staged) => {
                let mut cpu = vec![0];
                (0..ranks as u32).for_each(|rank| cpu.push(cpu[cpu.len() - 1] + staged.cpus(rank).len()));
                (cpu, Vec::new(), Vec::new())
            }
            Program::Trace(trace) => {
                let (mut cpu, mut operation) = (vec![0], vec![0]);
                for graph in (0..ranks as u32).map(|rank| trace.graph(rank)) {
                    cpu.push(cpu[cpu.len() - 1] + graph.cpus().len());
                    operation.push(operation[operation.len() - 1] + graph.operations().len() as u32);
                }
                (cpu, operation.clone(), vec![0; operation[ranks] as usize])
            }
        };
        let chunks = Chunks::new(if matches!(&*compiled, Program::Phases(_)) { ranks } else { 1 });
        let names_nics = matches!(&*compiled, Program::Trace(trace) if trace.names_nics());
        let places = places(&job.nodes);
        let gpus = program.gpus.as_ref();
        let costs = Costs { copy: program.costs.copy.filter(|_| gpus.is_none()), ..program.costs };
        Self {
            job: index,
            name: job.name.clone(),
            seed: spec.seed,
            costs,
            message_costs: MessageCosts::new(costs, &program.by_size),
            combine_by_size: program.combine_by_size.clone(),
            gap: program.gap_ps,
            start: program.start_ps,
            every: program.every_ps,
            bursts,
            untimed: match &*compiled {
                Program::Phases(phases) => phases.untimed() as u32,
                Program::Stages(_) | Program::Trace(_) => 0,
            },
            nodes_of_stages: Nodes::new(&compiled, ranks as u32),
            program: compiled,
            iterations: program.iterations.map(|n| n as u32),
            nodes: job.nodes.clone(),
            gpus: gpus.map(|gpus| Gpus::new(gpus, &job.nodes, &places)),
            own_nics: match gpus {
                Some(gpus) => Some(places.iter().map(|place| gpus.nics[(place % gpus.count) as usize]).collect()),
                None => (spec.fabric.nic.rail == Rail::ByRank).then_some(places),
            },
            ranks: vec![Rank { burst, ..Rank::default() }; ranks],
            cpus: vec![0; first_cpu[ranks]],
            first_cpu,
            gets: spec.fabric.gets(),
            names_nics,
            waiting_for,
            first_operation,
            at_receiver: Receivers::new(ranks),
            at_sender: Map::default(),
            offers: Map::default(),
            fetching: vec![Fetching::default(); if costs.fetches > 0 { ranks } else { 0 }],
            transfers: Map::default(),
            tally: Tally::new(&spec.measure, job.record == Record::EveryMessage),
            operations: spec.measure.operations.then(|| {
                let jobs = spec.jobs.iter().filter(|job| job.program.is_some()).count();
                OperationCounts::new(ranks as u32, Operations::limit(jobs))
            }),
            pending: ranks as i64,
            finished: (0, 0),
            finished_at: None,
            failure: None,
            chunks,
            ready: BinaryHeap::new(),
        }
    }

    /// Node of a rank.
    #[must_use]
    pub fn node(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }

    /// NICs of two ranks, modulo their number, if the ranks choose the NICs of a message between them.
    #[must_use]
    pub fn nics_of(&self, ranks: [u32; 2]) -> Option<[u32; 2]> {
        self.own_nics.as_ref().map(|nics| ranks.map(|rank| nics[rank as usize]))
    }

    /// Size on the network.
    #[must_use]
    pub fn wire_bytes(&self, message: &ProtocolMessage) -> u64 {
        let control = u64::from(self.costs.control_bytes);
        let bytes = if message.message_kind.is_control() { control } else { message.bytes.max(control) };
        bytes + u64::from(self.costs.header_bytes)
    }

    /// Whether a protocol message is fetched by its destination.
    #[must_use]
    pub fn is_get(&self, message: &ProtocolMessage) -> bool {
        self.gets && message.message_kind == ProtocolMessageKind::Data
    }

    /// When each rank finished, and how long its CPUs worked.
    pub fn finishes(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        self.ranks.iter().map(|rank| (rank.finish, rank.worked))
    }

    /// Iterations that ranks have ended, and their final number; 0 if there is no end.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.tally.ended, self.iterations.map_or(0, |n| u64::from(n) * self.ranks.len() as u64))
    }

    /// Ranks that have finished, and when the last of them did; those of this partition.
    #[must_use]
    pub fn finished(&self) -> (u64, u64) {
        self.finished
    }

    /// When the last rank finished, if it just did.
    #[inline]
    pub fn just_finished(&mut self) -> Option<u64> {
        self.finished_at.take()
    }

    /// Handles a rank event. Returns whether the program can continue; if not, [`take_failure`](Self::take_failure) says why.
    #[inline]
    pub fn handle(
        &mut self,
        event: RankEvent,
        rank_events: &mut RankEvents,
        outbox: &mut Vec<ProtocolMessage>,
    ) -> bool {
        self.pending -= 1;
        let context = &mut NodeContext { now: event.time, rank_events, outbox };
        let rank = event.rank;
        match event.kind {
            RankEventKind::Arrival => self.arrival(event, context),
            RankEventKind::Begun => self.begun(rank, event.token, context),
            RankEventKind::Done => {
                let worked = &mut self.ranks[rank as usize].worked;
                *worked = worked.saturating_add(event.value); // several CPUs may exceed the range
                self.done(rank, event.token, context);
            }
            RankEventKind::Sent => {
                let key = MessageKey { to: event.peer, from: rank, iteration: event.iteration, label: event.label };
                self.send_complete(key, context);
            }
            RankEventKind::Start => self.begin_iteration(rank, context),
            RankEventKind::Queue => {
                let key = MessageKey { to: rank, from: event.peer, iteration: event.iteration, label: event.label };
                self.ask_queue(key, event.token, event.value, context);
            }
        }
        self.failure.is_none()
    }

    /// Why the program cannot continue, if so.
    #[cold]
    #[inline(never)]
    pub fn take_failure(&mut self) -> Option<Box<Error>> {
        self.failure.take().map(Box::new)
    }

    /// Runs a task on a CPU of a rank; returns when it begins and ends. If it ends later than now, an event is added.
    pub(super) fn occupy(
        &mut self,
        rank: u32,
        cpu: u16,
        task: Task,
        ps: u64,
        token: Token,
        context: &mut NodeContext,
    ) -> (u64, u64) {
        let free = &mut self.cpus[self.first_cpu[rank as usize] + usize::from(cpu)];
        let begin = (*free).max(context.now);
        let end = begin.saturating_add(ps);
        *free = end;
        if end >= LAST_TIME {
            self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
        }
        let of = &mut self.ranks[rank as usize];
        let number = of.tasks;
        of.tasks += 1;
        if let Some(operations) = &mut self.operations {
            operations.record([rank, of.iteration], cpu, task, [begin, end]);
        }
        if end > context.now {
            self.task_event(RankEventKind::Done, end, rank, number, token, ps, context);
        }
        (begin, end)
    }

    /// Adds an event of a CPU task.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn task_event(
        &mut self,
        kind: RankEventKind,
        time: u64,
        rank: u32,
        number: u64,
        token: Token,
        value: u64,
        context: &mut NodeContext,
    ) {
        self.pending += 1;
        let message_kind = ProtocolMessageKind::Eager;
        context.rank_events.add(RankEvent {
            time,
            rank,
            kind,
            peer: 0,
            iteration: 0,
            label: number,
            message_kind,
            token,
            value,
        });
    }

    /// Duration of a compute operation.
    pub(super) fn computing(&mut self, rank: u32, ps: u64, jitter_ps: u64) -> u64 {
        let of = &mut self.ranks[rank as usize];
        let number = of.computes;
        of.computes += 1;
        if jitter_ps == 0 {
            return ps;
        }
        let component = u64::from(self.job) << 32 | u64::from(rank);
        ps.saturating_add(exponential(random(self.seed, Stream::Compute, component, number), jitter_ps))
    }

    /// A CPU task has begun, and something waits for its start.
    fn begun(&mut self, rank: u32, token: Token, context: &mut NodeContext) {
        if matches!(*self.program, Program::Stages(_)) {
            return self.node_task_begun(rank, token, context);
        }
        self.release(rank, token, odonata_programs::trace::Start::AtBegin);
        self.run_ready(rank, context);
    }

    /// A CPU task is done.
    fn done(&mut self, rank: u32, token: Token, context: &mut NodeContext) {
        if token == GAP {
            if self.may_begin(rank, context) {
                self.begin_iteration(rank, context);
            }
            return;
        }
        match *self.program {
            Program::Phases(_) if token == OWN => self.go_on(rank, context),
            Program::Phases(_) => self.complete(rank, token, context),
            Program::Stages(_) => self.node_task_done(rank, token, context),
            Program::Trace(_) => self.operation_done(rank, token, context),
        }
    }

    /// A send or a receive is complete.
    pub(super) fn complete(&mut self, rank: u32, token: Token, context: &mut NodeContext) {
        match *self.program {
            Program::Phases(_) => self.operation_complete(rank, token, context),
            Program::Stages(_) => self.node_operation_complete(rank, token, context),
            Program::Trace(_) => self.graph_operation_complete(rank, token, context),
        }
    }

    /// A rank begins an iteration.
    fn begin_iteration(&mut self, rank: u32, context: &mut NodeContext) {
        self.begins_now(rank, context.now);
        match *self.program {
            Program::Phases(_) => self.advance(rank, context),
            Program::Stages(_) => self.begin_nodes(rank, context),
            Program::Trace(_) => self.begin_graph(rank, context),
        }
    }

    /// A rank has ended an iteration. Returns whether it begins the next at once.
    pub(super) fn end_iteration(&mut self, rank: u32, context: &mut NodeContext) -> bool {
        let of = &mut self.ranks[rank as usize];
        self.tally.end(of.iteration, of.timed_from, context.now);
        if self.iterations == Some(of.iteration + 1) {
            of.finish = Some(context.now);
            // Nodes are not synchronous, so the rank that is handled last need not be the last to finish.
            self.finished = (self.finished.0 + 1, self.finished.1.max(context.now));
            if self.unfinished() == 0 {
                self.finished_at = Some(self.finished.1);
            }
            return false;
        }
        if self.iterations.is_none() && self.every == 0 && of.began == context.now {
            let at = path!["jobs", usize::from(self.job), "program", "iterations"];
            self.failure.get_or_insert(ErrorKind::EndlessIterations {}.at(at));
            return false;
        }
        if of.iteration == u32::MAX {
            self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
            return false;
        }
        of.iteration += 1;
        if self.gap > 0 && self.occupy(rank, 0, Task::Gap, self.gap, GAP, context).1 > context.now {
            return false;
        }
        self.may_begin(rank, context)
    }

    /// An iteration begins, and so does its time if no phase is left out.
    fn begins_now(&mut self, rank: u32, now: u64) {
        let of = &mut self.ranks[rank as usize];
        (of.began, of.timed_from) = (now, if self.untimed == 0 { now } else { UNTIMED });
    }

    /// The time of an iteration begins with the first phase that counts.
    pub(super) fn time_begins(&mut self, rank: u32, now: u64) {
        let of = &mut self.ranks[rank as usize];
        if of.timed_from == UNTIMED && of.phase >= self.untimed {
            of.timed_from = now;
        }
    }

    /// Begins the next iteration if its time has come; otherwise adds an event for that time.
    fn may_begin(&mut self, rank: u32, context: &mut NodeContext) -> bool {
        let of = &mut self.ranks[rank as usize];
        let mut earliest = self.start.saturating_add(self.every.saturating_mul(u64::from(of.iteration)));
        if let Some(bursts) = &self.bursts {
            earliest = bursts.begin(&mut of.burst, earliest.max(context.now));
        }
        if earliest <= context.now {
            self.begins_now(rank, context.now);
            return true;
        }
        if earliest >= LAST_TIME {
            self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
        }
        self.pending += 1;
        context.rank_events.start(earliest, rank);
        false
    }

    /// Prefetches the state of a rank.
    #[inline]
    pub(super) fn prefetch(&self, rank: u32) {
        prefetch_whole(&self.ranks, rank as usize);
        self.at_receiver.prefetch(rank);
        self.chunks.prefetch(rank);
    }

    fn unfinished(&self) -> u64 {
        self.ranks.len() as u64 - self.finished.0
    }

    /// Whether the job has not finished and no events are left.
    #[inline]
    #[must_use]
    pub fn is_deadlocked(&self) -> bool {
        self.pending <= 0 && self.unfinished() > 0
    }

    /// Detects deadlocked programs.
    ///
    /// # Errors
    /// [`ErrorKind::DeadlockedProgram`] if a job has not finished and no events are left.
    pub fn check_deadlock(&self) -> Result<(), Error> {
        if !self.is_deadlocked() {
            return Ok(());
        }
        let (job, ranks, first) = (self.name.clone(), self.unfinished(), self.what_waits());
        Err(ErrorKind::DeadlockedProgram { job, ranks, first }.into())
    }

    /// Keeps only the ranks on nodes that `has` says, before any of them has begun.
    pub fn keep(&mut self, has: impl Fn(u32) -> bool) {
        self.pending = self.nodes.iter().filter(|&&node| has(node)).count() as i64;
    }

    /// Takes over the ranks of another partition, those on nodes that `has` says, and what was counted for them.
    pub fn absorb(&mut self, mut other: Self, has: impl Fn(u32) -> bool) {
        for rank in (0..self.ranks.len()).filter(|&rank| has(self.nodes[rank])) {
            self.ranks[rank] = std::mem::take(&mut other.ranks[rank]);
        }
        self.at_receiver.absorb(&other.at_receiver);
        self.at_sender.extend(other.at_sender);
        self.pending += other.pending;
        self.finished = (self.finished.0 + other.finished.0, self.finished.1.max(other.finished.1));
        self.tally.absorb(other.tally);
        if let (Some(operations), Some(of)) = (&mut self.operations, other.operations) {
            operations.absorb(of);
        }
    }
}

/// Place of each rank among the ranks of its node, in order of rank.
fn places(nodes: &[u32]) -> Vec<u32> {
    let mut on_node = BTreeMap::new();
    let mut next = |node: &u32| {
        let count = on_node.entry(*node).or_insert(0);
        *count += 1;
        *count - 1
    };
    nodes.iter().map(&mut next).collect()
}
