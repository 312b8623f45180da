//! Rust errors to Python exceptions: the only conversion.

use odonata_error::{Error, ErrorKind, Segment, TracePlace, Value};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

create_exception!(odonata._core, CoreError, PyException, "The core has no result; see `_core.pyi` for the attributes.");

/// The exception for an error.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    if error.kind == (ErrorKind::Interrupted {}) {
        return PyKeyboardInterrupt::new_err(());
    }
    let exception = CoreError::new_err(error.to_string());
    match describe(py, error, exception.value(py).as_any()) {
        Ok(()) => exception,
        Err(failure) => failure,
    }
}

fn describe(py: Python<'_>, error: &Error, exception: &Bound<'_, PyAny>) -> PyResult<()> {
    let segment = |segment: &Segment| match segment {
        Segment::Key(key) => key.into_pyobject(py).map(|key| key.into_any()).map_err(PyErr::from),
        Segment::Index(index) => index.into_pyobject(py).map(|index| index.into_any()).map_err(PyErr::from),
    };
    let path = error.path.0.iter().map(segment).collect::<PyResult<Vec<_>>>()?;
    exception.setattr("code", error.code())?;
    exception.setattr("path", PyTuple::new(py, path)?)?;
    exception.setattr("parameters", record(py, &error.kind.parameters())?)?;
    let place = PyDict::new(py);
    match &error.place {
        None => {}
        Some(TracePlace::Text { line, column }) => {
            place.set_item("line", line)?;
            place.set_item("column", column)?;
        }
        Some(TracePlace::Byte(byte)) => place.set_item("byte", byte)?,
        Some(TracePlace::Operation { rank, operation }) => {
            place.set_item("rank", rank)?;
            place.set_item("operation", operation)?;
        }
        Some(TracePlace::Node { node, name }) => {
            place.set_item("node", node)?;
            place.set_item("name", name)?;
        }
    }
    exception.setattr("place", place)
}

fn record<'py>(py: Python<'py>, values: &[(&'static str, Value)]) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    for (name, value) in values {
        record.set_item(name, told(py, value)?)?;
    }
    Ok(record)
}

fn told<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Nothing => py.None().into_bound(py),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::List(values) => {
            let values = values.iter().map(|value| told(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Record(values) => record(py, values)?.into_any(),
    })
}

/// All codes, with the names and types of their parameters.
#[pyfunction]
pub fn error_codes(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let codes = PyDict::new(py);
    for code in ErrorKind::ALL {
        let parameters = PyDict::new(py);
        for (name, kind) in code.parameters {
            parameters.set_item(name, kind)?;
        }
        codes.set_item(code.code, parameters)?;
    }
    Ok(codes)
}
