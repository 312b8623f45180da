// Colours: of jobs (Okabe and Ito's, told apart by the colour-blind), and of loads (light is idle on paper, dark at night).

import { NO_JOB } from "./document";

const JOBS = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#e69f00",
  "#56b4e9",
  "#8c564b",
  "#7030a0",
  "#b8b800",
  "#9bd89b",
];
const OTHERS = "#8a8a8a";

const DAY = ["#eef3e2", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#0c2c84", "#05113a"];
const NIGHT = ["#232b38", "#27406b", "#2a5d8f", "#2f7f9f", "#3fa3a0", "#74c48a", "#c0dd6a", "#fdf0a0"];

/** Jobs that have a colour of their own; the others share one. `odonata.report.ranking` has as many. */
export const COLOURED = JOBS.length;

/** Place of a job in the list of colours; its number if there are few jobs. */
let places: Map<number, number> | undefined;

/** Gives the colours to these jobs, and one colour to all others. */
export function colourJobs(jobs: number[]): void {
  places = new Map(jobs.map((job, place) => [job, place]));
}

export function isDark(): boolean {
  return document.documentElement.dataset.theme === "dark";
}

/** Sets the theme of the page and draws everything in its colours. */
export function setTheme(dark: boolean): void {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  for (const draw of listeners) draw();
}

/** Follows the theme of the system until the reader chooses one; paper is light. Returns what switches the theme. */
export function followTheme(): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = false;
  setTheme(system.matches);
  system.addEventListener("change", () => chosen || setTheme(system.matches));
  let before = isDark();
  addEventListener("beforeprint", () => {
    before = isDark();
    setTheme(false);
  });
  addEventListener("afterprint", () => setTheme(before));
  return () => {
    chosen = true;
    setTheme(!isDark());
  };
}

export function jobColour(job: number): string {
  if (job === NO_JOB) return isDark() ? "#39414d" : "#dfe3e8";
  return JOBS[places ? (places.get(job) ?? -1) : job] ?? OTHERS;
}

/** The colour of a line that is of no job. */
export function lineColour(line: number): string {
  return JOBS[line] ?? OTHERS;
}

/** The colour of all jobs that have none of their own. */
export function othersColour(): string {
  return OTHERS;
}

/** The colour of a load from 0 to 1 (and beyond); `undefined` for none. */
export function loadColour(load: number): string | undefined {
  if (Number.isNaN(load)) return undefined;
  const scale = isDark() ? NIGHT : DAY;
  const at = Math.min(Math.max(load, 0), 1) * (scale.length - 1);
  const index = Math.min(Math.floor(at), scale.length - 2);
  return mix(scale[index]!, scale[index + 1]!, at - index);
}

const mixed = new Map<string, string>();

function mix(one: string, other: string, share: number): string {
  const key = `${one}${other}${Math.round(share * 24)}`;
  const found = mixed.get(key);
  if (found) return found;
  const part = Math.round(share * 24) / 24;
  const channel = (at: number) => {
    const [a, b] = [one, other].map((colour) => Number.parseInt(colour.slice(at, at + 2), 16)) as [number, number];
    return Math.round(a + (b - a) * part);
  };
  const made = `rgb(${channel(1)},${channel(3)},${channel(5)})`;
  mixed.set(key, made);
  return made;
}

/** A colour of the style sheet. */
export function css(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();
}

const listeners: (() => void)[] = [];

/** Calls `draw` now, and again whenever day becomes night. */
export function themed(draw: () => void): void {
  listeners.push(draw);
  draw();
}
