//! The tokens of a GOAL text.

use odonata_error::{Error, ErrorKind};

use crate::trace::problem::{at, cut};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, digits and `_`, not starting with a digit.
    Word,
    /// Digits, perhaps with a decimal point.
    Number,
    /// Digits after a minus sign.
    Negative,
    /// `:`, `{`, `}` or anything else.
    Sign,
    /// The end of a line.
    Line,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    /// Its first byte.
    pub offset: usize,
    /// Its line, from 1.
    pub line: u32,
}

impl Token<'_> {
    /// Whether it is this word or character.
    pub fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, TokenKind::Word | TokenKind::Sign)
    }

    /// Its text in an error: `\n` is the end of a line, the empty text is the end of the file.
    pub fn shown(&self) -> String {
        cut(self.text)
    }
}

/// Cuts a text into tokens. Blanks and comments are skipped: from `//` or `#` to the end of the line, and between `/*`
/// and `*/`.
pub struct Tokens<'a> {
    pub text: &'a str,
    position: usize,
    line: u32,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, position: 0, line: 1 }
    }

    /// The next token; at the end of the text always [`TokenKind::End`].
    pub fn next(&mut self) -> Result<Token<'a>, Error> {
        self.skip()?;
        let rest = &self.text.as_bytes()[self.position..];
        let digits = |from: usize| from + rest[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        let (kind, length) = match rest {
            [] => (TokenKind::End, 0),
            [b'\n', ..] => (TokenKind::Line, 1),
            [b'0'..=b'9', ..] => (TokenKind::Number, digits(1)),
            [b'-', b'0'..=b'9', ..] => (TokenKind::Negative, digits(2)),
            [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
                (TokenKind::Word, rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count())
            }
            _ => (TokenKind::Sign, self.text[self.position..].chars().next().map_or(0, char::len_utf8)),
        };
        let offset = self.position;
        self.position += length;
        let token = Token { kind, text: &self.text[offset..self.position], offset, line: self.line };
        self.line += u32::from(kind == TokenKind::Line);
        Ok(token)
    }

    fn skip(&mut self) -> Result<(), Error> {
        loop {
            match &self.text.as_bytes()[self.position..] {
                [b' ' | b'\t' | b'\r', ..] => self.position += 1,
                [b'#', rest @ ..] | [b'/', b'/', rest @ ..] => {
                    let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                    self.position = self.text.len() - rest.len() + end;
                }
                [b'/', b'*', rest @ ..] => {
                    let Some(end) = rest.windows(2).position(|two| two == b"*/") else {
                        return Err(at(self.text, self.position, ErrorKind::OpenComment {}));
                    };
                    self.line += rest[..end].iter().filter(|&&b| b == b'\n').count() as u32;
                    self.position += end + 4;
                }
                _ => return Ok(()),
            }
        }
    }
}
