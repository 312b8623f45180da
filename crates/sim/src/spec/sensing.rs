//! What routings know of the load of a port.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The sensor of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensing {
    /// What is sensed.
    pub kind: MetricKind,
    /// How much later than a credit the information that it brings is known to routings, by link class; 0 if absent.
    /// (Phantom congestion, D8: the room for packets is known at once.)
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub delay_ps: BTreeMap<String, u64>,
}

/// What is sensed of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricKind {
    /// What is queued for it here.
    #[default]
    Backlog,
    /// What was sent by it and is not known to have left the next router.
    Credits,
    /// The sum of the two.
    Both,
    /// Nothing.
    None,
}

impl Sensing {
    /// Whether this is what a document means that does not say.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
