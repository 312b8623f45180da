//! Messages are issued: by the intervals of patterns here, by the operations of programs in [`super::programs`]
//! (docs/model.md, sections 2 and 7).

use odonata_error::ErrorKind;

use super::{Flight, Nodes};
use crate::commit::Fabric;
use crate::endpoint::{Endpoint, Exchange, ModeRequest, NO_SENDER, Nic, Waiting};
use crate::engine::random::{below, mix64};
use crate::engine::{LAST_TIME, Queue};
use crate::fabric::packet::Event;
use crate::output::NO_ROW;
use crate::program::ProtocolMessage;
use crate::routing::RoutingAlgorithm;
use crate::spec::Rail;

/// A message that a rank gives to the NICs of its node.
#[derive(Clone, Copy)]
pub(super) struct Outgoing {
    pub job: u16,
    /// The rank that issues it.
    pub rank: u32,
    /// Its node.
    pub node: u32,
    /// The node that it goes to.
    pub to: u32,
    /// Bytes on the network.
    pub bytes: u64,
    pub packets: u64,
    /// When it was issued; a program may have waited since then.
    pub issue: u64,
    /// Row of its flight: its row among the messages of the job; for a program, the slot of its protocol message.
    pub row: u32,
    /// Its row among the messages of the job, or [`NO_ROW`].
    pub counted: u32,
    pub measured: bool,
    /// Its iteration, or its interval.
    pub iteration: u32,
    /// Whether its responses carry the payload.
    pub get: bool,
    /// Whether it belongs to an all-to-all.
    pub alltoall: bool,
    /// The protocol message that is sent when all its packets are answered, or [`NO_SENDER`].
    pub sender: u32,
    /// Number of its packets' routing, unless a policy selects it.
    pub routing: u8,
    /// The NICs of the two nodes, if not the fabric chooses them.
    pub rails: Option<[u32; 2]>,
    /// Whether its packets are divided over all NICs of the node.
    pub striped: bool,
}

