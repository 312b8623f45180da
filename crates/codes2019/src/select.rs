//! The choice of one of several ports in CODES of 2019.

use odonata_sim::engine::random::{below32, packet_random};

/// The random numbers of one decision of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRandom {
    /// Key of the packet.
    pub(crate) key: u32,
    /// Routers visited before.
    pub(crate) hop: u8,
}

/// Indices of random numbers, one for each purpose of a decision.
pub(crate) const MINIMAL: u8 = 0;
/// See [`MINIMAL`].
pub(crate) const NON_MINIMAL: u8 = 8;
/// See [`MINIMAL`].
pub(crate) const LEAST: u8 = 16;

impl PacketRandom {
    fn below(self, k: u8, n: usize) -> usize {
        below32(packet_random(self.key, self.hop, k), n as u32) as usize
    }

    /// Any element of a list with at least one.
    pub(crate) fn any(self, mut list: impl Iterator<Item = u32> + Clone, k: u8) -> u32 {
        let n = list.clone().count();
        list.nth(self.below(k, n)).expect("a list with at least one element")
    }

    /// The "least-scored" element, with the defect that gives the published numbers: a scan keeps every element whose
    /// score is at most the best *so far*, does not drop one that is beaten later, and draws among all that it kept.
    /// The first element is always among them.
    pub(crate) fn running_minima(
        self,
        list: impl Iterator<Item = u32> + Clone,
        score: impl Fn(u32) -> u64 + Copy,
        k: u8,
    ) -> u32 {
        let kept = list.scan(u64::MAX, move |best, element| {
            let s = score(element);
            let keep = s <= *best;
            *best = s.min(*best);
            Some(keep.then_some(element))
        });
        self.any(kept.flatten(), k)
    }

    /// The least-scored element without that defect: any of the minima.
    pub(crate) fn minima(
        self,
        list: impl Iterator<Item = u32> + Clone,
        score: impl Fn(u32) -> u64 + Copy,
        k: u8,
    ) -> u32 {
        let least = list.clone().map(score).min().expect("a list with at least one element");
        self.any(list.filter(move |&element| score(element) == least), k)
    }

    /// Any element that passes the test, if there is one.
    pub(crate) fn passing(
        self,
        list: impl Iterator<Item = u32> + Clone,
        passes: impl Fn(u32) -> bool + Copy,
        k: u8,
    ) -> Option<u32> {
        let good = list.filter(move |&e| passes(e));
        good.clone().next().is_some().then(|| self.any(good, k))
    }

    /// The better of two elements drawn with replacement; in a tie the first drawn.
    pub(crate) fn better_of_two(
        self,
        list: impl Iterator<Item = u32> + Clone,
        score: impl Fn(u32) -> u64,
        k: u8,
    ) -> u32 {
        let n = list.clone().count();
        let first = self.below(k, n);
        let second = (first + self.below(k + 1, n)) % n;
        let [a, b] = [first, second].map(|at| list.clone().nth(at).expect("both are in the list"));
        if score(b) < score(a) { b } else { a }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of the elements 0.. is chosen by `choose` in 10,000 decisions, in whole percent.
    fn shares(n: usize, choose: impl Fn(PacketRandom) -> u32) -> Vec<u32> {
        let mut counts = vec![0; n];
        for key in 0..10_000 {
            counts[choose(PacketRandom { key, hop: 2 }) as usize] += 1;
        }
        counts.into_iter().map(|c| (c + 50) / 100).collect()
    }

    fn close(shares: &[u32], expected: &[u32]) {
        let near = |(a, b): (&u32, &u32)| a.abs_diff(*b) <= 2 && (*b > 0 || *a == 0);
        assert!(shares.iter().zip(expected).all(near), "{shares:?} instead of {expected:?}");
    }

    #[test]
    fn running_minima_keep_what_is_beaten_later() {
        let cases: [(&[u64], &[u32]); 5] = [
            (&[5, 3, 4, 3, 1], &[25, 25, 0, 25, 25]), // 5, 3, 3 and 1 were best so far; 4 never was
            (&[0, 0, 1, 0], &[33, 33, 0, 33]),
            (&[1, 2, 3], &[100, 0, 0]),
            (&[9, 0, 0, 0], &[25, 25, 25, 25]), // the first is always kept, even if it is full
            (&[7], &[100]),
        ];
        for (scores, expected) in cases {
            let list: Vec<u32> = (0..scores.len() as u32).collect();
            close(
                &shares(list.len(), |d| d.running_minima(list.iter().copied(), |e| scores[e as usize], LEAST)),
                expected,
            );
        }
    }

    #[test]
    fn minima_are_drawn_alike() {
        let scores = [5, 3, 4, 3, 9];
        close(&shares(5, |d| d.minima(0..5, |e| scores[e as usize], LEAST)), &[0, 50, 0, 50, 0]);
    }

    #[test]
    fn two_are_drawn_with_replacement() {
        // Element 0 is the worse: it is taken only if it is drawn twice, a quarter of the time.
        close(&shares(2, |d| d.better_of_two([0, 1].into_iter(), |e| 9 - u64::from(e), MINIMAL)), &[25, 75]);
        // In a tie the first drawn, so both are equally likely.
        close(&shares(2, |d| d.better_of_two([0, 1].into_iter(), |_| 3, MINIMAL)), &[50, 50]);
    }

    #[test]
    fn passing_is_uniform_among_those_that_pass() {
        let list = 0..4;
        close(&shares(4, |d| d.passing(list.clone(), |e| e % 2 == 1, NON_MINIMAL).expect("two pass")), &[0, 50, 0, 50]);
        assert_eq!(PacketRandom { key: 1, hop: 0 }.passing(list, |_| false, MINIMAL), None);
    }
}
