//! Random traces: graphs of sends, receives and computes on several CPUs and NICs, with tags of any size.
//!
//! Operations are made in one order for all ranks, both ends of a message at the same position in it. An operation
//! waits only for earlier operations of its rank. So every operation can happen once all earlier ones have happened,
//! and there is no deadlock. Then the text is written, perhaps in another order.

use super::choices::Choices;

#[derive(Clone)]
struct Line {
    label: usize,
    what: String,
    cpu: u32,
    /// 0 if none is named.
    nic: u32,
    /// Keyword and label.
    waits: Vec<(&'static str, usize)>,
}

/// A trace as text; perhaps a deadlocked one.
pub fn goal(c: &mut Choices, ranks: u32, trip: u64, packet_bytes: u32, may_deadlock: bool) -> String {
    let mut lines: Vec<Vec<Line>> = vec![Vec::new(); ranks as usize];
    let cpus = c.of(&[1, 1, 2, 3]);
    // The trace may name more NICs than there are rails, and different ones at the two ends of a message.
    let nics = c.of(&[1, 1, 2, 5]);
    let tags = c.of(&[0, 0, u64::MAX - 100]);
    let share = c.of(&[10, 30, 60]);
    // Repeated tags match in the order of the text, so that must be the order in which they were made.
    let shuffled = c.chance(50);
    for label in 0..c.within(1, 40) as usize {
        let (a, b) = (c.count(0, ranks - 1), c.count(0, ranks - 1));
        if a == b || c.chance(30) {
            // Where everything takes picoseconds, any time may coincide with another.
            let ps = if trip < 100 { c.within(0, trip * 2) } else { c.of(&[0, 0, 1, trip / 5, trip, trip * 2]) };
            add(c, &mut lines[a as usize], label, format!("calc {ps}ps"), [cpus, 1], share);
        } else {
            let packet = u64::from(packet_bytes);
            let bytes = c.of(&[0, 1, packet, packet * 2 + 1, packet * 5]);
            let tag = tags + if shuffled { label as u64 } else { c.within(0, 2) };
            add(c, &mut lines[a as usize], label, format!("send {bytes}b to {b} tag {tag}"), [cpus, nics], share);
            add(c, &mut lines[b as usize], label, format!("recv {bytes}b from {a} tag {tag}"), [cpus, nics], share);
        }
    }
    if may_deadlock && c.chance(12) {
        embrace(c, &mut lines);
    }
    if shuffled {
        lines.iter_mut().for_each(|lines| c.shuffle(lines));
    }
    text(&lines)
}

/// Another operation of a rank; it waits for some of those before.
fn add(c: &mut Choices, lines: &mut Vec<Line>, label: usize, what: String, [cpus, nics]: [u32; 2], share: u64) {
    let mut waits = Vec::new();
    for before in lines.iter() {
        if c.chance(share) {
            waits.push((c.of(&["requires", "requires", "irequires"]), before.label));
        }
    }
    // The numbers of CPUs may have gaps.
    let cpu = c.count(0, cpus - 1) * 1_000_003;
    lines.push(Line { label, what, cpu, nic: c.count(0, nics - 1), waits });
}

/// Two ranks that each send only after receiving from the other.
fn embrace(c: &mut Choices, lines: &mut [Vec<Line>]) {
    let last = lines.len() as u32 - 1;
    let a = c.count(0, last);
    let b = (a + 1 + c.count(0, last - 1)) % (last + 1);
    for (own, other, tag) in [(a, b, 77), (b, a, 78)] {
        let receive = format!("recv 1b from {other} tag {}", 155 - tag);
        let line = |label, what, waits| Line { label, what, cpu: 0, nic: 0, waits };
        lines[own as usize].push(line(1000, receive, vec![]));
        lines[own as usize].push(line(1001, format!("send 1b to {other} tag {tag}"), vec![("requires", 1000)]));
    }
}

fn text(lines: &[Vec<Line>]) -> String {
    let mut text = format!("num_ranks {}\n", lines.len());
    for (rank, lines) in lines.iter().enumerate() {
        text += &format!("rank {rank} {{\n");
        for Line { label, what, cpu, nic, .. } in lines {
            let nic = if *nic > 0 { format!(" nic {nic}") } else { String::new() };
            text += &format!("l{label}: {what} cpu {cpu}{nic}\n");
        }
        for Line { label, waits, .. } in lines {
            for (word, before) in waits {
                text += &format!("l{label} {word} l{before}\n");
            }
        }
        text += "}\n";
    }
    text
}

/// The same trace, in which each rank computes for `ps` more.
pub fn slowed(goal: &str, ps: u64) -> String {
    goal.replace("{\n", &format!("{{\nidle: calc {ps}ps\n"))
}
