//! A run on several threads: each handles the events of one partition of the routers and their nodes.
//!
//! Within a window no router can affect another (docs/model.md, section 5), so the threads handle a window each on
//! their own. Then they exchange what they have for each other, agree on the next window, and go on. Everything that a
//! router or a node reads belongs to its own partition:
//!
//! | what goes to another partition | when |
//! |---|---|
//! | events | a packet leaves for a router there |
//! | [`Credit`] | a packet leaves the buffer of a link whose sender is there |
//! | a message | it is issued, and its destination is there; to all if routers count what jobs send |
//! | a protocol message of a program | with the message that carries it, to the partition of its destination |
//! | a request (Aries) | it is sent; to the same partitions as its message |
//! | a delivery | a message that was issued there is delivered |
//!
//! A rank belongs to the partition of its node. This is conservative parallel simulation with synchronous windows. The
//! result is that of one thread, byte by byte. While windows have few events, one thread plays all partitions in turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use odonata_error::Error;

use super::jobs::Jobs;
use super::{EVENTS_PER_LOOK, Simulation};
use crate::engine::{Barrier, Broken, Partition, Queue, Window};
use crate::fabric::packet::Event;
use crate::fabric::{Flight, Request, Wiring};
use crate::program::{Programs, ProtocolMessage};
use crate::routing::RoutingAlgorithm;
use crate::spec::SETTLE_PS;
use crate::{Monitor, Progress};

/// Weight of a node that sends, for the sizes of partitions; that of a port is 1. (Assumed: about half of the events of
/// a leaf are those of packets from or to its nodes.)
const NODE_WEIGHT: u64 = 2;

/// Room that a packet gives back: it reaches the sender to the buffer behind a port at `stamp`.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Slot of the port.
    pub slot: u32,
    /// Channel of the buffer.
    pub channel: u8,
    /// Bytes on the link.
    pub bytes: u32,
    /// When the sender has it.
    pub stamp: u64,
}

/// What a partition sends to another after a window.
#[derive(Default)]
pub struct Post {
    /// Events with their routers.
    events: Vec<(u32, Event)>,
    credits: Vec<Credit>,
    /// Messages with their slots.
    messages: Vec<(u32, Flight)>,
    /// Protocol messages with the slots of the messages that carry them, which are among `messages`.
    protocol_messages: Vec<(u32, ProtocolMessage)>,
    /// Requests with their slots.
    requests: Vec<(u32, Request)>,
    /// Messages that are delivered: their slots, and when.
    deliveries: Vec<(u32, u64)>,
}

impl Post {
    fn is_empty(&self) -> bool {
        let Self { events, credits, messages, protocol_messages: _, requests, deliveries } = self;
        events.is_empty() && credits.is_empty() && messages.is_empty() && requests.is_empty() && deliveries.is_empty()
    }
}

/// What a partition sends to the others after a window.
#[derive(Default)]
pub struct Posts {
    /// By partition; empty if there is only one.
    to: Vec<Post>,
    /// Number of this partition.
    own: usize,
    /// Whether all partitions must know all messages and requests, as routers count what jobs send.
    everywhere: bool,
}

impl Posts {
    /// Nothing, in one of several partitions.
    pub fn new(own: usize, partitions: usize, everywhere: bool) -> Self {
        Self { to: (0..partitions).map(|_| Post::default()).collect(), own, everywhere }
    }

    /// Number of partitions.
    pub fn partitions(&self) -> usize {
        self.to.len().max(1)
    }

    /// The posts to the partitions, other than this one, that must know what goes to some partitions.
    fn about(&mut self, to: [usize; 2]) -> impl Iterator<Item = &mut Post> {
        let (own, everywhere) = (self.own, self.everywhere);
        let must_know = move |&(index, _): &(usize, &mut Post)| index != own && (everywhere || to.contains(&index));
        self.to.iter_mut().enumerate().filter(must_know).map(|(_, post)| post)
    }

    /// Sends a request to the partition of a router.
    #[inline(never)]
    pub fn send_request(&mut self, queue: &impl Queue<Event>, router: u32, slot: u32, request: Request) {
        self.about([queue.partition_of(router); 2]).for_each(|post| post.requests.push((slot, request)));
    }
}

/// What a partition says before the next window.
#[derive(Clone, Default)]
struct Status {
    /// A window before which it has no events.
    next: Option<u64>,
    /// The most events that it has in this window.
    most: u64,
    /// For each job: complete messages that were delivered here, and when the last one was complete; for a program, ranks
    /// that have finished, and when the last one did.
    completed: Vec<(u64, u64)>,
    /// For each job with a program: see [`Running::pending`](crate::program::Running::pending).
    pending: Vec<i64>,
    progress: Progress,
    /// Whether it cannot go on.
    failed: bool,
    /// Whether it has events after the end.
    too_late: bool,
}

