//! A histogram of latencies with exact counts and narrow bins.

/// Bits of a value that a bin keeps: bins are at most 1/1024 of their value wide.
const PRECISION_BITS: u32 = 10;
const SUB: usize = 1 << PRECISION_BITS;
/// Bins of a block. A block exists only if one of its bins is not empty, so a job with few messages needs little
/// memory: a run may have tens of thousands of jobs.
const BLOCK: usize = 64;

/// Counts of values in bins that grow with the value: exact below 2,048 ps, at most 0.1 % wide above.
/// Count, sum, minimum and maximum are exact. Merging is addition, so the order of recording does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Values recorded.
    pub count: u64,
    /// Sum of all values.
    pub sum: u128,
    /// Smallest value; 0 if there is none.
    pub min: u64,
    /// Largest value; 0 if there is none.
    pub max: u64,
    blocks: Vec<Option<Box<[u64; BLOCK]>>>,
}

/// Index of the bin of a value.
fn bin_of(value: u64) -> usize {
    let bits = 64 - value.leading_zeros();
    let shift = bits.saturating_sub(PRECISION_BITS + 1);
    shift as usize * SUB + (value >> shift) as usize
}

/// Smallest value of a bin.
fn lower_edge(bin: usize) -> u64 {
    let shift = (bin / SUB).saturating_sub(1);
    ((bin - shift * SUB) as u64) << shift
}

impl Histogram {
    /// Records one value.
    pub fn record(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        let bin = bin_of(value);
        if bin / BLOCK >= self.blocks.len() {
            self.blocks.resize(bin / BLOCK + 1, None);
        }
        self.blocks[bin / BLOCK].get_or_insert_with(empty)[bin % BLOCK] += 1;
    }

    /// Adds the values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        if other.blocks.len() > self.blocks.len() {
            self.blocks.resize(other.blocks.len(), None);
        }
        for (block, more) in self.blocks.iter_mut().zip(&other.blocks) {
            if let Some(more) = more {
                let block = block.get_or_insert_with(empty);
                block.iter_mut().zip(more.iter()).for_each(|(count, more)| *count += more);
            }
        }
    }

    /// The non-empty bins: (smallest value, first value beyond, count), ascending.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let blocks = self.blocks.iter().enumerate().filter_map(|(index, block)| Some((index, block.as_deref()?)));
        let bins = blocks.flat_map(|(index, block)| (index * BLOCK..).zip(block));
        bins.filter(|&(_, &count)| count > 0).map(|(bin, &count)| (lower_edge(bin), lower_edge(bin + 1), count))
    }
}

fn empty() -> Box<[u64; BLOCK]> {
    Box::new([0; BLOCK])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_its_bin_and_bins_are_narrow() {
        let mut previous = 0;
        for exponent in 0..44 {
            for offset in [0_u64, 1, 77, 1023] {
                let value = (1_u64 << exponent) + (offset << exponent.max(10)) / 1024;
                let bin = bin_of(value);
                assert!(lower_edge(bin) <= value && value < lower_edge(bin + 1), "{value} in bin {bin}");
                assert!(lower_edge(bin + 1) - lower_edge(bin) <= 1 + value / 1024, "{value}");
                previous = previous.max(bin);
            }
        }
        for value in 0..5000 {
            assert!(bin_of(value + 1) - bin_of(value) <= 1, "bins are contiguous at {value}");
        }
    }

    #[test]
    fn merging_is_recording_both() {
        let of = |values: &[u64]| {
            let mut h = Histogram::default();
            values.iter().for_each(|&value| h.record(value));
            h
        };
        let (a, b) = ([7, 1 << 30], [3, 900_000, 1 << 31]);
        for (one, other) in [(&a[..], &b[..]), (&b, &a), (&[], &a), (&a, &[])] {
            let mut merged = of(one);
            merged.merge(&of(other));
            assert_eq!(merged, of(&[one, other].concat()));
        }
    }

    #[test]
    fn bins_are_those_of_the_values_in_ascending_order() {
        let mut h = Histogram::default();
        let values = [1_u64 << 40, 0, 63, 64, 2_047, 2_048, 64, 1 << 62];
        values.iter().for_each(|&value| h.record(value));
        let expected: Vec<_> = {
            let mut counts = std::collections::BTreeMap::new();
            values.iter().for_each(|&value| *counts.entry(bin_of(value)).or_insert(0) += 1);
            counts.into_iter().map(|(bin, count)| (lower_edge(bin), lower_edge(bin + 1), count)).collect()
        };
        assert_eq!(h.bins().collect::<Vec<_>>(), expected);
        assert!(h.blocks.iter().flatten().count() <= values.len(), "a value makes one block at most");
    }

    #[test]
    fn totals_are_exact() {
        let mut h = Histogram::default();
        for value in [5, 1_000_000, 3, 70_000] {
            h.record(value);
        }
        assert_eq!((h.count, h.sum, h.min, h.max), (4, 1_070_008, 3, 1_000_000));
        assert_eq!(h.bins().map(|(_, _, c)| c).sum::<u64>(), 4);
    }
}
