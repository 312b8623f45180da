//! A library for `LD_PRELOAD` that steers the TCP connections of a program over two paths (Linux).
//!
//! It stands before `connect`, `send`, `sendto`, `sendmsg`, `write` and `writev`. Before each send on a TCP socket, the
//! decision component selects a mode, and the shim sets the type of service (TOS) of the socket to the value of that
//! mode. Policy routing maps the TOS to a path. The counters come from `TCP_INFO`. docs/application-aware.md says how
//! to use it, and what it shows.
//!
//! Whatever goes wrong here, the program goes on:
//!
//! - Its call is made with its own arguments, and `errno` is the one of that call. What its pointers point to is read
//!   through the kernel, so that a bad one is the kernel's answer to the program.
//! - Bytes count once the kernel has taken them.
//! - `write` makes no other system call unless the descriptor is known to be a TCP socket. After the program has
//!   restricted its system calls (seccomp), nothing is steered.
//! - A type of service that the program chose stays.
//! - The path of a send allocates no memory and never waits, so signal handlers, threads and the children of a `fork`
//!   are safe.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | the variable `ODONATA_SHIM` |
//! | `counters.rs` | from `TCP_INFO` to the counters of the component |
//! | `connection.rs` | the state of a connection, and what a send does to it |
//! | `descriptors.rs` | what is known about file descriptors without a system call |
//! | `memory.rs` | memory of the program, read through the kernel |
//! | `socket.rs` | what the kernel says about a socket |
//! | `steer.rs` | all connections |
//! | `report.rs` | what is printed on standard error |
//! | `hooks.rs` | the functions that replace those of the C library |

#![cfg_attr(any(not(target_os = "linux"), test), allow(dead_code))]

mod connection;
mod counters;
mod settings;

// Not in tests, whose own calls they would replace.
#[cfg(all(target_os = "linux", not(test)))]
mod descriptors;
#[cfg(all(target_os = "linux", not(test)))]
mod hooks;
#[cfg(all(target_os = "linux", not(test)))]
mod memory;
#[cfg(all(target_os = "linux", not(test)))]
mod report;
#[cfg(all(target_os = "linux", not(test)))]
mod socket;
#[cfg(all(target_os = "linux", not(test)))]
mod steer;
