//! Messages between ranks (model, section 10, "Sending", "Receiving", "On the network").

use super::cpu::Then;
use super::matching::Posted;
use super::moment::{Arrival, Key, Moment, Sort, Who};
use super::plan::{Nics, Task};
use crate::packet::{Cause, Row};
use crate::world::World;

/// A message that a rank sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// The operation.
    pub(crate) op: usize,
    /// To whom, and which.
    key: Key,
    /// Its size.
    bytes: u64,
    /// How it goes.
    way: Way,
    /// By which NICs.
    nics: Nics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Near,
    Eager,
    Rendezvous,
}

/// A rendezvous that has been asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    op: usize,
    bytes: u64,
    /// By which NICs its data goes.
    nics: Nics,
    /// The row of the message.
    row: usize,
}

/// What a program has on the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    /// The rank that it goes to.
    pub(crate) to: u32,
    /// What it will be there.
    pub(crate) arrival: Arrival,
}

impl World<'_> {
    /// An operation begins.
    pub(crate) fn carry_out(&mut self, t: u64, who: Who, task: Task) {
        let spec = self.running(who.job).spec;
        let iteration = self.rank(who).iteration;
        match task {
            Task::Compute { op, cpu, ps } => self.occupy(t, who, cpu, ps, Then::Computed { op }),
            Task::Send { op, cpu, to, label, bytes, nics } => {
                let way = if self.node(who) == self.node(Who { rank: to, ..who }) {
                    Way::Near
                } else if bytes <= spec.costs.eager_bytes {
                    Way::Eager
                } else {
                    Way::Rendezvous
                };
                let copy = if way == Way::Rendezvous { 0 } else { self.copy(who, bytes) };
                let key = Key { peer: to, iteration, label };
                let work = spec.costs.send_ps.saturating_add(copy);
                self.occupy(t, who, cpu, work, Then::HandOver(Outgoing { op, key, bytes, way, nics }));
            }
            Task::Receive { op, cpu, from, label, nics } => {
                let rank = self.rank(who);
                rank.plan.begun(op);
                let receive = Posted { op, cpu, nics };
                if let Some(arrived) = rank.matching.post(Key { peer: from, iteration, label }, receive) {
                    self.matched(t, who, receive, arrived);
                }
            }
        }
    }

    /// Time to copy a message of an eager or near send.
    fn copy(&mut self, who: Who, bytes: u64) -> u64 {
        self.running(who.job).spec.costs.copy.map_or(0, |bandwidth| bandwidth.serialisation_ps(bytes))
    }

    fn node(&mut self, who: Who) -> u32 {
        self.rank(who).node
    }

    /// The work of a send has ended.
    pub(crate) fn hand_over(&mut self, t: u64, who: Who, message: Outgoing) {
        let Outgoing { op, key, bytes, way, nics } = message;
        let memory_ps = self.running(who.job).spec.costs.memory_ps;
        let row = self.rows.len();
        self.rows.push(Row {
            job: who.job,
            interval: key.iteration,
            source: who.rank,
            destination: key.peer,
            issued: t,
            delivered: (way == Way::Near).then(|| t.saturating_add(memory_ps)),
        });
        self.tally.issue(who.job, t);
        self.rank(who).plan.handed_over(op);
        match way {
            Way::Near => {
                self.tally.near(who.job);
                let arrival = Arrival { key: Key { peer: who.rank, ..key }, sort: Sort::Eager, bytes };
                let to = Who { rank: key.peer, ..who };
                self.expect(t.saturating_add(memory_ps), to, Moment::Arrival(arrival));
                self.rank(who).plan.complete(op);
            }
            Way::Eager => {
                self.post_parcel(t, who, key, Sort::Eager, bytes, nics, Some(row));
                self.rank(who).plan.complete(op);
            }
            Way::Rendezvous => {
                self.rank(who).asked.insert(key, Asked { op, bytes, nics, row });
                self.post_parcel(t, who, key, Sort::Request, bytes, nics, None);
            }
        }
    }

    /// Something of a message of `bytes` goes on the network, and the NIC acts.
    #[allow(clippy::too_many_arguments)]
    fn post_parcel(&mut self, t: u64, who: Who, key: Key, sort: Sort, bytes: u64, nics: Nics, row: Option<usize>) {
        let control_bytes = u64::from(self.running(who.job).spec.costs.control_bytes);
        let size = match sort {
            Sort::Eager | Sort::Data => bytes.max(control_bytes),
            Sort::Request | Sort::Clearance => {
                self.tally.control(who.job);
                control_bytes
            }
        };
        let size = size + u64::from(self.running(who.job).spec.costs.header_bytes);
        self.running(who.job).under_way += 1;
        let [from, to] = [self.node(who), self.node(Who { rank: key.peer, ..who })];
        let arrival = Arrival { key: Key { peer: who.rank, ..key }, sort, bytes };
        let cause = Cause::Program(Parcel { to: key.peer, arrival });
        self.post(t, who.job, [from, to], nics, size, cause, row);
        self.nics_act(t, from);
    }

    /// The last packet of a parcel has left the NIC.
    pub(crate) fn parcel_sent(&mut self, t: u64, job: usize, parcel: Parcel) {
        let key = parcel.arrival.key;
        if parcel.arrival.sort == Sort::Data {
            self.expect(t, Who { job, rank: key.peer }, Moment::Sent(Key { peer: parcel.to, ..key }));
        }
    }

    /// The last packet of a parcel has reached its node.
    pub(crate) fn parcel_delivered(&mut self, t: u64, job: usize, parcel: Parcel) {
        self.running(job).under_way -= 1;
        self.expect(t, Who { job, rank: parcel.to }, Moment::Arrival(parcel.arrival));
    }

    /// Something arrives at a rank.
    pub(crate) fn arrive(&mut self, t: u64, who: Who, arrival: Arrival) {
        let key = arrival.key;
        match arrival.sort {
            Sort::Eager | Sort::Request => {
                if let Some(receive) = self.rank(who).matching.arrive(arrival) {
                    self.matched(t, who, receive, arrival);
                }
            }
            Sort::Clearance => {
                let asked = self.rank(who).asked[&key];
                self.post_parcel(t, who, key, Sort::Data, asked.bytes, asked.nics, Some(asked.row));
            }
            Sort::Data => {
                let receive =
                    self.rank(who).matching.cleared.remove(&key).expect("data comes once, after its clearance");
                let receive_ps = self.running(who.job).spec.costs.receive_ps;
                self.occupy(t, who, receive.cpu, receive_ps, Then::Received { op: receive.op });
            }
        }
    }

    /// The data of a message has left the NIC.
    pub(crate) fn sent(&mut self, who: Who, key: Key) {
        let rank = self.rank(who);
        let asked = rank.asked.remove(&key).expect("data was asked for");
        rank.plan.complete(asked.op);
    }

    /// A receive and the message or request that it waits for have met.
    fn matched(&mut self, t: u64, who: Who, receive: Posted, arrival: Arrival) {
        if arrival.sort == Sort::Request {
            self.rank(who).matching.cleared.insert(arrival.key, receive);
            self.post_parcel(t, who, arrival.key, Sort::Clearance, arrival.bytes, receive.nics, None);
        } else {
            let receive_ps = self.running(who.job).spec.costs.receive_ps;
            let work = receive_ps.saturating_add(self.copy(who, arrival.bytes));
            self.occupy(t, who, receive.cpu, work, Then::Received { op: receive.op });
        }
    }
}
