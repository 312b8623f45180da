//! Counters of a link's channel.

/// Packets and bytes sent, and the time for which packets waited.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Packets sent.
    pub(crate) packets: u64,
    /// Bytes sent.
    pub(crate) bytes: u64,
    stalled: u64,
    since: Option<u64>,
}

impl Flow {
    /// Counts a packet.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }

    /// Records at time `t` whether a packet waits for room from now on.
    pub(crate) fn watch(&mut self, t: u64, waits: bool) {
        match self.since {
            None if waits => self.since = Some(t),
            Some(since) if !waits => {
                self.stalled += t - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// Time for which a packet waited, up to `end`.
    pub(crate) fn stalled(&self, end: u64) -> u64 {
        self.stalled + self.since.map_or(0, |since| end.saturating_sub(since))
    }
}
