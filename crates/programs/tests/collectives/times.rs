//! The times in the documentation of the algorithms, on a network in which messages do not delay each other. Would
//! catch: an order of sends, a wait or a formula that is not what the page of the algorithm says.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use odonata_programs::{
    Allgather, Allreduce, Alltoall, Barrier, Broadcast, Op, PhaseAction, Reduce, ReduceScatter, Tree, Way,
};

use crate::executor::Sends;
use crate::script::{Key, Script};

// All depend on the bytes, and none is a multiple of another.
fn o_s(bytes: u64) -> u64 {
    1009 + 3 * bytes
}
fn o_r(bytes: u64) -> u64 {
    631 + 2 * bytes
}
/// From the end of the work at the sender to the begin of that at a receiver that is ready: M.
fn transit(bytes: u64, sends: Sends) -> u64 {
    4001 + 7 * bytes + if sends == Sends::Eager { 0 } else { 2 * CONTROL }
}
const CONTROL: u64 = 1511;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// An eager message, or an RTS.
    Arrives(Key, u64),
    /// The data of a rendezvous.
    Data(Key, u64),
    /// A receive, or a send by rendezvous.
    Completes(Key),
    GoesOn,
}

#[derive(Clone, Default)]
struct Rank {
    at: usize,
    cpu: u64,
    /// Operations under way.
    pending: u64,
    waits: Waits,
}

/// What a rank waits for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Waits {
    #[default]
    Nothing,
    /// An operation that blocks.
    One(Key),
    /// All that are under way.
    All,
}

struct World<'a> {
    script: &'a Script,
    sends: Sends,
    ranks: Vec<Rank>,
    arrived: BTreeSet<Key>,
    posted: BTreeSet<Key>,
    events: BinaryHeap<Reverse<(u64, usize, Event)>>,
}

/// When the last rank ends (`docs/model.md`, section 10).
fn time(script: &Script, sends: Sends) -> u64 {
    let ranks = vec![Rank::default(); script.ranks as usize];
    let events = (0..ranks.len()).map(|rank| Reverse((0, rank, Event::GoesOn))).collect();
    let mut world = World { script, sends, ranks, arrived: BTreeSet::new(), posted: BTreeSet::new(), events };
    let mut last = 0;
    while let Some(Reverse((now, rank, event))) = world.events.pop() {
        last = now;
        match event {
            Event::Arrives(key, bytes) if world.posted.remove(&key) => world.matched(now, key, bytes),
            Event::Arrives(key, _) => assert!(world.arrived.insert(key)),
            Event::Data(key, bytes) => world.take(now, rank, key, bytes),
            Event::Completes(key) => {
                let state = &mut world.ranks[rank];
                state.pending -= 1;
                if state.waits == Waits::One(key) || (state.waits == Waits::All && state.pending == 0) {
                    world.go_on(now, rank);
                }
            }
            Event::GoesOn => world.go_on(now, rank),
        }
    }
    assert!(world.ranks.iter().zip(&script.lines).all(|(rank, lines)| rank.at == lines.len() && rank.pending == 0));
    last
}

