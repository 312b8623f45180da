// The chosen window of time, and what a run's tables say about it.

import type { RunData } from "./document";

export interface JobInWindow {
  bytesIn: number;
  bytesOut: number;
  messages: number;
  mean: number;
  max: number;
}

export class Window {
  range: [from: number, to: number] | undefined;
  private readonly listeners: (() => void)[] = [];
  private readonly starts: (() => void)[] = [];

  set(range: [number, number] | undefined): void {
    this.range = range;
    for (const listener of this.listeners) listener();
  }

  changed(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Called when a reader begins to play the run. */
  whenPlayed(listener: () => void): void {
    this.starts.push(listener);
  }

  played(): void {
    for (const start of this.starts) start();
  }

  /** Windows of traffic whose begin is in the range: the first and the one after the last. */
  windows(run: RunData): [number, number] {
    const starts = run.traffic?.windows.numbers("start_ps") ?? [];
    if (!this.range) return [0, starts.length];
    const [from, to] = this.range;
    let first = 0;
    while (first < starts.length && starts[first]! < from) first++;
    let last = first;
    while (last < starts.length && starts[last]! < to) last++;
    return [first, last];
  }

  /** Bytes that each group sent to and got from other groups, of one job or of all. */
  byGroup(run: RunData, job?: number): number[] {
    const totals = new Array<number>(run.machine.groups).fill(0);
    this.each(run, (row, rows) => {
      if (job !== undefined && rows.number("job", row) !== job) return;
      const group = rows.number("group", row);
      totals[group] = (totals[group] ?? 0) + rows.number("bytes_in", row) + rows.number("bytes_out", row);
    });
    return totals;
  }

  /** Bytes of each job into and out of a group. */
  ofGroup(run: RunData, group: number): { job: number; bytesIn: number; bytesOut: number }[] {
    const found = run.jobs.map((_, job) => ({ job, bytesIn: 0, bytesOut: 0 }));
    this.each(run, (row, rows) => {
      const of = found[rows.number("job", row)];
      if (!of || rows.number("group", row) !== group) return;
      of.bytesIn += rows.number("bytes_in", row);
      of.bytesOut += rows.number("bytes_out", row);
    });
    return found;
  }

  byJob(run: RunData): JobInWindow[] {
    const found = run.jobs.map(() => ({ bytesIn: 0, bytesOut: 0, messages: 0, mean: Number.NaN, max: Number.NaN }));
    this.each(run, (row, rows) => {
      const of = found[rows.number("job", row)];
      if (!of) return;
      of.bytesIn += rows.number("bytes_in", row);
      of.bytesOut += rows.number("bytes_out", row);
    });
    const { over_time: slices, slice_ps: width } = run.messages;
    const sums = run.jobs.map(() => 0);
    for (let row = 0; slices && row < slices.rows; row++) {
      const start = slices.number("slice", row) * width;
      if (this.range && (start < this.range[0] || start >= this.range[1])) continue;
      const job = slices.number("job", row);
      const of = found[job]!;
      of.messages += slices.number("count", row);
      sums[job]! += slices.number("sum_ps", row);
      of.mean = sums[job]! / of.messages;
      of.max = Number.isNaN(of.max) ? slices.number("max_ps", row) : Math.max(of.max, slices.number("max_ps", row));
    }
    return found;
  }

  /** Packets of each job that reached their node, and those of them that took a minimal path; nothing if not recorded. */
  routes(run: RunData): { packets: number; minimal: number }[] | undefined {
    if (!run.routes) return undefined;
    const { rows, width_ps: width } = run.routes;
    const found = run.jobs.map(() => ({ packets: 0, minimal: 0 }));
    for (let row = 0; row < rows.rows; row++) {
      const start = rows.number("slice", row) * width;
      // The slices that the window touches.
      if (this.range && (start + width <= this.range[0] || start >= this.range[1])) continue;
      const of = found[rows.number("job", row)]!;
      of.packets += rows.number("packets", row);
      of.minimal += rows.number("minimal", row);
    }
    return found;
  }

  private each(run: RunData, use: (row: number, rows: NonNullable<RunData["traffic"]>["rows"]) => void): void {
    if (!run.traffic) return;
    const { rows } = run.traffic;
    const [first, last] = this.windows(run);
    for (let row = 0; row < rows.rows; row++) {
      const window = rows.number("window", row);
      if (window >= first && window < last) use(row, rows);
    }
  }
}
