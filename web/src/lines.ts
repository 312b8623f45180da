// Line charts, by uPlot.

import uPlot from "uplot";
import { css, themed } from "./colours";
import { h, visible } from "./dom";
import { tick } from "./format";

export interface Line {
  label: string;
  colour: string;
  x: ArrayLike<number>;
  y: ArrayLike<number | null>;
  dashed?: boolean;
  /** Dots and no line. */
  dots?: boolean;
  /** The value holds up to the next point. */
  steps?: boolean;
}

export interface ChartOptions {
  label: string;
  x: string;
  y: string;
  lines: Line[];
  logX?: boolean;
  logY?: boolean;
  height?: number;
  /** Numbers of a point, in the legend. */
  xText: (value: number) => string;
  yText: (value: number) => string;
  /** Numbers of the axes, if they are others. */
  yTick?: (value: number) => string;
  /** Called with the range that a reader selects, or nothing if it is given up. */
  selected?: (range: [number, number] | undefined) => void;
}

export interface Chart {
  element: HTMLElement;
  /** Shows a range as selected. */
  select: (range: [number, number] | undefined) => void;
}

/** A chart that follows the width of its place and the colours of the page. */
export function lineChart(options: ChartOptions): Chart {
  const place = h("div", { class: "chart", role: "img", "aria-label": options.label });
  let plot: uPlot | undefined;
  let range: [number, number] | undefined;
  const data = joined(options.lines);
  const show = () => {
    if (!plot) return;
    const [from, to] = range ?? [0, 0];
    const left = range ? plot.valToPos(from, "x") : 0;
    const width = range ? plot.valToPos(to, "x") - left : 0;
    plot.setSelect({ left, top: 0, width, height: range ? plot.over.clientHeight : 0 }, false);
  };
  const make = () => {
    plot?.destroy();
    if (place.clientWidth === 0) return;
    plot = new uPlot(settings(options, place.clientWidth), data, place);
    show();
  };
  themed(make);
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    if (plot) plot.setSize({ width, height: options.height ?? 260 });
    else make();
    show();
  }).observe(place);
  const select = (chosen: [number, number] | undefined) => {
    range = chosen;
    show();
  };
  return { element: place, select };
}

function joined(lines: Line[]): uPlot.AlignedData {
  if (lines.length === 0) return [[]];
  const tables = lines.map((line) => [Array.from(line.x), Array.from(line.y)] as uPlot.AlignedData);
  return uPlot.join(tables);
}

function settings(options: ChartOptions, width: number): uPlot.Options {
  const ink = css("ink");
  const grid = { stroke: css("grid"), width: 1 };
  const font = "12px system-ui, sans-serif";
  const axis = { stroke: ink, grid, ticks: grid, font, labelFont: font, labelSize: 20, labelGap: 2 };
  const { selected } = options;
  return {
    width,
    height: options.height ?? 260,
    legend: { markers: { dash: (plot, index) => (plot.series[index]!.dash ? "dashed" : "solid") } },
    cursor: { drag: { x: selected !== undefined, y: false, setScale: false } },
    scales: {
      x: { time: false, distr: options.logX ? 3 : 1 },
      y: options.logY ? { distr: 3 } : { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 32,
        label: options.x,
        values: (_, splits) => splits.map((value) => sparse(value, options.logX, tick)),
      },
      {
        ...axis,
        label: options.y,
        size: 62,
        values: (_, splits) => splits.map((value) => sparse(value, options.logY, options.yTick ?? tick)),
      },
    ],
    series: [
      { label: options.x, value: (_, value: number | null) => (value === null ? "-" : options.xText(value)) },
      ...options.lines.map(
        (line): uPlot.Series => ({
          label: visible(line.label),
          stroke: line.colour,
          width: line.dots ? 0 : 1.8,
          ...(line.dashed ? { dash: [6, 4] } : {}),
          points: line.dots ? { show: true, size: 5, fill: line.colour } : { show: false },
          spanGaps: true,
          ...(line.steps ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
          value: (_, value: number | null) => (value === null ? "-" : options.yText(value)),
        }),
      ),
    ],
    hooks: selected
      ? {
          setSelect: [
            (plot) => {
              const { left, width: wide } = plot.select;
              selected(wide > 2 ? [plot.posToVal(left, "x"), plot.posToVal(left + wide, "x")] : undefined);
            },
          ],
        }
      : {},
  };
}

/** Labels of a logarithmic axis: powers of ten, and what uPlot chooses within them is left blank. */
function sparse(value: number | null, log: boolean | undefined, text: (value: number) => string): string {
  if (value === null) return "";
  if (!log) return text(value);
  const power = Math.log10(value);
  return Math.abs(power - Math.round(power)) < 1e-6 ? text(value) : "";
}
