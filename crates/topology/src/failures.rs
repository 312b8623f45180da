//! Links and routers that do not work.

use serde::{Deserialize, Serialize};

/// What has failed. A failed link is dead in both directions, a failed router with all its links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// One end of each failed cable between routers: `[router, port]`. Naming both ends is the same as naming one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<[u32; 2]>,
    /// Failed routers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<u32>,
}

impl Failures {
    /// Whether everything works.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.links.is_empty() && self.routers.is_empty()
    }
}
