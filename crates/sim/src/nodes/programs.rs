//! The link between programs and NICs: protocol messages are issued and delivered, and nodes are woken (docs/model.md,
//! section 10).

use odonata_error::ErrorKind;

use super::issue::Outgoing;
use super::{Flight, Nodes};
use crate::commit::Fabric;
use crate::endpoint::{Endpoint, NO_SENDER};
use crate::engine::{LAST_TIME, Queue};
use crate::fabric::packet::Event;
use crate::program::ProtocolMessage;
use crate::routing::RoutingAlgorithm;
use crate::spec::SETTLE_PS;

impl<E: Endpoint> Nodes<'_, E> {
    /// Whether the ranks of a node run a program.
    #[inline(always)]
    pub fn is_host(&self, node: u32) -> bool {
        self.programs.as_ref().is_some_and(|programs| programs.is_host(node))
    }

    /// Lets the ranks of the node of an event, whose first NIC is at its port of a router, act up to its time.
    #[cold]
    #[inline(never)]
    pub fn run_programs<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        router: u32,
        event: &Event,
    ) {
        let (port, node, now) = (event.port, event.key, event.time);
        if now >= LAST_TIME {
            fabric.course.fail(ErrorKind::TimeOverflow {}.into());
            return;
        }
        let programs = self.programs.as_mut().expect("the node has a program");
        if let Some(failure) = programs.run(node, now) {
            fabric.course.fail(*failure);
            return;
        }
        let finished = programs.finished.pop();
        if !programs.outbox.is_empty() {
            self.send_all(fabric, routing, node, now);
        }
        let programs = self.programs.as_mut().expect("as before");
        if let Some(at) = programs.arm(node) {
            fabric.queue.push(router, Event::issue(at, port, node, 0));
        }
        if let Some((job, at)) = finished
            && !Q::PARTITIONED
        {
            self.end_job(fabric, job, at + SETTLE_PS);
        }
    }

    /// Gives all protocol messages of the outbox to the NICs of their node.
    #[inline(never)]
    fn send_all<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        node: u32,
        now: u64,
    ) {
        let programs = self.programs.as_mut().expect("the node has a program");
        let (mut outbox, job) = (std::mem::take(&mut programs.outbox), programs.job_of(node));
        for &protocol_message in &outbox {
            self.send(fabric, routing, node, job, protocol_message, now);
        }
        outbox.clear();
        self.programs.as_mut().expect("as before").outbox = outbox;
    }

    /// Gives a protocol message to a NIC of its node.
    #[inline(always)]
    fn send<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        node: u32,
        job: u16,
        protocol_message: ProtocolMessage,
        now: u64,
    ) {
        let programs = self.programs.as_mut().expect("the job has a program");
        let running = programs.running[usize::from(job)].as_ref().expect("the job has a program");
        let (bytes, get) = (running.wire_bytes(&protocol_message), running.is_get(&protocol_message));
        let (mut rank, mut peer) = (protocol_message.peer, protocol_message.rank);
        if get {
            std::mem::swap(&mut rank, &mut peer); // the rank that the data go to issues it
        }
        let to = running.node(peer);
        let of_ranks = running.nics_of([rank, peer]);
        let measured = running.tally.measures(protocol_message.issue);
        let rails = fabric.links.wiring.rails;
        let striped = self.spec.fabric.nic.stripes(bytes, rails)
            && !protocol_message.message_kind.is_control()
            && protocol_message.nics.is_none();
        let packets = bytes.div_ceil(u64::from(self.spec.fabric.packet_bytes));
        let row = programs.post(protocol_message);
        if striped {
            programs.expect_parts(row, packets.min(u64::from(rails)) as u32);
        }
        let sender = if E::ANSWERS { programs.expect_sent(job, protocol_message) } else { None };
        let of = &mut self.jobs.list[usize::from(job)];
        of.network_bytes += bytes;
        let number = of.routings[0];
        let chosen = protocol_message.nics.map(|nics| nics.map(u32::from)).or(of_ranks);
        let program = self.spec.jobs[usize::from(job)].program.as_ref();
        let outgoing = Outgoing {
            job,
            rank,
            node,
            to,
            bytes,
            packets,
            issue: protocol_message.issue,
            row,
            counted: protocol_message.row,
            measured,
            iteration: protocol_message.iteration,
            get,
            alltoall: E::ANSWERS && program.is_some_and(|program| program.body.is_alltoall(protocol_message.label)),
            sender: sender.unwrap_or(NO_SENDER),
            routing: number,
            rails: chosen.map(|nics| nics.map(|nic| nic % rails)),
            striped,
        };
        let (nic, waiting) = self.issue_message(fabric, &outgoing, Some(protocol_message), now);
        if striped {
            self.divide(waiting, nic, rails, packets);
            self.pump_node(fabric, routing, node, now);
            return;
        }
        if !E::SELECTIVE && self.nics[nic as usize].is_idle() {
            // Without a queue entry: most NICs of a program never need one.
            self.pump(fabric, routing, nic, now, 0, waiting);
            return;
        }
        self.enqueue(nic, waiting);
        if E::SELECTIVE && !self.nics[nic as usize].waits {
            self.pump_next(fabric, routing, nic, now);
        }
    }

    /// The last packet of a protocol message, or of a message of a caller, in a slot of the flights, reaches a NIC of its node
    /// at `at`.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        slot: u32,
        flight: Flight,
        nic: u32,
        at: u64,
    ) {
        if Q::PARTITIONED {
            self.report_to_both(fabric, slot, nic, at);
            return;
        }
        if self.arrive_driven(flight, at) {
            return;
        }
        let message = self.programs.as_mut().expect("the flight is of a program").take(flight.row);
        self.count_arrived(fabric, flight, &message, at);
        self.reach_rank(fabric, flight, &message, at);
    }

    /// A protocol message reaches its rank, which belongs to this partition, at `at`.
    pub(super) fn reach_rank<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        flight: Flight,
        message: &ProtocolMessage,
        at: u64,
    ) {
        if !message.message_kind.is_control() {
            let job = &mut self.jobs.list[usize::from(flight.job)];
            job.totals.delivered += 1;
            job.totals.measured_delivered += u64::from(flight.measured);
            if flight.measured && job.histogram {
                job.totals.latency.record(at - flight.issue);
            }
        }
        let node = self.programs.as_mut().expect("the flight is of a program").arrive(flight.job, message, at);
        self.wake_ranks(fabric, node);
    }

    /// A protocol message that was issued in this partition reaches its rank at `at`: its row, which is in the partition of
    /// its sender, has a latency.
    pub(super) fn count_arrived<Q: Queue<Event>>(
        &mut self,
        fabric: &Fabric<'_, Q>,
        flight: Flight,
        message: &ProtocolMessage,
        at: u64,
    ) {
        if message.message_kind.is_control() {
            return;
        }
        let (row, latency) = (message.row, at - flight.issue);
        let programs = self.programs.as_mut().expect("the flight is of a program");
        if Q::PARTITIONED {
            let sender = fabric.links.wiring.node_attachment(programs.node_of(flight.job, message.peer)).router;
            if !fabric.queue.has(sender) {
                self.posts.send_latency(fabric.queue.partition_of(sender), flight.job, row, latency);
                return;
            }
        }
        programs.count_latency(flight.job, row, latency);
    }

    /// All responses to the data of a rendezvous have come at `at`: it is sent.
    pub(crate) fn sent<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, job: u16, slot: u32, at: u64) {
        let node = self.programs.as_mut().expect("the message is of a program").answered(job, slot, at);
        self.wake_ranks(fabric, node);
    }

    /// Counts a packet of a message that is committed to an injection link with its wire bytes, and whose tail leaves at
    /// `end`. The sender may wait for the `last` packet, if packets are not answered.
    #[cold]
    #[inline(never)]
    pub(crate) fn packet_leaves<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        (message, wire): (u32, u32),
        last: bool,
        end: u64,
    ) {
        let Flight { job, row, .. } = *self.flights.get(message);
        if let Some(by_class) = &mut fabric.observers.by_class {
            by_class.add(job, 0, wire);
        }
        if let Some(programs) = &mut self.programs
            && last
            && !E::ANSWERS
            && programs.running[usize::from(job)].is_some()
            && let Some(node) = programs.sent(job, row, end)
        {
            self.wake_ranks(fabric, node);
        }
    }

    /// Schedules the next event of the ranks of a node, if none is scheduled that is as early.
    fn wake_ranks<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, node: u32) {
        if let Some(at) = self.programs.as_mut().and_then(|programs| programs.arm(node)) {
            let attachment = fabric.links.wiring.node_attachment(node);
            fabric.queue.push(attachment.router, Event::issue(at, attachment.port, node, 0));
        }
    }

    /// Messages delivered and expected of the jobs that the run waits for; for programs, iterations of the ranks.
    pub(crate) fn progress(&self) -> (u64, u64) {
        let programs = self.programs.iter().flat_map(|programs| programs.running.iter()).zip(&self.jobs.list);
        let waited = programs.filter(|(_, job)| job.waited_for).filter_map(|(running, _)| running.as_ref());
        waited.map(|running| running.progress()).fold(self.jobs.progress(), |(done, all), (d, a)| (done + d, all + a))
    }
}
