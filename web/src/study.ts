// The report of a study: its runs by the values of its axes, compared, filtered, and one by one.

import { save } from "./csv";
import { button, choice, figure, h, name, prose, section, visible } from "./dom";
import { count, digits, factor, percent, tick, time } from "./format";
import { heatMap } from "./heat";
import { runsChart } from "./study-chart";
import { type Choice, type Sample, type StudyColumn, StudyData, type StudyReport, summary } from "./study-data";
import { type Column, table } from "./table";

/** Rows of the table of runs that are drawn; the file has all. */
const MOST_ROWS = 500;
const NONE = "";

export function studyReport(report: StudyReport): Node[] {
  const data = new StudyData(report);
  const chosen: Choice = {
    job: report.job,
    column: report.column,
    by: report.by,
    series: report.series ?? NONE,
    other: report.series ?? report.axes.find((axis) => axis.key !== report.by)?.key ?? NONE,
    incomplete: false,
    without: report.axes.map(() => new Set<number>()),
  };
  const place = (key: string) => h("div", { id: `study-${key}` });
  const places = {
    told: place("told"),
    runs: place("runs"),
    pairs: place("pairs"),
    matrix: place("matrix"),
    compared: place("compared"),
    table: place("table"),
    point: place("point"),
  };
  const show = (sample: Sample) => {
    places.point.replaceChildren(pointDetails(data, sample));
    places.point.scrollIntoView({ block: "nearest" });
  };
  const fill = () => {
    const samples = data.samples(chosen);
    places.told.replaceChildren(...told(data, chosen, samples));
    places.runs.replaceChildren(distribution(data, chosen, samples, show));
    places.pairs.replaceChildren(pairs(data, chosen, samples, show));
    places.matrix.replaceChildren(matrix(data, chosen, samples));
    places.compared.replaceChildren(compared(data, chosen));
    places.table.replaceChildren(runsTable(data, chosen, samples, show));
  };
  fill();
  places.point.replaceChildren(h("p", { class: "empty" }, "Choose a run: click its dot or its row."));
  return [
    h("h1", {}, name(report.name)),
    verdict(report),
    h(
      "dl",
      { class: "facts" },
      ...report.facts.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, name(value))]),
    ),
    section("Runs by axis", controls(data, chosen, fill), places.told, places.runs, places.point),
    section("Paired differences", places.pairs),
    section("Comparison", places.compared),
    section("Two axes", places.matrix),
    section("All runs", places.table),
    section("The study", files(report)),
  ];
}

/** What the comparison says that is shown first. */
function verdict(report: StudyReport): HTMLElement {
  const found = report.comparisons.find(
    (one) => one.by === report.by && one.column === report.column && one.job === report.job,
  );
  const [first, ...others] = found?.said ?? [];
  const what = found ? `${found.column} of ${found.job} by ${found.by}: ` : "";
  return h(
    "div",
    { class: "verdict" },
    first ? h("p", { class: "first" }, visible(what + first)) : null,
    ...others.map((text) => h("p", {}, ...prose(text))),
  );
}

