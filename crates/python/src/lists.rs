//! The lists that the core declares, to dictionaries.

use odonata_programs::COLLECTIVES;
use odonata_programs::trace::TRACE_FORMATS;
use odonata_sim::routing;
use odonata_sim::routing::custom::functions::{self, Functions};
use odonata_sim::spec::{
    CONGESTION_LAWS, LIMITS, MarkingPorts, OptionInfo, ROUTINGS, RoutingSpec, TABLES, TopologySpec, Values,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// All routings; see `_core.pyi`.
#[pyfunction]
pub fn routings(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for info in ROUTINGS {
        let told = PyDict::new(py);
        told.set_item("name", info.name)?;
        told.set_item("about", info.about.trim())?;
        told.set_item("machines", info.machines)?;
        told.set_item("options", options_to_python(py, info.options)?)?;
        list.append(told)?;
    }
    Ok(list)
}

/// The laws of congestion control; see `_core.pyi`.
#[pyfunction]
pub fn congestion_laws(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for law in CONGESTION_LAWS {
        let told = PyDict::new(py);
        told.set_item("name", law.name)?;
        told.set_item("about", law.about.trim())?;
        told.set_item("marks", law.marking != MarkingPorts::None)?;
        told.set_item("options", options_to_python(py, law.options)?)?;
        list.append(told)?;
    }
    Ok(list)
}

/// The keys of the tables that describe themselves; see `_core.pyi`.
#[pyfunction]
pub fn options(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (path, options) in TABLES {
        all.set_item(path, options_to_python(py, options)?)?;
    }
    Ok(all)
}

/// The formats of traces that are one file; see `_core.pyi`.
#[pyfunction]
pub fn trace_formats(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for format in TRACE_FORMATS {
        let told = PyDict::new(py);
        told.set_item("name", format.name)?;
        told.set_item("about", format.about)?;
        told.set_item("text", format.text)?;
        list.append(told)?;
    }
    Ok(list)
}

/// Limits that are not those of a single key; see `_core.pyi`.
#[pyfunction]
pub fn limits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (name, most) in LIMITS {
        all.set_item(name, most)?;
    }
    Ok(all)
}

fn options_to_python<'py>(py: Python<'py>, options: &[OptionInfo]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for option in options {
        let told = PyDict::new(py);
        told.set_item("name", option.name)?;
        told.set_item("about", option.about.trim())?;
        told.set_item("optional", option.optional)?;
        told.set_item("default", option.default)?;
        let (names, range) = match option.values {
            Values::Names(names) => (Some(names_to_python(py, names)?), None),
            Values::Number { least, most } => (None, Some((least, most))),
            Values::Other => (None, None),
        };
        told.set_item("names", names)?;
        told.set_item("range", range)?;
        list.append(told)?;
    }
    Ok(list)
}

/// The algorithms of each collective; see `_core.pyi`.
#[pyfunction]
pub fn collectives(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (name, algorithms) in COLLECTIVES {
        all.set_item(name, names_to_python(py, algorithms)?)?;
    }
    Ok(all)
}

/// Virtual channels that a routing needs on a machine; see `_core.pyi`.
#[pyfunction]
pub fn routing_channels(routing_json: &str, topology_json: &str) -> PyResult<Option<u8>> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let routing: RoutingSpec = serde_json::from_str(routing_json).map_err(wrong)?;
    let topology: TopologySpec = serde_json::from_str(topology_json).map_err(wrong)?;
    Ok(routing::channels(&routing, &topology))
}

fn names_to_python<'py>(py: Python<'py>, names: &[(&str, &str)]) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    for (name, about) in names {
        told.set_item(name, about.trim())?;
    }
    Ok(told)
}

/// Makes the functions of a routing of one's own known, by their addresses; 0 for those that it does not have.
#[pyfunction]
#[pyo3(signature = (program, route, start=0, learn=0))]
pub fn add_routing(program: &str, route: usize, start: usize, learn: usize) -> PyResult<()> {
    if route == 0 {
        return Err(PyValueError::new_err("a routing needs a function"));
    }
    // SAFETY: `odonata.routing` gives the addresses of functions that it has compiled, or loaded, with these types, and
    // keeps them until the process ends.
    unsafe {
        let functions = Functions {
            route: std::mem::transmute::<usize, functions::Route>(route),
            start: (start != 0).then(|| std::mem::transmute::<usize, functions::Start>(start)),
            learn: (learn != 0).then(|| std::mem::transmute::<usize, functions::Learn>(learn)),
        };
        functions::register(program, functions);
    }
    Ok(())
}
