//! Slingshot, as far as it is public (De Sensi 2020); the law and its numbers are assumed.

use super::{Answer, Control, LONGEST_PAUSE, Window, scaled};

/// A window can be this part of a packet.
const PARTS: u64 = 1024;

/// The least delay.
pub(super) const FIRST: [u64; 3] = [u64::MAX, 0, 0];

pub(super) fn acknowledge(control: &Control, window: &mut Window, answer: &Answer) {
    let news = Control::is_news(window, answer);
    let least = &mut window.law[0];
    *least = answer.delay.min(*least);
    if !news {
        return;
    }
    if answer.marked {
        let fair = scaled(window.bytes, 2 * *least, answer.delay.max(1));
        window.bytes = fair.min(window.bytes - window.bytes / 8).max(control.full.div_ceil(PARTS));
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
        assert_eq!(answer(9_000, 8_000, true), (16_384, 0), "a quarter: the delay is eight times the least");
        assert_eq!(answer(9_100, 900, true), (16_384, 0), "it left before the window changed");
        assert_eq!(answer(10_000, 1_000, false), (16_384 + 1_025, 0), "no queue: a quarter of a packet");
        assert_eq!(answer(12_000, 1_500, false), (17_409 + 121, 0), "a queue: an eighth of a packet in a round trip");
        assert_eq!(answer(13_000, 1_000, true), (17_530 - 2_191, 0), "at least an eighth less");
        assert_eq!(answer(30_000, 9_000, true), (3_067, 30_000 + 900 * 1_029 / 3_067), "less than a packet: a pause");
    }
}
