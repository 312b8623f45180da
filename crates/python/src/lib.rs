//! The extension module `odonata._core`: conversion and errors, no logic.
//!
//! JSON goes in, and dictionaries of named NumPy columns come out. A column is moved to NumPy, never copied. The
//! interpreter lock is released while the simulator works.
//!
//! | file | what it converts |
//! |---|---|
//! | `machine.rs` | the class `Machine`: a machine that is wired once, and its methods |
//! | `describe.rs` | its wiring to columns |
//! | `routes.rs` | the paths between two nodes to dictionaries |
//! | `run.rs` | a specification to a running simulation, with progress and Ctrl-C |
//! | `lists.rs` | the lists of routings and collectives to dictionaries |
//! | `output.rs` | a result to columns |
//! | `column.rs` | a column to a NumPy array |
//! | `trace.rs` | a trace to its canonical text, a program to a trace |
//! | `decision.rs` | the policies and equations of application-aware routing |
//! | `errors.rs` | every Rust error to its Python exception |

mod column;
mod decision;
mod describe;
mod errors;
mod lists;
mod machine;
mod output;
mod routes;
mod run;
mod trace;

use odonata_sim::Spec;
use odonata_sim::engine::Bursts;
use odonata_topology::Bandwidth;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use errors::{CoreError, error_codes, to_python};

/// As `Machine.check`, on a new machine.
#[pyfunction]
fn check(py: Python<'_>, spec_json: &str) -> PyResult<()> {
    py.detach(|| run::check(&Spec::from_json(spec_json)?)).map_err(|e| to_python(py, &e))
}

/// As `Machine.run`, on a new machine.
#[pyfunction(name = "run")]
#[pyo3(signature = (spec_json, progress=None, threads=1))]
fn run_alone<'py>(
    py: Python<'py>,
    spec_json: &str,
    progress: Option<Py<PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = Spec::from_json(spec_json).map_err(|e| to_python(py, &e))?;
    run::simulate(py, spec, progress, threads)
}

/// Lengths of the first bursts of a job and of the pauses after them, in picoseconds; its rank 0 is on `node`.
#[pyfunction]
fn burst_lengths(bursts_json: &str, seed: u64, node: u32, count: u64) -> PyResult<Vec<(u64, u64)>> {
    let lengths = serde_json::from_str(bursts_json).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let bursts = Bursts::new(lengths, seed, node);
    Ok((0..count).map(|number| (bursts.on(number), bursts.off(number))).collect())
}

/// Time that a number of bytes occupies a link, in picoseconds, rounded up; saturates at 2^64 - 1.
#[pyfunction]
fn serialisation_ps(bandwidth_micro_bytes_per_s: u64, bytes: u64) -> PyResult<u64> {
    if bandwidth_micro_bytes_per_s == 0 {
        return Err(PyValueError::new_err("a bandwidth of 0 never delivers"));
    }
    Ok(Bandwidth(bandwidth_micro_bytes_per_s).serialisation_ps(bytes))
}

/// Largest Dragonfly+ of routers with that many ports, in nodes (Kang 2019, equation 1).
#[pyfunction]
fn dragonfly_plus_max_nodes(radix: u16) -> u64 {
    odonata_topology::size::dragonfly_plus_max_nodes(radix.into())
}

/// Largest one-dimensional dragonfly of routers with that many ports, in nodes (Kang 2019, equation 2).
#[pyfunction]
fn dragonfly_max_nodes(radix: u16) -> u64 {
    odonata_topology::size::dragonfly_max_nodes(radix.into())
}

/// The Rust core of Odonata.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("__fingerprint__", env!("ODONATA_CORE_FINGERPRINT"))?;
    module.add("CoreError", py.get_type::<CoreError>())?;
    module.add_function(wrap_pyfunction!(error_codes, module)?)?;
    module.add_class::<machine::Machine>()?;
    module.add_class::<decision::RoutingPolicy>()?;
    module.add_function(wrap_pyfunction!(decision::prefer_high_bias, module)?)?;
    module.add_function(wrap_pyfunction!(decision::routing_policies, module)?)?;
    module.add_function(wrap_pyfunction!(decision::routing_policy_defaults, module)?)?;
    module.add_function(wrap_pyfunction!(decision::transmission_time, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(run_alone, module)?)?;
    module.add_function(wrap_pyfunction!(lists::add_routing, module)?)?;
    module.add_function(wrap_pyfunction!(lists::collectives, module)?)?;
    module.add_function(wrap_pyfunction!(lists::congestion_laws, module)?)?;
    module.add_function(wrap_pyfunction!(lists::limits, module)?)?;
    module.add_function(wrap_pyfunction!(lists::options, module)?)?;
    module.add_function(wrap_pyfunction!(lists::trace_formats, module)?)?;
    module.add_function(wrap_pyfunction!(lists::routing_channels, module)?)?;
    module.add_function(wrap_pyfunction!(lists::routings, module)?)?;
    module.add_function(wrap_pyfunction!(trace::read_chakra, module)?)?;
    module.add_function(wrap_pyfunction!(trace::read_trace, module)?)?;
    module.add_function(wrap_pyfunction!(trace::traffic, module)?)?;
    module.add_function(wrap_pyfunction!(trace::write_chakra, module)?)?;
    module.add_function(wrap_pyfunction!(trace::write_trace, module)?)?;
    module.add_function(wrap_pyfunction!(burst_lengths, module)?)?;
    module.add_function(wrap_pyfunction!(serialisation_ps, module)?)?;
    module.add_function(wrap_pyfunction!(dragonfly_plus_max_nodes, module)?)?;
    module.add_function(wrap_pyfunction!(dragonfly_max_nodes, module)?)?;
    Ok(())
}
