//! Nothing is lost, made or counted twice in programs, whenever a run is stopped. A run that is stopped has done what
//! the whole run has done up to that time.

use odonata_sim::QueueChoice;
use odonata_sim::output::NOT_FINISHED;

use super::rows::crowded;
use super::support::with_both_queues;
use crate::support::{audited, audited_with_both_queues};

/// Catches bytes of RTS and CTS messages that are not counted, and inconsistent state between events.
#[test]
fn the_books_balance_at_any_instant() {
    let (mut moving, mut blocked, mut at_nics) = (0, 0, 0);
    for seed in 0..60 {
        let mut spec = crowded(seed);
        let whole = with_both_queues(&spec);
        let busy = whole.ranks.finish_ps.iter().copied().max().expect("there are ranks");
        spec.stop.jobs.clear();
        for step in 1..=16 {
            let at = (busy * step / 16 + step % 3).max(1);
            spec.stop.at_ps = Some(at);
            let (part, books) = audited_with_both_queues(&spec);
            moving += u32::from(books.under_way > 0);
            blocked += u32::from(books.blocked > 0);
            at_nics += u32::from(books.waiting_bytes > 0);

            assert_eq!(part.end_ps, at);
            for (stopped, finished) in part.ranks.finish_ps.iter().zip(&whole.ranks.finish_ps) {
                let expected = if *finished <= at { *finished } else { NOT_FINISHED };
                assert_eq!(
                    *stopped, expected,
                    "seed {seed} at {at}: a moment at the last instant happens, none after it"
                );
            }
            let handed_over = whole.messages.issue_ps.iter().filter(|issue| **issue <= at).count() as u64;
            assert_eq!(part.jobs.iter().map(|job| job.issued).sum::<u64>(), handed_over, "seed {seed} at {at}");
        }
    }
    assert!(moving > 100 && blocked > 20 && at_nics > 20, "{moving} moving, {blocked} parked, {at_nics} at NICs");
}

/// At the end everything has arrived.
#[test]
fn nothing_is_left_when_all_ranks_have_finished() {
    for seed in 0..200 {
        let mut spec = crowded(seed);
        // Ranks may finish before their last data has arrived, but the receiver finishes only after it has.
        spec.stop.at_ps = None;
        let (_, audit) = audited(&spec, QueueChoice::Estimate);
        assert_eq!(
            (audit.under_way, audit.blocked, audit.waiting_bytes, audit.network_bytes),
            (0, 0, 0, 0),
            "seed {seed}"
        );
        assert_eq!((audit.sent, audit.issued_bytes), (audit.delivered, audit.delivered_bytes), "seed {seed}");
    }
}
