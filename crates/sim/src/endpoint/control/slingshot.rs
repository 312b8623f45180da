//! Slingshot, as far as it is public (De Sensi 2020); the law and its numbers are assumed.

use super::{Answer, Control, LONGEST_PAUSE, Window, scaled};

/// A window can be this part of a packet.
const PARTS: u64 = 1024;

pub(super) fn acknowledge(control: &Control, window: &mut Window, answer: &Answer) {
    if !Control::is_news(window, answer) {
        return;
    }
    if answer.marked {
        window.bytes = (window.bytes.min(2 * control.full) / 2).max(control.full.div_ceil(PARTS));
        window.since = answer.at;
    } else {
        window.bytes = (window.bytes + window.bytes / 8 + 1).min(control.most);
    }
    if window.bytes < control.full {
        let pause = scaled(answer.delay, control.full - window.bytes, window.bytes).min(LONGEST_PAUSE);
        window.pause_end = answer.at + pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{CongestionLaw, CongestionSpec};

    #[test]
    fn a_mark_leaves_one_packet_then_half_of_one_and_the_pair_pauses() {
        let spec = CongestionSpec { law: CongestionLaw::Slingshot, window_bytes: 65_536, mark_above_bytes: 1 };
        let control = Control::new(&spec, 4_096);
        let mut window = control.first();
        let mut answer = |at, delay, marked| {
            acknowledge(&control, &mut window, &Answer { to: 0, bytes: 4_096, at, delay, marked });
            (window.bytes, window.pause_end)
        };
        assert_eq!(answer(1_000, 1_000, true), (4_096, 0));
        assert_eq!(answer(1_100, 900, true), (4_096, 0), "it left before the window changed");
        assert_eq!(answer(3_000, 2_000, true), (2_048, 5_000), "half a packet: as long a pause as the delay");
        assert_eq!(answer(7_000, 2_000, false), (2_048 + 257, 7_000 + 2_000 * (4_096 - 2_305) / 2_305));
        for _ in 0..100 {
            answer(9_000, 0, true);
        }
        assert_eq!(answer(9_010, 10, true), (4, 9_010 + 10 * 1_023));
    }
}
