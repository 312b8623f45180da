//! The error for a deadlocked program.

use odonata_error::Awaited;
use odonata_programs::Program;
use odonata_programs::trace::{Action, Graph};

use super::matching::{MessageKey, ReceiverState};
use super::running::Running;

/// Number of ranks that it names.
const NAMED: usize = 8;

impl Running {
    /// What some ranks wait for, in order of rank.
    pub(super) fn what_waits(&self) -> Vec<Awaited> {
        let receives = self.at_receiver.iter().filter_map(|(key, half)| match half {
            ReceiverState::Posted { bytes, token, .. } => Some((key.to, key, bytes, token, true)),
            _ => None,
        });
        let sends =
            self.at_sender.iter().map(|(&key, rendezvous)| (key.from, key, rendezvous.bytes, rendezvous.token, false));
        let mut all: Vec<_> = receives.chain(sends).collect();
        all.sort_unstable();
        // One line per rank: the first thing that it waits for, by peer, iteration and label.
        all.dedup_by_key(|&mut (rank, ..)| rank);
        all.into_iter()
            .take(NAMED)
            .map(|(rank, key, bytes, token, receives)| {
                let (operation, peer) = if receives { ("receive", key.from) } else { ("send", key.to) };
                let iteration = (self.iterations != Some(1)).then_some(key.iteration);
                let waiting =
                    Awaited { rank, operation, bytes, peer, phase: None, step: None, tag: None, line: None, iteration };
                self.placed(waiting, &key, token)
            })
            .collect()
    }

    /// With the position in the program.
    fn placed(&self, waiting: Awaited, key: &MessageKey, token: u32) -> Awaited {
        match &*self.program {
            Program::Phases(phases) => {
                let state = &self.ranks[waiting.rank as usize];
                let phase = (phases.len() > 1).then_some(state.phase);
                Awaited { phase, step: Some(state.chunk), ..waiting }
            }
            Program::Stages(staged) => {
                let line = staged.line(waiting.rank, key.label, waiting.operation == "receive", waiting.peer);
                Awaited { tag: Some(key.label), line, ..waiting }
            }
            Program::Trace(trace) => {
                let graph: &Graph = trace.graph(waiting.rank);
                let operation = graph.operations()[token as usize];
                let (Action::Send { label, .. } | Action::Receive { label, .. }) = operation.action else {
                    return waiting;
                };
                Awaited { tag: Some(trace.tag(label)), line: Some(operation.line), ..waiting }
            }
        }
    }
}
