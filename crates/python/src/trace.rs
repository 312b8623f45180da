//! Traces: text to its canonical form, and programs to text.

use std::borrow::Cow;

use odonata_programs::trace::{Trace, write_csv};
use odonata_programs::{Body, Program, ProgramError};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::SpecError;

create_exception!(
    odonata._core,
    TraceError,
    SpecError,
    "A trace cannot be read or written; `line` and `column` (from 1, in characters) are None if it is not about a line."
);

/// Reads a trace; see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (data, format, keep_nics = true))]
pub fn read_trace<'py>(py: Python<'py>, data: &[u8], format: &str, keep_nics: bool) -> PyResult<Bound<'py, PyDict>> {
    let format = Format::new(format)?;
    let read = || {
        let trace = match format {
            Format::Bin => Trace::parse_binary(data)?,
            _ if Trace::is_binary(data) => {
                let problem = "this is binary GOAL, which ends in .bin; rename it or say format = \"bin\"".to_string();
                return Err(ProgramError::Binary { byte: 0, problem });
            }
            Format::Goal => Trace::parse_goal(text(data)?)?,
            Format::Csv => Trace::parse_csv(text(data)?)?,
        };
        let trace = if keep_nics { trace } else { trace.without_nics() };
        Ok((trace.ranks(), trace.operations(), trace.to_goal()))
    };
    let (ranks, operations, goal) = py.detach(read).map_err(|e| to_python(py, &e))?;
    let out = PyDict::new(py);
    out.set_item("ranks", ranks)?;
    out.set_item("operations", operations)?;
    out.set_item("goal", goal)?;
    Ok(out)
}

/// Writes one iteration of a program as a trace; see `_core.pyi`.
#[pyfunction]
pub fn write_trace<'py>(py: Python<'py>, body_json: &str, ranks: u32, format: &str) -> PyResult<Cow<'static, [u8]>> {
    let format = Format::new(format)?;
    if ranks == 0 {
        return Err(PyValueError::new_err("a program needs at least one rank"));
    }
    let body: Body = serde_json::from_str(body_json).map_err(|e| {
        let error = SpecError::new_err(format!("not the body of a program: {e}"));
        with(py, error, &[("at", None)])
    })?;
    let write = || {
        let trace = match Program::new(&body, ranks)? {
            Program::Phases(phases) if format == Format::Csv => return Ok(write_csv(&phases, ranks)?.into_bytes()),
            Program::Phases(phases) => Trace::of_phases(&phases, ranks)?,
            Program::Trace(trace) => trace,
        };
        match format {
            Format::Goal => Ok(trace.to_goal().into_bytes()),
            Format::Csv => trace.to_csv().map(String::into_bytes),
            Format::Bin => trace.to_binary(),
        }
    };
    py.detach(write).map(Cow::Owned).map_err(|e| to_python(py, &e))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Goal,
    Csv,
    Bin,
}

impl Format {
    fn new(name: &str) -> PyResult<Self> {
        match name {
            "goal" => Ok(Self::Goal),
            "csv" => Ok(Self::Csv),
            "bin" => Ok(Self::Bin),
            _ => Err(PyValueError::new_err(format!("the format of a trace is `goal`, `csv` or `bin`, found `{name}`"))),
        }
    }
}

/// The bytes as text, without a copy.
fn text(data: &[u8]) -> Result<&str, ProgramError> {
    std::str::from_utf8(data).map_err(|e| {
        let problem = "expected text in UTF-8, found a byte that is not".to_string();
        ProgramError::Binary { byte: e.valid_up_to() as u64, problem }
    })
}

fn to_python(py: Python<'_>, error: &ProgramError) -> PyErr {
    let place = match error {
        ProgramError::Trace { line, column, .. } => (Some(*line), Some(*column)),
        ProgramError::Grid { .. }
        | ProgramError::Invalid { .. }
        | ProgramError::Binary { .. }
        | ProgramError::Operation { .. } => (None, None),
    };
    with(py, TraceError::new_err(error.to_string()), &[("at", None), ("line", place.0), ("column", place.1)])
}

/// The exception with these attributes.
fn with(py: Python<'_>, exception: PyErr, attributes: &[(&str, Option<u32>)]) -> PyErr {
    for (name, value) in attributes {
        if let Err(failure) = exception.value(py).setattr(*name, *value) {
            return failure;
        }
    }
    exception
}
