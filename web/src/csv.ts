// Tables as files that a spreadsheet opens.

import { button } from "./dom";
import type { Table } from "./payload";

export type Cell = string | number | boolean | null | undefined;

/** A line of a file; a text that a spreadsheet would take for a formula stays a text. */
export function line(cells: Cell[]): string {
  return cells.map(field).join(",");
}

function field(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell !== "string") return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A button that saves rows as NAME.csv. They are made when it is pressed. */
export function csvButton(file: string, header: string[], rows: () => Iterable<Cell[]>): HTMLButtonElement {
  return button("CSV", () => save(`${file}.csv`, csv(header, rows())), {
    class: "csv",
    "aria-label": `Download ${file} as CSV`,
  });
}

export function csv(header: string[], rows: Iterable<Cell[]>): string {
  const lines = [line(header)];
  for (const row of rows) lines.push(line(row));
  return `${lines.join("\r\n")}\r\n`;
}

/** The same for a table of the data, with all its columns. */
export function tableButton(file: string, table: Table): HTMLButtonElement {
  return csvButton(file, table.names, function* () {
    for (let row = 0; row < table.rows; row++) yield table.names.map((name) => table.value(name, row));
  });
}

export function save(file: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
