//! Traces: text to its canonical form, and programs to text.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use odonata_error::{Error, ErrorKind};
use odonata_programs::trace::{ChakraOptions, CollectiveCall, Collectives, TRACE_FORMATS, Trace, TraceFormat};
use odonata_programs::{Body, Pair, Program};
use odonata_sim::spec::{SizedCombine, combine_ps};
use odonata_topology::Bandwidth;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::column::into_numpy;
use crate::errors::to_python;

/// Reads a trace; see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (data, format, keep_nics = true))]
pub fn read_trace<'py>(py: Python<'py>, data: &[u8], format: &str, keep_nics: bool) -> PyResult<Bound<'py, PyDict>> {
    let format = format_of(format)?;
    let read = || {
        let trace = format.read(data)?;
        let trace = if keep_nics { trace } else { trace.without_nics() };
        Ok((trace.ranks(), trace.operations(), trace.to_goal()))
    };
    described(py, py.detach(read).map_err(|e| to_python(py, &e))?)
}

/// A trace as Python gets it: its ranks, the number of its operations, and its text in GOAL.
fn described(py: Python<'_>, (ranks, operations, goal): (u32, u64, String)) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("ranks", ranks)?;
    out.set_item("operations", operations)?;
    out.set_item("goal", goal)?;
    Ok(out)
}

/// Reads a Chakra trace; see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (files, ranks, options_json, choose, combine = None, combine_by_size = Vec::new()))]
pub fn read_chakra<'py>(
    py: Python<'py>,
    files: Vec<PyBackedBytes>,
    ranks: u32,
    options_json: &str,
    choose: Py<PyAny>,
    combine: Option<u64>,
    combine_by_size: Vec<(u64, u64)>,
) -> PyResult<Bound<'py, PyDict>> {
    if ranks == 0 || (files.len() != 1 && files.len() != ranks as usize) {
        let message = format!("one file for each of {ranks} ranks, or one for all; found {}", files.len());
        return Err(PyValueError::new_err(message));
    }
    // An exception of `choose` must come out as it is, not as an error of the core.
    let raised = Mutex::new(None);
    let ask = |py: Python<'_>, call: CollectiveCall| {
        let CollectiveCall { name, ranks, bytes, root } = call;
        choose.call1(py, (name, ranks, bytes, root))?.extract::<String>(py)
    };
    let read = || {
        let options: ChakraOptions = serde_json::from_str(options_json)
            .map_err(|e| Error::from(ErrorKind::UnreadableSpecification { problem: e.to_string() }))?;
        let choose = |call| {
            let phases = Python::attach(|py| {
                ask(py, call).map_err(|e| {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
                    Error::from(ErrorKind::Interrupted {})
                })
            })?;
            serde_json::from_str(&phases)
                .map_err(|e| ErrorKind::UnreadableSpecification { problem: e.to_string() }.into())
        };
        let combining = combining(combine, &combine_by_size);
        let collectives = Collectives { choose: &choose, combining: &combining };
        let files: Vec<&[u8]> = files.iter().map(|file| &**file).collect();
        let trace = Trace::parse_chakra(&files, ranks, &options, &collectives)?;
        Ok((trace.ranks(), trace.operations(), trace.to_goal()))
    };
    match py.detach(read) {
        Ok(read) => described(py, read),
        Err(e) => {
            let raised = raised.into_inner().unwrap_or_else(PoisonError::into_inner);
            Err(raised.unwrap_or_else(|| to_python(py, &e)))
        }
    }
}

/// What ranks send to each other; see `_core.pyi`.
#[pyfunction]
pub fn traffic<'py>(py: Python<'py>, body_json: &str, ranks: u32) -> PyResult<[Bound<'py, PyAny>; 4]> {
    let pairs =
        py.detach(|| Program::new(&body_of(body_json)?, ranks)?.traffic(ranks)).map_err(|e| to_python(py, &e))?;
    let column = |value: fn(&Pair) -> u64| {
        // Bytes are far below 2^63: no message has more than 2^40, and no pair more than 2^20 of these.
        into_numpy(py, pairs.iter().map(|pair| i64::try_from(value(pair)).unwrap_or(i64::MAX)).collect())
    };
    Ok([
        column(|pair| pair.0.into())?,
        column(|pair| pair.1.into())?,
        column(|pair| pair.2)?,
        column(|pair| pair.3.into())?,
    ])
}

/// Writes one iteration of a program as a trace; see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (body_json, ranks, format, combine = None, combine_by_size = Vec::new()))]
pub fn write_trace<'py>(
    py: Python<'py>,
    body_json: &str,
    ranks: u32,
    format: &str,
    combine: Option<u64>,
    combine_by_size: Vec<(u64, u64)>,
) -> PyResult<Cow<'static, [u8]>> {
    let format = format_of(format)?;
    if ranks == 0 {
        return Err(PyValueError::new_err("a program needs at least one rank"));
    }
    let write = || {
        let combining = combining(combine, &combine_by_size);
        match Program::new(&body_of(body_json)?, ranks)? {
            Program::Phases(phases) => format.write_phases(&phases, ranks, &combining),
            Program::Stages(staged) => format.write(&staged.trace()?),
            Program::Trace(trace) => format.write(&trace),
        }
    };
    py.detach(write).map(Cow::Owned).map_err(|e| to_python(py, &e))
}

/// Writes one iteration of a program as Chakra execution traces; see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (body_json, ranks, combine = None, combine_by_size = Vec::new()))]
pub fn write_chakra<'py>(
    py: Python<'py>,
    body_json: &str,
    ranks: u32,
    combine: Option<u64>,
    combine_by_size: Vec<(u64, u64)>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    if ranks == 0 {
        return Err(PyValueError::new_err("a program needs at least one rank"));
    }
    let write = || match Program::new(&body_of(body_json)?, ranks)? {
        Program::Phases(phases) => Trace::of_phases(&phases, ranks, combining(combine, &combine_by_size))?.to_chakra(),
        Program::Stages(staged) => staged.trace()?.to_chakra(),
        Program::Trace(trace) => trace.to_chakra(),
    };
    let files = py.detach(write).map_err(|e| to_python(py, &e))?;
    Ok(files.iter().map(|file| PyBytes::new(py, file)).collect())
}

/// The time in picoseconds to combine so many bytes of a vector of so many.
fn combining(combine: Option<u64>, by_size: &[(u64, u64)]) -> impl Fn(u64, u64) -> u64 {
    let sized = |&(bytes, combine): &(u64, u64)| SizedCombine { bytes, combine: Bandwidth(combine) };
    let by_size: Vec<SizedCombine> = by_size.iter().map(sized).collect();
    let plain = move |bytes| combine.map_or(0, |combine| Bandwidth(combine).serialisation_ps(bytes));
    move |bytes, of| combine_ps(&by_size, bytes, of).unwrap_or_else(|| plain(bytes))
}

fn body_of(json: &str) -> Result<Body, Error> {
    serde_json::from_str(json).map_err(|e| ErrorKind::UnreadableSpecification { problem: e.to_string() }.into())
}

fn format_of(name: &str) -> PyResult<&'static TraceFormat> {
    let names = TRACE_FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join("`, `");
    TraceFormat::named(name)
        .ok_or_else(|| PyValueError::new_err(format!("the formats of a trace are `{names}`, found `{name}`")))
}
