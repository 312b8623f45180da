//! Timelines of messages, worked out by hand.

use odonata_programs::{Allreduce, PhaseAction, PingPong};
use odonata_sim::spec::{Body, Costs, SizedCombine, SizedCosts, Spec, combine_ps};
use odonata_topology::Bandwidth;

use super::support::{
    DELAY, FREE, NODE, OVERHEAD, WIRE, alone, bandwidth, finishes, finishes_of, goal, leaves_after, of, phases,
    program, star, with_both_queues,
};
use crate::support::{PACKET, link_mut, machine, output, ser, spec};

const SEND: u64 = 7_001;
const RECEIVE: u64 = 11_003;
const MEMORY: u64 = 50_021;
/// Bandwidth of copying, in GB/s.
const COPY: u64 = 5;

const COSTS: Costs = Costs {
    send_ps: SEND,
    receive_ps: RECEIVE,
    copy: None, // see `costs`
    memory_ps: MEMORY,
    eager_bytes: 2_499,
    control_bytes: 64,
    combine: None,
    rendezvous_ps: 0,
    header_bytes: 0,
    fetches: 0,
};

fn costs() -> Costs {
    Costs { copy: bandwidth(COPY), ..COSTS }
}

fn two_ranks(nodes: [u32; 2], first: &str, second: &str) -> Spec {
    star(3, vec![program("two", &nodes, costs(), goal(&[first, second]))])
}

fn zero_load(bytes: u64) -> u64 {
    alone(bytes, PACKET)
}

/// Catches a copy that is missing at one end, a sender that waits for the delivery, CPU time that is charged twice, and
/// a message that is handed over at the start of its CPU task.
#[test]
fn eager() {
    for bytes in [1_000, 2_499] {
        let spec = two_ranks([0, 1], &format!("send {bytes}b to 1"), &format!("recv {bytes}b from 0"));
        let output = output(&spec);
        let handed_over = SEND + ser(bytes, COPY);
        let arrival = handed_over + zero_load(bytes);
        assert_eq!(finishes(&output, 0), [handed_over, arrival + RECEIVE + ser(bytes, COPY)]);
        assert_eq!(output.messages.issue_ps, [handed_over]);
        assert_eq!(output.messages.latency_ps, [zero_load(bytes)]);
        assert_eq!(output.ranks.work_ps, [SEND + ser(bytes, COPY), RECEIVE + ser(bytes, COPY)]);
        assert_eq!((output.jobs[0].control, output.jobs[0].intra_node, output.jobs[0].bytes), (0, 0, bytes));
        assert_eq!(output.end_ps, arrival + RECEIVE + ser(bytes, COPY) + 1_000_000);
    }
}

/// Catches a message smaller than a control message that is sent at its own size, and a copy of more than its bytes.
#[test]
fn a_message_is_no_smaller_than_an_rts() {
    for bytes in [0, 1, 63, 64, 65] {
        let spec = two_ranks([0, 1], &format!("send {bytes}b to 1"), &format!("recv {bytes}b from 0"));
        let output = output(&spec);
        let arrival = SEND + ser(bytes, COPY) + zero_load(bytes.max(64));
        assert_eq!(finishes(&output, 0)[1], arrival + RECEIVE + ser(bytes, COPY), "{bytes} bytes");
        assert_eq!(output.jobs[0].bytes, bytes.max(64));
    }
}

/// RTS, CTS, data: three messages. Catches one that is missing or costs CPU time, a copy although nothing is copied,
/// and a sender that continues before its data has left, or only when it has arrived.
#[test]
fn rendezvous_with_a_receive_that_is_posted() {
    let spec = two_ranks([0, 1], "send 2500b to 1", "recv 2500b from 0");
    let output = output(&spec);
    let rts = SEND + zero_load(64);
    let cts = rts + zero_load(64);
    let sent = cts + leaves_after(2_500, PACKET);
    let arrival = cts + zero_load(2_500);
    assert_eq!(finishes(&output, 0), [sent, arrival + RECEIVE]);
    assert_eq!((output.messages.issue_ps[0], output.messages.latency_ps[0]), (SEND, arrival - SEND));
    assert_eq!(output.ranks.work_ps, [SEND, RECEIVE]);
    let totals = &output.jobs[0];
    assert_eq!((totals.control, totals.issued, totals.delivered, totals.bytes), (2, 1, 1, 64 + 64 + 2_500));
    assert_eq!(totals.packets, 1 + 1 + 3);
}

