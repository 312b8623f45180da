//! Reads binary GOAL.
//!
//! Every number in a file is checked against the number of available bytes before it is used: the ranks must be
//! adjacent, and the list of dependencies of a rank must have the right length. So the memory of a trace is
//! proportional to its file.

use odonata_error::{CycleOperation, Error, ErrorKind};

use super::{ANY, COMPUTE, COOKIE, COUNTS, HEAD, LONG, ORIGIN, PS, RECEIVE, SEND, SHORT, SPAN, SPOILT};
use crate::trace::MAX_BYTES;
use crate::trace::draft::{self, Draft, SourceDetails};
use crate::trace::goal::{MOST_IN_CYCLE, cycle};
use crate::trace::graph::{Action, Edge, Start, Trace};
use crate::trace::problem::Source;

type Result<T> = std::result::Result<T, Error>;

impl Trace {
    /// Whether a file begins as binary GOAL does, overwritten or not.
    #[must_use]
    pub fn is_binary(bytes: &[u8]) -> bool {
        bytes.len() >= ORIGIN && [COOKIE, SPOILT].contains(&u64_at(bytes, 0))
    }

    /// Reads binary GOAL in either layout.
    ///
    /// # Errors
    /// With the operation that is not supported or contradicts others, or the byte of the file.
    pub fn parse_binary(bytes: &[u8]) -> Result<Self> {
        draft::check_size(bytes.len())?;
        let ranks = ranks(bytes)?;
        let count = ranks.len() as u32;
        let fits = |record| ranks.iter().all(|rank| rank.fits(record));
        // A file that fits neither layout is read as the short one, for the error message.
        let record = if !fits(SHORT) && fits(LONG) { LONG } else { SHORT };
        let mut drafts = Vec::with_capacity(ranks.len());
        let mut before = 0;
        for (number, rank) in (0..).zip(ranks) {
            let draft = Reader { rank, number, ranks: count, record, before }.read()?;
            before += draft.operations.len() as u32;
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

fn fail<T>(byte: usize, kind: ErrorKind) -> Result<T> {
    Err(kind.at_byte(byte))
}

/// The bytes of a rank, and their position in the file.
#[derive(Clone, Copy)]
struct Rank<'a> {
    bytes: &'a [u8],
    begin: usize,
}

/// The bytes of all ranks, which are adjacent, in any order, and fill the file.
fn ranks(bytes: &[u8]) -> Result<Vec<Rank<'_>>> {
    if bytes.len() < ORIGIN + HEAD {
        return fail(0, ErrorKind::ShortFile { found_bytes: bytes.len(), least_bytes: ORIGIN + HEAD });
    }
    match u64_at(bytes, 0) {
        COOKIE => {}
        SPOILT => return fail(0, ErrorKind::SpoiltFile {}),
        found => return fail(0, ErrorKind::NotBinaryGoal { found, expected: COOKIE }),
    }
    let count = u32_at(bytes, ORIGIN) as usize;
    if count == 0 {
        return fail(ORIGIN, ErrorKind::TraceWithoutRanks {});
    }
    let body = &bytes[ORIGIN..];
    let table = HEAD + SPAN * count;
    if table > body.len() {
        return fail(ORIGIN, ErrorKind::LongRankTable { ranks: count, need_bytes: SPAN * count });
    }
    let at = |rank: usize| ORIGIN + HEAD + SPAN * rank;
    let span = |rank: usize| (u64_at(bytes, at(rank)), u64_at(bytes, at(rank) + 8));
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&rank| span(rank));
    let mut next = table as u64;
    for rank in order {
        let (begin, end) = span(rank);
        if begin != next {
            let problem = if begin < next { "overlap" } else { "gap" };
            return fail(at(rank), ErrorKind::RankMisplaced { rank, begin, expected: next, problem });
        }
        if end > body.len() as u64 {
            return fail(at(rank) + 8, ErrorKind::RankBeyondFile { rank, end, file_bytes: body.len() });
        }
        if end < begin + COUNTS as u64 {
            return fail(at(rank) + 8, ErrorKind::ShortRank { rank, begin, end, least_bytes: COUNTS });
        }
        next = end;
    }
    if next != body.len() as u64 {
        let found_bytes = body.len() as u64 - next;
        return fail(ORIGIN + next as usize, ErrorKind::BytesOfNoRank { found_bytes });
    }
    let rank = |rank| {
        let (begin, end) = span(rank);
        Rank { bytes: &body[begin as usize..end as usize], begin: ORIGIN + begin as usize }
    };
    Ok((0..count).map(rank).collect())
}

impl Rank<'_> {
    fn operations(&self) -> usize {
        u32_at(self.bytes, 0) as usize
    }

    fn roots(&self) -> usize {
        u32_at(self.bytes, 4) as usize
    }

    /// The start of its operations.
    fn first(&self) -> usize {
        COUNTS + 4 * self.roots()
    }

    /// The start of its dependencies, if an operation has this many bytes.
    fn list(&self, record: usize) -> usize {
        self.first() + record * self.operations()
    }

    /// The number of dependencies of all its operations.
    fn listed(&self, record: usize) -> u64 {
        let of = |operation| {
            let at = self.first() + record * operation;
            u64::from(u32_at(self.bytes, at + 23)) + u64::from(u32_at(self.bytes, at + 31))
        };
        (0..self.operations()).map(of).sum()
    }

    /// Whether its parts fill its bytes if an operation has this many bytes.
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
    /// Number of operations of the ranks before.
    before: u32,
}

