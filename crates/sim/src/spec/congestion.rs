//! Congestion control between NICs (docs/model.md, section 3).

use serde::{Deserialize, Serialize};

/// NICs that acknowledge each packet, and whose windows towards destinations follow the marks of switches. All sizes are
/// in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CongestionSpec {
    /// How acknowledgements change a window.
    pub law: CongestionLaw,
    /// First and largest window of a pair of NICs, in payload; at least a full packet.
    pub window_bytes: u64,
    /// A switch marks a packet whose output has more work than so many bytes; no switch marks when absent. Not with
    /// `receiver-credit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_above_bytes: Option<u64>,
}

/// How acknowledgements change the window of a pair of NICs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionLaw {
    /// At once what is on the way without a queue; only ports to nodes mark (De Sensi 2020; assumed).
    Slingshot,
    /// DCTCP (Alizadeh 2010).
    EcnWindow,
    /// The sender-based control of Ultra Ethernet.
    Nscc {
        /// The wait in queues that senders aim at.
        target_ps: u64,
    },
    /// The receiver holds acknowledgements back until it is the sender's turn (receiver credits of Ultra Ethernet).
    ReceiverCredit {
        /// Most payload that a receiver asks for ahead of its arrival.
        ahead_bytes: u64,
    },
}
