//! Everything that can end a call without a result, as data.
//!
//! An [`Error`] says *what* is wrong by a code with named parameters ([`ErrorKind`]), and *where* by a path into the
//! specification and, inside the text of a trace, by a line and a column. It holds no sentence: Python has the one
//! table of messages, in the vocabulary of the scenario file (`python/odonata/messages.py`). `Display` shows the data
//! to developers.
//!
//! All codes are in one list (`kind.rs`), so tests can iterate over them.

mod kind;
mod path;
mod value;

use std::fmt;

pub use kind::{Code, ErrorKind};
pub use path::{Path, Segment};
pub use value::{Awaited, CycleOperation, Elsewhere, Parameter, Value};

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The value of the specification that is at fault; empty if no single value is.
    pub path: Path,
    /// The place in a trace.
    pub place: Option<TracePlace>,
}

/// A place in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TracePlace {
    /// In a text.
    Text {
        /// Line, from 1.
        line: u32,
        /// Column, from 1, in characters.
        column: u32,
    },
    /// In a file, from 0.
    Byte(u64),
    /// An operation, in a format without lines.
    Operation {
        /// Its rank.
        rank: u32,
        /// Its number in the rank, from 1.
        operation: u32,
    },
    /// A node of a Chakra trace; the path of the error leads to the file.
    Node {
        /// Its id.
        node: u64,
        /// Its name.
        name: String,
    },
}

impl Error {
    /// The code of its kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The same error, for a document that is part of a larger one: `prefix` is the path to it.
    #[must_use]
    pub fn under(self, mut prefix: Path) -> Self {
        prefix.0.extend(self.path.0);
        Self { path: prefix, ..self }
    }
}

impl From<ErrorKind> for Error {
    /// An error that no single value causes.
    fn from(kind: ErrorKind) -> Self {
        Self { kind, path: Path::default(), place: None }
    }
}

impl fmt::Display for Error {
    /// For developers: `jobs[1].nodes: no-such-node (node = 99, nodes = 32)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.0.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        match &self.place {
            None => {}
            Some(TracePlace::Text { line, column }) => write!(f, "line {line}, column {column}: ")?,
            Some(TracePlace::Byte(byte)) => write!(f, "byte {byte}: ")?,
            Some(TracePlace::Operation { rank, operation }) => write!(f, "rank {rank}, operation {operation}: ")?,
            Some(TracePlace::Node { node, name }) => write!(f, "node {node} (`{name}`): ")?,
        }
        write!(f, "{}", self.code())?;
        let parameters = self.kind.parameters();
        if parameters.is_empty() {
            return Ok(());
        }
        let shown = Value::Record(parameters).to_string();
        write!(f, " ({})", &shown[1..shown.len() - 1])
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn developers_see_the_data() {
        let error = ErrorKind::NoSuchNode { node: 99, nodes: 32 }.at(path!["jobs", 1, "nodes"]);
        assert_eq!(error.to_string(), "jobs[1].nodes: no-such-node (node = 99, nodes = 32)");
        assert_eq!(Error::from(ErrorKind::Interrupted {}).to_string(), "interrupted");
        let kind = ErrorKind::UnknownLabel { label: "x".into(), known: vec!["y".into(), "z".into()] };
        let error = Error { kind, path: Path::default(), place: Some(TracePlace::Text { line: 3, column: 7 }) };
        assert_eq!(error.to_string(), "line 3, column 7: unknown-label (label = `x`, known = [`y`, `z`])");
    }

    #[test]
    fn a_path_can_be_continued_at_both_ends() {
        let error = ErrorKind::Zero {}.at(path!["phases", 3]).under(path!["jobs", 0, "program", "body"]);
        assert_eq!(error.path.join("bytes").to_string(), "jobs[0].program.body.phases[3].bytes");
    }

    #[test]
    fn codes_are_distinct_and_in_kebab_case() {
        let codes: HashSet<_> = ErrorKind::ALL.iter().map(|code| code.code).collect();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
        let kebab = |code: &str| code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        assert!(codes.iter().all(|code| kebab(code)));
    }
}
