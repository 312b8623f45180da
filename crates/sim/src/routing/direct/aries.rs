//! The routing modes of Cray's Aries.
//!
//! Adaptive modes compare two minimal and two non-minimal paths at each router of the source group, as PAR does. A
//! packet that stays in its group may go through a random router; it decides at its first router. The modes differ in a
//! bias towards minimal paths: none, growing with the hops so far, low, high. Hash modes do not look at loads: all
//! packets of a message take one path (`min-hash`, `nmin-hash`), or all packets of a pair of nodes (`in-order`).
//!
//! Source: De Sensi 2019, section 2.2 (D6, D7). The values of the biases are not public; ours are assumed
//! (docs/model.md). The paths that the hash modes choose from are assumed as well.

use odonata_error::{Error, Path};

use super::adaptive::{Adaptive, Bias};
use super::minimal::Minimal;
use super::valiant::Valiant;
use super::{AnyDirectAlgorithm, Pick};
use crate::routing::PathGranularity;
use crate::spec::{AriesMode, RoutingSpec};

/// Weight of a non-minimal path, in thousandths: it is about twice as long.
const FACTOR_MILLI: u64 = 2000;

pub(super) fn of(routing: &RoutingSpec, _: &Path) -> Result<Option<AnyDirectAlgorithm>, Error> {
    let RoutingSpec::Aries { mode, bias_low_bytes, bias_high_bytes, .. } = *routing else { return Ok(None) };
    let adaptive = |bias_bytes| {
        AnyDirectAlgorithm::Adaptive(Adaptive {
            minimal_candidates: 2,
            other_candidates: 2,
            factor_milli: FACTOR_MILLI,
            bias_bytes,
            bias: Vec::new(),
            global: false,
            progressive: true,
            at_router: false,
            inside: true,
        })
    };
    let minimal = |granularity| AnyDirectAlgorithm::Minimal(Minimal { pick: Pick::Random, granularity });
    Ok(Some(match mode {
        AriesMode::Adaptive0 => adaptive(Bias::Constant(0)),
        AriesMode::Adaptive1 => adaptive(Bias::Growing(bias_high_bytes)),
        AriesMode::Adaptive2 => adaptive(Bias::Constant(bias_low_bytes)),
        AriesMode::Adaptive3 => adaptive(Bias::Constant(bias_high_bytes)),
        AriesMode::MinHash => minimal(PathGranularity::Message),
        AriesMode::InOrder => minimal(PathGranularity::Flow),
        AriesMode::NminHash => AnyDirectAlgorithm::Valiant(Valiant {
            pick: Pick::Random,
            granularity: PathGranularity::Message,
            at_router: false,
            inside: true,
        }),
    }))
}
