//! The sizes of what a program sends.

use odonata_programs::trace::Action;
use odonata_programs::{Op, Phases, Program};

use crate::spec::Costs;

/// Operations of a program that are examined.
const LOOK: usize = 1 << 22;

/// What the messages of a program look like on the network.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// A lower bound of the smallest payload of a packet.
    pub least: u32,
    /// Mean number of packets of the messages that are examined; 1 if there are none.
    pub packets: f64,
}

impl Sizes {
    /// The sizes of a program with these costs, if packets hold `full` bytes. If it has too many operations, any packet is
    /// assumed possible.
    #[must_use]
    pub fn new(program: &Program, ranks: u32, costs: &Costs, full: u32) -> Self {
        let (control, header) = (u64::from(costs.control_bytes), u64::from(costs.header_bytes));
        let full = u64::from(full);
        let last = |bytes: u64| match (bytes.max(control) + header) % full {
            0 => full,
            rest => rest,
        };
        let mut least = full;
        let (mut messages, mut packets) = (0_u64, 0_u64);
        let mut count = |bytes: u64, of_them: u64| {
            least = least.min(last(bytes));
            if bytes > costs.eager_bytes {
                least = least.min(last(control)); // only a rendezvous has control messages
            }
            messages = messages.saturating_add(of_them);
            packets = packets.saturating_add((bytes.max(control) + header).div_ceil(full).saturating_mul(of_them));
        };
        let mut all = true;
        let mut look = LOOK;
        // The messages of phases that so many ranks run so many times.
        let mut count_phases = |phases: &Phases, ranks: u32, times: u64| {
            for phase in 0..phases.len() {
                if let Some(sizes) = phases.sizes(phase) {
                    sizes.into_iter().for_each(|(bytes, of_them)| count(bytes, of_them.saturating_mul(times)));
                    continue;
                }
                let mut ops = (0..ranks).flat_map(|rank| phases.ops_of(phase..phase + 1, rank));
                for op in ops.by_ref().take(look) {
                    look -= 1;
                    if let Op::Send { bytes, .. } = op {
                        count(bytes, times);
                    }
                }
                all &= ops.next().is_none();
            }
        };
        match program {
            Program::Phases(phases) => count_phases(phases, ranks, 1),
            Program::Stages(staged) => {
                staged.phases().for_each(|(phases, times)| count_phases(phases, staged.width(), times));
                staged.sizes_between().for_each(|(bytes, of_them)| count(bytes, of_them));
            }
            Program::Trace(trace) => {
                for operation in (0..ranks).flat_map(|rank| trace.graph(rank).operations()) {
                    if let Action::Send { bytes, .. } = operation.action {
                        count(bytes, 1);
                    }
                }
            }
        }
        let packets = packets.max(1) as f64 / messages.max(1) as f64;
        Self { least: if all { least as u32 } else { 1 }, packets }
    }
}
