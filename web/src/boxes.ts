// Distributions side by side: whiskers to the least and the greatest, box of the quartiles, line at the median, dot at the mean.

import { h, name, s, visible } from "./dom";
import { shortTime, time } from "./format";

export interface Box {
  label: string;
  colour: string;
  min: number;
  p25: number;
  p50: number;
  p75: number;
  p99?: number | undefined;
  max: number;
  mean: number;
  faint?: boolean | undefined;
}

const ROW = 30;

/** Boxes lie, one row each, on a logarithmic axis of times. */
export function boxChart(label: string, boxes: Box[]): HTMLElement {
  const least = Math.min(...boxes.map((box) => Math.max(box.min, 1)));
  const most = Math.max(...boxes.map((box) => box.max), least * 1.01);
  const [low, high] = [Math.log10(least) - 0.03, Math.log10(most) + 0.03];
  const height = boxes.length * ROW;
  const drawing = s("svg", { class: "boxes", role: "img", "aria-label": label, height: height + 22 });
  const draw = () => {
    const wide = drawing.clientWidth || 640;
    const at = (ps: number) => (wide * (Math.log10(Math.max(ps, 1)) - low)) / (high - low);
    drawing.setAttribute("viewBox", `0 0 ${wide} ${height + 22}`);
    const drawn = boxes.map((box, row) => boxOf(box, row, at, wide));
    drawing.replaceChildren(...axis(low, high, at, height, wide), ...drawn);
  };
  new ResizeObserver(draw).observe(drawing);
  const names = boxes.map((box) => h("div", { class: "box-name", title: visible(box.label) }, name(box.label)));
  return h("div", { class: "box-chart" }, h("div", { class: "box-names" }, ...names), drawing);
}

function axis(low: number, high: number, at: (ps: number) => number, height: number, wide: number): SVGElement[] {
  const marks: number[] = [];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const digit of high - low > 2.5 ? [1] : high - low > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8]) {
      const value = digit * 10 ** power;
      if (Math.log10(value) >= low && Math.log10(value) <= high) marks.push(value);
    }
  }
  let last = -100;
  return marks.map((mark) => {
    const x = at(mark);
    const text = x - last > 58 && x < wide - 26 ? shortTime(mark) : "";
    if (text) last = x;
    return s(
      "g",
      {},
      s("line", { x1: x, x2: x, y1: 0, y2: height, class: "rule" }),
      text ? s("text", { x, y: height + 16, "text-anchor": "middle" }, text) : null,
    );
  });
}

function boxOf(box: Box, row: number, at: (ps: number) => number, wide: number): SVGElement {
  const middle = row * ROW + ROW / 2;
  const told =
    `${visible(box.label)}: least ${time(box.min)}, quartiles ${time(box.p25)}, ${time(box.p50)}, ${time(box.p75)}, ` +
    `${box.p99 === undefined ? "" : `99 % within ${time(box.p99)}, `}greatest ${time(box.max)}, mean ${time(box.mean)}`;
  const vertical = (ps: number, half: number) =>
    s("line", { x1: at(ps), x2: at(ps), y1: middle - half, y2: middle + half, class: "whisker" });
  return s(
    "g",
    { class: box.faint ? "box faint" : "box", "data-median": box.p50 },
    s("title", {}, told),
    s("line", { x1: at(box.min), x2: at(box.max), y1: middle, y2: middle, class: "whisker" }),
    vertical(box.min, 5),
    vertical(box.max, 5),
    s("rect", {
      x: at(box.p25),
      y: middle - 9,
      width: Math.max(at(box.p75) - at(box.p25), 1),
      height: 18,
      fill: box.colour,
      "fill-opacity": box.faint ? 0.3 : 0.75,
      stroke: box.colour,
    }),
    s("line", { x1: at(box.p50), x2: at(box.p50), y1: middle - 9, y2: middle + 9, class: "median" }),
    box.p99 === undefined
      ? null
      : s("path", { d: `M${at(box.p99)} ${middle - 6}v12m-3 -12h6m-6 12h6`, class: "whisker", fill: "none" }),
    s("circle", { cx: at(box.mean), cy: middle, r: 3, class: "mean" }),
    s("rect", { x: 0, y: row * ROW, width: wide, height: ROW, fill: "transparent" }),
  );
}