/// What the threads share.
struct Shared {
    barrier: Barrier,
    /// By sender, then by receiver.
    posts: Vec<Vec<Mutex<Post>>>,
    statuses: Vec<Mutex<Status>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner) // a thread that panics breaks the barrier
}

impl Shared {
    fn new(partitions: usize) -> Self {
        let posts = |_| (0..partitions).map(|_| Mutex::default()).collect();
        Self {
            barrier: Barrier::new(partitions),
            posts: (0..partitions).map(posts).collect(),
            statuses: (0..partitions).map(|_| Mutex::default()).collect(),
        }
    }
}

/// When threads share the windows, and when one thread plays all partitions in turn.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Events of a window for each thread below which the window is sparse.
    sparse: u64,
    /// Windows in a row that are sparse, or dense, before the threads stop, or start.
    stretch: u32,
}

impl Pace {
    /// Handling the events of a sparse window takes less time than two exchanges between threads. A stretch is long enough
    /// that starting threads, some 50 microseconds, costs little beside the windows that they share.
    pub const MEASURED: Self = Self { sparse: 24, stretch: 256 };
    /// Threads stop and start every few windows: for tests.
    pub const CHANGING: Self = Self { sparse: 2, stretch: 3 };
}

/// A partition that is being played.
struct Player<'s, R> {
    simulation: Simulation<'s, Partition<Event>, R>,
    /// The events of its open window.
    window: Window<Event>,
    /// What all partitions have said last.
    statuses: Vec<Status>,
    pace: Pace,
    /// Windows in a row that are sparse, while threads play; that are dense, while one thread does.
    stretch: u32,
}

/// What comes next, for all partitions alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The events of the open window are handled.
    Visit,
    /// The next window is another one.
    Again,
    /// The windows are sparse, or dense, for some time now.
    Change,
    /// The run has ended, or cannot go on.
    End,
}

/// The first router of each of some partitions: consecutive routers, about equally busy.
pub(super) fn first_routers(wiring: &Wiring, jobs: &Jobs, partitions: usize) -> Arc<[u32]> {
    let mut weights: Vec<u64> = wiring.places.iter().map(|place| u64::from(place.ports)).collect();
    for job in &jobs.list {
        for &node in &job.nodes {
            let router = wiring.attachments[(node * wiring.rails) as usize].router;
            weights[router as usize] += NODE_WEIGHT * u64::from(wiring.places[router as usize].ports);
        }
    }
    let total: u64 = weights.iter().sum();
    let mut first = vec![0];
    let mut before = 0;
    for (router, weight) in (0_u32..).zip(&weights) {
        let partition = first.len() as u64;
        if before * partitions as u64 >= partition * total
            && first.len() < partitions
            && router > first[first.len() - 1]
        {
            first.push(router);
        }
        before += weight;
    }
    first.into()
}

/// Plays all partitions; `make` makes the simulation of one. Returns them when the run has ended.
///
/// # Errors
/// As [`run`](crate::run).
pub(super) fn play<'s, R: RoutingAlgorithm>(
    partitions: usize,
    pace: Pace,
    monitor: &mut dyn Monitor,
    make: impl Fn(usize) -> Simulation<'s, Partition<Event>, R> + Sync,
) -> Result<Vec<Simulation<'s, Partition<Event>, R>>, Error> {
    let make = |index| Player {
        simulation: make(index),
        window: Window::default(),
        statuses: vec![Status::default(); partitions],
        pace,
        stretch: 0,
    };
    // Each thread makes its own, so that the memory is near it.
    let mut all = in_threads((0..partitions).map(|index| move || make(index)).collect());
    let mut interrupted = monitor.progress(&all[0].simulation.progress(0)).err();
    while together(&mut all, monitor, &mut interrupted) == Step::Change
        && in_turn(&mut all, monitor, &mut interrupted) == Step::Change
    {}
    if let Some(interrupted) = interrupted {
        return Err(interrupted);
    }
    let mut all: Vec<_> = all.into_iter().map(|player| player.simulation).collect();
    all.iter_mut().find_map(|simulation| simulation.failure.take()).map_or(Ok(()), Err)?;
    if all[0].deadlocked {
        let others = all.split_off(1);
        others.into_iter().for_each(|other| all[0].absorb_programs(other.programs, &other.queue));
        all[0].programs.iter().try_for_each(Programs::check_deadlock)?;
    }
    Ok(all)
}

