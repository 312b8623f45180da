// What a report is given: the documents that python/odonata/report writes.

import type { Table } from "./payload";

export interface Job {
  name: string;
  nodes: number;
  ranks: number;
  background: boolean;
  record: string;
  complete: boolean | null;
  saturated: boolean | null;
  placed: string | null;
  app: Record<string, unknown> | null;
  routing: Record<string, unknown> | null;
  class_bytes: number[];
  [column: string]: unknown;
}

export interface Machine {
  kind: string;
  columns: number | null;
  leaves: number | null;
  groups: number;
  /** What its groups are called: pods of a fat tree, slices of a HyperX. */
  group_name: string;
  classes: Table;
  routers: Table;
  nodes: Table;
  pairs: Table;
  links: Table;
  hot_links: Table;
  hot_nics: Table;
}

export interface Distance {
  job: number;
  distance: string;
  count: number;
  [quantile: string]: string | number;
}

/** A job in the order of who suffers most. */
export interface Rank {
  job: number;
  about: string | null;
  application: string;
  slowdown: number | null;
  /** Parts of the time of its packets that are waiting, and waiting for other jobs. */
  waits: number | null;
  for_others: number | null;
  /** For whom it waits, with parts of its waiting. */
  by: [job: string, share: number][];
}

export type FlowQuantiles = Record<"p50" | "p95" | "p99" | "mean", number>;

/** Flows of a bin of sizes: completion times, and slowdowns over the ideal if it is known. */
export interface FlowBin {
  bytes_least: number;
  bytes_most: number;
  flows: number;
  fct_ps: FlowQuantiles;
  slowdown: FlowQuantiles | null;
}

export interface RunData {
  name: string;
  /** What the scenario is, and what the jobs are that the run waits for; empty if nothing is known. */
  title: string;
  subjects: string[];
  ranking: Rank[];
  id: string;
  seed: number;
  version: string;
  sim_time_ps: number;
  verdict: string[];
  facts: [string, string][];
  command: string;
  scenario: string;
  sources: { key: string; value: string; source: string }[];
  not_modelled: string[];
  not_recorded: string[];
  meanings: Record<string, string>;
  link_classes: string[];
  jobs: Job[];
  flows: { job: string; by_size: FlowBin[] }[];
  distributions: Table;
  messages: { slice_ps: number; distances: Distance[]; over_time: Table | null };
  traffic: { windows: Table; rows: Table } | null;
  iterations: Table | null;
  series: { width_ps: number; slices: number; full: number; per_packet: number; cells: Table } | null;
  routes: { width_ps: number; rows: Table } | null;
  blame: {
    sentences: string[];
    classes: string[];
    causes: { victim: string; cause: string; share: number; ps: number; by_class: Record<string, number> }[];
    places: {
      victim: string;
      cause: string;
      class: string;
      where: string;
      share: number;
      links: number;
      worst: string;
    }[];
  } | null;
  machine: Machine;
  left_out: string[];
}

export interface RunsReport {
  kind: "runs";
  title: string;
  runs: RunData[];
}

export const NO_JOB = 65535;

/** A number of a job; nothing where the run has none. */
export function numberOf(job: Job, column: string): number | null {
  const value = job[column];
  return typeof value === "number" ? value : null;
}
