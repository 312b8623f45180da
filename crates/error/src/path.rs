//! The position of a value in a document.

use std::borrow::Cow;
use std::fmt;

/// Keys and indices that lead to a value of a document, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(pub Vec<Segment>);

/// A step into a table or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// The key of a table.
    Key(Cow<'static, str>),
    /// The position in a list, from 0.
    Index(usize),
}

/// The path of these keys and indices: `path!["jobs", 1, "nodes"]`.
#[macro_export]
macro_rules! path {
    ($($segment:expr),* $(,)?) => { $crate::Path(vec![$($crate::Segment::from($segment)),*]) };
}

impl Path {
    /// The path of a value one level deeper.
    #[must_use]
    pub fn join(&self, segment: impl Into<Segment>) -> Self {
        Self(self.0.iter().cloned().chain([segment.into()]).collect())
    }
}

impl From<&'static str> for Segment {
    fn from(key: &'static str) -> Self {
        Self::Key(key.into())
    }
}

impl From<String> for Segment {
    fn from(key: String) -> Self {
        Self::Key(key.into())
    }
}

impl From<usize> for Segment {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl fmt::Display for Path {
    /// `jobs[1].nodes`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if number == 0 => write!(f, "{key}")?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
