//! Rarely used data of an output VC. Most output VCs never wait, so a log is made when it is first written.

use super::Chain;
use crate::engine::prefetch;

/// Rarely used data of an output VC.
#[derive(Clone, Copy, Debug, Default)]
pub struct VcLog {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Since when a packet waits.
    pub waits_since: u64,
    /// Total time of earlier waits.
    pub waited: u64,
    /// The packets that wait.
    pub chain: Chain,
}

impl VcLog {
    /// Whether anything is in it.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.packets > 0 || self.waits_since > 0 || self.waited > 0 || !self.chain.is_empty()
    }
}

/// The logs of all virtual channels.
pub struct Logs {
    /// For each virtual channel the number of its log, or 0.
    numbers: Vec<u32>,
    /// By number. The first is empty.
    logs: Vec<VcLog>,
}

impl Logs {
    /// Logs for this number of virtual channels.
    #[must_use]
    pub fn new(vcs: usize) -> Self {
        Self { numbers: vec![0; vcs], logs: vec![VcLog::default()] }
    }

    /// The log of a virtual channel.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, vc: usize) -> &VcLog {
        &self.logs[self.numbers[vc] as usize]
    }

    /// The log of a virtual channel, to be written.
    #[inline(always)]
    pub fn get_mut(&mut self, vc: usize) -> &mut VcLog {
        if self.numbers[vc] == 0 {
            self.add(vc);
        }
        &mut self.logs[self.numbers[vc] as usize]
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, vc: usize) {
        self.numbers[vc] = self.logs.len() as u32;
        self.logs.push(VcLog::default());
    }

    /// All logs that were written.
    pub fn written(&self) -> impl Iterator<Item = &VcLog> {
        self.logs.iter()
    }

    /// Prefetches the log of a virtual channel.
    #[inline(always)]
    pub fn prefetch(&self, vc: usize) {
        prefetch(&self.logs, self.numbers[vc] as usize);
    }
}