impl World<'_> {
    fn at(&mut self, time: u64, rank: usize, event: Event) {
        self.events.push(Reverse((time, rank, event)));
    }

    fn occupy(&mut self, now: u64, rank: usize, time: u64) -> u64 {
        let cpu = &mut self.ranks[rank].cpu;
        *cpu = now.max(*cpu) + time;
        *cpu
    }

    fn take(&mut self, now: u64, rank: usize, key: Key, bytes: u64) {
        let end = self.occupy(now, rank, o_r(bytes));
        self.at(end, rank, Event::Completes(key));
    }

    /// The receive is posted, and the message or its RTS has arrived.
    fn matched(&mut self, now: u64, key: Key, bytes: u64) {
        let (from, to) = (key.0 as usize, key.1 as usize);
        match self.sends {
            Sends::Eager => self.take(now, to, key, bytes),
            Sends::Rendezvous => {
                self.at(now + CONTROL, from, Event::Completes(key));
                self.at(now + CONTROL + transit(bytes, Sends::Eager), to, Event::Data(key, bytes));
            }
        }
    }

    fn go_on(&mut self, now: u64, rank: usize) {
        let (script, eager) = (self.script, self.sends == Sends::Eager);
        self.ranks[rank].waits = Waits::Nothing;
        while let Some(line) = script.lines[rank].get(self.ranks[rank].at) {
            self.ranks[rank].at += 1;
            match (line.op, &line.moved) {
                (Op::Send { to, bytes, blocking, .. }, Some((key, ..))) => {
                    let end = self.occupy(now, rank, o_s(bytes));
                    let way = if eager { transit(bytes, Sends::Eager) } else { CONTROL };
                    self.at(end + way, to as usize, Event::Arrives(*key, bytes));
                    self.ranks[rank].pending += u64::from(!eager);
                    if eager || !blocking {
                        self.at(end, rank, Event::GoesOn);
                    } else {
                        self.ranks[rank].waits = Waits::One(*key);
                    }
                    return;
                }
                (Op::Receive { bytes, blocking, .. }, Some((key, ..))) => {
                    self.ranks[rank].pending += 1;
                    if self.arrived.remove(key) {
                        self.matched(now, *key, bytes);
                    } else {
                        self.posted.insert(*key);
                    }
                    self.ranks[rank].waits = if blocking { Waits::One(*key) } else { Waits::Nothing };
                }
                _ if self.ranks[rank].pending > 0 => self.ranks[rank].waits = Waits::All,
                _ => {}
            }
            if self.ranks[rank].waits != Waits::Nothing {
                return;
            }
        }
    }
}

const BOTH: [Sends; 2] = [Sends::Eager, Sends::Rendezvous];

/// `expected` gets the time of one message alone, `o_s + M + o_r`, as a function of its bytes.
fn check(what: PhaseAction, ranks: u32, expected: impl Fn(&dyn Fn(u64) -> u64) -> u64) {
    for sends in BOTH {
        let script = Script::new(&what, ranks);
        let hop = |bytes| hop(bytes, sends);
        assert_eq!(time(&script, sends), expected(&hop), "{} ({sends:?})", script.name);
    }
}

fn hop(bytes: u64, sends: Sends) -> u64 {
    o_s(bytes) + transit(bytes, sends) + o_r(bytes)
}

#[test]
fn symmetric_algorithms_take_a_hop_a_step() {
    for n in 2..=33 {
        let (edges, bytes) = (u64::from(n) - 1, u64::from(n) * 24);
        let steps = || (0..).map(|k| 1_u64 << k).take_while(|&distance| distance < u64::from(n));
        check(PhaseAction::Allreduce { algorithm: Allreduce::Ring, bytes }, n, |hop| 2 * edges * hop(24));
        check(PhaseAction::Allgather { algorithm: Allgather::Ring, bytes: 24 }, n, |hop| edges * hop(24));
        for algorithm in [ReduceScatter::Ring, ReduceScatter::Pairwise] {
            check(PhaseAction::ReduceScatter { algorithm, bytes }, n, |hop| edges * hop(24));
        }
        for algorithm in [Alltoall::Pairwise, Alltoall::LinearShift] {
            check(PhaseAction::Alltoall { algorithm, bytes: 24 }, n, |hop| edges * hop(24));
        }
        let gathered = |d: u64| 24 * d.min(u64::from(n) - d);
        let gather = PhaseAction::Allgather { algorithm: Allgather::Bruck, bytes: 24 };
        check(gather, n, |hop| steps().map(|d| hop(gathered(d))).sum());
        let with_bit = |d: u64| (0..u64::from(n)).filter(|j| j & d > 0).count() as u64;
        let exchange = PhaseAction::Alltoall { algorithm: Alltoall::Bruck, bytes: 24 };
        check(exchange, n, |hop| steps().map(|d| hop(24 * with_bit(d))).sum());
        let barrier = PhaseAction::Barrier { algorithm: Barrier::Dissemination };
        check(barrier, n, |hop| steps().map(|_| hop(0)).sum());
    }
}

