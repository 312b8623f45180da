//! Every Rust error to its Python exception: the one conversion there is.

use odonata_sim::SimError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;

create_exception!(odonata._core, CoreError, PyException, "The core has no result; `at` is None.");
create_exception!(
    odonata._core,
    SpecError,
    CoreError,
    "The specification or the topology is invalid; `at` is the path of the value (`jobs[1].nodes`), or None."
);
create_exception!(odonata._core, DeadlockError, CoreError, "Packets wait for each other and nothing can move.");

/// The exception that says what the error says.
pub fn to_python(py: Python<'_>, error: &SimError) -> PyErr {
    let message = error.to_string();
    let (exception, at) = match error {
        SimError::Invalid { at, .. } => (SpecError::new_err(message), Some(at.as_str())),
        SimError::Topology(_) => (SpecError::new_err(message), Some("topology")),
        SimError::CouldDeadlock { .. } => (SpecError::new_err(message), Some("routing")),
        SimError::Json(_) => (SpecError::new_err(message), None),
        SimError::Deadlock { .. } | SimError::DeadProgram { .. } => (DeadlockError::new_err(message), None),
        SimError::Memory { .. } => (PyMemoryError::new_err(message), None),
        SimError::TimeOverflow => (CoreError::new_err(message), None),
        SimError::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    match exception.value(py).setattr("at", at) {
        Ok(()) => exception,
        Err(failure) => failure,
    }
}
