//! Machines as pure data: their wiring. One module per behaviour; each test names the defect that it catches.

mod dragonfly;
mod fat_tree;
mod golden;
mod graph;
mod hyperx;
mod json;
mod kang2019;
mod lookups;
mod plus;
mod refusals;
mod support;
mod wiring;
