// Who suffers most: the jobs in the order of their slowdown, and of a run of many jobs those that are shown first.

import { COLOURED, colourJobs, jobColour } from "./colours";
import type { Rank, RunData } from "./document";
import { type Child, h, name } from "./dom";
import { count, factor, percent } from "./format";
import { type Column, table } from "./table";

/** Whether a run has more jobs than colours, so that most of them are drawn together and folded. */
export function many(run: RunData): boolean {
  return run.jobs.length > COLOURED;
}

let chosen: number[] = [];

/** Chooses the jobs with a colour and a row of their own: all of few, else those that suffer most. */
export function chooseFront(runs: RunData[]): void {
  if (!runs.some(many)) return;
  const few = runs.filter((run) => !many(run)).flatMap((run) => run.jobs.map((_, job) => job));
  const ranked = runs.filter(many).flatMap((run) => run.ranking.map((row) => row.job));
  chosen = [...new Set([...few, ...ranked])].slice(0, COLOURED);
  colourJobs(chosen);
}

/** These jobs of a run, in their order. */
export function front(run: RunData): number[] {
  return many(run) ? chosen.filter((job) => job < run.jobs.length) : run.jobs.map((_, job) => job);
}

/** The jobs that share a colour. */
export function others(run: RunData): number[] {
  const shown = new Set(front(run));
  return run.jobs.map((_, job) => job).filter((job) => !shown.has(job));
}

/** What the jobs are called that have no colour of their own. */
export function othersOf(run: RunData): string {
  const left = others(run).length;
  return `${left} other job${left === 1 ? "" : "s"}`;
}

/** A part of the page that is folded if there are many jobs. */
export function folded(summary: string, ...parts: Child[]): HTMLElement {
  return h("details", { class: "folded" }, h("summary", {}, summary), ...parts);
}

/** The jobs that suffer most, with what they wait for; of all jobs below it. */
export function rankingTable(run: RunData, shown: number | undefined): HTMLElement {
  const rows = run.ranking.slice(0, shown);
  const has = (value: (row: Rank) => unknown) => rows.some((row) => value(row) !== null && value(row) !== "");
  const columns: Column<Rank>[] = [
    {
      title: "job",
      head: true,
      value: (row) => run.jobs[row.job]!.name,
      show: (row) => h("span", {}, swatch(row.job), name(run.jobs[row.job]!.name)),
    },
  ];
  if (has((row) => row.slowdown))
    columns.push({
      title: "slowdown",
      value: (row) => row.slowdown,
      show: (row) => (row.slowdown === null ? "" : factor(row.slowdown)),
      hint: "its time beside the others, divided by its time alone",
    });
  if (has((row) => row.for_others)) {
    columns.push({
      title: "waits for others",
      value: (row) => row.for_others,
      show: (row) => percent(row.for_others),
      hint: "part of the time of its packets that is waiting for packets of other jobs",
    });
    columns.push({
      title: "by whom",
      value: (row) => row.by.map(([job, share]) => `${job} ${percent(share)}`).join(", "),
      show: (row) =>
        row.by.length === 0
          ? "nobody"
          : h("span", {}, ...row.by.flatMap(([job, share], at) => [at ? ", " : "", name(job), ` ${percent(share)}`])),
      hint: "part of its waiting that is for packets of this job",
    });
  }
  if (has((row) => row.application)) columns.push({ title: "application", value: (row) => row.application });
  columns.push({
    title: "nodes",
    value: (row) => run.jobs[row.job]!.nodes,
    show: (row) => count(run.jobs[row.job]!.nodes),
  });
  if (has((row) => row.about)) columns.push({ title: "whose", value: (row) => row.about ?? "" });
  return table({
    caption: shown ? "Who suffers most" : "All jobs, those first that suffer most",
    file: `ranking-${run.id}`,
    columns,
    rows,
  });
}

function swatch(job: number): HTMLElement {
  const made = h("i", { class: "swatch" });
  made.style.background = jobColour(job);
  return made;
}
