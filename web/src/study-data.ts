// The runs of a study: which of them are chosen, and what they say.

import type { Table } from "./payload";

export interface Axis {
  key: string;
  kind: string;
  values: string[];
  /** Where the values of numbers and quantities stand on a scale. */
  positions: number[] | null;
}

export interface StudyColumn {
  name: string;
  unit: string;
  meaning: string;
  more_is_better: boolean | null;
}

export interface Compared {
  by: string;
  column: string;
  job: string;
  baseline: string;
  rows: {
    value: string;
    n: number;
    median: number | null;
    q25: number | null;
    q75: number | null;
    interval: [number, number] | null;
    ratio: number | null;
    ratio_interval: [number, number] | null;
    pairs: number;
    better: number;
    worse: number;
    equal: number;
    p: number | null;
  }[];
  said: string[];
}

export interface StudyReport {
  kind: "study";
  name: string;
  axes: Axis[];
  repetition: string;
  points: Table;
  jobs: Table;
  columns: StudyColumn[];
  by: string;
  series: string | null;
  column: string;
  job: string;
  comparisons: Compared[];
  facts: [string, string][];
  study: string;
  scenario: string;
  not_modelled: string[];
  left_out: string[];
}

/** A run of a job: its row in the table of jobs, and its value on each axis. */
export interface Sample {
  row: number;
  point: number;
  places: number[];
  value: number;
  cutOff: boolean;
}

/** What a reader has chosen. */
export interface Choice {
  job: string;
  column: string;
  by: string;
  series: string;
  other: string;
  incomplete: boolean;
  /** Values of each axis that are left out. */
  without: Set<number>[];
}

export class StudyData {
  readonly jobs: string[];
  /** Place of each point on each axis, by the number of the point. */
  readonly places = new Map<number, number[]>();
  private readonly samplesOf = new Map<string, Sample[]>();

  constructor(readonly report: StudyReport) {
    const { points, jobs, axes } = report;
    const index = axes.map((axis) => new Map(axis.values.map((value, at) => [value, at])));
    for (let row = 0; row < points.rows; row++) {
      const places = axes.map((_, axis) => index[axis]!.get(points.text(`axis_${axis}`, row)) ?? -1);
      this.places.set(points.number("point", row), places);
    }
    const names = new Set<string>();
    for (let row = 0; row < jobs.rows; row++) names.add(jobs.text("name", row));
    this.jobs = [...names];
  }

  axis(key: string): number {
    return this.report.axes.findIndex((axis) => axis.key === key);
  }

  column(name: string): StudyColumn | undefined {
    return this.report.columns.find((column) => column.name === name);
  }

  /** The runs that are chosen and have a number in the column. Runs that are cut off count only if they are asked for. */
  samples(choice: Choice): Sample[] {
    const all = this.all(choice.job, choice.column);
    const timed = /^(latency|iteration|alone)_|^time_ps$|^slowdown$/.test(choice.column);
    return all.filter(
      (sample) =>
        (choice.incomplete || !timed || !sample.cutOff) &&
        sample.places.every((place, axis) => !choice.without[axis]!.has(place)),
    );
  }

  private all(job: string, column: string): Sample[] {
    const key = `${column} ${job}`;
    const known = this.samplesOf.get(key);
    if (known) return known;
    const { jobs } = this.report;
    const found: Sample[] = [];
    const values = jobs.numbers(column);
    for (let row = 0; row < jobs.rows; row++) {
      const value = values[row]!;
      if (Number.isNaN(value) || jobs.text("name", row) !== job) continue;
      const point = jobs.number("point", row);
      const places = this.places.get(point);
      if (places) found.push({ row, point, places, value, cutOff: jobs.number("complete", row) === 0 });
    }
    this.samplesOf.set(key, found);
    return found;
  }

  /** Ratios of runs to the runs of the first chosen value of an axis that agree in all other axes. */
  ratios(samples: Sample[], by: number): Sample[] {
    const chosen = new Set(samples.map((sample) => sample.places[by]!));
    const first = Math.min(...chosen);
    const key = (sample: Sample) => sample.places.filter((_, axis) => axis !== by).join(",");
    const base = new Map<string, Sample | undefined>();
    for (const sample of samples) {
      if (sample.places[by] !== first) continue;
      // Two runs with the same other values: neither has a partner of its own.
      base.set(key(sample), base.has(key(sample)) ? undefined : sample);
    }
    return samples.flatMap((sample) => {
      const partner = base.get(key(sample));
      if (sample.places[by] === first || !partner || partner.value === 0) return [];
      return [{ ...sample, value: sample.value / partner.value }];
    });
  }
}

export interface Summary {
  n: number;
  median: number;
  q25: number;
  q75: number;
  /** 95 % interval of the median by order statistics; nothing from fewer than six runs. */
  interval: [number, number] | undefined;
}

export function summary(values: number[]): Summary {
  const sorted = [...values].sort((one, other) => one - other);
  const n = sorted.length;
  const quantile = (q: number) => {
    const at = q * (n - 1);
    const low = Math.floor(at);
    return sorted[low]! + (at - low) * ((sorted[low + 1] ?? sorted[low]!) - sorted[low]!);
  };
  return { n, median: quantile(0.5), q25: quantile(0.25), q75: quantile(0.75), interval: medianInterval(sorted) };
}

/** From the binomial distribution: it covers the median with at least 95 %, whatever the distribution. */
function medianInterval(sorted: number[]): [number, number] | undefined {
  const n = sorted.length;
  let tail = 0.5 ** n;
  let term = tail;
  if (n < 6 || n > 1000) return n > 1000 ? normalInterval(sorted) : undefined;
  let rank = 0;
  while (tail + (term * (n - rank)) / (rank + 1) <= 0.025) {
    term *= (n - rank) / (rank + 1);
    tail += term;
    rank++;
  }
  return [sorted[rank]!, sorted[n - 1 - rank]!];
}

function normalInterval(sorted: number[]): [number, number] {
  const n = sorted.length;
  const half = 0.98 * Math.sqrt(n);
  return [sorted[Math.floor(n / 2 - half)]!, sorted[Math.ceil(n / 2 + half)]!];
}