/// 1 B/ps up to vectors of 100 bytes, a fourth of that at 1,000, a half from 2,000 on. Catches a rate that is looked up by
/// what is combined and not by the vector, times that are rounded up or always down, and rates beyond the ends.
#[test]
fn rates_of_reductions_by_size() {
    let rate = |bytes, each: u64| SizedCombine { bytes, combine: Bandwidth(1_000_000_000_000_000_000 / each) };
    let list = [rate(100, 1), rate(1_000, 4), rate(2_000, 2)];
    let cases = [
        (10, 0, 10),
        (10, 100, 10),
        (10, 550, 25),
        (10, 594, 26), // 26.47, down towards the time at the smaller size
        (10, 1_000, 40),
        (10, 1_001, 40), // 39.98, up towards it
        (10, 1_149, 38), // 37.02
        (10, 1_150, 37),
        (10, 2_000, 20),
        (10, 1 << 40, 20),
        (7, 1_000, 28),
    ];
    for (bytes, of, expected) in cases {
        assert_eq!(combine_ps(&list, bytes, of), Some(expected), "{bytes} of {of}");
    }
    assert_eq!(combine_ps(&[], 10, 10), None);
    // Two ranks combine whole vectors, once each.
    let both = PhaseAction::Allreduce { algorithm: Allreduce::RecursiveDoubling, bytes: 550 };
    let mut spec = star(2, vec![program("two", &[0, 1], FREE, phases(&[both]))]);
    let free = finishes_of(&spec);
    of(&mut spec.jobs[0]).combine_by_size = list.to_vec();
    assert_eq!(finishes_of(&spec), free.iter().map(|at| at + 25 * 55).collect::<Vec<_>>());
}

/// Costs of 100, 110 and 1000 bytes that rise and fall, and odd sizes in between. Catches times that are rounded up or
/// always down, a size that takes the costs of a neighbour, costs that go on beyond the ends of the list, a delay that
/// occupies a CPU or that control messages have, and a copy or a rendezvous that is paid besides.
#[test]
fn costs_by_size() {
    let at = |bytes, send_ps, receive_ps, delay_ps| SizedCosts { bytes, send_ps, receive_ps, delay_ps };
    let list = [at(100, 1_000, 900, 50_000), at(110, 1_007, 893, 20_007), at(1_000, 90_000, 893, 0)];
    let cases = [
        (0, 1_000, 900, 50_000),
        (99, 1_000, 900, 50_000),
        (100, 1_000, 900, 50_000),
        (103, 1_002, 898, 41_003), // 1002.1, 897.9, 41002.1
        (107, 1_004, 896, 29_005), // 1004.9, 895.1, 29004.9
        (110, 1_007, 893, 20_007),
        (500, 40_003, 893, 11_240), // 40003.9..., 893, 11239.9...
        (1_000, 90_000, 893, 0),
        (2_000, 90_000, 893, 0),
    ];
    for (bytes, send, receive, delay) in cases {
        for eager_bytes in [1 << 40, 0] {
            let mut spec = two_ranks([0, 1], &format!("send {bytes}b to 1"), &format!("recv {bytes}b from 0"));
            let program = of(&mut spec.jobs[0]);
            program.by_size = list.to_vec();
            (program.costs.eager_bytes, program.costs.rendezvous_ps) = (eager_bytes, 33_000);
            let eager = bytes <= eager_bytes;
            let (asked, wire) = (if eager { 0 } else { 2 * zero_load(64) }, bytes.max(64));
            let (output, issue) = (output(&spec), send + asked);
            let sent = if eager { send } else { issue + leaves_after(wire, PACKET) };
            let received = issue + zero_load(wire) + delay + receive;
            assert_eq!(finishes(&output, 0), [sent, received], "{bytes} bytes, eager: {eager}");
            assert_eq!(output.ranks.work_ps, [send, receive], "{bytes} bytes, eager: {eager}");
        }
    }
    // Messages inside a node keep their own costs.
    let lines = ["send 100b to 1", "recv 100b from 0"];
    let mut spec = two_ranks([0, 0], lines[0], lines[1]);
    let plain = finishes_of(&spec);
    of(&mut spec.jobs[0]).by_size = list.to_vec();
    assert_eq!(finishes_of(&spec), plain);
}

