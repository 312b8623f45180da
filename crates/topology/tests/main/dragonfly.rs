//! Dragonflies and cascades.

mod failures;
mod golden;
mod listed;
mod numbering;
mod papers;
mod refusals;
mod second;
mod support;
mod wiring;
