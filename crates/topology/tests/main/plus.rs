//! Dragonfly+ machines that are not regular: exceptions, a smaller last group, listed cables, failures.

mod failures;
mod irregular;
mod refusals;
