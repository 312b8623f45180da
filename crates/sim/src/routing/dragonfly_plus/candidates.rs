//! The candidate ports of a packet on a Dragonfly+.

use crate::routing::Ports;

/// The candidate ports of a packet.
#[derive(Clone, Copy, Debug)]
pub struct CandidatePorts<'a> {
    /// Ports on a minimal path to the packet's present target.
    pub minimal: Ports<'a>,
    /// Channel on these ports.
    pub minimal_channel: u8,
    /// Non-minimal ports.
    pub non_minimal: Ports<'a>,
    /// Channel on these ports.
    pub non_minimal_channel: u8,
    /// Whether a packet with an intermediate stop begins its second phase here.
    pub begins_second_phase: bool,
    /// Link class of the minimal ports.
    pub minimal_class: u8,
    /// Link class of the non-minimal ports.
    pub non_minimal_class: u8,
}

impl<'a> CandidatePorts<'a> {
    /// Candidates with minimal ports only.
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
