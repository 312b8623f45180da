//! A library for `LD_PRELOAD` that steers the TCP connections of a program over two paths (Linux).
//!
//! It stands before `connect`, `send`, `sendto`, `sendmsg`, `write` and `writev`. Before each send on a TCP socket, the
//! decision component selects a mode, and the shim sets the type of service (TOS) of the socket to the value of that
//! mode. Policy routing maps the TOS to a path. The counters come from `TCP_INFO`. docs/application-aware.md says how
//! to use it, and what it shows.
//!
//! Whatever goes wrong here, the program goes on: its call is made with its own arguments, and `errno` is the one of
//! that call. The path of a send allocates no memory and never waits, so signal handlers, threads and the children of
//! a `fork` are safe.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | the variable `ODONATA_SHIM` |
//! | `counters.rs` | from `TCP_INFO` to the counters of the component |
//! | `connection.rs` | the state of a connection, and what a send does to it |
//! | `socket.rs` | what the kernel says about a socket |
//! | `steer.rs` | all connections; the report |
//! | `hooks.rs` | the functions that replace those of the C library |

#![cfg_attr(any(not(target_os = "linux"), test), allow(dead_code))]

mod connection;
mod counters;
mod settings;

// Not in tests, whose own calls they would replace.
#[cfg(all(target_os = "linux", not(test)))]
mod hooks;
#[cfg(all(target_os = "linux", not(test)))]
mod socket;
#[cfg(all(target_os = "linux", not(test)))]
mod steer;
