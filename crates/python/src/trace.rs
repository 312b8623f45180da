//! Traces: text to its canonical form, and programs to text.

use odonata_programs::trace::{Trace, write_csv, write_goal};
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
pub fn read_trace<'py>(py: Python<'py>, text: &str, format: &str) -> PyResult<Bound<'py, PyDict>> {
    let csv = is_csv(format)?;
    let read = || {
        let trace = if csv { Trace::parse_csv(text) } else { Trace::parse_goal(text) }?;
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
pub fn write_trace(py: Python<'_>, body_json: &str, ranks: u32, format: &str) -> PyResult<String> {
    let csv = is_csv(format)?;
    if ranks == 0 {
        return Err(PyValueError::new_err("a program needs at least one rank"));
    }
    let body: Body = serde_json::from_str(body_json).map_err(|e| {
        let error = SpecError::new_err(format!("not the body of a program: {e}"));
        with(py, error, &[("at", None)])
    })?;
    let write = || match Program::new(&body, ranks)? {
        Program::Phases(phases) if csv => write_csv(&phases, ranks),
        Program::Phases(phases) => write_goal(&phases, ranks),
        Program::Trace(trace) if csv => trace.to_csv(),
        Program::Trace(trace) => Ok(trace.to_goal()),
    };
    py.detach(write).map_err(|e| to_python(py, &e))
}

fn is_csv(format: &str) -> PyResult<bool> {
    match format {
        "goal" => Ok(false),
        "csv" => Ok(true),
        _ => Err(PyValueError::new_err(format!("the format of a trace is `goal` or `csv`, found `{format}`"))),
    }
}

fn to_python(py: Python<'_>, error: &ProgramError) -> PyErr {
    let place = match error {
        ProgramError::Trace { line, column, .. } => (Some(*line), Some(*column)),
        ProgramError::Grid { .. } | ProgramError::Invalid { .. } => (None, None),
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
