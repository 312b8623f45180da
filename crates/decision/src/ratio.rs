//! A ratio between the two sides, as the median of what was seen.

/// Observed ratios that are kept. Assumed: the paper takes a median over microbenchmarks and gives no number.
const KEPT: usize = 15;
/// A ratio is kept between `1 / MOST` and `MOST`, so that it can be multiplied and divided by. Assumed.
const MOST: f64 = 1024.0;

/// The median of the last ratios. It begins with copies of the initial value, so one outlier does not move it.
#[derive(Clone, Debug)]
pub struct Ratio {
    kept: [f64; KEPT],
    next: usize,
}

impl Ratio {
    pub fn new(initial: f64) -> Self {
        Self { kept: [initial.clamp(1.0 / MOST, MOST); KEPT], next: 0 }
    }

    /// The median.
    pub fn value(&self) -> f64 {
        let mut sorted = self.kept;
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[KEPT / 2]
    }

    /// Takes in `above / below`, if they say anything: two zeros do not.
    pub fn learn(&mut self, above: f64, below: f64) {
        if above == 0.0 && below == 0.0 {
            return;
        }
        // A division by zero is infinite, which the limit catches.
        self.kept[self.next] = (above / below).clamp(1.0 / MOST, MOST);
        self.next = (self.next + 1) % KEPT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_value_holds_until_most_ratios_are_learned() {
        let mut ratio = Ratio::new(0.8);
        for learned in 1..=KEPT {
            ratio.learn(1.0, 2.0);
            assert_eq!(ratio.value(), if learned <= KEPT / 2 { 0.8 } else { 0.5 }, "after {learned}");
        }
    }

    #[test]
    fn outliers_do_not_move_it_and_old_ratios_are_forgotten() {
        let mut ratio = Ratio::new(1.0);
        for i in 0..100 {
            ratio.learn(if i % 3 == 0 { 1e9 } else { 3.0 }, 1.0);
        }
        assert_eq!(ratio.value(), 3.0);
    }

    #[test]
    fn zeros_are_ratios_within_the_limits() {
        let mut ratio = Ratio::new(1.0);
        for _ in 0..KEPT {
            ratio.learn(0.0, 0.0);
        }
        assert_eq!(ratio.value(), 1.0);
        for _ in 0..KEPT {
            ratio.learn(5.0, 0.0);
        }
        assert_eq!(ratio.value(), MOST);
        for _ in 0..KEPT {
            ratio.learn(0.0, 5.0);
        }
        assert_eq!(ratio.value(), 1.0 / MOST);
    }
}
