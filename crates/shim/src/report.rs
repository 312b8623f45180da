//! What is printed on standard error.

use std::io::Write as _;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use crate::socket;

const STDERR: libc::c_int = 2;

/// What descriptor 2 was when the program started: device and file. `None` if it was nothing, or a TCP connection,
/// whose peer expects no text of ours.
static STANDARD_ERROR: OnceLock<Option<(u64, u64)>> = OnceLock::new();

fn standard_error() -> Option<(u64, u64)> {
    let mut stat = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel writes the structure, which is made of integers.
    let stat = unsafe { (libc::fstat(STDERR, stat.as_mut_ptr()) == 0).then(|| stat.assume_init())? };
    socket::tcp_family(STDERR).is_none().then_some((stat.st_dev as u64, stat.st_ino as u64))
}

/// Remembers what standard error is. Called once, when the library is loaded.
pub fn start() {
    let _ = STANDARD_ERROR.set(standard_error());
}

/// Prints a line, if descriptor 2 is still what it was and takes the line at once: the program neither waits nor
/// receives a signal.
pub fn print(line: std::fmt::Arguments<'_>) {
    let Some(Some(known)) = STANDARD_ERROR.get() else { return };
    let mut ready = libc::pollfd { fd: STDERR, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one structure.
    let ready = unsafe { libc::poll(&raw mut ready, 1, 0) == 1 } && ready.revents & libc::POLLOUT != 0;
    if !ready || standard_error() != Some(*known) {
        return;
    }
    let text = format!("odonata-shim: {line}\n");
    without_sigpipe(|| {
        let _ = std::io::stderr().write_all(text.as_bytes());
    });
}

/// A pipe without a reader raises a signal in the thread that writes; it is taken away again.
fn without_sigpipe(action: impl FnOnce()) {
    // SAFETY: sets of signals on the stack, and the mask of this thread.
    unsafe {
        let mut pipe = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
        let [mut old, mut pending] = [pipe; 2];
        libc::sigemptyset(&raw mut pipe);
        libc::sigaddset(&raw mut pipe, libc::SIGPIPE);
        libc::sigpending(&raw mut pending);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const pipe, &raw mut old);
        action();
        if libc::sigismember(&raw const pending, libc::SIGPIPE) == 0 {
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&raw const pipe, std::ptr::null_mut(), &raw const now);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut());
    }
}
