//! How small the packets of a program are.

use odonata_programs::trace::Task;
use odonata_programs::{Op, Program};

/// Operations of a program that are looked at; if it has more, any size is taken to be possible.
const LOOK: u64 = 1 << 22;

/// The smallest packet that a program sends, if packets hold `full` bytes and nothing has fewer than `control`; or less.
#[must_use]
pub fn least_packet(program: &Program, ranks: u32, control: u64, full: u64) -> u64 {
    let last = |bytes: u64| match bytes.max(control) % full {
        0 => full,
        rest => rest,
    };
    let mut least = last(control);
    let mut looked = 0;
    match program {
        Program::Phases(phases) => {
            let mut ops = Vec::new();
            for phase in 0..phases.len() {
                for rank in 0..ranks {
                    for index in 0..phases.chunks(phase, rank) {
                        ops.clear();
                        phases.chunk(phase, rank, index, &mut ops);
                        looked += 1 + ops.len() as u64;
                        if looked > LOOK {
                            return 1;
                        }
                        for op in &ops {
                            if let Op::Send { bytes, .. } = *op {
                                least = least.min(last(bytes));
                            }
                        }
                    }
                }
            }
        }
        Program::Trace(trace) => {
            for step in (0..ranks).flat_map(|rank| trace.graph(rank).steps()) {
                if let Task::Send { bytes, .. } = step.task {
                    least = least.min(last(bytes));
                }
            }
        }
    }
    least
}
