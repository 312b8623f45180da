//! DCTCP for each pair of NICs (Alizadeh 2010; RFC 8257).

use super::{Answer, Control, Law, Window};

/// One, as a share of marked bytes.
const ONE: u64 = 1 << 16;
/// Part of a new share in the mean: g of Alizadeh 2010.
const GAIN: u64 = 16;

/// The law; it has no options.
pub(super) struct EcnWindow;

impl Law for EcnWindow {
    /// The mean share of marked bytes, and the bytes acknowledged and marked in this round trip.
    const FIRST: [u64; 3] = [ONE, 0, 0];

    fn acknowledge(&self, control: &Control, window: &mut Window, answer: &Answer) {
        let round_trip_over = Control::is_after_latest_change(window, answer);
        let bytes_marked = if answer.marked { u64::from(answer.of_packet) } else { 0 };
        let [share, acknowledged, marked] = &mut window.law;
        *acknowledged += answer.bytes;
        *marked += bytes_marked;
        let unmarked = answer.bytes - bytes_marked;
        window.bytes = (window.bytes + control.full * unmarked / window.bytes).min(control.most);
        if round_trip_over {
            *share = *share - *share / GAIN + ONE * *marked / *acknowledged / GAIN;
            if *marked > 0 {
                window.bytes = (window.bytes - window.bytes * *share / (2 * ONE)).max(control.full);
            }
            (*acknowledged, *marked) = (0, 0);
            window.since = answer.at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{CongestionLaw, CongestionSpec};

    #[test]
    fn the_window_shrinks_by_half_of_the_share_of_marks_once_a_round_trip() {
        let spec = CongestionSpec { law: CongestionLaw::EcnWindow, window_bytes: 64_000, mark_above_bytes: Some(1) };
        let control = Control::new(&spec, 1_000, 0);
        let mut window = control.first();
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
        assert_eq!(answer(1_000, 500, true), 32_000, "the share is 1 at first");
        assert_eq!(answer(1_100, 500, true), 32_000, "within the round trip");
        assert_eq!(answer(1_200, 500, false), 32_031, "one packet in a round trip without marks");
        // One of three packets was marked.
        let share = 65_536 - 4_096 + 65_536 / 3 / 16;
        let grown = 32_031 + 1_000_000 / 32_031;
        assert_eq!(answer(1_600, 500, false), grown - grown * share / 131_072);
    }
}
