//! Cut-through, headers and flits: times of packets on links, and of route decisions (docs/model.md, section 1).

use odonata_sim::spec::{RoutingSpec, Spec, Switching};
use odonata_topology::Bandwidth;

use crate::support::{GB, MINIMAL, link_mut, machine, output, ser, spec, stream};
use odonata_testkit as generator;

const ROUTER_DELAY: u64 = 91_003;
const LATENCY: u64 = 20_011;

/// One message from node 1 to node 15, over node, local, global, local and node links, which have these GB/s.
fn one_message(bytes: u64, gigabytes: [u64; 3]) -> Spec {
    let mut spec = spec(machine([4, 2, 1, 2, 3], None), MINIMAL, vec![stream(1, 15, bytes)]);
    spec.fabric.router_delay_ps = ROUTER_DELAY;
    for (class, gigabytes) in ["node", "local", "global"].into_iter().zip(gigabytes) {
        let link = link_mut(&mut spec, class);
        (link.bandwidth, link.latency_ps) = (Bandwidth(gigabytes * GB), LATENCY);
    }
    spec.fabric.switching = Switching::CutThrough;
    spec
}

/// The links of its path.
fn path([node, local, global]: [u64; 3]) -> [u64; 5] {
    [node, local, global, local, node]
}

fn latency(spec: &Spec) -> u64 {
    output(spec).messages.latency_ps[0]
}

/// Catches a head that is stored, a missing wait for the tail at the end, and a header that takes no time.
#[test]
fn on_links_that_get_no_faster_the_head_pays_at_each_link_and_the_whole_packet_at_the_last() {
    let gigabytes = [4, 4, 4];
    for (header, flit) in [(0, 1), (32, 1), (0, 64), (30, 8)] {
        for bytes in [1, 7, 999, 1_000] {
            let mut spec = one_message(bytes, gigabytes);
            (spec.fabric.header_bytes, spec.fabric.flit_bytes) = (header, flit);
            let head = u64::from(header).max(1).next_multiple_of(u64::from(flit));
            let wire = (bytes + u64::from(header)).next_multiple_of(u64::from(flit));
            let expected = 4 * ser(head, 4) + ser(wire, 4) + 5 * LATENCY + 4 * ROUTER_DELAY;
            assert_eq!(latency(&spec), expected, "{bytes} bytes, header {header}, flit {flit}");
            spec.fabric.switching = Switching::StoreAndForward;
            assert_eq!(latency(&spec), 5 * (ser(wire, 4) + LATENCY) + 4 * ROUTER_DELAY);
        }
    }
}

/// Head and tail of one packet, link by link: the recursion of the model page, with links in all orders of speed.
#[test]
fn a_packet_never_pauses_on_a_link_that_is_faster_than_the_one_before() {
    for gigabytes in [[1, 10, 40], [40, 10, 1], [10, 1, 40], [3, 7, 5], [10, 40, 1], [1, 1, 1]] {
        for header in [0, 32] {
            let mut spec = one_message(1_000, gigabytes);
            spec.fabric.header_bytes = header;
            let (head, wire) = (u64::from(header).max(1), 1_000 + u64::from(header));
            let (mut decided, mut tail) = (0, 0);
            for (position, gigabytes) in path(gigabytes).into_iter().enumerate() {
                let begins = u64::max(decided, u64::saturating_sub(tail, ser(wire, gigabytes)));
                let delay = LATENCY + if position < 4 { ROUTER_DELAY } else { 0 };
                decided = begins + ser(head, gigabytes) + delay;
                tail = begins + ser(wire, gigabytes) + delay;
            }
            assert_eq!(latency(&spec), tail, "{gigabytes:?}, header {header}");
        }
    }
}