impl Reader<'_> {
    fn fail<T>(&self, operation: usize, kind: ErrorKind) -> Result<T> {
        Err(kind.of_operation(self.number, operation as u32))
    }

    fn u32(&self, at: usize) -> u32 {
        u32_at(self.rank.bytes, at)
    }

    fn read(&self) -> Result<Draft> {
        let (operations, rank) = (self.rank.operations(), self.number);
        let (list, length) = (self.rank.list(self.record), self.rank.bytes.len());
        if list > length {
            let (roots, begin) = (self.rank.roots(), self.rank.begin);
            let (need_bytes, found_bytes) = (list, length);
            let kind = ErrorKind::TooManyOperations { rank, operations, roots, need_bytes, found_bytes };
            return fail(begin, kind);
        }
        if !self.rank.fits(self.record) {
            let (found, found_bytes) = (self.rank.listed(self.record), length - list);
            let kind = ErrorKind::DependenciesDoNotFit { rank, found, need_bytes: 4 * found, found_bytes };
            return fail(self.rank.begin + list, kind);
        }
        let mut draft = Draft::default();
        let mut awaits = vec![0_u32; operations];
        for operation in 0..operations {
            let place = self.before + operation as u32;
            let (action, nic, details) = self.operation(operation, place)?;
            draft.push(action, nic, operation as u32 + 1, details);
            self.dependencies(operation, &mut draft.edges, &mut awaits)?;
        }
        self.check(&awaits)?;
        let Some(cycle) = cycle(operations, &draft.edges) else { return Ok(draft) };
        let numbered = |operation: &u32| CycleOperation { label: (operation + 1).to_string(), line: None };
        let first = cycle.iter().take(MOST_IN_CYCLE).map(numbered).collect();
        self.fail(cycle[0] as usize, ErrorKind::CycleOfOperations { first, length: cycle.len() })
    }

    fn at(&self, operation: usize) -> usize {
        self.rank.first() + self.record * operation
    }

    /// What an operation does.
    fn operation(&self, operation: usize, place: u32) -> Result<(Action, u8, SourceDetails)> {
        let at = self.at(operation);
        let bytes = self.rank.bytes;
        let (kind, peer, size, tag) = (bytes[at + 4], self.u32(at + 5), u64_at(bytes, at + 9), self.u32(at + 17));
        let details = SourceDetails { tag: 0, cpu: bytes[at + 21].into(), place };
        if kind == COMPUTE {
            let Some(ps) = size.checked_mul(PS) else {
                return self.fail(operation, ErrorKind::ComputeTooLong { found_ns: size });
            };
            return Ok((Action::Compute { ps }, 0, details));
        }
        if ![SEND, RECEIVE].contains(&kind) {
            return self.fail(operation, ErrorKind::UnknownOperation { found: kind });
        }
        let sends = kind == SEND;
        if peer == ANY && !sends {
            return self.fail(operation, ErrorKind::AnySource { found: peer.to_string() });
        }
        if tag == ANY {
            return self.fail(operation, ErrorKind::AnyTag { found: tag.to_string() });
        }
        if peer >= self.ranks {
            return self.fail(operation, ErrorKind::NoSuchRank { rank: peer.into(), ranks: self.ranks });
        }
        if size > MAX_BYTES {
            let (what, found) = ("a size in bytes", size.to_string());
            return self.fail(operation, ErrorKind::TooLarge { what, found, most: MAX_BYTES });
        }
        let action = if sends {
            Action::Send { to: peer, label: 0, bytes: size }
        } else {
            Action::Receive { from: peer, label: 0, bytes: size }
        };
        Ok((action, bytes[at + 22], SourceDetails { tag: tag.into(), ..details }))
    }

    /// The operations that wait for an operation.
    fn dependencies(&self, operation: usize, edges: &mut Vec<Edge>, awaits: &mut [u32]) -> Result<()> {
        let at = self.at(operation);
        let list = self.rank.list(self.record);
        let entries = (self.rank.bytes.len() - list) / 4;
        for (place, start) in [(23, Start::AtEnd), (31, Start::AtBegin)] {
            let (count, first) = (self.u32(at + place) as usize, self.u32(at + place + 4) as usize);
            if count > 0 && first + count > entries {
                let end = first + count;
                return self.fail(operation, ErrorKind::FollowersOutside { first, end, found: entries });
            }
            for entry in first..first + count {
                let after = self.u32(list + 4 * entry);
                let Some(of) = awaits.get_mut(after as usize) else {
                    let (follower, operations) = (u64::from(after) + 1, awaits.len());
                    return self.fail(operation, ErrorKind::NoSuchFollower { follower, operations });
                };
                *of += 1;
                edges.push(Edge { before: operation as u32, after, start });
            }
        }
        Ok(())
    }

    /// Redundant values must agree: the number of dependencies of each operation, and the operations that wait for
    /// nothing.
    fn check(&self, awaits: &[u32]) -> Result<()> {
        let mut root = vec![false; awaits.len()];
        for place in 0..self.rank.roots() {
            let at = COUNTS + 4 * place;
            let operation = self.u32(at) as usize;
            if root.get(operation) != Some(&false) {
                let rank = self.number;
                let problem = if operation < root.len() { "twice" } else { "unknown" };
                let kind = ErrorKind::BadRoot { rank, operation: operation as u64 + 1, problem };
                return fail(self.rank.begin + at, kind);
            }
            root[operation] = true;
        }
        for (operation, (&found, &root)) in awaits.iter().zip(&root).enumerate() {
            let details = self.u32(self.at(operation));
            if details != found {
                return self.fail(operation, ErrorKind::WaitsDisagree { told: details, found });
            }
            if root != (found == 0) {
                let root = if root { "yes" } else { "no" };
                return self.fail(operation, ErrorKind::RootDisagrees { waits: found, root });
            }
        }
        Ok(())
    }
}
