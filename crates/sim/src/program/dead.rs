//! What is said of a program that cannot go on.

use odonata_error::Awaited;
use odonata_programs::Program;
use odonata_programs::trace::{Graph, Task};

use super::matching::Half;
use super::running::Running;

/// As many are named.
const NAMED: usize = 8;

impl Running {
    /// What some ranks wait for, in order of rank.
    pub(super) fn what_waits(&self) -> Vec<Awaited> {
        let receives = self.at_receiver.iter().filter_map(|(&key, half)| match *half {
            Half::Posted { bytes, token, .. } => Some((key.to, key, bytes, token, true)),
            _ => None,
        });
        let sends = self.at_sender.iter().map(|(&key, asking)| (key.from, key, asking.bytes, asking.token, false));
        let mut all: Vec<_> = receives.chain(sends).collect();
        all.sort_unstable();
        // One line a rank: the first of what it waits for, by peer, iteration and label.
        all.dedup_by_key(|&mut (rank, ..)| rank);
        all.into_iter()
            .take(NAMED)
            .map(|(rank, key, bytes, token, receives)| {
                let (operation, peer) = if receives { ("receive", key.from) } else { ("send", key.to) };
                let iteration = (self.iterations != Some(1)).then_some(key.iteration);
                let waiting =
                    Awaited { rank, operation, bytes, peer, phase: None, step: None, tag: None, line: None, iteration };
                self.placed(waiting, token)
            })
            .collect()
    }

    /// With the place in the program.
    fn placed(&self, waiting: Awaited, token: u32) -> Awaited {
        match &self.program {
            Program::Phases(phases) => {
                let here = &self.ranks[waiting.rank as usize];
                let phase = (phases.len() > 1).then_some(here.phase);
                Awaited { phase, step: Some(here.chunk), ..waiting }
            }
            Program::Trace(trace) => {
                let graph: &Graph = trace.graph(waiting.rank);
                let step = graph.steps()[token as usize];
                let (Task::Send { label, .. } | Task::Receive { label, .. }) = step.task else { return waiting };
                Awaited { tag: Some(trace.tag(label)), line: Some(step.line), ..waiting }
            }
        }
    }
}
