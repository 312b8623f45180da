// The section of the machine: its drawing, what is chosen in it, and the matrix of its groups.

import { COLOURED, jobColour, jobsHaveOwnColours, loadColour, themed } from "./colours";
import { Details } from "./details";
import { NO_JOB, type RunData } from "./document";
import { choice, figure, h, name } from "./dom";
import { bytes, count, percent, time } from "./format";
import { heatMap } from "./heat";
import { Layout, type Spot } from "./layout";
import { type By, Paint, type Tops, topsOf } from "./load";
import { View } from "./view";
import type { Window } from "./window";

const ARCS = 20;

const BYS: [By, string][] = [
  ["job", "job"],
  ["busy", "load: mean of links"],
  ["busiest", "load: busiest link"],
  ["queue", "packets waiting"],
  ["stalled", "waiting for room"],
  ["traffic", "traffic between groups"],
];

/** The machine of one run or of two, with common controls and scales. */
export function machineSection(runs: RunData[], window: Window, label: (run: number) => string): HTMLElement {
  const tops = topsOf(runs);
  const wide = Math.min(innerWidth, 1360) - 40;
  const aspect =
    (runs.length > 1 && innerWidth > 1000 ? wide / 2 : wide) /
    (innerWidth < 621 ? 0.7 * innerHeight : Math.min(0.6 * innerHeight, 620));
  const panels = runs.map((run, index) => panel(run, window, tops, aspect, label(index)));
  const repaint = () => {
    for (const one of panels) {
      one.paint.refresh();
      one.view.draw();
    }
  };
  const by = choice(
    "Colour by",
    BYS.filter(
      ([key]) =>
        (key !== "traffic" || runs.some((run) => run.traffic)) && (key !== "queue" || runs.some((run) => run.series)),
    ),
    (value) => {
      for (const one of panels) one.paint.by = value as By;
      describe();
      repaint();
    },
  );
  const describe = () => {
    panels.forEach((one, index) => {
      one.legend.replaceChildren(
        ...keyOf(one.paint.by, runs[index]!, tops, (job) => highlight(one, runs[index]!, job)),
        ...(one.paint.ofWindow ? [h("span", { class: "of-window" }, "in the chosen window")] : []),
      );
    });
  };
  const highlight = (pressed: Panel, of: RunData, job: number) => {
    const again = pressed.paint.highlighted === job;
    panels.forEach((one, index) => {
      const same = runs[index]!.jobs.findIndex((other) => other.name === of.jobs[job]!.name);
      one.paint.highlighted = again ? undefined : one === pressed ? job : same < 0 ? NO_JOB : same;
    });
    repaint();
  };
  const arcs = choice(
    "Links between groups",
    [
      ["none", "none"],
      ["busiest", `the ${ARCS} busiest pairs`],
      ["chosen", "of the chosen group"],
    ],
    (value) => {
      for (const one of panels) one.state.arcs = value;
      repaint();
    },
  );
  const go = h("input", { type: "text", placeholder: "group 3, router 12, node 77", "aria-label": "Go to", size: 22 });
  const form = h("form", { class: "go" }, h("label", {}, "Go to ", go), h("button", { type: "submit" }, "Go"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const spots = panels.map((one) => find(one.layout, go.value));
    go.setCustomValidity(spots.some((spot) => spot) ? "" : "There is no such group, router or node.");
    go.reportValidity();
    panels.forEach((one, index) => {
      if (spots[index]) one.view.choose(spots[index]);
    });
  });
  go.addEventListener("input", () => go.setCustomValidity(""));
  window.changed(() => {
    repaint();
    describe();
  });
  themed(describe);
  return h(
    "div",
    {},
    h("div", { class: "controls" }, by, arcs, form),
    h("div", { class: runs.length > 1 ? "pair" : "" }, ...panels.map((one) => one.element)),
  );
}

interface Panel {
  element: HTMLElement;
  view: View;
  paint: Paint;
  legend: HTMLElement;
  layout: Layout;
  state: { arcs: string };
}

function panel(run: RunData, window: Window, tops: Tops, aspect: number, label: string): Panel {
  const layout = new Layout(run.machine, aspect);
  const paint = new Paint(run, layout, window, tops);
  const details = new Details(run, layout, paint, window);
  let chosen: Spot | undefined;
  const legend = h("div", { class: "legend" });
  const state = { arcs: "none" };
  const view = new View({
    label: `The machine: ${run.machine.groups} groups. Arrow keys move between groups, down into routers and nodes; + and - zoom.`,
    layout,
    paint,
    told: (spot) => details.line(spot),
    chosen: (spot) => {
      chosen = spot;
      details.show(spot);
    },
    arcs: () => arcsOf(run, tops, state.arcs, chosen && layout.groupOf(chosen)),
  });
  window.changed(() => details.show(chosen));
  const shape = `${count(run.machine.groups)} groups, ${count(run.machine.routers.rows)} routers, ${count(run.machine.nodes.rows)} nodes`;
  const element = h(
    "div",
    { class: "machine-panel" },
    legend,
    figure(`${label ? `${label}: ` : ""}${shape}`, view.element),
    h(
      "div",
      { class: "beside" },
      details.element,
      matrix(run, tops, (group) => view.choose({ level: "group", index: group })),
    ),
  );
  return { element, view, paint, layout, legend, state };
}

