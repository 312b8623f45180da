//! Jobs that run programs: what operations cost and wait for, and what is recorded of them (docs/model.md, section 10).

mod books;
mod closed_forms;
mod cpus;
mod deadlocked;
mod gpus;
mod independence;
mod iterations;
mod memory;
mod messages;
mod oracle;
mod random;
mod refusals;
mod rows;
mod second_opinion;
pub mod support;
