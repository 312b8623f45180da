//! Nothing is lost, made or counted twice. The same specification gives the same bytes, with either queue. A
//! measurement changes nothing. On random dragonfly and cascade machines and irregular Dragonfly+ machines, with
//! failures, congestion metrics, rails and several routings.

use odonata_sim::output::Messages;
use odonata_sim::spec::{Record, StopSpec};
use odonata_sim::{QueueChoice, Spec, run_with};

use crate::support::{audited_with_both_queues, output};
use odonata_testkit as generator;

const QUEUES: [QueueChoice; 2] = [QueueChoice::Wheel, QueueChoice::Ordered];

/// Random specifications: dragonflies and cascades, Dragonfly+ machines with exceptions and failures, and both kinds
/// with events a few picoseconds apart.
fn specs(count: u64) -> impl Iterator<Item = (u64, Spec)> {
    let of: [fn(u64) -> Spec; 4] =
        [generator::direct_spec, generator::odd_spec, generator::instant_direct_spec, generator::instant_odd_spec];
    (0..count).map(move |seed| (seed, of[(seed % 4) as usize](seed)))
}

/// Catches a packet dropped or delivered twice, a credit given back twice or never, a message cut wrongly, at the end
/// of a run and whenever it is stopped.
#[test]
fn everything_is_accounted_for_at_any_instant() {
    let (mut blocked, mut moving, mut complete) = (0, 0, 0);
    for (seed, mut spec) in specs(240) {
        let whole = output(&spec);
        let nodes = spec.machine().expect("it was built before").network().endpoints();
        for step in 0..=6 {
            if step > 0 {
                // Six instants, most of them between two events.
                let at_ps = Some((whole.end_ps * step / 6 + step % 3).max(1));
                (spec.stop, spec.measure.until_ps) = (StopSpec { jobs: Vec::new(), at_ps }, None);
            }
            let (output, books) = audited_with_both_queues(&spec);
            let routers = output.links.packets.len() - nodes;
            assert_eq!(books.sent, output.links.packets[routers..].iter().sum::<u64>(), "seed {seed}");
            assert_eq!(books.delivered, output.jobs.iter().map(|job| job.packets).sum::<u64>(), "seed {seed}");
            assert_eq!(books.delivered_bytes, output.jobs.iter().map(|job| job.bytes).sum::<u64>(), "seed {seed}");
            blocked += u32::from(books.blocked > 0);
            moving += u32::from(books.under_way > 0);
            complete += u32::from(books.delivered_bytes == books.issued_bytes);
        }
    }
    for (what, stops) in [("with waiting packets", blocked), ("with moving packets", moving), ("complete", complete)] {
        assert!(stops >= 150, "only {stops} stops of 1680 are {what}");
    }
}

/// Catches anything that depends on memory addresses, on a hash order, on the queue, on an earlier run, or on a
/// document that changes in a round trip through JSON.
#[test]
fn twice_the_same() {
    for (seed, spec) in specs(240) {
        let [wheel, ordered] = QUEUES.map(|queue| run_with(&spec, &mut (), queue).expect("it runs").0);
        assert!(wheel == ordered, "seed {seed}: the queues disagree\nspec: {}", spec.to_json());
        let again = Spec::from_json(&spec.to_json()).expect("what was written can be read");
        assert_eq!(again, spec, "seed {seed}");
        assert!(output(&again) == wheel, "seed {seed}: not the same twice");
    }
}

/// Catches a measurement that disturbs what it measures.
#[test]
fn what_is_measured_changes_nothing() {
    for (seed, mut spec) in specs(160) {
        spec.jobs.iter_mut().for_each(|job| job.record = Record::EveryMessage);
        let plain = output(&spec);
        spec.measure.arrivals_every_ps = Some(plain.end_ps / 7 + 1);
        (spec.measure.from_ps, spec.measure.until_ps) = (plain.end_ps / 2, Some(plain.end_ps));
        let windows = output(&spec);
        assert_eq!((windows.end_ps, windows.packet_hops), (plain.end_ps, plain.packet_hops), "seed {seed}");
        assert!(windows.messages == plain.messages && windows.links == plain.links, "seed {seed}");
        spec.jobs.iter_mut().for_each(|job| job.record = Record::Nothing);
        let less = output(&spec);
        assert!(less.links == plain.links && less.arrivals == windows.arrivals, "seed {seed}");
        assert!(less.messages == Messages::default(), "seed {seed}: rows that nobody asked for");
        for (a, b) in less.jobs.iter().zip(&plain.jobs) {
            assert_eq!((a.issued, a.bytes, a.hops, a.minimal), (b.issued, b.bytes, b.hops, b.minimal), "seed {seed}");
        }
    }
}

/// Catches traffic between groups that is counted by the wrong class of link or at the wrong end: on a machine whose
/// first global class is not the second class, everything that leaves the groups enters them again.
#[test]
fn arrivals_add_up() {
    let mut checked = 0;
    for seed in 0..80 {
        let mut spec = generator::direct_spec(seed);
        if spec.jobs.iter().any(|job| job.traffic().intervals.is_none()) {
            continue;
        }
        spec.stop = StopSpec { jobs: (0..spec.jobs.len() as u32).collect(), at_ps: None };
        spec.measure.arrivals_every_ps = Some(output(&spec).end_ps / 3 + 1);
        let output = output(&spec);
        let sums = [&output.arrivals.packets_in, &output.arrivals.packets_out].map(|column| column.iter().sum::<u64>());
        let machine = spec.machine().expect("it was built before");
        let network = machine.network();
        let channels = usize::from(spec.fabric.channels);
        let global = (0..network.peer.len()).filter(|&slot| network.class[slot] >= network.first_global);
        let sent: u64 =
            global.map(|slot| output.links.packets[slot * channels..][..channels].iter().sum::<u64>()).sum();
        assert_eq!(sums, [sent, sent], "seed {seed}");
        checked += u32::from(sent > 0);
    }
    assert!(checked >= 15, "only {checked} runs with traffic between groups");
}
