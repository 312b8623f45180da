//! All connections of the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use libc::{c_int, c_void, sockaddr_storage, socklen_t};
use odonata_decision::Mode;

use crate::connection::Connection;
use crate::counters::Reading;
use crate::settings::Config;
use crate::{descriptors, memory, report, socket};

/// A socket in the table.
struct Entry {
    cookie: u64,
    /// `None` if it is not steered.
    steered: Option<(c_int, Connection)>,
}

/// Sockets that are known at a time. Two sockets in one slot replace each other and start again, which is harmless.
const SLOTS: usize = 256;
/// In place, because a send must not allocate.
static TABLE: [Mutex<Option<Entry>>; SLOTS] = [const { Mutex::new(None) }; SLOTS];

/// `None` after wrong settings: the program runs unsteered.
static CONFIG: OnceLock<Option<Config>> = OnceLock::new();

/// The program has restricted its system calls: a further one could end it.
static CONFINED: AtomicBool = AtomicBool::new(false);

static SENDS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
static CHANGES: AtomicU64 = AtomicU64::new(0);
static OBSERVED: AtomicU64 = AtomicU64::new(0);

/// What a send has to know after the kernel's answer.
#[derive(Clone, Copy)]
pub struct Sending {
    cookie: u64,
    mode: Mode,
    now: Reading,
    opening: Option<Opening>,
}

/// What a call that connects has to know after the kernel's answer.
#[derive(Clone, Copy)]
pub struct Opening {
    fd: c_int,
    cookie: u64,
    connected: bool,
}

/// Where a call connects to: an address of the program.
pub type Target = (*const c_void, socklen_t);

/// Reads the settings. Called once, when the library is loaded.
pub fn start() {
    report::start();
    let text = std::env::var_os("ODONATA_SHIM").unwrap_or_default();
    let config = match text.to_str().map_or_else(|| Err("it is no UTF-8".to_owned()), Config::read) {
        Ok(config) => Some(config),
        Err(why) => {
            report::print(format_args!("ODONATA_SHIM: {why}; the program runs unsteered"));
            None
        }
    };
    if config.is_some() {
        inherit();
    }
    let _ = CONFIG.set(config);
}

/// Learns the TCP sockets that the program was started with.
fn inherit() {
    let mut all = [libc::pollfd { fd: 0, events: 0, revents: 0 }; 1024];
    for (one, fd) in all.iter_mut().zip(0..) {
        one.fd = fd;
    }
    // SAFETY: the list has that length.
    unsafe { libc::poll(all.as_mut_ptr(), all.len() as libc::nfds_t, 0) };
    for one in all.iter().filter(|one| one.revents & libc::POLLNVAL == 0) {
        if socket::tcp_family(one.fd).is_some() {
            descriptors::learn(one.fd);
        }
    }
}

/// Prints the report, if it is asked for. Called when the program ends.
pub fn end() {
    let Some(Some(config)) = CONFIG.get() else { return };
    let [default, high_bias] = [&SENDS[0], &SENDS[1]].map(|count| count.load(Ordering::Relaxed));
    if config.report && default + high_bias > 0 && !CONFINED.load(Ordering::Relaxed) {
        report::print(format_args!(
            "pid {}, {}: {default} sends with the default ({:#04x}), {high_bias} with high bias ({:#04x}), \
             {} changes, {} observations",
            std::process::id(),
            config.kind.name(),
            config.default_tos,
            config.high_bias_tos,
            CHANGES.load(Ordering::Relaxed),
            OBSERVED.load(Ordering::Relaxed),
        ));
    }
}

/// The program has restricted its system calls.
pub fn confine() {
    CONFINED.store(true, Ordering::Relaxed);
}

/// Runs a part of the shim, if it steers. Keeps `errno`, which it gets.
fn quietly<T>(action: impl FnOnce(&'static Config, c_int) -> Option<T>) -> Option<T> {
    let Some(Some(config)) = CONFIG.get() else { return None };
    if CONFINED.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: it points to the `errno` of this thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let saved = unsafe { *errno };
    // A panic must not leave the library: the caller is C.
    let result = catch_unwind(AssertUnwindSafe(|| action(config, saved))).ok().flatten();
    // SAFETY: as above.
    unsafe { *errno = saved };
    result
}

/// The slot of a socket. One that is in use belongs to another thread, to the code that a signal interrupted, or to the
/// parent of a `fork`. None of them is waited for.
fn slot(cookie: u64) -> Option<MutexGuard<'static, Option<Entry>>> {
    TABLE[cookie as usize % SLOTS].try_lock().ok()
}

/// Before a call that connects: the first segment takes the path of the connection. Follow with `opened`.
pub fn open(fd: c_int, target: Target) -> Option<Opening> {
    quietly(|config, _| opening(config, fd, target))
}

fn opening(config: &Config, fd: c_int, (address, length): Target) -> Option<Opening> {
    let family = socket::tcp_family(fd)?;
    let cookie = socket::cookie(fd)?;
    descriptors::learn(fd);
    let connected = socket::peer(fd).is_some();
    if !connected {
        // It may have tried another peer before.
        let mut slot = slot(cookie)?;
        restore(fd, &slot, cookie);
        let target = || memory::address(address, length);
        let steered = steered(config, fd, family, target);
        if let Some((family, connection)) = &steered {
            set(config, fd, *family, connection.next(0, &Reading::default(), config));
        }
        *slot = Some(Entry { cookie, steered });
    }
    Some(Opening { fd, cookie, connected })
}

