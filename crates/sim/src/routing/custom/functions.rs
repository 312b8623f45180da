//! The functions of a routing of one's own, as the core calls them (the C interface of docs/own-routing.md).
//!
//! All fields have eight bytes, so that C, Rust and NumPy agree on where they are.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The number in [`PacketView::memory`] of a packet that remembers nothing.
pub const NOTHING: i64 = -1;

/// What a function returns if it raised an exception.
pub const RAISED: i64 = i64::MIN;

/// The memory of a packet in the interface, from that in the packet.
pub(super) fn memory_of(kept: u32) -> i64 {
    if kept == u32::MAX { NOTHING } else { kept.into() }
}

/// A packet at a router.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PacketView {
    /// Its key, from which its random numbers come.
    pub key: i64,
    /// Links between routers that it has taken.
    pub hop: i64,
    /// Links between routers that it may still take.
    pub hops_left: i64,
    /// The router of its destination.
    pub destination: i64,
    /// Its payload, in bytes.
    pub bytes: i64,
    /// The port by which it came.
    pub came_from: i64,
    /// A number that goes with the packet: at first [`NOTHING`]. A function may write one below 2^32 - 1.
    pub memory: i64,
    /// What the router before learns of this decision; a function may write it, before it is 0.
    pub answer: f64,
}

/// A port by which a packet may leave.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PortView {
    /// Its number.
    pub port: i64,
    /// The router at the other end.
    pub router: i64,
    /// Fewest links between routers from there to the destination.
    pub links: i64,
    /// Whether it leads nearer to the destination: 1 or 0.
    pub minimal: i64,
    /// Its load, in picoseconds.
    pub load_ps: i64,
    /// The class of its link, from 1 on.
    pub class: i64,
}

/// A router at the time of a call, and the tables of its machine.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RouterView {
    /// Its number.
    pub router: i64,
    /// The time, in picoseconds.
    pub time_ps: i64,
    /// Routers of the machine.
    pub routers: i64,
    /// Its own numbers.
    pub state: *mut f64,
    /// Fewest links between two routers, row by row; 255 if no path joins them.
    pub links: *const u8,
    /// The group of each router; -1 if it belongs to none.
    pub groups: *const i64,
    /// The routers with nodes, ascending.
    pub ends: *const i64,
    /// How many they are.
    pub end_count: i64,
}

/// What a router learns of a packet that it has sent.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AnswerView {
    /// The port by which it was sent.
    pub port: i64,
    /// The router at the other end.
    pub router: i64,
    /// The router of its destination.
    pub destination: i64,
    /// From the decision at this router to that at the next one, in picoseconds.
    pub delay_ps: i64,
    /// What the function wrote at the next router; 0 at the router of the destination.
    pub answer: f64,
    /// Whether the next router is that of the destination: 1 or 0.
    pub last: i64,
    /// The memory with which the packet was sent.
    pub memory: i64,
}

/// Picks a port by its position among the ports.
pub type Route = unsafe extern "C" fn(*mut PacketView, *const PortView, i64, *const RouterView) -> i64;
/// Fills the numbers of a router before the run, from its ports without load. Returns 0, or [`RAISED`].
pub type Start = unsafe extern "C" fn(*const PortView, i64, *const RouterView) -> i64;
/// Learns from an answer. Returns 0, or [`RAISED`].
pub type Learn = unsafe extern "C" fn(*const AnswerView, *const RouterView) -> i64;

/// The functions of a routing.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// Called once for each packet at each router but the last.
    pub route: Route,
    /// Called once for each router, before the run.
    pub start: Option<Start>,
    /// Called for each answer.
    pub learn: Option<Learn>,
}

static PROGRAMS: LazyLock<Mutex<HashMap<String, Functions>>> = LazyLock::new(Mutex::default);

/// Makes functions known under the name by which specifications ask for them.
///
/// # Safety
/// The functions keep to the interface, may be called from any thread until the process ends, and write nothing but
/// `memory` and `answer` of the packet and the numbers of the router.
pub unsafe fn register(program: &str, functions: Functions) {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner).insert(program.to_owned(), functions);
}

/// The functions with a name, if they are known.
#[must_use]
pub fn registered(program: &str) -> Option<Functions> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner).get(program).copied()
}
