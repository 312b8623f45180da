//! What of a lane is rarely needed. Most lanes have never had to wait and need none, so a log is made when it is first
//! written.

use super::Chain;
use crate::engine::prefetch;

/// What of a lane is rarely needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct VcLog {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Since when something waits.
    pub waits_since: u64,
    /// Time during which something waited before.
    pub waited: u64,
    /// The packets that wait.
    pub chain: Chain,
}

/// The logs of all lanes.
pub struct Logs {
    /// For each lane the number of its log; 0 for one that has none.
    numbers: Vec<u32>,
    /// By number. The first is an empty one.
    logs: Vec<VcLog>,
}

impl Logs {
    /// Logs of so many lanes.
    #[must_use]
    pub fn new(vcs: usize) -> Self {
        Self { numbers: vec![0; vcs], logs: vec![VcLog::default()] }
    }

    /// The log of a lane.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, vc: usize) -> &VcLog {
        &self.logs[self.numbers[vc] as usize]
    }

    /// The log of a lane, to be written.
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

    /// Starts to bring the log of a lane into the cache.
    #[inline(always)]
    pub fn ask(&self, vc: usize) {
        prefetch(&self.logs, self.numbers[vc] as usize);
    }
}
