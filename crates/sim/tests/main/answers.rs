//! NICs that answer every packet: times and counters by hand, the window, and that nothing is lost (docs/model.md, section 3).

use odonata_sim::output::{MessageCounters, NicCounters};
use odonata_sim::spec::{
    AriesMode, AriesSpec, Costs, Gateways, JobSpec, Operation, Pattern, PhaseAction, RouterKind, RoutingSpec, Spec,
    StopSpec, TopologySpec, Via,
};
use odonata_sim::{Output, QueueChoice, run_audited};
use odonata_topology::Bandwidth;

use crate::direct::support as direct;
use crate::programs::support::{FREE, goal, phases, program};
use crate::support::{GB, MINIMAL, audited, audited_with_both_queues, job, link_mut, machine, output, spec, stream};
use odonata_testkit as generator;

/// From a request's first flit to the last flit of its response, if nothing is in the way: 5 + 5 + 100 + 5 + 5 ns for the request,
/// and 1 + 5 + 100 + 1 + 5 ns for the response.
const ROUND_TRIP: u64 = 232_000;

/// Two leaves with two nodes each and one spine. A flit of 16 B takes 1 ns on any link, wires take 5 ns and routers 100 ns.
fn aries(jobs: Vec<JobSpec>) -> Spec {
    let mut spec = spec(machine([1, 2, 1, 2, 0], None), MINIMAL, jobs);
    let fabric = &mut spec.fabric;
    (fabric.packet_bytes, fabric.header_bytes, fabric.flit_bytes) = (64, 16, 16);
    fabric.nic.aries = Some(AriesSpec { packet_bytes: 64, window: 1_024, operation: Operation::Put, cycle_ps: 1_000 });
    for link in fabric.links.values_mut() {
        (link.bandwidth, link.latency_ps) = (Bandwidth(16 * GB), 5_000);
    }
    spec
}

fn nic_mut(spec: &mut Spec) -> &mut AriesSpec {
    spec.fabric.nic.aries.as_mut().expect("it has such NICs")
}

/// What one message from node 0 to node 1 takes until it has arrived, and what its NIC counts.
fn one(bytes: u64, change: impl FnOnce(&mut Spec)) -> (u64, MessageCounters, NicCounters) {
    let mut spec = aries(vec![stream(0, 1, bytes)]);
    change(&mut spec);
    let output = output(&spec);
    assert_eq!(output.end_ps, output.message_counters[0].complete_ps, "the run ends with the last response");
    let [sender, receiver] = [output.nics[0], output.nics[1]];
    assert_eq!(sender.answered_packets, sender.request_packets);
    assert_eq!(receiver.response_packets, sender.request_packets);
    (output.messages.latency_ps[0], output.message_counters[0], sender)
}

#[test]
fn a_put_of_one_packet_takes_and_counts_what_it_does_by_hand() {
    let (latency, message, nic) = one(64, |_| ());
    assert_eq!(latency, 120_000);
    let expected =
        MessageCounters { packets: 1, flits: 5, stalled_ps: 0, latency_ps: 232_000, complete_ps: 232_000, mode: None };
    assert_eq!(message, expected);
    let expected = NicCounters {
        request_packets: 1,
        request_flits: 5,
        answered_packets: 1,
        latency_ps: 232_000,
        ..NicCounters::default()
    };
    assert_eq!(nic, expected);
}

/// The 65th byte makes a second packet of two flits, which waits 3 ns for the link to its node behind the first.
#[test]
fn a_put_of_65_bytes_has_two_packets_and_seven_flits() {
    let (latency, message, _) = one(65, |_| ());
    assert_eq!(latency, 122_000);
    let latency_ps = 232_000 + 229_000;
    assert_eq!(
        message,
        MessageCounters { packets: 2, flits: 7, stalled_ps: 0, latency_ps, complete_ps: 234_000, mode: None }
    );
}

#[test]
fn a_put_of_4_kib_has_64_packets_and_320_flits() {
    let (latency, message, nic) = one(4_096, |_| ());
    assert_eq!(latency, 320_000 + 115_000);
    let latency_ps = 64 * ROUND_TRIP;
    assert_eq!(
        message,
        MessageCounters { packets: 64, flits: 320, stalled_ps: 0, latency_ps, complete_ps: 547_000, mode: None }
    );
    assert_eq!((nic.window_ps, nic.stalled_ps), (0, 0));
}