impl<E: Endpoint> Nodes<'_, E> {
    /// The node `node`, whose first NIC is at a port of a router, begins interval `k`.
    #[inline(never)]
    pub fn issue<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        router: u32,
        event: &Event,
    ) {
        let (port, node, k, now) = (event.port, event.key, event.message, event.time);
        if now >= LAST_TIME {
            fabric.course.fail(ErrorKind::TimeOverflow {}.into());
            return;
        }
        let (job_index, rank) = self.jobs.owner(node);
        let job = &mut self.jobs.list[usize::from(job_index)];
        let measured = now >= self.spec.measure.from_ps && self.spec.measure.until_ps.is_none_or(|until| now < until);
        let sender = Sender { job: job_index, rank, node, interval: k, measured, now };
        let (mut head, mut issued) = (None, 1);
        if let Some(to) = job.destinations.only(node, rank, job.ranks, k) {
            head = self.issue_one(fabric, &sender, 0, to);
        } else {
            let mut list = std::mem::take(&mut self.destinations);
            job.destinations.list(node, rank, job.ranks, k, &mut list);
            for (position, &to) in list.iter().enumerate() {
                let first = self.issue_one(fabric, &sender, position as u32, to);
                head = head.or(first);
            }
            issued = list.len() as u64;
            self.destinations = list;
        }
        let job = &mut self.jobs.list[usize::from(job_index)];
        job.totals.issued += issued;
        job.totals.measured_issued += if measured { issued } else { 0 };
        job.totals.intervals += 1;
        job.slices.issue(issued, now);
        let first_issue = job.totals.first_issue_ps.get_or_insert(now);
        *first_issue = now.min(*first_issue);
        job.outstanding = issued as u32;
        if let Some(rows) = job.rows.refused() {
            fabric.course.fail(ErrorKind::OutOfMemory { rows }.into());
        }
        if k + 1 < job.intervals {
            let next = now + job.clock.gap(node, k + 1);
            if job.waits_for_delivery {
                job.next_issue = next;
                job.next_interval = k + 1;
            } else {
                let next = job.begin(rank, next);
                fabric.queue.push(router, Event::issue(next, port, node, k + 1));
            }
        }
        let rails = fabric.links.wiring.rails;
        if let Some(head) = head {
            self.pump(fabric, routing, node * rails, now, 0, head);
        }
        if rails > 1 || E::SELECTIVE {
            self.pump_node(fabric, routing, node, now);
        }
    }

    /// Lets all NICs of a node send that do not wait for room.
    pub(super) fn pump_node<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        node: u32,
        now: u64,
    ) {
        let rails = fabric.links.wiring.rails;
        for nic in node * rails..(node + 1) * rails {
            if !self.nics[nic as usize].waits {
                self.pump_next(fabric, routing, nic, now);
            }
        }
    }

    /// Issues a message of an interval to the rank `to`. Returns it if its NIC may send it at once; else it joins the queue
    /// of its NIC.
    #[inline(always)]
    fn issue_one<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        sender: &Sender,
        position: u32,
        to: u32,
    ) -> Option<Waiting> {
        let Sender { job: job_index, rank, node, interval, measured, now } = *sender;
        let job = &mut self.jobs.list[usize::from(job_index)];
        let row = job.rows.issue(interval, job.sender_of(rank), position, now);
        let outgoing = Outgoing {
            job: job_index,
            rank,
            node,
            to: job.nodes[to as usize],
            bytes: job.message_bytes,
            packets: job.packets,
            issue: now,
            row,
            counted: row,
            measured,
            iteration: interval,
            get: E::ANSWERS && self.spec.fabric.gets(),
            alltoall: false,
            sender: NO_SENDER,
            routing: job.routings[0],
            rails: None,
            striped: self.spec.fabric.nic.stripes(job.message_bytes, fabric.links.wiring.rails),
        };
        let (nic, waiting) = self.issue_message(fabric, &outgoing, None, now);
        if outgoing.striped {
            self.divide(waiting, nic, fabric.links.wiring.rails, outgoing.packets);
            return None;
        }
        if fabric.links.wiring.rails > 1 || position > 0 || E::SELECTIVE || !self.nics[nic as usize].is_idle() {
            self.enqueue(nic, waiting);
            return None;
        }
        Some(waiting)
    }

    /// Divides a striped message of so many packets over the NICs of its node, from `first` on (docs/model.md, section 7).
    pub(super) fn divide(&mut self, mut whole: Waiting, first: u32, rails: u32, packets: u64) {
        let (full, to) = (u64::from(self.spec.fabric.packet_bytes), whole.to());
        let (each, more) = (packets / u64::from(rails), packets % u64::from(rails));
        for rail in 0..rails {
            let count = each + u64::from(u64::from(rail) < more);
            if count == 0 {
                break;
            }
            let bytes = whole.bytes_left.min(count * full);
            let part = whole.split_off(count, bytes, to + rail);
            *self.nics[(first + rail) as usize].unsent_mut() += bytes;
            self.enqueue(first + rail, part);
        }
    }

    /// A rank gives a message to the NICs of its node. Returns the NIC that sends it, and the message as it waits there; if
    /// it is striped, the first NIC of each node.
    #[inline(always)]
    pub(super) fn issue_message<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        of: &Outgoing,
        protocol_message: Option<ProtocolMessage>,
        now: u64,
    ) -> (u32, Waiting) {
        let &Outgoing { job, node, bytes, packets, issue, row, measured, .. } = of;
        let message = self.flights.add(Flight { issue, packets_left: packets, row, job, measured });
        let rails = fabric.links.wiring.rails;
        let first = node * rails;
        let nic = &mut self.nics[first as usize];
        let key = self.keys.random(u64::from(node), nic.issued);
        nic.issued += 1;
        let (mut rail, mut to) = (0, of.to);
        if of.striped {
            to *= rails;
        } else if rails > 1 {
            let nics = &mut self.nics[first as usize..(first + rails) as usize];
            let at;
            [rail, at] = of.rails.unwrap_or_else(|| [choose_rail(self.spec.fabric.nic.rail, key, nics, now); 2]);
            to = of.to * rails + if fabric.links.wiring.separate_rails { rail } else { at };
            *nics[rail as usize].unsent_mut() += bytes;
        }
        let nic = first + rail;
        let mut routing = of.routing;
        if E::ANSWERS {
            routing = self.expect_answers(message, to, of, protocol_message.as_ref(), now);
        }
        if let Some(blame) = &mut fabric.observers.blame {
            blame.join(message, job, now);
            for part in 0..if of.striped { rails } else { 1 } {
                blame.join_nic(nic + part, message, self.endpoint.held(nic + part, to + part, now));
            }
        }
        if Q::PARTITIONED {
            // The rank that fetches data gets them itself.
            let protocol_message = if of.get { None } else { protocol_message };
            self.send_message(fabric, message, to, protocol_message);
        }
        (nic, Waiting::new(bytes, key, message, to, routing))
    }

    /// All packets of a message will be answered. Returns the number of their routing, which a policy may select.
    fn expect_answers(
        &mut self,
        message: u32,
        to: u32,
        of: &Outgoing,
        protocol_message: Option<&ProtocolMessage>,
        now: u64,
    ) -> u8 {
        let &Outgoing {
            job,
            rank,
            node,
            bytes,
            packets,
            issue,
            counted,
            iteration,
            get,
            alltoall,
            sender,
            striped,
            ..
        } = of;
        let carries = protocol_message.is_none_or(|message| !message.message_kind.is_control());
        let answers = self.endpoint.answers_mut();
        let row = if carries { counted } else { NO_ROW };
        let mut exchange = Exchange::new(packets, issue, row, job, to, sender, get);
        exchange.striped = striped;
        let request = ModeRequest { rank, node, to: of.to, iteration, bytes, get, alltoall, carries, now };
        let job = &mut self.jobs.list[usize::from(job)];
        let routing = job.select_mode(answers, &request, &mut exchange);
        answers.issue(message, exchange);
        routing
    }
}

/// A rank that begins an interval at `now`.
struct Sender {
    job: u16,
    rank: u32,
    node: u32,
    interval: u32,
    measured: bool,
    now: u64,
}

/// The NIC of a node that a message uses, unless it is that of a rank.
fn choose_rail(rail: Rail, key: u64, nics: &[Nic], now: u64) -> u32 {
    match rail {
        Rail::Hash | Rail::ByRank => below(mix64(key), nics.len() as u64) as u32,
        Rail::LeastBusy => {
            let busy = |nic: &Nic| (nic.unsent(), nic.free.saturating_sub(now));
            (0..nics.len()).min_by_key(|&k| busy(&nics[k])).unwrap_or(0) as u32
        }
    }
}