function controls(data: StudyData, chosen: Choice, fill: () => void): HTMLElement {
  const { report } = data;
  const axes = report.axes.map((axis): [string, string] => [axis.key, visible(axis.key)]);
  const pick = (label: string, key: "job" | "column" | "by" | "series" | "other", options: [string, string][]) =>
    choice(
      label,
      options,
      (value) => {
        chosen[key] = value;
        fill();
      },
      chosen[key],
    );
  const incomplete = h("input", { type: "checkbox" });
  incomplete.addEventListener("change", () => {
    chosen.incomplete = incomplete.checked;
    fill();
  });
  const filters = report.axes.flatMap((axis, index) => {
    if (axis.values.length < 2) return [];
    const boxes = axis.values.map((value, place) => {
      const box = h("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        if (box.checked) chosen.without[index]!.delete(place);
        else chosen.without[index]!.add(place);
        fill();
      });
      return h("label", { class: "filter" }, box, " ", name(value));
    });
    return h("fieldset", {}, h("legend", {}, name(axis.key)), ...boxes);
  });
  return h(
    "div",
    {},
    h(
      "div",
      { class: "controls" },
      pick(
        "Number",
        "column",
        report.columns.map((column) => [column.name, column.name]),
      ),
      pick(
        "Job",
        "job",
        data.jobs.map((job) => [job, visible(job)]),
      ),
      pick("By", "by", axes),
      pick("Colours", "series", [[NONE, "none"], ...axes]),
      pick("Second axis of the matrix", "other", axes),
      h("label", {}, incomplete, " also runs that are cut off"),
    ),
    h("details", { class: "filters" }, h("summary", {}, "Filters: values of the axes that count"), ...filters),
  );
}

function told(data: StudyData, chosen: Choice, samples: Sample[]): Node[] {
  const column = data.column(chosen.column);
  const failed = data.report.points.where((row) => data.report.points.text("status", row) === "failed").length;
  const without = data.samples({ ...chosen, incomplete: true }).length - samples.length;
  const notes = [
    `${count(samples.length)} runs`,
    without > 0 ? `${count(without)} that are cut off are left out` : "",
    failed > 0 ? `${count(failed)} points failed` : "",
  ];
  return [
    h("p", { class: "told" }, `${chosen.column}: ${column?.meaning ?? ""}. ${notes.filter(Boolean).join("; ")}.`),
  ];
}

/** How a number of this column is told. */
function teller(column: StudyColumn | undefined): (value: number) => string {
  if (column?.unit === "ps") return time;
  if (column?.name === "minimal_fraction") return percent;
  return digits;
}

function distribution(data: StudyData, chosen: Choice, samples: Sample[], show: (sample: Sample) => void): HTMLElement {
  const by = data.axis(chosen.by);
  const series = chosen.series === chosen.by ? -1 : data.axis(chosen.series);
  const axis = data.report.axes[by]!;
  const tell = teller(data.column(chosen.column));
  const title = `${chosen.column} of ${visible(chosen.job)} by ${visible(chosen.by)}`;
  const chart = runsChart({
    label: title,
    samples,
    by,
    byValues: axis.values,
    positions: axis.positions,
    series,
    seriesValues: data.report.axes[series]?.values ?? [],
    text: tell,
    tick: tell,
    joined: axis.kind !== "name",
    zero: true,
    chosen: show,
  });
  return figure(
    `${title}: each run, quartiles, median, and its 95 % interval (order statistics, from six runs on)`,
    chart,
  );
}

function pairs(data: StudyData, chosen: Choice, samples: Sample[], show: (sample: Sample) => void): HTMLElement {
  const by = data.axis(chosen.by);
  const axis = data.report.axes[by]!;
  const ratios = data.ratios(samples, by);
  if (ratios.length === 0) return h("p", { class: "empty" }, "No two runs differ in this axis only.");
  const first = axis.values[Math.min(...samples.map((sample) => sample.places[by]!))] ?? "";
  const better = data.column(chosen.column)?.more_is_better;
  const way = better === null || better === undefined ? "" : better ? "; above 1 is better" : "; below 1 is better";
  const chart = runsChart({
    label: `Ratios to ${first}`,
    samples: ratios,
    by,
    byValues: axis.values,
    positions: axis.positions,
    series: -1,
    seriesValues: [],
    text: factor,
    tick,
    rule: 1,
    joined: false,
    zero: false,
    chosen: show,
  });
  return figure(
    `${chosen.column} over that of the run with ${visible(first)} that is the same in all other axes${way}`,
    chart,
  );
}

