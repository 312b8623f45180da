//! The link between programs and NICs: sends and delivers protocol messages, wakes nodes (docs/model.md, section 10).

use super::Simulation;
use crate::counters::ByClass;
use crate::engine::Queue;
use crate::engine::random::Stream;
use crate::engine::random::random;
use crate::fabric::packet::Event;
use crate::fabric::{Exchange, Flight, Flights, ModeRequest, NO_ROW, NO_SENDER, Waiting, Wiring};
use crate::program::{Programs, ProtocolMessage};
use crate::routing::RoutingAlgorithm;
use crate::spec::SETTLE_PS;

use super::inject::choose_rail;

impl<Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'_, Q, R> {
    /// Lets the ranks of a node act up to `now`.
    #[cold]
    #[inline(never)]
    pub(super) fn run_programs(&mut self, router: u32, port: u16, node: u32, now: u64) {
        let programs = self.programs.as_mut().expect("the node has a program");
        if let Err(failure) = programs.run(node, now) {
            self.failure.get_or_insert(failure);
            self.end = 0;
            return;
        }
        let (mut outbox, job) = (std::mem::take(&mut programs.outbox), programs.job_of(node));
        let finished = programs.finished.pop();
        for protocol_message in outbox.drain(..) {
            self.send(node, job, protocol_message, now);
        }
        let programs = self.programs.as_mut().expect("as before");
        programs.outbox = outbox;
        if let Some(at) = programs.arm(node) {
            self.queue.push(router, Event::issue(at, port, node, 0));
        }
        if let Some((job, at)) = finished
            && !Q::PARTITIONED
        {
            self.ended(job, at + SETTLE_PS);
        }
    }

    /// Gives a protocol message to the NIC of its node.
    fn send(&mut self, node: u32, job: u16, protocol_message: ProtocolMessage, now: u64) {
        let programs = self.programs.as_mut().expect("the job has a program");
        let running = programs.running[usize::from(job)].as_ref().expect("the job has a program");
        let (bytes, get) = (running.wire_bytes(&protocol_message), running.is_get(&protocol_message));
        let (mut rank, mut peer) = (protocol_message.peer, protocol_message.rank);
        if get {
            std::mem::swap(&mut rank, &mut peer); // the rank that the data go to issues it
        }
        let to = running.node(peer);
        let of_ranks = running.places([rank, peer]);
        let measured = running.tally.measures(protocol_message.issue);
        let row = programs.post(protocol_message);
        let sender = if R::RESPONSES { programs.expect_sent(job, protocol_message) } else { None };
        self.jobs.list[usize::from(job)].network_bytes += bytes;
        let packets_left = bytes.div_ceil(u64::from(self.spec.fabric.packet_bytes));
        let message = self.flights.add(Flight { issue: protocol_message.issue, packets_left, row, job, measured });
        let mut routing = self.jobs.list[usize::from(job)].routings[0];
        if R::RESPONSES {
            let carries = !protocol_message.message_kind.is_control();
            let row = if carries { protocol_message.row } else { NO_ROW };
            let issue = protocol_message.issue;
            let mut exchange = Exchange::new(packets_left, issue, row, job, sender.unwrap_or(NO_SENDER), get);
            let program = self.spec.jobs[usize::from(job)].program.as_ref();
            let alltoall = program.is_some_and(|program| program.body.is_alltoall(protocol_message.label));
            let iteration = protocol_message.iteration;
            let request = ModeRequest { rank, iteration, bytes, get, alltoall, carries, now };
            routing = self.jobs.list[usize::from(job)].select_mode(&mut self.policies, &request, &mut exchange);
            self.aries.issue(message, exchange);
        }
        let rails = self.wiring.rails;
        let first = node * rails;
        let nics = &mut self.nics[first as usize..(first + rails) as usize];
        let key = random(self.spec.seed, Stream::Message, u64::from(node), nics[0].issued);
        nics[0].issued += 1;
        let mut waiting = Waiting::new(bytes, key, message, to, routing);
        let mut rail = 0;
        if rails > 1 {
            let chosen = protocol_message.nics.map(|nics| nics.map(u32::from)).or(of_ranks);
            let [from, at] = chosen
                .map(|nics| nics.map(|nic| nic % rails))
                .unwrap_or_else(|| [choose_rail(self.spec.fabric.nic.rail, key, nics, now); 2]);
            rail = from;
            waiting.set_to(to * rails + if self.wiring.separate_rails { from } else { at });
            *nics[rail as usize].unsent_mut() += bytes;
        }
        if let Some(blame) = &mut self.blame {
            blame.join(message, job, first + rail, now);
        }
        if Q::PARTITIONED {
            self.send_message(message, waiting.to(), Some(protocol_message));
        }
        let nic = &mut self.nics[(first + rail) as usize];
        if nic.is_idle() {
            self.pump(first + rail, now, waiting); // without a queue entry: most NICs of a program never need one
        } else {
            nic.push_back(waiting);
        }
    }

    /// The last packet of a protocol message, in a slot of the flights, reaches a NIC of its node at `at`.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive(&mut self, slot: u32, flight: Flight, nic: u32, at: u64) {
        if Q::PARTITIONED {
            self.report_to_both(slot, nic, at);
            return;
        }
        let message = self.programs.as_mut().expect("the flight is of a program").take(flight.row);
        self.count_arrived(flight, &message, at);
        self.reach_rank(flight, &message, at);
    }

    /// A protocol message reaches its rank, which belongs to this partition, at `at`.
    pub(super) fn reach_rank(&mut self, flight: Flight, message: &ProtocolMessage, at: u64) {
        if !message.message_kind.is_control() {
            let job = &mut self.jobs.list[usize::from(flight.job)];
            job.totals.delivered += 1;
            job.totals.measured_delivered += u64::from(flight.measured);
            if flight.measured && job.histogram {
                job.totals.latency.record(at - flight.issue);
            }
        }
        let programs = self.programs.as_mut().expect("the flight is of a program");
        let node = programs.arrive(flight.job, message, at);
        if let Some(at) = programs.arm(node) {
            let attachment = self.wiring.attachments[(node * self.wiring.rails) as usize];
            self.queue.push(attachment.router, Event::issue(at, attachment.port, node, 0));
        }
    }

    /// A protocol message that was issued in this partition reaches its rank at `at`: its row has a latency.
    pub(super) fn count_arrived(&mut self, flight: Flight, message: &ProtocolMessage, at: u64) {
        let programs = self.programs.as_mut().expect("the flight is of a program");
        if !message.message_kind.is_control() {
            let running = programs.running[usize::from(flight.job)].as_mut().expect("the flight is of a program");
            running.tally.deliver(message.row, at - flight.issue);
        }
    }

    /// All responses to the data of a rendezvous have come at `at`: it is sent.
    pub(super) fn sent(&mut self, job: u16, slot: u32, at: u64) {
        let programs = self.programs.as_mut().expect("the message is of a program");
        let node = programs.answered(job, slot, at);
        if let Some(at) = programs.arm(node) {
            let attachment = self.wiring.attachments[(node * self.wiring.rails) as usize];
            self.queue.push(attachment.router, Event::issue(at, attachment.port, node, 0));
        }
    }

    /// Messages delivered and expected of the jobs that the run waits for; for programs, iterations of the ranks.
    pub(super) fn progress_of_jobs(&self) -> (u64, u64) {
        let programs = self.programs.iter().flat_map(|programs| programs.running.iter()).zip(&self.jobs.list);
        let waited = programs.filter(|(_, job)| job.waited_for).filter_map(|(running, _)| running.as_ref());
        waited.map(|running| running.progress()).fold(self.jobs.progress(), |(done, all), (d, a)| (done + d, all + a))
    }
}

/// Counts a packet that is committed to an injection link and whose tail leaves at `end`. The sender may wait for the
/// last packet of a message.
#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(super) fn packet_leaves<Q: Queue<Event>>(
    programs: &mut Programs,
    flights: &Flights,
    by_class: &mut ByClass,
    queue: &mut Q,
    wiring: &Wiring,
    packet: (u32, u32),
    last: bool,
    end: u64,
) {
    let (message, bytes) = packet;
    let flight = flights.get(message);
    by_class.add(flight.job, 0, bytes);
    if !last || programs.running[usize::from(flight.job)].is_none() {
        return;
    }
    if let Some(node) = programs.sent(flight.job, flight.row, end)
        && let Some(at) = programs.arm(node)
    {
        let attachment = wiring.attachments[(node * wiring.rails) as usize];
        queue.push(attachment.router, Event::issue(at, attachment.port, node, 0));
    }
}
