//! The sender-based control of Ultra Ethernet: four cases by mark and delay (Ultra Ethernet Specification 1.0).

use super::{Answer, Control, Law, Window};

/// Part of a new delay in the mean.
const GAIN: u64 = 16;

/// The law.
pub(super) struct Nscc {
    /// Wait in queues that senders aim at.
    pub(super) target_ps: u64,
}

impl Law for Nscc {
    /// The mean wait in queues.
    const FIRST: [u64; 3] = [0; 3];

    fn acknowledge(&self, control: &Control, window: &mut Window, answer: &Answer) {
        let target = self.target_ps;
        let new = Control::is_after_latest_change(window, answer);
        let mean = &mut window.law[0];
        let queued = answer.delay.saturating_sub(answer.zero_load);
        *mean = if queued >= *mean { *mean + (queued - *mean) / GAIN } else { *mean - (*mean - queued) / GAIN };
        let (mean, step) = (*mean, answer.bytes * control.full);
        match (answer.marked, queued < target) {
            (false, true) => {
                let parts =
                    u128::from(step) * u128::from(target - queued) / (u128::from(target) * u128::from(window.bytes));
                window.bytes = (window.bytes + u64::try_from(parts).unwrap_or(u64::MAX)).min(control.most);
            }
            (false, false) => window.bytes = (window.bytes + step / (8 * window.bytes)).min(control.most),
            (true, true) => {}
            (true, false) if mean > target && new => {
                let cut = (8 * u128::from(mean - target)).min(5 * u128::from(mean));
                let less = u128::from(window.bytes) * cut / (10 * u128::from(mean));
                window.bytes = (window.bytes - u64::try_from(less).unwrap_or(0)).max(control.full);
                window.since = answer.at;
            }
            (true, false) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{CongestionLaw, CongestionSpec};

    #[test]
    fn marks_and_delays_have_four_cases() {
        let law = CongestionLaw::Nscc { target_ps: 1_000 };
        let control = Control::new(&CongestionSpec { law, window_bytes: 100_000, mark_above_bytes: Some(1) }, 1_000, 0);
        let mut window = Window { bytes: 10_000, ..control.first() };
        let mut answer = |at, delay, marked| {
            control.acknowledge(
                &mut window,
                &Answer {
                    to: 0,
                    bytes: 1_000,
                    of_packet: 1_000,
                    at,
                    delay,
                    zero_load: 2_000,
                    marked,
                    named: crate::observe::OWN,
                    says: 0,
                    asks: true,
                },
            );
            window.bytes
        };
        assert_eq!(answer(10_000, 2_000, false), 10_100, "no queue: in proportion to the whole target");
        assert_eq!(answer(11_000, 2_500, false), 10_149, "half of the target");
        assert_eq!(answer(12_000, 3_500, false), 10_161, "above the target: an eighth");
        assert_eq!(answer(13_000, 2_400, true), 10_161, "a mark without a queue");
        assert_eq!(answer(14_000, 4_000, true), 10_161, "the mean is below the target still");
        for at in 0..200 {
            answer(100_000 + 50_000 * at, 42_000, true);
        }
        assert_eq!(answer(30_000_000, 42_000, true), 1_000, "one packet is the least");
    }
}
