//! Every path that packets may take, walked with [`Direct::branches`]. The result is the full channel dependency graph:
//! a vertex for every virtual channel (slot and channel), and an edge wherever a packet in the buffer of one virtual
//! channel may request room in another.

use std::collections::BTreeSet;

use odonata_sim::fabric::RouterPlace;
use odonata_sim::fabric::packet::Event;
use odonata_sim::routing::AllPaths;
use odonata_sim::routing::direct::Direct;
use odonata_topology::{Network, Peer, RouterId, SlotId};

/// Slot and channel.
pub type Vc = (u32, u8);

/// A packet at a route decision.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub router: RouterId,
    pub packet: Event,
}

#[derive(Default)]
pub struct Walk {
    pub vcs: BTreeSet<Vc>,
    pub edges: BTreeSet<(Vc, Vc)>,
    /// Most links between routers on any path.
    pub longest: u8,
    /// Most links between groups on any path.
    pub most_global: u8,
    /// All route decisions, each once.
    pub states: Vec<State>,
}

/// A packet of routing `routing` at its first router.
pub fn packet(network: &Network, to: RouterId, routing: u8) -> Event {
    Event::to_address(network.address_of_router[to.index()], routing)
}

/// The state in which a packet reaches the next router.
pub fn step(network: &Network, from: RouterId, port: u16, channel: u8, mut packet: Event) -> State {
    let slot = network.slot(from, odonata_topology::Port(port));
    let Peer::Router(far) = network.peer[slot.index()] else {
        panic!("{from} sends a packet out by port {port}, to no router")
    };
    assert!(!network.has_failed(slot), "{from} sends a packet out by port {port}, which is dead");
    let (router, port) = network.port_of(far);
    packet.port = port.0;
    packet.set_channel(channel);
    packet.next_hop();
    State { router, packet }
}

impl Walk {
    /// Walks the paths between all working routers. Panics if one does not end at its router.
    pub fn walk(&mut self, direct: &Direct, routing: u8) {
        let network = &direct.paths().machine().network;
        let alive = || (0..network.routers() as u32).map(RouterId).filter(|&r| network.router_works(r));
        for to in alive() {
            let mut seen = BTreeSet::new();
            for from in alive().filter(|&from| from != to) {
                let packet = packet(network, to, routing);
                self.walk_from(direct, State { router: from, packet }, to, &mut seen);
            }
        }
    }

    fn walk_from(&mut self, direct: &Direct, first: State, to: RouterId, seen: &mut BTreeSet<StateKey>) {
        let network = &direct.paths().machine().network;
        let bound = direct.max_hops(first.packet.routing());
        let mut open: Vec<(State, Option<Vc>, u8)> = vec![(first, None, 0)];
        while let Some((state, came, global)) = open.pop() {
            let hop = state.packet.hop();
            self.longest = self.longest.max(hop);
            self.most_global = self.most_global.max(global);
            if state.router == to {
                continue;
            }
            assert!(hop < bound, "a way of more than {bound} links to {to}: {state:?}");
            self.states.push(state);
            let place = RouterPlace::of(network, state.router);
            let branches = direct.branches(place, &state.packet);
            assert!(!branches.is_empty(), "no way on to {to} from {state:?}");
            for branch in branches {
                let vc = (place.first + u32::from(branch.port), branch.channel);
                self.vcs.insert(vc);
                self.edges.extend(came.map(|came| (came, vc)));
                let next = step(network, state.router, branch.port, branch.channel, branch.packet);
                let crosses = network.class[SlotId(vc.0).index()] >= network.first_global;
                if seen.insert(key(&next)) {
                    open.push((next, Some(vc), global + u8::from(crosses)));
                }
            }
        }
    }
}

/// The state of a packet that decides where it may go on its way to a given router. It includes the virtual channel on
/// which the packet came, so a repeated state adds no edges.
type StateKey = (u32, u16, u8, u32, bool, bool, u8);

pub fn key(state: &State) -> StateKey {
    let p = &state.packet;
    (state.router.0, p.port, p.channel(), p.intermediate, p.in_second_phase(), p.diverted(), p.hop())
}
