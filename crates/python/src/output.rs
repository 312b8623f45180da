//! A result as dictionaries of NumPy columns. Columns are moved, not copied.

use std::time::Duration;

use numpy::{IntoPyArray, PyArray1, PyArray3, PyArrayMethods, ToPyArray};
use odonata_sim::output::Histogram;
use odonata_sim::output::{
    Arrivals, Backlog, Blame, Iterations, JobTotals, Links, MessageCounters, Messages, NicCounters, Operations, Ranks,
    RootRows, Series, Wait,
};
use odonata_sim::{Cost, Output, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The mode of a message that has none.
const NO_MODE: u8 = u8::MAX;

/// The dictionary that `_core.run` returns; see `_core.pyi`.
pub fn to_python<'py>(
    py: Python<'py>,
    spec: &Spec,
    output: Output,
    cost: Cost,
    wall: Duration,
) -> PyResult<Bound<'py, PyDict>> {
    let Output {
        end_ps,
        packet_hops,
        jobs: totals,
        messages: rows,
        links: traffic,
        arrivals: windows,
        ranks: finishes,
        iterations: iteration_rows,
        class_bytes,
        blame: waits,
        nics: by_nic,
        message_counters,
        series: loads,
        operations: tasks,
    } = output;
    let result = PyDict::new(py);
    result.set_item("end_ps", end_ps)?;
    result.set_item("packet_hops", packet_hops)?;
    result.set_item("events", cost.events)?;
    result.set_item("threads", cost.threads)?;
    result.set_item("windows", cost.windows)?;
    result.set_item("longest", cost.longest)?;
    result.set_item("wall_s", wall.as_secs_f64())?;
    result.set_item("jobs", jobs(py, &totals)?)?;
    result.set_item("messages", messages(py, rows)?)?;
    result.set_item("links", links(py, traffic)?)?;
    result.set_item("arrivals", arrivals(py, spec, windows)?)?;
    result.set_item("ranks", ranks(py, finishes)?)?;
    result.set_item("iterations", iterations(py, iteration_rows)?)?;
    let classes = class_bytes.len() / spec.jobs.len();
    result.set_item("class_bytes", class_bytes.into_pyarray(py).reshape([spec.jobs.len(), classes])?)?;
    if spec.fabric.answers() {
        result.set_item("nics", nics(py, &by_nic)?)?;
        result.set_item("message_counters", by_message(py, &message_counters)?)?;
    }
    if spec.measure.blame {
        if spec.measure.roots {
            result.set_item("roots", roots(py, &waits)?)?;
        }
        result.set_item("blame", blame(py, waits)?)?;
    }
    if spec.measure.series {
        result.set_item("series", series(py, loads)?)?;
    }
    if spec.measure.operations {
        result.set_item("operations", operations(py, tasks)?)?;
    }
    Ok(result)
}

fn blame(py: Python<'_>, rows: Blame) -> PyResult<Bound<'_, PyDict>> {
    let name = |wait: &Wait| match wait {
        Wait::Link => "link",
        Wait::Buffer => "buffer",
        Wait::SourceBuffer => "source-buffer",
        Wait::SourceLink => "source-link",
        Wait::Queue => "queue",
        Wait::CrossbarInput => "crossbar-input",
        Wait::CrossbarOutput => "crossbar-output",
        Wait::OutputBuffer => "output-buffer",
        Wait::Window => "window",
    };
    let columns = PyDict::new(py);
    columns.set_item("victim", rows.victim.into_pyarray(py))?;
    columns.set_item("cause", rows.cause.into_pyarray(py))?;
    columns.set_item("wait", rows.wait.iter().map(name).collect::<Vec<_>>())?;
    columns.set_item("link", rows.link.into_pyarray(py))?;
    columns.set_item("ps", rows.ps.into_pyarray(py))?;
    columns.set_item("service_ps", rows.service_ps)?;
    Ok(columns)
}

fn roots<'py>(py: Python<'py>, blame: &Blame) -> PyResult<Bound<'py, PyDict>> {
    let RootRows { victim, cause, link, ps } = &blame.roots;
    let columns = PyDict::new(py);
    columns.set_item("victim", victim.to_pyarray(py))?;
    columns.set_item("cause", cause.to_pyarray(py))?;
    columns.set_item("link", link.to_pyarray(py))?;
    columns.set_item("ps", ps.to_pyarray(py))?;
    Ok(columns)
}

