//! Each rank sends to the rank a fixed distance ahead (K16: one group's nodes).

/// The destination of `rank`.
#[inline]
pub(super) fn destination(offset: u64, rank: u32, ranks: u32) -> u32 {
    ((u64::from(rank) + offset % u64::from(ranks)) % u64::from(ranks)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_round() {
        assert_eq!(destination(384, 2_000, 2_304), 80);
        assert_eq!(destination(u64::MAX, 0, 7), (u64::MAX % 7) as u32);
    }
}
