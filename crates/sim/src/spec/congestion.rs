//! Congestion control between NICs (docs/model.md, section 3), and the list of its laws.

use odonata_error::{Error, ErrorKind, Path, path};
use serde::{Deserialize, Serialize};

use super::FabricSpec;
use super::check::{MAX_BUFFER_BYTES, MAX_DELAY_PS, MAX_WINDOW_BYTES, range};
use super::options::{OptionInfo, Values, check_option, option, table};

table! {
    /// NICs that acknowledge each packet, and whose windows towards destinations follow the marks of switches. All sizes
    /// are in bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CongestionSpec {
        /// How acknowledgements change a window.
        law: CongestionLaw,
        /// First and largest window from a NIC to another one, in payload; at least a full packet.
        window_bytes: u64 = 1..=MAX_WINDOW_BYTES,
        /// A switch marks packets whose output has about this much work: none behind less than half of it, all behind more
        /// than three halves. No switch marks when absent. Only with laws that have marks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark_above_bytes: Option<u64> = 0..=MAX_BUFFER_BYTES,
    }
}

/// Which output ports of switches mark packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkingPorts {
    /// None.
    None,
    /// Those to nodes.
    ToNodes,
    /// All.
    All,
}

/// What an acknowledgement says beside the mark of its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Nothing.
    None,
    /// How many NICs have more for the one that answers.
    Senders,
    /// How many routers the packet has visited, from which its time without a queue follows.
    Hops,
    /// It comes when it is the sender's turn.
    Turn,
}

/// What the list says of a law.
#[derive(Clone, Copy, Debug)]
pub struct LawInfo {
    /// Its name in a specification.
    pub name: &'static str,
    /// What it does, and its source.
    pub about: &'static str,
    /// Which ports mark.
    pub marking: MarkingPorts,
    /// Its options.
    pub options: &'static [OptionInfo],
}

/// Makes the specification of all laws, and [`CONGESTION_LAWS`]. An option is a number with its range; one in bytes is at
/// least a full packet.
macro_rules! laws {
    ($(
        $(#[doc = $about:literal])+
        $Name:ident = $name:literal, marks $marking:ident, says $says:ident
            $({ $( $(#[doc = $doc:literal])+ $field:ident: u64 = $least:literal..=$most:expr, )+ })?
    )+) => {
        /// How acknowledgements change the window of a pair of NICs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum CongestionLaw {
            $( $(#[doc = $about])+ #[serde(rename = $name)] $Name $({ $( $(#[doc = $doc])+ $field: u64, )+ })?, )+
        }

        /// All laws.
        pub const CONGESTION_LAWS: &[LawInfo] = &[$( LawInfo {
            name: $name,
            about: concat!($($about),+),
            marking: MarkingPorts::$marking,
            options: &[$($( option!(concat!($($doc),+), $field, u64, $least, $most) ),+)?],
        } ),+];

        impl CongestionLaw {
            /// The names and descriptions of all laws.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$( ($name, concat!($($about),+)) ),+];

            /// Its name in a specification.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $( Self::$Name { .. } => $name, )+ }
            }

            /// Which ports mark.
            #[must_use]
            pub fn marking(&self) -> MarkingPorts {
                match self { $( Self::$Name { .. } => MarkingPorts::$marking, )+ }
            }

            /// What acknowledgements say.
            #[must_use]
            pub fn feedback(&self) -> Feedback {
                match self { $( Self::$Name { .. } => Feedback::$says, )+ }
            }

            /// Its options with their values.
            #[must_use]
            pub fn options(&self) -> Vec<(&'static str, u64)> {
                match self { $( Self::$Name $({ $($field),+ })? => vec![$($( (stringify!($field), *$field) ),+)?], )+ }
            }

            /// Refuses numbers out of their ranges. `at` is the path of its options.
            fn check_ranges(&self, at: &Path) -> Result<(), Error> {
                match self {
                    $( Self::$Name $({ $($field),+ })? => { $($( check_option!(at, $field, $field, $least, $most); )+)? } )+
                }
                let _ = at;
                Ok(())
            }
        }
    };
}

laws! {
    /// Senders into a long queue of a node are held back, at once and pair by pair, to equal shares. Source: De Sensi 2020;
    /// the law is assumed.
    Slingshot = "slingshot", marks ToNodes, says Senders
    /// Switches mark packets, and windows follow the share of marks as in DCTCP. Source: Alizadeh 2010.
    EcnWindow = "ecn-window", marks All, says None
    /// Marks and delays, as the sender-based control of Ultra Ethernet. Source: Ultra Ethernet Specification 1.0 (NSCC).
    Nscc = "nscc", marks All, says Hops {
        /// Wait in queues that senders aim at.
        target_ps: u64 = 1..=MAX_DELAY_PS,
    }
    /// After a first window the receiver says who sends next: it holds acknowledgements back. Source: Ultra Ethernet
    /// Specification 1.0 (RCCC).
    ReceiverCredit = "receiver-credit", marks None, says Turn {
        /// Most bytes that a receiver asks for ahead of their arrival.
        ahead_bytes: u64 = 1..=MAX_WINDOW_BYTES,
    }
}

impl super::options::Described for CongestionLaw {
    const VALUES: Values = Values::Names(Self::NAMES);
}

impl FabricSpec {
    /// Refuses congestion control beside other windows, windows that hold no full packet, and marks that no port makes.
    pub(super) fn check_congestion_control(&self) -> Result<(), Error> {
        let Some(control) = self.congestion_control else { return Ok(()) };
        let at = path!["fabric", "congestion_control"];
        if self.nic.aries.is_some() || self.nic.window_bytes.is_some() {
            return Err(ErrorKind::TwoWindows {}.at(at));
        }
        let of_law = at.join("law").join(control.law.name());
        let sizes = control.law.options().into_iter().filter(|(name, _)| name.ends_with("_bytes"));
        let sizes = sizes.map(|(name, found)| (of_law.join(name), found));
        for (at, found) in [(at.join("window_bytes"), control.window_bytes)].into_iter().chain(sizes) {
            range(&at, found, self.packet_bytes.into(), MAX_WINDOW_BYTES)?;
        }
        control.check_ranges(&at)?;
        control.law.check_ranges(&of_law)?;
        if control.mark_above_bytes.is_some() && control.law.marking() == MarkingPorts::None {
            return Err(ErrorKind::MarksOfNoPort { law: control.law.name() }.at(at.join("mark_above_bytes")));
        }
        Ok(())
    }
}
