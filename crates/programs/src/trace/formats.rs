//! The list of the formats of traces that are one file.

use odonata_error::{Error, ErrorKind};

use super::{Trace, write_csv};
use crate::program::Phases;

/// The time to combine so many bytes of a vector of so many, in picoseconds.
pub type Combining<'c> = &'c dyn Fn(u64, u64) -> u64;

/// Writes one iteration of phases for so many ranks.
type WritePhases = fn(&Phases, u32, Combining<'_>) -> Result<String, Error>;

/// A format.
#[derive(Clone, Copy, Debug)]
pub struct TraceFormat {
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whether it is text; else its first bytes may look like those of a compressed file.
    pub text: bool,
    read: fn(&[u8]) -> Result<Trace, Error>,
    write: fn(&Trace) -> Result<Vec<u8>, Error>,
    /// For a format that can write phases better than their operations one by one.
    write_phases: Option<WritePhases>,
}

/// All formats. The ending of a file is a point and the name.
pub const TRACE_FORMATS: &[TraceFormat] = &[
    TraceFormat {
        name: "goal",
        about: "a schedule in the GOAL format of LogGOPSim, as text",
        text: true,
        read: |data| Trace::parse_goal(text(data)?),
        write: |trace| Ok(trace.to_goal().into_bytes()),
        write_phases: None,
    },
    TraceFormat {
        name: "bin",
        about: "the same, binary",
        text: false,
        read: Trace::parse_binary,
        write: Trace::to_binary,
        write_phases: None,
    },
    TraceFormat {
        name: "csv",
        about: "a table with a line for each operation",
        text: true,
        read: |data| Trace::parse_csv(text(data)?),
        write: |trace| trace.to_csv().map(String::into_bytes),
        write_phases: Some(|phases, ranks, combining| write_csv(phases, ranks, combining)),
    },
];

impl TraceFormat {
    /// The format of this name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TRACE_FORMATS.iter().find(|format| format.name == name)
    }

    /// Reads a trace.
    ///
    /// # Errors
    /// What is wrong, with its place; a binary schedule in place of a text is named.
    pub fn read(&self, data: &[u8]) -> Result<Trace, Error> {
        if self.text && Trace::is_binary(data) {
            return Err(ErrorKind::BinaryAsText {}.at_byte(0));
        }
        (self.read)(data)
    }

    /// Writes a trace.
    ///
    /// # Errors
    /// For a trace that the format cannot express.
    pub fn write(&self, trace: &Trace) -> Result<Vec<u8>, Error> {
        (self.write)(trace)
    }

    /// Writes one iteration of phases.
    ///
    /// # Errors
    /// For phases that the format cannot express.
    pub fn write_phases(&self, phases: &Phases, ranks: u32, combining: Combining<'_>) -> Result<Vec<u8>, Error> {
        match self.write_phases {
            Some(write) => Ok(write(phases, ranks, combining)?.into_bytes()),
            None => self.write(&Trace::of_phases(phases, ranks, combining)?),
        }
    }
}

/// The bytes as text, without a copy.
fn text(data: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(data).map_err(|e| ErrorKind::NotUtf8 {}.at_byte(e.valid_up_to()))
}
