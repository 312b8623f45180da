//! Reads an operation of GOAL.

use odonata_error::ErrorKind;

use super::read::{Block, Reader, Result, SOURCE};
use super::tokens::{Token, TokenKind};
use crate::trace::draft::SourceDetails;
use crate::trace::graph::Action;
use crate::trace::quantity::{time_ps, units};
use crate::trace::{ANY_TAG, MAX_BYTES};

impl<'a> Reader<'a> {
    /// After `send`, `recv` or `calc`. `first` is where the statement begins.
    pub fn operation(&mut self, block: &mut Block<'a>, first: Token<'a>, name: Token<'a>, ranks: u32) -> Result<bool> {
        let (action, mut token) = match name.text {
            "calc" => self.calc()?,
            _ => self.message(name.text == "send", ranks)?,
        };
        let (mut nic, mut details) = (0, SourceDetails { place: first.offset as u32, ..SourceDetails::default() });
        let (names, what): (&[&str], &[&str]) = match name.text {
            "calc" => (&["cpu"], &["`cpu`", "the end of the line"]),
            _ => (&["tag", "cpu", "nic"], &["`tag`", "`cpu`", "`nic`", "the end of the line"]),
        };
        let mut seen = [false; 3];
        let closed = loop {
            let key = token;
            let Some(which) = names.iter().position(|name| key.kind == TokenKind::Word && *name == key.text) else {
                break self.ends(key, what, names)?;
            };
            if std::mem::replace(&mut seen[which], true) {
                let found = key.shown();
                return Err(self.fail(key, ErrorKind::SecondTime { what: "keyword", found, first_line: None }));
            }
            let number = self.tokens.next()?;
            match key.text {
                "tag" => {
                    if number.kind == TokenKind::Negative || number.text == ANY_TAG.to_string() {
                        return Err(self.fail(number, ErrorKind::AnyTag { found: number.shown() }));
                    }
                    details.tag = self.whole(number, "a tag", u64::MAX)?;
                }
                "cpu" => details.cpu = self.whole(number, "the number of a CPU", u32::MAX.into())? as u32,
                _ => nic = self.whole(number, "the number of a NIC", u8::MAX.into())? as u8,
            }
            token = self.tokens.next()?;
        };
        block.draft.push(action, nic, first.line, details);
        Ok(closed)
    }

    /// After `calc`: its time, and the token after it.
    fn calc(&mut self) -> Result<(Action, Token<'a>)> {
        let number = self.tokens.next()?;
        if number.kind != TokenKind::Number {
            return Err(self.expected(&["a time such as `100` (in nanoseconds)", "`1.5us`"], number, &[]));
        }
        let unit = self.tokens.next()?;
        let (ps, next) = if unit.kind != TokenKind::Word || unit.text == "cpu" {
            (time_ps(number.text, "ns"), unit)
        } else {
            if !units().any(|known| known == unit.text) {
                let names: Vec<_> = units().chain(["cpu"]).collect();
                return Err(self.expected(&["a unit of time", "`cpu`", "the end of the line"], unit, &names));
            }
            (time_ps(number.text, unit.text), self.tokens.next()?)
        };
        Ok((Action::Compute { ps: ps.map_err(|kind| self.fail(number, kind))? }, next))
    }

    /// After `send` or `recv`: size and peer, and the token after them.
    fn message(&mut self, sends: bool, ranks: u32) -> Result<(Action, Token<'a>)> {
        let number = self.tokens.next()?;
        let bytes = self.whole(number, "a size in bytes such as `8b`", MAX_BYTES)?;
        let b = self.tokens.next()?;
        if !b.is("b") {
            return Err(self.expected(&[&format!("`b` (bytes) after the size {bytes}")], b, &["b"]));
        }
        let (word, what) = if sends { ("to", "a destination") } else { ("from", SOURCE) };
        let to = self.tokens.next()?;
        if !to.is(word) {
            return Err(self.expected(&[&format!("`{word}`")], to, &[word]));
        }
        let peer = self.tokens.next()?;
        let peer = self.rank(peer, what, ranks)?;
        let action = if sends {
            Action::Send { to: peer, label: 0, bytes }
        } else {
            Action::Receive { from: peer, label: 0, bytes }
        };
        Ok((action, self.tokens.next()?))
    }
}
