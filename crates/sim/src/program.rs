//! Programs: ranks that run operations and wait for each other (docs/model.md, section 10).
//!
//! All of this belongs to nodes and does not depend on the network. *Rank events* come in (a message has arrived, a CPU
//! task is done). [`ProtocolMessage`]s that the NICs are to send go out. The simulation carries them; see
//! `simulation/programs.rs`.
//!
//! | file | what |
//! |---|---|
//! | [`rank_events`] | the events that the ranks of a node wait for |
//! | [`protocol_messages`] | the protocol messages in the network |
//! | [`rank`] | the state of a rank |
//! | [`running`] | a job: CPUs, iterations, and what follows each event |
//! | [`exchange`] | sending and receiving |
//! | [`matching`] | the matching of messages and receives |
//! | [`stream`] | ranks that run phases |
//! | [`graph`] | ranks that run a trace |
//! | [`tally`] | counters |
//! | [`deadlocked`] | the error for a deadlocked program |

mod deadlocked;
mod exchange;
mod graph;
mod matching;
mod protocol_messages;
mod rank;
mod rank_events;
mod running;
mod sizes;
mod stream;
mod tally;

use odonata_error::Error;

use crate::spec::Spec;
pub use protocol_messages::ProtocolMessage;
pub use protocol_messages::ProtocolMessageKind;
use protocol_messages::ProtocolMessages;
use rank_events::RankEvents;
pub use running::Running;

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
}

impl Programs {
    /// The programs of a checked specification; none if no job has one.
    #[must_use]
    pub fn new(spec: &Spec, nodes: usize) -> Option<Self> {
        if spec.jobs.iter().all(|job| job.program.is_none()) {
            return None;
        }
        let mut host_of = vec![NO_HOST; nodes];
        let mut hosts = Vec::new();
        let mut running = Vec::new();
        for (index, job) in spec.jobs.iter().enumerate() {
            running.push(job.program.as_ref().map(|program| {
                for (rank, &node) in job.nodes.iter().enumerate() {
                    let host = &mut host_of[node as usize];
                    if *host == NO_HOST {
                        *host = hosts.len() as u32;
                        hosts.push(RankEvents::new(index as u16));
                    }
                    hosts[*host as usize].start(program.start_ps, rank as u32);
                }
                Running::new(spec, index as u16, program)
            }));
        }
        let (protocol_messages, outbox, finished) = (ProtocolMessages::default(), Vec::new(), Vec::new());
        Some(Self { running, host_of, hosts, protocol_messages, outbox, finished })
    }

    /// Whether the ranks of a node run a program.
    #[inline]
    #[must_use]
    pub fn is_host(&self, node: u32) -> bool {
        self.host_of[node as usize] != NO_HOST
    }

    /// A lower bound of the smallest packet of a job with a program, if packets hold `full` bytes.
    #[must_use]
    pub fn least_packet(&self, job: usize, full: u32) -> Option<u32> {
        self.running[job].as_ref().map(|running| running.least_packet(full))
    }

    /// All nodes with the times of their first events.
    pub fn starts(&mut self) -> Vec<(u32, u64)> {
        let hosts = (0..self.host_of.len() as u32).filter(|&node| self.is_host(node));
        hosts.collect::<Vec<_>>().into_iter().filter_map(|node| self.arm(node).map(|at| (node, at))).collect()
    }

    /// The job of a node's ranks.
    #[must_use]
    pub fn job_of(&self, node: u32) -> u16 {
        self.hosts[self.host_of[node as usize] as usize].job
    }

    /// Handles the events of a node up to `now`, and puts what it has to send into the outbox.
    ///
    /// # Errors
    /// A deadlocked program, iterations without end that take no time, a time out of range.
    pub fn run(&mut self, node: u32, now: u64) -> Result<(), Error> {
        let rank_events = &mut self.hosts[self.host_of[node as usize] as usize];
        let running = self.running[usize::from(rank_events.job)].as_mut().expect("the node has a program");
        while let Some(event) = rank_events.take(now) {
            running.handle(event, now, rank_events, &mut self.outbox)?;
        }
        if let Some(at) = running.just_finished() {
            self.finished.push((rank_events.job, at));
        }
        running.check_deadlock()
    }

    /// When an event of the node must be scheduled, if it is earlier than all events scheduled for it.
    pub fn arm(&mut self, node: u32) -> Option<u64> {
        self.hosts[self.host_of[node as usize] as usize].arm()
    }

    /// Stores a protocol message while it is in the network; returns its slot.
    pub fn post(&mut self, message: ProtocolMessage) -> u32 {
        self.protocol_messages.add(message)
    }

    /// A protocol message in the network.
    #[must_use]
    pub fn protocol_message(&self, slot: u32) -> &ProtocolMessage {
        self.protocol_messages.get(slot)
    }

    /// A protocol message reaches its node at `at`; returns the node.
    pub fn arrive(&mut self, job: u16, slot: u32, at: u64) -> u32 {
        let message = self.protocol_messages.take(slot);
        let running = self.running[usize::from(job)].as_mut().expect("letters are of programs");
        let node = running.node(message.rank);
        let host = self.host_of[node as usize];
        self.hosts[host as usize].add(message.arrival(at));
        node
    }

    /// A protocol message is posted whose packets are answered. If a sender writes the data of a rendezvous with it, the sender
    /// waits for the last response; returns the slot for [`answered`](Self::answered).
    pub fn expect_sent(&mut self, job: u16, message: ProtocolMessage) -> Option<u32> {
        let running = self.running[usize::from(job)].as_mut().expect("letters are of programs");
        if message.message_kind != ProtocolMessageKind::Data || running.is_get(&message) {
            return None;
        }
        running.pending += 1;
        Some(self.protocol_messages.add(message))
    }

    /// All packets of the data in a slot are answered at `at`; returns the node of its sender.
    pub fn answered(&mut self, job: u16, slot: u32, at: u64) -> u32 {
        let event = self.protocol_messages.take(slot).sent(at);
        let running = self.running[usize::from(job)].as_ref().expect("letters are of programs");
        let node = running.node(event.rank);
        self.hosts[self.host_of[node as usize] as usize].add(event);
        node
    }

    /// The last packet of a protocol message leaves its NIC with its tail at `at`: an event for the sender if it is the
    /// data of a rendezvous.
    pub fn sent(&mut self, job: u16, slot: u32, at: u64) -> Option<u32> {
        let message = self.protocol_messages.get(slot);
        if message.message_kind != ProtocolMessageKind::Data {
            return None;
        }
        let event = message.sent(at);
        let running = self.running[usize::from(job)].as_mut().expect("letters are of programs");
        running.pending += 1;
        let node = running.node(event.rank);
        self.hosts[self.host_of[node as usize] as usize].add(event);
        Some(node)
    }
}
