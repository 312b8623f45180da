//! Transfers between the GPUs of a node, to the picosecond (docs/model.md, section 10, "GPUs").

use odonata_programs::{Allreduce, PhaseAction};
use odonata_sim::Output;
use odonata_sim::spec::{Costs, CpuRate, GpuLink, GpuSpec, InnerNetwork, Spec};
use odonata_topology::Bandwidth;

use super::support::{
    DELAY, FREE, NODE, WIRE, bandwidth, finishes, finishes_of, goal, of, packets, phases, program, star,
    with_both_queues,
};
use crate::support::{GB, ser};

const SEND: u64 = 1_001;
const RECEIVE: u64 = 2_003;
const MEMORY: u64 = 40;
const LATENCY: u64 = 700;
/// Bandwidth of a port, in GB/s.
const PORT: u64 = 3;

fn costs() -> Costs {
    Costs { send_ps: SEND, receive_ps: RECEIVE, memory_ps: MEMORY, copy: bandwidth(1), ..FREE }
}

fn gigabytes(gigabytes: u64) -> Bandwidth {
    Bandwidth(gigabytes * GB)
}

fn switch() -> InnerNetwork {
    InnerNetwork::Switch { port: gigabytes(PORT), latency_ps: LATENCY }
}

fn mesh(links: &[(u32, u32, u64)]) -> InnerNetwork {
    let links = links.iter().map(|&(a, b, of)| GpuLink(a, b, gigabytes(of))).collect();
    InnerNetwork::Mesh { links, latency_ps: LATENCY }
}

/// One rank for each list of lines, all on node 1 of a star, with so many GPUs.
fn node(count: u32, network: InnerNetwork, costs: Costs, ranks: &[&str]) -> Spec {
    let mut spec = star(2, vec![program("node", &vec![1; ranks.len()], costs, goal(ranks))]);
    of(&mut spec.jobs[0]).gpus = Some(GpuSpec { count, nics: vec![0; count as usize], network, rates: Vec::new() });
    spec
}

/// When the ranks finish, and the latencies of all messages.
fn times(spec: &Spec) -> (Vec<u64>, Vec<u64>) {
    let output: Output = with_both_queues(spec);
    (finishes(&output, 0), output.messages.latency_ps)
}

/// Catches a copy by a CPU, a send that is complete before the data have left their port or only when they have arrived,
/// a latency that is paid at both ports, a size that is rounded, and a message that uses the NIC.
#[test]
fn a_transfer_over_a_switch() {
    for bytes in [0, 1, 100, 4_000] {
        let lines = [&*format!("send {bytes}b to 1"), &*format!("recv {bytes}b from 0")];
        let output = with_both_queues(&node(2, switch(), costs(), &lines));
        let (left, took) = (SEND + ser(bytes, PORT), ser(bytes, PORT) + LATENCY);
        assert_eq!(finishes(&output, 0), [left, SEND + took + RECEIVE], "{bytes} bytes");
        assert_eq!((output.messages.issue_ps[0], output.messages.latency_ps[0]), (SEND, took));
        assert_eq!(output.ranks.work_ps, [SEND, RECEIVE]);
        let totals = &output.jobs[0];
        assert_eq!((totals.issued, totals.delivered, totals.intra_node, totals.control), (1, 1, 1, 0));
        assert_eq!((totals.packets, totals.bytes, totals.latency.max), (0, 0, took));
        assert_eq!(output.links.bytes.iter().sum::<u64>(), 0);
    }
}

/// Catches GPUs with a port for each transfer, ports that both directions share, and pairs that share what they do not.
#[test]
fn transfers_share_the_ports_of_their_gpus() {
    let one = ser(900, PORT);
    let latencies = |ranks: &[&str]| times(&node(4, switch(), FREE, ranks)).1;
    let out = latencies(&["send 900b to 1\nsend 900b to 2", "recv 900b from 0", "recv 900b from 0", ""]);
    assert_eq!(out, [one + LATENCY, 2 * one + LATENCY], "one egress");
    let into = latencies(&["recv 900b from 1\nrecv 900b from 2", "send 900b to 0", "send 900b to 0", ""]);
    assert_eq!(into, [one + LATENCY, 2 * one + LATENCY], "one ingress, lower source first");
    let apart = latencies(&[
        "send 900b to 1\nrecv 900b from 1",
        "recv 900b from 0\nsend 900b to 0",
        "send 900b to 3",
        "recv 900b from 2",
    ]);
    assert_eq!(apart, [one + LATENCY; 3], "both directions and another pair");
}

