//! What messages cost the ranks that send and receive them.

use std::cell::Cell;

use crate::spec::{Costs, SizedCosts, sized};

/// The costs of messages.
///
/// Those of the sizes that were asked for last are kept, because the blocks of a vector differ by at most a byte.
pub struct MessageCosts {
    plain: Costs,
    /// What messages between nodes cost instead, by ascending size; may be empty.
    by_size: Vec<SizedCosts>,
    /// Of messages between nodes, by the last bit of the size.
    kept: [Cell<SizedCosts>; 2],
}

impl MessageCosts {
    /// The costs of a job; `by_size` is ascending.
    #[must_use]
    pub fn new(plain: Costs, by_size: &[SizedCosts]) -> Self {
        let by_size = by_size.to_vec();
        let kept = [0, 1].map(|bytes| Cell::new(between_nodes(&plain, &by_size, bytes)));
        Self { plain, by_size, kept }
    }

    /// Of a message of this size between two nodes.
    #[inline]
    #[must_use]
    pub fn between_nodes(&self, bytes: u64) -> SizedCosts {
        let kept = &self.kept[bytes as usize % 2];
        if kept.get().bytes != bytes {
            kept.set(between_nodes(&self.plain, &self.by_size, bytes));
        }
        kept.get()
    }

    /// Of a message of this size between two ranks of a node.
    #[must_use]
    pub fn in_node(&self, bytes: u64) -> SizedCosts {
        plain_costs(&self.plain, bytes, true)
    }
}

fn between_nodes(plain: &Costs, by_size: &[SizedCosts], bytes: u64) -> SizedCosts {
    // A size beyond the ends of the list has the costs of the end.
    sized(by_size, bytes)
        .map_or_else(|| plain_costs(plain, bytes, bytes <= plain.eager_bytes), |costs| SizedCosts { bytes, ..costs })
}

/// The costs that do not depend on the size, apart from copying.
fn plain_costs(plain: &Costs, bytes: u64, eager: bool) -> SizedCosts {
    let copy = if eager { plain.copy.map_or(0, |copy| copy.serialisation_ps(bytes)) } else { 0 };
    SizedCosts {
        bytes,
        send_ps: plain.send_ps.saturating_add(if eager { copy } else { plain.rendezvous_ps }),
        receive_ps: plain.receive_ps.saturating_add(copy),
        delay_ps: 0,
    }
}
