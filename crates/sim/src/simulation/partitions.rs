//! A run on several threads: each handles the events of one partition of the routers and their nodes.
//!
//! Within a window no router can affect another (docs/model.md, section 5), so the threads handle a window each on
//! their own. Then they exchange what they have for each other, agree on the next window, and go on. Everything that a
//! router or a node reads belongs to its own partition:
//!
//! | what goes to another partition | when |
//! |---|---|
//! | events | a packet leaves for a router there |
//! | a credit | a packet leaves the buffer of a link whose sender is there |
//! | whose room that was (blame) | with the credit |
//! | a message | it is issued, and its destination is there; to all if packets are observed at routers |
//! | a protocol message of a program | with the message that carries it, to the partition of its destination |
//! | a request (Aries) | it is sent; to the same partitions as its message |
//! | the number of a packet | it is sent, if packets are numbered; to the same partitions as its message |
//! | a delivery | a message that was issued there is delivered |
//!
//! A rank belongs to the partition of its node. This is conservative parallel simulation with synchronous windows. The
//! result is that of one thread, byte by byte. While windows have few events, one thread plays all partitions in turn;
//! also while it is faster so (`pace.rs`), as on a host with other work.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use odonata_error::Error;

use super::pace::{Contest, Pace};
use super::{EVENTS_PER_LOOK, Simulation};
use crate::commit::FabricPost;
use crate::endpoint::Endpoint;
use crate::engine::{Barrier, Broken, Partition, Queue, Window};
use crate::fabric::Wiring;
use crate::fabric::packet::Event;
use crate::nodes::{Jobs, NodePost};
use crate::program::Programs;
use crate::routing::RoutingAlgorithm;
use crate::spec::SETTLE_PS;
use crate::switch::Switch;
use crate::{Monitor, Progress};

/// Weight of a node that sends, for the sizes of partitions; that of a port is 1. (Assumed: about half of the events of
/// a leaf are those of packets from or to its nodes.)
const NODE_WEIGHT: u64 = 2;

/// What a partition sends to another after a window.
#[derive(Default)]
struct Post {
    /// Events with their routers.
    events: Vec<(u32, Event)>,
    fabric: FabricPost,
    nodes: NodePost,
}

impl Post {
    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.fabric.is_empty() && self.nodes.is_empty()
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
    /// Whether all should play in turn.
    switch: bool,
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

/// The simulation of one partition.
pub(super) type InPartition<'s, R, S, E> = Simulation<'s, Partition<Event>, R, S, E>;

/// A partition that is being played.
struct Player<'s, R, S, E> {
    simulation: Simulation<'s, Partition<Event>, R, S, E>,
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
    /// The other way is faster, or is to be tried.
    Switch,
    /// The run has ended, or cannot go on.
    End,
}

/// The first router of each of some partitions: consecutive routers, about equally busy.
pub(super) fn first_routers(wiring: &Wiring, jobs: &Jobs, partitions: usize) -> Arc<[u32]> {
    let mut weights: Vec<u64> = wiring.places.iter().map(|place| u64::from(place.ports)).collect();
    for job in &jobs.list {
        for &node in &job.nodes {
            let router = wiring.node_attachment(node).router;
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
pub(super) fn play<'s, R: RoutingAlgorithm, S: Switch, E: Endpoint>(
    partitions: usize,
    pace: Pace,
    monitor: &mut dyn Monitor,
    make: impl Fn(usize) -> Simulation<'s, Partition<Event>, R, S, E> + Sync,
) -> Result<Vec<InPartition<'s, R, S, E>>, Error> {
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
    let mut contest = Contest::new(pace);
    let goes_on = |contest: &mut Contest, step: Step, all: &[Player<'_, R, S, E>]| {
        contest.change(all[0].events(), step == Step::Change);
        matches!(step, Step::Change | Step::Switch)
    };
    loop {
        let step = together(&mut all, monitor, &mut interrupted, &mut contest);
        if !goes_on(&mut contest, step, &all) {
            break;
        }
        let step = in_turn(&mut all, monitor, &mut interrupted, &mut contest, step == Step::Change);
        if !goes_on(&mut contest, step, &all) {
            break;
        }
    }
    if let Some(interrupted) = interrupted {
        return Err(interrupted);
    }
    let mut all: Vec<_> = all.into_iter().map(|player| player.simulation).collect();
    all[0].routing.failure().map_or(Ok(()), Err)?;
    all.iter_mut().find_map(|simulation| simulation.fabric.course.failure.take()).map_or(Ok(()), Err)?;
    all.iter_mut().try_for_each(Simulation::settle)?;
    if all[0].deadlocked {
        let others = all.split_off(1);
        others.into_iter().for_each(|other| all[0].absorb_programs(other.nodes.programs, &other.fabric.queue));
        all[0].nodes.programs.iter().try_for_each(Programs::check_deadlock)?;
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

/// Plays the partitions in a thread each, until the windows are sparse, one thread is faster, or the run ends.
fn together<R: RoutingAlgorithm, S: Switch, E: Endpoint>(
    all: &mut [Player<'_, R, S, E>],
    monitor: &mut dyn Monitor,
    interrupted: &mut Option<Error>,
    contest: &mut Contest,
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
                    player.play(index, shared, &mut (), &mut None, None)
                })
            })
            .collect();
        let step =
            first.map_or(Step::End, |(index, player)| player.play(index, shared, monitor, interrupted, Some(contest)));
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        step
    })
}