/// A request to read has one flit, and the payload comes with the response: the same packets the other way.
#[test]
fn a_get_has_one_flit_a_packet_and_is_delivered_with_its_responses() {
    let (latency, message, nic) = one(65, |spec| nic_mut(spec).operation = Operation::Get);
    // Requests leave at 0 and 1 ns and arrive at 112 and 113 ns. The responses leave at 112 and 117 ns. The router decides on the
    // second one at 224 ns; the link to the node is free at 227 ns, and two flits and a wire later it is there.
    assert_eq!(latency, 234_000);
    let latency_ps = ROUND_TRIP + (latency - 1_000);
    assert_eq!(
        message,
        MessageCounters { packets: 2, flits: 2, stalled_ps: 0, latency_ps, complete_ps: latency, mode: None }
    );
    assert_eq!((nic.request_flits, nic.response_flits), (2, 0));
}

/// A rendezvous of 65 B from node 0 to node 1, whose NICs get.
fn fetch(receive: &str) -> Output {
    let costs = Costs { send_ps: 50_000, receive_ps: 70_000, rendezvous_ps: 7_000, eager_bytes: 64, ..FREE };
    let costs = Costs { control_bytes: 64, ..costs };
    let mut spec = aries(vec![program("fetch", &[0, 1], costs, goal(&["send 65b to 1", receive]))]);
    nic_mut(&mut spec).operation = Operation::Get;
    output(&spec)
}

/// An RTS and a FIN of one packet take 120 ns each way, and the get takes 234 ns as above: the first request passes the router
/// together with the response to the RTS and before it, the second one behind both, but its response waits for the first one
/// anyway. There is no CTS.
#[test]
fn the_receiver_of_a_rendezvous_fetches_the_data_and_tells_the_sender() {
    const GET: u64 = 234_000;
    let output = fetch("recv 65b from 0");
    let handed_over = 50_000 + 7_000;
    let matched = handed_over + 120_000;
    let arrived = matched + GET;
    assert_eq!(output.ranks.finish_ps, [arrived + 120_000, arrived + 70_000]);
    assert_eq!(output.ranks.work_ps, [handed_over, 70_000]);
    let messages = &output.messages;
    assert_eq!((messages.source[0], messages.destination[0], messages.issue_ps[0]), (0, 1, handed_over));
    assert_eq!(messages.latency_ps, [arrived - handed_over]);
    let totals = &output.jobs[0];
    assert_eq!((totals.control, totals.packets, totals.bytes), (2, 1 + 2 + 1, 64 + 65 + 64));
    // The NIC of the receiver sends requests of one flit, and that of the sender answers with five and two flits.
    let of_get = ROUND_TRIP + (GET - 1_000);
    let expected = MessageCounters { packets: 2, flits: 2, latency_ps: of_get, ..MessageCounters::default() };
    assert_eq!(output.message_counters, [MessageCounters { complete_ps: arrived - handed_over, ..expected }]);
    let counted = |nic: &NicCounters| {
        [nic.request_packets, nic.request_flits, nic.answered_packets, nic.response_packets, nic.response_flits]
    };
    assert_eq!(counted(&output.nics[0]), [1, 5, 1, 2 + 1, 5 + 2 + 1]);
    assert_eq!(counted(&output.nics[1]), [2 + 1, 1 + 1 + 5, 2 + 1, 1, 1]);
}

/// Catches a get that does not wait for the receive, and a sender that waits for the response to its RTS only.
#[test]
fn a_get_waits_for_the_receive() {
    let output = fetch("a: calc 900000ps\nb: recv 65b from 0\nb requires a");
    let arrived = 900_000 + 234_000;
    assert_eq!(output.ranks.finish_ps, [arrived + 120_000, arrived + 70_000]);
}