function matrix(data: StudyData, chosen: Choice, samples: Sample[]): HTMLElement {
  const [by, other] = [data.axis(chosen.by), data.axis(chosen.other)];
  if (other < 0 || by === other) return h("p", { class: "empty" }, "Choose two different axes.");
  const [down, across] = [data.report.axes[other]!, data.report.axes[by]!];
  const cells = new Map<string, number[]>();
  for (const sample of samples) {
    const key = `${sample.places[other]} ${sample.places[by]}`;
    const found = cells.get(key);
    if (found) found.push(sample.value);
    else cells.set(key, [sample.value]);
  }
  const medians = new Map([...cells].map(([key, values]) => [key, summary(values)]));
  const all = [...medians.values()].map((found) => found.median);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const tell = teller(data.column(chosen.column));
  const heat = heatMap({
    label: `Median of ${chosen.column} by ${chosen.other} and ${chosen.by}`,
    rows: visible(chosen.other),
    columns: visible(chosen.by),
    rowNames: down.values.map(visible),
    columnNames: across.values.map(visible),
    shade: (row, column) => {
      const found = medians.get(`${row} ${column}`);
      return found ? (high > low ? (found.median - low) / (high - low) : 0.5) : Number.NaN;
    },
    told: (row, column) => {
      const found = medians.get(`${row} ${column}`);
      const at = `${visible(down.values[row] ?? "")}, ${visible(across.values[column] ?? "")}`;
      return found
        ? `${at}: median ${tell(found.median)} of ${count(found.n)} runs, quartiles ${tell(found.q25)} and ${tell(found.q75)}.`
        : `${at}: no run.`;
    },
    ends: () => (high > low ? [tell(low), tell(high)] : undefined),
  });
  return figure(`Median of ${chosen.column}`, heat.element);
}

function compared(data: StudyData, chosen: Choice): HTMLElement {
  const found = data.report.comparisons.find(
    (one) => one.by === chosen.by && one.column === chosen.column && one.job === chosen.job,
  );
  if (!found) {
    const command = `odonata compare STUDY --by '${chosen.by}' --value ${chosen.column} --job ${chosen.job}`;
    return h(
      "p",
      { class: "empty" },
      "This comparison is not in the report. This command makes it: ",
      h("code", {}, visible(command)),
    );
  }
  const tell = teller(data.column(chosen.column));
  const maybe = (value: number | null, show = tell) => (value === null ? "-" : show(value));
  const between = (range: [number, number] | null, show = tell) =>
    range ? `${show(range[0])} to ${show(range[1])}` : "-";
  type Row = (typeof found.rows)[number];
  const number = (
    title: string,
    value: (row: Row) => number | null,
    show?: (value: number) => string,
  ): Column<Row> => ({
    title,
    value,
    show: (row) => maybe(value(row), show ?? tell),
  });
  const ratio = (value: number) => value.toFixed(3);
  return h(
    "div",
    {},
    table({
      caption: `${found.column} of ${visible(found.job)} by ${visible(found.by)}, against ${visible(found.baseline)}`,
      file: `comparison-${found.by}`,
      rows: found.rows,
      columns: [
        { title: found.by, value: (row) => row.value, head: true },
        number("n", (row) => row.n, count),
        number("p50", (row) => row.median),
        number("p25", (row) => row.q25),
        number("p75", (row) => row.q75),
        { title: "95 % interval", value: (row) => between(row.interval) },
        number("ratio", (row) => row.ratio, ratio),
        { title: "95 % interval of it", value: (row) => between(row.ratio_interval, ratio) },
        number("pairs", (row) => row.pairs, count),
        number("better", (row) => row.better, count),
        number("worse", (row) => row.worse, count),
        number(
          "p",
          (row) => row.p,
          (value) => value.toPrecision(2),
        ),
      ],
    }),
    ...found.said.map((text) => h("p", {}, ...prose(text))),
    h(
      "p",
      { class: "told" },
      "Of all runs of the study: filters do not change this table. Bootstrap intervals; p of Wilcoxon's signed-rank test.",
    ),
  );
}

