//! A specification to a running simulation, with progress and Ctrl-C.

use std::time::{Duration, Instant};

use odonata_error::{Error, ErrorKind};
use odonata_sim::spec::Compat;
use odonata_sim::{Cost, Monitor, Output, Progress, Spec};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::to_python;
use crate::output;

/// Wall time between two checks for signals: well below the second in which Ctrl-C must end a run, and long enough that
/// taking the interpreter lock costs nothing.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Refuses a specification that cannot be simulated.
pub fn check(spec: &Spec) -> Result<(), Error> {
    if spec.compat.is_some() { odonata_codes2019::check(spec) } else { odonata_sim::check(spec) }
}

/// Simulates a specification; see `_core.pyi` for the result.
pub fn simulate<'py>(
    py: Python<'py>,
    spec: Spec,
    progress: Option<Py<PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    if let Some(callback) = &progress
        && !callback.bind(py).is_callable()
    {
        return Err(PyTypeError::new_err("`progress` is not callable"));
    }
    let mut watch = ProgressMonitor { callback: progress, last: Instant::now(), raised: None };
    let start = Instant::now();
    let result = py.detach(|| run(&spec, &mut watch, threads));
    let wall = start.elapsed();
    if let Some(raised) = watch.raised {
        return Err(raised);
    }
    let (output, cost) = result.map_err(|e| to_python(py, &e))?;
    output::to_python(py, &spec, output, cost, wall)
}

fn run(spec: &Spec, watch: &mut ProgressMonitor, threads: usize) -> Result<(Output, Cost), Error> {
    match spec.compat {
        None => odonata_sim::run_on(spec, watch, threads),
        Some(Compat::Codes2019) => {
            let (output, stock) = odonata_codes2019::run_counted(spec, watch)?;
            Ok((output, Cost { events: stock.events, threads: 1, ..Cost::default() }))
        }
    }
}

/// Reports progress to Python and lets signal handlers run from time to time.
struct ProgressMonitor {
    callback: Option<Py<PyAny>>,
    last: Instant,
    /// The exception that a signal handler or the callback raised, which is passed on unchanged.
    raised: Option<PyErr>,
}

impl ProgressMonitor {
    fn look(&self, progress: &Progress) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = &self.callback else { return Ok(()) };
            let report = PyDict::new(py);
            report.set_item("now_ps", progress.now_ps)?;
            report.set_item("events", progress.events)?;
            report.set_item("packet_hops", progress.packet_hops)?;
            report.set_item("delivered", progress.delivered)?;
            report.set_item("expected", progress.expected)?;
            callback.call1(py, (report,))?;
            Ok(())
        })
    }
}

impl Monitor for ProgressMonitor {
    fn progress(&mut self, progress: &Progress) -> Result<(), Error> {
        if self.last.elapsed() < LOOK_EVERY {
            return Ok(());
        }
        let looked = self.look(progress);
        self.last = Instant::now();
        looked.map_err(|raised| {
            self.raised = Some(raised);
            ErrorKind::Interrupted {}.into()
        })
    }
}
