//! Traffic between groups by window of time (K21).

use crate::spec::MAX_ARRIVAL_COUNTS;

/// Traffic between groups: row-major `[window][job][group]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// Width of a window; 0 if nothing was counted.
    pub every_ps: u64,
    /// Packets that came into the group on a global link.
    pub packets_in: Vec<u64>,
    /// Their bytes.
    pub bytes_in: Vec<u64>,
    /// Packets sent to another group.
    pub packets_out: Vec<u64>,
    /// Their bytes.
    pub bytes_out: Vec<u64>,
}

impl Arrivals {
    fn columns(&mut self) -> [&mut Vec<u64>; 4] {
        [&mut self.packets_in, &mut self.bytes_in, &mut self.packets_out, &mut self.bytes_out]
    }
}

/// Counts by window, job and group.
pub struct ArrivalCounts {
    every_ps: u64,
    jobs: usize,
    groups: usize,
    counts: Arrivals,
}

impl ArrivalCounts {
    /// No traffic.
    #[must_use]
    pub fn new(every_ps: u64, jobs: usize, groups: usize) -> Self {
        Self { every_ps, jobs, groups, counts: Arrivals { every_ps, ..Arrivals::default() } }
    }

    /// Counts a packet that enters (`inwards`) or leaves a group. Returns false if there are too many windows.
    pub fn count(&mut self, now: u64, job: u16, group: u16, bytes: u32, inwards: bool) -> bool {
        let window = now / self.every_ps;
        let row = u128::from(window) * (self.jobs * self.groups) as u128;
        if row >= u128::from(MAX_ARRIVAL_COUNTS) {
            return false;
        }
        let entry = row as usize + usize::from(job) * self.groups + usize::from(group);
        let counts = &mut self.counts;
        if entry >= counts.packets_in.len() {
            let entries = (window as usize + 1) * self.jobs * self.groups;
            counts.columns().into_iter().for_each(|column| column.resize(entries, 0));
        }
        let (packets, total) = if inwards {
            (&mut counts.packets_in, &mut counts.bytes_in)
        } else {
            (&mut counts.packets_out, &mut counts.bytes_out)
        };
        packets[entry] += 1;
        total[entry] += u64::from(bytes);
        true
    }

    /// Takes over what another partition has counted.
    pub fn absorb(&mut self, mut other: Self) {
        for (to, of) in self.counts.columns().into_iter().zip(other.counts.columns()) {
            to.resize(to.len().max(of.len()), 0);
            to.iter_mut().zip(of).for_each(|(to, of)| *to += *of);
        }
    }

    /// The columns.
    #[must_use]
    pub fn into_output(self) -> Arrivals {
        self.counts
    }
}
