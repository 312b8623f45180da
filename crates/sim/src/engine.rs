//! Time, pending events and random numbers; knows nothing of networks.

pub mod random;
