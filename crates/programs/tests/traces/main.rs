//! Traces, as text and as graphs.

mod goal;
mod goal_errors;
mod support;
