//! Errors in a text: the position, and what was found.

use odonata_error::{Elsewhere, Error, ErrorKind, path};

/// Longest text of a word in an error, in characters.
const LONGEST: usize = 40;

/// What a trace is read from, which decides how its errors name a position.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// A text; a position is a byte of it.
    Text(&'a str),
    /// Binary GOAL; a position is a number that is larger for later operations.
    Binary,
    /// A Chakra trace; a position is that of a node among those of all ranks. The function has the file, the id and the
    /// name of a node of a rank, by its index in the file.
    Chakra(&'a dyn Fn(u32, u32) -> (usize, u64, &'a str)),
}

impl Source<'_> {
    /// An error of an operation of a rank; both are numbered from 0.
    /// `line` is [`super::Operation::line`].
    pub fn at(self, place: u32, rank: u32, number: u32, line: u32, kind: ErrorKind) -> Error {
        match self {
            Self::Text(text) => at(text, place as usize, kind),
            Self::Binary => kind.of_operation(rank, number),
            Self::Chakra(node) => {
                let (file, id, name) = node(rank, line - 1);
                kind.of_node(id, name).under(path!["files", file])
            }
        }
    }

    /// Another operation in an error: its rank, and [`super::Operation::line`].
    pub fn other(self, rank: u32, line: u32) -> Elsewhere {
        match self {
            Self::Text(_) => Elsewhere::Line(line),
            Self::Binary => Elsewhere::Operation { rank, operation: line },
            Self::Chakra(node) => Elsewhere::Node { rank, node: node(rank, line - 1).1 },
        }
    }
}

/// An error at a byte of the text.
pub fn at(text: &str, offset: usize, kind: ErrorKind) -> Error {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count() as u32;
    kind.in_text(line, 1 + before[line_start..].chars().count() as u32)
}

/// The beginning of a word.
pub fn cut(word: &str) -> String {
    match word.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use odonata_error::TracePlace;

    use super::*;

    #[test]
    fn a_place_is_counted_in_characters_from_1() {
        let place = |offset| {
            let error = at("ab\nµx y", offset, ErrorKind::NoRows {});
            if let Some(TracePlace::Text { line, column }) = error.place { (line, column) } else { panic!("{error}") }
        };
        assert_eq!([0, 2, 3, 5, 8].map(place), [(1, 1), (1, 3), (2, 1), (2, 2), (2, 5)]);
    }

    #[test]
    fn long_words_are_cut() {
        assert_eq!(cut(&"µ".repeat(50)), format!("{}...", "µ".repeat(40)));
        assert_eq!(cut(&"µ".repeat(40)), "µ".repeat(40));
    }
}
