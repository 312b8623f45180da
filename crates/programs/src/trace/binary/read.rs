//! Reads binary GOAL.
//!
//! Nothing in a file is believed before it is checked against the number of bytes that are there: the ranks must lie side by side, and
//! the dependencies of a rank must be as many as its list of them. So a trace takes memory in proportion to its file.

use super::{ANY, COMPUTE, COOKIE, COUNTS, HEAD, LONG, ORIGIN, PS, RECEIVE, SEND, SHORT, SPAN, SPOILT};
use crate::ProgramError;
use crate::trace::MAX_BYTES;
use crate::trace::draft::{self, Draft, Said};
use crate::trace::goal::circle;
use crate::trace::graph::{Edge, Start, Task, Trace};
use crate::trace::problem::Source;

type Result<T> = std::result::Result<T, ProgramError>;

impl Trace {
    /// Whether a file begins as binary GOAL does, spoilt or not.
    #[must_use]
    pub fn is_binary(bytes: &[u8]) -> bool {
        bytes.len() >= ORIGIN && [COOKIE, SPOILT].contains(&u64_at(bytes, 0))
    }

    /// Reads binary GOAL in either layout.
    ///
    /// # Errors
    /// [`ProgramError::Operation`] for an operation that cannot be kept or does not fit to others; [`ProgramError::Binary`] for the rest of
    /// the file.
    pub fn parse_binary(bytes: &[u8]) -> Result<Self> {
        draft::check_size(bytes.len())?;
        let ranks = ranks(bytes)?;
        let count = ranks.len() as u32;
        let fits = |record| ranks.iter().all(|rank| rank.fits(record));
        // What fits neither is read as if it were short, to say why it does not.
        let record = if !fits(SHORT) && fits(LONG) { LONG } else { SHORT };
        let mut drafts = Vec::with_capacity(ranks.len());
        let mut before = 0;
        for (number, rank) in (0..).zip(ranks) {
            let draft = Reader { rank, number, ranks: count, record, before }.read()?;
            before += draft.steps.len() as u32;
            drafts.push(draft);
        }
        draft::finish(Source::Binary, drafts)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn fail<T>(byte: usize, problem: impl Into<String>) -> Result<T> {
    Err(ProgramError::Binary { byte: byte as u64, problem: problem.into() })
}

/// The bytes of a rank, and where in the file they begin.
#[derive(Clone, Copy)]
struct Rank<'a> {
    bytes: &'a [u8],
    begin: usize,
}

/// The bytes of all ranks, which lie side by side in any order and fill the file.
fn ranks(bytes: &[u8]) -> Result<Vec<Rank<'_>>> {
    if bytes.len() < ORIGIN + HEAD {
        let found = bytes.len();
        return fail(0, format!("expected a header of {} bytes, found a file of {found}", ORIGIN + HEAD));
    }
    match u64_at(bytes, 0) {
        COOKIE => {}
        SPOILT => {
            return fail(
                0,
                "a run of LogGOPSim with `--save-mem` has spoilt this file (it begins with 2342); make it again from its text",
            );
        }
        other => return fail(0, format!("expected binary GOAL, which begins with the number 4223, found {other}")),
    }
    let count = u32_at(bytes, ORIGIN) as usize;
    if count == 0 {
        return fail(ORIGIN, "expected at least one rank, found 0");
    }
    let body = &bytes[ORIGIN..];
    let table = HEAD + SPAN * count;
    if table > body.len() {
        return fail(ORIGIN, format!("{count} ranks need a table of {} bytes, but the file ends before", SPAN * count));
    }
    let at = |rank: usize| ORIGIN + HEAD + SPAN * rank;
    let span = |rank: usize| (u64_at(bytes, at(rank)), u64_at(bytes, at(rank) + 8));
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&rank| span(rank));
    let mut next = table as u64;
    for rank in order {
        let (begin, end) = span(rank);
        if begin != next {
            let what = if begin < next {
                "which another rank or the table has too"
            } else {
                "and nothing has those before it"
            };
            return fail(at(rank), format!("rank {rank} has the bytes from {begin} on, {what}; expected {next}"));
        }
        if end > body.len() as u64 {
            return fail(at(rank) + 8, format!("rank {rank} ends at byte {end}, but the file has {}", body.len()));
        }
        if end < begin + COUNTS as u64 {
            return fail(
                at(rank) + 8,
                format!("rank {rank} has the bytes from {begin} to {end}; the least is {COUNTS}"),
            );
        }
        next = end;
    }
    if next != body.len() as u64 {
        return fail(ORIGIN + next as usize, format!("{} bytes belong to no rank", body.len() as u64 - next));
    }
    let rank = |rank| {
        let (begin, end) = span(rank);
        Rank { bytes: &body[begin as usize..end as usize], begin: ORIGIN + begin as usize }
    };
    Ok((0..count).map(rank).collect())
}

