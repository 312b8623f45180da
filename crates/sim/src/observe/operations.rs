//! What the CPUs of ranks did (docs/model.md, section 10, "Operations").

/// Most rows of all jobs together, of 48 bytes each.
const MAX_ROWS: usize = 1 << 20;

/// What a CPU task is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Computing.
    Compute,
    /// Combining a received vector of some bytes with local data.
    Combine {
        /// Its size.
        bytes: u64,
    },
    /// Sending a message.
    Send {
        /// The rank that it goes to.
        to: u32,
        /// Its size.
        bytes: u64,
    },
    /// Receiving a message.
    Receive {
        /// The rank that it comes from.
        from: u32,
        /// Its size.
        bytes: u64,
    },
    /// The gap before an iteration.
    Gap,
}

/// The rank at the other end of a task that is no message.
pub const NO_PEER: u32 = u32::MAX;

impl Task {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Combine { .. } => "combine",
            Self::Send { .. } => "send",
            Self::Receive { .. } => "receive",
            Self::Gap => "gap",
        }
    }

    /// The rank at the other end of the message, or [`NO_PEER`].
    #[must_use]
    pub fn peer(self) -> u32 {
        match self {
            Self::Send { to: peer, .. } | Self::Receive { from: peer, .. } => peer,
            Self::Compute | Self::Combine { .. } | Self::Gap => NO_PEER,
        }
    }

    /// Bytes of the message or vector; 0 for others.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Combine { bytes } | Self::Send { bytes, .. } | Self::Receive { bytes, .. } => bytes,
            Self::Compute | Self::Gap => 0,
        }
    }
}

/// Columns of equal length, one row per CPU task of a rank, sorted by job, rank and order of request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Index of the job.
    pub job: Vec<u16>,
    /// The rank.
    pub rank: Vec<u32>,
    /// Its CPU.
    pub cpu: Vec<u16>,
    /// Its iteration; of a gap, the next one.
    pub iteration: Vec<u32>,
    /// What the task is for.
    pub task: Vec<Task>,
    /// When it begins.
    pub begin_ps: Vec<u64>,
    /// When it ends; maybe after the run.
    pub end_ps: Vec<u64>,
}

impl Operations {
    /// Most rows of each of some jobs with programs.
    #[must_use]
    pub fn limit(jobs: usize) -> usize {
        MAX_ROWS / jobs.max(1)
    }

    /// Adds a row.
    pub fn push(&mut self, job: u16, [rank, iteration]: [u32; 2], cpu: u16, task: Task, [begin, end]: [u64; 2]) {
        self.job.push(job);
        self.rank.push(rank);
        self.cpu.push(cpu);
        self.iteration.push(iteration);
        self.task.push(task);
        self.begin_ps.push(begin);
        self.end_ps.push(end);
    }
}

#[derive(Clone, Copy, Debug)]
struct Row {
    rank: u32,
    iteration: u32,
    cpu: u16,
    task: Task,
    begin: u64,
    end: u64,
}

/// The tasks of a job: those of all ranks, or of every second, fourth, ... rank if there are too many.
#[derive(Debug)]
pub struct OperationCounts {
    rows: Vec<Row>,
    most: usize,
    ranks: u32,
    /// Ranks that are multiples of it are recorded.
    every: u32,
}

impl OperationCounts {
    /// No tasks yet, of a job with some ranks; at most `most` are kept.
    #[must_use]
    pub fn new(ranks: u32, most: usize) -> Self {
        Self { rows: Vec::new(), most, ranks, every: 1 }
    }

    /// Records a task. The tasks of a rank come in the order of their requests.
    pub fn record(&mut self, [rank, iteration]: [u32; 2], cpu: u16, task: Task, [begin, end]: [u64; 2]) {
        while rank % self.every == 0 && self.rows.len() >= self.most && self.every < self.ranks {
            self.keep_every(2 * self.every);
        }
        if rank % self.every == 0 && self.rows.len() < self.most {
            self.rows.push(Row { rank, iteration, cpu, task, begin, end });
        }
    }

    fn keep_every(&mut self, every: u32) {
        self.every = every;
        self.rows.retain(|row| row.rank % every == 0);
    }

    /// Takes over the tasks of other ranks of the job, which another partition has recorded.
    pub fn absorb(&mut self, mut other: Self) {
        let every = self.every.max(other.every);
        self.keep_every(every);
        other.keep_every(every);
        self.rows.append(&mut other.rows);
        while self.rows.len() > self.most && self.every < self.ranks {
            self.keep_every(2 * self.every);
        }
    }

    /// Adds the rows to those of earlier jobs.
    pub fn add_to(mut self, job: u16, operations: &mut Operations) {
        self.rows.sort_by_key(|row| row.rank); // stable: those of a rank stay in their order
        for Row { rank, iteration, cpu, task, begin, end } in self.rows {
            operations.push(job, [rank, iteration], cpu, task, [begin, end]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rank and time of each row, with `most` rows of four ranks.
    fn kept(most: usize, tasks: impl IntoIterator<Item = (u32, u64)>) -> Vec<(u32, u64)> {
        let mut counts = OperationCounts::new(4, most);
        for (rank, time) in tasks {
            counts.record([rank, 0], 0, Task::Compute, [time, time + 1]);
        }
        let mut operations = Operations::default();
        counts.add_to(0, &mut operations);
        operations.rank.into_iter().zip(operations.begin_ps).collect()
    }

    #[test]
    fn a_job_with_too_many_tasks_keeps_those_of_some_ranks_whatever_the_order() {
        let by_time = || (0..10_u64).flat_map(|time| (0..4).map(move |rank| (rank, time)));
        let by_rank = || (0..4).flat_map(|rank| (0..10_u64).map(move |time| (rank, time)));
        for (most, every) in [(40, 1), (39, 2), (20, 2), (19, 4), (10, 4)] {
            let expected: Vec<_> = by_rank().filter(|(rank, _)| rank % every == 0).collect();
            assert_eq!(kept(most, by_time()), expected, "{most}");
            assert_eq!(kept(most, by_rank()), expected, "{most}");
        }
    }

    #[test]
    fn the_first_tasks_of_one_rank_are_kept_if_even_those_are_too_many() {
        let by_time = || (0..10_u64).flat_map(|time| (0..4).map(move |rank| (rank, time)));
        assert_eq!(kept(7, by_time()), (0..7).map(|time| (0, time)).collect::<Vec<_>>());
    }
}
