//! Messages issued and delivered by slice of time (docs/model.md, section 9), which show whether a job's backlog grows.

/// Most slices. If a time lies beyond the last slice, pairs of slices are merged.
pub const SLICES: usize = 128;

/// Messages issued and delivered by slice of time: columns of equal length, one row per slice from time 0 on.
///
/// The width is the least power of two for which there are at most 128 rows.
///
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Width of a slice; 0 if no message was issued.
    pub width_ps: u64,
    /// Messages issued in the slice.
    pub issued: Vec<u64>,
    /// Sum of their issue times.
    pub issue_sum_ps: Vec<u128>,
    /// Messages delivered in the slice.
    pub delivered: Vec<u64>,
    /// Sum of their delivery times.
    pub delivery_sum_ps: Vec<u128>,
}

/// Counts by slice. They are sums, so the order of counting does not matter.
#[derive(Debug, Default)]
pub struct Slices {
    /// A slice is 2^shift picoseconds wide.
    shift: u32,
    slices: Vec<Slice>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    issued: u64,
    delivered: u64,
    issue_sum: u128,
    delivery_sum: u128,
}

impl Slices {
    /// Counts messages that are issued at `now`.
    #[inline]
    pub fn issue(&mut self, messages: u64, now: u64) {
        let slice = self.at(now);
        slice.issued += messages;
        slice.issue_sum += u128::from(messages) * u128::from(now);
    }

    /// Counts a message that is delivered at `now`.
    #[inline]
    pub fn deliver(&mut self, now: u64) {
        let slice = self.at(now);
        slice.delivered += 1;
        slice.delivery_sum += u128::from(now);
    }

    #[inline]
    fn at(&mut self, now: u64) -> &mut Slice {
        if now >> self.shift >= self.slices.len() as u64 {
            self.grow(now);
        }
        &mut self.slices[(now >> self.shift) as usize]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, now: u64) {
        let mut shift = self.shift;
        while now >> shift >= SLICES as u64 {
            shift += 1;
        }
        self.widen(shift);
        self.slices.resize((now >> self.shift) as usize + 1, Slice::default());
    }

    /// Adds the counts of others.
    pub fn merge(&mut self, mut others: Self) {
        let shift = self.shift.max(others.shift);
        self.widen(shift);
        others.widen(shift);
        let most = self.slices.len().max(others.slices.len());
        self.slices.resize(most, Slice::default());
        self.slices.iter_mut().zip(others.slices).for_each(|(slice, other)| *slice = both(*slice, other));
    }

    /// Merges slices until they are 2^`shift` picoseconds wide.
    fn widen(&mut self, shift: u32) {
        while self.shift < shift {
            self.shift += 1;
            self.slices = self.slices.chunks(2).map(|pair| pair.iter().copied().fold(Slice::default(), both)).collect();
        }
    }

    /// The columns.
    #[must_use]
    pub fn into_output(self) -> Backlog {
        if self.slices.is_empty() {
            return Backlog::default();
        }
        Backlog {
            width_ps: 1 << self.shift,
            issued: self.slices.iter().map(|slice| slice.issued).collect(),
            issue_sum_ps: self.slices.iter().map(|slice| slice.issue_sum).collect(),
            delivered: self.slices.iter().map(|slice| slice.delivered).collect(),
            delivery_sum_ps: self.slices.iter().map(|slice| slice.delivery_sum).collect(),
        }
    }
}

fn both(a: Slice, b: Slice) -> Slice {
    Slice {
        issued: a.issued + b.issued,
        delivered: a.delivered + b.delivered,
        issue_sum: a.issue_sum + b.issue_sum,
        delivery_sum: a.delivery_sum + b.delivery_sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times from 0 to beyond many doublings, not in order of time.
    fn times() -> Vec<u64> {
        (0..4_000_u64).map(|k| (k * 2_654_435_761) % 5_003 * (k % 7 + 1) * 1_001).collect()
    }

    #[test]
    fn the_order_of_counting_does_not_matter_and_the_width_is_the_least() {
        let mut ascending = times();
        ascending.sort_unstable();
        let counted = |times: &[u64]| {
            let mut slices = Slices::default();
            for &t in times {
                slices.issue(2, t);
                slices.deliver(t + 77);
            }
            slices.into_output()
        };
        let (one, other) = (counted(&times()), counted(&ascending));
        assert_eq!(one, other);
        let latest = ascending.last().unwrap() + 77;
        assert!(one.width_ps.is_power_of_two());
        assert!(latest / one.width_ps < SLICES as u64 && latest / (one.width_ps / 2) >= SLICES as u64);
        assert_eq!(one.issued.len() as u64, latest / one.width_ps + 1);
        assert_eq!(one.issued.iter().sum::<u64>(), 2 * ascending.len() as u64);
        let sum: u128 = ascending.iter().map(|&t| u128::from(t)).sum();
        assert_eq!(one.issue_sum_ps.iter().sum::<u128>(), 2 * sum);
        assert_eq!(one.delivery_sum_ps.iter().sum::<u128>(), sum + 77 * ascending.len() as u128);
    }

    #[test]
    fn merging_is_counting_both() {
        let counted = |times: &[u64]| {
            let mut slices = Slices::default();
            times.iter().for_each(|&t| slices.issue(1 + t % 3, t));
            times.iter().for_each(|&t| slices.deliver(t + 5));
            slices
        };
        let all = times();
        for cut in [0, 1, 40, all.len()] {
            for (one, other) in [(&all[..cut], &all[cut..]), (&all[cut..], &all[..cut])] {
                let mut merged = counted(one);
                merged.merge(counted(other));
                assert_eq!(merged.into_output(), counted(&all).into_output());
            }
        }
    }

    #[test]
    fn nothing_gives_no_slice_and_time_zero_gives_one() {
        assert_eq!(Slices::default().into_output(), Backlog::default());
        let mut slices = Slices::default();
        slices.issue(3, 0);
        let backlog = slices.into_output();
        assert_eq!((backlog.width_ps, backlog.issued, backlog.delivered), (1, vec![3], vec![0]));
    }
}
