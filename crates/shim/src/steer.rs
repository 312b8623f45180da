//! All connections of the process, and what is printed about them.

use std::io::Write as _;
use std::net::Ipv4Addr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use libc::c_int;
use odonata_decision::Mode;

use crate::connection::Connection;
use crate::settings::Config;
use crate::socket;

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

static SENDS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
static CHANGES: AtomicU64 = AtomicU64::new(0);
static OBSERVED: AtomicU64 = AtomicU64::new(0);

/// Reads the settings. Called once, when the library is loaded.
pub fn start() {
    let text = std::env::var_os("ODONATA_SHIM").unwrap_or_default();
    let config = match text.to_str().map_or_else(|| Err("it is no UTF-8".to_owned()), Config::read) {
        Ok(config) => Some(config),
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "odonata-shim: ODONATA_SHIM: {why}; the program runs unsteered");
            None
        }
    };
    let _ = CONFIG.set(config);
}

/// Prints the report, if it is asked for. Called when the program ends.
pub fn end() {
    let Some(Some(config)) = CONFIG.get() else { return };
    let [default, high_bias] = [&SENDS[0], &SENDS[1]].map(|count| count.load(Ordering::Relaxed));
    if config.report && default + high_bias > 0 {
        let _ = writeln!(
            std::io::stderr(),
            "odonata-shim: pid {}, {}: {default} sends with the default ({:#04x}), {high_bias} with high bias ({:#04x}), \
             {} changes, {} observations",
            std::process::id(),
            config.kind.name(),
            config.default_tos,
            config.high_bias_tos,
            CHANGES.load(Ordering::Relaxed),
            OBSERVED.load(Ordering::Relaxed),
        );
    }
}

/// Steers the next `bytes` of a file descriptor, if it is a TCP socket. `peer` is known while it connects. Keeps
/// `errno`.
pub fn before(fd: c_int, bytes: u64, peer: Option<Ipv4Addr>) {
    let Some(Some(config)) = CONFIG.get() else { return };
    // SAFETY: it points to the `errno` of this thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let saved = unsafe { *errno };
    // A panic must not leave the library: the caller is C.
    let _ = catch_unwind(AssertUnwindSafe(|| steer(config, fd, bytes, peer)));
    // SAFETY: as above.
    unsafe { *errno = saved };
}

fn steer(config: &Config, fd: c_int, bytes: u64, connecting: Option<Ipv4Addr>) -> Option<()> {
    let cookie = socket::cookie(fd)?;
    // A slot that is in use belongs to another thread, to the code that a signal interrupted, or to the parent of a
    // `fork`. None of them is waited for.
    let mut slot = TABLE[cookie as usize % SLOTS].try_lock().ok()?;
    let entry = match &mut *slot {
        // The peer of a socket that connects may be another one than was known before.
        Some(entry) if entry.cookie == cookie && (entry.steered.is_some() || connecting.is_none()) => entry,
        other => other.insert(Entry { cookie, steered: steered(config, fd, connecting) }),
    };
    let (family, connection) = entry.steered.as_mut()?;
    let step = connection.send(bytes, &socket::reading(fd)?, config);
    let high_bias = step.mode == Mode::HighBias;
    // Also if nothing changed: another process may share the socket. The kernel does nothing for the same value.
    socket::set_tos(fd, *family, if high_bias { config.high_bias_tos } else { config.default_tos });
    if bytes > 0 {
        SENDS[usize::from(high_bias)].fetch_add(1, Ordering::Relaxed);
    }
    CHANGES.fetch_add(step.changed.into(), Ordering::Relaxed);
    OBSERVED.fetch_add(step.observed.into(), Ordering::Relaxed);
    Some(())
}

/// The family and the state of a new socket that is to be steered.
fn steered(config: &Config, fd: c_int, connecting: Option<Ipv4Addr>) -> Option<(c_int, Connection)> {
    let family = socket::tcp_family(fd)?;
    if let Some(network) = config.to
        && !network.contains(connecting.or_else(|| socket::peer(fd))?)
    {
        return None;
    }
    Some((family, Connection::new(config)?))
}