impl Rank<'_> {
    fn steps(&self) -> usize {
        u32_at(self.bytes, 0) as usize
    }

    fn roots(&self) -> usize {
        u32_at(self.bytes, 4) as usize
    }

    /// Where its operations begin.
    fn first(&self) -> usize {
        COUNTS + 4 * self.roots()
    }

    /// Where the list of its dependencies begins, if an operation has so many bytes.
    fn list(&self, record: usize) -> usize {
        self.first() + record * self.steps()
    }

    /// How many dependencies its operations have in all.
    fn listed(&self, record: usize) -> u64 {
        let of = |step| {
            let at = self.first() + record * step;
            u64::from(u32_at(self.bytes, at + 23)) + u64::from(u32_at(self.bytes, at + 31))
        };
        (0..self.steps()).map(of).sum()
    }

    /// Whether its parts fill its bytes if an operation has so many.
    fn fits(&self, record: usize) -> bool {
        self.list(record) <= self.bytes.len()
            && (self.bytes.len() - self.list(record)) as u64 == 4 * self.listed(record)
    }
}

/// Reads a rank.
struct Reader<'a> {
    rank: Rank<'a>,
    number: u32,
    ranks: u32,
    record: usize,
    /// Operations of the ranks before.
    before: u32,
}

impl Reader<'_> {
    fn fail<T>(&self, step: usize, problem: impl Into<String>) -> Result<T> {
        Err(ProgramError::operation(self.number, step as u32, problem))
    }

    fn u32(&self, at: usize) -> u32 {
        u32_at(self.rank.bytes, at)
    }

    fn read(&self) -> Result<Draft> {
        let (steps, rank) = (self.rank.steps(), self.number);
        let (list, length) = (self.rank.list(self.record), self.rank.bytes.len());
        if list > length {
            let (roots, begin) = (self.rank.roots(), self.rank.begin);
            return fail(
                begin,
                format!(
                    "rank {rank} says that it has {steps} operations and {roots} roots, which need {list} bytes; it has {length}"
                ),
            );
        }
        if !self.rank.fits(self.record) {
            let (listed, room) = (self.rank.listed(self.record), length - list);
            return fail(
                self.rank.begin + list,
                format!(
                    "the operations of rank {rank} have {listed} dependencies, which need {} bytes; found {room}",
                    4 * listed
                ),
            );
        }
        let mut draft = Draft::default();
        let mut awaits = vec![0_u32; steps];
        for step in 0..steps {
            let place = self.before + step as u32;
            let (task, nic, said) = self.operation(step, place)?;
            draft.push(task, nic, step as u32 + 1, said);
            self.dependencies(step, &mut draft.edges, &mut awaits)?;
        }
        self.check(&awaits)?;
        let Some(circle) = circle(steps, &draft.edges) else { return Ok(draft) };
        let mut shown: Vec<String> = circle.iter().take(8).map(|step| (step + 1).to_string()).collect();
        shown.push(if circle.len() > 8 { "...".to_string() } else { shown[0].clone() });
        let problem = format!("operations wait for each other in a circle: {}", shown.join(" waits for "));
        self.fail(circle[0] as usize, problem)
    }

    fn at(&self, step: usize) -> usize {
        self.rank.first() + self.record * step
    }

    /// What an operation does.
    fn operation(&self, step: usize, place: u32) -> Result<(Task, u8, Said)> {
        let at = self.at(step);
        let bytes = self.rank.bytes;
        let (kind, peer, size, tag) = (bytes[at + 4], self.u32(at + 5), u64_at(bytes, at + 9), self.u32(at + 17));
        let said = Said { tag: 0, cpu: bytes[at + 21].into(), place };
        if kind == COMPUTE {
            let Some(ps) = size.checked_mul(PS) else {
                return self.fail(step, format!("computes for {size} ns; a time is less than 2^64 ps (213 days)"));
            };
            return Ok((Task::Compute { ps }, 0, said));
        }
        if ![SEND, RECEIVE].contains(&kind) {
            return self.fail(
                step,
                format!("expected a send (1), a recv (2) or a calc (3), found an operation of kind {kind}"),
            );
        }
        let sends = kind == SEND;
        if peer == ANY && !sends {
            return self.fail(step, "receives from any source: a receive here must name its source");
        }
        if tag == ANY {
            return self.fail(step, "has any tag: a message here must have one tag");
        }
        if peer >= self.ranks {
            let does = if sends { "sends to" } else { "receives from" };
            return self.fail(step, format!("{does} rank {peer}, but ranks are 0 to {}", self.ranks - 1));
        }
        if size > MAX_BYTES {
            let does = if sends { "sends" } else { "receives" };
            return self.fail(step, format!("{does} {size} bytes; expected at most {MAX_BYTES}"));
        }
        let task = if sends {
            Task::Send { to: peer, label: 0, bytes: size }
        } else {
            Task::Receive { from: peer, label: 0, bytes: size }
        };
        Ok((task, bytes[at + 22], Said { tag: tag.into(), ..said }))
    }

    /// Who waits for an operation.
    fn dependencies(&self, step: usize, edges: &mut Vec<Edge>, awaits: &mut [u32]) -> Result<()> {
        let at = self.at(step);
        let list = self.rank.list(self.record);
        let entries = (self.rank.bytes.len() - list) / 4;
        for (place, start) in [(23, Start::AtEnd), (31, Start::AtBegin)] {
            let (count, first) = (self.u32(at + place) as usize, self.u32(at + place + 4) as usize);
            if count > 0 && first + count > entries {
                let last = first + count;
                return self.fail(
                    step,
                    format!("its followers are {first} to {last} of the list of dependencies, which has {entries}"),
                );
            }
            for entry in first..first + count {
                let after = self.u32(list + 4 * entry);
                let Some(of) = awaits.get_mut(after as usize) else {
                    let steps = awaits.len();
                    return self
                        .fail(step, format!("operation {} waits for it, but there are {steps}", u64::from(after) + 1));
                };
                *of += 1;
                edges.push(Edge { before: step as u32, after, start });
            }
        }
        Ok(())
    }

    /// What is said twice must agree: how much each operation waits for, and which wait for nothing.
    fn check(&self, awaits: &[u32]) -> Result<()> {
        let mut root = vec![false; awaits.len()];
        for place in 0..self.rank.roots() {
            let at = COUNTS + 4 * place;
            let step = self.u32(at) as usize;
            if root.get(step) != Some(&false) {
                let rank = self.number;
                let why = if step < root.len() { "is there twice" } else { "does not exist" };
                return fail(
                    self.rank.begin + at,
                    format!("in the roots of rank {rank}, operation {} {why}", step as u64 + 1),
                );
            }
            root[step] = true;
        }
        for (step, (&found, &root)) in awaits.iter().zip(&root).enumerate() {
            let said = self.u32(self.at(step));
            if said != found {
                return self.fail(
                    step,
                    format!("says that it waits {said} times, but is {found} times among the followers of others"),
                );
            }
            if root != (found == 0) {
                let is = if root { "is" } else { "is not" };
                return self.fail(step, format!("waits {found} times and {is} among the roots"));
            }
        }
        Ok(())
    }
}