/// The CPU works on another message in the delay of the first. Catches a delay that keeps the CPU, and messages that
/// cannot overtake.
#[test]
fn a_small_message_overtakes_in_the_delay_of_a_large_one() {
    let lines = [
        "a: send 1000b to 1 tag 1\nb: send 10b to 1 tag 2\nb requires a",
        "recv 1000b from 0 tag 1\nrecv 10b from 0 tag 2",
    ];
    let mut spec = two_ranks([0, 1], lines[0], lines[1]);
    let at = |bytes, delay_ps| SizedCosts { bytes, send_ps: 0, receive_ps: RECEIVE, delay_ps };
    of(&mut spec.jobs[0]).by_size = vec![at(10, 0), at(1_000, 10_000_000)];
    let output = output(&spec);
    assert_eq!(output.ranks.work_ps, [0, 2 * RECEIVE]);
    assert_eq!(finishes(&output, 0)[1], zero_load(1_000) + 10_000_000 + RECEIVE);
}

/// Catches a CTS that does not wait for the receive, and one that waits for more.
#[test]
fn rendezvous_with_a_receive_that_is_late() {
    const LATE: u64 = 900_000;
    let second = format!("a: calc {LATE}ps\nb: recv 2500b from 0\nb requires a");
    let cts = LATE + zero_load(64);
    let (sent, arrival) = (cts + leaves_after(2_500, PACKET), cts + zero_load(2_500));
    assert!(LATE > SEND + zero_load(64), "the request is there before the receive");
    assert_eq!(finishes_of(&two_ranks([0, 1], "send 2500b to 1", &second)), [sent, arrival + RECEIVE]);
}

/// Catches a message that is taken before its receive is posted, and a receive that waits for another message.
#[test]
fn eager_with_a_receive_that_is_late() {
    const LATE: u64 = 5_000_000;
    let second = format!("a: calc {LATE}ps\nb: recv 10b from 0\nb requires a");
    let received = LATE + RECEIVE + ser(10, COPY);
    assert_eq!(finishes_of(&two_ranks([0, 1], "send 10b to 1", &second)), [SEND + ser(10, COPY), received]);
}

/// Over leaf, spine, leaf: every link once, every router's delay once. Catches an RTS that takes another path than
/// messages.
#[test]
fn rendezvous_between_leaves() {
    const OVER: u64 = 20;
    let costs = Costs { eager_bytes: 0, ..costs() };
    let job = program("far", &[0, 2], costs, goal(&["send 500b to 1", "recv 500b from 0"]));
    let mut spec = spec(machine([1, 2, 1, 2, 0], None), crate::support::MINIMAL, vec![job]);
    link_mut(&mut spec, "local").latency_ps = 20_000;
    let trip = |bytes| 2 * ser(bytes, NODE) + 2 * (ser(bytes, OVER) + 20_000) + 3 * DELAY;
    let cts = SEND + trip(64) + trip(64);
    assert_eq!(finishes_of(&spec), [cts + ser(500, NODE), cts + trip(500) + RECEIVE]);
}

/// Intra-node messages are always eager, cost copies and memory time, and use no NIC. Catches one that goes to the
/// router, one that uses rendezvous, and memory time that is charged to the CPU.
#[test]
fn intra_node() {
    for bytes in [0, 100, 4_000] {
        let spec = two_ranks([1, 1], &format!("send {bytes}b to 1"), &format!("recv {bytes}b from 0"));
        let output = output(&spec);
        let handed_over = SEND + ser(bytes, COPY);
        let received = handed_over + MEMORY + RECEIVE + ser(bytes, COPY);
        assert_eq!(finishes(&output, 0), [handed_over, received]);
        assert_eq!((output.messages.issue_ps[0], output.messages.latency_ps[0]), (handed_over, MEMORY));
        let totals = &output.jobs[0];
        assert_eq!((totals.issued, totals.delivered, totals.intra_node, totals.control), (1, 1, 1, 0));
        assert_eq!((totals.packets, totals.bytes, totals.last_delivery_ps), (0, 0, None));
        assert_eq!((totals.latency.count, totals.latency.max), (1, MEMORY));
        assert_eq!(output.links.bytes.iter().sum::<u64>(), 0);
    }
}

