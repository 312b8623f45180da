//! Random traces and costs: small, never deadlocked, and full of dependencies.

use odonata_sim::spec::Costs;

use super::support::bandwidth;

/// Random numbers (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// The parameters of a trace.
pub struct Shape {
    pub ranks: u32,
    /// Messages and computations.
    pub operations: u32,
    pub cpus: u64,
    /// Longest message, in bytes.
    pub bytes: u64,
    /// Longest computation, in picoseconds.
    pub compute: u64,
}

/// A trace in which an operation waits only for earlier ones, and both ends of a message are drawn together. So it
/// never deadlocks, eager or not.
pub fn goal(dice: &mut Dice, shape: &Shape) -> String {
    let mut lines = vec![Vec::new(); shape.ranks as usize];
    let mut add = |dice: &mut Dice, rank: u32, what: String| {
        let lines: &mut Vec<String> = &mut lines[rank as usize];
        let number = lines.iter().filter(|line| line.starts_with('l')).count() as u64;
        lines.push(format!("l{number}: {what} cpu {}", dice.below(shape.cpus)));
        for _ in 0..dice.below(3).min(number) {
            let word = dice.of(&["requires", "requires", "irequires"]);
            // Mostly one of the last, so that chains are long.
            let before = number - 1 - dice.below(number.min(4));
            lines.push(format!(" l{number} {word} l{before}"));
        }
    };
    for _ in 0..shape.operations {
        let rank = dice.below(u64::from(shape.ranks)) as u32;
        if dice.below(3) == 0 {
            let ps = dice.of(&[0, dice.0 % shape.compute, dice.0 % shape.compute, shape.compute]);
            add(dice, rank, format!("calc {ps}ps"));
            continue;
        }
        let to = dice.below(u64::from(shape.ranks)) as u32;
        let (bytes, tag) = (dice.of(&[0, 1, dice.0 % shape.bytes, dice.0 % shape.bytes, shape.bytes]), dice.below(2));
        add(dice, rank, format!("send {bytes}b to {to} tag {tag}"));
        add(dice, to, format!("recv {bytes}b from {rank} tag {tag}"));
    }
    let block = |(rank, lines): (usize, &Vec<String>)| format!("rank {rank} {{\n{}\n}}\n", lines.join("\n"));
    let blocks: String = lines.iter().enumerate().map(block).collect();
    format!("num_ranks {}\n{blocks}", shape.ranks)
}

/// Costs, some of them zero.
pub fn costs(dice: &mut Dice, bytes: u64) -> Costs {
    let time = |dice: &mut Dice| dice.of(&[0, 1, 40_009, 160_001]);
    Costs {
        send_ps: time(dice),
        receive_ps: time(dice),
        copy: dice.of(&[None, bandwidth(3)]),
        memory_ps: time(dice),
        eager_bytes: dice.of(&[0, bytes / 2, 1 << 40]),
        control_bytes: dice.of(&[1, 8, 64]),
        combine: None,
        rendezvous_ps: 0,
        header_bytes: 0,
        fetches: 0,
    }
}
