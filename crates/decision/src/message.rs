//! A message as the model sees it, and the routing modes.

/// Bytes that a request packet of Aries carries at most (De Sensi 2019, section 2; D5).
pub(crate) const PACKET_BYTES: u64 = 64;
/// Bytes of a payload flit: four of them make a full packet (D5).
const FLIT_BYTES: u64 = 16;

/// How a message is moved: who sends its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operation {
    /// The requests carry the data: a header flit and up to four payload flits each.
    #[default]
    Put,
    /// The responses carry the data: a request is one flit.
    Get,
}

/// A message that is about to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Its size.
    pub bytes: u64,
    /// How it is moved.
    pub operation: Operation,
    /// Whether it belongs to an all-to-all, for which Cray MPI replaces ADAPTIVE_0 by ADAPTIVE_1.
    pub alltoall: bool,
    /// Where it goes: equal for messages of one endpoint. Only `app-aware` reads it.
    pub peer: u64,
    /// Whether it is a small message that controls others and has no data of its own. Only `app-aware` reads it.
    pub control: bool,
}

impl Message {
    /// A PUT of that many bytes to endpoint 0 that belongs to no all-to-all.
    #[must_use]
    pub const fn put(bytes: u64) -> Self {
        Self { bytes, operation: Operation::Put, alltoall: false, peer: 0, control: false }
    }

    /// Its request packets and request flits.
    #[must_use]
    pub const fn size(self) -> Size {
        // A message without data still is a request.
        let bytes = if self.bytes == 0 { 1 } else { self.bytes };
        let packets = bytes.div_ceil(PACKET_BYTES);
        let flits = match self.operation {
            Operation::Put => packets + bytes.div_ceil(FLIT_BYTES),
            Operation::Get => packets,
        };
        Size { packets, flits }
    }
}

/// Request packets and request flits of a message: p and f of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Request packets: p.
    pub packets: u64,
    /// Request flits: f. A full packet of a PUT has five.
    pub flits: u64,
}

/// A routing mode of Aries (D7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// ADAPTIVE_0: no bias. The default of Cray MPI.
    Adaptive = 0,
    /// ADAPTIVE_1: a bias towards minimal paths that grows with the hops. The default of Cray MPI for all-to-all.
    IncreasinglyMinimal = 1,
    /// ADAPTIVE_3: a high bias towards minimal paths.
    HighBias = 3,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Adaptive, Self::IncreasinglyMinimal, Self::HighBias];

    /// Its position in [`ALL`](Self::ALL).
    #[must_use]
    pub const fn position(self) -> usize {
        match self {
            Self::Adaptive => 0,
            Self::IncreasinglyMinimal => 1,
            Self::HighBias => 2,
        }
    }

    /// The mode with a number of Aries; `None` if it is not one of these.
    #[must_use]
    pub fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| *mode as u8 == number)
    }

    /// Its name in the paper.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "ADAPTIVE_0",
            Self::IncreasinglyMinimal => "ADAPTIVE_1",
            Self::HighBias => "ADAPTIVE_3",
        }
    }

    /// The side that it is on.
    #[must_use]
    pub const fn side(self) -> Side {
        match self {
            Self::Adaptive | Self::IncreasinglyMinimal => Side::Default,
            Self::HighBias => Side::HighBias,
        }
    }
}

/// The two sides that the policies choose between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What Cray MPI does: ADAPTIVE_0, and ADAPTIVE_1 for all-to-all.
    Default,
    /// ADAPTIVE_3.
    HighBias,
}

impl Side {
    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Default => Self::HighBias,
            Self::HighBias => Self::Default,
        }
    }

    /// The mode of a message on this side.
    #[must_use]
    pub const fn mode(self, message: Message) -> Mode {
        match self {
            Self::HighBias => Mode::HighBias,
            Self::Default if message.alltoall => Mode::IncreasinglyMinimal,
            Self::Default => Mode::Adaptive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_put_has_five_flits_for_each_full_packet() {
        for (bytes, packets, flits) in [(64, 1, 5), (4096, 64, 320), (16_384, 256, 1280), (4 << 20, 65_536, 327_680)] {
            assert_eq!(Message::put(bytes).size(), Size { packets, flits }, "{bytes} bytes");
        }
    }

    #[test]
    fn the_last_packet_of_a_put_has_only_the_flits_it_needs() {
        for (bytes, packets, flits) in [(0, 1, 2), (1, 1, 2), (16, 1, 2), (17, 1, 3), (65, 2, 7), (128, 2, 10)] {
            assert_eq!(Message::put(bytes).size(), Size { packets, flits }, "{bytes} bytes");
        }
    }

    #[test]
    fn a_get_has_one_flit_for_each_packet() {
        let get = |bytes| Message { operation: Operation::Get, ..Message::put(bytes) }.size();
        assert_eq!(get(4096), Size { packets: 64, flits: 64 });
        assert_eq!(get(0), Size { packets: 1, flits: 1 });
    }

    #[test]
    fn the_largest_message_does_not_overflow() {
        assert_eq!(Message::put(u64::MAX).size(), Size { packets: 1 << 58, flits: 5 << 58 });
    }

    #[test]
    fn an_all_to_all_replaces_the_default_mode_only() {
        let alltoall = Message { alltoall: true, ..Message::put(1) };
        assert_eq!(Side::Default.mode(Message::put(1)), Mode::Adaptive);
        assert_eq!(Side::Default.mode(alltoall), Mode::IncreasinglyMinimal);
        assert_eq!(Side::HighBias.mode(alltoall), Mode::HighBias);
    }
}
