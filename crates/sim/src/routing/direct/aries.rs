//! The routing modes of Cray's Aries.
//!
//! Adaptive modes compare two shortest ways and two ways round at each router of the source group, as PAR does; a packet that
//! stays in its group may go by way of a random router, decided at its first router. The modes differ in a bias towards
//! shortest ways: none, growing on the way, low, high. Hash modes do not look at loads: one way for each message
//! (`min-hash`, `nmin-hash`), or one for each pair of nodes (`in-order`).
//!
//! Source: De Sensi 2019, section 2.2 (D6, D7). The values of the biases are not public; ours are assumed
//! (docs/model.md). Which ways hash modes hash by is assumed as well.

use super::adaptive::{Adaptive, biases};
use super::minimal::Minimal;
use super::valiant::Valiant;
use super::{Mode, Pick, Ways};
use crate::routing::Grain;
use crate::spec::{AriesMode, FabricSpec};

/// Weight of a way round, in thousandths: it is about twice as long.
const FACTOR_MILLI: u64 = 2000;

/// The routing of a mode; the biases of `adaptive-2` and `adaptive-3` are given in bytes.
pub(super) fn mode(mode: AriesMode, [low, high]: [u64; 2], ways: &Ways, fabric: &FabricSpec) -> Mode {
    let adaptive = |bias: Vec<u64>| {
        Mode::Adaptive(Adaptive {
            minimal_candidates: 2,
            other_candidates: 2,
            factor_milli: FACTOR_MILLI,
            bias: bias.into_iter().map(|bytes| biases(ways, fabric, bytes)).collect(),
            global: false,
            progressive: true,
            at_router: false,
            inside: true,
        })
    };
    let minimal = |grain| Mode::Minimal(Minimal { pick: Pick::Random, grain });
    match mode {
        AriesMode::Adaptive0 => adaptive(vec![0]),
        AriesMode::Adaptive1 => {
            let last = u64::from(ways.machine().diameter());
            adaptive((0..=last).map(|hop| high * hop / last.max(1)).collect())
        }
        AriesMode::Adaptive2 => adaptive(vec![low]),
        AriesMode::Adaptive3 => adaptive(vec![high]),
        AriesMode::MinHash => minimal(Grain::Message),
        AriesMode::InOrder => minimal(Grain::Flow),
        AriesMode::NminHash => {
            Mode::Valiant(Valiant { pick: Pick::Random, grain: Grain::Message, at_router: false, inside: true })
        }
    }
}
