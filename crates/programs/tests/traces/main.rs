//! Traces, as text and as graphs.

mod binary;
mod chakra;
mod csv;
mod csv_errors;
mod garbage;
mod goal;
mod goal_errors;
mod page;
mod phases;
mod round;
mod staged;
mod stages;
mod support;
