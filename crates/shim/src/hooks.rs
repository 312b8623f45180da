//! The functions that replace those of the C library, in the order of their names.

use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{c_int, c_void, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use crate::{socket, steer};

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

/// A function of the C library with the same name and arguments: `$before` runs first.
macro_rules! hook {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $before:expr) => {
        #[doc = concat!("Replaces `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the function of the C library.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
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
            $before;
            // SAFETY: the next function of that name has the same type, and gets the caller's arguments.
            unsafe {
                let next: unsafe extern "C" fn($($type),*) -> $result = std::mem::transmute(next);
                next($($argument),*)
            }
        }
    };
}

/// Bytes in a list of buffers; 0 if the list is wrong, which the kernel will tell the program.
///
/// # Safety
/// `buffers` is null or points to `count` buffers.
unsafe fn bytes_in(buffers: *const iovec, count: usize) -> u64 {
    if buffers.is_null() || count > libc::UIO_MAXIOV as usize {
        return 0;
    }
    // SAFETY: by contract of the function.
    let buffers = unsafe { std::slice::from_raw_parts(buffers, count) };
    buffers.iter().fold(0, |bytes, buffer| bytes.saturating_add(buffer.iov_len as u64))
}

hook!(
    connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int,
    // SAFETY: the caller's address has that length.
    steer::before(fd, 0, unsafe { socket::ipv4(address, length) })
);
hook!(
    send(fd: c_int, data: *const c_void, bytes: size_t, flags: c_int) -> ssize_t,
    steer::before(fd, bytes as u64, None)
);
hook!(
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t,
    // SAFETY: the caller's message is one, or null.
    if let Some(message) = unsafe { message.as_ref() } {
        // SAFETY: as above.
        steer::before(fd, unsafe { bytes_in(message.msg_iov, message.msg_iovlen) }, None);
    }
);
hook!(
    sendto(
        fd: c_int, data: *const c_void, bytes: size_t, flags: c_int, address: *const sockaddr, length: socklen_t
    ) -> ssize_t,
    steer::before(fd, bytes as u64, None)
);
hook!(
    write(fd: c_int, data: *const c_void, bytes: size_t) -> ssize_t,
    steer::before(fd, bytes as u64, None)
);
hook!(
    writev(fd: c_int, buffers: *const iovec, count: c_int) -> ssize_t,
    // SAFETY: the caller's list has that many buffers.
    steer::before(fd, unsafe { bytes_in(buffers, usize::try_from(count).unwrap_or(usize::MAX)) }, None)
);
