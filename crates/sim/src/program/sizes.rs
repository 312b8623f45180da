//! A lower bound of the packet size of a program.

use odonata_programs::trace::Action;
use odonata_programs::{Op, Program};

use crate::spec::Costs;

/// Operations of a program that are examined. If there are more, any size is assumed possible.
const LOOK: usize = 1 << 22;

/// A lower bound of the smallest payload of a packet that a program with these costs sends, if packets hold `full`
/// bytes.
#[must_use]
pub fn least_packet(program: &Program, ranks: u32, costs: &Costs, full: u64) -> u64 {
    let (control, header) = (u64::from(costs.control_bytes), u64::from(costs.header_bytes));
    let last = |bytes: u64| match (bytes.max(control) + header) % full {
        0 => full,
        rest => rest,
    };
    let mut least = last(control);
    match program {
        Program::Phases(phases) => {
            let mut ops = (0..ranks).flat_map(|rank| phases.ops(rank));
            for op in ops.by_ref().take(LOOK) {
                if let Op::Send { bytes, .. } = op {
                    least = least.min(last(bytes));
                }
            }
            if ops.next().is_some() {
                return 1;
            }
        }
        Program::Trace(trace) => {
            for operation in (0..ranks).flat_map(|rank| trace.graph(rank).operations()) {
                if let Action::Send { bytes, .. } = operation.action {
                    least = least.min(last(bytes));
                }
            }
        }
    }
    least
}
