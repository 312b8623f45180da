//! A run whose caller issues the messages of one job, and is told of each delivery before it goes on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use odonata_error::{Error, ErrorKind, path};

use super::{Simulation, finish};
use crate::endpoint::Endpoint;
use crate::engine::{LAST_TIME, Ordered, Queue, Window};
use crate::fabric::packet::Event;
use crate::nodes::Driven;
use crate::routing::RoutingAlgorithm;
use crate::spec::{MAX_MESSAGE_BYTES, MeasureSpec, Record, Spec, StopSpec, range};
use crate::switch::Switch;

/// What a caller is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Happening {
    /// All of a message has reached its node.
    Delivery {
        /// When.
        at_ps: u64,
        /// What [`Network::send`] returned.
        number: u64,
    },
    /// A time that the caller asked for has come.
    Timer {
        /// When.
        at_ps: u64,
        /// What [`Network::schedule`] returned.
        number: u64,
    },
}

/// The place of a happening in the order of all.
type Place = (u64, bool, u64);

impl Happening {
    /// Deliveries of an instant come before timers, and each in the order of their numbers.
    fn order(self) -> Place {
        match self {
            Self::Delivery { at_ps, number } => (at_ps, false, number),
            Self::Timer { at_ps, number } => (at_ps, true, number),
        }
    }
}

/// A network in which a caller issues the messages of a job, one by one.
///
/// What the caller does at the time of a happening comes before all events of the network at that time.
pub trait Network {
    /// The time of the last happening, in picoseconds; 0 before the first.
    fn now_ps(&self) -> u64;

    /// Number of ranks of the job.
    fn ranks(&self) -> u32;

    /// A rank will issue a message to another one. Messages that a node issues at one time keep the order of the calls.
    /// Returns the number of the message; messages and timers share numbers, which rise.
    ///
    /// # Errors
    /// A rank that does not exist or is on the same node, a time in the past, a size of 0 or above the limit.
    fn send(&mut self, at_ps: u64, from: u32, to: u32, bytes: u64) -> Result<u64, Error>;

    /// Asks for a happening at a time. Returns its number.
    ///
    /// # Errors
    /// A time in the past.
    fn schedule(&mut self, at_ps: u64) -> Result<u64, Error>;

    /// Simulates until the next happening. None is left if all messages are delivered and all timers have come; more
    /// messages may then follow.
    ///
    /// # Errors
    /// A deadlock, a time out of range. The network cannot be used any more.
    fn advance(&mut self) -> Result<Option<Happening>, Error>;
}

/// The specification of a run in which the job sends nothing by itself, nothing is recorded, and no end is known.
pub(super) fn driven_spec(spec: &Spec, job: u32) -> Result<Spec, Error> {
    let mut driven = spec.clone();
    let Some(of) = driven.jobs.get_mut(job as usize) else {
        return Err(ErrorKind::NoSuchJob { job }.into());
    };
    (of.traffic, of.program, of.bursts) = (None, None, None);
    driven.jobs.iter_mut().for_each(|job| job.record = Record::Nothing);
    driven.stop = StopSpec { jobs: Vec::new(), at_ps: None };
    driven.measure = MeasureSpec {
        from_ps: 0,
        until_ps: None,
        arrivals_every_ps: None,
        blame: false,
        roots: false,
        series: false,
        operations: false,
        reordering: false,
    };
    Ok(driven)
}

/// A run in progress that a caller drives.
pub(super) struct Driving<'s, R, S, E> {
    simulation: Simulation<'s, Ordered<Event>, R, S, E>,
    window: Window<Event>,
    /// What the caller will be told, as far as it is known.
    happenings: BinaryHeap<Reverse<(Place, Happening)>>,
    now: u64,
    /// The number of the next message or timer.
    next: u64,
}

impl<'s, R: RoutingAlgorithm, S: Switch, E: Endpoint> Driving<'s, R, S, E> {
    pub(super) fn new(mut simulation: Simulation<'s, Ordered<Event>, R, S, E>, job: u32) -> Self {
        simulation.nodes.driven = Some(Driven::new(job as u16));
        Self { simulation, window: Window::default(), happenings: BinaryHeap::new(), now: 0, next: 0 }
    }

    fn driven(&self) -> &Driven {
        self.simulation.nodes.driven.as_ref().expect("a job is driven")
    }

    fn nodes(&self) -> &[u32] {
        &self.simulation.nodes.jobs.list[usize::from(self.driven().job)].nodes
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Refuses a time before the present.
    fn check_time(&self, at_ps: u64) -> Result<(), Error> {
        range(&path!["at_ps"], at_ps, self.now, LAST_TIME - 1)
    }

    /// The node of a rank.
    fn node(&self, of: &'static str, rank: u32) -> Result<u32, Error> {
        let nodes = self.nodes();
        let kind = ErrorKind::NoSuchRank { rank: rank.into(), ranks: nodes.len() as u32 };
        nodes.get(rank as usize).copied().ok_or_else(|| kind.at(path![of]))
    }

    fn expect(&mut self, happening: Happening) {
        self.happenings.push(Reverse((happening.order(), happening)));
    }

    /// Handles the next event of the network.
    fn step(&mut self) -> Result<(), Error> {
        if !self.simulation.fabric.queue.open(&mut self.window) {
            self.simulation.ran_dry = true;
            finish::refuse_deadlock([&self.simulation])?;
            unreachable!("a message is under way, but nothing waits");
        }
        self.simulation.visit(&self.window, &mut ())?;
        self.simulation.routing.failure().map_or(Ok(()), Err)?;
        if let Some(failure) = self.simulation.fabric.course.failure.take() {
            return Err(failure);
        }
        while let Some((at_ps, number)) = self.simulation.nodes.driven.as_mut().and_then(|of| of.delivered.pop()) {
            self.expect(Happening::Delivery { at_ps, number });
        }
        Ok(())
    }
}

impl<R: RoutingAlgorithm, S: Switch, E: Endpoint> Network for Driving<'_, R, S, E> {
    fn now_ps(&self) -> u64 {
        self.now
    }

    fn ranks(&self) -> u32 {
        self.nodes().len() as u32
    }

    fn send(&mut self, at_ps: u64, from: u32, to: u32, bytes: u64) -> Result<u64, Error> {
        self.check_time(at_ps)?;
        let node = self.node("from", from)?;
        if node == self.node("to", to)? {
            return Err(ErrorKind::SameNode { node }.at(path!["to"]));
        }
        range(&path!["bytes"], bytes, 1, MAX_MESSAGE_BYTES)?;
        let number = self.number();
        let Simulation { fabric, nodes, .. } = &mut self.simulation;
        nodes.plan(fabric, [from, to], bytes, (at_ps, number));
        Ok(number)
    }

    fn schedule(&mut self, at_ps: u64) -> Result<u64, Error> {
        self.check_time(at_ps)?;
        let number = self.number();
        self.expect(Happening::Timer { at_ps, number });
        Ok(number)
    }

    fn advance(&mut self) -> Result<Option<Happening>, Error> {
        loop {
            let due = self.happenings.peek().map(|Reverse(((at, ..), _))| *at);
            let pending = self.simulation.fabric.queue.next_time();
            match due {
                Some(at) if pending.is_none_or(|pending| pending >= at) => {
                    self.now = at;
                    return Ok(self.happenings.pop().map(|Reverse((_, happening))| happening));
                }
                None if self.driven().undelivered() == 0 => return Ok(None),
                _ => self.step()?,
            }
        }
    }
}
