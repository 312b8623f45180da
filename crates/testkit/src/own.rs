//! Routings of one's own that the generator draws: they use all that the interface has.

use std::slice;
use std::sync::Once;

use odonata_sim::engine::random::{below32, packet_random};
use odonata_sim::routing::custom::functions::{
    AnswerView, Functions, NOTHING, PacketView, PortView, Route, RouterView, register,
};
use odonata_sim::spec::{Keys, RoutingSpec};

use super::choices::Choices;

/// Numbers of a router of the routing that learns: one for each router of the machine, for packets to it.
const MOST_ROUTERS: u32 = 512;
const NAMES: [&str; 4] = ["test-any", "test-least", "test-through", "test-learning"];

/// A routing of one's own of at most `most` links, at least those of the machine.
pub fn own(c: &mut Choices, hops: u8, most: u8) -> RoutingSpec {
    make_known();
    let program = c.of(&NAMES).to_owned();
    let hops = (hops + c.of(&[0, 0, 1, 2, 4])).clamp(1, most);
    // (With keys of flows, answers could not be told apart.)
    let keys = if program == "test-learning" { Keys::Packet } else { c.of(&[Keys::Packet, Keys::Packet, Keys::Flow]) };
    RoutingSpec::Custom { program, hops, state: MOST_ROUTERS, keys }
}

/// Makes the functions known.
pub fn make_known() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let plain = |route| Functions { route, start: None, learn: None };
        let learning = Functions { route: quickest, start: Some(begin), learn: Some(learn) };
        let all = [plain(any as _), plain(least as _), plain(through as _), learning];
        for (name, functions) in NAMES.into_iter().zip(all) {
            // SAFETY: the functions below keep to the interface.
            unsafe { register(name, functions) };
        }
        for (name, route) in [("test-beyond", beyond as Route), ("test-memory", memory), ("test-largest", largest)] {
            // SAFETY: as above.
            unsafe { register(name, plain(route)) };
        }
    });
}

/// # Safety
/// As the interface says.
unsafe fn ports<'a>(first: *const PortView, count: i64) -> &'a [PortView] {
    // SAFETY: the caller gives the interface's arguments.
    unsafe { slice::from_raw_parts(first, count as usize) }
}

fn draw(packet: &PacketView, k: u8, n: usize) -> usize {
    below32(packet_random(packet.key as u32, packet.hop as u8, k), n as u32) as usize
}

/// Any port.
unsafe extern "C" fn any(packet: *mut PacketView, first: *const PortView, count: i64, _: *const RouterView) -> i64 {
    // SAFETY: the core gives valid pointers.
    let packet = unsafe { &*packet };
    let _ = first;
    draw(packet, 0, count as usize) as i64
}

/// The least load times links; not back, if there is another way.
unsafe extern "C" fn least(packet: *mut PacketView, first: *const PortView, count: i64, _: *const RouterView) -> i64 {
    // SAFETY: the core gives valid pointers.
    let (packet, ports) = unsafe { (&*packet, ports(first, count)) };
    let weight = |port: &PortView| {
        let back = i64::from(port.port == packet.came_from) * 1_000_000_000;
        (port.load_ps + port.class * packet.bytes) * (port.links + 1) + back
    };
    (0..ports.len()).min_by_key(|&at| weight(&ports[at])).map_or(-1, |at| at as i64)
}

