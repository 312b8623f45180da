//! Properties of the motifs, tested by running them: all ranks' operations, with every send matched to its receive.
//! Each test names the defect that it would catch.

mod cheap;
mod halo;
mod halo_order;
mod incast;
mod matrix;
mod ping_pong;
mod refusals;
mod run;
mod sweep;
mod traffic;
mod training;
mod training_books;