/// Plays the partitions in turn on this thread, window by window, until the windows are dense, threads may be faster, or
/// the run ends. `sparse`: whether the windows are sparse, so that no rates are compared.
fn in_turn<R: RoutingAlgorithm, S: Switch, E: Endpoint>(
    all: &mut [Player<'_, R, S, E>],
    monitor: &mut dyn Monitor,
    interrupted: &mut Option<Error>,
    contest: &mut Contest,
    sparse: bool,
) -> Step {
    let mut statuses = vec![Status::default(); all.len()];
    let mut post = Post::default();
    loop {
        for from in 0..all.len() {
            for to in (0..all.len()).filter(|&to| to != from) {
                all[from].simulation.take_sent(to, &mut post);
                all[to].simulation.take_post(&mut post);
            }
        }
        for (player, status) in all.iter().zip(&mut statuses) {
            player.simulation.say(status, interrupted.is_some());
        }
        let mut step = Step::End;
        if !sparse && contest.wants_change(events(&statuses), false) {
            step = Step::Switch;
        } else {
            for player in all.iter_mut() {
                step = player.step(&statuses, sparse.then_some(false));
                if step == Step::Visit {
                    player.visit();
                }
            }
        }
        if matches!(step, Step::End | Step::Change | Step::Switch) {
            all[0].statuses = statuses;
            return step;
        }
        let first = &mut all[0].simulation;
        *interrupted = look(&mut first.next_look, &statuses, first.fabric.queue.horizon(), monitor).err();
    }
}

impl<R: RoutingAlgorithm, S: Switch, E: Endpoint> Simulation<'_, Partition<Event>, R, S, E> {
    /// Exchanges what is sent to another partition with something empty.
    fn take_sent(&mut self, to: usize, empty: &mut Post) {
        self.fabric.queue.take_sent(to, &mut empty.events);
        self.fabric.take_sent(to, &mut empty.fabric);
        self.nodes.posts.take_sent(to, &mut empty.nodes);
    }

    /// Takes what another partition has sent; it is empty then.
    fn take_post(&mut self, post: &mut Post) {
        self.fabric.take_post(&mut post.fabric);
        self.nodes.take_post(&mut self.fabric, &mut post.nodes);
        for (router, event) in post.events.drain(..) {
            self.fabric.queue.push(router, event);
        }
    }
}

impl<R: RoutingAlgorithm, S: Switch, E: Endpoint> Player<'_, R, S, E> {
    /// Events of all partitions, as they have said last.
    fn events(&self) -> u64 {
        events(&self.statuses)
    }

    /// Handles the events of partition number `index`, until the windows are sparse, one thread is faster, or the run
    /// ends. One of the threads has the contest.
    #[inline(never)]
    fn play(
        &mut self,
        index: usize,
        shared: &Shared,
        monitor: &mut dyn Monitor,
        interrupted: &mut Option<Error>,
        mut contest: Option<&mut Contest>,
    ) -> Step {
        loop {
            if self.exchange(index, shared).is_err() {
                return Step::End; // the panic of the other thread goes on
            }
            let switch = contest.as_mut().is_some_and(|contest| contest.wants_change(self.events(), true));
            {
                let mut status = lock(&shared.statuses[index]);
                self.simulation.say(&mut status, interrupted.is_some());
                status.switch = switch;
            }
            if shared.barrier.wait().is_err() {
                return Step::End;
            }
            let mut statuses = std::mem::take(&mut self.statuses);
            statuses.iter_mut().zip(&shared.statuses).for_each(|(to, of)| to.clone_from(&lock(of)));
            let step = self.step(&statuses, Some(true));
            self.statuses = statuses;
            match step {
                Step::Visit => self.visit(),
                Step::Again => continue,
                Step::Change | Step::Switch | Step::End => return step,
            }
            if index == 0 {
                let simulation = &mut self.simulation;
                let now = simulation.fabric.queue.horizon();
                *interrupted = look(&mut simulation.next_look, &self.statuses, now, monitor).err();
            }
        }
    }

    /// Gives the other partitions what is for them, waits for all, and takes what they give.
    fn exchange(&mut self, index: usize, shared: &Shared) -> Result<(), Broken> {
        let simulation = &mut self.simulation;
        for to in (0..shared.posts.len()).filter(|&to| to != index) {
            simulation.take_sent(to, &mut lock(&shared.posts[index][to]));
        }
        shared.barrier.wait()?;
        for from in (0..shared.posts.len()).filter(|&from| from != index) {
            let mut post = lock(&shared.posts[from][index]);
            if !post.is_empty() {
                simulation.take_post(&mut post);
            }
        }
        Ok(())
    }

    /// Opens the next window, if there is one, unless threads that play should stop, or start if they do not. `None`: one
    /// thread plays dense windows.
    fn step(&mut self, statuses: &[Status], threads_play: Option<bool>) -> Step {
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
        if statuses.iter().any(|status| status.switch) && threads_play == Some(true) {
            self.stretch = 0;
            return Step::Switch;
        }
        self.stretch = if Some(sparse) == threads_play { self.stretch + 1 } else { 0 };
        if self.stretch > self.pace.stretch {
            self.stretch = 0;
            return Step::Change;
        }
        simulation.fabric.queue.open_at(next, &mut self.window);
        if simulation.fabric.queue.horizon() > simulation.fabric.course.end {
            // What is left is after the end, as with one thread.
            self.window.iter().for_each(|(router, event)| simulation.too_late.push((router, *event)));
            return Step::End;
        }
        if let Some(delivery) = simulation.delivery.take_if(|_| incomplete(&simulation.nodes.jobs, statuses) <= most) {
            simulation.fabric.queue.shorten(&self.window, delivery);
            return Step::Again;
        }
        let longest = statuses.iter().filter(|status| status.next == Some(next)).map(|status| status.most).max();
        simulation.fabric.course.windows += 1;
        simulation.fabric.course.longest += longest.unwrap_or(0);
        Step::Visit
    }

    /// Handles the events of the open window.
    fn visit(&mut self) {
        if let Err(failure) = self.simulation.visit(&self.window, &mut ()) {
            self.simulation.fabric.course.failure.get_or_insert(failure);
        }
    }
}