/// 1,024 packets leave in 5,120 ns. The first response comes after 10,032 ns: the next packet waits for it, and then there is one
/// response for each packet that leaves.
#[test]
fn at_most_1_024_packets_are_without_a_response() {
    let (latency, message, nic) = one(2_048 * 64, |spec| spec.fabric.router_delay_ps = 5_000_000);
    assert_eq!(nic.window_ps, 10_032_000 - 5_120_000);
    let last_start = 10_032_000 + 1_023 * 5_000;
    assert_eq!((latency, message.complete_ps), (last_start + 5_020_000, last_start + 10_032_000));
    assert_eq!((nic.stalled_ps, message.latency_ps), (0, 2_048 * 10_032_000));
}

#[test]
fn a_window_of_one_packet_sends_one_packet_in_a_round_trip() {
    let (latency, message, nic) = one(4_096, |spec| nic_mut(spec).window = 1);
    assert_eq!((latency, message.complete_ps), (63 * ROUND_TRIP + 120_000, 64 * ROUND_TRIP));
    assert_eq!((nic.window_ps, nic.stalled_ps), (63 * (ROUND_TRIP - 5_000), 0));
}

/// A packet of five flits could leave in five cycles of half a nanosecond; it takes five nanoseconds.
#[test]
fn a_link_slower_than_the_clock_stalls_every_flit() {
    let (_, message, nic) = one(4_096, |spec| nic_mut(spec).cycle_ps = 500);
    assert_eq!((message.stalled_ps, nic.stalled_ps), (64 * 2_500, 64 * 2_500));
}

/// Both NICs have room for one packet at their router and share the link to the spine. The first packets are decided on after
/// 110 ns. That of node 0 leaves its buffer at 115 ns and that of node 1 at 120 ns, and the credits take 5 ns. Both NICs were
/// ready after 5 ns.
#[test]
fn two_nics_on_one_link_stall_for_the_credits_of_their_first_packets() {
    let mut spec = aries(vec![stream(0, 2, 128), stream(1, 3, 128)]);
    link_mut(&mut spec, "node").buffer_bytes = 80;
    let output = output(&spec);
    let stalled: Vec<u64> = output.nics.iter().map(|nic| nic.stalled_ps).collect();
    assert_eq!(stalled, [115_000, 120_000, 0, 0]);
    assert_eq!(output.message_counters.iter().map(|m| m.stalled_ps).collect::<Vec<_>>(), [115_000, 120_000]);
    assert!(output.nics.iter().all(|nic| nic.window_ps == 0));
}

/// The last Aries packet of a burst leaves and comes back when it would leave and come back on its own, if routers cut through.
#[test]
fn bursts_count_the_flits_of_their_packets_and_arrive_with_the_last_of_them() {
    let cut_through = |spec: &mut Spec| spec.fabric.switching = odonata_sim::spec::Switching::CutThrough;
    for bytes in [1, 64, 65, 1_000, 4_096, 100_000] {
        let (exact, of_exact, nic) = one(bytes, cut_through);
        for burst in [2, 16, 64] {
            let (latency, message, burst_nic) = one(bytes, |spec| {
                cut_through(spec);
                spec.fabric.packet_bytes = 64 * burst;
            });
            assert_eq!(latency, exact, "{bytes} B in bursts of {burst}");
            assert_eq!((message.packets, message.flits), (of_exact.packets, of_exact.flits));
            assert_eq!(burst_nic.request_flits, nic.request_flits);
            // Its responses leave together, when the last request has come.
            let behind = (u64::from(burst) - 1) * 1_000;
            assert!((of_exact.complete_ps..=of_exact.complete_ps + behind).contains(&message.complete_ps));
        }
    }
}

