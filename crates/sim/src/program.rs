//! Programs: ranks that run operations and wait for each other (docs/model.md, section 10).
//!
//! All of this belongs to nodes and does not depend on the network. *Rank events* come in (a message has arrived, a CPU
//! task is done). [`ProtocolMessage`]s that the NICs are to send go out. The simulation carries them; see
//! `nodes/programs.rs`.
//!
//! | file | what |
//! |---|---|
//! | [`rank_events`] | the events that the ranks of a node wait for |
//! | [`protocol_messages`] | the protocol messages in the network |
//! | [`rank`] | the state of a rank |
//! | [`running`] | a job: CPUs, iterations, and what follows each event |
//! | [`chunks`] | the operations that ranks have generated last |
//! | [`costs`] | the costs of messages by size |
//! | [`exchange`] | sending and receiving |
//! | [`gpus`] | the network between the GPUs of a node |
//! | [`matching`] | the matching of messages and receives |
//! | [`receivers`] | what receivers know of messages, by rank |
//! | [`stream`] | ranks that run phases |
//! | [`graph`] | ranks that run a trace |
//! | [`stages`] | ranks that run a program of stages |
//! | [`tally`] | counters |
//! | [`deadlocked`] | the error for a deadlocked program |

mod chunks;
mod costs;
mod deadlocked;
mod exchange;
mod gpus;
mod graph;
mod matching;
mod protocol_messages;
mod rank;
mod rank_events;
mod receivers;
mod running;
mod sizes;
mod stages;
mod stream;
mod tally;

use std::sync::Arc;

use odonata_error::Error;
use odonata_programs::Program;

use crate::engine::{LAST_TIME, prefetch_whole};
use crate::spec::{JobSpec, Spec};
pub use protocol_messages::ProtocolMessage;
pub use protocol_messages::ProtocolMessageKind;
use protocol_messages::ProtocolMessages;
use rank_events::RankEvents;
pub use running::Running;
pub use sizes::Sizes;

/// Node without a program.
const NO_HOST: u32 = u32::MAX;

/// All jobs with a program, and the nodes that their ranks are on.
pub struct Programs {
    /// By job; none for a job with traffic.
    pub running: Vec<Option<Running>>,
    /// Number of each node among the hosts.
    host_of: Vec<u32>,
    hosts: Vec<RankEvents>,
    protocol_messages: ProtocolMessages,
    /// Protocol messages that the last handled node has to send, in order.
    pub outbox: Vec<ProtocolMessage>,
    /// Jobs whose last rank has finished, and when; the simulation removes them.
    pub finished: Vec<(u16, u64)>,
    /// Whether other partitions have ranks of the same jobs.
    partitioned: bool,
}

/// The compiled program of each job that has one.
#[must_use]
pub fn compiled(spec: &Spec) -> Vec<Option<Arc<Program>>> {
    let compile = |job: &JobSpec| {
        let program = job.program.as_ref()?;
        Some(Arc::new(Program::new(&program.body, job.nodes.len() as u32).expect("checked before")))
    };
    spec.jobs.iter().map(compile).collect()
}

impl Programs {
    /// The programs of a checked specification, as [`compiled`]; none if no job has one.
    #[must_use]
    pub fn new(spec: &Spec, programs: &[Option<Arc<Program>>], nodes: usize) -> Option<Self> {
        if programs.iter().all(Option::is_none) {
            return None;
        }
        let mut host_of = vec![NO_HOST; nodes];
        let mut hosts = Vec::new();
        let mut running = Vec::new();
        for (index, (job, compiled)) in spec.jobs.iter().zip(programs).enumerate() {
            running.push(job.program.as_ref().zip(compiled.as_ref()).map(|(program, compiled)| {
                for (rank, &node) in job.nodes.iter().enumerate() {
                    let host = &mut host_of[node as usize];
                    if *host == NO_HOST {
                        *host = hosts.len() as u32;
                        hosts.push(RankEvents::new(index as u16));
                    }
                    hosts[*host as usize].start(program.start_ps, rank as u32);
                }
                Running::new(spec, index as u16, program, Arc::clone(compiled))
            }));
        }
        let (protocol_messages, outbox, finished) = (ProtocolMessages::default(), Vec::new(), Vec::new());
        Some(Self { running, host_of, hosts, protocol_messages, outbox, finished, partitioned: false })
    }

