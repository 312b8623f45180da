//! A result as dictionaries of NumPy columns. Columns are moved, not copied.

use std::time::Duration;

use odonata_sim::output::Histogram;
use odonata_sim::output::{
    Arrivals, Backlog, Blame, Iterations, JobTotals, Links, MessageCounters, Messages, NicCounters, Operations, Ranks,
    Reordering, RootRows, Series, Wait,
};
use odonata_sim::{Cost, Output, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::column::{into_numpy, shaped};

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
    result.set_item("jobs", jobs(py, spec, &totals)?)?;
    result.set_item("messages", messages(py, rows)?)?;
    result.set_item("links", links(py, traffic)?)?;
    result.set_item("arrivals", arrivals(py, spec, windows)?)?;
    result.set_item("ranks", ranks(py, finishes)?)?;
    result.set_item("iterations", iterations(py, iteration_rows)?)?;
    let classes = class_bytes.len() / spec.jobs.len();
    result.set_item("class_bytes", shaped(py, class_bytes, [spec.jobs.len(), classes])?)?;
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
    columns.set_item("victim", into_numpy(py, rows.victim)?)?;
    columns.set_item("cause", into_numpy(py, rows.cause)?)?;
    columns.set_item("wait", rows.wait.iter().map(name).collect::<Vec<_>>())?;
    columns.set_item("link", into_numpy(py, rows.link)?)?;
    columns.set_item("ps", into_numpy(py, rows.ps)?)?;
    columns.set_item("service_ps", rows.service_ps)?;
    Ok(columns)
}

fn roots<'py>(py: Python<'py>, blame: &Blame) -> PyResult<Bound<'py, PyDict>> {
    let RootRows { victim, cause, link, ps } = &blame.roots;
    let columns = PyDict::new(py);
    columns.set_item("victim", into_numpy(py, victim.clone())?)?;
    columns.set_item("cause", into_numpy(py, cause.clone())?)?;
    columns.set_item("link", into_numpy(py, link.clone())?)?;
    columns.set_item("ps", into_numpy(py, ps.clone())?)?;
    Ok(columns)
}

fn series(py: Python<'_>, rows: Series) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("width_ps", rows.width_ps)?;
    columns.set_item("link", into_numpy(py, rows.link)?)?;
    columns.set_item("slice", into_numpy(py, rows.slice)?)?;
    columns.set_item("job", into_numpy(py, rows.job)?)?;
    columns.set_item("bytes", into_numpy(py, rows.bytes)?)?;
    columns.set_item("wait_ps", into_numpy(py, rows.wait_ps)?)?;
    let routes = PyDict::new(py);
    routes.set_item("slice", into_numpy(py, rows.routes.slice)?)?;
    routes.set_item("job", into_numpy(py, rows.routes.job)?)?;
    routes.set_item("packets", into_numpy(py, rows.routes.packets)?)?;
    routes.set_item("minimal", into_numpy(py, rows.routes.minimal)?)?;
    columns.set_item("routes", routes)?;
    Ok(columns)
}

fn operations(py: Python<'_>, rows: Operations) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("job", into_numpy(py, rows.job)?)?;
    columns.set_item("rank", into_numpy(py, rows.rank)?)?;
    columns.set_item("cpu", into_numpy(py, rows.cpu)?)?;
    columns.set_item("iteration", into_numpy(py, rows.iteration)?)?;
    columns.set_item("task", rows.task.iter().map(|task| task.name()).collect::<Vec<_>>())?;
    columns.set_item("peer", into_numpy(py, rows.task.iter().map(|task| task.peer()).collect::<Vec<_>>())?)?;
    columns.set_item("bytes", into_numpy(py, rows.task.iter().map(|task| task.bytes()).collect::<Vec<_>>())?)?;
    columns.set_item("begin_ps", into_numpy(py, rows.begin_ps)?)?;
    columns.set_item("end_ps", into_numpy(py, rows.end_ps)?)?;
    Ok(columns)
}

fn jobs<'py>(py: Python<'py>, spec: &Spec, totals: &[JobTotals]) -> PyResult<Bound<'py, PyList>> {
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
        if spec.measure.reordering {
            entry.set_item("reordering", reordering(py, &job.reordering)?)?;
        }
        list.append(entry)?;
    }
    Ok(list)
}

fn reordering<'py>(py: Python<'py>, of: &Reordering) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("arrived", of.arrived)?;
    entry.set_item("reordered", of.reordered)?;
    entry.set_item("extents", of.extents)?;
    entry.set_item("most_extent", of.most_extent)?;
    entry.set_item("buffer_bytes", of.buffer_bytes)?;
    Ok(entry)
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
    result.set_item("lower", into_numpy(py, lower)?)?;
    result.set_item("upper", into_numpy(py, upper)?)?;
    result.set_item("bin_count", into_numpy(py, count)?)?;
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
    result.set_item("issued", into_numpy(py, backlog.issued.clone())?)?;
    result.set_item("issue_offset_ps", into_numpy(py, within(&backlog.issued, &backlog.issue_sum_ps))?)?;
    result.set_item("delivered", into_numpy(py, backlog.delivered.clone())?)?;
    result.set_item("delivery_offset_ps", into_numpy(py, within(&backlog.delivered, &backlog.delivery_sum_ps))?)?;
    Ok(result)
}

