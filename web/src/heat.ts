// A matrix of numbers as a heat map.

import { css, loadColour, themed } from "./colours";
import { h } from "./dom";

export interface HeatOptions {
  label: string;
  rowNames: string[];
  columnNames: string[];
  /** From 0 to 1 for the colour; NaN: there is nothing. */
  shade: (row: number, column: number) => number;
  /** What is told of a cell. */
  told: (row: number, column: number) => string;
  rows: string;
  columns: string;
  /** What the lightest and the darkest colour mean, by day. */
  ends: () => [string, string] | undefined;
  chosen?: (row: number, column: number) => void;
}

/** Pixels: the greatest height of a cell, and the longest name beside a row. */
const TALLEST = 52;
const LONGEST = 130;
/** Room above the first row, for its name. */
const ABOVE = 6;
const FONT = "11px system-ui, sans-serif";

export interface Heat {
  element: HTMLElement;
  draw: () => void;
}

/** A heat map: hovering, or the arrow keys, tell of a cell below it. */
export function heatMap(options: HeatOptions): Heat {
  const canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": options.label, class: "heat" });
  const told = h("p", { class: "told", "aria-live": "polite" }, "Point at a cell, or move with the arrow keys.");
  const [high, across] = [options.rowNames.length, options.columnNames.length];
  let at: [number, number] | undefined;
  let left = 34;
  let cell = { wide: 1, high: 1 };

  const scale = h("p", { class: "scale" });
  const draw = () => {
    const ends = options.ends();
    scale.replaceChildren(...(ends ? [ends[0], gradient(), ends[1]] : []));
    const wide = canvas.clientWidth;
    const pen = canvas.getContext("2d");
    if (!pen || wide === 0) return;
    pen.font = FONT;
    const widths = (names: string[]) => names.reduce((most, name) => Math.max(most, pen.measureText(name).width), 0);
    left = Math.min(widths(options.rowNames), LONGEST) + 24;
    cell = { wide: (wide - left) / across, high: Math.min((wide - left) / across, TALLEST) };
    const turned = widths(options.columnNames) > cell.wide * Math.ceil(24 / cell.wide);
    const below = turned ? 74 : 36;
    const ratio = devicePixelRatio || 1;
    const tall = cell.high * high + below;
    const whole = tall + ABOVE;
    canvas.style.height = `${whole}px`;
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(whole * ratio);
    pen.scale(ratio, ratio);
    pen.translate(0, ABOVE);
    const gap = Math.min(cell.wide, cell.high) > 6 ? 1 : 0;
    for (let row = 0; row < high; row++) {
      for (let column = 0; column < across; column++) {
        pen.fillStyle = loadColour(options.shade(row, column)) ?? css("nothing");
        pen.fillRect(left + column * cell.wide, row * cell.high, cell.wide - gap, cell.high - gap);
      }
    }
    pen.fillStyle = css("ink");
    pen.font = FONT;
    pen.textBaseline = "middle";
    for (let row = 0; row < high; row += Math.max(1, Math.ceil(14 / cell.high))) {
      pen.textAlign = "right";
      pen.fillText(options.rowNames[row]!, left - 5, (row + 0.5) * cell.high, LONGEST);
    }
    for (let column = 0; column < across; column += Math.max(1, Math.ceil(24 / cell.wide))) {
      pen.save();
      pen.translate(left + (column + 0.5) * cell.wide, high * cell.high + 10);
      if (turned) pen.rotate(-0.5);
      pen.textAlign = turned ? "right" : "center";
      pen.fillText(options.columnNames[column]!, 0, 0, LONGEST);
      pen.restore();
    }
    pen.textAlign = "center";
    pen.fillText(options.columns, left + (wide - left) / 2, tall - 8);
    pen.save();
    pen.translate(7, (high * cell.high) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(options.rows, 0, 0);
    pen.restore();
    if (at) {
      pen.strokeStyle = css("mark");
      pen.lineWidth = 2;
      pen.strokeRect(left + at[1] * cell.wide, at[0] * cell.high, cell.wide - gap, cell.high - gap);
    }
  };
  const move = (row: number, column: number) => {
    if (row < 0 || row >= high || column < 0 || column >= across) return;
    if (at && at[0] === row && at[1] === column) return;
    at = [row, column];
    told.textContent = options.told(row, column);
    draw();
  };
  const pointed = (event: MouseEvent): [number, number] => [
    Math.floor((event.offsetY - ABOVE) / cell.high),
    Math.floor((event.offsetX - left) / cell.wide),
  ];
  canvas.addEventListener("mousemove", (event) => move(...pointed(event)));
  canvas.addEventListener("click", (event) => {
    const [row, column] = pointed(event);
    if (row >= 0 && row < high && column >= 0 && column < across) options.chosen?.(row, column);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter" && at) options.chosen?.(...at);
    if (!step) return;
    event.preventDefault();
    if (at) move(at[0] + step[0]!, at[1] + step[1]!);
    else move(0, 0);
  });
  themed(draw);
  new ResizeObserver(draw).observe(canvas);
  return { element: h("div", {}, canvas, scale, told), draw };
}

/** A bar of all colours of loads, from the least to the greatest. */
function gradient(): HTMLElement {
  const bar = h("i", { class: "gradient", "aria-label": "colour scale" });
  const colours = Array.from({ length: 9 }, (_, at) => loadColour(at / 8) ?? "");
  bar.style.background = `linear-gradient(to right, ${colours.join(", ")})`;
  return bar;
}
