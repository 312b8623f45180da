// Where groups, routers and nodes are drawn: positions in units of a node, made once.

import type { Machine } from "./document";

export interface Rect {
  x: number;
  y: number;
  wide: number;
  high: number;
}

/** What can be pointed at. `index` is a group, or the row of a router or node in its table. */
export interface Spot {
  level: "group" | "router" | "node";
  index: number;
}

const GAP = 0.5;
/** Height of the strip of a router, and from one strip of a chassis to the next. */
const STRIP = 0.9;
const RAIL = 0.6;
const NEXT_RAIL = 0.75;

export class Layout {
  readonly wide: number;
  readonly high: number;
  /** Rows of the routers of a group, and of the nodes of a router. */
  readonly routersOf: number[][] = [];
  readonly nodesOf: number[][] = [];
  readonly groups: (Rect | undefined)[] = [];
  readonly routerRects: Rect[] = [];
  readonly rowOfRouter = new Map<number, number>();
  readonly rowOfNode = new Map<number, number>();
  /** Row of the router below which the nodes of a router are drawn: itself, or the first rail of its chassis. */
  readonly homes: number[] = [];

  /** Most routers of a chassis; 1 if every node has its NICs on one router. */
  private readonly rails: number;
  /** From the upper edge of a router to its nodes. */
  private readonly top: number;

  private readonly across: number;
  private readonly cell: { wide: number; high: number };

  constructor(
    readonly machine: Machine,
    aspect: number,
  ) {
    const { routers, nodes } = machine;
    for (let group = 0; group < machine.groups; group++) this.routersOf.push([]);
    for (let row = 0; row < routers.rows; row++) {
      this.rowOfRouter.set(routers.number("id", row), row);
      this.routersOf[routers.number("group", row)]?.push(row);
      this.nodesOf.push([]);
    }
    for (let row = 0; row < nodes.rows; row++) {
      this.rowOfNode.set(nodes.number("id", row), row);
      const router = this.rowOfRouter.get(nodes.number("router", row));
      if (router !== undefined) this.nodesOf[router]!.push(row);
    }
    const sizes = new Array<number>(routers.rows).fill(0);
    for (let row = 0; row < routers.rows; row++) {
      const home = this.rowOfRouter.get(routers.number("chassis", row)) ?? row;
      const together = routers.number("group", home) === routers.number("group", row);
      this.homes.push(together ? home : row);
      sizes[this.homes[row]!]!++;
    }
    this.rails = Math.max(1, ...sizes);
    this.top = this.rails > 1 ? this.rails * NEXT_RAIL + 0.2 : 1.1;
    const most = Math.max(1, ...this.nodesOf.map((of) => of.length));
    this.across = most <= 3 ? most : Math.ceil(Math.sqrt(most));
    this.cell = { wide: Math.max(this.across, 1) + GAP, high: this.top + Math.ceil(most / this.across) + GAP };
    const places = this.routersOf.map((rows) => this.placed(rows));
    const group = {
      wide: Math.max(...places.map((place) => place.wide)) + 2 * GAP,
      high: Math.max(...places.map((place) => place.high)) + 2 * GAP,
    };
    const step = { wide: group.wide + 1.6, high: group.high + 3 };
    const columns = columnsOf(machine.groups, step, aspect);
    places.forEach((place, number) => {
      const x = (number % columns) * step.wide + 1;
      const y = Math.floor(number / columns) * step.high + 2.6;
      this.groups.push(place.rects.length === 0 ? undefined : { x, y, wide: group.wide, high: group.high });
      place.rects.forEach((rect, at) => {
        const row = this.routersOf[number]![at]!;
        this.routerRects[row] = { ...rect, x: x + GAP + rect.x, y: y + GAP + rect.y };
      });
    });
    this.wide = columns * step.wide + 1;
    this.high = Math.ceil(machine.groups / columns) * step.high + 1;
  }

