//! Reads GOAL.

use std::collections::HashMap;

use odonata_error::{CycleOperation, Error, ErrorKind};

use super::cycle::cycle;
use super::tokens::{Token, TokenKind, Tokens};
use crate::trace::draft::{self, Draft};
use crate::trace::graph::{Edge, Start, Trace};
use crate::trace::problem::{Source, at, cut};

const OPERATIONS: [&str; 3] = ["send", "recv", "calc"];
const WAITS: [&str; 2] = ["requires", "irequires"];
/// The name of a number after `from`.
pub const SOURCE: &str = "a source";
/// Number of labels in an error, from which the nearest one is found.
const MOST_LABELS: usize = 1_000;
/// Number of operations of a cycle that an error names.
pub const MOST_IN_CYCLE: usize = 8;

/// An error for an unexpected token.
fn unexpected(expected: &[&str], found: &str, known: &[&'static str]) -> ErrorKind {
    let expected = expected.iter().map(ToString::to_string).collect();
    ErrorKind::Unexpected { expected, found: found.into(), known: known.to_vec() }
}

pub type Result<T> = std::result::Result<T, Error>;

impl Trace {
    /// Reads a schedule in the GOAL format.
    ///
    /// # Errors
    /// [`Error`] with the position of what cannot be read or does not match, or a cycle of dependencies.
    pub fn parse_goal(text: &str) -> Result<Self> {
        let text = draft::checked(text)?;
        let mut reader = Reader { tokens: Tokens::new(text), text, ranks: None, blocks: HashMap::new() };
        reader.read()?;
        let mut blocks = reader.blocks;
        let (count, number) =
            reader.ranks.ok_or_else(|| at(text, text.len(), unexpected(&["`num_ranks`"], "", &[])))?;
        // The number of ranks is the number of blocks, whatever the text says.
        let mut drafts = Vec::with_capacity(blocks.len());
        for rank in 0..count {
            let missing = || at(text, number, ErrorKind::MissingRank { rank, ranks: count });
            drafts.push(blocks.remove(&rank).ok_or_else(missing)?.0);
        }
        draft::finish(Source::Text(text), drafts)
    }
}

/// The position of the reader in the text, and what it has read.
pub struct Reader<'a> {
    text: &'a str,
    pub tokens: Tokens<'a>,
    /// The number of ranks, and its position.
    ranks: Option<(u32, usize)>,
    /// With the line on which each begins.
    blocks: HashMap<u32, (Draft, u32)>,
}

/// A rank while it is read.
#[derive(Default)]
pub struct Block<'a> {
    pub draft: Draft,
    labels: HashMap<&'a str, u32>,
    /// Dependencies on labels that come later.
    later: Vec<(Token<'a>, Start, Token<'a>)>,
}

impl<'a> Reader<'a> {
    pub fn fail(&self, token: Token<'a>, kind: ErrorKind) -> Error {
        at(self.text, token.offset, kind)
    }

