//! Application-aware routing: which routing mode the next message should use (De Sensi 2019, section 4.2).
//!
//! The component knows no simulator and no network. Its inputs are the size of a message and the counters of the NIC;
//! its output is a routing mode. The caller asks [`Policy::select`] before it sends a message and hands the counters of
//! that message to [`Policy::observe`] afterwards. The same calls give the same modes on every machine.
//!
//! | file | what |
//! |---|---|
//! | `counters.rs` | the counters of a NIC, and what they say: latency and stalls |
//! | `message.rs` | a message as the model sees it: packets and flits; the routing modes |
//! | `model.rs` | equations 1, 2 and 3 |
//! | `policy.rs` | `Policy`: the threshold, and the choice among the policies below |
//! | `library.rs` | what the library of the authors does |
//! | `app_aware.rs` | Algorithm 1 as the paper describes it, with learned factors |
//! | `hysteresis.rs` | Algorithm 1 that does not oscillate |
//! | `bandit.rs` | a bandit that explores |
//! | `ratio.rs` | learned medians with bounded memory |
//! | `random.rs` | counter-based random numbers |

#![forbid(unsafe_code)]

mod app_aware;
mod bandit;
mod counters;
mod hysteresis;
mod library;
mod message;
mod model;
mod policy;
mod random;
mod ratio;

pub use counters::{Counters, Sample};
pub use message::{Message, Mode, Operation, Side, Size};
pub use model::{OUTSTANDING, prefer_high_bias, round_trip, transmission_time};
pub use policy::{Decision, Kind, Policy, Settings};
