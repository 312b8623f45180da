//! What is said of a program that cannot go on.

use odonata_programs::Program;
use odonata_programs::trace::{Graph, Task};

use super::matching::{Half, Key};
use super::running::Running;

/// As many are named.
const NAMED: usize = 8;

impl Running {
    /// What some ranks wait for, in order of rank.
    pub(super) fn what_waits(&self) -> Vec<String> {
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
                let Key { to, from, iteration, .. } = key;
                let what = if receives {
                    format!("receive {bytes} bytes from rank {from}")
                } else {
                    format!("send {bytes} bytes to rank {to}")
                };
                format!("rank {rank} waits to {what}{}", self.place(rank, token, iteration))
            })
            .collect()
    }

    /// Where in the program that is.
    fn place(&self, rank: u32, token: u32, iteration: u32) -> String {
        let of = if self.iterations == Some(1) { String::new() } else { format!(", iteration {iteration}") };
        match &self.program {
            Program::Phases(phases) => {
                let here = &self.ranks[rank as usize];
                let phase = if phases.len() == 1 { String::new() } else { format!("phase {}, ", here.phase) };
                format!(" ({phase}step {}{of})", here.chunk)
            }
            Program::Trace(trace) => {
                let graph: &Graph = trace.graph(rank);
                let step = graph.steps()[token as usize];
                let (Task::Send { label, .. } | Task::Receive { label, .. }) = step.task else { return String::new() };
                format!(" with tag {} (line {}{of})", trace.tag(label), step.line)
            }
        }
    }
}
