//! Acknowledgements that stand for several packets: how many there are, what they count, and that no window waits for ever
//! (docs/model.md, section 3, "Acknowledgements of several packets").

use odonata_sim::output::NicCounters;
use odonata_sim::spec::{CongestionLaw, CongestionSpec, JobSpec, Spec, StopSpec};
use odonata_sim::{Output, QueueChoice, run_audited};
use odonata_testkit as generator;
use odonata_topology::Bandwidth;

use crate::support::{GB, MINIMAL, audited_with_both_queues, link_mut, machine, output, spec, stream};

/// Two leaves with two nodes each and one spine. Packets of 1,000 bytes and a window of so many, one acknowledgement for so
/// many packets.
fn windowed(window: u64, every: Option<u32>, jobs: Vec<JobSpec>) -> Spec {
    let mut spec = spec(machine([1, 2, 1, 2, 0], None), MINIMAL, jobs);
    (spec.fabric.packet_bytes, spec.fabric.header_bytes) = (1_000, 10);
    (spec.fabric.nic.window_bytes, spec.fabric.nic.acknowledge_every) = (Some(window * 1_000), every);
    spec
}

/// What the NICs of two nodes on one leaf count when one sends so many full packets to the other.
fn counted(packets: u64, window: u64, every: Option<u32>) -> (Output, [NicCounters; 2]) {
    let output = output(&windowed(window, every, vec![stream(0, 1, packets * 1_000)]));
    let nics = [output.nics[0], output.nics[1]];
    assert_eq!([nics[0].request_packets, nics[0].answered_packets], [packets; 2]);
    (output, nics)
}

#[test]
fn one_of_every_few_packets_is_acknowledged_and_the_last_of_a_message() {
    for (packets, window, every, acknowledgements) in [
        (10, 100, None, 10),
        (10, 100, Some(4), 3), // the 4th, the 8th, the last
        (8, 100, Some(4), 2),  // the last is an 8th
        (10, 100, Some(1_000), 1),
        (10, 2, Some(1_000), 5), // every second packet fills the window
        (10, 3, Some(2), 7),     // of three, the second and the third
    ] {
        let (_, [_, receiver]) = counted(packets, window, every);
        assert_eq!(receiver.response_packets, acknowledgements, "{packets} packets, {window} in flight, {every:?}");
    }
}

#[test]
fn each_packet_counts_the_time_until_its_acknowledgement() {
    let (whole, [each, _]) = counted(4, 100, None);
    let (output, [sender, _]) = counted(4, 100, Some(1_000));
    assert_eq!(output.messages.latency_ps, whole.messages.latency_ps);
    assert_eq!(output.end_ps, whole.end_ps, "the last acknowledgement comes at the same time");
    // The first waits for three more packets of 1,010 bytes at 10 GB/s, the second for two.
    assert_eq!(sender.latency_ps, each.latency_ps + (3 + 2 + 1) * 101_000);
    let of_message = output.message_counters[0];
    assert_eq!((of_message.packets, of_message.latency_ps), (4, sender.latency_ps));
}

#[test]
fn a_marked_packet_is_acknowledged_at_once() {
    let acknowledgements = |mark_above_bytes| {
        let mut spec = windowed(1, Some(1_000), vec![stream(0, 2, 20_000), stream(1, 3, 20_000)]);
        spec.fabric.nic.window_bytes = None;
        link_mut(&mut spec, "local").bandwidth = Bandwidth(10 * GB);
        let law = CongestionLaw::EcnWindow;
        spec.fabric.congestion_control = Some(CongestionSpec { law, window_bytes: 100_000, mark_above_bytes });
        output(&spec).nics.iter().map(|nic| nic.response_packets).sum::<u64>()
    };
    assert_eq!(acknowledgements(None), 2, "those of the last packets");
    assert!(acknowledgements(Some(1)) > 20, "both share a link between the leaves, where packets are marked");
}

/// Specifications with windows of any kind, whose acknowledgements may stand for several packets, and whose jobs all end.
fn ending() -> impl Iterator<Item = (u64, Spec)> {
    let makers: [fn(u64) -> Spec; 2] = [generator::windowed_spec, generator::congested_spec];
    (0..300).map(move |seed| (seed, makers[seed as usize % 2](seed))).filter_map(|(seed, mut spec)| {
        spec.fabric.nic.acknowledge_every = Some(1_000_000);
        spec.stop = StopSpec { jobs: (0..spec.jobs.len() as u32).collect(), at_ps: None };
        let endless = spec.jobs.iter().any(JobSpec::is_endless) || spec.jobs.iter().any(|job| job.program.is_some());
        (!endless && spec.check().is_ok()).then_some((seed, spec))
    })
}

/// Catches a window that waits for a receiver which waits for more packets.
#[test]
fn windows_smaller_than_what_is_acknowledged_at_once_do_not_stop_a_run() {
    let (mut runs, mut saved) = (0, 0);
    for (seed, spec) in ending() {
        let (output, _) = audited_with_both_queues(&spec);
        let sum = |of: fn(&NicCounters) -> u64| output.nics.iter().map(of).sum::<u64>();
        let requests = sum(|nic| nic.request_packets);
        assert_eq!(sum(|nic| nic.answered_packets), requests, "seed {seed}");
        assert!(sum(|nic| nic.response_packets) <= requests, "seed {seed}");
        runs += 1;
        saved += u32::from(sum(|nic| nic.response_packets) < requests);
    }
    assert!(runs > 60 && saved > 30, "{runs} runs, {saved} with fewer acknowledgements than packets");
}

/// Catches packets that are lost in the books while they wait for an acknowledgement, and windows that are exceeded.
#[test]
fn books_balance_at_any_instant() {
    for (seed, mut spec) in ending().take(40) {
        let Ok((whole, _)) = odonata_sim::run(&spec, &mut ()) else { continue };
        spec.stop.jobs.clear();
        for step in 1..=8 {
            spec.stop.at_ps = Some((whole.end_ps * step / 8).max(1));
            let Ok((_, _, balance)) = run_audited(&spec, QueueChoice::Wheel) else { continue };
            assert!(balance.balanced(), "seed {seed}: {balance:?}");
        }
    }
}