/// All send to rank 0 first and to the last rank last. If nothing arrives before all sends are done, everything for the
/// last rank arrives at once when they are.
#[test]
fn a_linear_exchange_takes_the_work_of_one_cpu() {
    for n in 2..=33 {
        let scattered = PhaseAction::Alltoall { algorithm: Alltoall::Scattered, bytes: 24 };
        let what = PhaseAction::Alltoall { algorithm: Alltoall::Linear, bytes: 24 };
        let (script, edges) = (Script::new(&what, n), u64::from(n) - 1);
        let work = edges * (o_s(24) + o_r(24));
        assert!(BOTH.iter().all(|&sends| time(&Script::new(&scattered, n), sends) >= work), "{n} ranks");
        assert!(BOTH.iter().all(|&sends| time(&script, sends) >= work), "{n} ranks");
        if edges * o_s(24) < o_s(24) + transit(24, Sends::Eager) {
            assert_eq!(time(&script, Sends::Eager), work + transit(24, Sends::Eager), "{n} ranks");
        }
        assert!(n > 4 || edges * o_s(24) < o_s(24) + transit(24, Sends::Eager), "some have the closed form");
    }
}

/// Two nodes: nothing arrives before a rank has sent what it sends in its node, and then what comes is received as fast
/// as it comes. Catches rounds that wait for each other, messages between nodes that leave too early or in parts, and
/// another order inside a node.
#[test]
fn two_nodes_by_rails_take_an_exchange_inside_and_a_message_between() {
    let mut some = 0;
    for per_node in 2..=16_u32 {
        let (mates, block, whole) = (u64::from(per_node) - 1, 24, 24 * u64::from(per_node));
        let what = PhaseAction::PxnAlltoall { per_node, bytes: block };
        let taken = BOTH.map(|sends| time(&Script::new(&what, 2 * per_node), sends));
        if (2 * mates - 2) * o_s(block) < transit(block, Sends::Eager) {
            let inside = (2 * mates - 1) * o_s(block) + hop(block, Sends::Eager);
            assert_eq!(taken[0], inside + hop(whole, Sends::Eager), "{per_node} ranks a node");
            some += 1;
        }
        // A CPU works on every message.
        let work = 2 * mates * (o_s(block) + o_r(block)) + o_s(whole) + o_r(whole);
        assert!(taken.iter().all(|&taken| taken >= work), "{per_node} ranks a node");
    }
    assert!(some >= 2, "some have the closed form: {some}");
    for nodes in 2..=33 {
        let what = PhaseAction::PxnAlltoall { per_node: 1, bytes: 24 };
        let scattered = PhaseAction::Alltoall { algorithm: Alltoall::Scattered, bytes: 24 };
        let [taken, other] = [what, scattered].map(|what| time(&Script::new(&what, nodes), Sends::Eager));
        assert_eq!(taken, other, "{nodes} nodes of one rank");
    }
}

#[test]
fn powers_of_two_take_a_hop_a_bit() {
    for bits in 1..=6 {
        let (n, bytes, root) = (1 << bits, 24 << bits, (1 << bits) / 3);
        let halves = |hop: &dyn Fn(u64) -> u64| (1..=bits).map(|i| hop(bytes >> i)).sum::<u64>();
        check(PhaseAction::Allreduce { algorithm: Allreduce::RecursiveDoubling, bytes }, n, |hop| bits * hop(bytes));
        check(PhaseAction::Allreduce { algorithm: Allreduce::Rabenseifner, bytes }, n, |hop| 2 * halves(hop));
        check(PhaseAction::ReduceScatter { algorithm: ReduceScatter::RecursiveHalving, bytes }, n, halves);
        let gather = PhaseAction::Allgather { algorithm: Allgather::RecursiveDoubling, bytes: 24 };
        check(gather, n, |hop| (0..bits).map(|s| hop(24 << s)).sum());
        check(PhaseAction::Broadcast { algorithm: Broadcast::Binomial, root, bytes }, n, |hop| bits * hop(bytes));
        check(PhaseAction::Reduce { algorithm: Reduce::Binomial, root, bytes }, n, |hop| bits * hop(bytes));
        let scattered = PhaseAction::Broadcast { algorithm: Broadcast::ScatterDoubling, root, bytes };
        check(scattered, n, |hop| 2 * halves(hop));
    }
}

#[test]
fn neighbours_exchange_one_block_and_then_two() {
    for half in 1..=16 {
        let gather = PhaseAction::Allgather { algorithm: Allgather::NeighborExchange, bytes: 24 };
        check(gather, 2 * half, |hop| hop(24) + u64::from(half - 1) * hop(48));
    }
}

