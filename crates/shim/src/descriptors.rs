//! What is known about the file descriptors of the process without a system call.
//!
//! `write` and `writev` serve everything: files, pipes, terminals. They ask the kernel only about a descriptor that is
//! known to be a TCP socket. Nothing here sees a `close`, so a number may be used again for something else; the first
//! write then asks the kernel and forgets the number.

use std::sync::atomic::{AtomicU8, Ordering};

use libc::c_int;

/// Descriptors above are not steered by `write` and `writev`.
const COUNT: usize = 1 << 16;
const TCP: u8 = 1;
const OWN: u8 = 2;

static KNOWN: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];

fn at(fd: c_int) -> Option<&'static AtomicU8> {
    KNOWN.get(usize::try_from(fd).ok()?)
}

/// Whether it is known to be a TCP socket.
pub fn is_tcp(fd: c_int) -> bool {
    at(fd).is_some_and(|known| known.load(Ordering::Relaxed) & TCP != 0)
}

/// Whether the program has chosen its type of service.
pub fn is_own(fd: c_int) -> bool {
    at(fd).is_some_and(|known| known.load(Ordering::Relaxed) & OWN != 0)
}

/// It is a new TCP socket, or anything else.
pub fn replace(fd: c_int, tcp: bool) {
    if let Some(known) = at(fd) {
        known.store(if tcp { TCP } else { 0 }, Ordering::Relaxed);
    }
}

/// It is a TCP socket.
pub fn learn(fd: c_int) {
    if let Some(known) = at(fd) {
        known.fetch_or(TCP, Ordering::Relaxed);
    }
}

/// The program has chosen its type of service.
pub fn own(fd: c_int) {
    if let Some(known) = at(fd) {
        known.fetch_or(OWN, Ordering::Relaxed);
    }
}

/// `to` is a copy of `from`.
pub fn copy(from: c_int, to: c_int) {
    if let (Some(from), Some(to)) = (at(from), at(to)) {
        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
