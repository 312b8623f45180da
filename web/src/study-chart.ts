// Runs by the values of an axis: a dot for each run, box of the quartiles, median, and its interval.

import { jobColour } from "./colours";
import { h, s, visible } from "./dom";
import { type Sample, type Summary, summary } from "./study-data";

export interface RunsChart {
  label: string;
  samples: Sample[];
  by: number;
  byValues: string[];
  /** Where values of numbers stand; names are at equal distances. */
  positions: number[] | null;
  series: number;
  seriesValues: string[];
  text: (value: number) => string;
  tick: (value: number) => string;
  /** A line at this value. */
  rule?: number;
  /** Medians of numbers are joined. */
  joined: boolean;
  zero: boolean;
  chosen: (sample: Sample) => void;
}

const HIGH = 300;
const LEFT = 70;
const BOTTOM = 58;
/** Dots of a place beyond which only every second, third, ... is drawn. */
const DOTS = 120;
const LONG = 16;
/** Ratio of the greatest to the least number above which their axis is logarithmic, as in `odonata plot`. */
const LOG_FROM = 30;
/** Pixels of a place of a number that stands close to the next one. */
const NARROWEST = 8;

export function runsChart(options: RunsChart): HTMLElement {
  const drawing = s("svg", { class: "runs", role: "img", "aria-label": options.label, height: HIGH + BOTTOM });
  const draw = () => {
    const wide = drawing.clientWidth || 640;
    drawing.setAttribute("viewBox", `0 0 ${wide} ${HIGH + BOTTOM}`);
    drawing.replaceChildren(...drawn(options, wide));
  };
  new ResizeObserver(draw).observe(drawing);
  const legend = options.series < 0 ? null : seriesLegend(options);
  return h("div", {}, legend, drawing);
}

function seriesLegend(options: RunsChart): HTMLElement {
  const keys = options.seriesValues.map((value, at) => {
    const swatch = h("i", { class: "swatch" });
    swatch.style.background = jobColour(at);
    return h("span", {}, swatch, h("bdi", {}, visible(value)));
  });
  return h("div", { class: "legend" }, ...keys);
}

