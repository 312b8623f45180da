// The section of who makes whom wait.

import type { RunData } from "./document";
import { h, name, prose } from "./dom";
import { count, percent, time } from "./format";
import { folded, many } from "./ranking";
import { table } from "./table";

type Blame = NonNullable<RunData["blame"]>;
type Cause = Blame["causes"][number];
type Place = Blame["places"][number];

export function blameSection(run: RunData): HTMLElement {
  const { blame } = run;
  if (!blame) {
    return h(
      "p",
      { class: "empty" },
      ...prose("The run has not recorded who makes whom wait. Set `measure.blame = true`, or use `odonata explain`."),
    );
  }
  const job = (cause: { cause: string; victim: string }) =>
    cause.cause === cause.victim ? "itself" : name(cause.cause);
  const tables = h(
    "div",
    { class: "grid" },
    table<Cause>({
      caption: "Waiting by victim and cause",
      file: `blame-${run.id}`,
      rows: blame.causes,
      empty: "No packet waited.",
      columns: [
        { title: "job", value: (row) => row.victim, head: true },
        { title: "waits for", value: (row) => row.cause, show: job },
        {
          title: "share",
          value: (row) => row.share,
          show: (row) => percent(row.share),
          hint: "of the job's waiting",
        },
        { title: "time", value: (row) => row.ps, show: (row) => time(row.ps), hint: "of all its packets together" },
        ...blame.classes.map((of) => ({
          title: of,
          value: (row: Cause) => row.by_class[of] ?? 0,
          show: (row: Cause) => time(row.by_class[of] ?? 0),
          hint: `at links of class ${of}`,
        })),
      ],
    }),
    table<Place>({
      caption: "Where they wait most",
      file: `blame-places-${run.id}`,
      rows: blame.places,
      empty: "No packet waited.",
      columns: [
        { title: "job", value: (row) => row.victim, head: true },
        { title: "waits for", value: (row) => row.cause, show: job },
        { title: "class", value: (row) => row.class },
        { title: "where", value: (row) => row.where },
        {
          title: "share",
          value: (row) => row.share,
          show: (row) => percent(row.share),
          hint: "of the job's waiting",
        },
        { title: "links", value: (row) => row.links, show: (row) => count(row.links) },
        { title: "worst link", value: (row) => row.worst },
      ],
    }),
  );
  return h(
    "div",
    {},
    h("ul", {}, ...blame.sentences.map((text) => h("li", {}, ...prose(text)))),
    many(run) ? folded("Waiting by job and cause, and where", tables) : tables,
  );
}