/// A transfer that waits at its source does not keep the port of its destination from others. Catches ports that are
/// reserved in the order of the sends.
#[test]
fn an_ingress_port_serves_transfers_as_they_come() {
    let (large, small) = (ser(90_000, PORT), ser(300, PORT));
    let third = format!("a: calc {}ps\nb: send 300b to 2\nb requires a", large / 2);
    let first = "a: send 90000b to 1 tag 1\nb: send 300b to 2 tag 2";
    let spec = node(
        4,
        switch(),
        FREE,
        &[first, "recv 90000b from 0 tag 1", "recv 300b from 0 tag 2\nrecv 300b from 3", &third],
    );
    assert_eq!(times(&spec).1, [large + LATENCY, large + small + LATENCY, small + LATENCY]);
}

/// GPUs 0 and 3 of a square have no link: 0, 1, 3 is taken before 0, 2, 3. Catches the other path, bytes that leave a link
/// before they have come, and latencies other than one for each link.
#[test]
fn a_transfer_over_several_links_of_a_mesh() {
    let square = |[near, far]: [u64; 2]| mesh(&[(2, 3, 100), (3, 1, far), (0, 2, 100), (1, 0, near)]);
    for (bytes, bandwidths) in [1, 600, 50_000].into_iter().flat_map(|bytes| [(bytes, [7, 3]), (bytes, [3, 7])]) {
        let lines = [format!("send {bytes}b to 3"), format!("recv {bytes}b from 0")];
        let (finishes, latency) = times(&node(4, square(bandwidths), FREE, &[&lines[0], "", "", &lines[1]]));
        assert_eq!(latency, [ser(bytes, 3) + 2 * LATENCY], "the slower link decides: {bytes} bytes, {bandwidths:?}");
        assert_eq!(finishes[0], ser(bytes, bandwidths[0]));
    }
    // A fast link is held by a transfer that comes slowly.
    let late = format!("a: calc {}ps\nb: send 50000b to 3\nb requires a", LATENCY + 1);
    let ranks = ["send 50000b to 3", &*late, "", "recv 50000b from 0\nrecv 50000b from 1"];
    let (slow, fast) = (ser(50_000, 3), ser(50_000, 7));
    let (_, latencies) = times(&node(4, square([3, 7]), FREE, &ranks));
    assert_eq!(latencies, [slow + 2 * LATENCY, slow - 1 + fast + LATENCY]);
}

/// Catches directions of a link that share it, and a link that each transfer has for itself.
#[test]
fn transfers_share_the_links_of_a_mesh() {
    let line = mesh(&[(0, 1, 5), (1, 2, 5)]);
    let third = "recv 500b from 0\nrecv 500b from 1\nsend 500b to 1";
    let ranks = ["send 500b to 2", "send 500b to 2\nrecv 500b from 2", third];
    let one = ser(500, 5);
    assert_eq!(times(&node(3, line, FREE, &ranks)).1, [2 * one + LATENCY, one + LATENCY, one + LATENCY]);
}

/// Transfers between three pairs of GPUs, at the same time. Catches a root that is not shared, one that is as slow as a
/// port, and one that passes the first byte on only when the last one has come.
#[test]
fn transfers_share_the_root() {
    let latencies = |root| {
        let network = InnerNetwork::Pcie { port: gigabytes(PORT), root: gigabytes(root), latency_ps: LATENCY };
        let [first, second, third] =
            [(0, 1), (2, 3), (4, 5)].map(|(from, to)| [format!("send 900b to {to}"), format!("recv 900b from {from}")]);
        let ranks = [&first, &second, &third].map(|pair| [&*pair[0], &*pair[1]]).concat();
        times(&node(6, network, FREE, &ranks)).1
    };
    let (port, root) = (ser(900, PORT), ser(900, 2 * PORT));
    // From the second on, the root has all bytes and gives them faster than the last port takes them.
    assert_eq!(latencies(2 * PORT), [0, port, port + root].map(|wait| wait + port + LATENCY));
    assert_eq!(latencies(PORT), [1, 2, 3].map(|turn| turn * port + LATENCY));
    // A slow root decides.
    assert_eq!(latencies(1), [1, 2, 3].map(|turn| turn * ser(900, 1) + LATENCY));
}

