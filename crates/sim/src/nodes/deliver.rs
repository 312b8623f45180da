//! Packets that reach their node, and messages that are complete (docs/model.md, sections 7 and 8).

use super::{Flight, Nodes};
use crate::commit::Fabric;
use crate::endpoint::Endpoint;
use crate::engine::Queue;
use crate::fabric::packet::Event;

impl<E: Endpoint> Nodes<'_, E> {
    /// A packet with payload of a message, with its slot, reaches a NIC of its node at `at`. (Several partitions and programs
    /// alone read the NIC.)
    #[inline(always)]
    pub fn take<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        packet: &Event,
        (slot, flight): (u32, Flight),
        nic: u32,
        at: u64,
    ) {
        let job = &mut self.jobs.list[usize::from(flight.job)];
        job.last_delivery_ps = job.last_delivery_ps.max(at);
        let totals = &mut job.totals;
        totals.packets += 1;
        totals.bytes += u64::from(packet.bytes());
        totals.hops += u64::from(packet.hop());
        totals.minimal += u64::from(!packet.diverted());
        let at = self.flights.latest(slot, at);
        if flight.packets_left == 0 {
            if job.reacts {
                self.arrive(fabric, slot, flight, nic, at);
                return;
            }
            if Q::PARTITIONED {
                self.report(fabric, slot, flight, at);
                return;
            }
            job.deliver(&flight, at);
            if !E::ANSWERS {
                self.complete(fabric, flight.job, at);
            }
        }
    }

    /// A message of the job is complete at `at`: it has been delivered, and answered if packets are answered.
    #[inline]
    pub fn complete<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, job_index: u16, at: u64) {
        let job = &mut self.jobs.list[usize::from(job_index)];
        job.count_completion(at);
        if !Q::PARTITIONED
            && let Some(last) = job.last_if_complete()
        {
            self.end_job(fabric, job_index, last);
            return;
        }
        self.begin_next(fabric, job_index);
    }

    /// A message of a job is complete: if its sender waits for that, and it was the last one, the next interval begins.
    #[inline]
    pub fn begin_next<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, job_index: u16) {
        let job = &mut self.jobs.list[usize::from(job_index)];
        if job.waits_for_delivery
            && let Some((root, k, at)) = job.next_after_delivery()
        {
            let attachment = fabric.links.wiring.node_attachment(root);
            fabric.queue.push(attachment.router, Event::issue(at, attachment.port, root, k));
        }
    }

    /// A job has ended at `at`. If the run waits for no other job, the run ends too.
    pub fn end_job<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, job_index: u16, at: u64) {
        if let Some(end) = self.jobs.end(job_index, at) {
            fabric.course.end = fabric.course.end.min(end);
        }
    }
}
