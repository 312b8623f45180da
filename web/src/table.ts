// Tables that a reader can sort and save.

import { type Cell, csvButton } from "./csv";
import { h, name, visible } from "./dom";

export interface Column<Row> {
  title: string;
  /** Its name in a saved file, if that is another. */
  key?: string;
  /** The value that is sorted and saved. */
  value: (row: Row) => Cell;
  /** How it is shown; otherwise as it is. */
  show?: (row: Row) => string | Node;
  /** What it means, as a hint. */
  hint?: string | undefined;
  /** The head of the row. */
  head?: boolean;
  tone?: (row: Row) => string | undefined;
}

export interface TableOptions<Row> {
  caption: string;
  file: string;
  columns: Column<Row>[];
  rows: Row[];
  /** Rows that are drawn at most. */
  shown?: number;
  /** Called when a row is chosen. */
  chosen?: (row: Row) => void;
  empty?: string;
}

/** Characters of a text from which it is broken into lines. */
const LONG = 36;

/** A table with its caption, headings that sort it, and a button that saves it. */
export function table<Row>(options: TableOptions<Row>): HTMLElement {
  const { columns } = options;
  const body = h("tbody");
  let rows = options.rows;
  let sorted = -1;
  let descending = false;

  const fill = () => body.replaceChildren(...rows.slice(0, options.shown).map((row) => rowOf(row, options)));
  const heads = columns.map((column, index) => {
    const control = h(
      "button",
      { type: "button", title: column.hint, onclick: () => sort(index) },
      visible(column.title),
    );
    return h("th", { scope: "col", class: column.head || isText(options.rows, column) ? "text" : null }, control);
  });
  const sort = (index: number) => {
    descending = index === sorted ? !descending : false;
    sorted = index;
    rows = [...options.rows].sort((one, other) => compare(columns[index]!.value(one), columns[index]!.value(other)));
    if (descending) rows.reverse();
    heads.forEach((head, at) => {
      if (at === index) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    fill();
  };
  fill();
  const save = csvButton(
    options.file,
    columns.map((column) => column.key ?? column.title),
    () => options.rows.map((row) => columns.map((column) => column.value(row))),
  );
  return h(
    "div",
    { class: "table" },
    h("div", { class: "bar" }, h("h3", {}, options.caption), save),
    options.rows.length === 0
      ? h("p", { class: "empty" }, options.empty ?? "There is nothing to list.")
      : h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": options.caption },
          h(
            "table",
            {},
            h("caption", { class: "hidden" }, options.caption),
            h("thead", {}, h("tr", {}, ...heads)),
            body,
          ),
        ),
  );
}

function rowOf<Row>(row: Row, options: TableOptions<Row>): HTMLTableRowElement {
  const cells = options.columns.map((column) => {
    const value = column.value(row);
    const shown = column.show ? column.show(row) : typeof value === "string" ? name(value) : String(value ?? "-");
    const tone = column.tone?.(row);
    const long = typeof value === "string" && value.length > LONG;
    const kind =
      [typeof value === "string" ? "text" : "", long ? "long" : "", tone ?? ""].filter(Boolean).join(" ") || null;
    return column.head
      ? h("th", { scope: "row", class: kind }, shown)
      : h("td", { class: kind, "data-value": value === null || value === undefined ? "" : String(value) }, shown);
  });
  const { chosen } = options;
  if (!chosen) return h("tr", {}, ...cells);
  const choose = () => chosen(row);
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Enter") choose();
  };
  return h("tr", { class: "chosen", tabindex: "0", onclick: choose, onkeydown: pressed }, ...cells);
}

function isText<Row>(rows: Row[], column: Column<Row>): boolean {
  return rows.length > 0 && typeof column.value(rows[0]!) === "string";
}

function compare(one: Cell, other: Cell): number {
  if (one === null || one === undefined) return 1;
  if (other === null || other === undefined) return -1;
  if (typeof one === "string" || typeof other === "string") return String(one).localeCompare(String(other), "en");
  return Number(one) - Number(other);
}
