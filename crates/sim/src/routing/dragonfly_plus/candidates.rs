//! Where a packet may go from where it is on a Dragonfly+.

use crate::routing::Ports;

/// Where a packet may go.
#[derive(Clone, Copy, Debug)]
pub struct CandidatePorts<'a> {
    /// Ports on a shortest way to where the packet is bound for now.
    pub minimal: Ports<'a>,
    /// Channel on those.
    pub minimal_channel: u8,
    /// Ports by which it may be diverted.
    pub non_minimal: Ports<'a>,
    /// Channel on those.
    pub non_minimal_channel: u8,
    /// Whether going on means that a packet with an intermediate stop has turned to its destination.
    pub begins_second_phase: bool,
    /// Link class of the minimal ports.
    pub minimal_class: u8,
    /// Link class of the others.
    pub non_minimal_class: u8,
}

impl<'a> CandidatePorts<'a> {
    /// A plan with shortest ways only.
    #[inline(always)]
    #[must_use]
    pub fn only(minimal: Ports<'a>, class: u8, channel: u8) -> Self {
        Self {
            minimal,
            minimal_channel: channel,
            non_minimal: Ports::NONE,
            non_minimal_channel: channel,
            begins_second_phase: false,
            minimal_class: class,
            non_minimal_class: class,
        }
    }
}