/// Catches a request without a response, a response without a request, a flit that is counted and not sent.
#[test]
fn every_request_is_answered_once_and_every_flit_that_leaves_arrives() {
    let mut waited = [0; 3];
    for seed in 0..200 {
        let mut spec = generator::answered_spec(seed);
        let jobs = 0..spec.jobs.len() as u32;
        let endless = spec.jobs.iter().any(JobSpec::is_endless);
        if endless || spec.jobs.iter().any(|job| job.program.is_some()) {
            continue;
        }
        spec.stop = StopSpec { jobs: jobs.collect(), at_ps: None };
        let (output, _) = audited_with_both_queues(&spec);
        let network = spec.machine().expect("it was built before").network().clone();
        let sum = |of: fn(&NicCounters) -> u64| output.nics.iter().map(of).sum::<u64>();
        let requests = sum(|nic| nic.request_packets);
        assert_eq!([sum(|nic| nic.answered_packets), sum(|nic| nic.response_packets)], [requests; 2], "seed {seed}");
        let flit = u64::from(spec.fabric.flit_bytes);
        let (rows, nics) = (output.links.bytes.len(), network.endpoints());
        let injected: u64 = output.links.bytes[rows - nics..].iter().sum();
        assert_eq!(injected, sum(|nic| nic.request_flits) * flit, "seed {seed}");
        let channels = usize::from(spec.fabric.all_channels());
        let ejected: u64 = network.node_slot.iter().map(|slot| output.links.bytes[slot.index() * channels]).sum();
        assert_eq!(ejected, sum(|nic| nic.request_flits + nic.response_flits) * flit, "seed {seed}");
        for (total, nic) in waited.iter_mut().zip([sum(|nic| nic.window_ps), sum(|nic| nic.stalled_ps), 1]) {
            *total += u32::from(nic > 0);
        }
    }
    assert!(waited.iter().all(|&runs| runs >= 30), "runs that wait for the window, that stall, all: {waited:?}");
}

/// Catches books that do not balance while requests and responses are under way, and a window that is exceeded.
#[test]
fn books_balance_and_the_window_holds_at_any_instant() {
    for seed in 0..40 {
        let mut spec = generator::answered_spec(seed);
        let window = u64::from(spec.fabric.nic.aries.expect("it has such NICs").window);
        let Ok((whole, _)) = odonata_sim::run(&spec, &mut ()) else { continue };
        spec.stop.jobs.clear();
        for step in 1..=8 {
            spec.stop.at_ps = Some((whole.end_ps * step / 8).max(1));
            let Ok((output, _, balance)) = run_audited(&spec, QueueChoice::Wheel) else { continue };
            assert!(balance.balanced(), "seed {seed}: {balance:?}");
            // A response counts as soon as its time is known, so this is at most what the NIC knows of.
            let most = output.nics.iter().map(|nic| nic.request_packets - nic.answered_packets).max();
            assert!(most.is_some_and(|most| most <= window), "seed {seed}: {most:?} of {window}");
        }
    }
}

/// A dragonfly of 32 nodes with room for one packet in each buffer.
fn overloaded(operation: Operation, jobs: Vec<JobSpec>, routing: RoutingSpec, router: Option<RouterKind>) -> Spec {
    let mut spec = direct::spec(TopologySpec::Dragonfly(direct::dragonfly([4, 4, 2, 1])), routing, jobs);
    spec.fabric.channels = 8;
    (spec.fabric.packet_bytes, spec.fabric.header_bytes, spec.fabric.flit_bytes) = (64, 16, 16);
    spec.fabric.nic.aries = Some(AriesSpec { packet_bytes: 64, window: 64, operation, cycle_ps: 1_000 });
    spec.fabric.links.values_mut().for_each(|link| link.buffer_bytes = 80);
    spec.fabric.router = router.map(|kind| odonata_sim::spec::RouterSpec {
        kind,
        crossbar: Bandwidth(10 * GB),
        output_buffer_bytes: 80,
        arbitration: odonata_sim::spec::Arbitration::LeastRecentlyServed,
    });
    spec
}

/// More traffic than the machine carries, with room for one packet in each buffer: responses must not wait for requests that wait
/// for them.
#[test]
fn responses_get_through_under_overload() {
    let routings = [direct::aries(AriesMode::Adaptive0, Gateways::All), direct::par(Via::Router, 2, Gateways::Nearest)];
    for operation in [Operation::Put, Operation::Get] {
        for (routing, router) in routings.iter().zip([None, Some(RouterKind::InputQueued)]) {
            let traffic = job("all", (0..32).collect(), Pattern::UniformRandom {}, 512, 20_000, 15);
            let spec = overloaded(operation, vec![traffic], routing.clone(), router);
            let output = output(&spec);
            assert_eq!(output.jobs[0].delivered, 32 * 15);
            assert!(output.nics.iter().all(|nic| nic.stalled_ps > 0), "it is no overload");
        }
    }
}

