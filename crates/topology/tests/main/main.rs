//! Machines as pure data: what is wired to what. One module a behaviour; each test names the defect it would catch.

mod dragonfly;
mod golden;
mod json;
mod kang2019;
mod lookups;
mod plus;
mod refusals;
mod support;
mod wiring;
