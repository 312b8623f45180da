// Numbers as text, as `odonata run` prints them: four digits or more, in the unit that fits.

const TIMES: [string, number][] = [
  ["s", 1e12],
  ["ms", 1e9],
  ["us", 1e6],
  ["ns", 1e3],
  ["ps", 1],
];
const SIZES: [string, number][] = [
  ["TB", 1e12],
  ["GB", 1e9],
  ["MB", 1e6],
  ["kB", 1e3],
  ["B", 1],
];

const NONE = "-";
type Maybe = number | null | undefined;

const known = (value: Maybe): value is number => value !== null && value !== undefined && !Number.isNaN(value);

export function digits(value: Maybe): string {
  if (!known(value)) return NONE;
  const size = Math.abs(value);
  const places = size < 10 ? 3 : size < 100 ? 2 : size < 1000 ? 1 : 0;
  return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
}

export function count(value: Maybe): string {
  return known(value) ? Math.round(value).toLocaleString("en-US") : NONE;
}

function scaled(value: Maybe, units: [string, number][]): string {
  if (!known(value)) return NONE;
  const [unit, factor] = units.find(([, size]) => Math.abs(value) >= size) ?? units[units.length - 1]!;
  return `${factor === 1 ? count(value) : digits(value / factor)} ${unit}`;
}

/** A number of an axis: no more digits than it has. */
export const tick = (value: number): string => value.toLocaleString("en-US", { maximumSignificantDigits: 4 });

export const time = (ps: Maybe): string => scaled(ps, TIMES);
export const bytes = (size: Maybe): string => scaled(size, SIZES);
export const bandwidth = (perSecond: Maybe): string => (known(perSecond) ? `${bytes(perSecond)}/s` : NONE);
export const percent = (share: Maybe): string => (known(share) ? `${(100 * share).toFixed(1)} %` : NONE);
export const factor = (ratio: Maybe): string => (known(ratio) ? `${ratio.toFixed(2)} x` : NONE);

/** A round time of an axis: `20 us`. */
export function shortTime(ps: number): string {
  const [unit, size] = TIMES.find(([, factor]) => ps >= factor) ?? ["ps", 1];
  return `${tick(ps / size)} ${unit}`;
}

/** The unit in which the least of these times is 1 or more, and its picoseconds. */
export function timeUnit(values: Iterable<number>): [string, number] {
  let least = Number.POSITIVE_INFINITY;
  for (const value of values) if (value > 0 && value < least) least = value;
  return TIMES.find(([, size]) => least !== Number.POSITIVE_INFINITY && least >= size) ?? ["us", 1e6];
}
