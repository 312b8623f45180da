//! Values of parameters.

use std::fmt;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A parameter that does not apply.
    Nothing,
    /// A number. A number of more than 64 bits is replaced by the largest 64-bit number.
    Integer(u64),
    /// A name, or a piece of a text that was read.
    Text(String),
    /// Several values of one kind.
    List(Vec<Value>),
    /// Named values.
    Record(Vec<(&'static str, Value)>),
}

/// What can be a parameter.
pub trait Parameter {
    /// What Python calls values of the type.
    const TYPE: &'static str;

    /// The value.
    fn value(&self) -> Value;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Parameter for $type {
            const TYPE: &'static str = "integer";

            fn value(&self) -> Value {
                Value::Integer(u64::try_from(*self).unwrap_or(u64::MAX))
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128, usize);

impl Parameter for &'static str {
    const TYPE: &'static str = "text";

    fn value(&self) -> Value {
        Value::Text((*self).to_string())
    }
}

impl Parameter for String {
    const TYPE: &'static str = "text";

    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl<T: Parameter> Parameter for Vec<T> {
    const TYPE: &'static str = "list";

    fn value(&self) -> Value {
        Value::List(self.iter().map(Parameter::value).collect())
    }
}

impl<T: Parameter> Parameter for Option<T> {
    const TYPE: &'static str = T::TYPE;

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Parameter::value)
    }
}

/// An operation of a trace in a cycle of operations that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleOperation {
    /// Its label; in a binary trace its number, from 1.
    pub label: String,
    /// Its line, from 1; none in a binary trace.
    pub line: Option<u32>,
}

impl Parameter for CycleOperation {
    const TYPE: &'static str = "record";

    fn value(&self) -> Value {
        Value::Record(vec![("label", self.label.value()), ("line", self.line.value())])
    }
}

/// Another operation of a trace: its line in a text, or its rank and its number, from 1, or the id of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names of the fields say what they are
pub enum Elsewhere {
    /// In a text.
    Line(u32),
    /// In a format without lines.
    Operation { rank: u32, operation: u32 },
    /// A node of a Chakra trace.
    Node { rank: u32, node: u64 },
}

impl Parameter for Elsewhere {
    const TYPE: &'static str = "record";

    fn value(&self) -> Value {
        match self {
            Self::Line(line) => Value::Record(vec![("line", line.value())]),
            Self::Operation { rank, operation } => {
                Value::Record(vec![("rank", rank.value()), ("operation", operation.value())])
            }
            Self::Node { rank, node } => Value::Record(vec![("rank", rank.value()), ("node", node.value())]),
        }
    }
}

/// What a rank of a deadlocked program waits for, and its position in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The rank.
    pub rank: u32,
    /// `send` or `receive`.
    pub operation: &'static str,
    /// Size of the message.
    pub bytes: u64,
    /// The rank at the other end.
    pub peer: u32,
    /// The phase, in a program of several phases.
    pub phase: Option<u32>,
    /// The step in its phase, in a program of phases.
    pub step: Option<u64>,
    /// The tag, in a trace.
    pub tag: Option<u64>,
    /// The line, from 1, in a trace.
    pub line: Option<u32>,
    /// The iteration, if there are several.
    pub iteration: Option<u32>,
}

impl Parameter for Awaited {
    const TYPE: &'static str = "record";

    fn value(&self) -> Value {
        Value::Record(vec![
            ("rank", self.rank.value()),
            ("operation", self.operation.value()),
            ("bytes", self.bytes.value()),
            ("peer", self.peer.value()),
            ("phase", self.phase.value()),
            ("step", self.step.value()),
            ("tag", self.tag.value()),
            ("line", self.line.value()),
            ("iteration", self.iteration.value()),
        ])
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "nothing"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Text(text) => write!(f, "`{text}`"),
            Self::List(values) => {
                write!(f, "[")?;
                for (number, value) in values.iter().enumerate() {
                    let comma = if number == 0 { "" } else { ", " };
                    write!(f, "{comma}{value}")?;
                }
                write!(f, "]")
            }
            Self::Record(values) => {
                write!(f, "{{")?;
                for (number, (name, value)) in values.iter().enumerate() {
                    let comma = if number == 0 { "" } else { ", " };
                    write!(f, "{comma}{name} = {value}")?;
                }
                write!(f, "}}")
            }
        }
    }
}
