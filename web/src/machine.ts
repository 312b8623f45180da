// The section of the machine: its drawing, what is chosen in it, and the matrix of its groups.

import { jobColour, loadColour, othersColour, themed } from "./colours";
import { Details } from "./details";
import { NO_JOB, type RunData } from "./document";
import { choice, figure, h, name } from "./dom";
import { bytes, count, digits, percent, time } from "./format";
import { heatMap } from "./heat";
import { Layout, type Spot } from "./layout";
import { type By, Paint, type Tops, topsOf } from "./load";
import { front, others, othersOf } from "./ranking";
import { type PairLoads, seriesOf } from "./series";
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
  const word = runs[0]!.machine.group_name;
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
    ).map(([key, told]): [string, string] => [key, told.replace("groups", `${word}s`)]),
    (value) => {
      for (const one of panels) one.paint.by = value as By;
      describe();
      repaint();
    },
  );
  const describe = () => {
    panels.forEach((one, index) => {
      one.legend.replaceChildren(
        ...keyOf(one.paint, runs[index]!, tops, (job) => highlight(one, runs[index]!, job)),
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
    `Links between ${word}s`,
    [
      ["none", "none"],
      ["busiest", `the ${ARCS} busiest pairs`],
      ["chosen", `of the chosen ${word}`],
    ],
    (value) => {
      for (const one of panels) one.state.arcs = value;
      repaint();
    },
  );
  const go = h("input", {
    type: "text",
    placeholder: `${word} 3, router 12, node 77`,
    "aria-label": "Go to",
    size: 22,
  });
  const form = h("form", { class: "go" }, h("label", {}, "Go to ", go), h("button", { type: "submit" }, "Go"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const spots = panels.map((one) => find(one.layout, go.value));
    go.setCustomValidity(spots.some((spot) => spot) ? "" : `There is no such ${word}, router or node.`);
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
  // Jobs do not move: what is played is the load, or the traffic if the run has no loads over time.
  window.whenPlayed(() => {
    const select = by.querySelector("select")!;
    const moving = runs.some(seriesOf) ? "busy" : runs.some((run) => run.traffic) ? "traffic" : undefined;
    if (select.value !== "job" || !moving) return;
    select.value = moving;
    select.dispatchEvent(new Event("change"));
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
    word: run.machine.group_name,
    layout,
    paint,
    told: (spot) => details.line(spot),
    chosen: (spot) => {
      chosen = spot;
      details.show(spot);
    },
    arcs: () => arcsOf(run, tops, state.arcs, chosen && layout.groupOf(chosen), pairs),
  });
  // Loads of pairs of groups in the chosen window, if there is a window and the run has recorded them.
  let pairs: PairLoads | undefined;
  const heat = matrix(
    run,
    tops,
    () => pairs,
    (group) => view.choose({ level: "group", index: group }),
  );
  window.changed(() => {
    pairs = window.range && seriesOf(run)?.pairs(window.range);
    details.show(chosen);
    heat.draw();
  });
  const shape = `${count(run.machine.groups)} ${run.machine.group_name}s, ${count(run.machine.routers.rows)} routers, ${count(run.machine.nodes.rows)} nodes`;
  const element = h(
    "div",
    { class: "machine-panel" },
    legend,
    figure(`${label ? `${label}: ` : ""}${shape}`, view.element),
    h("div", { class: "beside" }, details.element, heat.element),
  );
  return { element, view, paint, layout, legend, state };
}

/** The links from each group to each other: of the chosen window, as far as the run has recorded it. */
function matrix(
  run: RunData,
  tops: Tops,
  inWindow: () => PairLoads | undefined,
  chosen: (group: number) => void,
): { element: HTMLElement; draw: () => void } {
  const { pairs, groups, group_name: word } = run.machine;
  if (pairs.rows === 0)
    return { element: h("p", { class: "empty" }, `There are no links between ${word}s.`), draw: () => {} };
  const Word = word.charAt(0).toUpperCase() + word.slice(1);
  const rowOf = new Map<number, number>();
  for (let row = 0; row < pairs.rows; row++) {
    rowOf.set(pairs.number("from_group", row) * groups + pairs.number("to_group", row), row);
  }
  const whole = seriesOf(run)?.pairs(undefined);
  let column: keyof Tops["pairs"] = "busy";
  const value = (row: number) => {
    if (column === "queue") return (inWindow() ?? whole)?.queue[row] ?? Number.NaN;
    const loads = column === "busy" || column === "busy_max" ? inWindow()?.[column] : undefined;
    return loads ? loads[row]! : pairs.number(column, row);
  };
  const top = () => (inWindow() && (column === "busy" || column === "busy_max") ? 1 : tops.pairs[column]);
  const heat = heatMap({
    label: `Load of the links from each ${word} to each other ${word}`,
    rowNames: Array.from({ length: groups }, (_, group) => String(group)),
    columnNames: Array.from({ length: groups }, (_, group) => String(group)),
    rows: `from ${word}`,
    columns: `to ${word}`,
    shade: (from, to) => {
      const row = rowOf.get(from * groups + to);
      return row === undefined ? Number.NaN : value(row) / top();
    },
    told: (from, to) => {
      const row = rowOf.get(from * groups + to);
      if (row === undefined) return `${Word} ${from} to ${word} ${to}: no links.`;
      const number = (name: string) => pairs.number(name, row);
      const now = inWindow();
      const waiting = (now ?? whole)?.queue[row];
      const queue = waiting === undefined ? "" : `, ${waiting.toFixed(2)} packets waiting on average`;
      const loads = (busy: number, most: number) => `busy ${percent(busy)} on average and ${percent(most)} at most`;
      const rest = `${bytes(number("bytes"))}, packets waited ${time(number("stalled_ps"))}`;
      const links = `${Word} ${from} to ${word} ${to}: ${count(number("links"))} links`;
      if (!now) return `${links}, ${loads(number("busy"), number("busy_max"))}${queue}, ${rest}.`;
      return `${links}, in the chosen window ${loads(now.busy[row]!, now.busy_max[row]!)}${queue}; in the whole run ${rest}.`;
    },
    ends: () => {
      const tell = { busy: percent, busy_max: percent, queue: digits, bytes, stalled_ps: time }[column];
      return top() > 0 ? [tell(0), tell(top())] : undefined;
    },
    chosen,
  });
  const scope = h("span", { class: "of-window" });
  const by = choice(
    "Shade by",
    [
      ["busy", "mean load"],
      ["busy_max", "busiest link"],
      ...(whole ? [["queue", "packets waiting"] as [string, string]] : []),
      ["bytes", "bytes"],
      ["stalled_ps", "waiting for room"],
    ],
    (chosenColumn) => {
      column = chosenColumn as keyof Tops["pairs"];
      draw();
    },
  );
  const draw = () => {
    const follows = column !== "bytes" && column !== "stalled_ps";
    scope.textContent = inWindow() ? (follows ? " in the chosen window" : " in the whole run") : "";
    heat.draw();
  };
  return { element: figure(`Links from ${word} to ${word}`, by, scope, heat.element), draw };
}

function arcsOf(
  run: RunData,
  tops: Tops,
  which: string,
  group: number | undefined,
  inWindow: PairLoads | undefined,
): [number, number, number][] {
  const { pairs } = run.machine;
  if (which === "none" || (which === "chosen" && group === undefined)) return [];
  const ends = (row: number) => [pairs.number("from_group", row), pairs.number("to_group", row)] as const;
  const busy = (row: number) => (inWindow ? inWindow.busy[row]! : pairs.number("busy", row));
  const rows = pairs.where((row) => busy(row) > 0 && (which === "busiest" || ends(row).includes(group!)));
  rows.sort((one, other) => busy(other) - busy(one));
  return rows
    .slice(0, which === "busiest" ? ARCS : 2 * run.machine.groups)
    .map((row) => [...ends(row), busy(row) / (inWindow ? 1 : tops.pairs.busy)]);
}

function keyOf(paint: Paint, run: RunData, tops: Tops, highlight: (job: number) => void): Node[] {
  const by = paint.by;
  if (by === "job") {
    const keys: Node[] = front(run).map((index) => {
      const press = h("button", { type: "button", title: "Show only this job", onclick: () => highlight(index) });
      press.append(swatch(jobColour(index)), name(run.jobs[index]!.name));
      return press;
    });
    if (others(run).length > 0) keys.push(h("span", {}, swatch(othersColour()), othersOf(run)));
    return [...keys, h("span", {}, swatch(jobColour(NO_JOB)), "no job")];
  }
  const ramp = h(
    "span",
    { class: "ramp" },
    ...Array.from({ length: 24 }, (_, step) => swatch(loadColour(step / 23) ?? "")),
  );
  const ends: Record<Exclude<By, "job">, [string, string]> = {
    busy: ["idle", `busy ${percent(paint.ofWindow ? 1 : tops.busy)}`],
    busiest: ["idle", `busy ${percent(paint.ofWindow ? 1 : tops.busiest)}`],
    queue: ["none", `${count(Math.ceil(tops.queue))} packets`],
    stalled: ["no waiting", time(tops.stalled)],
    traffic: ["none", `the ${run.machine.group_name} with most`],
  };
  return [h("span", {}, ends[by][0]), ramp, h("span", {}, ends[by][1])];
}

function swatch(colour: string): HTMLElement {
  const made = h("i", { class: "swatch" });
  made.style.background = colour;
  return made;
}

function find(layout: Layout, text: string): Spot | undefined {
  const found = /^\s*(group|pod|slice|router|node)\s*(\d+)\s*$/i.exec(text);
  if (!found) return undefined;
  const named = found[1]!.toLowerCase();
  const level: Spot["level"] = named === "router" || named === "node" ? named : "group";
  const id = Number(found[2]);
  const index =
    level === "group"
      ? layout.groups[id]
        ? id
        : undefined
      : (level === "router" ? layout.rowOfRouter : layout.rowOfNode).get(id);
  return index === undefined ? undefined : { level, index };
}