  /** The routers of a group, from the corner of the group: the grid of a cascade, or leaves below spines. */
  private placed(rows: number[]): { rects: Rect[]; wide: number; high: number } {
    const { machine, cell } = this;
    const { routers } = machine;
    // Where nodes have several rails, and in fat trees, cells follow each other; else a missing router leaves a gap.
    const packed = this.rails > 1 || machine.kind === "fat-tree";
    const leaves = machine.leaves ?? Number.POSITIVE_INFINITY;
    const isSpine = (row: number) =>
      machine.kind === "fat-tree" ? routers.number("leaf", row) === 0 : routers.number("place", row) >= leaves;
    const spines = rows.filter(isSpine);
    const cells = rows.filter((row) => !isSpine(row) && this.homes[row] === row);
    const placeOf = new Map(cells.map((row, at) => [row, packed ? at : routers.number("place", row)]));
    const whole = Math.max(0, ...[...placeOf.values()].map((at) => at + 1));
    const grid = packed ? null : machine.columns;
    const columns = Math.max(
      1,
      grid ?? even(whole || spines.length, Math.sqrt((1.4 * (whole || 1) * cell.high) / cell.wide)),
    );
    const spineHigh = 1 + GAP;
    const top = spines.length > 0 ? Math.ceil(spines.length / columns) * spineHigh + GAP : 0;
    const wide = cell.wide - GAP;
    const corner = (at: number) => ({ x: (at % columns) * cell.wide, y: top + Math.floor(at / columns) * cell.high });
    const railOf = new Map<number, number>();
    const rects = rows.map((row): Rect => {
      if (isSpine(row)) {
        const number = packed ? spines.indexOf(row) : routers.number("place", row) - leaves;
        return { x: (number % columns) * cell.wide, y: Math.floor(number / columns) * spineHigh, wide, high: 1 };
      }
      const home = this.homes[row]!;
      const { x, y } = corner(placeOf.get(home) ?? 0);
      if (home === row) return { x, y, wide, high: cell.high - GAP };
      const rail = (railOf.get(home) ?? 0) + 1;
      railOf.set(home, rail);
      return { x, y: y + rail * NEXT_RAIL, wide, high: RAIL };
    });
    return {
      rects,
      wide: Math.max(0, ...rects.map((rect) => rect.x + rect.wide)),
      high: Math.max(0, ...rects.map((rect) => rect.y + rect.high)),
    };
  }

  /** Whether nodes have their NICs on several routers of a chassis. */
  get hasRails(): boolean {
    return this.rails > 1;
  }

  /** The strip of a router itself, above the nodes of its chassis. */
  strip(router: number): Rect {
    const rect = this.routerRects[router]!;
    return { ...rect, high: Math.min(this.rails > 1 && this.nodesOf[router]!.length > 0 ? RAIL : STRIP, rect.high) };
  }

  /** Place of the node that is the `at`-th of its router. */
  node(router: number, at: number): Rect {
    const rect = this.routerRects[router]!;
    const x = rect.x + (at % this.across);
    return { x, y: rect.y + this.top + Math.floor(at / this.across), wide: 0.86, high: 0.86 };
  }

  rect(spot: Spot): Rect | undefined {
    if (spot.level === "group") return this.groups[spot.index];
    if (spot.level === "router") return this.routerRects[spot.index];
    const router = this.rowOfRouter.get(this.machine.nodes.number("router", spot.index));
    if (router === undefined) return undefined;
    return this.node(router, this.nodesOf[router]!.indexOf(spot.index));
  }

  /** What is at a point; nodes and routers only if they are drawn. */
  at(x: number, y: number, finest: Spot["level"]): Spot | undefined {
    const group = this.groups.findIndex((rect) => rect !== undefined && within(rect, x, y));
    if (group < 0) return undefined;
    if (finest === "group") return { level: "group", index: group };
    const found = this.routersOf[group]!.filter((row) => within(this.routerRects[row]!, x, y));
    const router = found.find((row) => this.homes[row] !== row) ?? found[0];
    if (router === undefined) return { level: "group", index: group };
    if (finest === "node") {
      const node = this.nodesOf[router]!.find((_, at) => within(this.node(router, at), x, y));
      if (node !== undefined) return { level: "node", index: node };
    }
    return { level: "router", index: router };
  }

  /** Group of a spot. */
  groupOf(spot: Spot): number {
    if (spot.level === "group") return spot.index;
    if (spot.level === "router") return this.machine.routers.number("group", spot.index);
    const router = this.rowOfRouter.get(this.machine.nodes.number("router", spot.index));
    return router === undefined ? -1 : this.machine.routers.number("group", router);
  }
}

function within(rect: Rect, x: number, y: number): boolean {
  return x >= rect.x && x < rect.x + rect.wide && y >= rect.y && y < rect.y + rect.high;
}

/** Columns of groups with which they are drawn largest in a place of this shape (wide / high). */
function columnsOf(groups: number, step: { wide: number; high: number }, aspect: number): number {
  let best = 1;
  let largest = 0;
  for (let columns = 1; columns <= groups; columns++) {
    const rows = Math.ceil(groups / columns);
    const scale = Math.min(aspect / (columns * step.wide + 1), 1 / (rows * step.high + 1));
    if (scale > largest * 1.001) [best, largest] = [columns, scale];
  }
  return best;
}

/** About `ideal` columns, and such that the last row of routers is as full as possible. */
function even(routers: number, ideal: number): number {
  let best = Math.max(1, Math.round(ideal));
  const missing = (columns: number) => Math.ceil(routers / columns) * columns - routers;
  for (let columns = Math.max(1, Math.round(ideal * 0.7)); columns <= ideal * 1.4; columns++) {
    const closer = Math.abs(columns - ideal) < Math.abs(best - ideal);
    if (missing(columns) < missing(best) || (missing(columns) === missing(best) && closer)) best = columns;
  }
  return best;
}
