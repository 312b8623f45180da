//! How acknowledgements change the window of a pair of NICs (docs/model.md, section 3, "Congestion control").
//!
//! | law | what it follows | least window |
//! |---|---|---|
//! | [`slingshot`] | marks of ports to nodes, and the number of NICs that send to the same one | a share of the largest |
//! | [`ecn_window`] | the share of marked packets in a round trip | a packet |
//! | [`nscc`] | marks and delays | a packet |
//!
//! With `slingshot` pairs also pause, so that a window can be less than a packet. With `receiver-credit` windows are
//! fixed, and acknowledgements wait at the receiver ([`Grants`](super::Grants)).

mod ecn_window;
mod nscc;
mod slingshot;

use crate::spec::{CongestionLaw, CongestionSpec, FabricSpec};

/// Does something with the law of a run, as a [`Law`]: a row for each law that changes windows.
macro_rules! with_law {
    ($law:expr, $of:ident => $do:expr, without $without:expr) => {
        match $law {
            None | Some(CongestionLaw::ReceiverCredit { .. }) => $without,
            Some(CongestionLaw::Slingshot) => {
                let $of = slingshot::Slingshot;
                $do
            }
            Some(CongestionLaw::EcnWindow) => {
                let $of = ecn_window::EcnWindow;
                $do
            }
            Some(CongestionLaw::Nscc { target_ps }) => {
                let $of = nscc::Nscc { target_ps };
                $do
            }
        }
    };
}

/// A law that changes the window of a pair of NICs.
trait Law {
    /// What the law remembers of a pair that has sent nothing.
    const FIRST: [u64; 3];

    /// An acknowledgement has come.
    fn acknowledge(&self, control: &Control, window: &mut Window, answer: &Answer);

    /// A packet with so much payload is sent at `now` by a pair that had so much on the way.
    fn sent(&self, _control: &Control, _window: &mut Window, _in_flight: u64, _bytes: u64, _now: u64) {}

    /// Payload for which there is room.
    fn room(&self, _control: &Control, window: &Window) -> u64 {
        window.bytes
    }
}

/// An acknowledgement that reaches the NIC that sent its packet.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The NIC that the packet went to.
    pub to: u32,
    /// Payload of the packets for which it stands.
    pub bytes: u64,
    /// Payload of the last of them, which all below is about.
    pub of_packet: u32,
    /// When it comes.
    pub at: u64,
    /// Time since the first flit of the packet left the NIC.
    pub delay: u64,
    /// What the packet and the answer take alone, if acknowledgements say the hops.
    pub zero_load: u64,
    /// Whether a switch marked the packet.
    pub marked: bool,
    /// The job that the mark names, if blame is measured and it is another one; else [`OWN`](crate::observe::OWN).
    pub named: u16,
    /// What the law's [`Feedback`](crate::spec::Feedback) is: NICs that have more for the one that answers, and this one; or
    /// the routers that the packet has visited.
    pub says: u32,
    /// Whether the packet asked for it.
    pub asks: bool,
}

/// The window of a pair of NICs. What the numbers of a law mean is up to the law.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Payload that may be on the way, in bytes.
    pub bytes: u64,
    /// Nothing is sent before.
    pub pause_end: u64,
    /// Acknowledgements of packets that left earlier are ignored.
    since: u64,
    law: [u64; 3],
}

/// Windows of one run.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    law: Option<CongestionLaw>,
    /// First and largest window.
    most: u64,
    /// Payload of a full packet.
    full: u64,
    /// Time of the largest window on the link of a node.
    round: u64,
    /// Whether an acknowledgement may stand for several packets.
    coalesces: bool,
}

impl Control {
    /// Windows that never change.
    #[must_use]
    pub fn fixed(most: u64, full: u32) -> Self {
        Self { law: None, most, full: u64::from(full), round: 0, coalesces: false }
    }

    /// Windows that follow acknowledgements.
    #[must_use]
    pub fn new(spec: &CongestionSpec, full: u32, full_ps: u64) -> Self {
        let round = scaled(spec.window_bytes, full_ps, u64::from(full));
        Self { law: Some(spec.law), most: spec.window_bytes, full: u64::from(full), round, coalesces: false }
    }

    /// The windows of a fabric.
    #[must_use]
    pub fn of(fabric: &FabricSpec) -> Self {
        let of = match &fabric.congestion_control {
            None => Self::fixed(fabric.nic.window_bytes.unwrap_or(u64::MAX), fabric.packet_bytes),
            Some(spec) => {
                let of_node = fabric.links["node"].bandwidth;
                let full_ps = of_node.serialisation_ps(fabric.wire_bytes(fabric.packet_bytes));
                Self::new(spec, fabric.packet_bytes, full_ps)
            }
        };
        Self { coalesces: fabric.nic.acknowledge_every.is_some(), ..of }
    }

    /// Whether an acknowledgement may stand for several packets.
    #[inline]
    #[must_use]
    pub fn coalesces(&self) -> bool {
        self.coalesces
    }

    /// The window of a pair that has sent nothing.
    #[must_use]
    pub fn first(&self) -> Window {
        fn memory<L: Law>(_: &L) -> [u64; 3] {
            L::FIRST
        }
        let law = with_law!(self.law, law => memory(&law), without [0; 3]);
        Window { bytes: self.most, pause_end: 0, since: 0, law }
    }

    /// Whether so much payload on the way leaves room for a full packet.
    #[inline]
    #[must_use]
    pub fn has_room(&self, window: &Window, in_flight: u64) -> bool {
        let room = with_law!(self.law, law => law.room(self, window), without window.bytes);
        in_flight + self.full <= room.max(self.full)
    }

    /// Whether a window is as large as it can be.
    #[must_use]
    pub fn is_widest(&self, window: &Window) -> bool {
        window.bytes == self.most
    }

    /// Largest window.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Payload of a full packet.
    #[must_use]
    pub fn full(&self) -> u64 {
        self.full
    }

    /// A packet with so much payload is sent at `now` by a pair that had so much on the way.
    #[inline]
    pub fn sent(&self, window: &mut Window, in_flight: u64, bytes: u64, now: u64) {
        with_law!(self.law, law => law.sent(self, window, in_flight, bytes, now), without ());
    }

    /// An acknowledgement has come.
    #[inline]
    pub fn acknowledge(&self, window: &mut Window, answer: &Answer) {
        with_law!(self.law, law => law.acknowledge(self, window, answer), without ());
    }

    /// Whether the packet of an acknowledgement left after the latest change that the law remembers.
    fn is_after_latest_change(window: &Window, answer: &Answer) -> bool {
        answer.at - answer.delay >= window.since
    }
}

/// `a * b / c`, which is small.
fn scaled(a: u64, b: u64, c: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(c)).unwrap_or(u64::MAX)
}
