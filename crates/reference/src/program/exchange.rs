//! Messages between ranks (model, section 10, "Sending", "Receiving", "On the network").

use super::cpu::AfterTask;
use super::execution::{Action, Nics};
use super::matching::Posted;
use super::rank_event::{Arrival, MessageKey, ProtocolMessageKind, RankEvent, RankId};
use crate::packet::{Cause, MessageRow};
use crate::world::World;
use odonata_sim::output::{MessageCounters, Task};
use odonata_sim::spec::ProgramSpec;

/// A message that a rank sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// The operation.
    pub(crate) op: usize,
    /// Its destination and key.
    pub(crate) key: MessageKey,
    /// Its size.
    pub(crate) bytes: u64,
    /// Its protocol.
    protocol: Protocol,
    /// Its NICs.
    nics: Nics,
    /// The CPU that sends it, as an index into the CPUs of its rank.
    pub(crate) cpu: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    IntraNode,
    /// To another GPU of the node.
    Transfer,
    Eager,
    Rendezvous,
}

/// A rendezvous whose RTS was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RendezvousSend {
    op: usize,
    bytes: u64,
    /// The NICs of its data, if it sends them.
    nics: Nics,
    /// The row of the message.
    row: usize,
}

/// A protocol message on the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProtocolMessage {
    /// The destination rank.
    pub(crate) to: u32,
    /// The event of its arrival.
    pub(crate) arrival: Arrival,
}

/// The time to combine so many bytes of a vector of `of` bytes (section 10, "Combining by size").
fn combining(spec: &ProgramSpec, bytes: u64, of: u64) -> Option<u64> {
    let list = &spec.combine_by_size;
    let (Some(first), Some(last)) = (list.first(), list.last()) else {
        return spec.costs.combine.map(|bandwidth| bandwidth.serialisation_ps(bytes));
    };
    if of <= first.bytes {
        return Some(first.combine.serialisation_ps(bytes));
    }
    for pair in list.windows(2) {
        let [below, above] = [pair[0], pair[1]];
        if of < above.bytes {
            let [x, y] = [below, above].map(|at| i128::from(at.combine.serialisation_ps(bytes)));
            let (part, whole) = (i128::from(of - below.bytes), i128::from(above.bytes - below.bytes));
            return Some((x + (y - x) * part / whole) as u64); // a quotient is rounded towards 0
        }
    }
    Some(last.combine.serialisation_ps(bytes))
}

