//! What the ranks of a program send to each other in one iteration, without regard to time.

use odonata_error::{Error, ErrorKind, path};

use crate::trace::Action;
use crate::{Op, Pair, Program};

/// Most pairs that are listed (assumed: some gigabytes of memory).
const MOST_PAIRS: u64 = 1 << 26;

impl Program {
    /// The bytes and messages of every pair of different ranks that exchanges messages, in ascending order.
    ///
    /// # Errors
    /// If there are more than 2^26 pairs, or 2^32 messages of a pair.
    pub fn traffic(&self, ranks: u32) -> Result<Vec<Pair>, Error> {
        let mut all = Vec::new();
        let mut sends = Vec::new();
        for rank in 0..ranks {
            sends.clear();
            match self {
                Self::Phases(phases) => sends.extend(phases.ops(rank).filter_map(|op| match op {
                    Op::Send { to, bytes, .. } => Some((to, bytes, 1)),
                    _ => None,
                })),
                Self::Stages(staged) => sends.extend(staged.sends(rank)),
                Self::Trace(trace) => {
                    sends.extend(trace.graph(rank).operations().iter().filter_map(
                        |operation| match operation.action {
                            Action::Send { to, bytes, .. } => Some((to, bytes, 1)),
                            _ => None,
                        },
                    ));
                }
            }
            sends.sort_unstable_by_key(|&(to, ..)| to);
            for peer in sends.chunk_by(|a, b| a.0 == b.0).filter(|peer| peer[0].0 != rank) {
                let bytes = |&(_, bytes, times): &(u32, u64, u64)| bytes.saturating_mul(times);
                let bytes = peer.iter().map(bytes).fold(0, u64::saturating_add);
                let found = peer.iter().map(|&(.., times)| u128::from(times)).sum();
                let messages = u32::try_from(found).map_err(|_| {
                    let kind = ErrorKind::TooManyMessages { found, most: u32::MAX.into() };
                    kind.at(path!["body"])
                })?;
                all.push(Pair(rank, peer[0].0, bytes, messages));
            }
            if all.len() as u64 > MOST_PAIRS {
                return Err(
                    ErrorKind::OutOfRange { found: all.len() as u64, least: 0, most: MOST_PAIRS }.at(path!["body"])
                );
            }
        }
        Ok(all)
    }
}
