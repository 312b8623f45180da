//! Reads GOAL.

use std::collections::HashMap;

use super::circle::circle;
use super::tokens::{Kind, Token, Tokens};
use crate::ProgramError;
use crate::trace::draft::{self, Draft};
use crate::trace::graph::{Edge, Start, Trace};
use crate::trace::problem::{Source, at, hint, quoted};

const OPERATIONS: [&str; 3] = ["send", "recv", "calc"];
const WAITS: [&str; 2] = ["requires", "irequires"];

pub type Result<T> = std::result::Result<T, ProgramError>;

impl Trace {
    /// Reads a schedule in the GOAL format.
    ///
    /// # Errors
    /// [`ProgramError::Trace`] with the place of what cannot be read, what does not match, or a circle of dependencies.
    pub fn parse_goal(text: &str) -> Result<Self> {
        let text = draft::checked(text)?;
        let mut reader = Reader { tokens: Tokens::new(text), text, ranks: None, blocks: HashMap::new() };
        reader.read()?;
        let mut blocks = reader.blocks;
        let (count, number) =
            reader.ranks.ok_or_else(|| at(text, text.len(), "expected `num_ranks`, found nothing"))?;
        // As many as there are blocks are made, whatever the text says.
        let mut drafts = Vec::with_capacity(blocks.len());
        for rank in 0..count {
            let missing = || at(text, number, format!("`num_ranks` is {count}, but there is no block of rank {rank}"));
            drafts.push(blocks.remove(&rank).ok_or_else(missing)?.0);
        }
        draft::finish(Source::Text(text), drafts)
    }
}