/// Two CPUs with a half of a port each send side by side, and both transfers come when the port has served both. A third one
/// without a rate waits until the port has served all. Catches transfers that take turns, a port that is held by bytes that
/// come slowly, and a port that carries more than it can.
#[test]
fn cpus_with_rates_share_a_port() {
    let one = ser(900, PORT);
    let sends = "send 900b to 1 tag 1 cpu 1\nsend 900b to 1 tag 2 cpu 2\nsend 900b to 2 tag 3 cpu 3";
    let ranks = [sends, "recv 900b from 0 tag 1\nrecv 900b from 0 tag 2 cpu 1", "recv 900b from 0 tag 3"];
    let with = |rates: &[(u32, u64)]| {
        let mut spec = node(3, switch(), FREE, &ranks);
        let gpus = of(&mut spec.jobs[0]).gpus.as_mut().unwrap();
        gpus.rates = rates.iter().map(|&(cpu, rate)| CpuRate(cpu, Bandwidth(rate))).collect();
        times(&spec)
    };
    let whole = PORT * GB;
    assert_eq!(with(&[]).1, [one + LATENCY, 2 * one + LATENCY, 3 * one + LATENCY]);
    let (finishes, latencies) = with(&[(1, whole / 2), (2, whole / 2)]);
    assert_eq!(latencies, [2 * one + LATENCY, 2 * one + LATENCY, 3 * one + LATENCY]);
    assert_eq!(finishes[0], 3 * one, "the sends are complete when their data have left the port");
    // A slow one leaves the port to others, a fast one is as fast as the port, and a number that no CPU has is unused.
    assert_eq!(with(&[(1, whole / 6)]).1, [6 * one + LATENCY, 2 * one + LATENCY, 3 * one + LATENCY]);
    assert_eq!(with(&[(1, whole * 9), (7, 1)]).1, with(&[]).1);
    // Both take two thirds: the second one ends when the port has served it, and not later.
    let two = ser(900, 2);
    assert_eq!(with(&[(1, 2 * GB), (2, 2 * GB)]).1, [two + LATENCY, 2 * one + LATENCY, 3 * one + LATENCY]);
}

/// A transfer with a rate crosses a link after the other at this rate, and does not hold the links. Catches a rate that
/// counts once for each link, and one that counts for the first link only.
#[test]
fn a_rate_holds_on_all_links_of_the_way() {
    let line = mesh(&[(0, 1, 12), (1, 2, 4)]);
    let ranks = [
        "send 6000b to 2 cpu 1",
        "a: calc 1ps\nb: send 600b to 2\nb requires a",
        "recv 6000b from 0\nrecv 600b from 1 cpu 1",
    ];
    let mut spec = node(3, line, FREE, &ranks);
    of(&mut spec.jobs[0]).gpus.as_mut().unwrap().rates = vec![CpuRate(1, Bandwidth(GB))];
    let (finishes, latencies) = times(&spec);
    assert_eq!(finishes[0], ser(6_000, 1));
    assert_eq!(latencies, [ser(6_000, 1) + 2 * LATENCY, ser(600, 4) + LATENCY]);
}

/// Ranks take the GPUs of their node in turn. Catches a transfer between ranks of one GPU, and a copy that they make.
#[test]
fn two_ranks_of_a_gpu_have_no_network_between_them() {
    let ranks = ["send 900b to 2", "send 900b to 2", "recv 900b from 0\nrecv 900b from 1"];
    let (finishes, latencies) = times(&node(2, switch(), costs(), &ranks));
    assert_eq!(latencies, [MEMORY, ser(900, PORT) + LATENCY]);
    assert_eq!(finishes[0], SEND, "it does not wait");
}

/// Each GPU has a place of its own on each node, and the NIC that the specification names. Catches one inner network for
/// all nodes, NICs by the number of the rank, and an eager copy of data that a NIC fetches from a GPU.
#[test]
fn nodes_have_networks_of_their_own_and_gpus_their_nics() {
    let ranks = ["send 900b to 2", "send 900b to 3", "recv 900b from 0", "recv 900b from 1"];
    let mut spec = star(2, vec![program("node", &[0, 1, 0, 1], FREE, goal(&ranks))]);
    of(&mut spec.jobs[0]).gpus = Some(GpuSpec { count: 2, nics: vec![0; 2], network: switch(), rates: Vec::new() });
    assert_eq!(times(&spec).1, [ser(900, PORT) + LATENCY; 2]);

    let body = goal(&["", "", "send 900b to 3 tag 1", "recv 900b from 2 tag 1"]);
    let mut spec = star(2, vec![program("node", &[0, 0, 0, 1], costs(), body)]);
    let odonata_sim::spec::TopologySpec::DragonflyPlus(machine) = &mut spec.topology else { unreachable!() };
    machine.rails = 2;
    of(&mut spec.jobs[0]).gpus = Some(GpuSpec { count: 3, nics: vec![0, 0, 1], network: switch(), rates: Vec::new() });
    let output = with_both_queues(&spec);
    let injected = &output.links.bytes[output.links.bytes.len() - 4..];
    assert_eq!(injected, [0, 900, 0, 0], "rank 2 is on GPU 2, whose NIC is 1");
    assert_eq!(output.ranks.work_ps, [0, 0, SEND, RECEIVE]);
}

