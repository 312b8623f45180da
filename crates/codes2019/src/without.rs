//! Defects that are repaired (`compat_without`).

use odonata_sim::spec::Defect;

/// Whether each defect is repaired.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Without {
    pub(crate) running_minima: bool,
    pub(crate) nic_without_credits: bool,
    pub(crate) channel_priority: bool,
}

impl Without {
    /// Those of a specification.
    pub(crate) fn new(defects: &[Defect]) -> Self {
        Self {
            running_minima: defects.contains(&Defect::RunningMinima),
            nic_without_credits: defects.contains(&Defect::NicWithoutCredits),
            channel_priority: defects.contains(&Defect::ChannelPriority),
        }
    }
}
