//! Application-aware routing in a specification: the modes of its packets, and the policies that select them.

use odonata_decision::{Kind, Mode, Policy, Settings};

use super::{AriesMode, JobSpec, ModePolicy, RoutingSpec, Spec};

impl From<ModePolicy> for Kind {
    fn from(policy: ModePolicy) -> Self {
        match policy {
            ModePolicy::Default => Self::Default,
            ModePolicy::HighBias => Self::HighBias,
            ModePolicy::AppAware => Self::AppAware,
            ModePolicy::AppAwareContinuous => Self::AppAwareContinuous,
            ModePolicy::AppAwareH => Self::AppAwareHysteresis,
            ModePolicy::Bandit => Self::Bandit,
        }
    }
}

impl RoutingSpec {
    /// The routing of the packets of a message: this one, or the mode of Aries that a policy has selected.
    #[must_use]
    pub fn of_packets(&self, mode: Mode) -> Self {
        let Self::ApplicationAware { bias_high_bytes, gateways, .. } = *self else { return self.clone() };
        let (mode, bias_high_bytes) = match mode {
            Mode::Adaptive => (AriesMode::Adaptive0, 0),
            Mode::IncreasinglyMinimal => (AriesMode::Adaptive1, bias_high_bytes),
            Mode::HighBias => (AriesMode::Adaptive3, bias_high_bytes),
        };
        Self::Aries { mode, bias_low_bytes: 0, bias_high_bytes, gateways }
    }

    /// Whether one of its policies reads the counters of NICs.
    #[must_use]
    pub fn reads_nics(&self) -> bool {
        let Self::ApplicationAware { policy, then, .. } = self else { return false };
        [policy].into_iter().chain(then).any(|policy| *policy == ModePolicy::AppAware)
    }

    /// The mode of Aries that all its packets have, if policies know it.
    #[must_use]
    pub fn fixed_mode(&self) -> Option<Mode> {
        match self {
            Self::Aries { mode: AriesMode::Adaptive0, .. } => Some(Mode::Adaptive),
            Self::Aries { mode: AriesMode::Adaptive1, .. } => Some(Mode::IncreasinglyMinimal),
            Self::Aries { mode: AriesMode::Adaptive3, .. } => Some(Mode::HighBias),
            _ => None,
        }
    }
}

impl Spec {
    /// The routing of a job.
    #[must_use]
    pub fn routing_of<'s>(&'s self, job: &'s JobSpec) -> &'s RoutingSpec {
        job.routing.as_ref().unwrap_or(&self.routing)
    }

    /// The policies of each rank of a job in their turn, which select the mode of each message; none for another routing.
    ///
    /// # Panics
    /// If the specification was not checked.
    #[must_use]
    pub fn mode_policies(&self, job: usize) -> Vec<Vec<Policy>> {
        let RoutingSpec::ApplicationAware {
            policy,
            ref then,
            threshold_bytes,
            sample_age,
            latency_ratio_ppm,
            stall_ratio_ppm,
            margin_ppm,
            dwell,
            ..
        } = *self.routing_of(&self.jobs[job])
        else {
            return Vec::new();
        };
        let policies_of = |rank: usize| {
            let settings = Settings {
                threshold_bytes,
                sample_age,
                lambda: latency_ratio_ppm as f64 / 1e6,
                sigma: stall_ratio_ppm as f64 / 1e6,
                margin: f64::from(margin_ppm) / 1e6,
                dwell,
                seed: self.seed,
                stream: (job as u64) << 32 | rank as u64,
            };
            let new = |&policy: &ModePolicy| Policy::new(policy.into(), &settings).expect("the numbers were checked");
            [policy].iter().chain(then).map(new).collect()
        };
        (0..self.jobs[job].nodes.len()).map(policies_of).collect()
    }
}
