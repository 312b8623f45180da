//! What the kernel says about a socket.

use std::mem::{MaybeUninit, size_of};
use std::net::Ipv4Addr;

use libc::{c_int, c_void, sockaddr_storage, socklen_t};

use crate::counters::Reading;
use crate::hooks;

/// The part of the kernel's `struct tcp_info` that is needed (linux/tcp.h; complete since Linux 4.19).
#[repr(C)]
struct TcpInfo {
    bytes: [u8; 8],
    before_rtt: [u32; 15],
    rtt: u32,
    after_rtt: [u32; 8],
    rates: [u64; 2],
    bytes_acked: u64,
    bytes_received: u64,
    segments: [u32; 2],
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    times: [u64; 3],
    delivered: [u32; 2],
    bytes_sent: u64,
    bytes_retrans: u64,
}

const _: () = assert!(size_of::<TcpInfo>() == 216);

/// An option of a socket whose value is a plain number or a structure of them.
fn option<T>(fd: c_int, level: c_int, name: c_int) -> Option<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes of `value`.
    let done = unsafe { libc::getsockopt(fd, level, name, value.as_mut_ptr().cast(), &raw mut length) };
    // SAFETY: `T` is made of integers, for which every byte is valid, and the kernel has filled all of it.
    (done == 0 && length as usize == size_of::<T>()).then(|| unsafe { value.assume_init() })
}

/// A number that no other socket of the machine has ever had; `None` if `fd` is no socket.
pub fn cookie(fd: c_int) -> Option<u64> {
    option(fd, libc::SOL_SOCKET, libc::SO_COOKIE)
}

/// The address family of a TCP socket; `None` if it is another socket.
pub fn tcp_family(fd: c_int) -> Option<c_int> {
    let protocol: c_int = option(fd, libc::SOL_SOCKET, libc::SO_PROTOCOL)?;
    let family: c_int = option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN)?;
    (protocol == libc::IPPROTO_TCP && (family == libc::AF_INET || family == libc::AF_INET6)).then_some(family)
}

/// The address of the peer; `None` before a connection.
pub fn peer(fd: c_int) -> Option<sockaddr_storage> {
    let mut address = MaybeUninit::<sockaddr_storage>::zeroed();
    let mut length = size_of::<sockaddr_storage>() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes of `address`.
    let done = unsafe { libc::getpeername(fd, address.as_mut_ptr().cast(), &raw mut length) };
    // SAFETY: it was zeroed, and it is made of integers.
    (done == 0).then(|| unsafe { address.assume_init() })
}

/// The IPv4 address in a socket address, also if IPv6 wraps it.
pub fn ipv4(address: &sockaddr_storage) -> Option<Ipv4Addr> {
    let start = &raw const *address;
    match c_int::from(address.ss_family) {
        libc::AF_INET => {
            // SAFETY: the storage has room for every address, and is aligned for it.
            let address = unsafe { start.cast::<libc::sockaddr_in>().read() };
            Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { start.cast::<libc::sockaddr_in6>().read() };
            std::net::Ipv6Addr::from(address.sin6_addr.s6_addr).to_ipv4_mapped()
        }
        _ => None,
    }
}

/// What `TCP_INFO` says; `None` if the kernel does not say all of it.
pub fn reading(fd: c_int) -> Option<Reading> {
    let info: TcpInfo = option(fd, libc::IPPROTO_TCP, libc::TCP_INFO)?;
    Some(Reading {
        bytes_acked: info.bytes_acked,
        bytes_written: info.bytes_sent.wrapping_sub(info.bytes_retrans).wrapping_add(info.notsent_bytes.into()),
        segments: info.data_segs_out,
        rtt_us: info.rtt,
        delivery_rate: info.delivery_rate,
    })
}

/// The options that hold the type of service. An IPv6 socket needs both: it may have IPv4 peers.
fn tos_options(family: c_int) -> &'static [(c_int, c_int)] {
    const OPTIONS: [(c_int, c_int); 2] = [(libc::IPPROTO_IP, libc::IP_TOS), (libc::IPPROTO_IPV6, libc::IPV6_TCLASS)];
    if family == libc::AF_INET6 { &OPTIONS } else { &OPTIONS[..1] }
}

/// Whether an option chooses the type of service, or the priority that the kernel derives from it.
pub fn chooses_tos(level: c_int, name: c_int) -> bool {
    tos_options(libc::AF_INET6).contains(&(level, name)) || (level, name) == (libc::SOL_SOCKET, libc::SO_PRIORITY)
}

/// Whether the type of service is one of these; its two lowest bits belong to congestion notification.
pub fn tos_is_among(fd: c_int, family: c_int, values: [u8; 3]) -> bool {
    tos_options(family).iter().all(|&(level, name)| {
        let value: Option<c_int> = option(fd, level, name);
        value.is_some_and(|value| values.iter().any(|&one| c_int::from(one) == value & 0xfc))
    })
}

/// Sets the type of service of the segments from here on.
pub fn set_tos(fd: c_int, family: c_int, tos: u8) {
    let value = c_int::from(tos);
    for &(level, name) in tos_options(family) {
        let size = size_of::<c_int>() as socklen_t;
        hooks::set_option(fd, level, name, (&raw const value).cast::<c_void>(), size);
    }
}