impl World<'_> {
    /// An operation begins.
    pub(crate) fn carry_out(&mut self, t: u64, who: RankId, action: Action) {
        let spec = self.running(who.job).spec;
        let iteration = self.rank(who).iteration;
        match action {
            Action::Compute { op, cpu, ps } => self.occupy(t, who, cpu, Task::Compute, ps, AfterTask::Computed { op }),
            Action::Combine { op, cpu, bytes, of } => match combining(spec, bytes, of) {
                Some(task_ps) => {
                    self.occupy(t, who, cpu, Task::Combine { bytes }, task_ps, AfterTask::Computed { op });
                }
                None => self.rank(who).execution.complete(op),
            },
            Action::Send { op, cpu, to, label, bytes, nics } => {
                let peer = RankId { rank: to, ..who };
                let near = self.node(who) == self.node(peer);
                let protocol = if near && self.gpu(who) != self.gpu(peer) {
                    Protocol::Transfer
                } else if near {
                    Protocol::IntraNode
                } else if bytes <= spec.costs.eager_bytes {
                    Protocol::Eager
                } else {
                    Protocol::Rendezvous
                };
                let sized = if near { None } else { spec.sized(bytes) };
                let more =
                    if protocol == Protocol::Rendezvous { spec.costs.rendezvous_ps } else { self.copy(who, bytes) };
                let key = MessageKey { peer: to, iteration, label };
                let task_ps = sized.map_or(spec.costs.send_ps.saturating_add(more), |of| of.send_ps);
                let message = Outgoing { op, key, bytes, protocol, nics, cpu };
                self.occupy(t, who, cpu, Task::Send { to, bytes }, task_ps, AfterTask::HandOver(message));
            }
            Action::Receive { op, cpu, from, label, nics } => {
                let rank = self.rank(who);
                rank.execution.begun(op);
                let receive = Posted { op, cpu, nics };
                if let Some(arrived) = rank.matching.post(MessageKey { peer: from, iteration, label }, receive) {
                    self.matched(t, who, receive, arrived);
                }
            }
        }
    }

    /// Time to copy a message of an eager or intra-node send.
    fn copy(&mut self, who: RankId, bytes: u64) -> u64 {
        let spec = self.running(who.job).spec;
        spec.costs.copy.filter(|_| spec.gpus.is_none()).map_or(0, |bandwidth| bandwidth.serialisation_ps(bytes))
    }

    fn node(&mut self, who: RankId) -> u32 {
        self.rank(who).node
    }

    /// The CPU task of a send has ended.
    pub(crate) fn hand_over(&mut self, t: u64, who: RankId, message: Outgoing) {
        let Outgoing { op, key, bytes, protocol, nics, .. } = message;
        let memory_ps = self.running(who.job).spec.costs.memory_ps;
        let row = self.rows.len();
        self.rows.push(MessageRow {
            job: who.job,
            interval: key.iteration,
            source: who.rank,
            destination: key.peer,
            issued: t,
            delivered: (protocol == Protocol::IntraNode).then(|| t.saturating_add(memory_ps)),
            counters: MessageCounters::default(),
        });
        self.tally.issue(who.job, t);
        self.rank(who).execution.handed_over(op);
        match protocol {
            Protocol::Transfer => {
                self.rank(who).rendezvous.insert(key, RendezvousSend { op, bytes, nics, row });
                self.begin_transfer(t, who, message, row);
            }
            Protocol::IntraNode => {
                self.tally.intra_node(who.job);
                let arrival = Arrival {
                    key: MessageKey { peer: who.rank, ..key },
                    message_kind: ProtocolMessageKind::Eager,
                    bytes,
                };
                let to = RankId { rank: key.peer, ..who };
                self.expect(t.saturating_add(memory_ps), to, RankEvent::Arrival(arrival));
                self.rank(who).execution.complete(op);
            }
            Protocol::Eager => {
                self.post_protocol_message(t, who, key, ProtocolMessageKind::Eager, bytes, nics, Some(row));
                self.rank(who).execution.complete(op);
            }
            Protocol::Rendezvous => {
                self.rank(who).rendezvous.insert(key, RendezvousSend { op, bytes, nics, row });
                self.post_protocol_message(t, who, key, ProtocolMessageKind::Rts, bytes, nics, None);
            }
        }
    }

    /// A rank issues a protocol message of a message of `bytes`, which `key` describes as this rank sees it. The NIC acts.
    #[allow(clippy::too_many_arguments)]
    fn post_protocol_message(
        &mut self,
        t: u64,
        who: RankId,
        key: MessageKey,
        message_kind: ProtocolMessageKind,
        bytes: u64,
        nics: Nics,
        row: Option<usize>,
    ) {
        let control_bytes = u64::from(self.running(who.job).spec.costs.control_bytes);
        let size = match message_kind {
            ProtocolMessageKind::Eager | ProtocolMessageKind::Data => bytes.max(control_bytes),
            ProtocolMessageKind::Rts | ProtocolMessageKind::Cts | ProtocolMessageKind::Fin => {
                self.tally.control(who.job);
                control_bytes
            }
        };
        let size = size + u64::from(self.running(who.job).spec.costs.header_bytes);
        self.running(who.job).under_way += 1;
        let [from, to] = [self.node(who), self.node(RankId { rank: key.peer, ..who })];
        let fetched = message_kind == ProtocolMessageKind::Data && self.spec.fabric.gets();
        if message_kind == ProtocolMessageKind::Data && self.answers() && !fetched {
            self.running(who.job).under_way += 1; // its sender waits for the responses
        }
        let cause = Cause::Program(if fetched {
            ProtocolMessage { to: who.rank, arrival: Arrival { key, message_kind, bytes } }
        } else {
            let key_there = MessageKey { peer: who.rank, ..key };
            ProtocolMessage { to: key.peer, arrival: Arrival { key: key_there, message_kind, bytes } }
        });
        self.post(t, who.job, [from, to], nics, size, cause, row);
        self.nics_act(t, from);
    }

    /// The last packet of a protocol message has left the NIC; if packets are answered, all its responses have come.
    pub(crate) fn protocol_message_sent(&mut self, t: u64, job: usize, protocol_message: ProtocolMessage) {
        let key = protocol_message.arrival.key;
        if protocol_message.arrival.message_kind == ProtocolMessageKind::Data && !self.spec.fabric.gets() {
            if self.answers() {
                self.running(job).under_way -= 1;
            }
            self.expect(
                t,
                RankId { job, rank: key.peer },
                RankEvent::Sent(MessageKey { peer: protocol_message.to, ..key }),
            );
        }
    }

    /// The last packet of a protocol message has reached its node.
    pub(crate) fn protocol_message_delivered(&mut self, t: u64, job: usize, protocol_message: ProtocolMessage) {
        self.running(job).under_way -= 1;
        let Arrival { message_kind, bytes, .. } = protocol_message.arrival;
        let sized = match message_kind {
            ProtocolMessageKind::Eager | ProtocolMessageKind::Data => self.running(job).spec.sized(bytes),
            ProtocolMessageKind::Rts | ProtocolMessageKind::Cts | ProtocolMessageKind::Fin => None,
        };
        let arrives = t + sized.map_or(0, |of| of.delay_ps);
        self.expect(arrives, RankId { job, rank: protocol_message.to }, RankEvent::Arrival(protocol_message.arrival));
    }

    /// A protocol message arrives at a rank.
    pub(crate) fn arrive(&mut self, t: u64, who: RankId, arrival: Arrival) {
        let key = arrival.key;
        match arrival.message_kind {
            ProtocolMessageKind::Eager | ProtocolMessageKind::Rts => {
                if let Some(receive) = self.rank(who).matching.arrive(arrival) {
                    self.matched(t, who, receive, arrival);
                }
            }
            ProtocolMessageKind::Cts => {
                let rendezvous = self.rank(who).rendezvous[&key];
                self.post_protocol_message(
                    t,
                    who,
                    key,
                    ProtocolMessageKind::Data,
                    rendezvous.bytes,
                    rendezvous.nics,
                    Some(rendezvous.row),
                );
            }
            ProtocolMessageKind::Fin => self.sent(who, key),
            ProtocolMessageKind::Data => {
                let receive =
                    self.rank(who).matching.data_awaited.remove(&key).expect("data comes once, after its clearance");
                if self.spec.fabric.gets() {
                    let (fin, bytes) = (ProtocolMessageKind::Fin, arrival.bytes);
                    self.post_protocol_message(t, who, key, fin, bytes, receive.nics, None);
                }
                if let Some((receive, arrival)) = self.rank(who).matching.not_asked.pop_front() {
                    self.ask_for_data(t, who, receive, arrival);
                }
                let spec = self.running(who.job).spec;
                let receive_ps = spec.sized(arrival.bytes).map_or(spec.costs.receive_ps, |of| of.receive_ps);
                let task = Task::Receive { from: key.peer, bytes: arrival.bytes };
                self.occupy(t, who, receive.cpu, task, receive_ps, AfterTask::Received { op: receive.op });
            }
        }
    }

    /// The data of a message has left the NIC, or has been fetched.
    pub(crate) fn sent(&mut self, who: RankId, key: MessageKey) {
        let rank = self.rank(who);
        let rendezvous = rank.rendezvous.remove(&key).expect("data was asked for");
        rank.execution.complete(rendezvous.op);
    }

    /// A receive and its message or RTS have matched.
    fn matched(&mut self, t: u64, who: RankId, receive: Posted, arrival: Arrival) {
        if arrival.message_kind == ProtocolMessageKind::Rts {
            let most = self.running(who.job).spec.costs.fetches as usize;
            let matching = &mut self.rank(who).matching;
            if most > 0 && matching.data_awaited.len() >= most {
                matching.not_asked.push_back((receive, arrival));
            } else {
                self.ask_for_data(t, who, receive, arrival);
            }
        } else {
            let receive_ps = self.running(who.job).spec.costs.receive_ps;
            let near = self.node(who) == self.node(RankId { rank: arrival.key.peer, ..who });
            let sized = if near { None } else { self.running(who.job).spec.sized(arrival.bytes) };
            let plain = receive_ps.saturating_add(self.copy(who, arrival.bytes));
            let task_ps = sized.map_or(plain, |of| of.receive_ps);
            let task = Task::Receive { from: arrival.key.peer, bytes: arrival.bytes };
            self.occupy(t, who, receive.cpu, task, task_ps, AfterTask::Received { op: receive.op });
        }
    }

    /// A rank asks for the data of a message: by a CTS, or by a get.
    fn ask_for_data(&mut self, t: u64, who: RankId, receive: Posted, arrival: Arrival) {
        self.rank(who).matching.data_awaited.insert(arrival.key, receive);
        let (kind, row) = if self.spec.fabric.gets() {
            let sender = RankId { rank: arrival.key.peer, ..who };
            let there = MessageKey { peer: who.rank, ..arrival.key };
            (ProtocolMessageKind::Data, Some(self.rank(sender).rendezvous[&there].row))
        } else {
            (ProtocolMessageKind::Cts, None)
        };
        self.post_protocol_message(t, who, arrival.key, kind, arrival.bytes, receive.nics, row);
    }
}