    /// An error for an unexpected token, with what was expected. Words of the format are in backticks; `known` are the
    /// words that `found` may be a misspelling of.
    pub fn expected(&self, what: &[&str], found: Token<'a>, known: &[&'static str]) -> Error {
        let known = if found.kind == TokenKind::Word { known } else { &[] };
        self.fail(found, unexpected(what, &found.shown(), known))
    }

    fn read(&mut self) -> Result<()> {
        loop {
            let token = self.tokens.next()?;
            match (token.kind, token.text) {
                (TokenKind::Line, _) => {}
                (TokenKind::End, _) => return Ok(()),
                (TokenKind::Word, "num_ranks") => {
                    if self.ranks.is_some() {
                        let found = token.shown();
                        return Err(
                            self.fail(token, ErrorKind::SecondTime { what: "keyword", found, first_line: None })
                        );
                    }
                    let number = self.tokens.next()?;
                    let count = self.whole(number, "a number of ranks", u64::from(u32::MAX))?;
                    if count == 0 {
                        return Err(self.fail(number, ErrorKind::TraceWithoutRanks {}));
                    }
                    self.ranks = Some((count as u32, number.offset));
                }
                (TokenKind::Word, "rank") => self.block()?,
                _ if self.ranks.is_none() => return Err(self.expected(&["`num_ranks`"], token, &["num_ranks"])),
                _ => return Err(self.expected(&["`rank`"], token, &["rank"])),
            }
        }
    }

    /// A whole number up to a maximum.
    pub fn whole(&self, token: Token<'a>, what: &'static str, most: u64) -> Result<u64> {
        if token.kind != TokenKind::Number {
            return Err(self.expected(&[what], token, &[]));
        }
        let found = token.shown();
        if token.text.contains('.') {
            return Err(self.fail(token, ErrorKind::NotWhole { what, found }));
        }
        match token.text.parse() {
            Ok(value) if value <= most => Ok(value),
            _ => Err(self.fail(token, ErrorKind::TooLarge { what, found, most })),
        }
    }

    /// After `rank`: its number and its operations.
    fn block(&mut self) -> Result<()> {
        let token = self.tokens.next()?;
        let Some((ranks, _)) = self.ranks else {
            return Err(self.expected(&["`num_ranks` before the first `rank`"], token, &[]));
        };
        let rank = self.rank(token, "the number of a rank", ranks)?;
        if let Some(&(_, line)) = self.blocks.get(&rank) {
            let (found, first_line) = (token.shown(), Some(line));
            return Err(self.fail(token, ErrorKind::SecondTime { what: "rank", found, first_line }));
        }
        let open = self.tokens.next()?;
        if !open.is("{") {
            return Err(self.expected(&["`{`"], open, &[]));
        }
        let mut block = Block::default();
        let open_rank = || ErrorKind::OpenRank { rank, rank_line: token.line };
        loop {
            let first = self.tokens.next()?;
            match first.kind {
                TokenKind::Line => {}
                TokenKind::Word if matches!(first.text, "rank" | "num_ranks") => {
                    return Err(self.fail(first, open_rank()));
                }
                TokenKind::Word => {
                    if self.statement(&mut block, first, ranks)? {
                        break;
                    }
                }
                _ if first.is("}") => break,
                TokenKind::End => return Err(self.fail(first, open_rank())),
                _ => return Err(self.expected(&["an operation", "a label", "`}`"], first, &[])),
            }
        }
        self.resolve(&mut block)?;
        self.blocks.insert(rank, (block.draft, token.line));
        Ok(())
    }

    pub fn rank(&self, token: Token<'a>, what: &'static str, ranks: u32) -> Result<u32> {
        if token.kind == TokenKind::Negative && what == SOURCE {
            return Err(self.fail(token, ErrorKind::AnySource { found: token.shown() }));
        }
        let rank = self.whole(token, what, u64::MAX)?;
        if rank >= ranks.into() {
            return Err(self.fail(token, ErrorKind::NoSuchRank { rank, ranks }));
        }
        Ok(rank as u32)
    }

    /// An operation or a dependency. True if `}` follows on the same line.
    fn statement(&mut self, block: &mut Block<'a>, first: Token<'a>, ranks: u32) -> Result<bool> {
        if OPERATIONS.contains(&first.text) {
            return self.operation(block, first, first, ranks);
        }
        let second = self.tokens.next()?;
        if second.is(":") {
            let operation = self.tokens.next()?;
            if !(operation.kind == TokenKind::Word && OPERATIONS.contains(&operation.text)) {
                return Err(self.expected(&["`send`", "`recv`", "`calc`"], operation, &OPERATIONS));
            }
            let number = block.draft.operations.len() as u32;
            if let Some(earlier) = block.labels.insert(first.text, number) {
                let (found, first_line) = (first.shown(), Some(block.draft.operations[earlier as usize].line));
                return Err(self.fail(first, ErrorKind::SecondTime { what: "label", found, first_line }));
            }
            return self.operation(block, first, operation, ranks);
        }
        let start = match (second.kind, second.text) {
            (TokenKind::Word, "requires") => Start::AtEnd,
            (TokenKind::Word, "irequires") => Start::AtBegin,
            (TokenKind::Number, _) => {
                return Err(self.expected(&["`send`", "`recv`", "`calc`"], first, &OPERATIONS));
            }
            _ => {
                return Err(self.expected(&["`:`", "`requires`", "`irequires`"], second, &WAITS));
            }
        };
        let before = self.tokens.next()?;
        if before.kind != TokenKind::Word {
            return Err(self.expected(&["a label"], before, &[]));
        }
        match (block.labels.get(first.text), block.labels.get(before.text)) {
            (Some(&after), Some(&before)) => block.draft.edges.push(Edge { before, after, start }),
            _ => block.later.push((first, start, before)),
        }
        let end = self.tokens.next()?;
        self.ends(end, &["the end of the line"], &[])
    }

    /// Whether the line, or with it the rank, ends here.
    pub fn ends(&self, token: Token<'a>, what: &[&str], known: &[&'static str]) -> Result<bool> {
        match token.kind {
            TokenKind::Line | TokenKind::End => Ok(false),
            _ if token.is("}") => Ok(true),
            _ => Err(self.expected(what, token, known)),
        }
    }

    /// At the end of a rank: labels that are used before they are defined, and cycles.
    fn resolve(&self, block: &mut Block<'a>) -> Result<()> {
        for &(after, start, before) in &block.later {
            let find = |token: Token<'a>| {
                block.labels.get(token.text).copied().ok_or_else(|| {
                    let mut known: Vec<String> = block.labels.keys().map(|&label| cut(label)).collect();
                    known.sort_unstable();
                    known.truncate(MOST_LABELS);
                    self.fail(token, ErrorKind::UnknownLabel { label: token.shown(), known })
                })
            };
            block.draft.edges.push(Edge { after: find(after)?, before: find(before)?, start });
        }
        let draft = &block.draft;
        let Some(cycle) = cycle(draft.operations.len(), &draft.edges) else { return Ok(()) };
        let names: HashMap<u32, &str> = block.labels.iter().map(|(&name, &operation)| (operation, name)).collect();
        let named = |&operation: &u32| {
            let label = names.get(&operation).copied().map(cut).unwrap_or_default();
            CycleOperation { label, line: Some(draft.operations[operation as usize].line) }
        };
        let first = cycle.iter().take(MOST_IN_CYCLE).map(named).collect();
        let kind = ErrorKind::CycleOfOperations { first, length: cycle.len() };
        Err(at(self.text, draft.details[cycle[0] as usize].place as usize, kind))
    }
}
