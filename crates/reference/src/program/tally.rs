//! Counters by rank and iteration (model, section 10, "Measurements").

use odonata_sim::output::{Iterations, NOT_FINISHED, Operations, Ranks};

use super::Running;

/// The times of the ranks that have ended an iteration.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// When each began it and ended it.
    ranks: Vec<(u64, u64)>,
}

impl Times {
    /// One more rank has ended it.
    pub(crate) fn count(&mut self, began: u64, ended: u64) {
        self.ranks.push((began, ended));
    }
}

/// One row per rank.
pub(crate) fn rank_rows(programs: &[Option<Running<'_>>]) -> Ranks {
    let mut rows = Ranks::default();
    for (job, running) in programs.iter().enumerate() {
        for (number, rank) in running.iter().flat_map(|r| &r.ranks).enumerate() {
            rows.job.push(job as u16);
            rows.rank.push(number as u32);
            rows.finish_ps.push(rank.finished.unwrap_or(NOT_FINISHED));
            rows.work_ps.push(rank.cpus.worked);
        }
    }
    rows
}

/// One row per iteration that at least one rank has ended.
pub(crate) fn iteration_rows(programs: &[Option<Running<'_>>]) -> Iterations {
    let mut rows = Iterations::default();
    for (job, running) in programs.iter().enumerate() {
        for (&iteration, Times { ranks }) in running.iter().flat_map(|r| &r.iterations) {
            let begins = || ranks.iter().map(|&(began, _)| began);
            let ends = || ranks.iter().map(|&(_, ended)| ended);
            let took = || ranks.iter().map(|&(began, ended)| ended - began);
            let some = "some rank has ended it";
            rows.job.push(job as u16);
            rows.iteration.push(iteration as u32);
            rows.ranks.push(ranks.len() as u32);
            rows.first_begin_ps.push(begins().min().expect(some));
            rows.last_begin_ps.push(begins().max().expect(some));
            rows.first_end_ps.push(ends().min().expect(some));
            rows.last_end_ps.push(ends().max().expect(some));
            rows.longest_ps.push(took().max().expect(some));
            rows.total_ps.push(took().sum());
        }
    }
    rows
}

/// One row per CPU task: those of all ranks, or of the multiples of the least power of two with few enough rows.
pub(crate) fn operation_rows(programs: &[Option<Running<'_>>]) -> Operations {
    let most = Operations::limit(programs.iter().flatten().count());
    let mut rows = Operations::default();
    for (job, running) in programs.iter().enumerate() {
        let ranks: Vec<_> = running.iter().flat_map(|r| &r.ranks).map(|rank| &rank.cpus.requested).collect();
        let mut every = 1;
        while every < ranks.len() && ranks.iter().step_by(every).map(|tasks| tasks.len()).sum::<usize>() > most {
            every *= 2;
        }
        let kept =
            ranks.iter().enumerate().step_by(every).flat_map(|(rank, tasks)| tasks.iter().map(move |t| (rank, t)));
        for (rank, &(iteration, cpu, task, times)) in kept.take(most) {
            rows.push(job as u16, [rank as u32, iteration as u32], cpu, task, times);
        }
    }
    rows
}
