//! The reference simulator against the fast one, and against numbers worked out by hand. One program, so that it is
//! linked once.

mod blame;
mod direct;
mod equality;
mod programs;
mod refusals;
mod variety;
mod zero_load;
