// The report of a run, or of two runs side by side.

import { blameSection } from "./blame";
import type { RunData, RunsReport } from "./document";
import { h, name, prose, section, visible } from "./dom";
import { flowsTable } from "./flows";
import { jobsSection } from "./jobs";
import { latencySection } from "./latency";
import { machineSection } from "./machine";
import { chooseFront, folded, many } from "./ranking";
import { assumedSection, hotSection, routesSection } from "./rest";
import { timeControls, timeSection } from "./times";
import { Window } from "./window";

export function runsReport({ title, runs }: RunsReport): Node[] {
  const window = new Window();
  chooseFront(runs);
  // Of many jobs, what is not the finding is folded.
  const rest = (summary: string, made: HTMLElement) => (runs.some(many) ? folded(summary, made) : made);
  const label = (run: number) => (runs.length > 1 ? "AB"[run]! : "");
  const each = (make: (run: RunData) => HTMLElement) =>
    h(
      "div",
      { class: runs.length > 1 ? "pair" : "" },
      ...runs.map((run, index) =>
        h(
          "div",
          {},
          runs.length > 1 ? h("h3", { class: "which" }, `${label(index)}: `, name(run.name)) : null,
          make(run),
        ),
      ),
    );
  const time = timeSection(runs, window, label);
  return [
    h("h1", {}, runs.length > 1 ? visible(title) : name(title)),
    ...(runs.length === 1 ? runs[0]!.subjects.map((text) => h("p", { class: "subject" }, ...prose(text))) : []),
    each(verdict),
    section("Jobs", jobsSection(runs, label), flowsTable(runs, label)),
    section("Machine", h("div", {}, time ? timeControls(runs, window) : null, machineSection(runs, window, label))),
    section(
      "Time",
      time ??
        h(
          "p",
          { class: "empty" },
          ...prose(
            'Nothing was recorded over time. Set `measure.links.every` for the traffic between groups, and `measure.latency = "every-message"` for latencies.',
          ),
        ),
    ),
    section("Latency", rest("Latencies by job and by distance", latencySection(runs, label))),
    section("Who makes whom wait", each(blameSection)),
    section(
      "Routes",
      rest(
        "Paths of packets, and traffic by class of link",
        each((run) => routesSection(run, window)),
      ),
    ),
    section("Busiest links", rest("Links between routers, and links of nodes", each(hotSection))),
    section("What was assumed", each(assumedSection)),
  ];
}

function verdict(run: RunData): HTMLElement {
  const [first, ...others] = run.verdict;
  return h(
    "div",
    { class: "verdict" },
    h("p", { class: "first" }, ...prose(first ?? "")),
    ...others.map((text) => h("p", {}, ...prose(text))),
  );
}
