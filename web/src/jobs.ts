// The table of jobs, as `odonata run` prints it; of two runs, with the differences.

import { COLOURED } from "./colours";
import { type Job, numberOf, type RunData } from "./document";
import { h } from "./dom";
import { bytes, count, digits, factor, percent, time } from "./format";
import { folded, many, rankingTable } from "./ranking";
import { type Column, table } from "./table";

interface Row {
  of: string;
  run: RunData;
  job: Job;
  other: Job | undefined;
}

type Show = (value: number | null) => string;

const SHOWN: [column: string, title: string, show: Show, better?: "less" | "more"][] = [
  ["slowdown", "slowdown", factor, "less"],
  ["nodes", "nodes", count],
  ["messages_delivered", "messages", count],
  ["time_ps", "time", time, "less"],
  ["latency_min_ps", "min", time],
  ["latency_p25_ps", "p25", time, "less"],
  ["latency_p50_ps", "p50", time, "less"],
  ["latency_p75_ps", "p75", time, "less"],
  ["latency_p99_ps", "p99", time, "less"],
  ["latency_max_ps", "max", time, "less"],
  ["latency_mean_ps", "mean", time, "less"],
  ["iterations", "iterations", count],
  ["iterations_per_s", "iterations per s", digits, "more"],
  ["iteration_p50_ps", "iteration p50", time, "less"],
  ["iteration_mean_ps", "iteration mean", time, "less"],
  ["algbw", "algbw", rate, "more"],
  ["busbw", "busbw", rate, "more"],
  ["throughput", "throughput", rate, "more"],
  ["hops_mean", "hops", digits, "less"],
  ["minimal_fraction", "minimal", percent],
  ["reordered_fraction", "reordered", percent, "less"],
  ["reordering_extent_mean", "mean extent", digits, "less"],
  ["reorder_buffer_bytes", "reorder buffer", size, "less"],
  ["alone_mean_ps", "alone mean", time],
  ["alone_time_ps", "alone time", time],
];

/** Change of a value below which it counts as the same. */
const SAME = 0.005;

function rate(value: number | null): string {
  return value === null ? "-" : `${bytes(value)}/s`;
}

function size(value: number | null): string {
  return value === null ? "-" : bytes(value);
}

export function jobsSection(runs: RunData[], label: (run: number) => string): HTMLElement {
  const jobs = Math.max(...runs.map((run) => run.jobs.length));
  const rows: Row[] = [];
  for (let index = 0; index < jobs; index++) {
    runs.forEach((run, at) => {
      const job = run.jobs[index];
      const other = at === 0 ? undefined : runs[0]!.jobs.find((one) => one.name === job?.name);
      if (job) rows.push({ of: label(at), run, job, other });
    });
  }
  const columns: Column<Row>[] = [];
  if (runs.length > 1) columns.push({ title: "run", value: (row) => row.of });
  columns.push({ title: "job", value: (row) => row.job.name, head: true });
  for (const [column, title, show, better] of SHOWN) {
    if (rows.every((row) => numberOf(row.job, column) === null)) continue;
    columns.push({
      title,
      key: column,
      hint: runs[0]!.meanings[column],
      value: (row) => numberOf(row.job, column),
      show: (row) => show(numberOf(row.job, column)) + mark(row.job, column) + (better ? change(row, column) : ""),
      tone: (row) => tone(row, column, better),
    });
  }
  if (rows.some((row) => row.job.saturated))
    columns.push({ title: "saturated", value: (row) => told(row.job.saturated) });
  const cutOff = rows.some((row) => row.job.complete === false);
  const all = table({ caption: "Jobs", file: "jobs", columns, rows });
  return h(
    "div",
    {},
    ...(runs.some(many)
      ? [
          ...runs.map((run) => rankingTable(run, COLOURED)),
          rows.some((row) => numberOf(row.job, "slowdown") === null)
            ? h(
                "p",
                { class: "empty" },
                "A slowdown is known of jobs that were also simulated alone: with --alone, those that the run waits for.",
              )
            : null,
          folded(`All ${jobs} jobs`, ...runs.map((run) => rankingTable(run, undefined)), all),
        ]
      : [all]),
    cutOff
      ? h("p", {}, "* cut off: the number covers only what arrived before the end of the run, and can be much too low.")
      : null,
    runs.length > 1 ? h("p", {}, "Percentages compare B with A: blue is better, orange is worse.") : null,
  );
}

function mark(job: Job, column: string): string {
  return job.complete === false && /^(latency|iteration)_/.test(column) && numberOf(job, column) !== null ? "*" : "";
}

function ratio(row: Row, column: string): number | undefined {
  const [here, there] = [numberOf(row.job, column), row.other ? numberOf(row.other, column) : null];
  return here === null || there === null || there === 0 ? undefined : here / there - 1;
}

function change(row: Row, column: string): string {
  const found = ratio(row, column);
  if (found === undefined || Math.abs(found) < SAME) return "";
  return ` (${found > 0 ? "+" : "−"}${(100 * Math.abs(found)).toFixed(1)} %)`;
}

function tone(row: Row, column: string, better: "less" | "more" | undefined): string | undefined {
  const found = ratio(row, column);
  if (found === undefined || !better || Math.abs(found) < SAME) return undefined;
  return found < 0 === (better === "less") ? "better" : "worse";
}

function told(value: boolean | null): string {
  return value === null ? "-" : value ? "yes" : "no";
}