    /// Whether the ranks of a node run a program.
    #[inline]
    #[must_use]
    pub fn is_host(&self, node: u32) -> bool {
        self.host_of[node as usize] != NO_HOST
    }

    /// Keeps only the ranks on nodes that `has` says: those of a partition.
    pub fn keep(&mut self, has: impl Fn(u32) -> bool) {
        self.partitioned = true;
        for node in (0..self.host_of.len() as u32).filter(|&node| !has(node)) {
            if let Some(host) = self.hosts.get_mut(self.host_of[node as usize] as usize) {
                host.clear();
            }
        }
        self.running.iter_mut().flatten().for_each(|running| running.keep(&has));
    }

    /// Takes over the programs of another partition, which has the nodes that `has` says.
    pub fn absorb(&mut self, other: Self, has: impl Fn(u32) -> bool) {
        for (running, of) in self.running.iter_mut().flatten().zip(other.running.into_iter().flatten()) {
            running.absorb(of, &has);
        }
    }

    /// Detects deadlocked programs, when all partitions are put together.
    ///
    /// # Errors
    /// As [`Running::check_deadlock`].
    pub fn check_deadlock(&self) -> Result<(), Error> {
        self.running.iter().flatten().try_for_each(Running::check_deadlock)
    }

    /// All nodes with the times of their first events.
    pub fn starts(&mut self) -> Vec<(u32, u64)> {
        let hosts = (0..self.host_of.len() as u32).filter(|&node| self.is_host(node));
        hosts.collect::<Vec<_>>().into_iter().filter_map(|node| self.arm(node).map(|at| (node, at))).collect()
    }

    /// The node of a rank of a job with a program.
    #[must_use]
    pub fn node_of(&self, job: u16, rank: u32) -> u32 {
        self.running[usize::from(job)].as_ref().expect("the job has a program").node(rank)
    }

    /// The job of a node's ranks.
    #[must_use]
    pub fn job_of(&self, node: u32) -> u16 {
        self.hosts[self.host_of[node as usize] as usize].job
    }

    /// Handles the events of a node up to `now`, and puts what it has to send into the outbox. Returns why the run cannot go
    /// on, if so: a deadlocked program, iterations without end that take no time, a time out of range. (In a box, because
    /// an error is large.)
    pub fn run(&mut self, node: u32, now: u64) -> Option<Box<Error>> {
        let rank_events = &mut self.hosts[self.host_of[node as usize] as usize];
        let running = self.running[usize::from(rank_events.job)].as_mut().expect("the node has a program");
        while let Some(event) = rank_events.take(now) {
            if !running.handle(event, rank_events, &mut self.outbox) {
                return running.take_failure();
            }
            debug_assert!(event.time == now || self.outbox.is_empty(), "a quiet event sends nothing");
        }
        if let Some(at) = running.just_finished() {
            self.finished.push((rank_events.job, at));
        }
        if self.partitioned || !running.is_deadlocked() { None } else { running.check_deadlock().err().map(Box::new) }
    }

    /// Handles the events up to the `end` of a run that have had no effect outside their ranks yet. Returns as
    /// [`run`](Self::run).
    pub fn settle(&mut self, end: u64) -> Option<Box<Error>> {
        (0..self.host_of.len() as u32).find_map(|node| if self.is_host(node) { self.run(node, end) } else { None })
    }

    /// Prefetches what a node waits for.
    #[inline(always)]
    pub fn prefetch_host(&self, node: u32) {
        if let Some(&host) = self.host_of.get(node as usize) {
            prefetch_whole(&self.hosts, host as usize);
        }
    }

