//! A machine that is wired once, and its methods.

use odonata_error::{Error, ErrorKind};
use odonata_sim::Spec;
use odonata_sim::routing::custom;
use odonata_sim::spec::{Failures, PreparedMachine, TopologySpec};
use odonata_topology::RouterId;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::to_python;
use crate::{describe, routes, run};

/// A machine that is wired once; see `_core.pyi`.
#[pyclass(frozen, module = "odonata._core")]
pub struct Machine(PreparedMachine);

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (topology_json, failures_json=None))]
    fn new(py: Python<'_>, topology_json: &str, failures_json: Option<&str>) -> PyResult<Self> {
        py.detach(|| build(topology_json, failures_json)).map(Self).map_err(|e| to_python(py, &e))
    }

    /// The description that placement, plots and tables use.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        describe::describe(py, self.0.machine().network())
    }

    /// The sizes from which a routing of one's own computes its own: see `_core.pyi`.
    fn extent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let network = self.0.machine().network();
        let diameter = py.detach(|| custom::diameter_of(network)).map_err(|e| to_python(py, &e))?;
        let ports = (0..network.routers() as u32).map(|router| network.ports(RouterId(router))).max();
        let told = PyDict::new(py);
        told.set_item("routers", network.routers())?;
        told.set_item("groups", network.groups)?;
        told.set_item("ports", ports.unwrap_or(0))?;
        told.set_item("nodes", custom::most_nics(network))?;
        told.set_item("diameter", diameter)?;
        Ok(told)
    }

    /// Refuses a specification that cannot be simulated.
    fn check(&self, py: Python<'_>, spec_json: &str) -> PyResult<()> {
        let spec = self.spec(py, spec_json)?;
        py.detach(|| run::check(&spec)).map_err(|e| to_python(py, &e))
    }

    /// Simulates a specification.
    #[pyo3(signature = (spec_json, progress=None, threads=1))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        spec_json: &str,
        progress: Option<Py<PyAny>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let spec = self.spec(py, spec_json)?;
        run::simulate(py, spec, progress, threads)
    }

    /// The paths that packets may take between two nodes.
    fn routes<'py>(
        &self,
        py: Python<'py>,
        spec_json: &str,
        from_node: u32,
        to_node: u32,
        limit: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let spec = self.spec(py, spec_json)?;
        routes::routes(py, &spec, self.0.machine().network(), from_node, to_node, limit)
    }
}

impl Machine {
    /// Reads a specification of this machine.
    fn spec(&self, py: Python<'_>, spec_json: &str) -> PyResult<Spec> {
        let spec = py.detach(|| Spec::from_json(spec_json)).map_err(|e| to_python(py, &e))?;
        if !self.0.is_of(&spec.topology, &spec.failures) {
            return Err(PyValueError::new_err("the specification is of another machine"));
        }
        Ok(spec.on(&self.0))
    }
}

fn build(topology_json: &str, failures_json: Option<&str>) -> Result<PreparedMachine, Error> {
    let json = |e: serde_json::Error| Error::from(ErrorKind::UnreadableSpecification { problem: e.to_string() });
    let topology: TopologySpec = serde_json::from_str(topology_json).map_err(json)?;
    let failures = failures_json.map_or(Ok(Failures::default()), serde_json::from_str).map_err(json)?;
    PreparedMachine::build(topology, failures)
}