fn messages(py: Python<'_>, rows: Messages) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("job", into_numpy(py, rows.job)?)?;
    result.set_item("interval", into_numpy(py, rows.interval)?)?;
    result.set_item("source", into_numpy(py, rows.source)?)?;
    result.set_item("destination", into_numpy(py, rows.destination)?)?;
    result.set_item("issue_ps", into_numpy(py, rows.issue_ps)?)?;
    result.set_item("latency_ps", into_numpy(py, rows.latency_ps)?)?;
    Ok(result)
}

fn links(py: Python<'_>, links: Links) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("packets", into_numpy(py, links.packets)?)?;
    result.set_item("bytes", into_numpy(py, links.bytes)?)?;
    result.set_item("stalled_ps", into_numpy(py, links.stalled_ps)?)?;
    Ok(result)
}

fn nics<'py>(py: Python<'py>, rows: &[NicCounters]) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let column = |of: fn(&NicCounters) -> u64| into_numpy(py, rows.iter().map(of).collect());
    result.set_item("request_packets", column(|nic| nic.request_packets)?)?;
    result.set_item("request_flits", column(|nic| nic.request_flits)?)?;
    result.set_item("stalled_ps", column(|nic| nic.stalled_ps)?)?;
    result.set_item("window_ps", column(|nic| nic.window_ps)?)?;
    result.set_item("answered_packets", column(|nic| nic.answered_packets)?)?;
    result.set_item("latency_ps", column(|nic| nic.latency_ps)?)?;
    result.set_item("response_packets", column(|nic| nic.response_packets)?)?;
    result.set_item("response_flits", column(|nic| nic.response_flits)?)?;
    Ok(result)
}

fn by_message<'py>(py: Python<'py>, rows: &[MessageCounters]) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let column = |of: fn(&MessageCounters) -> u64| into_numpy(py, rows.iter().map(of).collect());
    result.set_item("packets", column(|message| message.packets)?)?;
    result.set_item("flits", column(|message| message.flits)?)?;
    result.set_item("stalled_ps", column(|message| message.stalled_ps)?)?;
    result.set_item("latency_ps", column(|message| message.latency_ps)?)?;
    result.set_item("complete_ps", column(|message| message.complete_ps)?)?;
    let modes = rows.iter().map(|message| message.mode.map_or(NO_MODE, |mode| mode as u8)).collect::<Vec<_>>();
    result.set_item("mode", into_numpy(py, modes)?)?;
    Ok(result)
}

fn ranks(py: Python<'_>, ranks: Ranks) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("job", into_numpy(py, ranks.job)?)?;
    result.set_item("rank", into_numpy(py, ranks.rank)?)?;
    result.set_item("finish_ps", into_numpy(py, ranks.finish_ps)?)?;
    result.set_item("work_ps", into_numpy(py, ranks.work_ps)?)?;
    Ok(result)
}

fn iterations(py: Python<'_>, iterations: Iterations) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("job", into_numpy(py, iterations.job)?)?;
    result.set_item("iteration", into_numpy(py, iterations.iteration)?)?;
    result.set_item("ranks", into_numpy(py, iterations.ranks)?)?;
    result.set_item("first_begin_ps", into_numpy(py, iterations.first_begin_ps)?)?;
    result.set_item("last_begin_ps", into_numpy(py, iterations.last_begin_ps)?)?;
    result.set_item("first_end_ps", into_numpy(py, iterations.first_end_ps)?)?;
    result.set_item("last_end_ps", into_numpy(py, iterations.last_end_ps)?)?;
    result.set_item("longest_ps", into_numpy(py, iterations.longest_ps)?)?;
    result.set_item("total_ps", into_numpy(py, iterations.total_ps)?)?;
    Ok(result)
}

fn arrivals<'py>(py: Python<'py>, spec: &Spec, windows: Arrivals) -> PyResult<Bound<'py, PyDict>> {
    let groups = spec.machine().map_err(|e| crate::errors::to_python(py, &e))?.network().groups;
    let (jobs, groups) = (spec.jobs.len(), groups as usize);
    let count = windows.packets_in.len() / (jobs * groups);
    let shape = [count, jobs, groups];
    let result = PyDict::new(py);
    result.set_item("every_ps", windows.every_ps)?;
    result.set_item("windows", count)?;
    result.set_item("packets_in", shaped(py, windows.packets_in, shape)?)?;
    result.set_item("bytes_in", shaped(py, windows.bytes_in, shape)?)?;
    result.set_item("packets_out", shaped(py, windows.packets_out, shape)?)?;
    result.set_item("bytes_out", shaped(py, windows.bytes_out, shape)?)?;
    Ok(result)
}