fn series(py: Python<'_>, rows: Series) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("width_ps", rows.width_ps)?;
    columns.set_item("link", rows.link.into_pyarray(py))?;
    columns.set_item("slice", rows.slice.into_pyarray(py))?;
    columns.set_item("job", rows.job.into_pyarray(py))?;
    columns.set_item("bytes", rows.bytes.into_pyarray(py))?;
    columns.set_item("wait_ps", rows.wait_ps.into_pyarray(py))?;
    let routes = PyDict::new(py);
    routes.set_item("slice", rows.routes.slice.into_pyarray(py))?;
    routes.set_item("job", rows.routes.job.into_pyarray(py))?;
    routes.set_item("packets", rows.routes.packets.into_pyarray(py))?;
    routes.set_item("minimal", rows.routes.minimal.into_pyarray(py))?;
    columns.set_item("routes", routes)?;
    Ok(columns)
}

fn operations(py: Python<'_>, rows: Operations) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("job", rows.job.into_pyarray(py))?;
    columns.set_item("rank", rows.rank.into_pyarray(py))?;
    columns.set_item("cpu", rows.cpu.into_pyarray(py))?;
    columns.set_item("iteration", rows.iteration.into_pyarray(py))?;
    columns.set_item("task", rows.task.iter().map(|task| task.name()).collect::<Vec<_>>())?;
    columns.set_item("peer", rows.task.iter().map(|task| task.peer()).collect::<Vec<_>>().into_pyarray(py))?;
    columns.set_item("bytes", rows.task.iter().map(|task| task.bytes()).collect::<Vec<_>>().into_pyarray(py))?;
    columns.set_item("begin_ps", rows.begin_ps.into_pyarray(py))?;
    columns.set_item("end_ps", rows.end_ps.into_pyarray(py))?;
    Ok(columns)
}

fn jobs<'py>(py: Python<'py>, totals: &[JobTotals]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for job in totals {
        let entry = PyDict::new(py);
        entry.set_item("issued", job.issued)?;
        entry.set_item("delivered", job.delivered)?;
        entry.set_item("packets", job.packets)?;
        entry.set_item("bytes", job.bytes)?;
        entry.set_item("hops", job.hops)?;
        entry.set_item("minimal", job.minimal)?;
        entry.set_item("first_issue_ps", job.first_issue_ps)?;
        entry.set_item("last_delivery_ps", job.last_delivery_ps)?;
        entry.set_item("latency", histogram(py, &job.latency)?)?;
        entry.set_item("intra_node", job.intra_node)?;
        entry.set_item("control", job.control)?;
        entry.set_item("measured_issued", job.measured_issued)?;
        entry.set_item("measured_delivered", job.measured_delivered)?;
        entry.set_item("intervals", job.intervals)?;
        entry.set_item("first_delivery_ps", job.first_delivery_ps)?;
        entry.set_item("backlog", backlog(py, &job.backlog)?)?;
        entry.set_item("modes", job.modes.map(|sent| (sent.messages, sent.bytes)).to_vec())?;
        list.append(entry)?;
    }
    Ok(list)
}

fn histogram<'py>(py: Python<'py>, histogram: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let (mut lower, mut upper, mut count) = (Vec::new(), Vec::new(), Vec::new());
    for (from, to, values) in histogram.bins() {
        lower.push(from);
        upper.push(to);
        count.push(values);
    }
    let result = PyDict::new(py);
    result.set_item("count", histogram.count)?;
    result.set_item("sum", histogram.sum)?;
    result.set_item("min", histogram.min)?;
    result.set_item("max", histogram.max)?;
    result.set_item("lower", lower.into_pyarray(py))?;
    result.set_item("upper", upper.into_pyarray(py))?;
    result.set_item("bin_count", count.into_pyarray(py))?;
    Ok(result)
}

/// Times are relative to the start of their slice, so that NumPy can hold them.
fn backlog<'py>(py: Python<'py>, backlog: &Backlog) -> PyResult<Bound<'py, PyDict>> {
    let width = backlog.width_ps;
    let within = |counts: &[u64], sums: &[u128]| -> Vec<f64> {
        let slices = counts.iter().zip(sums).enumerate();
        slices.map(|(i, (&count, &sum))| (sum - u128::from(count) * (i as u128) * u128::from(width)) as f64).collect()
    };
    let result = PyDict::new(py);
    result.set_item("width_ps", width)?;
    result.set_item("issued", PyArray1::from_slice(py, &backlog.issued))?;
    result.set_item("issue_offset_ps", within(&backlog.issued, &backlog.issue_sum_ps).into_pyarray(py))?;
    result.set_item("delivered", PyArray1::from_slice(py, &backlog.delivered))?;
    result.set_item("delivery_offset_ps", within(&backlog.delivered, &backlog.delivery_sum_ps).into_pyarray(py))?;
    Ok(result)
}