/// After a call that connects.
pub fn opened(opening: Option<Opening>, failed: bool) {
    let Some(opening) = opening else { return };
    quietly(|_, errno| conclude(opening, failed, errno));
}

fn conclude(Opening { fd, cookie, connected }: Opening, failed: bool, errno: c_int) -> Option<()> {
    let under_way = [libc::EINPROGRESS, libc::EALREADY, libc::EINTR, libc::EISCONN, libc::EAGAIN];
    let ended = if connected { !failed } else { failed && !under_way.contains(&errno) };
    if ended {
        let mut slot = slot(cookie)?;
        restore(fd, &slot, cookie);
        slot.take_if(|entry| entry.cookie == cookie);
    }
    Some(())
}

/// Takes back the type of service of a socket that was steered.
fn restore(fd: c_int, slot: &Option<Entry>, cookie: u64) {
    if let Some(Entry { cookie: known, steered: Some((family, _)) }) = slot
        && *known == cookie
        && !descriptors::is_own(fd)
    {
        socket::set_tos(fd, *family, 0);
    }
}

/// Before a send of `bytes` on a descriptor. `target` is where it also connects to. Follow with `sent`.
pub fn send(
    fd: c_int,
    bytes: impl FnOnce() -> Option<u64>,
    target: impl FnOnce() -> Option<Target>,
) -> Option<Sending> {
    quietly(|config, _| sending(config, fd, bytes, target))
}

/// Before a write to a descriptor, which may be anything.
pub fn write(fd: c_int, bytes: impl FnOnce() -> Option<u64>) -> Option<Sending> {
    if descriptors::is_tcp(fd) { send(fd, bytes, || None) } else { None }
}

fn sending(
    config: &Config,
    fd: c_int,
    bytes: impl FnOnce() -> Option<u64>,
    target: impl FnOnce() -> Option<Target>,
) -> Option<Sending> {
    let Some(cookie) = socket::cookie(fd) else {
        descriptors::replace(fd, false);
        return None;
    };
    let opening = target().and_then(|target| opening(config, fd, target));
    let mut slot = slot(cookie)?;
    if slot.as_ref().is_none_or(|entry| entry.cookie != cookie) {
        let steered = match socket::tcp_family(fd) {
            None => None,
            Some(family) => {
                descriptors::learn(fd);
                // Before it is connected, nothing is known about it.
                let peer = socket::peer(fd)?;
                steered(config, fd, family, || Some(peer))
            }
        };
        *slot = Some(Entry { cookie, steered });
    }
    let (family, connection) = slot.as_ref()?.steered.as_ref()?;
    let now = socket::reading(fd)?;
    let mode = connection.next(bytes().unwrap_or(0), &now, config);
    // Also if nothing changed: another process may share the socket. The kernel does nothing for the same value.
    set(config, fd, *family, mode);
    Some(Sending { cookie, mode, now, opening })
}

/// After a send: the kernel's answer.
pub fn sent(sending: Option<Sending>, result: isize) {
    let Some(Sending { cookie, mode, now, opening }) = sending else { return };
    quietly(|config, errno| {
        if let Some(opening) = opening
            && !opening.connected
        {
            conclude(opening, result < 0, errno);
        }
        let bytes = u64::try_from(result).ok().filter(|&bytes| bytes > 0)?;
        SENDS[usize::from(mode == Mode::HighBias)].fetch_add(1, Ordering::Relaxed);
        let mut slot = slot(cookie)?;
        let entry = slot.as_mut().filter(|entry| entry.cookie == cookie)?;
        let step = entry.steered.as_mut()?.1.sent(mode, bytes, &now, config);
        CHANGES.fetch_add(step.changed.into(), Ordering::Relaxed);
        OBSERVED.fetch_add(step.observed.into(), Ordering::Relaxed);
        Some(())
    });
}

/// After `accept`: a new socket, which has the type of service of its listener.
pub fn accepted(listener: c_int, fd: c_int) {
    quietly(|_, _| {
        descriptors::replace(fd, socket::tcp_family(fd).is_some());
        if descriptors::is_own(listener) {
            descriptors::own(fd);
        }
        Some(())
    });
}

/// The program has chosen the type of service of a socket, which is from here on its own.
pub fn own(fd: c_int) {
    quietly(|_, _| {
        descriptors::own(fd);
        let cookie = socket::cookie(fd)?;
        let mut slot = slot(cookie)?;
        slot.as_mut().filter(|entry| entry.cookie == cookie)?.steered = None;
        Some(())
    });
}

fn set(config: &Config, fd: c_int, family: c_int, mode: Mode) {
    let tos = if mode == Mode::HighBias { config.high_bias_tos } else { config.default_tos };
    socket::set_tos(fd, family, tos);
}

/// The family and the state of a new connection that is to be steered.
fn steered(
    config: &Config,
    fd: c_int,
    family: c_int,
    peer: impl FnOnce() -> Option<sockaddr_storage>,
) -> Option<(c_int, Connection)> {
    if let Some(network) = config.to
        && !network.contains(socket::ipv4(&peer()?)?)
    {
        return None;
    }
    // Another value than those of the shim was chosen before the program started, or for the listener.
    let ours = [0, config.default_tos, config.high_bias_tos];
    if descriptors::is_own(fd) || !socket::tos_is_among(fd, family, ours) {
        return None;
    }
    Some((family, Connection::new(config)?))
}
