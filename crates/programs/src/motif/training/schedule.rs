//! The order of the passes of a pipeline stage: 1F1B without interleaving (Narayanan 2021, section 2.2.1).

/// The pass of a microbatch through a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    pub backward: bool,
    pub microbatch: u32,
}

/// Pass number `index` of a stage, which has two passes for each microbatch. First come `stages - stage - 1` forward
/// passes (or all, if fewer), then forward and backward passes alternate, then come the remaining backward passes. At
/// most `stages - stage` microbatches are between their two passes.
pub fn pass(stage: u32, stages: u32, microbatches: u32, index: u64) -> Pass {
    let all = u64::from(microbatches);
    let ahead = u64::from(stages - stage - 1).min(all);
    let (backward, microbatch) = match index {
        i if i < ahead => (false, i),
        i if i < 2 * all - ahead => ((i - ahead) % 2 == 1, (i - ahead) / 2 + (i - ahead + 1) % 2 * ahead),
        i => (true, i - all),
    };
    Pass { backward, microbatch: microbatch as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(stage: u32, stages: u32, microbatches: u32) -> String {
        let passes = (0..2 * u64::from(microbatches)).map(|index| pass(stage, stages, microbatches, index));
        passes.map(|p| format!("{}{}", if p.backward { "B" } else { "F" }, p.microbatch)).collect::<Vec<_>>().join(" ")
    }

    /// Figure 4 (top) of Narayanan 2021, for the first five of its eight microbatches, numbered from 0 here.
    #[test]
    fn the_order_is_that_of_the_paper() {
        assert_eq!(written(0, 4, 5), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
        assert_eq!(written(1, 4, 5), "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4");
        assert_eq!(written(2, 4, 5), "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
        assert_eq!(written(3, 4, 5), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
        assert_eq!(written(0, 4, 2), "F0 F1 B0 B1");
        assert_eq!(written(0, 1, 2), "F0 B0 F1 B1");
    }
}
