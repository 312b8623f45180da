//! Binary GOAL: what `txt2bin` of LogGOPSim makes of a text. `docs/traces.md` has the format byte by byte.
//!
//! All numbers are little-endian and stand without gaps. The offsets of the jump table count from the byte after the cookie.

mod read;
mod write;

/// The first eight bytes.
const COOKIE: u64 = 4223;
/// What LogGOPSim makes of them when it spoils a file (`--save-mem`).
const SPOILT: u64 = 2342;
/// Bytes of the cookie, from whose end on offsets count.
const ORIGIN: usize = 8;
/// Bytes before the jump table, from the origin on: number of ranks, largest CPU, largest NIC.
const HEAD: usize = 6;
/// Bytes of a rank in the jump table.
const SPAN: usize = 16;
/// Bytes before the roots of a rank: number of operations, number of roots.
const COUNTS: usize = 8;

/// Kinds of operations.
const SEND: u8 = 1;
const RECEIVE: u8 = 2;
const COMPUTE: u8 = 3;

/// Bytes of an operation in the layout of LogGOPSim, ATLAHS and htsim, which is also the one that is written.
const SHORT: usize = 39;
/// The same in the layout of LogGOPSim2, which adds 65 bytes for operations of Portals 4. They mean nothing for the three kinds that are
/// known here (LogGOPSim2 leaves them as they come out of memory).
const LONG: usize = 104;

/// Peer or tag that means any.
const ANY: u32 = u32::MAX;
/// Picoseconds of the unit of time.
const PS: u64 = 1000;
