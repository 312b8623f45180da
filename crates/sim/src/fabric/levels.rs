//! Loads that routings know in levels only (docs/model.md, section 6, "Levels").

use crate::spec::{FabricSpec, Sensing};

/// The levels of all links of a run.
pub struct Levels {
    /// How many there are.
    count: u64,
    /// By link class: the load of full buffers.
    full: Vec<u64>,
}

impl Levels {
    /// The levels of a run, if loads are not known exactly.
    #[must_use]
    pub fn new(sensing: &Sensing, fabric: &FabricSpec, classes: &[&str]) -> Option<Self> {
        let full = |class: &&str| {
            let link = &fabric.links[*class];
            link.bandwidth.serialisation_ps(sensing.range_bytes(fabric, link))
        };
        sensing.levels.map(|count| Self { count: count.into(), full: classes.iter().map(full).collect() })
    }

    /// What is known of the load of a port whose link has this class: the least load of its level.
    #[inline]
    #[must_use]
    pub fn known(&self, class: u8, load: u64) -> u64 {
        let full = self.full[usize::from(class)];
        if load >= full {
            return Self::part(full, self.count - 1, self.count);
        }
        Self::part(full, Self::part(self.count, load, full), self.count)
    }

    /// `of * part / whole`, rounded down; `part` is less than `whole`.
    #[inline]
    fn part(of: u64, part: u64, whole: u64) -> u64 {
        (u128::from(of) * u128::from(part) / u128::from(whole)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(count: u64, full: u64, load: u64) -> u64 {
        Levels { count, full: vec![1, full] }.known(1, load)
    }

    #[test]
    fn loads_are_rounded_down_to_equal_steps_of_the_buffers() {
        let of_four = [0, 249, 250, 499, 500, 750, 999, 1_000, u64::MAX].map(|load| known(4, 1_000, load));
        assert_eq!(of_four, [0, 0, 250, 250, 500, 750, 750, 750, 750]);
        assert_eq!([0, 332, 333, 334, 666, 667].map(|load| known(3, 1_000, load)), [0, 0, 0, 333, 333, 666]);
        assert!([0, 5, 1_000, u64::MAX].iter().all(|&load| known(1, 1_000, load) == 0), "one level says nothing");
    }

    #[test]
    fn as_many_levels_as_picoseconds_are_exact_below_full_buffers() {
        for full in [1, 7, 1_000, (1 << 32) - 1] {
            for load in (0..full).step_by((full / 100 + 1) as usize) {
                assert_eq!(known(full, full, load), load);
            }
        }
    }
}
