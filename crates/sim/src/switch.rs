//! Routers: what happens to a packet between its arrival at a router and its commitment to a link (docs/model.md,
//! section 4).
//!
//! | switch | packets wait |
//! |---|---|
//! | [`Ideal`] | in their input buffer, until the next buffer has room |
//! | [`Crossbar`] | in queues at the inputs for the crossbar, then in output buffers for room in the next buffer |
//!
//! A switch asks the routing for an output and hands the packet on to [`Fabric::commit`]. It also says what room the
//! packet leaves. It may [mark](Event::mark) packets. It knows no jobs and no kinds of NICs.

mod crossbar;
mod ideal;

use odonata_error::Error;

pub use crossbar::{Crossbar, Crossbars};
pub use ideal::Ideal;

use crate::Monitor;
use crate::endpoint::{Endpoint, Nics};
use crate::engine::{Queue, Window};
use crate::fabric::packet::Event;
use crate::fabric::{Chain, Fabric, Links, OutputVc, PacketTimes, RouterPlace};
use crate::routing::RoutingAlgorithm;
use crate::simulation::Simulation;

/// The room that a packet leaves when it is committed to a link.
#[derive(Clone, Copy, Debug)]
pub enum Left {
    /// The buffer at an input of its router, behind a link of a class.
    Input {
        /// Index of the buffer in the credits.
        buffer: usize,
        /// Class of the link that leads to it.
        class: u8,
    },
    /// The output buffer of its output VC.
    Output,
}

/// The routers of a run.
pub trait Switch: Sized + Send {
    /// Whether a packet waits for its link in a buffer at the output, so that its time is the earliest at which it may
    /// leave. If not, it waits in its input buffer.
    const BUFFERS_OUTPUT: bool;
    /// Where a packet is committed.
    type From: Copy;

    /// Where the packets of a router are committed.
    fn from(place: RouterPlace, router: u32) -> Self::From;

    /// A packet arrives at a router, or an arbitration is due there.
    fn arrive<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &mut N,
        router: u32,
        event: &Event,
    );

    /// The earliest instant at which the bytes of a packet allow it to begin to cross a link of a class; 0 if that is not
    /// later than its decision.
    fn earliest(links: &Links<'_>, from: Self::From, packet: &Event, times: &PacketTimes, class: u8) -> u64;

    /// The room that a packet leaves.
    fn leaves(links: &Links<'_>, from: Self::From, packet: &Event) -> Left;

    /// A packet with so many wire bytes has been committed to an output, and will have left at an instant.
    fn left<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        from: Self::From,
        output: OutputVc,
        packet: &Event,
        sent: (u32, u64),
    );

    /// Wire bytes in the output buffer of an output VC that are not committed to its link, if it has one; for audits.
    fn waiting(&self, vc: usize) -> Option<u64>;

    /// The packets that wait for a crossbar, with the slots of the inputs whose buffers they occupy; for audits.
    fn queues(&self) -> impl Iterator<Item = (Chain, u32)>;

    /// Handles the events of a window, and those that are added to it meanwhile.
    ///
    /// # Errors
    /// Those of the monitor.
    fn visit<Q: Queue<Event>, R: RoutingAlgorithm, E: Endpoint>(
        simulation: &mut Simulation<'_, Q, R, Self, E>,
        window: &Window<Event>,
        monitor: &mut dyn Monitor,
    ) -> Result<(), Error> {
        simulation.visit_in_order(window, monitor)
    }
}