/// Where in the text the reader is, and what it has read.
pub struct Reader<'a> {
    text: &'a str,
    pub tokens: Tokens<'a>,
    /// Their number, and its place.
    ranks: Option<(u32, usize)>,
    /// With the line in which each begins.
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
    pub fn fail(&self, token: Token<'a>, problem: impl Into<String>) -> ProgramError {
        at(self.text, token.offset, problem)
    }

    /// `expected ..., found ...`, with the nearest of some names.
    pub fn expected(&self, what: &str, found: Token<'a>, names: &[&str]) -> ProgramError {
        let near = if found.kind == Kind::Word { hint(found.text, names.iter().copied()) } else { String::new() };
        self.fail(found, format!("expected {what}, found {}{near}", found.shown()))
    }

    fn read(&mut self) -> Result<()> {
        loop {
            let token = self.tokens.next()?;
            match (token.kind, token.text) {
                (Kind::Line, _) => {}
                (Kind::End, _) => return Ok(()),
                (Kind::Word, "num_ranks") => {
                    if self.ranks.is_some() {
                        return Err(self.fail(token, "`num_ranks` is there a second time"));
                    }
                    let number = self.tokens.next()?;
                    let count = self.whole(number, "a number of ranks", u64::from(u32::MAX))?;
                    if count == 0 {
                        return Err(self.fail(number, "expected at least one rank, found 0"));
                    }
                    self.ranks = Some((count as u32, number.offset));
                }
                (Kind::Word, "rank") => self.block()?,
                _ if self.ranks.is_none() => return Err(self.expected("`num_ranks`", token, &["num_ranks"])),
                _ => return Err(self.expected("`rank`", token, &["rank"])),
            }
        }
    }

    /// A whole number of at most so much.
    pub fn whole(&self, token: Token<'a>, what: &str, most: u64) -> Result<u64> {
        if token.kind != Kind::Number {
            return Err(self.expected(what, token, &[]));
        }
        if token.text.contains('.') {
            return Err(self.fail(token, format!("expected {what}, found {}: not a whole number", token.shown())));
        }
        match token.text.parse() {
            Ok(value) if value <= most => Ok(value),
            _ => Err(self.fail(token, format!("expected {what} of at most {most}, found {}", token.shown()))),
        }
    }

    /// After `rank`: its number and its operations.
    fn block(&mut self) -> Result<()> {
        let token = self.tokens.next()?;
        let Some((ranks, _)) = self.ranks else {
            return Err(self.fail(token, "expected `num_ranks` before the first `rank`"));
        };
        let rank = self.rank(token, "the number of a rank", ranks)?;
        if let Some((_, line)) = self.blocks.get(&rank) {
            return Err(self.fail(token, format!("rank {rank} is there a second time; the first is in line {line}")));
        }
        let open = self.tokens.next()?;
        if !open.is("{") {
            return Err(self.expected("`{`", open, &[]));
        }
        let mut block = Block::default();
        loop {
            let first = self.tokens.next()?;
            match first.kind {
                Kind::Line => {}
                Kind::Word if matches!(first.text, "rank" | "num_ranks") => {
                    let expected = format!("`}}` at the end of rank {rank}, which begins in line {}", token.line);
                    return Err(self.expected(&expected, first, &[]));
                }
                Kind::Word => {
                    if self.statement(&mut block, first, ranks)? {
                        break;
                    }
                }
                _ if first.is("}") => break,
                Kind::End => {
                    let problem = format!("rank {rank} has no end: expected `}}` for the `{{` in line {}", open.line);
                    return Err(self.fail(first, problem));
                }
                _ => return Err(self.expected("an operation, a label or `}`", first, &[])),
            }
        }
        self.resolve(&mut block)?;
        self.blocks.insert(rank, (block.draft, token.line));
        Ok(())
    }

    pub fn rank(&self, token: Token<'a>, what: &str, ranks: u32) -> Result<u32> {
        if token.kind == Kind::Negative && what.contains("source") {
            let problem = format!("{} means any source: a receive here must name its source", token.shown());
            return Err(self.fail(token, problem));
        }
        let rank = self.whole(token, what, u64::MAX)?;
        if rank >= ranks.into() {
            let problem = format!("there is no rank {rank}: `num_ranks` is {ranks}, so ranks are 0 to {}", ranks - 1);
            return Err(self.fail(token, problem));
        }
        Ok(rank as u32)
    }

    /// An operation or a dependency. True if `}` comes after it in the same line.
    fn statement(&mut self, block: &mut Block<'a>, first: Token<'a>, ranks: u32) -> Result<bool> {
        if OPERATIONS.contains(&first.text) {
            return self.operation(block, first, first, ranks);
        }
        let second = self.tokens.next()?;
        if second.is(":") {
            let operation = self.tokens.next()?;
            if !(operation.kind == Kind::Word && OPERATIONS.contains(&operation.text)) {
                return Err(self.expected("`send`, `recv` or `calc`", operation, &OPERATIONS));
            }
            let number = block.draft.steps.len() as u32;
            if let Some(earlier) = block.labels.insert(first.text, number) {
                let line = block.draft.steps[earlier as usize].line;
                let problem =
                    format!("the label {} is there a second time; the first is in line {line}", first.shown());
                return Err(self.fail(first, problem));
            }
            return self.operation(block, first, operation, ranks);
        }
        let start = match (second.kind, second.text) {
            (Kind::Word, "requires") => Start::AtEnd,
            (Kind::Word, "irequires") => Start::AtBegin,
            (Kind::Number, _) => {
                let near = hint(first.text, OPERATIONS);
                let problem = format!("expected `send`, `recv` or `calc`, found {}{near}", first.shown());
                return Err(self.fail(first, problem));
            }
            _ => {
                let what = format!("`:`, `requires` or `irequires` after the label {}", first.shown());
                return Err(self.expected(&what, second, &WAITS));
            }
        };
        let before = self.tokens.next()?;
        if before.kind != Kind::Word {
            return Err(self.expected("a label", before, &[]));
        }
        match (block.labels.get(first.text), block.labels.get(before.text)) {
            (Some(&after), Some(&before)) => block.draft.edges.push(Edge { before, after, start }),
            _ => block.later.push((first, start, before)),
        }
        let end = self.tokens.next()?;
        self.ends(end, "the end of the line", &[])
    }

    /// Whether the line, or with it the rank, ends here.
    pub fn ends(&self, token: Token<'a>, what: &str, names: &[&str]) -> Result<bool> {
        match token.kind {
            Kind::Line | Kind::End => Ok(false),
            _ if token.is("}") => Ok(true),
            _ => Err(self.expected(what, token, names)),
        }
    }

    /// At the end of a rank: labels that came later than where they were used, and circles.
    fn resolve(&self, block: &mut Block<'a>) -> Result<()> {
        for &(after, start, before) in &block.later {
            let find = |token: Token<'a>| {
                block.labels.get(token.text).copied().ok_or_else(|| {
                    let near = hint(token.text, block.labels.keys().copied());
                    self.fail(token, format!("no operation of this rank has the label {}{near}", token.shown()))
                })
            };
            block.draft.edges.push(Edge { after: find(after)?, before: find(before)?, start });
        }
        let draft = &block.draft;
        let Some(circle) = circle(draft.steps.len(), &draft.edges) else { return Ok(()) };
        let names: HashMap<u32, &str> = block.labels.iter().map(|(&name, &step)| (step, name)).collect();
        let name = |&step: &u32| {
            let name = names.get(&step).copied().unwrap_or_default();
            format!("{} (line {})", quoted(name), draft.steps[step as usize].line)
        };
        let mut shown: Vec<String> = circle.iter().take(8).map(name).collect();
        shown.push(if circle.len() > 8 { "...".to_string() } else { quoted(names[&circle[0]]) });
        let problem = format!("operations wait for each other in a circle: {}", shown.join(" waits for "));
        Err(at(self.text, draft.said[circle[0] as usize].place as usize, problem))
    }
}