/// Does the first task here and each other one in a thread of its own; returns their results.
fn in_threads<T: Send>(mut tasks: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    thread::scope(|scope| {
        let others: Vec<_> = tasks.split_off(1).into_iter().map(|task| scope.spawn(task)).collect();
        let first = tasks.pop().map(|task| task());
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        first.into_iter().chain(joined).collect()
    })
}

/// Plays the partitions in a thread each, until the windows are sparse or the run ends.
fn together<R: RoutingAlgorithm>(
    all: &mut [Player<'_, R>],
    monitor: &mut dyn Monitor,
    interrupted: &mut Option<Error>,
) -> Step {
    let shared = Shared::new(all.len());
    let shared = &shared;
    thread::scope(|scope| {
        let _guard = shared.barrier.guard(); // also if a thread cannot be started
        let mut players = all.iter_mut().enumerate();
        let first = players.next();
        let others: Vec<_> = players
            .map(|(index, player)| {
                scope.spawn(move || {
                    let _guard = shared.barrier.guard();
                    player.play(index, shared, &mut (), &mut None)
                })
            })
            .collect();
        let step = first.map_or(Step::End, |(index, player)| player.play(index, shared, monitor, interrupted));
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        step
    })
}

/// Plays the partitions in turn on this thread, window by window, until the windows are dense or the run ends.
fn in_turn<R: RoutingAlgorithm>(
    all: &mut [Player<'_, R>],
    monitor: &mut dyn Monitor,
    interrupted: &mut Option<Error>,
) -> Step {
    let mut statuses = vec![Status::default(); all.len()];
    loop {
        for from in 0..all.len() {
            for to in (0..all.len()).filter(|&to| to != from) {
                let sender = &mut all[from].simulation;
                sender.queue.take_sent(to, &mut sender.posts.to[to].events);
                if !sender.posts.to[to].is_empty() {
                    let mut post = std::mem::take(&mut sender.posts.to[to]);
                    all[to].simulation.take_post(&mut post);
                    all[from].simulation.posts.to[to] = post;
                }
            }
        }
        for (player, status) in all.iter().zip(&mut statuses) {
            player.simulation.say(status, interrupted.is_some());
        }
        let mut step = Step::End;
        for player in &mut *all {
            step = player.step(&statuses, false);
            if step == Step::Visit {
                player.visit();
            }
        }
        if matches!(step, Step::End | Step::Change) {
            return step;
        }
        let first = &mut all[0].simulation;
        *interrupted = look(&mut first.next_look, &statuses, first.queue.horizon(), monitor).err();
    }
}

impl<Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'_, Q, R> {
    /// Sends a credit to another partition. Returns whether it goes to one.
    #[inline(always)]
    pub(super) fn sends_credit(&mut self, credit: Credit) -> bool {
        let wire = self.wiring.wires[credit.slot as usize];
        let sender = if wire.node { self.wiring.event_attachment(wire.to).router } else { wire.to };
        let elsewhere = !self.queue.has(sender);
        if elsewhere {
            let to = self.queue.partition_of(sender);
            self.posts.to[to].credits.push(credit);
        }
        elsewhere
    }

    /// Sends a message that has been issued to the partition of its destination, a NIC; a protocol message also to that of
    /// its rank, if the NIC is at another router than the rank.
    #[inline(never)]
    pub(super) fn send_message(&mut self, slot: u32, nic: u32, protocol_message: Option<ProtocolMessage>) {
        let flight = *self.flights.get(slot);
        let to = self.queue.partition_of(self.wiring.attachments[nic as usize].router);
        let rank = if protocol_message.is_some() { self.partition_of_rank(nic) } else { to };
        self.posts.about([to, rank]).for_each(|post| post.messages.push((slot, flight)));
        if rank != self.posts.own {
            self.posts.to[rank].protocol_messages.extend(protocol_message.map(|message| (slot, message)));
        }
    }

    /// The partition of the ranks on the node of a NIC.
    fn partition_of_rank(&self, nic: u32) -> usize {
        self.queue.partition_of(self.wiring.event_attachment(nic).router)
    }

    /// A message of traffic is delivered in this partition at `at`.
    #[inline(never)]
    pub(super) fn report(&mut self, slot: u32, flight: Flight, at: u64) {
        if !R::RESPONSES {
            self.jobs.list[usize::from(flight.job)].count_completion(at);
        }
        self.send_report(slot, self.flights.partition_of(slot), at);
    }

    /// A protocol message reaches a NIC in this partition at `at`: the partitions of its sender and of its rank must know.
    pub(super) fn report_to_both(&mut self, slot: u32, nic: u32, at: u64) {
        let (issuer, rank) = (self.flights.partition_of(slot), self.partition_of_rank(nic));
        self.send_report(slot, rank, at);
        if issuer != rank {
            self.send_report(slot, issuer, at);
        }
    }

    fn send_report(&mut self, slot: u32, to: usize, at: u64) {
        if to == self.posts.own {
            self.take_report(slot, at);
        } else {
            self.posts.to[to].deliveries.push((slot, at));
        }
    }

    /// A message is delivered at `at` that was issued in this partition, or goes to a rank in it.
    fn take_report(&mut self, slot: u32, at: u64) {
        let flight = *self.flights.get(slot);
        let issued_here = self.flights.partition_of(slot) == self.posts.own;
        if issued_here && !R::RESPONSES {
            self.flights.release(slot); // else it stays taken until all packets are answered
        }
        let job = &mut self.jobs.list[usize::from(flight.job)];
        if job.program {
            self.take_program_report(flight, issued_here, at);
            return;
        }
        job.deliver(&flight, at);
        if !R::RESPONSES {
            job.see_completion(at);
            self.begin_next(flight.job);
        }
    }

    /// The same for a message of a program.
    fn take_program_report(&mut self, flight: Flight, issued_here: bool, at: u64) {
        let programs = self.programs.as_mut().expect("the job has a program");
        let message = programs.take(flight.row);
        let node = programs.node_of(flight.job, message.rank);
        if issued_here {
            self.count_arrived(flight, &message, at);
        }
        if self.queue.has(self.wiring.attachments[(node * self.wiring.rails) as usize].router) {
            self.reach_rank(flight, &message, at);
        }
    }

    /// Takes what another partition has sent, apart from events.
    fn take_post(&mut self, post: &mut Post) {
        for credit in post.credits.drain(..) {
            // SAFETY: another partition has found the port and channel in the same wiring.
            unsafe { self.note_credit(credit) };
        }
        // Deliveries first: after that of a message its slot may be that of another.
        for (slot, at) in post.deliveries.drain(..) {
            self.take_report(slot, at);
        }
        for (slot, flight) in post.messages.drain(..) {
            self.flights.put(slot, flight);
        }
        for (slot, message) in post.protocol_messages.drain(..) {
            let programs = self.programs.as_mut().expect("there is a protocol message");
            self.flights.set_row(slot, programs.post(message));
        }
        for (slot, request) in post.requests.drain(..) {
            self.aries.put(slot, request);
        }
        for (router, event) in post.events.drain(..) {
            self.queue.push(router, event);
        }
    }
}

impl<R: RoutingAlgorithm> Player<'_, R> {
    /// Handles the events of partition number `index`, until the windows are sparse or the run ends.
    #[inline(never)]
    fn play(
        &mut self,
        index: usize,
        shared: &Shared,
        monitor: &mut dyn Monitor,
        interrupted: &mut Option<Error>,
    ) -> Step {
        loop {
            if self.exchange(index, shared).is_err() {
                return Step::End; // the panic of the other thread goes on
            }
            self.simulation.say(&mut lock(&shared.statuses[index]), interrupted.is_some());
            if shared.barrier.wait().is_err() {
                return Step::End;
            }
            let mut statuses = std::mem::take(&mut self.statuses);
            statuses.iter_mut().zip(&shared.statuses).for_each(|(to, of)| to.clone_from(&lock(of)));
            let step = self.step(&statuses, true);
            self.statuses = statuses;
            match step {
                Step::Visit => self.visit(),
                Step::Again => continue,
                Step::Change | Step::End => return step,
            }
            if index == 0 {
                let simulation = &mut self.simulation;
                let now = simulation.queue.horizon();
                *interrupted = look(&mut simulation.next_look, &self.statuses, now, monitor).err();
            }
        }
    }

    /// Gives the other partitions what is for them, waits for all, and takes what they give.
    fn exchange(&mut self, index: usize, shared: &Shared) -> Result<(), Broken> {
        let simulation = &mut self.simulation;
        for (to, post) in simulation.posts.to.iter_mut().enumerate() {
            simulation.queue.take_sent(to, &mut post.events);
            if !post.is_empty() {
                std::mem::swap(post, &mut lock(&shared.posts[index][to]));
            }
        }
        shared.barrier.wait()?;
        for from in (0..shared.posts.len()).filter(|&from| from != index) {
            simulation.take_post(&mut lock(&shared.posts[from][index]));
        }
        Ok(())
    }

    /// Opens the next window, if there is one, unless threads that play should stop, or start if they do not.
    fn step(&mut self, statuses: &[Status], threads_play: bool) -> Step {
        let simulation = &mut self.simulation;
        if statuses.iter().any(|status| status.failed) {
            return Step::End;
        }
        simulation.end_jobs(statuses);
        simulation.deadlocked = simulation.is_deadlocked(statuses);
        if simulation.deadlocked {
            return Step::End;
        }
        let Some(next) = statuses.iter().filter_map(|status| status.next).min() else {
            simulation.ran_dry = statuses.iter().all(|status| !status.too_late);
            return Step::End;
        };
        let most: u64 = statuses.iter().filter(|status| status.next == Some(next)).map(|status| status.most).sum();
        let sparse = most < self.pace.sparse * statuses.len() as u64;
        self.stretch = if sparse == threads_play { self.stretch + 1 } else { 0 };
        if self.stretch > self.pace.stretch {
            self.stretch = 0;
            return Step::Change;
        }
        simulation.queue.open_at(next, &mut self.window);
        if simulation.queue.horizon() > simulation.end {
            // What is left is after the end, as with one thread.
            self.window.iter().for_each(|(router, event)| simulation.too_late.push((router, *event)));
            return Step::End;
        }
        if let Some(delivery) = simulation.delivery.take_if(|_| incomplete(&simulation.jobs, statuses) <= most) {
            simulation.queue.shorten(&self.window, delivery);
            return Step::Again;
        }
        Step::Visit
    }

    /// Handles the events of the open window.
    fn visit(&mut self) {
        if let Err(failure) = self.simulation.visit(&self.window, &mut ()) {
            self.simulation.failure.get_or_insert(failure);
        }
    }
}

