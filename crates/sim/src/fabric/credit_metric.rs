//! Congestion metrics other than the backlog: bytes that a port has sent and that are not known to have left the next
//! router (docs/model.md, section 6, "load").
//!
//! The sender counts bytes when it commits them. The receiver knows early when they will leave, and notes this with the
//! time at which the sender may know it: the arrival of the credit plus the delay of its information. The sum is
//! computed on demand, so runs that read only the backlog pay nothing.

use super::wiring::CLASSES;
use super::{OutputPort, Wire, Wiring};
use crate::spec::{MetricKind, Sensing};

/// Number of bytes for which the time of a class is kept: loads are `bytes * time >> SCALE`.
const SCALE: u32 = 16;

/// The metric's state for every port.
pub struct CreditMetric {
    here: Here,
    /// By slot; empty if the metric reads no bytes.
    sent: Vec<Sent>,
    classes: [Class; CLASSES],
}

/// What counts of the packets that are still in the router.
#[derive(Clone, Copy)]
enum Here {
    Nothing,
    /// Those that are not committed: what is committed counts as sent.
    Waiting,
    Backlog,
}

/// Time of 2^16 bytes, and how long the information of a credit takes.
#[derive(Clone, Copy)]
struct Class {
    scaled: u64,
    delay: u64,
}

/// Bytes sent by a port.
#[derive(Clone, Default)]
struct Sent {
    /// Bytes that are not yet known to have left, without those of `leaving`.
    bytes: u64,
    /// When the sender will know that bytes have left, and how many.
    leaving: Vec<(u64, u32)>,
    class: u8,
}

impl CreditMetric {
    /// The metric of a run; none if it is the backlog alone.
    #[must_use]
    pub fn new(sensing: &Sensing, wiring: &Wiring, names: &[&str]) -> Option<Self> {
        let (here, credits) = match sensing.kind {
            MetricKind::Backlog | MetricKind::OutputBuffer => return None,
            MetricKind::Credits => (Here::Nothing, true),
            MetricKind::Both => (Here::Backlog, true),
            MetricKind::Occupancy => (Here::Waiting, true),
            MetricKind::None => (Here::Nothing, false),
        };
        let classes = std::array::from_fn(|class| {
            let delay = names.get(class).and_then(|name| sensing.delay_ps.get(*name));
            Class { scaled: wiring.times[class].scaled, delay: delay.copied().unwrap_or(0) }
        });
        let sent = |wire: &Wire| Sent { class: wire.class, ..Sent::default() };
        Some(Self { here, sent: wiring.wires.iter().filter(|_| credits).map(sent).collect(), classes })
    }

    /// A packet was committed to a link between routers.
    #[inline]
    pub fn send(&mut self, slot: u32, bytes: u32) {
        if let Some(sent) = self.sent.get_mut(slot as usize) {
            sent.bytes += u64::from(bytes);
        }
    }

    /// The credit of a packet that a port sent reaches its sender at `stamp`. No future decision is earlier than
    /// `horizon`.
    pub fn leave(&mut self, slot: u32, bytes: u32, stamp: u64, horizon: u64) {
        let Some(sent) = self.sent.get_mut(slot as usize) else { return };
        if sent.leaving.len() == sent.leaving.capacity() {
            let mut gone = 0;
            sent.leaving.retain(|&(at, bytes)| {
                gone += if at <= horizon { u64::from(bytes) } else { 0 };
                at > horizon
            });
            sent.bytes -= gone;
        }
        sent.leaving.push((stamp + self.classes[usize::from(sent.class)].delay, bytes));
    }

    /// Load of the port of a slot.
    #[inline]
    #[must_use]
    pub fn load(&self, slot: u32, port: &OutputPort, now: u64) -> u64 {
        let own = match self.here {
            Here::Nothing => 0,
            Here::Waiting => port.blocked_ps,
            Here::Backlog => port.backlog(now),
        };
        let Some(sent) = self.sent.get(slot as usize) else { return own };
        let left: u64 = sent.leaving.iter().map(|&(at, bytes)| if at <= now { u64::from(bytes) } else { 0 }).sum();
        let scaled = self.classes[usize::from(sent.class)].scaled;
        own + ((u128::from(sent.bytes - left) * u128::from(scaled)) >> SCALE) as u64
    }
}
