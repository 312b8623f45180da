// The section of time: traffic and latencies over time, a window that is chosen in them, and what happened in it.

import { jobColour, lineColour, othersColour } from "./colours";
import { tableButton } from "./csv";
import type { RunData } from "./document";
import { button, figure, h } from "./dom";
import { bytes, count, digits, percent, time, timeUnit } from "./format";
import { type Chart, type Line, lineChart } from "./lines";
import { folded, front, many, others, othersOf } from "./ranking";
import { seriesOf } from "./series";
import { table } from "./table";
import type { Window } from "./window";

const GIB = 2 ** 30;
/** Share of the messages or packets of the fullest slice below which a slice is not drawn. */
export const FEW = 0.1;
/** Steps in which a window is played through the run, and milliseconds of each. */
const STEPS = 100;
const STEP_MS = 120;

/** Nothing if no run has recorded anything over time. */
export function timeSection(runs: RunData[], window: Window, label: (run: number) => string): HTMLElement | undefined {
  const end = Math.max(...runs.map((run) => run.sim_time_ps));
  const [unit, size] = timeUnit([end / 10]);
  const charts: Chart[] = [];
  const selected = (range: [number, number] | undefined) =>
    window.set(range && [Math.max(0, range[0] * size), range[1] * size]);
  const parts: HTMLElement[] = [];
  const traffic = runs.flatMap((run, index) => trafficLines(run, label(index), size));
  const common = { x: `time (${unit})`, xText: (value: number) => `${digits(value)} ${unit}`, selected, height: 220 };
  if (traffic.length > 0) {
    const chart = lineChart({
      ...common,
      label: `Traffic between ${runs[0]!.machine.group_name}s over time, by job`,
      y: "GiB/s",
      lines: traffic,
      yText: (value) => digits(value),
    });
    charts.push(chart);
    const save = runs.map((run) => (run.traffic ? tableButton(`traffic-${run.id}`, run.traffic.rows) : null));
    parts.push(
      figure(
        `Traffic into ${runs[0]!.machine.group_name}s over global links, by job`,
        chart.element,
        h("div", { class: "bar" }, ...save),
      ),
    );
  }
  const loads = runs.flatMap((run, index) => loadLines(run, label(index), size));
  if (loads.length > 0) {
    const chart = lineChart({
      ...common,
      label: "Load of the links between routers over time",
      y: "busy",
      lines: loads,
      yText: percent,
      yTick: percent,
    });
    charts.push(chart);
    parts.push(figure("Load of the links between routers: mean, and busiest link of each slice", chart.element));
  }
  const latencies = runs.flatMap((run, index) => latencyLines(run, label(index), size));
  if (latencies.length > 0) {
    const chart = lineChart({
      ...common,
      label: "Latency by time of issue",
      y: "us",
      lines: latencies,
      yText: (value) => digits(value),
    });
    charts.push(chart);
    const save = runs.map((run) =>
      run.messages.over_time ? tableButton(`latency-over-time-${run.id}`, run.messages.over_time) : null,
    );
    parts.push(
      figure(
        "Latency by time of issue: median and 99 % of each slice",
        chart.element,
        h("div", { class: "bar" }, ...save),
      ),
    );
  }
  const iterations = runs.flatMap((run, index) => iterationLines(run, label(index), size));
  if (iterations.length > 0) {
    const [iterationUnit, iterationSize] = timeUnit(iterations.flatMap((line) => Array.from(line.y, Number)));
    const lines = iterations.map((line) => ({
      ...line,
      y: Array.from(line.y, (value) => Number(value) / iterationSize),
    }));
    const chart = lineChart({
      ...common,
      label: "Times of iterations over time",
      y: iterationUnit,
      lines,
      yText: (value) => digits(value),
    });
    charts.push(chart);
    const save = runs.map((run) => (run.iterations ? tableButton(`iterations-${run.id}`, run.iterations) : null));
    parts.push(figure("Time of each iteration, at its begin", chart.element, h("div", { class: "bar" }, ...save)));
  }
  if (parts.length === 0) return undefined;
  window.changed(() => {
    for (const chart of charts) chart.select(window.range && [window.range[0] / size, window.range[1] / size]);
  });
  const counted = inWindow(runs, window, label);
  const table = runs.some(many) ? folded("Numbers of the window by job", counted) : counted;
  return h("div", {}, h("div", { class: "grid" }, ...parts), table);
}