impl<R: RoutingAlgorithm> Simulation<'_, Partition<Event>, R> {
    /// Says what the others must know.
    fn say(&self, status: &mut Status, interrupted: bool) {
        status.next = self.queue.upcoming();
        status.most = status.next.map_or(0, |window| self.queue.most(window) as u64);
        status.completed.clear();
        status.completed.extend(self.jobs.list.iter().map(|job| job.completions()));
        status.pending.clear();
        let programs = self.programs.iter().flat_map(|programs| programs.running.iter().enumerate());
        for (job, running) in programs.filter_map(|(job, running)| Some((job, running.as_ref()?))) {
            status.completed[job] = running.finished();
            status.pending.push(running.pending);
        }
        status.progress = self.progress(self.queue.horizon());
        status.failed = interrupted || self.failure.is_some();
        status.too_late = !self.too_late.is_empty();
    }

    /// Ends the jobs whose last message has been delivered in any partition.
    fn end_jobs(&mut self, statuses: &[Status]) {
        for job in 0..self.jobs.list.len() {
            let all = || statuses.iter().map(|status| status.completed[job]);
            if self.jobs.list[job].ends_with(all().map(|(completed, _)| completed).sum()) {
                let settle = if self.jobs.list[job].program { SETTLE_PS } else { 0 };
                self.ended(job as u16, all().map(|(_, last)| last).max().unwrap_or(0) + settle);
            }
        }
    }

    /// Whether the ranks of some program wait for each other in vain.
    fn is_deadlocked(&self, statuses: &[Status]) -> bool {
        let programs = self.jobs.list.iter().enumerate().filter(|(_, job)| job.program);
        let mut all = programs.enumerate();
        all.any(|(program, (index, job))| {
            let pending: i64 = statuses.iter().map(|status| status.pending[program]).sum();
            let finished: u64 = statuses.iter().map(|status| status.completed[index].0).sum();
            pending == 0 && finished < u64::from(job.ranks)
        })
    }
}

/// Messages that must still be complete before the run can end.
fn incomplete(jobs: &Jobs, statuses: &[Status]) -> u64 {
    let completed = |job: usize| statuses.iter().map(|status| status.completed[job].0).sum();
    jobs.list.iter().enumerate().map(|(index, job)| job.left(completed(index))).sum()
}

/// Calls the monitor if it is time.
fn look(next: &mut u64, statuses: &[Status], now_ps: u64, monitor: &mut dyn Monitor) -> Result<(), Error> {
    let sum = |of: fn(&Progress) -> u64| statuses.iter().map(|status| of(&status.progress)).sum();
    let events = sum(|progress| progress.events);
    if events < *next {
        return Ok(());
    }
    *next = events + EVENTS_PER_LOOK;
    monitor.progress(&Progress {
        now_ps,
        events,
        packet_hops: sum(|progress| progress.packet_hops),
        delivered: sum(|progress| progress.delivered),
        expected: statuses[0].progress.expected,
    })
}
