//! Memory of the program, read as the kernel reads it: a bad address is an answer, not a crash.

use std::mem::{MaybeUninit, size_of};

use libc::{c_void, iovec, msghdr, sockaddr_storage, socklen_t};

/// Values made of integers and addresses only, for which every byte is valid.
///
/// # Safety
/// Every byte pattern is a value of the type.
pub unsafe trait Plain: Copy {}
// SAFETY: integers and addresses.
unsafe impl Plain for iovec {}
// SAFETY: as above.
unsafe impl Plain for msghdr {}

/// Copies `bytes` bytes; `false` if the program cannot read them all, or may not ask.
fn copy(from: *const c_void, to: *mut c_void, bytes: usize) -> bool {
    let local = iovec { iov_base: to, iov_len: bytes };
    let remote = iovec { iov_base: from.cast_mut(), iov_len: bytes };
    // SAFETY: `to` has room for `bytes` (the callers below), and the kernel checks `from`.
    let done = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(done) == Ok(bytes)
}

/// A value of the program.
pub fn value<T: Plain>(from: *const T) -> Option<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: all of it is initialised, and every pattern is valid.
    copy(from.cast(), value.as_mut_ptr().cast(), size_of::<T>()).then(|| unsafe { value.assume_init() })
}

/// A socket address of the program, as far as it fits.
pub fn address(from: *const c_void, length: socklen_t) -> Option<sockaddr_storage> {
    let bytes = (length as usize).min(size_of::<sockaddr_storage>());
    let mut address = MaybeUninit::<sockaddr_storage>::zeroed();
    // SAFETY: all of it is initialised, and it is made of integers.
    copy(from, address.as_mut_ptr().cast(), bytes).then(|| unsafe { address.assume_init() })
}

/// Bytes in a list of buffers; `None` if the list is wrong, which the kernel will tell the program.
pub fn bytes_in(buffers: *const iovec, count: usize) -> Option<u64> {
    if count > libc::UIO_MAXIOV as usize {
        return None;
    }
    // A signal handler has a small stack.
    const AT_A_TIME: usize = 16;
    let mut some = [iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; AT_A_TIME];
    let mut bytes = 0u64;
    for first in (0..count).step_by(AT_A_TIME) {
        let many = AT_A_TIME.min(count - first);
        if !copy(buffers.wrapping_add(first).cast(), some.as_mut_ptr().cast(), many * size_of::<iovec>()) {
            return None;
        }
        bytes = some[..many].iter().fold(bytes, |bytes, buffer| bytes.saturating_add(buffer.iov_len as u64));
    }
    Some(bytes)
}