/** Plays the runs, or chooses a window of time: what the machine shows. */
export function timeControls(runs: RunData[], window: Window): HTMLElement {
  const end = Math.max(...runs.map((run) => run.sim_time_ps));
  const told = h("span", { class: "told", "aria-live": "polite", id: "window" });
  let timer: ReturnType<typeof setInterval> | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    play.textContent = "Play";
  };
  const play = button("Play", () => {
    if (timer) return stop();
    play.textContent = "Stop";
    window.played();
    const width = window.range ? window.range[1] - window.range[0] : end / 20;
    let from = window.range && window.range[1] < end ? window.range[0] : 0;
    timer = setInterval(() => {
      if (from >= end) return stop();
      window.set([from, Math.min(from + width, end)]);
      from += end / STEPS;
    }, STEP_MS);
    return undefined;
  });
  const all = button("Whole run", () => {
    stop();
    window.set(undefined);
  });
  const begin = slider("Begin of the window", "0");
  const finish = slider("End of the window", String(STEPS));
  // A slider that passes the other one pushes it along.
  const moved = (by: HTMLInputElement) => {
    let [from, to] = [Number(begin.value), Number(finish.value)];
    if (from >= to && by === begin) to = Math.min(from + 1, STEPS);
    if (from >= to) from = Math.max(to - 1, 0);
    window.set(to > from ? [(from * end) / STEPS, (to * end) / STEPS] : undefined);
  };
  for (const one of [begin, finish]) one.addEventListener("input", () => moved(one));
  const show = () => {
    const [from, to] = window.range ?? [0, end];
    told.textContent = window.range
      ? `From ${time(from)} to ${time(to)}`
      : "The whole run. Play it, move a slider, or drag across a chart over time.";
    begin.value = String((from / end) * STEPS);
    finish.value = String((to / end) * STEPS);
  };
  window.changed(show);
  show();
  return h(
    "div",
    { class: "controls time" },
    play,
    all,
    h("label", {}, "from ", begin),
    h("label", {}, "to ", finish),
    told,
  );
}

function slider(label: string, value: string): HTMLInputElement {
  return h("input", { type: "range", min: 0, max: STEPS, step: "any", value, "aria-label": label });
}

/** Numbers of the chosen window. */
function inWindow(runs: RunData[], window: Window, label: (run: number) => string): HTMLElement {
  const place = h("div", { id: "in-window" });
  const fill = () => {
    const tables = runs.map((run, index) => {
      const rows = window.byJob(run).map((row, job) => {
        const { name, record } = run.jobs[job]!;
        return { ...row, name, messages: record === "every-message" ? row.messages : null };
      });
      const measured = rows.some((row) => (row.messages ?? 0) > 0);
      return table({
        caption: `${label(index) ? `${label(index)}: ` : ""}${window.range ? "In the chosen window" : "In the whole run"}`,
        file: `window-${run.id}`,
        rows,
        columns: [
          { title: "job", value: (row) => row.name, head: true },
          ...(run.traffic
            ? [
                {
                  title: "bytes between groups",
                  value: (row: (typeof rows)[number]) => row.bytesIn,
                  show: (row: (typeof rows)[number]) => bytes(row.bytesIn),
                },
              ]
            : []),
          ...(measured
            ? [
                {
                  title: "messages issued",
                  value: (row: (typeof rows)[number]) => row.messages,
                  show: (row: (typeof rows)[number]) => (row.messages === null ? "-" : count(row.messages)),
                  hint: "of those whose every message was recorded",
                },
                {
                  title: "mean latency",
                  value: (row: (typeof rows)[number]) => row.mean,
                  show: (row: (typeof rows)[number]) => time(row.mean),
                },
                {
                  title: "greatest",
                  value: (row: (typeof rows)[number]) => row.max,
                  show: (row: (typeof rows)[number]) => time(row.max),
                },
              ]
            : []),
        ],
      });
    });
    place.replaceChildren(h("div", { class: runs.length > 1 ? "pair" : "" }, ...tables));
  };
  if (!runs.some((run) => run.traffic || run.messages.over_time)) return place;
  window.changed(fill);
  fill();
  return place;
}