/// 2 (n - 1) steps of a block, each over a port of its own. Catches ports that neighbours of a ring share.
#[test]
fn an_allreduce_around_the_gpus_of_a_node() {
    for n in [2, 4, 8] {
        let what = PhaseAction::Allreduce { algorithm: Allreduce::Ring, bytes: 1_000 * u64::from(n) };
        let mut spec = star(2, vec![program("node", &vec![0; n as usize], costs(), phases(&[what]))]);
        of(&mut spec.jobs[0]).gpus =
            Some(GpuSpec { count: n, nics: vec![0; n as usize], network: switch(), rates: Vec::new() });
        let step = SEND + ser(1_000, PORT) + LATENCY + RECEIVE;
        assert_eq!(finishes_of(&spec), vec![2 * u64::from(n - 1) * step; n as usize]);
    }
}

/// An all-to-all by rails, of nodes with a NIC for each GPU. The blocks of a round leave a port of the inner network one
/// after the other; those of the next round are behind them, and the message between nodes goes when all have come. Catches
/// rounds that wait for the messages of the one before, ports that stand idle, a message for each rank of another node, and
/// NICs by which other GPUs send.
#[test]
fn an_alltoall_by_rails_hides_one_of_its_networks() {
    const BLOCK: u64 = 1_500;
    const PACKET: u64 = 900;
    for (nodes, count, port) in [(1, 4, 3), (2, 1, 3), (2, 2, 3), (3, 4, 3), (3, 4, 100), (5, 3, 12), (4, 8, 9)] {
        let places: Vec<u32> = (0..nodes).flat_map(|node| vec![node; count as usize]).collect();
        let body = phases(&[PhaseAction::PxnAlltoall { per_node: count, bytes: BLOCK }]);
        let mut spec = star(nodes, vec![program("exchange", &places, FREE, body)]);
        let odonata_sim::spec::TopologySpec::DragonflyPlus(machine) = &mut spec.topology else { unreachable!() };
        machine.rails = count;
        (spec.fabric.nic.overhead_ps, spec.fabric.packet_bytes) = (0, PACKET as u32);
        let network = InnerNetwork::Switch { port: gigabytes(port), latency_ps: LATENCY };
        of(&mut spec.jobs[0]).gpus = Some(GpuSpec { count, nics: (0..count).collect(), network, rates: Vec::new() });
        let output = with_both_queues(&spec);

        // When the blocks of a round have left a port, and when they have come.
        let round = u64::from(count - 1) * ser(BLOCK, port);
        let after = |left: u64| if count > 1 { left + LATENCY } else { 0 };
        let (mut left, mut came) = (vec![round, 2 * round], vec![0, after(2 * round)]);
        for number in 2..nodes as usize {
            left.push(left[number - 1].max(came[number - 2]) + round);
            came.push(after(left[number]));
        }
        let (mut sent, mut received) = (0, 0);
        for &ready in &came[1..nodes as usize] {
            sent = ready.max(sent);
            for size in packets(u64::from(count) * BLOCK, PACKET) {
                sent += ser(size, NODE);
                received = (sent + WIRE + DELAY).max(received) + ser(size, NODE);
            }
        }
        let end = if nodes == 1 { after(round) } else { received + WIRE };
        assert_eq!(finishes(&output, 0), vec![end; places.len()], "{nodes} nodes of {count}, {port} GB/s");

        let bytes = u64::from(nodes - 1) * u64::from(count) * BLOCK;
        let nics = output.links.bytes.len() - places.len();
        assert_eq!(output.links.bytes[nics..], vec![bytes; places.len()], "{nodes} nodes of {count}: bytes of a NIC");
    }
}
