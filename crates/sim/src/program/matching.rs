//! Messages by key, at their receivers and at their senders.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::running::Token;
use crate::engine::random::mix64;

/// The key of a message, unique in its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageKey {
    pub to: u32,
    pub from: u32,
    pub iteration: u32,
    pub label: u64,
}

/// What the receiver of a message knows of it.
#[derive(Clone, Copy, Debug)]
pub enum ReceiverState {
    /// A receive is posted; neither the message nor its RTS has arrived.
    Posted { token: Token, cpu: u16, bytes: u64 },
    /// The message has arrived, and no receive is posted.
    Arrived { bytes: u64 },
    /// An RTS has arrived, and no receive is posted.
    RtsArrived { bytes: u64 },
    /// The sender has been told that a receive is posted.
    CtsSent { token: Token, cpu: u16 },
}

/// What the sender knows of a message whose RTS it has sent.
#[derive(Clone, Copy, Debug)]
pub struct RendezvousSend {
    pub token: Token,
    pub bytes: u64,
    pub issue: u64,
    pub row: u32,
}

/// Hashes a key by mixing; no result depends on the order of a map.
#[derive(Default)]
pub struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = mix64(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ value);
    }
}

pub type Map<V> = HashMap<MessageKey, V, BuildHasherDefault<Mixer>>;
