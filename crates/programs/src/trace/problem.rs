//! Errors in a text: where, what was found, and what was probably meant.

use std::borrow::Cow;

use crate::ProgramError;

/// Longest text of a word in an error, and longest word for which a near name is sought, in characters.
const LONGEST: usize = 40;

/// What a trace is read from, which says how its errors name a place.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// A text; a place is a byte of it.
    Text(&'a str),
    /// Binary GOAL; a place is a number that is larger for later operations.
    Binary,
}

impl Source<'_> {
    /// An error of an operation of a rank; both are numbered from 0.
    pub fn at(self, place: u32, rank: u32, number: u32, problem: impl Into<String>) -> ProgramError {
        match self {
            Self::Text(text) => at(text, place as usize, problem),
            Self::Binary => ProgramError::operation(rank, number, problem),
        }
    }

    /// Another operation in an error: its rank, and [`super::Step::line`].
    pub fn other(self, rank: u32, line: u32) -> String {
        match self {
            Self::Text(_) => format!("line {line}"),
            Self::Binary => format!("operation {line} of rank {rank}"),
        }
    }
}

/// An error at a byte of the text.
pub fn at(text: &str, offset: usize, problem: impl Into<String>) -> ProgramError {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    ProgramError::Trace {
        line: 1 + before.bytes().filter(|&byte| byte == b'\n').count() as u32,
        column: 1 + before[line_start..].chars().count() as u32,
        problem: problem.into(),
    }
}

/// A word in an error; cut if it is long.
pub fn quoted(word: &str) -> String {
    format!("`{}`", cut(word))
}

/// The beginning of a word.
pub fn cut(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &word[..end]).into(),
        None => word.into(),
    }
}

/// `; did you mean ...?`, or nothing if no known name is near.
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// The known name that needs the fewest letters changed, at most one in three; of several the first in the alphabet.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let most = (word.len() / 3).max(1);
    let near = |name: &'a str| {
        let fits = name.len().abs_diff(word.len()) <= most;
        let distance = if fits { changes(word.as_bytes(), name.to_ascii_lowercase().as_bytes()) } else { usize::MAX };
        (distance <= most && distance < name.len()).then_some((distance, name))
    };
    known.into_iter().filter_map(near).min().map(|(_, name)| name)
}

/// Letters to change, add, drop, or swap with their neighbour, from one word to another (optimal string alignment).
fn changes(a: &[u8], b: &[u8]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let cell = |i: usize, j: usize| table[i * width + j];
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let mut least = cell(i - 1, j - 1) + usize::from(a[i - 1] != b[j - 1]);
                least = least.min(cell(i - 1, j) + 1).min(cell(i, j - 1) + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(cell(i - 2, j - 2) + 1);
                }
                least
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_characters_from_1() {
        let place = |offset| match at("ab\nµx y", offset, "p") {
            ProgramError::Trace { line, column, .. } => (line, column),
            other => panic!("{other}"),
        };
        assert_eq!([0, 2, 3, 5, 8].map(place), [(1, 1), (1, 3), (2, 1), (2, 2), (2, 5)]);
    }

    #[test]
    fn near_names_are_near() {
        let known = ["send", "recv", "calc", "requires", "irequires"];
        let cases = [
            ("sned", Some("send")),
            ("SEND", Some("send")),
            ("rcv", Some("recv")),
            ("require", Some("requires")),
            ("irequire", Some("irequires")),
            ("bcast", None),
            ("x", None),
        ];
        for (word, near) in cases {
            assert_eq!(nearest(word, known), near, "{word}");
        }
        assert_eq!(nearest("l11", ["l13", "l12", "l1"]), Some("l1"));
        assert_eq!(nearest(&"a".repeat(100_000), known), None);
        assert_eq!(quoted(&"µ".repeat(50)), format!("`{}...`", "µ".repeat(40)));
    }
}