function runsTable(data: StudyData, chosen: Choice, samples: Sample[], show: (sample: Sample) => void): HTMLElement {
  const { report } = data;
  const tell = teller(data.column(chosen.column));
  const value = (sample: Sample, axis: number) => report.axes[axis]!.values[sample.places[axis]!] ?? "";
  const failed = report.points.where((row) => report.points.text("status", row) === "failed");
  return h(
    "div",
    {},
    table({
      caption: samples.length > MOST_ROWS ? `Runs (the first ${MOST_ROWS}; the file has all)` : "Runs",
      file: `runs-${chosen.job}`,
      rows: samples,
      shown: MOST_ROWS,
      chosen: show,
      columns: [
        { title: "point", value: (sample) => sample.point, head: true },
        ...report.axes.map((axis, index) => ({ title: axis.key, value: (sample: Sample) => value(sample, index) })),
        { title: chosen.column, value: (sample) => sample.value, show: (sample) => tell(sample.value) },
      ],
    }),
    failed.length > 0
      ? table({
          caption: "Points that failed",
          file: "failed",
          rows: failed,
          columns: [
            { title: "point", value: (row) => report.points.number("point", row), head: true },
            { title: "error", value: (row) => report.points.text("error", row) },
          ],
        })
      : null,
  );
}

/** What a run is: its values, its command, and all its numbers. */
function pointDetails(data: StudyData, sample: Sample): HTMLElement {
  const { report } = data;
  const values = report.axes.map((axis, index) => [axis.key, axis.values[sample.places[index]!] ?? ""] as const);
  const row = report.points.where((at) => report.points.number("point", at) === sample.point)[0] ?? -1;
  const sets = values.map(([key, value]) => `-s ${quoted(`${key}=${value}`)}`).join(" ");
  const made = report.scenario.trimStart().startsWith("#") && !report.scenario.includes("[[job]]");
  return h(
    "div",
    { class: "details" },
    h("h3", {}, `point ${sample.point}`),
    h(
      "dl",
      {},
      ...values.flatMap(([key, value]) => [h("dt", {}, name(key)), h("dd", { "data-fact": key }, name(value))]),
      h("dt", {}, "run"),
      h("dd", {}, report.points.text("id", row)),
    ),
    made
      ? null
      : h(
          "p",
          {},
          "Its scenario: ",
          h("code", {}, visible(`odonata run scenario.toml ${sets}`)),
          " ",
          button("Save scenario.toml", () => save("scenario.toml", report.scenario)),
        ),
    table({
      caption: "All numbers of this run",
      file: `point-${sample.point}`,
      rows: report.columns,
      columns: [
        { title: "number", value: (column) => column.name, head: true },
        {
          title: "value",
          value: (column) => report.jobs.value(column.name, sample.row),
          show: (column) => {
            const value = report.jobs.number(column.name, sample.row);
            return Number.isNaN(value) ? "-" : teller(column)(value);
          },
        },
        { title: "meaning", value: (column) => column.meaning },
      ],
    }),
  );
}

/** An argument as a shell takes it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

function files(report: StudyReport): HTMLElement {
  const text = (title: string, file: string, content: string) =>
    content
      ? h(
          "details",
          {},
          h("summary", {}, title),
          button(`Save ${file}`, () => save(file, content)),
          h("pre", { tabindex: "0" }, visible(content)),
        )
      : null;
  const list = (title: string, lines: string[]) =>
    lines.length > 0
      ? h("div", {}, h("h3", {}, title), h("ul", {}, ...lines.map((line) => h("li", {}, visible(line)))))
      : null;
  return h(
    "div",
    {},
    text("The study", "study.toml", report.study),
    text("The scenario that its axes change", "scenario.toml", report.scenario),
    list("What the model leaves out", report.not_modelled),
    list("What this report leaves out", report.left_out),
  );
}