impl<R: RoutingAlgorithm, S: Switch, E: Endpoint> Simulation<'_, Partition<Event>, R, S, E> {
    /// Says what the others must know.
    fn say(&self, status: &mut Status, interrupted: bool) {
        status.next = self.fabric.queue.upcoming();
        status.most = status.next.map_or(0, |window| self.fabric.queue.most(window) as u64);
        status.completed.clear();
        status.completed.extend(self.nodes.jobs.list.iter().map(|job| job.completions()));
        status.pending.clear();
        let programs = self.nodes.programs.iter().flat_map(|programs| programs.running.iter().enumerate());
        for (job, running) in programs.filter_map(|(job, running)| Some((job, running.as_ref()?))) {
            status.completed[job] = running.finished();
            status.pending.push(running.pending);
        }
        status.progress = self.progress(self.fabric.queue.horizon());
        status.failed = interrupted || self.fabric.course.failure.is_some() || self.routing.failure().is_some();
        status.too_late = !self.too_late.is_empty();
        status.switch = false;
    }

    /// Ends the jobs whose last message has been delivered in any partition.
    fn end_jobs(&mut self, statuses: &[Status]) {
        for job in 0..self.nodes.jobs.list.len() {
            let all = || statuses.iter().map(|status| status.completed[job]);
            if self.nodes.jobs.list[job].ends_with(all().map(|(completed, _)| completed).sum()) {
                let settle = if self.nodes.jobs.list[job].reacts { SETTLE_PS } else { 0 };
                self.nodes.end_job(
                    &mut self.fabric,
                    job as u16,
                    all().map(|(_, last)| last).max().unwrap_or(0) + settle,
                );
            }
        }
    }

    /// Whether the ranks of some program wait for each other in vain.
    fn is_deadlocked(&self, statuses: &[Status]) -> bool {
        let programs = self.nodes.jobs.list.iter().enumerate().filter(|(_, job)| job.reacts);
        let mut all = programs.enumerate();
        all.any(|(program, (index, job))| {
            let pending: i64 = statuses.iter().map(|status| status.pending[program]).sum();
            let finished: u64 = statuses.iter().map(|status| status.completed[index].0).sum();
            pending == 0 && finished < u64::from(job.ranks)
        })
    }
}

/// Events of all partitions.
fn events(statuses: &[Status]) -> u64 {
    statuses.iter().map(|status| status.progress.events).sum()
}

/// Messages that must still be complete before the run can end.
fn incomplete(jobs: &Jobs, statuses: &[Status]) -> u64 {
    let completed = |job: usize| statuses.iter().map(|status| status.completed[job].0).sum();
    jobs.list.iter().enumerate().map(|(index, job)| job.left(completed(index))).sum()
}

/// Calls the monitor if it is time.
fn look(next: &mut u64, statuses: &[Status], now_ps: u64, monitor: &mut dyn Monitor) -> Result<(), Error> {
    let sum = |of: fn(&Progress) -> u64| statuses.iter().map(|status| of(&status.progress)).sum();
    let events = events(statuses);
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
