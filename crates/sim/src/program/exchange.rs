//! Sending and receiving: eager messages, matching, rendezvous (docs/model.md, section 10).

use odonata_error::ErrorKind;

use super::gpus::Served;
use super::matching::{Issued, MessageKey, ReceiverState, RendezvousSend, Transfer};
use super::protocol_messages::{ProtocolMessage, ProtocolMessageKind};
use super::rank_events::{RankEvent, RankEventKind};
use super::running::{NodeContext, Running, Token};
use crate::engine::LAST_TIME;
use crate::observe::Task;
use crate::output::NO_ROW;
use crate::spec::{SizedCosts, combine_ps};

impl Running {
    fn is_intra_node(&self, rank: u32, other: u32) -> bool {
        self.nodes[rank as usize] == self.nodes[other as usize]
    }

    fn is_eager(&self, from: u32, to: u32, bytes: u64) -> bool {
        bytes <= self.costs.eager_bytes || self.is_intra_node(from, to)
    }

    fn costs_of(&self, from: u32, to: u32, bytes: u64) -> SizedCosts {
        if self.is_intra_node(from, to) {
            self.message_costs.in_node(bytes)
        } else {
            self.message_costs.between_nodes(bytes)
        }
    }

    /// Times from the delivery of a protocol message: to its arrival at its rank, and from then on to when that can first
    /// have an effect outside the rank. The arrival of data only begins a CPU task.
    pub fn arrival_ps(&self, message: &ProtocolMessage) -> (u64, u64) {
        if message.message_kind.is_control() {
            return (0, 0);
        }
        let SizedCosts { delay_ps, receive_ps, .. } = self.message_costs.between_nodes(message.bytes);
        let tells_others = self.is_get(message) || self.costs.fetches > 0;
        (delay_ps, if tells_others { 0 } else { receive_ps })
    }

    /// CPU time to send a message.
    pub(super) fn sending(&self, from: u32, to: u32, bytes: u64) -> u64 {
        self.costs_of(from, to, bytes).send_ps
    }

    /// CPU time to combine so many bytes that were received of a vector, if that takes any.
    pub(super) fn combining(&self, bytes: u64, of: u64) -> Option<u64> {
        let by_size = combine_ps(&self.combine_by_size, bytes, of);
        by_size.or_else(|| self.costs.combine.map(|combine| combine.serialisation_ps(bytes)))
    }

    /// Hands over a message whose CPU task is done. Returns whether the send is complete; if not, `token` says what
    /// follows its completion.
    pub(super) fn hand_over(&mut self, key: MessageKey, bytes: u64, token: Token, context: &mut NodeContext) -> bool {
        let MessageKey { to, from, iteration, label } = key;
        let (intra_node, eager) = (self.is_intra_node(from, to), self.is_eager(from, to, bytes));
        let row = self.tally.issue(key, context.now);
        if intra_node && self.gpus.as_ref().is_some_and(|gpus| gpus.are_apart([from, to])) {
            self.begin_transfer(key, bytes, token, row, context);
            return false;
        }
        let message_kind = if eager { ProtocolMessageKind::Eager } else { ProtocolMessageKind::Rts };
        let nics = self.nics(from, token);
        let message = ProtocolMessage {
            rank: to,
            peer: from,
            iteration,
            label,
            message_kind,
            nics,
            bytes,
            issue: context.now,
            row,
        };
        self.pending += 1;
        if intra_node {
            self.tally.intra_node(row, context.now, self.costs.memory_ps);
            context.rank_events.add(message.arrival(context.now + self.costs.memory_ps));
        } else {
            context.outbox.push(message);
        }
        if !eager {
            self.tally.control += 1;
            self.at_sender.insert(key, RendezvousSend { token, bytes, issue: context.now, row });
        }
        eager
    }

    /// A message goes from GPU to GPU of a node. Its send is complete when it has left the first queue.
    fn begin_transfer(&mut self, key: MessageKey, bytes: u64, token: Token, row: u32, context: &mut NodeContext) {
        let issue = context.now;
        let gpus = self.gpus.as_ref().expect("only GPUs make transfers");
        let pace = if gpus.have_rates() { gpus.pace_ps(self.cpu_of(key.from, token), bytes) } else { 0 };
        self.transfers.insert(key, Transfer { issued: Issued { issue, row }, pace, tail: issue });
        self.at_sender.insert(key, RendezvousSend { token, bytes, issue, row });
        let left = self.ask_queue(key, 0, bytes, context);
        self.transfer_event(RankEventKind::Sent, left, key, 0, bytes, context);
    }