function drawn(options: RunsChart, wide: number): SVGElement[] {
  const { samples, by, series } = options;
  const values = samples.map((sample) => sample.value);
  if (values.length === 0) return [s("text", { x: 20, y: 40 }, "No run has a number here.")];
  let low = Math.min(...values, options.rule ?? Number.POSITIVE_INFINITY);
  let high = Math.max(...values, options.rule ?? Number.NEGATIVE_INFINITY);
  const logarithmic = low > 0 && high / low > LOG_FROM;
  if (options.zero && low >= 0 && !logarithmic) low = 0;
  if (high === low) [low, high] = [low - Math.abs(low || 1) * 0.1, high + Math.abs(high || 1) * 0.1];
  if (logarithmic) {
    const room = (high / low) ** 0.06;
    [low, high] = [low / room, high * room];
  } else {
    const room = (high - low) * 0.06;
    if (low !== 0) low -= room;
    high += room;
  }
  const scale = logarithmic ? Math.log : (value: number) => value;
  const y = (value: number) => HIGH - ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (HIGH - 8);
  const present = [...new Set(samples.map((sample) => sample.places[by] ?? 0))].sort((one, other) => one - other);
  const shown = series < 0 ? [0] : [...new Set(samples.map((sample) => sample.places[series]!))].sort((a, b) => a - b);
  const middles = places(options.positions, present, wide);
  const between = middles.slice(1).map((middle, at) => middle - middles[at]!);
  const step = Math.max(Math.min(wide - LEFT - 10, ...between), NARROWEST);
  // Series stand beside each other at a name. At a number all of them stand where the number is.
  const slot = options.positions ? 0 : Math.min((step * 0.8) / shown.length, 70);
  const thick = options.positions ? Math.min(step * 0.5, 12) : Math.min(slot * 0.62, 44);
  const x = (place: number, of: number) =>
    middles[present.indexOf(place)]! + (shown.indexOf(of) - (shown.length - 1) / 2) * slot;
  const parts: SVGElement[] = (logarithmic ? decades(low, high) : ticks(low, high)).map((value) =>
    s(
      "g",
      {},
      s("line", { x1: LEFT, x2: wide, y1: y(value), y2: y(value), class: "rule" }),
      s("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, options.tick(value)),
    ),
  );
  if (options.rule !== undefined) {
    parts.push(s("line", { x1: LEFT, x2: wide, y1: y(options.rule), y2: y(options.rule), class: "one" }));
  }
  parts.push(...names(options, present, middles));
  for (const of of shown) {
    const colour = jobColour(series < 0 ? 0 : of);
    const medians: string[] = [];
    for (const place of present) {
      const own = samples.filter(
        (sample) => (sample.places[by] ?? 0) === place && (series < 0 || sample.places[series] === of),
      );
      if (own.length === 0) continue;
      const found = summary(own.map((sample) => sample.value));
      medians.push(`${x(place, of)},${y(found.median)}`);
      parts.push(box(found, x(place, of), thick, y, colour));
      const every = Math.ceil(own.length / DOTS);
      own.forEach((sample, at) => {
        if (at % every === 0) parts.push(dot(sample, at, x(place, of), slot, y, colour, options));
      });
    }
    if (options.joined && medians.length > 1) {
      parts.push(
        s("polyline", { points: medians.join(" "), fill: "none", stroke: colour, "stroke-width": 1.5, class: "join" }),
      );
    }
  }
  return parts;
}

/** The middle of each place: names at equal distances, numbers where they stand on a scale. */
function places(positions: number[] | null, present: number[], wide: number): number[] {
  const room = wide - LEFT - 10;
  const even = room / Math.max(present.length, 1);
  const at = present.map((place) => positions?.[place] ?? Number.NaN);
  const [low, high] = [Math.min(...at), Math.max(...at)];
  if (!(high > low)) return present.map((_, index) => LEFT + (index + 0.5) * even);
  const edge = Math.min(even / 2, 40);
  return at.map((value) => LEFT + edge + ((value - low) / (high - low)) * (room - 2 * edge));
}

function box(found: Summary, x: number, wide: number, y: (value: number) => number, colour: string): SVGElement {
  return s(
    "g",
    { class: "box", "data-median": found.median, "data-n": found.n, "data-interval": found.interval?.join(" ") },
    s("rect", {
      x: x - wide / 2,
      y: y(found.q75),
      width: wide,
      height: Math.max(y(found.q25) - y(found.q75), 1),
      fill: colour,
      "fill-opacity": 0.22,
      stroke: colour,
    }),
    s("line", { x1: x - wide / 2, x2: x + wide / 2, y1: y(found.median), y2: y(found.median), class: "median" }),
    found.interval &&
      s("path", {
        d: `M${x - 5} ${y(found.interval[1])}h10m-5 0V${y(found.interval[0])}m-5 0h10`,
        class: "whisker",
        fill: "none",
      }),
  );
}

function dot(
  sample: Sample,
  at: number,
  x: number,
  slot: number,
  y: (value: number) => number,
  colour: string,
  options: RunsChart,
): SVGElement {
  // A fixed scatter, so that the same report always looks the same.
  const aside = (((at * 7) % 11) / 10 - 0.5) * slot * 0.5;
  const choose = () => options.chosen(sample);
  return s(
    "circle",
    {
      cx: x + aside,
      cy: y(sample.value),
      r: 3.5,
      fill: colour,
      class: "dot",
      tabindex: at < 40 ? "0" : null,
      "data-point": sample.point,
      "data-value": sample.value,
      onclick: choose,
      onkeydown: (event: KeyboardEvent) => event.key === "Enter" && choose(),
    },
    s("title", {}, `point ${sample.point}: ${options.text(sample.value)}`),
  );
}

function names(options: RunsChart, present: number[], middles: number[]): SVGElement[] {
  // A name that would stand on the one before it is left out.
  const drawn: number[] = [];
  middles.forEach((middle, at) => {
    if (drawn.length === 0 || middle - middles[drawn[drawn.length - 1]!]! >= 46) drawn.push(at);
  });
  const step = Math.min(...drawn.slice(1).map((at, index) => middles[at]! - middles[drawn[index]!]!), 640);
  const turned = present.some((place) => (options.byValues[place] ?? "").length * 7 > step);
  return present.flatMap((place, at) => {
    if (!drawn.includes(at)) return [];
    const whole = visible(options.byValues[place] ?? "");
    const text = whole.length > LONG ? `${whole.slice(0, LONG - 6)}…${whole.slice(-5)}` : whole;
    const [x, y] = [middles[at]!, HIGH + 18];
    const turn = turned ? { transform: `rotate(-22 ${x} ${y})`, "text-anchor": "end" } : { "text-anchor": "middle" };
    return [s("text", { x, y, ...turn }, s("title", {}, whole), text)];
  });
}

/** Powers of ten, and of fewer than three of them 2 and 5 times these too. */
function decades(low: number, high: number): number[] {
  const digits = high / low < 1000 ? [1, 2, 5] : [1];
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    found.push(...digits.map((digit) => digit * 10 ** power).filter((value) => value >= low && value <= high));
  return found;
}

/** About five round values. */
function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough) ?? rough;
  const found: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step)
    found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}