/** Mean load of the links from each group to each other. */
function matrix(run: RunData, tops: Tops, chosen: (group: number) => void): HTMLElement {
  const { pairs, groups } = run.machine;
  if (pairs.rows === 0) return h("p", { class: "empty" }, "There are no links between groups.");
  const rowOf = new Map<number, number>();
  for (let row = 0; row < pairs.rows; row++) {
    rowOf.set(pairs.number("from_group", row) * groups + pairs.number("to_group", row), row);
  }
  let column: keyof Tops["pairs"] = "busy";
  const heat = heatMap({
    label: "Load of the links from each group to each other group",
    rowNames: Array.from({ length: groups }, (_, group) => String(group)),
    columnNames: Array.from({ length: groups }, (_, group) => String(group)),
    rows: "from group",
    columns: "to group",
    shade: (from, to) => pairs.number(column, rowOf.get(from * groups + to) ?? -1) / tops.pairs[column],
    told: (from, to) => {
      const row = rowOf.get(from * groups + to);
      if (row === undefined) return `Group ${from} to group ${to}: no links.`;
      const number = (name: string) => pairs.number(name, row);
      return `Group ${from} to group ${to}: ${count(number("links"))} links, busy ${percent(number("busy"))} on average and ${percent(number("busy_max"))} at most, ${bytes(number("bytes"))}, packets waited ${time(number("stalled_ps"))}.`;
    },
    chosen,
  });
  const by = choice(
    "Shade by",
    [
      ["busy", "mean load"],
      ["busy_max", "busiest link"],
      ["bytes", "bytes"],
      ["stalled_ps", "waiting for room"],
    ],
    (value) => {
      column = value as keyof Tops["pairs"];
      heat.draw();
    },
  );
  return figure("Links from group to group", by, heat.element);
}

function arcsOf(run: RunData, tops: Tops, which: string, group: number | undefined): [number, number, number][] {
  const { pairs } = run.machine;
  if (which === "none" || (which === "chosen" && group === undefined)) return [];
  const ends = (row: number) => [pairs.number("from_group", row), pairs.number("to_group", row)] as const;
  const rows = pairs.where(
    (row) => pairs.number("bytes", row) > 0 && (which === "busiest" || ends(row).includes(group!)),
  );
  rows.sort((one, other) => pairs.number("busy", other) - pairs.number("busy", one));
  return rows
    .slice(0, which === "busiest" ? ARCS : 2 * run.machine.groups)
    .map((row) => [...ends(row), pairs.number("busy", row) / tops.pairs.busy]);
}

function keyOf(by: By, run: RunData, tops: Tops, highlight: (job: number) => void): Node[] {
  if (by === "job") {
    const own = jobsHaveOwnColours(run.jobs.length) ? run.jobs : run.jobs.slice(0, COLOURED);
    const keys: Node[] = own.map((job, index) => {
      const press = h("button", { type: "button", title: "Show only this job", onclick: () => highlight(index) });
      press.append(swatch(jobColour(index)), name(job.name));
      return press;
    });
    if (own.length < run.jobs.length)
      keys.push(h("span", {}, swatch(jobColour(own.length)), `${run.jobs.length - own.length} other jobs`));
    return [...keys, h("span", {}, swatch(jobColour(NO_JOB)), "no job")];
  }
  const ramp = h(
    "span",
    { class: "ramp" },
    ...Array.from({ length: 24 }, (_, step) => swatch(loadColour(step / 23) ?? "")),
  );
  const ends: Record<Exclude<By, "job">, [string, string]> = {
    busy: ["idle", `busy ${percent(tops.busy)}`],
    busiest: ["idle", `busy ${percent(tops.busiest)}`],
    queue: ["none", `${count(Math.ceil(tops.queue))} packets`],
    stalled: ["no waiting", time(tops.stalled)],
    traffic: ["none", "the group with most"],
  };
  return [h("span", {}, ends[by][0]), ramp, h("span", {}, ends[by][1])];
}

function swatch(colour: string): HTMLElement {
  const made = h("i", { class: "swatch" });
  made.style.background = colour;
  return made;
}

function find(layout: Layout, text: string): Spot | undefined {
  const found = /^\s*(group|router|node)\s*(\d+)\s*$/i.exec(text);
  if (!found) return undefined;
  const level = found[1]!.toLowerCase() as Spot["level"];
  const id = Number(found[2]);
  const index =
    level === "group"
      ? layout.groups[id]
        ? id
        : undefined
      : (level === "router" ? layout.rowOfRouter : layout.rowOfNode).get(id);
  return index === undefined ? undefined : { level, index };
}
