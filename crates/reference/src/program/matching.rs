//! Messages and receives of one rank that wait for each other (model, section 10, "Receiving").

use std::collections::{BTreeMap, VecDeque};

use super::execution::Nics;
use super::rank_event::{Arrival, MessageKey};

/// A receive that has been posted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    /// The operation.
    pub(crate) op: usize,
    /// The CPU that it will occupy.
    pub(crate) cpu: u16,
    /// The NICs of its CTS, or of its get and its FIN.
    pub(crate) nics: Nics,
}

/// Arrivals and posted receives of a rank that have no match yet.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    /// Messages and RTS that arrived before their receive was posted.
    arrived: BTreeMap<MessageKey, Arrival>,
    /// Receives that were posted before their message arrived.
    posted: BTreeMap<MessageKey, Posted>,
    /// Receives that have sent a CTS or a get and wait for the data.
    pub(crate) data_awaited: BTreeMap<MessageKey, Posted>,
    /// Matches that have not been asked for, because the rank has asked for as many as it may; the first comes next.
    pub(crate) not_asked: VecDeque<(Posted, Arrival)>,
}

impl Matching {
    /// A message or an RTS arrives; returns the receive that it matches.
    pub(crate) fn arrive(&mut self, arrival: Arrival) -> Option<Posted> {
        let posted = self.posted.remove(&arrival.key);
        if posted.is_none() {
            self.arrived.insert(arrival.key, arrival);
        }
        posted
    }

    /// A receive is posted; returns its match.
    pub(crate) fn post(&mut self, key: MessageKey, receive: Posted) -> Option<Arrival> {
        let arrived = self.arrived.remove(&key);
        if arrived.is_none() {
            self.posted.insert(key, receive);
        }
        arrived
    }
}
