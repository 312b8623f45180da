//! Shortest ways only: to a cable between the two groups, across it, and on to the destination's router. Which cables count
//! as shortest is said by the routing's `gateways`.

use super::Pick;
use crate::routing::Grain;
use crate::spec::Select;

/// The routing.
#[derive(Clone, Debug)]
pub struct Minimal {
    /// How one of several ways is picked.
    pub pick: Pick,
    /// What packets of one way share.
    pub grain: Grain,
}

impl Minimal {
    pub(super) fn new(select: Select) -> Self {
        Self { pick: pick(select), grain: Grain::of(select) }
    }
}

/// How ways are picked.
pub(super) fn pick(select: Select) -> Pick {
    match select {
        Select::Random | Select::Hash => Pick::Random,
        Select::LeastLoaded => Pick::LeastLoaded,
    }
}
