//! A policy: the threshold that all policies with counters share (D15), and the choice among them.

use crate::app_aware::AppAware;
use crate::bandit::Bandit;
use crate::hysteresis::Hysteresis;
use crate::library::Library;
use crate::{Counters, Message, Mode, Side};

/// The policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Always the default mode: ADAPTIVE_0, and ADAPTIVE_1 for all-to-all.
    Default,
    /// Always ADAPTIVE_3.
    HighBias,
    /// What the library of the authors does.
    AppAware,
    /// Algorithm 1 as the paper describes it, with learned factors.
    AppAwareContinuous,
    /// Algorithm 1 that does not oscillate.
    AppAwareHysteresis,
    /// A bandit that explores.
    Bandit,
}

impl Kind {
    /// All policies.
    pub const ALL: [Self; 6] = [
        Self::Default,
        Self::HighBias,
        Self::AppAware,
        Self::AppAwareContinuous,
        Self::AppAwareHysteresis,
        Self::Bandit,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::HighBias => "high-bias",
            Self::AppAware => "app-aware",
            Self::AppAwareContinuous => "app-aware-continuous",
            Self::AppAwareHysteresis => "app-aware-h",
            Self::Bandit => "bandit",
        }
    }

    /// The policy of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The numbers of a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Messages are sent with high bias, and no counter is read, until more than so many bytes have added up:
    /// 4 KiB (De Sensi 2019, section 4.2).
    pub threshold_bytes: u64,
    /// Decisions after which an observation is too old: 64, assumed.
    pub sample_age: u32,
    /// Initial ratio of the latencies, high bias to default: 0.8, assumed.
    pub lambda: f64,
    /// Initial ratio of the stalls, high bias to default: 1.3, assumed.
    pub sigma: f64,
    /// `app-aware-h`: the share of the time that a change must save: 0.05, assumed.
    pub margin: f64,
    /// `app-aware-h`: observed messages between two changes: 8, assumed.
    pub dwell: u32,
    /// `bandit`: the seed of its random numbers.
    pub seed: u64,
    /// `bandit`: NICs with the same seed and different streams draw different numbers.
    pub stream: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threshold_bytes: 4096,
            sample_age: 64,
            lambda: 0.8,
            sigma: 1.3,
            margin: 0.05,
            dwell: 8,
            seed: 0,
            stream: 0,
        }
    }
}

impl Settings {
    /// The first number that is out of range: its name, and the range in words.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let ratio = |x: f64| (1.0 / 1024.0..=1024.0).contains(&x);
        for (valid, name, range) in [
            (self.sample_age > 0, "sample_age", "at least 1"),
            (ratio(self.lambda), "lambda", "from 1/1024 to 1024"),
            (ratio(self.sigma), "sigma", "from 1/1024 to 1024"),
            ((0.0..1.0).contains(&self.margin), "margin", "at least 0 and less than 1"),
        ] {
            if !valid {
                return Err((name, range));
            }
        }
        Ok(())
    }
}

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The routing mode to send it with.
    pub mode: Mode,
    /// Whether to read counters for [`Policy::observe`]: those of this message, or right after it was posted those of the
    /// whole NIC ([`Policy::reads_nic`]). Reading costs time, so it is not asked for below the threshold, nor by a policy
    /// that never changes the mode.
    pub observe: bool,
}

#[derive(Clone, Debug)]
enum Brain {
    Fixed(Side),
    Library(Library),
    AppAware(AppAware),
    Hysteresis(Hysteresis),
    Bandit(Bandit),
}

/// A policy with its state. A NIC, or a process, has its own.
#[derive(Clone, Debug)]
pub struct Policy {
    brain: Brain,
    threshold_bytes: u64,
    /// Bytes since the last decision.
    bytes: u64,
}

impl Policy {
    /// A policy that has seen nothing.
    ///
    /// # Errors
    /// If a number is out of range: its name, and the range in words.
    pub fn new(kind: Kind, settings: &Settings) -> Result<Self, (&'static str, &'static str)> {
        settings.check()?;
        let brain = match kind {
            Kind::Default => Brain::Fixed(Side::Default),
            Kind::HighBias => Brain::Fixed(Side::HighBias),
            Kind::AppAware => Brain::Library(Library::new(settings.threshold_bytes)),
            Kind::AppAwareContinuous => Brain::AppAware(AppAware::new(settings)),
            Kind::AppAwareHysteresis => Brain::Hysteresis(Hysteresis::new(settings)),
            Kind::Bandit => Brain::Bandit(Bandit::new(settings)),
        };
        Ok(Self { brain, threshold_bytes: settings.threshold_bytes, bytes: 0 })
    }

    /// The mode of the next message. Call it once for each message, in the order of sending.
    pub fn select(&mut self, message: Message) -> Decision {
        if let Brain::Fixed(side) = self.brain {
            return Decision { mode: side.mode(message), observe: false };
        }
        if let Brain::Library(brain) = &mut self.brain {
            let (side, observe) = brain.select(message);
            return Decision { mode: side.mode(message), observe };
        }
        self.bytes = self.bytes.saturating_add(message.bytes);
        if self.bytes <= self.threshold_bytes {
            return Decision { mode: Mode::HighBias, observe: false };
        }
        self.bytes = 0;
        let size = message.size();
        let side = match &mut self.brain {
            Brain::Fixed(_) | Brain::Library(_) => unreachable!("they have returned"),
            Brain::AppAware(brain) => brain.decide(size),
            Brain::Hysteresis(brain) => brain.decide(size),
            Brain::Bandit(brain) => brain.decide(size),
        };
        Decision { mode: side.mode(message), observe: true }
    }

    /// Whether the policy observes what its NIC has counted since it was read before, for all messages, and reads right
    /// after a message was posted. The others observe what was counted for a message, when it is complete.
    #[must_use]
    pub const fn reads_nic(&self) -> bool {
        matches!(self.brain, Brain::Library(_))
    }

    /// What the counters counted for a message that was sent with `mode`, or for the NIC ([`reads_nic`](Self::reads_nic);
    /// then the mode says nothing). Counters without a packet are ignored.
    pub fn observe(&mut self, mode: Mode, counters: Counters) {
        let Some(sample) = counters.sample() else { return };
        match &mut self.brain {
            Brain::Fixed(_) => {}
            Brain::Library(brain) => brain.observe(sample),
            Brain::AppAware(brain) => brain.observe(mode.side(), sample),
            Brain::Hysteresis(brain) => brain.observe(mode.side(), sample),
            Brain::Bandit(brain) => brain.observe(mode.side(), sample),
        }
    }

    /// The present ratios of latency and of stalls, high bias to default: lambda and sigma. `None` for a policy without.
    #[must_use]
    pub fn factors(&self) -> Option<(f64, f64)> {
        match &self.brain {
            Brain::AppAware(brain) => Some(brain.factors()),
            Brain::Hysteresis(brain) => Some(brain.factors()),
            Brain::Fixed(_) | Brain::Library(_) | Brain::Bandit(_) => None,
        }
    }
}