#[test]
fn a_tree_of_fours_takes_three_sends_a_level() {
    for levels in 1..=4 {
        let what = PhaseAction::Broadcast { algorithm: Broadcast::Knomial, root: 2, bytes: 24 };
        let taken = time(&Script::new(&what, 1 << (2 * levels)), Sends::Eager);
        assert_eq!(taken, levels * (2 * o_s(24) + hop(24, Sends::Eager)), "4^{levels} ranks");
    }
}

#[test]
fn trees_take_what_their_pages_say() {
    for depth in 2..=6 {
        let (n, root, bytes, levels) = ((1 << depth) - 1, depth, 24, u64::from(depth) - 1);
        let (up, down) = (o_r(bytes), o_s(bytes));
        check(PhaseAction::Reduce { algorithm: Reduce::Binary, root, bytes }, n, |hop| levels * (hop(bytes) + up));
        check(PhaseAction::Broadcast { algorithm: Broadcast::Binary, root, bytes }, n, |hop| {
            levels * (hop(bytes) + down)
        });
        let both = PhaseAction::Allreduce { algorithm: Allreduce::Binary, bytes };
        check(both, n, |hop| levels * (2 * hop(bytes) + up + down));
        let barrier = PhaseAction::Barrier { algorithm: Barrier::Binary };
        check(barrier, n, |hop| levels * (2 * hop(0) + o_r(0) + o_s(0)));
    }
    for n in 2..=33_u32 {
        let (root, bytes) = (n / 2, 24);
        let flat = PhaseAction::Broadcast { algorithm: Broadcast::Flat, root, bytes };
        check(flat, n, |hop| u64::from(n - 2) * o_s(bytes) + hop(bytes));
        let chain = PhaseAction::Broadcast { algorithm: Broadcast::Chain, root, bytes };
        check(chain, n, |hop| u64::from(n - 1) * hop(bytes));
    }
}

#[test]
fn each_of_two_trees_takes_its_depth_and_a_chain_its_length() {
    let of = |tree, way, per_node: u32| {
        let order = (per_node / 2..per_node).chain(0..per_node / 2).collect();
        PhaseAction::TreeChannel { tree, way, order, bytes: 24 }
    };
    for &tree in Tree::ALL {
        for depth in 1..=6 {
            let (n, levels) = (1 << depth, depth);
            check(of(tree, Way::Up, 1), n, |hop| levels * hop(24) + (levels - 1) * o_r(24));
            check(of(tree, Way::Down, 1), n, |hop| levels * hop(24) + (levels - 1) * o_s(24));
        }
        for (g, &way) in (1..=8).flat_map(|g| Way::ALL.iter().map(move |way| (g, way))) {
            check(of(tree, way, g), g, |hop| u64::from(g - 1) * hop(24));
        }
    }
}

#[test]
fn eager_binomial_broadcasts_take_their_longest_path() {
    for n in 2..=33_u32 {
        let bytes = 24;
        let path = |v: u32| -> u64 {
            let bit = |j: u32| match (v >> j & 1, v >> j >> 1 << j << 1) {
                (1, _) => hop(bytes, Sends::Eager),
                (_, above) if j > v.trailing_zeros() && above + (1 << j) < n => o_s(bytes),
                _ => 0,
            };
            (0..6).map(bit).sum()
        };
        let what = PhaseAction::Broadcast { algorithm: Broadcast::Binomial, root: n / 2, bytes };
        assert_eq!(Some(time(&Script::new(&what, n), Sends::Eager)), (1..n).map(path).max(), "{n} ranks");
    }
}

#[test]
fn scatter_and_allgather_take_as_long_as_their_parts() {
    for (bits, sends) in (1..=6).flat_map(|bits| BOTH.map(|sends| (bits, sends))) {
        let (n, bytes) = (1 << bits, 24 << bits);
        let what = PhaseAction::Broadcast { algorithm: Broadcast::ScatterAllgather, root: 1, bytes };
        let taken = time(&Script::new(&what, n), sends);
        let scattered: u64 = (1..=bits).map(|i| hop(bytes >> i, sends)).sum();
        let least = scattered + u64::from(n - 1) * hop(24, sends);
        let most = least + u64::from(n - 1) * o_r(24);
        assert!((least..=most).contains(&taken), "{n} ranks ({sends:?}): {least} <= {taken} <= {most}");
    }
}
