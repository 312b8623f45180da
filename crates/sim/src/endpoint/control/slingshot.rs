//! Slingshot, as far as it is public (De Sensi 2020); the law and its numbers are assumed.

use super::{Answer, Control, LONGEST_PAUSE, Window, scaled};

/// A window can be this part of a packet.
const PARTS: u64 = 1024;

/// Least delays after which a silent pair forgets its marks.
const MEMORY: u64 = 4;

/// The least delay, and when the last acknowledgement came.
pub(super) const FIRST: [u64; 3] = [u64::MAX, 0, 0];

pub(super) fn acknowledge(control: &Control, window: &mut Window, answer: &Answer) {
    let news = Control::is_news(window, answer);
    let [least, last, _] = &mut window.law;
    *last = answer.at;
    *least = answer.delay.min(*least);
    if !news {
        return;
    }
    if answer.marked {
        let fair = scaled(window.bytes, 2 * *least, answer.delay.max(1));
        let least_cut = window.bytes - window.bytes / 8;
        window.bytes = fair.max(window.bytes / 2).min(least_cut).max(control.full.div_ceil(PARTS));
        window.since = answer.at;
    } else {
        let bytes = u64::from(answer.bytes);
        let step = match answer.delay < *least + *least / 2 {
            true => bytes.min(window.bytes) / 4,
            false => bytes.min(control.full * bytes / window.bytes) / 8,
        };
        window.bytes = (window.bytes + step + 1).min(control.most);
    }
    if window.bytes < control.full {
        let pause = scaled(*least, control.full - window.bytes, window.bytes).min(LONGEST_PAUSE);
        window.pause_end = answer.at + pause;
    }
}

/// Whether a pair with nothing on the way sends at `now` so long after its last acknowledgement and pause that it forgets
/// its marks.
pub(super) fn is_over(window: &Window, now: u64) -> bool {
    let [least, last, _] = window.law;
    now - last.max(window.pause_end) > least.saturating_mul(MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{CongestionLaw, CongestionSpec};

    #[test]
    fn a_mark_leaves_what_keeps_a_short_queue_and_less_than_a_packet_pauses() {
        let spec = CongestionSpec { law: CongestionLaw::Slingshot, window_bytes: 65_536, mark_above_bytes: Some(1) };
        let control = Control::new(&spec, 4_096);
        let mut window = control.first();
        let mut answer = |at, delay, marked| {
            acknowledge(
                &control,
                &mut window,
                &Answer { to: 0, bytes: 4_096, at, delay, marked, named: crate::observe::OWN },
            );
            (window.bytes, window.pause_end)
        };
        assert_eq!(answer(1_000, 1_000, false), (65_536, 0));
        assert_eq!(answer(4_000, 3_000, true), (43_690, 0), "two thirds: the delay is three times the least");
        assert_eq!(answer(12_000, 8_000, true), (21_845, 0), "at most a half less");
        assert_eq!(answer(12_100, 900, true), (21_845, 0), "it left before the window changed");
        assert_eq!(answer(13_000, 1_000, false), (21_845 + 1_025, 0), "no queue: a quarter of a packet");
        assert_eq!(answer(15_000, 1_500, false), (22_870 + 92, 0), "a queue: an eighth of a packet in a round trip");
        assert_eq!(answer(16_000, 1_000, true), (22_962 - 2_870, 0), "at least an eighth less");
        assert_eq!(answer(30_000, 9_000, true).0, 10_046);
        assert_eq!(answer(40_000, 9_000, true), (5_023, 0));
        assert_eq!(answer(50_000, 9_000, true), (2_511, 50_000 + 900 * 1_585 / 2_511), "less than a packet: a pause");
    }

    #[test]
    fn a_pair_that_was_silent_for_four_least_delays_forgets_its_marks() {
        let spec = CongestionSpec { law: CongestionLaw::Slingshot, window_bytes: 65_536, mark_above_bytes: Some(1) };
        let control = Control::new(&spec, 4_096);
        let mut window = control.first();
        assert!(!control.recover(&mut window, 1 << 50), "there is no delay yet, and nothing to forget");
        let answer = Answer { to: 0, bytes: 4_096, at: 8_000, delay: 1_000, marked: false, named: 0 };
        acknowledge(&control, &mut window, &answer);
        acknowledge(&control, &mut window, &Answer { at: 30_000, delay: 20_000, marked: true, ..answer });
        let pause = 30_000 + window.pause_end.saturating_sub(30_000);
        assert!(!control.recover(&mut window, pause + 4_000));
        assert!(window.bytes < 65_536);
        assert!(control.recover(&mut window, pause + 4_001));
        assert_eq!(window.bytes, 65_536);
    }
}
