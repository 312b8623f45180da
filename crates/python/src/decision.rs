//! Application-aware routing: the policies and equations of `odonata_decision`.

use odonata_decision::{Counters, Kind, Message, Operation, Policy, Sample, Settings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn message(bytes: u64, get: bool, alltoall: bool) -> Message {
    Message { operation: if get { Operation::Get } else { Operation::Put }, alltoall, ..Message::put(bytes) }
}

fn sample(latency: f64, stalls: f64) -> PyResult<Sample> {
    Sample::new(latency, stalls).ok_or_else(|| {
        PyValueError::new_err(format!("expected a latency and stalls from 0 to 1e30, found {latency} and {stalls}"))
    })
}

/// Names of the policies.
#[pyfunction]
pub fn routing_policies() -> Vec<&'static str> {
    Kind::ALL.map(Kind::name).to_vec()
}

/// Numbers of a policy that are not given, by name.
#[pyfunction]
pub fn routing_policy_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let Settings { threshold_bytes, sample_age, lambda, sigma, margin, dwell, seed, stream } = Settings::default();
    let defaults = PyDict::new(py);
    defaults.set_item("threshold", threshold_bytes)?;
    defaults.set_item("sample_age", sample_age)?;
    defaults.set_item("latency_ratio", lambda)?;
    defaults.set_item("stall_ratio", sigma)?;
    defaults.set_item("margin", margin)?;
    defaults.set_item("dwell", dwell)?;
    defaults.set_item("seed", seed)?;
    defaults.set_item("stream", stream)?;
    Ok(defaults)
}

/// Equations 1 (`outstanding` is 0) and 2, in cycles.
#[pyfunction]
pub fn transmission_time(bytes: u64, latency: f64, stalls: f64, get: bool, outstanding: u32) -> PyResult<f64> {
    let size = message(bytes, get, false).size();
    Ok(odonata_decision::transmission_time(size, sample(latency, stalls)?, Some(outstanding)))
}

/// Equation 3.
#[pyfunction]
pub fn prefer_high_bias(bytes: u64, default: (f64, f64), high_bias: (f64, f64), get: bool) -> PyResult<bool> {
    let size = message(bytes, get, false).size();
    Ok(odonata_decision::prefer_high_bias(size, sample(default.0, default.1)?, sample(high_bias.0, high_bias.1)?))
}

/// A policy with its state.
#[pyclass(module = "odonata._core")]
pub struct RoutingPolicy(Policy);

#[pymethods]
impl RoutingPolicy {
    #[new]
    #[pyo3(signature = (name, *, threshold, sample_age, latency_ratio, stall_ratio, margin, dwell, seed, stream))]
    #[allow(clippy::too_many_arguments)] // as many as there are settings
    fn new(
        name: &str,
        threshold: u64,
        sample_age: u32,
        latency_ratio: f64,
        stall_ratio: f64,
        margin: f64,
        dwell: u32,
        seed: u64,
        stream: u64,
    ) -> PyResult<Self> {
        let kind = Kind::named(name).ok_or_else(|| PyValueError::new_err(format!("unknown policy `{name}`")))?;
        let (lambda, sigma) = (latency_ratio, stall_ratio);
        let settings = Settings { threshold_bytes: threshold, sample_age, lambda, sigma, margin, dwell, seed, stream };
        Policy::new(kind, &settings).map(Self).map_err(|(setting, range)| {
            let setting = match setting {
                "lambda" => "latency_ratio",
                "sigma" => "stall_ratio",
                other => other,
            };
            PyValueError::new_err(format!("expected a {setting} {range}"))
        })
    }

    /// The number of the mode, and whether counters are asked for.
    fn select(&mut self, bytes: u64, get: bool, alltoall: bool, peer: u64, control: bool) -> (u8, bool) {
        let decision = self.0.select(Message { peer, control, ..message(bytes, get, alltoall) });
        (decision.mode as u8, decision.observe)
    }

    /// Counters of a message that was sent with a mode.
    fn observe(
        &mut self,
        mode: u8,
        request_flits: u64,
        stalled_cycles: u64,
        request_packets: u64,
        latency_cycles: u64,
    ) -> PyResult<()> {
        let mode = odonata_decision::Mode::numbered(mode)
            .ok_or_else(|| PyValueError::new_err(format!("expected mode 0, 1 or 3, found {mode}")))?;
        self.0.observe(mode, Counters { request_flits, stalled_cycles, request_packets, latency_cycles });
        Ok(())
    }

    /// The present ratios of latency and stalls, or None.
    fn factors(&self) -> Option<(f64, f64)> {
        self.0.factors()
    }
}
