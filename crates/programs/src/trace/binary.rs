//! Binary GOAL: the output of LogGOPSim's `txt2bin`. `docs/traces.md` has the format byte by byte.
//!
//! All numbers are little-endian, without padding. The offsets of the jump table count from the byte after the cookie.

mod read;
mod write;

/// The first eight bytes.
const COOKIE: u64 = 4223;
/// What LogGOPSim writes there when it overwrites a file (`--save-mem`).
const SPOILT: u64 = 2342;
/// Bytes of the cookie. Offsets count from its end.
const ORIGIN: usize = 8;
/// Bytes before the jump table, from the origin: number of ranks, largest CPU, largest NIC.
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
/// The same in the layout of LogGOPSim2, which adds 65 bytes for operations of Portals 4. They have no meaning for the
/// three kinds that are supported here (LogGOPSim2 leaves them uninitialised).
const LONG: usize = 104;

/// Peer or tag that matches any.
const ANY: u32 = u32::MAX;
/// Picoseconds of the unit of time.
const PS: u64 = 1000;
