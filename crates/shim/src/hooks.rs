//! The functions that replace those of the C library, in the order of their names.

use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{c_int, c_long, c_ulong, c_void, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use crate::{descriptors, memory, socket, steer};

// SAFETY: the dynamic linker calls the functions in these sections when the library is loaded and when the program
// ends; they have the right type.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        steer::start();
    }
    start
};
// SAFETY: as above.
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = {
    extern "C" fn end() {
        steer::end();
    }
    end
};

/// The next function of a name behind this library; looked up once.
struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address; null if there is none, with `errno` as of a missing system call.
    fn address(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if !found.is_null() {
            return found;
        }
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            // SAFETY: it points to the `errno` of this thread.
            unsafe { *libc::__errno_location() = libc::ENOSYS };
        }
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// A function of the C library with the same name and arguments: `$before` runs first, and `$after` gets its value and
/// the result. Without a destructor on its stack, because a thread may be cancelled in the middle.
macro_rules! hook {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $before:expr, |$known:pat_param, $answer:ident| $after:expr) => {
        #[doc = concat!("Replaces `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the function of the C library.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            static NEXT: Next = Next::new(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name with a zero byte"),
                },
            );
            let next = NEXT.address();
            if next.is_null() {
                return -1;
            }
            let $known = $before;
            // SAFETY: the next function of that name has the same type, and gets the caller's arguments.
            let $answer = unsafe {
                let next: unsafe extern "C-unwind" fn($($type),*) -> $result = std::mem::transmute(next);
                next($($argument),*)
            };
            $after;
            $answer
        }
    };
}

/// Sets an option of a socket for the shim, not for the program.
pub fn set_option(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) {
    static NEXT: Next = Next::new(c"setsockopt");
    let next = NEXT.address();
    if !next.is_null() {
        // SAFETY: the C library's function has this type, and the kernel checks the arguments.
        unsafe {
            let next: unsafe extern "C" fn(c_int, c_int, c_int, *const c_void, socklen_t) -> c_int =
                std::mem::transmute(next);
            next(fd, level, name, value, length);
        }
    }
}

/// Whether a send also connects.
fn connects(flags: c_int) -> bool {
    flags & libc::MSG_FASTOPEN != 0
}

/// Whether a call restricts the system calls of the program: `prctl(PR_SET_SECCOMP, mode)`.
fn restricts(option: c_ulong, mode: c_ulong) -> bool {
    option == libc::PR_SET_SECCOMP as c_ulong && mode != libc::SECCOMP_MODE_DISABLED as c_ulong
}

hook!(
    accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int,
    (),
    |(), new| if new >= 0 { steer::accepted(fd, new) }
);
hook!(
    accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int,
    (),
    |(), new| if new >= 0 { steer::accepted(fd, new) }
);
hook!(
    connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int,
    steer::open(fd, (address.cast(), length)),
    |opening, result| steer::opened(opening, result < 0)
);
hook!(dup(fd: c_int) -> c_int, (), |(), new| descriptors::copy(fd, new));
hook!(dup2(fd: c_int, to: c_int) -> c_int, (), |(), new| descriptors::copy(fd, new));
hook!(dup3(fd: c_int, to: c_int, flags: c_int) -> c_int, (), |(), new| descriptors::copy(fd, new));
// The last argument is optional, as that of `prctl` and `syscall`: where it is missing, what is passed on is not read.
hook!(
    fcntl(fd: c_int, command: c_int, argument: *mut c_void) -> c_int,
    (),
    |(), new| if [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].contains(&command) { descriptors::copy(fd, new) }
);
hook!(
    fcntl64(fd: c_int, command: c_int, argument: *mut c_void) -> c_int,
    (),
    |(), new| if [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].contains(&command) { descriptors::copy(fd, new) }
);
hook!(
    prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int,
    (),
    |(), result| if result == 0 && restricts(option as c_ulong, a) { steer::confine() }
);
hook!(
    send(fd: c_int, data: *const c_void, bytes: size_t, flags: c_int) -> ssize_t,
    steer::send(fd, || Some(bytes as u64), || None),
    |sending, result| steer::sent(sending, result)
);
hook!(
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t,
    steer::send(
        fd,
        || memory::value(message).and_then(|it| memory::bytes_in(it.msg_iov, it.msg_iovlen)),
        || {
            let it = connects(flags).then(|| memory::value(message)).flatten()?;
            Some((it.msg_name.cast_const(), it.msg_namelen))
        }
    ),
    |sending, result| steer::sent(sending, result)
);
hook!(
    sendto(
        fd: c_int, data: *const c_void, bytes: size_t, flags: c_int, address: *const sockaddr, length: socklen_t
    ) -> ssize_t,
    steer::send(fd, || Some(bytes as u64), || connects(flags).then_some((address.cast(), length))),
    |sending, result| steer::sent(sending, result)
);
hook!(
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) -> c_int,
    (),
    |(), result| if result == 0 && socket::chooses_tos(level, name) { steer::own(fd) }
);
hook!(
    socket(family: c_int, kind: c_int, protocol: c_int) -> c_int,
    (),
    |(), new| {
        let stream = kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) == libc::SOCK_STREAM;
        let tcp = stream && [0, libc::IPPROTO_TCP].contains(&protocol);
        descriptors::replace(new, tcp && [libc::AF_INET, libc::AF_INET6].contains(&family));
    }
);
hook!(
    syscall(
        number: c_long, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong, e: c_ulong, f: c_ulong
    ) -> c_long,
    (),
    |(), result| {
        let mode = number == libc::SYS_prctl && restricts(a, b);
        let modes = [libc::SECCOMP_SET_MODE_STRICT, libc::SECCOMP_SET_MODE_FILTER];
        let seccomp = number == libc::SYS_seccomp && modes.iter().any(|&mode| c_ulong::from(mode) == a);
        // A filter may have a descriptor that listens to it.
        if result >= 0 && (mode || seccomp) {
            steer::confine();
        }
    }
);
hook!(
    write(fd: c_int, data: *const c_void, bytes: size_t) -> ssize_t,
    steer::write(fd, || Some(bytes as u64)),
    |sending, result| steer::sent(sending, result)
);
hook!(
    writev(fd: c_int, buffers: *const iovec, count: c_int) -> ssize_t,
    steer::write(fd, || usize::try_from(count).ok().and_then(|count| memory::bytes_in(buffers, count))),
    |sending, result| steer::sent(sending, result)
);
