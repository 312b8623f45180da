//! Lists of ports, as all routings see them.

use crate::engine::random::{below32, packet_random};

/// An ordered list of ports of one router, ascending.
#[derive(Clone, Copy, Debug)]
pub struct Ports<'a> {
    base: u16,
    len: u16,
    form: Form<'a>,
}

/// The form of a list of ports.
#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    /// Consecutive ports; from element `hole` on, a number is skipped.
    Range { hole: u16, skip: u16 },
    /// At these offsets from the base.
    List(&'a [u16]),
    /// At the offsets of these bits.
    Mask(u64),
}

impl<'a> Ports<'a> {
    /// No port.
    pub const NONE: Self = Self { base: 0, len: 0, form: Form::Range { hole: 0, skip: 0 } };

    /// `len` ports from `base` on.
    #[inline(always)]
    #[must_use]
    pub fn range(base: u16, len: u16) -> Self {
        Self { base, len, form: Form::Range { hole: len, skip: 0 } }
    }

    /// The ports from `base` up to `end`, without those of `without`.
    #[inline(always)]
    #[must_use]
    pub fn range_without(base: u16, end: u16, without: std::ops::Range<u16>) -> Self {
        let skip = without.end - without.start;
        Self { base, len: end - base - skip, form: Form::Range { hole: without.start - base, skip } }
    }

    /// The ports at the given offsets from `base`.
    #[inline(always)]
    #[must_use]
    pub fn list(base: u16, offsets: &'a [u16]) -> Self {
        Self { base, len: offsets.len() as u16, form: Form::List(offsets) }
    }

    /// The ports at the offsets of the bits of `mask` from `base`.
    #[must_use]
    pub fn mask(base: u16, mask: u64) -> Self {
        Self { base, len: mask.count_ones() as u16, form: Form::Mask(mask) }
    }

    /// The number of ports.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> u16 {
        self.len
    }

    /// Whether there are none.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The port at a position.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: u16) -> u16 {
        debug_assert!(index < self.len);
        match self.form {
            Form::Range { hole, skip } => self.base + index + if index >= hole { skip } else { 0 },
            Form::List(offsets) => self.base + offsets[usize::from(index)],
            Form::Mask(mut mask) => {
                for _ in 0..index {
                    mask &= mask - 1;
                }
                self.base + mask.trailing_zeros() as u16
            }
        }
    }

    /// The ports as one range, if they are consecutive.
    #[inline(always)]
    #[must_use]
    pub fn as_range(&self) -> Option<std::ops::Range<usize>> {
        let neighbours = matches!(self.form, Form::Range { hole, .. } if hole >= self.len);
        neighbours.then(|| usize::from(self.base)..usize::from(self.base) + usize::from(self.len))
    }

    /// The ports as one range with the positions in it that do not belong to them, if they are consecutive otherwise.
    #[inline(always)]
    #[must_use]
    pub fn as_range_with_hole(&self) -> Option<(std::ops::Range<usize>, std::ops::Range<u16>)> {
        let Form::Range { hole, skip } = self.form else { return None };
        let first = usize::from(self.base);
        Some((first..first + usize::from(self.len) + usize::from(skip), hole..hole + skip))
    }

    /// All ports.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..self.len).map(|i| self.get(i))
    }

    /// A random port, uniformly.
    #[inline(always)]
    #[must_use]
    pub fn any(&self, key: u32, hop: u8, base: u8) -> u16 {
        self.get(self.position_of(key, hop, base))
    }

    /// A random position, uniformly.
    #[inline(always)]
    #[must_use]
    pub fn position_of(&self, key: u32, hop: u8, k: u8) -> u16 {
        below32(packet_random(key, hop, k), u32::from(self.len)) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ports() {
        assert_eq!(Ports::range(3, 2).iter().collect::<Vec<_>>(), [3, 4]);
        assert_eq!(Ports::range_without(2, 8, 4..6).iter().collect::<Vec<_>>(), [2, 3, 6, 7]);
        assert_eq!(Ports::range_without(2, 5, 2..5).len(), 0);
        assert_eq!(Ports::list(10, &[0, 3]).iter().collect::<Vec<_>>(), [10, 13]);
        assert_eq!(Ports::mask(10, 0b1010_0001).iter().collect::<Vec<_>>(), [10, 15, 17]);
    }
}
