//! The keys of packets whose routing hashes (model, section 6, "Channels").

use odonata_sim::engine::random::{Stream, packet_key, random};
use odonata_sim::spec::{AriesMode, Keys, RoutingSpec, Select, Spec, Spread};

/// The key of all packets of a message, if their routing gives them the same; `message_key` is the message's own.
pub(crate) fn shared_key(spec: &Spec, routing: &RoutingSpec, message_key: u64, from: u32, to: u32) -> Option<u32> {
    match routing {
        RoutingSpec::Minimal { select: Select::Hash, .. }
        | RoutingSpec::Valiant { select: Select::Hash, .. }
        | RoutingSpec::DimensionOrder { select: Select::Hash }
        | RoutingSpec::Autonet { select: Select::Hash }
        | RoutingSpec::UpDown { spread: Spread::Hash }
        | RoutingSpec::Custom { keys: Keys::Flow, .. }
        | RoutingSpec::Aries { mode: AriesMode::InOrder, .. } => {
            Some((random(spec.seed, Stream::Flow, u64::from(from), u64::from(to)) >> 32) as u32)
        }
        RoutingSpec::Aries { mode: AriesMode::MinHash | AriesMode::NminHash, .. } => Some(packet_key(message_key, 0)),
        _ => None,
    }
}