fn messages(py: Python<'_>, rows: Messages) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("job", rows.job.into_pyarray(py))?;
    result.set_item("interval", rows.interval.into_pyarray(py))?;
    result.set_item("source", rows.source.into_pyarray(py))?;
    result.set_item("destination", rows.destination.into_pyarray(py))?;
    result.set_item("issue_ps", rows.issue_ps.into_pyarray(py))?;
    result.set_item("latency_ps", rows.latency_ps.into_pyarray(py))?;
    Ok(result)
}

fn links(py: Python<'_>, links: Links) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("packets", links.packets.into_pyarray(py))?;
    result.set_item("bytes", links.bytes.into_pyarray(py))?;
    result.set_item("stalled_ps", links.stalled_ps.into_pyarray(py))?;
    Ok(result)
}

fn nics<'py>(py: Python<'py>, rows: &[NicCounters]) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let column = |of: fn(&NicCounters) -> u64| rows.iter().map(of).collect::<Vec<_>>().into_pyarray(py);
    result.set_item("request_packets", column(|nic| nic.request_packets))?;
    result.set_item("request_flits", column(|nic| nic.request_flits))?;
    result.set_item("stalled_ps", column(|nic| nic.stalled_ps))?;
    result.set_item("window_ps", column(|nic| nic.window_ps))?;
    result.set_item("answered_packets", column(|nic| nic.answered_packets))?;
    result.set_item("latency_ps", column(|nic| nic.latency_ps))?;
    result.set_item("response_packets", column(|nic| nic.response_packets))?;
    result.set_item("response_flits", column(|nic| nic.response_flits))?;
    Ok(result)
}

fn by_message<'py>(py: Python<'py>, rows: &[MessageCounters]) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let column = |of: fn(&MessageCounters) -> u64| rows.iter().map(of).collect::<Vec<_>>().into_pyarray(py);
    result.set_item("packets", column(|message| message.packets))?;
    result.set_item("flits", column(|message| message.flits))?;
    result.set_item("stalled_ps", column(|message| message.stalled_ps))?;
    result.set_item("latency_ps", column(|message| message.latency_ps))?;
    result.set_item("complete_ps", column(|message| message.complete_ps))?;
    let modes = rows.iter().map(|message| message.mode.map_or(NO_MODE, |mode| mode as u8)).collect::<Vec<_>>();
    result.set_item("mode", modes.into_pyarray(py))?;
    Ok(result)
}

fn ranks(py: Python<'_>, ranks: Ranks) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("job", ranks.job.into_pyarray(py))?;
    result.set_item("rank", ranks.rank.into_pyarray(py))?;
    result.set_item("finish_ps", ranks.finish_ps.into_pyarray(py))?;
    result.set_item("work_ps", ranks.work_ps.into_pyarray(py))?;
    Ok(result)
}

fn iterations(py: Python<'_>, iterations: Iterations) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("job", iterations.job.into_pyarray(py))?;
    result.set_item("iteration", iterations.iteration.into_pyarray(py))?;
    result.set_item("ranks", iterations.ranks.into_pyarray(py))?;
    result.set_item("first_begin_ps", iterations.first_begin_ps.into_pyarray(py))?;
    result.set_item("last_begin_ps", iterations.last_begin_ps.into_pyarray(py))?;
    result.set_item("first_end_ps", iterations.first_end_ps.into_pyarray(py))?;
    result.set_item("last_end_ps", iterations.last_end_ps.into_pyarray(py))?;
    result.set_item("longest_ps", iterations.longest_ps.into_pyarray(py))?;
    result.set_item("total_ps", iterations.total_ps.into_pyarray(py))?;
    Ok(result)
}

fn arrivals<'py>(py: Python<'py>, spec: &Spec, windows: Arrivals) -> PyResult<Bound<'py, PyDict>> {
    let groups = spec.machine().map_err(|e| crate::errors::to_python(py, &e))?.network().groups;
    let row = [spec.jobs.len(), groups as usize];
    let result = PyDict::new(py);
    result.set_item("every_ps", windows.every_ps)?;
    result.set_item("windows", windows.packets_in.len() / (row[0] * row[1]))?;
    result.set_item("packets_in", shaped(py, windows.packets_in, row)?)?;
    result.set_item("bytes_in", shaped(py, windows.bytes_in, row)?)?;
    result.set_item("packets_out", shaped(py, windows.packets_out, row)?)?;
    result.set_item("bytes_out", shaped(py, windows.bytes_out, row)?)?;
    Ok(result)
}

/// The values as `[window][job][group]`; reshaping a contiguous array makes a view.
fn shaped<'py>(py: Python<'py>, values: Vec<u64>, row: [usize; 2]) -> PyResult<Bound<'py, PyArray3<u64>>> {
    let windows = values.len() / (row[0] * row[1]);
    values.into_pyarray(py).reshape([windows, row[0], row[1]])
}
