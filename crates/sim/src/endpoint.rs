//! NICs: when a message's packets leave their node, and what a NIC does with packets that come (docs/model.md, sections 2
//! and 3).
//!
//! | kind | packets are answered | holds packets back |
//! |---|---|---|
//! | [`Simple`], [`Numbered`] | no | never |
//! | [`Aries`] | yes | as long as too many Aries packets of the NIC have no response |
//! | [`Windowed`] | yes | as long as too many bytes for the destination have no acknowledgement, or its pair pauses |
//!
//! An [`Endpoint`] decides whether a packet may be sent now. `nodes::send` asks it, and cuts packets from the messages in
//! the queue of the NIC ([`Nic`]). [`Answers`] keeps requests and responses for all kinds that have them. A kind knows no
//! links, no routers and no jobs.

mod answers;
mod aries;
mod coalescing;
mod control;
mod entropies;
mod grants;
mod mode_policies;
mod nic;
mod readings;
mod senders;
mod simple;
mod windowed;

pub use answers::{Answers, Exchange, NO_SENDER, Request};
pub use aries::Aries;
pub use coalescing::{Coalescing, Covered};
pub use control::{Answer, Control};
pub use entropies::Entropies;
pub use grants::Grants;
pub use mode_policies::{ModePolicies, ModeRequest, Observation};
pub use nic::{Nic, Waiting};
pub use senders::Senders;
pub use simple::{Numbered, Simple};
pub use windowed::Windowed;

use crate::observe::Held;

/// A kind of NIC: which packets it sends now, and which later.
pub trait Endpoint: Sized + Send {
    /// Whether packets are answered.
    const ANSWERS: bool;
    /// Whether a NIC sends the packets of other messages while those of the first one are held back.
    const SELECTIVE: bool;
    /// Whether packets can be numbered in the order in which they leave.
    const NUMBERED: bool;

    /// Requests and responses; none if packets are not answered.
    fn answers(&self) -> Option<&Answers>;

    /// The same, to be changed.
    ///
    /// # Panics
    /// If packets are not answered.
    fn answers_mut(&mut self) -> &mut Answers;

    /// Whether a NIC may send a packet with so much payload to another one at `now`.
    fn admits(&mut self, nic: u32, to: u32, bytes: u32, now: u64) -> bool;

    /// A NIC has committed such a packet to its link at `now`; `rest` says whether its message has more. Returns whether it
    /// asks for an answer of its own.
    fn sent(&mut self, nic: u32, to: u32, packet: (u32, bool), now: u64) -> bool;

    /// The response to a packet of a NIC is known, and comes later than those that are known already.
    fn answered(&mut self, nic: u32, answer: Answer);

    /// When a NIC must look again whether it may send something, as far as that is known: when the first of the responses
    /// comes that it has not looked at, or when a pause ends.
    fn next_look(&self, nic: u32) -> Option<u64>;

    /// A message joins the end of the queue of a NIC. This and the next four methods are for kinds that pass over messages
    /// ([`Self::SELECTIVE`]); the messages of the others wait in [`Nic`].
    fn enqueue(&mut self, _nic: u32, _message: Waiting) {
        unreachable!("messages wait in their order")
    }

    /// A message returns to its place in the queue.
    fn put_back(&mut self, _nic: u32, _place: u64, _message: Waiting) {
        unreachable!("messages wait in their order")
    }

    /// Takes the first message that a NIC may send from at `now`, with its place.
    fn take_next(&mut self, _nic: u32, _now: u64) -> Option<(u64, Waiting)> {
        unreachable!("messages wait in their order")
    }

    /// Whether no message waits.
    fn is_idle(&self, _nic: u32) -> bool {
        unreachable!("messages wait in their order")
    }

    /// Unsent bytes of the messages that wait, for audits.
    fn waiting_bytes(&self, _nic: u32) -> u64 {
        0
    }

    /// Whether the next packet to another NIC announces more: `rest` says whether its own message has more.
    #[inline(always)]
    fn announces_more(&self, _nic: u32, _to: u32, _rest: bool) -> bool {
        false
    }

    /// For how long, up to `now`, a NIC has held back packets to another one.
    fn held(&self, nic: u32, to: u32, now: u64) -> Held;

    /// NICs that have sent more without an answer than they may, for audits.
    fn overfull(&self) -> u64;

    /// Takes over a NIC of another partition.
    fn absorb(&mut self, nic: u32, other: &mut Self);
}
