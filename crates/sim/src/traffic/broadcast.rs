//! The root sends one message to every other rank, one by one (K17: flat, no tree). The next interval begins only when
//! all have arrived, which the simulation sees to.

/// The destinations of the root.
pub(super) fn list(root: u32, ranks: u32, to: &mut Vec<u32>) {
    to.extend((0..ranks).filter(|&rank| rank != root));
}