/// Two ranks of a node hand over at the same time: the NIC sends for the lower rank first, whichever is first in the
/// list of nodes. Catches one NIC per rank, and an order other than that of ranks.
#[test]
fn two_ranks_of_a_node_share_its_nic() {
    let [to_2, to_3] = [900, 700].map(|bytes| SEND + ser(bytes, COPY) + zero_load(bytes) + RECEIVE + ser(bytes, COPY));
    let job = |first: u64, second: u64| {
        let (r0, r1) = (format!("send {first}b to 2"), format!("send {second}b to 3"));
        let (r2, r3) = (format!("recv {first}b from 0"), format!("recv {second}b from 1"));
        finishes_of(&star(4, vec![program("four", &[2, 2, 0, 1], costs(), goal(&[&r0, &r1, &r2, &r3]))]))
    };
    // The smaller message is copied, and so handed over, before the larger one.
    let ahead = ser(900, COPY) - ser(700, COPY);
    let waits = OVERHEAD + ser(700, NODE) - ahead;
    assert_eq!(job(900, 700)[2..], [to_2 + waits, to_3]);
    // Equal ones tie.
    assert_eq!(job(900, 900)[2..], [to_2, to_2 + OVERHEAD + ser(900, NODE)]);
}

/// A rank computes while a message arrives. Catches a receive that blocks, and one that interrupts the computation.
#[test]
fn computing_overlaps_with_a_receive() {
    let arrival = SEND + ser(1_000, COPY) + zero_load(1_000);
    let work = RECEIVE + ser(1_000, COPY);
    let finish = |ps: u64| {
        let second = format!("recv 1000b from 0\ncalc {ps}ps");
        finishes_of(&two_ranks([0, 1], "send 1000b to 1", &second))[1]
    };
    assert_eq!(finish(10_000), arrival + work, "the message comes later than the computation ends");
    assert_eq!(finish(arrival - 1), arrival + work);
    assert_eq!(finish(arrival + 70_000), arrival + 70_000 + work, "the message waits for the CPU");
}

/// Two messages arrive while the CPU works on the first. Catches a CPU that does two things at a time, one that serves
/// the last first, and receives that are served in the order of posting.
#[test]
fn two_receives_contend_for_the_cpu() {
    const AFTER: u64 = 3_000_000;
    // Rank 1 sends less, so its message comes first, though its receive is posted last.
    let third = format!(
        "a: recv 2000b from 0\nb: recv 300b from 1\nc: calc {AFTER}ps cpu 1\nc requires b\nd: calc {AFTER}ps cpu 2\nd requires a"
    );
    let (slow, fast) = (ser(2_000, COPY), ser(300, COPY));
    let arrivals = [SEND + slow + zero_load(2_000), SEND + fast + zero_load(300)];
    let received_b = arrivals[1] + RECEIVE + fast;
    assert!(arrivals[0] > received_b, "without contention first");
    let job = |costs| program("three", &[0, 1, 2], costs, goal(&["send 2000b to 2", "send 300b to 2", &third]));
    assert_eq!(finishes_of(&star(3, vec![job(costs())]))[2], arrivals[0] + RECEIVE + slow + AFTER);
    // With a receive that takes longer than the time between the arrivals.
    const LONG: u64 = 2_000_000;
    let both = output(&star(3, vec![job(Costs { receive_ps: LONG, ..costs() })]));
    assert_eq!(finishes(&both, 0)[2], arrivals[1] + (LONG + fast) + (LONG + slow) + AFTER);
    assert_eq!(both.ranks.work_ps[2], (LONG + fast) + (LONG + slow) + 2 * AFTER);
}

