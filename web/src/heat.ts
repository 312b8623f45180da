// A matrix of loads as a heat map.

import { css, loadColour, themed } from "./colours";
import { h } from "./dom";

export interface HeatOptions {
  label: string;
  size: number;
  /** From 0 to 1 for the colour; NaN: there is nothing. */
  shade: (row: number, column: number) => number;
  /** What is told of a cell. */
  told: (row: number, column: number) => string;
  rows: string;
  columns: string;
  chosen?: (row: number, column: number) => void;
}

const MARGIN = 34;

export interface Heat {
  element: HTMLElement;
  draw: () => void;
}

/** A square heat map: hovering, or the arrow keys, tell of a cell below it. */
export function heatMap(options: HeatOptions): Heat {
  const canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": options.label, class: "heat" });
  const told = h("p", { class: "told", "aria-live": "polite" }, "Point at a cell, or move with the arrow keys.");
  let at: [number, number] | undefined;

  const cell = () => (canvas.clientWidth - MARGIN) / options.size;
  const draw = () => {
    const wide = canvas.clientWidth;
    const ratio = devicePixelRatio || 1;
    if (wide === 0) return;
    canvas.width = canvas.height = Math.round(wide * ratio);
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    const size = cell();
    const gap = size > 6 ? 1 : 0;
    for (let row = 0; row < options.size; row++) {
      for (let column = 0; column < options.size; column++) {
        pen.fillStyle = loadColour(options.shade(row, column)) ?? css("nothing");
        pen.fillRect(MARGIN + column * size, row * size, size - gap, size - gap);
      }
    }
    pen.fillStyle = css("ink");
    pen.font = "11px system-ui, sans-serif";
    const step = Math.max(1, Math.ceil(24 / size));
    for (let number = 0; number < options.size; number += step) {
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText(String(number), MARGIN - 5, (number + 0.5) * size);
      pen.textAlign = "center";
      pen.textBaseline = "top";
      pen.fillText(String(number), MARGIN + (number + 0.5) * size, options.size * size + 4);
    }
    pen.textAlign = "center";
    pen.fillText(options.columns, MARGIN + (wide - MARGIN) / 2, options.size * size + 19);
    pen.save();
    pen.translate(2, (options.size * size) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(options.rows, 0, 0);
    pen.restore();
    if (at) {
      pen.strokeStyle = css("mark");
      pen.lineWidth = 2;
      pen.strokeRect(MARGIN + at[1] * size, at[0] * size, size - gap, size - gap);
    }
  };
  const move = (row: number, column: number) => {
    const inside = (number: number) => number >= 0 && number < options.size;
    if (!inside(row) || !inside(column)) return;
    if (at && at[0] === row && at[1] === column) return;
    at = [row, column];
    told.textContent = options.told(row, column);
    draw();
  };
  const pointed = (event: MouseEvent): [number, number] => [
    Math.floor(event.offsetY / cell()),
    Math.floor((event.offsetX - MARGIN) / cell()),
  ];
  canvas.addEventListener("mousemove", (event) => move(...pointed(event)));
  canvas.addEventListener("click", (event) => options.chosen?.(...pointed(event)));
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
  return { element: h("div", {}, canvas, told), draw };
}
