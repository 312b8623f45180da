//! The congestion metric: what routings know of the load of a port.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FabricSpec, LinkSpec, Spec};

/// The congestion metric of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensing {
    /// The kind of metric.
    pub kind: MetricKind,
    /// How much later than a credit the routing learns of it, by link class; 0 if absent. (Phantom congestion,
    /// De Sensi 2019, section 2.2: flow control knows the room at once.)
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub delay_ps: BTreeMap<String, u64>,
    /// Number of levels in which the routing knows loads, each an equal step of the buffer; exact loads if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
}

/// The load of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricKind {
    /// The packets that are queued for it here.
    #[default]
    Backlog,
    /// The bytes that it has sent and that are not known to have left the next router.
    Credits,
    /// The sum of the two.
    Both,
    /// The packets that wait here and are not sent, and `Credits`.
    Occupancy,
    /// The bytes in its output buffers, in a router with a crossbar.
    OutputBuffer,
    /// The bytes in its output buffer of channel 0 whose sending has not begun, in a router with a crossbar.
    OutputCredits,
    /// Nothing.
    None,
}

impl MetricKind {
    /// Whether it reads the output buffers of routers with crossbars.
    #[must_use]
    pub fn reads_output_buffers(self) -> bool {
        matches!(self, Self::OutputBuffer | Self::OutputCredits)
    }
}

impl Spec {
    /// The fabric for routings that compare a load with a buffer: the buffer of a class is the one that the metric
    /// reads.
    #[must_use]
    pub fn sensed_fabric(&self) -> Cow<'_, FabricSpec> {
        match self.fabric.router {
            Some(router) if self.sensing.kind.reads_output_buffers() => {
                let mut fabric = self.fabric.clone();
                fabric.links.values_mut().for_each(|link| link.buffer_bytes = router.output_buffer_bytes);
                Cow::Owned(fabric)
            }
            _ => Cow::Borrowed(&self.fabric),
        }
    }
}

impl Sensing {
    /// The bytes of buffers of a link that are the range of the levels: those of all channels that the metric reads.
    #[must_use]
    pub fn range_bytes(&self, fabric: &FabricSpec, link: &LinkSpec) -> u64 {
        let channels = if self.kind == MetricKind::OutputCredits { 1 } else { u64::from(fabric.channels) };
        let buffer = fabric.router.filter(|_| self.kind.reads_output_buffers());
        channels * buffer.map_or(link.buffer_bytes, |router| router.output_buffer_bytes)
    }

    /// Whether this is the default, which is not written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