/// A send waits until the CPU is free, and is handed over only then. Catches a CPU that sends while it computes.
#[test]
fn a_send_waits_for_the_cpu() {
    let spec = two_ranks([0, 1], "calc 123456ps\nsend 8b to 1", "recv 8b from 0");
    let handed_over = 123_456 + SEND + ser(8, COPY);
    assert_eq!(output(&spec).messages.issue_ps, [handed_over]);
}

/// Several round trips: sends that block, and a receive for the reply. Catches a round that does not wait for the one
/// before, and equal labels in two rounds.
#[test]
fn ping_pong() {
    for (bytes, rounds) in [(100, 1), (2_499, 3), (2_500, 4)] {
        let play = |costs| {
            let what = PhaseAction::PingPong(PingPong { stride: 1, bytes, rounds });
            finishes_of(&star(2, vec![program("pair", &[0, 1], costs, phases(&[what]))]))
        };
        let rounds = u64::from(rounds);
        let eager_hop = SEND + ser(bytes, COPY) + zero_load(bytes) + RECEIVE + ser(bytes, COPY);
        let asking_hop = SEND + 2 * zero_load(64) + zero_load(bytes) + RECEIVE;
        let (hop, sends) = if bytes <= 2_499 {
            (eager_hop, SEND + ser(bytes, COPY))
        } else {
            (asking_hop, SEND + 2 * zero_load(64) + leaves_after(bytes, PACKET))
        };
        let last = (2 * rounds - 1) * hop;
        assert_eq!(play(costs()), [2 * rounds * hop, last + sends], "{bytes} bytes");
        assert_eq!(play(FREE)[0], 2 * rounds * zero_load(bytes), "{bytes} bytes for nothing");
    }
}

/// Catches a rank that starts late or early, or whose CPU counts as busy before.
#[test]
fn all_ranks_start_at_the_start() {
    let mut spec = two_ranks([0, 1], "send 1000b to 1", "recv 1000b from 0");
    let at_once = finishes_of(&spec);
    of(&mut spec.jobs[0]).start_ps = 777_777;
    assert_eq!(finishes_of(&spec), at_once.iter().map(|at| at + 777_777).collect::<Vec<_>>());
}

/// A rank may send to itself: intra-node, as to any rank of its node.
#[test]
fn a_rank_may_send_to_itself() {
    let body: Body = goal(&["send 10b to 0 tag 3\nrecv 10b from 0 tag 3", ""]);
    let output = output(&star(2, vec![program("self", &[0, 1], costs(), body)]));
    assert_eq!(finishes(&output, 0), [SEND + ser(10, COPY) + MEMORY + RECEIVE + ser(10, COPY), 0]);
    assert_eq!(output.jobs[0].intra_node, 1);
}

/// What [`alone`] says of a message is the model: overhead, the packets back to back, both wires, one router.
#[test]
fn the_time_of_a_message_alone() {
    let one = OVERHEAD + 2 * (ser(1_000, NODE) + WIRE) + DELAY;
    assert_eq!(zero_load(1_000), one);
    assert_eq!(zero_load(3_000), one + 2 * ser(1_000, NODE));
    assert_eq!(zero_load(2_001), one + ser(1_000, NODE) + ser(1, NODE));
}

/// A message that has come begins a CPU task, which belongs to the run even if the run ends before the task does. Catches
/// an arrival that is handled only when its task ends.
#[test]
fn what_has_come_by_the_end_of_a_run_is_handled() {
    let (send, receive) = (7_000, 900_000);
    let costs = Costs { send_ps: send, receive_ps: receive, ..FREE };
    let texts = ["send 1000b to 1", "recv 1000b from 0"];
    let mut spec = star(2, vec![program("cut", &[0, 1], costs, goal(&texts))]);
    spec.measure.operations = true;
    spec.stop.jobs.clear();
    let arrival = send + alone(1_000, spec.fabric.packet_bytes.into());
    let mut ends = |at| {
        spec.stop.at_ps = Some(at);
        with_both_queues(&spec).operations.end_ps
    };
    assert_eq!(ends(arrival - 1), [send]);
    assert_eq!(ends(arrival), [send, arrival + receive]);
    assert_eq!(ends(arrival + receive / 2), [send, arrival + receive]);
}
