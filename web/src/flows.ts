// Flow completion times by size, of jobs that send lists of flows, as `odonata run` prints them.

import type { FlowBin, RunData } from "./document";
import { h } from "./dom";
import { bytes, count, factor, time } from "./format";
import { type Column, table } from "./table";

interface Row {
  of: string;
  job: string;
  bin: FlowBin;
  whole: boolean;
}

const SHOWN = ["p50", "p95", "p99", "mean"] as const;

/** Nothing if no job of the runs sends a list of flows. */
export function flowsTable(runs: RunData[], label: (run: number) => string): HTMLElement | null {
  const rows: Row[] = runs.flatMap((run, at) =>
    run.flows.flatMap(({ job, by_size }) =>
      by_size.map((bin, index) => ({
        of: label(at),
        job,
        bin,
        whole: by_size.length > 1 && index === by_size.length - 1,
      })),
    ),
  );
  if (rows.length === 0) return null;
  const columns: Column<Row>[] = [];
  if (runs.length > 1) columns.push({ title: "run", value: (row) => row.of });
  columns.push(
    { title: "job", value: (row) => row.job, head: true },
    { title: "size up to", key: "bytes_most", value: (row) => row.bin.bytes_most, show: size },
    { title: "flows", value: (row) => row.bin.flows, show: (row) => count(row.bin.flows) },
  );
  for (const key of SHOWN)
    columns.push({
      title: `FCT ${key}`,
      key: `fct_${key}_ps`,
      value: (row) => row.bin.fct_ps[key],
      show: (row) => time(row.bin.fct_ps[key]),
    });
  if (rows.some((row) => row.bin.slowdown))
    for (const key of SHOWN)
      columns.push({
        title: `slowdown ${key}`,
        key: `slowdown_${key}`,
        hint: "over the ideal: the time of the flow alone on the idle machine",
        value: (row) => row.bin.slowdown?.[key] ?? null,
        show: (row) => factor(row.bin.slowdown?.[key] ?? null),
      });
  return h("div", {}, table({ caption: "Flow completion times (FCT) by size", file: "flows", columns, rows }));
}

function size(row: Row): string {
  return row.whole ? "all" : bytes(row.bin.bytes_most);
}