    /// Prefetches the state of the rank for which the first event of a node is. What the node waits for has been
    /// prefetched.
    #[inline]
    pub fn prefetch_rank(&self, node: u32) {
        if let Some(&host) = self.host_of.get(node as usize)
            && let Some(of) = self.hosts.get(host as usize)
            && let Some(rank) = of.first_rank()
            && let Some(running) = &self.running[usize::from(of.job)]
        {
            running.prefetch(rank);
        }
    }

    /// When an event of the node must be scheduled, if it is earlier than all events scheduled for it.
    pub fn arm(&mut self, node: u32) -> Option<u64> {
        self.hosts[self.host_of[node as usize] as usize].arm()
    }

    /// Stores a protocol message while it is in the network; returns its slot.
    pub fn post(&mut self, message: ProtocolMessage) -> u32 {
        self.protocol_messages.add(message)
    }

    /// The protocol message in a slot leaves its node in so many parts.
    pub fn expect_parts(&mut self, slot: u32, parts: u32) {
        self.protocol_messages.expect_parts(slot, parts);
    }

    /// Removes a protocol message.
    pub fn take(&mut self, slot: u32) -> ProtocolMessage {
        self.protocol_messages.take(slot)
    }

    /// The message of a row of a job has a latency.
    pub fn count_latency(&mut self, job: u16, row: u32, latency: u64) {
        let running = self.running[usize::from(job)].as_mut().expect("the job has a program");
        running.tally.deliver(row, latency);
    }

    /// A protocol message reaches its node at `at`; returns the node.
    pub fn arrive(&mut self, job: u16, message: &ProtocolMessage, at: u64) -> u32 {
        let running = self.running[usize::from(job)].as_mut().expect("the job has a program");
        running.note_offer(message);
        let node = running.node(message.rank);
        let host = self.host_of[node as usize];
        let (delay, quiet) = running.arrival_ps(message);
        let event = message.arrival(at + delay);
        // If the time is out of range, so is that of the CPU task, which fails.
        let acts = event.time.checked_add(quiet).filter(|&acts| acts < LAST_TIME).unwrap_or(event.time);
        self.hosts[host as usize].add_quiet(event, acts);
        node
    }

    /// A protocol message is posted whose packets are answered. If a sender writes the data of a rendezvous with it, the sender
    /// waits for the last response; returns the slot for [`answered`](Self::answered).
    pub fn expect_sent(&mut self, job: u16, message: ProtocolMessage) -> Option<u32> {
        let running = self.running[usize::from(job)].as_mut().expect("the job has a program");
        if message.message_kind != ProtocolMessageKind::Data || running.is_get(&message) {
            return None;
        }
        running.pending += 1;
        Some(self.protocol_messages.add(message))
    }

    /// All packets of the data in a slot are answered at `at`; returns the node of its sender.
    pub fn answered(&mut self, job: u16, slot: u32, at: u64) -> u32 {
        let event = self.protocol_messages.take(slot).sent(at);
        let running = self.running[usize::from(job)].as_ref().expect("the job has a program");
        let node = running.node(event.rank);
        self.hosts[self.host_of[node as usize] as usize].add(event);
        node
    }

    /// The last packet of a protocol message, or of a part of it, leaves its NIC with its tail at `at`: an event for the
    /// sender if it is the data of a rendezvous and no part is missing.
    pub fn sent(&mut self, job: u16, slot: u32, at: u64) -> Option<u32> {
        let at = self.protocol_messages.part_sent(slot, at)?;
        let message = self.protocol_messages.get(slot);
        if message.message_kind != ProtocolMessageKind::Data {
            return None;
        }
        let event = message.sent(at);
        let running = self.running[usize::from(job)].as_mut().expect("the job has a program");
        running.pending += 1;
        let node = running.node(event.rank);
        self.hosts[self.host_of[node as usize] as usize].add(event);
        Some(node)
    }
}
