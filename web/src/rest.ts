// The sections of routes, of the busiest links, and of what was assumed.

import { jobColour } from "./colours";
import { save, tableButton } from "./csv";
import { linkTable } from "./details";
import { numberOf, type RunData } from "./document";
import { button, figure, h, name, prose, visible } from "./dom";
import { bandwidth, bytes, count, digits, percent, time, timeUnit } from "./format";
import { lineChart } from "./lines";
import { folded, front, many, others, othersOf } from "./ranking";
import { table } from "./table";
import { FEW } from "./times";
import type { Window } from "./window";

export function routesSection(run: RunData, window: Window): HTMLElement {
  const { classes } = run.machine;
  const byClass = run.jobs.some((job) => job.class_bytes.length > 0);
  const bars = h("div", { class: "shares" });
  const rest = h("div", { class: "shares" });
  const scope = h("span", { class: "of-window" });
  const fill = () => {
    const counted = window.range && window.routes(run);
    scope.textContent = counted ? " in the chosen window" : "";
    const bar = (index: number) => {
      const job = run.jobs[index]!;
      const of = counted?.[index];
      const whole = numberOf(job, "minimal_fraction");
      return shareBar(job.name, index, of ? (of.packets > 0 ? of.minimal / of.packets : null) : whole);
    };
    bars.replaceChildren(...front(run).map(bar));
    rest.replaceChildren(...others(run).map(bar));
  };
  window.changed(fill);
  fill();
  return h(
    "div",
    {},
    h("h3", {}, "Packets that took a minimal path", scope),
    bars,
    many(run) ? folded(`Of ${othersOf(run)}`, rest) : null,
    routesOverTime(run, window),
    h(
      "div",
      { class: "grid" },
      table({
        caption: "Traffic by class of link",
        file: `classes-${run.id}`,
        rows: classes.where(() => true),
        columns: [
          { title: "class", value: (row) => classes.text("class", row), head: true },
          {
            title: "links",
            value: (row) => classes.number("links", row),
            show: (row) => count(classes.number("links", row)),
            hint: "directed links that work",
          },
          {
            title: "bandwidth",
            value: (row) => classes.number("bandwidth", row),
            show: (row) => bandwidth(classes.number("bandwidth", row)),
            hint: "of each direction",
          },
          {
            title: "bytes",
            value: (row) => classes.number("bytes", row),
            show: (row) => bytes(classes.number("bytes", row)),
          },
          {
            title: "busy",
            value: (row) => classes.number("busy", row),
            show: (row) => percent(classes.number("busy", row)),
            hint: "mean over the links",
          },
          {
            title: "busiest",
            value: (row) => classes.number("busy_max", row),
            show: (row) => percent(classes.number("busy_max", row)),
          },
          {
            title: "waited",
            value: (row) => classes.number("stalled_ps", row),
            show: (row) => time(classes.number("stalled_ps", row)),
            hint: "time in which packets waited for room in the next buffer, summed over links and channels",
          },
        ],
      }),
      byClass
        ? table({
            caption: "Bytes of each job by class of link",
            file: `bytes-by-class-${run.id}`,
            rows: run.jobs,
            columns: [
              { title: "job", value: (job) => job.name, head: true },
              ...run.link_classes.map((of, index) => ({
                title: of,
                value: (job: RunData["jobs"][number]) => job.class_bytes[index] ?? null,
                show: (job: RunData["jobs"][number]) => bytes(job.class_bytes[index]),
              })),
            ],
          })
        : h(
            "p",
            { class: "empty" },
            "Bytes of each job by class of link are recorded if a job of the run has a program.",
          ),
    ),
  );
}

/** How much of the packets of a job is minimal, as a bar; the rest is not. */
function shareBar(job: string, index: number, minimal: number | null): HTMLElement {
  const told = minimal === null ? "no packets" : `${percent(minimal)} minimal, ${percent(1 - minimal)} not`;
  const bar = h("span", { class: "share", role: "img", "aria-label": `${visible(job)}: ${told}` });
  const part = h("i", {});
  part.style.width = `${100 * (minimal ?? 0)}%`;
  part.style.background = jobColour(index);
  bar.append(part);
  return h("div", { class: "share-row" }, h("span", { class: "share-name" }, name(job)), bar, h("span", {}, told));
}

