//! The waits of packets at their NICs: for the window, for room and for the link, always because of their own job.

use super::Wait;
use super::rows::Key;

/// For how long packets have waited at a NIC.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    window: u64,
    room: u64,
    link: u64,
    /// The job of its node.
    job: u16,
}

/// All NICs.
#[derive(Debug)]
pub(super) struct Sources {
    waits: Vec<Waits>,
    /// When each message under way joined the queue of its NIC, by its slot.
    joined: Vec<u64>,
    /// For how long each NIC has waited for its window, and since when it does if it does; empty without windows.
    windows: Vec<(u64, Option<u64>)>,
    /// For how long the NIC of each message under way had waited for its window when the message joined it, by the slot
    /// of the message; empty without windows.
    windows_before: Vec<u64>,
}

impl Sources {
    pub(super) fn new(nics: usize) -> Self {
        Self {
            waits: vec![Waits::default(); nics],
            joined: Vec::new(),
            windows: Vec::new(),
            windows_before: Vec::new(),
        }
    }

    /// A message joins the queue of a NIC.
    #[inline]
    pub(super) fn join(&mut self, message: usize, nic: usize, now: u64) {
        if message >= self.joined.len() {
            self.joined.resize(message + 1, 0);
        }
        self.joined[message] = now;
        if !self.windows.is_empty() {
            let before = self.waited_for_window(nic, now);
            self.windows_before.resize(self.joined.len(), 0);
            self.windows_before[message] = before;
        }
    }

    /// For how long a NIC has waited for its window.
    fn waited_for_window(&self, nic: usize, now: u64) -> u64 {
        self.windows.get(nic).map_or(0, |&(waited, since)| waited + since.map_or(0, |since| now - since))
    }

    /// The window of a NIC holds back the packet at the head from now on, or does not.
    pub(super) fn window(&mut self, nic: usize, full: bool, now: u64) {
        self.windows.resize(self.waits.len(), (0, None));
        let waited = self.waited_for_window(nic, now);
        self.windows[nic] = (waited, full.then_some(now));
    }

    /// For how long the packet at the head of a NIC has waited for the window, and for room, since its message joined.
    #[inline]
    pub(super) fn waited(&self, message: usize, nic: usize, now: u64) -> [u64; 2] {
        let since = now - self.joined[message];
        if self.windows.is_empty() {
            return [0, since];
        }
        let before = self.windows_before.get(message).copied().unwrap_or(0);
        let window = self.waited_for_window(nic, now) - before;
        [window, since - window]
    }

    /// A packet of the job of a NIC has waited for the window, for room and for the link.
    #[inline]
    pub(super) fn add(&mut self, nic: usize, job: u16, [window, room, link]: [u64; 3]) {
        let waits = &mut self.waits[nic];
        waits.job = job;
        waits.window += window;
        waits.room += room;
        waits.link += link;
    }

    /// Calls `attribute` with each NIC and wait.
    pub(super) fn finish(self, mut attribute: impl FnMut(usize, Key, u64)) {
        for (nic, &Waits { window, room, link, job }) in self.waits.iter().enumerate() {
            for (wait, ps) in [(Wait::Window, window), (Wait::SourceBuffer, room), (Wait::SourceLink, link)] {
                attribute(nic, (job, job, wait), ps);
            }
        }
    }
}