/// Programs have puts and gets on one network. Nobody can go on until both have got through, and all windows are full.
#[test]
fn puts_and_gets_of_programs_get_through_under_overload() {
    let exchange = PhaseAction::Alltoall { algorithm: odonata_programs::Alltoall::LinearShift, bytes: 1_000 };
    let light = PhaseAction::Alltoall { algorithm: odonata_programs::Alltoall::LinearShift, bytes: 500 };
    let costs = Costs { eager_bytes: 500, control_bytes: 64, ..FREE };
    for router in [None, Some(RouterKind::InputQueued)] {
        let jobs = [(0, "gets", &exchange), (1, "puts", &light)].map(|(first, name, what)| {
            let nodes: Vec<u32> = (0..16).map(|rank| 2 * rank + first).collect();
            program(name, &nodes, costs, phases(std::slice::from_ref(what)))
        });
        let mut spec =
            overloaded(Operation::Get, jobs.into(), direct::aries(AriesMode::Adaptive0, Gateways::All), router);
        spec.fabric.nic.aries.as_mut().expect("it has such NICs").window = 8;
        let (output, balance) = audited(&spec, QueueChoice::Wheel);
        assert!(output.jobs.iter().all(|job| job.delivered == 16 * 15));
        assert_eq!([output.jobs[0].control, output.jobs[1].control], [2 * 16 * 15, 0]);
        let waited = |of: fn(&NicCounters) -> u64| output.nics.iter().filter(|nic| of(nic) > 0).count();
        assert!(waited(|nic| nic.stalled_ps) > 16 && waited(|nic| nic.window_ps) > 16, "it is no overload");
        assert_eq!(balance.delivered_bytes, balance.issued_bytes, "{balance:?}");
    }
}

/// The error of the coarse mode on a loaded machine. `docs/model.md` has a table of larger ones.
#[test]
fn bursts_change_the_times_of_a_loaded_machine_by_a_few_per_cent() {
    let mean = |burst: u32| {
        let traffic = job("all", (0..32).collect(), Pattern::UniformRandom {}, 8_192, 1_600_000, 40);
        let routing = direct::aries(AriesMode::Adaptive0, Gateways::All);
        let mut spec = direct::spec(TopologySpec::Dragonfly(direct::dragonfly([4, 4, 2, 1])), routing, vec![traffic]);
        let fabric = &mut spec.fabric;
        fabric.switching = odonata_sim::spec::Switching::CutThrough;
        (fabric.channels, fabric.packet_bytes, fabric.header_bytes, fabric.flit_bytes) = (8, 64 * burst, 16, 16);
        fabric.nic.aries =
            Some(AriesSpec { packet_bytes: 64, window: 1_024, operation: Operation::Put, cycle_ps: 1_600 });
        for link in fabric.links.values_mut() {
            (link.latency_ps, link.buffer_bytes) = (30_000, 16_384);
        }
        let output = output(&spec);
        let sum = |of: fn(&NicCounters) -> u64| output.nics.iter().map(of).sum::<u64>() as f64;
        let of_packets = sum(|nic| nic.latency_ps) / sum(|nic| nic.answered_packets);
        let flits = sum(|nic| nic.request_flits);
        let of_messages = output.jobs[0].latency.sum as f64 / output.jobs[0].latency.count as f64;
        (of_messages, of_packets, flits)
    };
    let exact = mean(1);
    for (burst, most) in [(4, 0.06), (16, 0.15)] {
        let coarse = mean(burst);
        assert_eq!(coarse.2, exact.2, "flits are counted exactly");
        for (coarse, exact) in [(coarse.0, exact.0), (coarse.1, exact.1)] {
            let error = coarse / exact - 1.0;
            eprintln!("bursts of {burst}: {exact:.0} {coarse:.0} ps, {:.1} %", error * 100.0);
            assert!(error.abs() < most, "bursts of {burst}: {exact:.0} ps and {coarse:.0} ps");
        }
    }
}