/** Share of minimal packets by slice of time and job. */
function routesOverTime(run: RunData, window: Window): HTMLElement {
  if (!run.routes)
    return h(
      "p",
      { class: "empty" },
      ...prose("The run has not recorded the paths of packets over time. Set `measure.series = true`."),
    );
  const { rows, width_ps: width } = run.routes;
  const [unit, size] = timeUnit([run.sim_time_ps / 10]);
  const lines = front(run).flatMap((index) => {
    const job = run.jobs[index]!;
    const all = rows.where((row) => rows.number("job", row) === index);
    // Shares of a few packets beside slices of many would be peaks.
    const most = all.reduce((found, row) => Math.max(found, rows.number("packets", row)), 0);
    const of = all.filter((row) => rows.number("packets", row) >= FEW * most);
    if (of.length === 0) return [];
    return {
      label: job.name,
      colour: jobColour(index),
      x: of.map((row) => ((rows.number("slice", row) + 0.5) * width) / size),
      y: of.map((row) => rows.number("minimal", row) / rows.number("packets", row)),
      dots: of.length === 1,
    };
  });
  const chart = lineChart({
    label: "Share of minimal packets over time, by job",
    x: `time (${unit})`,
    y: "minimal",
    lines,
    xText: (value) => `${digits(value)} ${unit}`,
    yText: percent,
    yTick: percent,
    height: 220,
    selected: (range) => window.set(range && [Math.max(0, range[0] * size), range[1] * size]),
  });
  window.changed(() => chart.select(window.range && [window.range[0] / size, window.range[1] / size]));
  return figure(
    "Share of the packets that took a minimal path, by time at which they reach their node",
    chart.element,
    h("div", { class: "bar" }, tableButton(`routes-${run.id}`, rows)),
  );
}

export function hotSection(run: RunData): HTMLElement {
  const { hot_links: links, hot_nics: nics } = run.machine;
  const all = (rows: number) => Array.from({ length: rows }, (_, row) => row);
  return h(
    "div",
    {},
    linkTable(run, "The busiest links between routers", `busiest-links-${run.id}`, links, all(links.rows)),
    linkTable(run, "The busiest links to and from nodes", `busiest-nics-${run.id}`, nics, all(nics.rows), true),
  );
}

export function assumedSection(run: RunData): HTMLElement {
  const assumed = run.sources.filter((source) => source.source.startsWith("assumed")).length;
  return h(
    "div",
    {},
    h(
      "dl",
      { class: "facts" },
      ...run.facts.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, name(value))]),
    ),
    h(
      "p",
      {},
      "This command makes the run again: ",
      h("code", {}, run.command),
      ". ",
      button("Save scenario.toml", () => save("scenario.toml", run.scenario)),
    ),
    h("details", {}, h("summary", {}, "The scenario"), h("pre", { tabindex: "0" }, visible(run.scenario))),
    h(
      "details",
      {},
      h(
        "summary",
        {},
        `Numbers of the machine and their sources (${count(run.sources.length)}, ${count(assumed)} of them assumed)`,
      ),
      table({
        caption: "Sources",
        file: `sources-${run.id}`,
        rows: run.sources,
        columns: [
          { title: "number", value: (row) => row.key, head: true },
          { title: "value", value: (row) => row.value },
          {
            title: "source",
            value: (row) => row.source,
            tone: (row) => (row.source.startsWith("assumed") ? "assumed" : undefined),
          },
        ],
      }),
    ),
    h("details", {}, h("summary", {}, "Jobs as they were resolved"), ...run.jobs.map(jobText)),
    list("What the model leaves out", run.not_modelled),
    run.not_recorded.length > 0 ? list("What was not recorded", run.not_recorded) : null,
    run.left_out.length > 0 ? list("What this report leaves out", run.left_out) : null,
  );
}

function jobText(job: RunData["jobs"][number]): HTMLElement {
  const told = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const facts = Object.entries(job.app ?? {}).map(([key, value]) => `${key} = ${told(value)}`);
  return h(
    "p",
    {},
    h("b", {}, name(job.name)),
    `: ${visible(facts.join(", "))}. `,
    job.placed ? `Placed: ${visible(job.placed)}.` : null,
  );
}

function list(title: string, lines: string[]): HTMLElement {
  return h("div", {}, h("h3", {}, title), h("ul", {}, ...lines.map((text) => h("li", {}, ...prose(text)))));
}
