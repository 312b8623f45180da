// The section of latencies: boxes, cumulative distributions, tails, and boxes by distance.

import { type Box, boxChart } from "./boxes";
import { jobColour } from "./colours";
import { csvButton, tableButton } from "./csv";
import { type Job, numberOf, type RunData } from "./document";
import { figure, h, prose } from "./dom";
import { digits, percent, tick, timeUnit } from "./format";
import { type Line, lineChart } from "./lines";
import { folded, front, many, others } from "./ranking";

export function latencySection(runs: RunData[], label: (run: number) => string): HTMLElement {
  const messages = boxesOf(runs, label, "latency", front);
  const iterations = boxesOf(runs, label, "iteration", front);
  const distances = runs.flatMap((run, index) => byDistance(run, label(index)));
  const parts: HTMLElement[] = [];
  if (messages.length > 0) {
    parts.push(
      figure(
        "Latency of messages, by job (least, quartiles, 99 %, greatest; the dot is the mean)",
        boxChart("Latency of messages, by job", messages),
      ),
    );
  }
  if (iterations.length > 0) {
    parts.push(figure("Time of an iteration, by job", boxChart("Time of an iteration, by job", iterations)));
  }
  if (distances.length > 0) {
    const save = runs.map((run) =>
      csvButton(`distances-${run.id}`, ["job", ...Object.keys(run.messages.distances[0] ?? {}).slice(1)], () =>
        run.messages.distances.map((row) => [run.jobs[row.job]!.name, ...Object.values(row).slice(1)]),
      ),
    );
    parts.push(
      figure(
        "Latency by distance between the nodes",
        boxChart("Latency by distance between the nodes", distances),
        h("div", { class: "bar" }, ...save),
      ),
    );
  }
  const curves = runs.flatMap((run, index) => distributionLines(run, label(index)));
  if (curves.length > 0) {
    const [unit, size] = timeUnit(curves.map((curve) => curve.upper[Math.floor(curve.upper.length / 2)] ?? 1));
    const line = (curve: Curve, y: (share: number) => number | null): Line => ({
      label: curve.label,
      colour: curve.colour,
      dashed: curve.dashed,
      steps: true, // what is within a bin is not known, and between bins there is nothing
      x: curve.upper.map((ps) => ps / size),
      y: curve.upTo.map(y),
    });
    const axis = { x: `latency (${unit})`, xText: (value: number) => digits(value), logX: true };
    const save = () =>
      h("div", { class: "bar" }, ...runs.map((run) => tableButton(`distribution-${run.id}`, run.distributions)));
    const cdf = lineChart({
      ...axis,
      label: "Share of messages within a latency",
      y: "share",
      lines: curves.map((curve) => line(curve, (share) => share)),
      yText: percent,
      yTick: (value) => `${tick(100 * value)} %`,
    });
    const tail = lineChart({
      ...axis,
      label: "Share of messages beyond a latency, logarithmic",
      y: "share beyond",
      logY: true,
      lines: curves.map((curve) => line(curve, (share) => (share < 1 ? 1 - share : null))),
      yText: (value) => value.toExponential(2),
      yTick: (value) => value.toExponential(0),
    });
    parts.push(figure("Share of messages within a latency", cdf.element, save()));
    parts.push(figure("Tail: share of messages beyond a latency", tail.element));
  }
  if (parts.length === 0)
    return h(
      "p",
      { class: "empty" },
      ...prose(
        'The run recorded no latencies: no message that was issued while measuring was delivered, or all jobs have `record = "nothing"`.',
      ),
    );
  const grid = h("div", { class: "grid" }, ...parts);
  const left = (["latency", "iteration"] as const).flatMap((prefix) => {
    const boxes = runs.some(many) ? boxesOf(runs, label, prefix, others) : [];
    const caption = `${prefix === "latency" ? "Latency of messages" : "Time of an iteration"} of the other jobs`;
    return boxes.length > 0 ? [folded(caption, boxChart(caption, boxes))] : [];
  });
  return left.length > 0 ? h("div", {}, grid, ...left) : grid;
}

/** Of the chosen jobs: together and, where it was simulated, alone below it. */
function boxesOf(
  runs: RunData[],
  label: (run: number) => string,
  prefix: "latency" | "iteration",
  jobs: (run: RunData) => number[],
): Box[] {
  const boxes: Box[] = [];
  for (const index of new Set(runs.flatMap(jobs))) {
    runs.forEach((run, at) => {
      const job = run.jobs[index];
      const together = job && boxOf(job, prefix, index);
      if (!together || !job) return;
      const of = label(at) ? `${label(at)}: ` : "";
      const alone = prefix === "latency" ? boxOf(job, "alone", index) : undefined;
      boxes.push({
        ...together,
        label: `${of}${job.name}${alone ? ", together" : ""}${job.complete === false ? " (cut off)" : ""}`,
      });
      if (alone) boxes.push({ ...alone, label: `${of}${job.name}, alone`, faint: true });
    });
  }
  return boxes;
}

function boxOf(job: Job, prefix: string, index: number): Box | undefined {
  const value = (name: string) => numberOf(job, `${prefix}_${name}_ps`) ?? Number.NaN;
  if (Number.isNaN(value("mean"))) return undefined;
  const [min, p25, p50, p75, p99, max, mean] = ["min", "p25", "p50", "p75", "p99", "max", "mean"].map(value) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { label: job.name, colour: jobColour(index), min, p25, p50, p75, p99, max, mean };
}

function byDistance(run: RunData, of: string): Box[] {
  const shown = new Set(front(run));
  const rows = run.messages.distances.filter((row) => shown.has(row.job));
  return rows.map((row) => {
    const [min, p25, p50, p75, p99, max, mean] = ["min", "p25", "p50", "p75", "p99", "max", "mean"].map((name) =>
      Number(row[name]),
    ) as [number, number, number, number, number, number, number];
    const several = run.jobs.length > 1 ? `${run.jobs[row.job]!.name}, ` : "";
    return {
      label: `${of ? `${of}: ` : ""}${several}${row.distance}`,
      colour: jobColour(row.job),
      min,
      p25,
      p50,
      p75,
      p99,
      max,
      mean,
    };
  });
}

interface Curve {
  label: string;
  colour: string;
  dashed: boolean;
  upper: number[];
  upTo: number[];
}

function distributionLines(run: RunData, of: string): Curve[] {
  const { distributions } = run;
  return front(run).flatMap((index) => {
    const job = run.jobs[index]!;
    const rows = distributions.where((row) => distributions.number("job", row) === index);
    if (rows.length === 0) return [];
    let sum = 0;
    const sums = rows.map((row) => (sum += distributions.number("count", row)));
    const upper = rows.map((row) => distributions.number("upper_ps", row));
    const least = distributions.number("lower_ps", rows[0]!);
    const begins = least > 0 && least < upper[0]!;
    return {
      label: of ? `${of}: ${job.name}` : job.name,
      colour: jobColour(index),
      dashed: of === "B",
      upper: begins ? [least, ...upper] : upper,
      upTo: [...(begins ? [0] : []), ...sums.map((value) => value / sum)],
    };
  });
}
