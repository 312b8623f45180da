//! Where a packet may go from where it is on a Dragonfly+.

use crate::routing::Ports;

/// Where a packet may go.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Ports on a shortest way to where the packet is bound for now.
    pub minimal: Ports<'a>,
    /// Channel on those.
    pub minimal_channel: u8,
    /// Ports by which it may be diverted.
    pub other: Ports<'a>,
    /// Channel on those.
    pub other_channel: u8,
    /// Whether going on means that a packet with an intermediate stop has turned to its destination.
    pub turns: bool,
    /// Link class of the minimal ports.
    pub minimal_class: u8,
    /// Link class of the others.
    pub other_class: u8,
}

impl<'a> Plan<'a> {
    /// A plan with shortest ways only.
    #[inline(always)]
    #[must_use]
    pub fn only(minimal: Ports<'a>, class: u8, channel: u8) -> Self {
        Self {
            minimal,
            minimal_channel: channel,
            other: Ports::NONE,
            other_channel: channel,
            turns: false,
            minimal_class: class,
            other_class: class,
        }
    }
}
