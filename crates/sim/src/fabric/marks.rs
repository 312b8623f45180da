//! Which packets switches mark (docs/model.md, section 3, "Congestion control").

use odonata_topology::ClassId;

use super::Wiring;
use super::packet::Event;
use super::wiring::CLASSES;
use crate::engine::random::{Source, Stream, below};
use crate::spec::{FabricSpec, MarkingPorts};

/// The backlogs behind which switches mark packets.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// By class of the output: in picoseconds. No packet is marked behind half of it, and all are behind three halves.
    above: [u64; CLASSES],
    random: Source,
    /// Packets on this channel and above are not marked: they are acknowledgements.
    first_response: u8,
}

impl Marks {
    /// Those of a fabric with congestion control whose links have these classes.
    #[must_use]
    pub fn new(fabric: &FabricSpec, classes: &[&str], seed: u64) -> Option<Self> {
        let control = fabric.congestion_control?;
        let mark_above = control.mark_above_bytes?;
        let marking_classes = match control.law.marking() {
            MarkingPorts::None => return None,
            MarkingPorts::ToNodes => 1,
            MarkingPorts::All => CLASSES,
        };
        let mut above = [u64::MAX; CLASSES];
        for (class, to) in classes.iter().zip(&mut above).take(marking_classes) {
            *to = fabric.links[*class].bandwidth.serialisation_ps(mark_above);
        }
        Some(Self { above, random: Source::new(seed, Stream::Mark), first_response: fabric.first_response() })
    }

    /// Whether a packet is marked that gets the output of a slot now, with so much work before it.
    #[must_use]
    pub fn marks(&self, wiring: &Wiring, backlog: u64, packet: &Event, slot: u32) -> bool {
        let wire = wiring.wires[slot as usize];
        let class = if wire.node { ClassId::NODE.0 } else { wire.class };
        let above = self.above[usize::from(class)];
        packet.channel() < self.first_response
            && backlog > above / 2
            && backlog - above / 2 > below(self.random.random(u64::from(slot), packet.time), above)
    }
}