/// Through a router that the packet remembers, by the nearest ports.
unsafe extern "C" fn through(
    packet: *mut PacketView,
    first: *const PortView,
    count: i64,
    router: *const RouterView,
) -> i64 {
    // SAFETY: the core gives valid pointers.
    let (packet, ports, router) = unsafe { (&mut *packet, ports(first, count), &*router) };
    if packet.hop == 0 {
        packet.memory = draw(packet, 1, router.routers as usize) as i64;
    }
    if packet.memory == router.router {
        packet.memory = NOTHING;
    }
    let to = if packet.memory == NOTHING { packet.destination } else { packet.memory };
    // SAFETY: both are routers of the machine.
    let links = |from: i64| unsafe { *router.links.offset((to * router.routers + from) as isize) };
    // SAFETY: it is a router of the machine.
    let group = |of: i64| unsafe { *router.groups.offset(of as isize) };
    let nearest = (0..ports.len()).min_by_key(|&at| (links(ports[at].router), group(ports[at].router), at));
    nearest.map_or(-1, |at| at as i64)
}

/// The least time to the destination that was learned, plus the load.
unsafe extern "C" fn quickest(
    packet: *mut PacketView,
    first: *const PortView,
    count: i64,
    router: *const RouterView,
) -> i64 {
    // SAFETY: the core gives valid pointers.
    let (packet, ports, router) = unsafe { (&mut *packet, ports(first, count), &*router) };
    // SAFETY: a router of the test has so many numbers.
    let known = unsafe { slice::from_raw_parts_mut(router.state, MOST_ROUTERS as usize) };
    let learned = known[packet.destination as usize % known.len()];
    let weight = |port: &PortView| port.load_ps as f64 + learned * port.links as f64 + (port.port % 3) as f64;
    let best = (0..ports.len()).min_by(|&a, &b| weight(&ports[a]).total_cmp(&weight(&ports[b])));
    packet.answer = best.map_or(0.0, |at| weight(&ports[at]));
    packet.memory = packet.hop + packet.came_from;
    best.map_or(-1, |at| at as i64)
}

unsafe extern "C" fn begin(first: *const PortView, count: i64, router: *const RouterView) -> i64 {
    // SAFETY: the core gives valid pointers.
    let (ports, router) = unsafe { (ports(first, count), &*router) };
    // SAFETY: a router of the test has so many numbers.
    let known = unsafe { slice::from_raw_parts_mut(router.state, MOST_ROUTERS as usize) };
    for (to, known) in known.iter_mut().enumerate() {
        *known = (ports.len() + to) as f64 * 1000.0;
    }
    0
}

unsafe extern "C" fn learn(answer: *const AnswerView, router: *const RouterView) -> i64 {
    // SAFETY: the core gives valid pointers.
    let (answer, router) = unsafe { (&*answer, &*router) };
    // SAFETY: a router of the test has so many numbers.
    let known = unsafe { slice::from_raw_parts_mut(router.state, MOST_ROUTERS as usize) };
    let known = &mut known[answer.destination as usize % MOST_ROUTERS as usize];
    let seen = answer.delay_ps as f64 + answer.answer + (answer.last * 7 + answer.port + answer.memory) as f64;
    *known += 0.25 * (seen - *known) + (router.time_ps % 5) as f64;
    0
}

/// One more than a packet can remember.
unsafe extern "C" fn memory(packet: *mut PacketView, _: *const PortView, _: i64, _: *const RouterView) -> i64 {
    // SAFETY: the core gives valid pointers.
    unsafe { (*packet).memory = i64::from(u32::MAX) };
    0
}

/// The most that a packet can remember; at the next router, what it remembers if that is something else.
unsafe extern "C" fn largest(packet: *mut PacketView, _: *const PortView, count: i64, _: *const RouterView) -> i64 {
    // SAFETY: the core gives valid pointers.
    let packet = unsafe { &mut *packet };
    if packet.hop > 0 && packet.memory != i64::from(u32::MAX) - 1 {
        return count;
    }
    packet.memory = i64::from(u32::MAX) - 1;
    0
}

/// Far beyond the ports, from the second router on.
unsafe extern "C" fn beyond(packet: *mut PacketView, _: *const PortView, count: i64, _: *const RouterView) -> i64 {
    // SAFETY: the core gives valid pointers.
    let packet = unsafe { &*packet };
    if packet.hop > 0 { count } else { 0 }
}
