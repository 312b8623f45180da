//! Slingshot, as far as it is public (De Sensi 2020; US patents 12,218,829 and 12,267,229); the law and its numbers are
//! assumed.

use super::{Answer, Control, Law, Window, scaled};

/// Part of a packet by which a window grows with each answer without a mark.
const GROWTH: u64 = 16;
/// Rounds after which a silent pair forgets its marks.
const MEMORY: u64 = 4;
/// Longest pause.
const LONGEST_PAUSE: u64 = 1 << 40;

/// The law; it has no options.
pub(super) struct Slingshot;

impl Law for Slingshot {
    /// When the last answer came, and when the latest packet was sent, with how much payload.
    const FIRST: [u64; 3] = [0; 3];

    fn acknowledge(&self, control: &Control, window: &mut Window, answer: &Answer) {
        window.law[0] = answer.at;
        let share = (control.most / u64::from(answer.says)).max(1);
        window.bytes = if answer.marked {
            window.bytes.min(share)
        } else {
            let step = answer.bytes.min(window.bytes) / GROWTH;
            (window.bytes.max(share) + step).min(control.most)
        };
        pace(control, window);
    }

    fn sent(&self, control: &Control, window: &mut Window, in_flight: u64, bytes: u64, now: u64) {
        let silent_since = window.law[0].max(window.pause_end);
        if in_flight == 0 && now - silent_since > control.round.saturating_mul(MEMORY) {
            window.bytes = control.most;
        }
        window.law[1..].copy_from_slice(&[now, bytes]);
        pace(control, window);
    }

    /// A queue shorter than a round slows nobody.
    fn room(&self, control: &Control, window: &Window) -> u64 {
        window.bytes.saturating_mul(2).min(control.most)
    }
}

/// A pair sends its window in a round: says when it sends again.
fn pace(control: &Control, window: &mut Window) {
    let [_, last, bytes] = window.law;
    let pause = || scaled(control.round, bytes, window.bytes).min(LONGEST_PAUSE);
    window.pause_end = if window.bytes < control.most { last + pause() } else { 0 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{CongestionLaw, CongestionSpec};

    /// Windows of 64,000 bytes, packets of 4,000 that take 100 ps: a round of 1,600 ps.
    fn control() -> Control {
        let law = CongestionLaw::Slingshot;
        Control::new(&CongestionSpec { law, window_bytes: 64_000, mark_above_bytes: Some(1) }, 4_000, 100)
    }

    fn answer(at: u64, marked: bool, says: u32) -> Answer {
        Answer {
            to: 0,
            bytes: 4_000,
            of_packet: 4_000,
            at,
            delay: 1_000,
            zero_load: 0,
            marked,
            named: 0,
            says,
            asks: true,
        }
    }

    #[test]
    fn a_mark_leaves_a_share_that_is_sent_in_a_round_and_others_that_end_leave_theirs() {
        let control = control();
        let mut window = control.first();
        control.sent(&mut window, 0, 4_000, 5_000);
        let mut come = |at, marked, says| {
            control.acknowledge(&mut window, &answer(at, marked, says));
            (window.bytes, window.pause_end)
        };
        assert_eq!(come(6_000, false, 4), (64_000, 0), "no mark, and the largest window: no pause");
        assert_eq!(come(6_100, true, 4), (16_000, 5_000 + 400), "a packet of four in a round");
        assert_eq!(come(6_200, true, 2), (16_000, 5_400), "a mark never widens");
        assert_eq!(come(6_300, false, 4), (16_250, 5_393), "a sixteenth of a packet more");
        assert_eq!(come(6_400, false, 2).0, 32_250, "two have ended");
        assert_eq!(come(6_500, true, 64), (1_000, 5_000 + 6_400), "less than a packet: once in four rounds");
        assert_eq!(come(6_600, true, 1_000_000), (1, 5_000 + 6_400_000), "a byte is the least");
        assert_eq!(come(6_700, false, 1), (64_000, 0), "the others have ended");
    }

    #[test]
    fn there_is_room_for_two_windows_and_not_more_than_the_largest() {
        let control = control();
        let mut window = control.first();
        assert!(control.has_room(&window, 60_000) && !control.has_room(&window, 60_001));
        window.bytes = 10_000;
        assert!(control.has_room(&window, 16_000) && !control.has_room(&window, 16_001));
        window.bytes = 1;
        assert!(control.has_room(&window, 0) && !control.has_room(&window, 1), "a packet at least");
    }

    #[test]
    fn a_pair_that_was_silent_for_four_rounds_forgets_its_marks() {
        let control = control();
        let mut window = control.first();
        control.sent(&mut window, 0, 4_000, 1_000);
        control.acknowledge(&mut window, &answer(2_000, true, 32));
        assert_eq!((window.bytes, window.pause_end), (2_000, 4_200));
        let at = |now, in_flight| {
            let mut window = window;
            control.sent(&mut window, in_flight, 4_000, now);
            window.bytes
        };
        assert_eq!([at(10_600, 0), at(10_601, 1), at(10_601, 0)], [2_000, 2_000, 64_000]);
    }
}
