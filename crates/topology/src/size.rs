//! How large a machine a router radix allows (Kang 2019, section 2.1, equations 1 to 3).

/// Largest Dragonfly+ of radix-`r` routers, in nodes: `(r/2)^2 * ((r/2)^2 + 1)` (equation 1; the printed
/// binomials are fractions).
#[must_use]
pub fn dragonfly_plus_max_nodes(radix: u64) -> u64 {
    let half = radix / 2;
    half * half * (half * half + 1)
}

/// Largest one-dimensional dragonfly of radix-`r` routers, in nodes:
/// `r/4 (r/2 + 1) * (r/4 (r/2 + 1) + 1)` (equation 2).
#[must_use]
pub fn dragonfly_max_nodes(radix: u64) -> u64 {
    let per_group = radix / 4 * (radix / 2 + 1);
    per_group * (per_group + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radix_48_as_in_the_paper() {
        assert_eq!(dragonfly_plus_max_nodes(48), 332_352);
        assert_eq!(dragonfly_max_nodes(48), 90_300);
    }

    #[test]
    fn ratio_tends_to_four() {
        let ratio = |r: u64| dragonfly_plus_max_nodes(r) as f64 / dragonfly_max_nodes(r) as f64;
        assert!(ratio(48) < ratio(480) && (ratio(48_000) - 4.0).abs() < 1e-3);
    }
}