function labelled(of: string, job: string): string {
  return of ? `${of}: ${job}` : job;
}

function trafficLines(run: RunData, of: string, size: number): Line[] {
  if (!run.traffic) return [];
  const { windows, rows } = run.traffic;
  const sums = run.jobs.map(() => new Float64Array(windows.rows));
  for (let row = 0; row < rows.rows; row++) {
    const sum = sums[rows.number("job", row)]!;
    sum[rows.number("window", row)]! += rows.number("bytes_in", row);
  }
  const middle = Array.from(
    { length: windows.rows },
    (_, row) => (windows.number("start_ps", row) + windows.number("width_ps", row) / 2) / size,
  );
  const line = (label: string, colour: string, jobs: number[]): Line => ({
    label: labelled(of, label),
    colour,
    x: middle,
    y: Array.from(middle, (_, row) => {
      const sum = jobs.reduce((total, job) => total + sums[job]![row]!, 0);
      return windows.number("width_ps", row) > 0 ? (sum / windows.number("width_ps", row)) * (1e12 / GIB) : null;
    }),
    dashed: of === "B",
  });
  const lines = front(run).map((job) => line(run.jobs[job]!.name, jobColour(job), [job]));
  if (many(run)) lines.push(line(othersOf(run), othersColour(), others(run)));
  return lines;
}

function loadLines(run: RunData, of: string, size: number): Line[] {
  const found = seriesOf(run)?.overTime();
  if (!found) return [];
  const x = found.time.map((start) => start / size);
  const second = of === "B";
  return [
    { label: labelled(of, "mean"), colour: lineColour(0), x, y: found.mean, dashed: second },
    { label: labelled(of, "busiest link"), colour: lineColour(1), x, y: found.most, dashed: second },
  ];
}

function latencyLines(run: RunData, label: string, size: number): Line[] {
  const { over_time: slices, slice_ps: width } = run.messages;
  if (!slices) return [];
  return front(run).flatMap((index) => {
    const job = run.jobs[index]!;
    const of = slices.where((row) => slices.number("job", row) === index);
    // Quantiles of a few messages beside slices of many would be peaks.
    const most = of.reduce((found, row) => Math.max(found, slices.number("count", row)), 0);
    const rows = of.filter((row) => slices.number("count", row) >= FEW * most);
    if (rows.length === 0) return [];
    const x = rows.map((row) => ((slices.number("slice", row) + 0.5) * width) / size);
    return (["p50_ps", "p99_ps"] as const).map((column) => ({
      label: `${labelled(label, job.name)}, ${column === "p50_ps" ? "median" : "99 %"}`,
      colour: jobColour(index),
      x,
      y: rows.map((row) => slices.number(column, row) / 1e6),
      dashed: column === "p99_ps",
      dots: label === "B",
    }));
  });
}

function iterationLines(run: RunData, of: string, size: number): Line[] {
  const { iterations } = run;
  if (!iterations) return [];
  const lines = front(run).flatMap((index) => {
    const job = run.jobs[index]!;
    const rows = iterations.where((row) => iterations.number("job", row) === index);
    if (rows.length === 0) return [];
    return {
      label: labelled(of, job.name),
      colour: jobColour(index),
      x: rows.map((row) => iterations.number("first_begin_ps", row) / size),
      y: rows.map((row) => iterations.number("time_ps", row)),
      dashed: of === "B",
      dots: rows.length === 1,
    };
  });
  // One iteration has no course; its time is in the boxes of the latencies.
  return lines.some((line) => !line.dots) ? lines : [];
}