    /// A transfer asks for the queue at a place of its path; returns when it has left the queue.
    pub(super) fn ask_queue(&mut self, key: MessageKey, place: u32, bytes: u64, context: &mut NodeContext) -> u64 {
        let gpus = self.gpus.as_mut().expect("only GPUs make transfers");
        let transfer = self.transfers.get_mut(&key).expect("it is on its way");
        let times = [context.now, transfer.tail, transfer.pace];
        let Served { left, asks, comes } = gpus.serve([key.from, key.to], place, bytes, times);
        transfer.tail = comes;
        if let Some(at) = asks {
            self.transfer_event(RankEventKind::Queue, at, key, place + 1, bytes, context);
        } else {
            let Issued { issue, row } = transfer.issued;
            self.transfers.remove(&key);
            self.tally.intra_node(row, issue, comes - issue);
            self.transfer_event(RankEventKind::Arrival, comes, key, 0, bytes, context);
        }
        left
    }

    /// Adds an event of a transfer: at its source if it has left it, otherwise at its destination.
    fn transfer_event(
        &mut self,
        kind: RankEventKind,
        time: u64,
        key: MessageKey,
        token: u32,
        value: u64,
        context: &mut NodeContext,
    ) {
        if time >= LAST_TIME {
            self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
        }
        let MessageKey { to, from, iteration, label } = key;
        let [rank, peer] = if kind == RankEventKind::Sent { [from, to] } else { [to, from] };
        self.pending += 1;
        let message_kind = ProtocolMessageKind::Eager;
        context.rank_events.add(RankEvent { time, rank, kind, peer, iteration, label, message_kind, token, value });
    }

    /// Posts a receive. Returns whether it is complete; if not, `token` says what follows its completion.
    pub(super) fn post(
        &mut self,
        key: MessageKey,
        bytes: u64,
        cpu: u16,
        token: Token,
        context: &mut NodeContext,
    ) -> bool {
        match self.at_receiver.meet(key, ReceiverState::Posted { token, cpu, bytes }) {
            None => false,
            Some(ReceiverState::Arrived { bytes }) => self.take_in(key, bytes, cpu, token, context),
            Some(ReceiverState::RtsArrived { bytes }) => {
                self.ask_for_data(key, bytes, cpu, token, context);
                false
            }
            Some(half) => unreachable!("a key is used once, but {half:?} was there"),
        }
    }

    /// The CPU task for a message that has arrived and has a receive. Returns whether the receive is complete.
    fn take_in(&mut self, key: MessageKey, bytes: u64, cpu: u16, token: Token, context: &mut NodeContext) -> bool {
        let ps = self.costs_of(key.from, key.to, bytes).receive_ps;
        self.occupy(key.to, cpu, Task::Receive { from: key.from, bytes }, ps, token, context).1 <= context.now
    }

    /// Asks for the data of a message whose receive is posted, or lets it wait for its turn.
    fn ask_for_data(&mut self, key: MessageKey, bytes: u64, cpu: u16, token: Token, context: &mut NodeContext) {
        self.at_receiver.insert(key, ReceiverState::DataAwaited { token, cpu });
        if let Some(fetching) = self.fetching.get_mut(key.to as usize) {
            if fetching.asked == self.costs.fetches {
                fetching.waiting.push_back((key, bytes, token));
                return;
            }
            fetching.asked += 1;
        }
        self.ask_now(key, bytes, token, context);
    }

    /// Data have come for which a rank has asked: it asks for those of the message that has waited longest.
    fn ask_for_next(&mut self, rank: u32, context: &mut NodeContext) {
        let Some(fetching) = self.fetching.get_mut(rank as usize) else { return };
        if let Some((key, bytes, token)) = fetching.waiting.pop_front() {
            self.ask_now(key, bytes, token, context);
        } else {
            fetching.asked -= 1;
        }
    }

