//! Dragonflies and cascades.

mod golden;