/// By hand: a local link of 10 GB/s takes 1,000 B in 100 ns, a global one of 40 GB/s in 25 ns. The tail is at the spine
/// 100 ns after the head began to leave, so on the global link the packet may begin 75 ns after that, not at once.
#[test]
fn a_faster_link_after_a_slower_one() {
    let mut spec = one_message(1_000, [10, 10, 40]);
    spec.fabric.router_delay_ps = 0;
    for class in ["node", "local", "global"] {
        link_mut(&mut spec, class).latency_ps = 0;
    }
    // 100 ps for the first byte on the node link and 100 ps on the local one; the global one begins at 100 + 75,000 ps
    // and ends at 100,100 ps; its first byte takes 25 ps. Then two links of 10 GB/s follow the first byte of the global
    // one.
    assert_eq!(latency(&spec), 75_100 + 25 + 100 + 100_000);
}

/// If every packet is one flit, its head is the whole packet: the two kinds of switching are the same model.
#[test]
fn a_header_as_long_as_the_packet_gives_store_and_forward() {
    let mut some_differ = 0;
    for seed in 0..150 {
        let mut spec = generator::spec(seed);
        let both = |spec: &mut Spec| {
            [Switching::StoreAndForward, Switching::CutThrough].map(|switching| {
                spec.fabric.switching = switching;
                output(spec)
            })
        };
        let [stored, cut] = both(&mut spec);
        some_differ += u32::from(stored.messages != cut.messages);
        spec.fabric.header_bytes = 0;
        spec.fabric.flit_bytes = spec.fabric.packet_bytes;
        let [stored, cut] = both(&mut spec);
        assert_eq!(stored, cut, "seed {seed}");
    }
    assert!(some_differ > 50, "the two are the same in all runs but {some_differ}");
}

/// Links carry headers and whole flits; jobs count payload.
#[test]
fn headers_count_on_links_and_not_as_payload() {
    let mut spec = one_message(2_500, [4, 4, 4]);
    (spec.fabric.header_bytes, spec.fabric.flit_bytes) = (20, 16);
    let output = output(&spec);
    assert_eq!((output.jobs[0].bytes, output.jobs[0].packets), (2_500, 3));
    // 1,020 B are 64 flits, 520 B are 33.
    let carried: Vec<u64> = output.links.bytes.iter().copied().filter(|&bytes| bytes > 0).collect();
    assert_eq!(carried, [(64 + 64 + 33) * 16; 5]);
}

/// A buffer of two packets with their headers has no room for a third. Catches room that is counted in payload.
#[test]
fn headers_take_room_in_buffers() {
    let last = |buffer: u64| {
        let mut spec = one_message(6_000, [10, 10, 10]);
        spec.fabric.header_bytes = 500;
        spec.fabric.router_delay_ps = 0;
        link_mut(&mut spec, "local").buffer_bytes = buffer;
        link_mut(&mut spec, "local").credit_delay_ps = 1_000_000;
        latency(&spec)
    };
    assert_eq!(last(7_500), last(8_999), "five packets of 1,500 B, and not six");
    assert!(last(8_999) > last(9_000), "all six at once");
}

/// The dependencies are the same as with store-and-forward, and so is the check: buffers of one packet are enough.
#[test]
fn cut_through_runs_on_buffers_of_one_packet() {
    let all: Vec<u32> = (0..16).collect();
    for routing in [MINIMAL, crate::support::valiant(odonata_sim::spec::Via::Spine)] {
        let pattern = odonata_sim::spec::Pattern::UniformRandom {};
        let job = crate::support::job("all", all.clone(), pattern, 5_000, 1_000, 40);
        let mut spec = spec(machine([4, 2, 1, 2, 3], None), routing.clone(), vec![job]);
        spec.fabric.switching = Switching::CutThrough;
        spec.fabric.header_bytes = 24;
        for class in ["node", "local", "global"] {
            link_mut(&mut spec, class).buffer_bytes = 1_024;
        }
        assert_eq!(output(&spec).jobs[0].delivered, 16 * 40, "{routing:?}");
        if let RoutingSpec::Valiant { .. } = routing {
            spec.fabric.channels = 1;
            assert!(odonata_sim::run(&spec, &mut ()).is_err(), "too few channels are refused as ever");
        }
    }
}