    /// Tells the sender of a message to send its data, or fetches them.
    fn ask_now(&mut self, key: MessageKey, bytes: u64, token: Token, context: &mut NodeContext) {
        if self.gets {
            self.send_data(key, bytes, self.nics(key.to, token), context);
        } else {
            self.tell_sender(ProtocolMessageKind::Cts, key, bytes, token, context);
        }
    }

    /// Sends a control message to the sender of a message.
    fn tell_sender(
        &mut self,
        message_kind: ProtocolMessageKind,
        key: MessageKey,
        bytes: u64,
        token: Token,
        context: &mut NodeContext,
    ) {
        let MessageKey { to: peer, from: rank, iteration, label } = key;
        let (nics, issue, row) = (self.nics(peer, token), context.now, NO_ROW);
        self.tally.control += 1;
        self.pending += 1;
        let message = ProtocolMessage { rank, peer, iteration, label, message_kind, nics, bytes, issue, row };
        context.outbox.push(message);
    }

    /// An RTS reaches a receiver that will fetch the data: it learns from the RTS what their latency needs, as the sender may
    /// belong to another partition.
    pub(super) fn note_offer(&mut self, message: &ProtocolMessage) {
        if self.gets && message.message_kind == ProtocolMessageKind::Rts {
            let &ProtocolMessage { rank: to, peer: from, iteration, label, issue, row, .. } = message;
            self.offers.insert(MessageKey { to, from, iteration, label }, Issued { issue, row });
        }
    }

    /// Issues the data of a rendezvous, at the node that sends or fetches them.
    fn send_data(&mut self, key: MessageKey, bytes: u64, nics: Option<[u8; 2]>, context: &mut NodeContext) {
        let MessageKey { to: rank, from: peer, iteration, label } = key;
        let message_kind = ProtocolMessageKind::Data;
        let (issue, row) = if self.gets {
            let Issued { issue, row } = self.offers.remove(&key).expect("an RTS has come");
            (issue, row)
        } else {
            let RendezvousSend { issue, row, .. } = self.at_sender[&key];
            (issue, row)
        };
        self.pending += 1;
        let message = ProtocolMessage { rank, peer, iteration, label, message_kind, nics, bytes, issue, row };
        context.outbox.push(message);
    }

    /// The data of a rendezvous are sent or fetched: its send is complete.
    pub(super) fn send_complete(&mut self, key: MessageKey, context: &mut NodeContext) {
        let rendezvous = self.at_sender.remove(&key).expect("data follows an RTS");
        self.complete(key.from, rendezvous.token, context);
    }

    /// A protocol message has arrived.
    pub(super) fn arrival(&mut self, event: RankEvent, context: &mut NodeContext) {
        let RankEvent { rank, peer, iteration, label, message_kind, value: bytes, .. } = event;
        let sent = MessageKey { to: peer, from: rank, iteration, label };
        match message_kind {
            ProtocolMessageKind::Cts => {
                let nics = self.nics(rank, self.at_sender[&sent].token);
                return self.send_data(sent, bytes, nics, context);
            }
            ProtocolMessageKind::Fin => return self.send_complete(sent, context),
            _ => {}
        }
        let key = MessageKey { to: rank, from: peer, iteration, label };
        let has_come = match message_kind {
            ProtocolMessageKind::Rts => ReceiverState::RtsArrived { bytes },
            _ => ReceiverState::Arrived { bytes },
        };
        match (self.at_receiver.meet(key, has_come), message_kind) {
            (None, _) => {}
            (Some(ReceiverState::Posted { token, cpu, .. }), ProtocolMessageKind::Rts) => {
                self.ask_for_data(key, bytes, cpu, token, context);
            }
            (Some(ReceiverState::Posted { token, cpu, .. } | ReceiverState::DataAwaited { token, cpu, .. }), _) => {
                if self.gets && message_kind == ProtocolMessageKind::Data {
                    self.tell_sender(ProtocolMessageKind::Fin, key, bytes, token, context);
                }
                if message_kind == ProtocolMessageKind::Data {
                    self.ask_for_next(rank, context);
                }
                if self.take_in(key, bytes, cpu, token, context) {
                    self.complete(rank, token, context);
                }
            }
            (Some(half), _) => unreachable!("a key is used once, but {half:?} was there"),
        }
    }
}
