// The load of every link over time (python/odonata/report/series.py describes the numbers).

import type { RunData } from "./document";
import type { Numbers, Table } from "./payload";

/** Loads of routers and nodes in a window of time; NaN where there are no links. */
export interface Loads {
  /** By router: its links to routers. */
  mean: Float64Array;
  most: Float64Array;
  queue: Float64Array;
  /** By node: its NICs. */
  sending: Float64Array;
  receiving: Float64Array;
  receivingQueue: Float64Array;
}

/** Loads of the pairs of groups in a window of time, by the rows of the table of pairs. */
export interface PairLoads {
  busy: Float64Array;
  busy_max: Float64Array;
  queue: Float64Array;
}

/** The load of the links between routers by slice. */
interface OverTime {
  time: number[];
  mean: number[];
  most: number[];
}

const made = new WeakMap<RunData, Series>();

/** The series of a run; nothing if it recorded none. */
export function seriesOf(run: RunData): Series | undefined {
  if (!run.series) return undefined;
  const known = made.get(run) ?? new Series(run, run.series);
  made.set(run, known);
  return known;
}

function rowsById(table: Table): Map<number, number> {
  return new Map(Array.from(table.numbers("id"), (id, row) => [id, row]));
}

function emptyLists(rows: number): number[][] {
  return Array.from({ length: rows }, () => []);
}

const KINDS = ["between", "sending", "receiving"] as const;

class Series {
  readonly slices: number;
  readonly width: number;
  /** Whether there are numbers of each job. */
  readonly byJob: boolean;
  private readonly busy: Numbers;
  private readonly queue: Numbers;
  private readonly full: number;
  private readonly perPacket: number;
  /** By link: what it is (a place in KINDS), and the row of the router or node that it is counted with. */
  private readonly kind: Uint8Array;
  private readonly of: Int32Array;
  /** By link: the row of the pair of groups that it joins, or -1. */
  private readonly pair: Int32Array;

  /** By router and by node: their links. Made when they are first asked for. */
  private lists: Record<"router" | "node", number[][]> | undefined;

  constructor(
    private readonly run: RunData,
    private readonly series: NonNullable<RunData["series"]>,
  ) {
    const { links, routers, nodes, pairs, groups } = run.machine;
    const rowOfPair = new Map(
      Array.from(pairs.numbers("from_group"), (from, row) => [from * groups + pairs.number("to_group", row), row]),
    );
    const [rowOfRouter, rowOfNode] = [rowsById(routers), rowsById(nodes)];
    this.slices = series.slices;
    this.width = series.width_ps;
    this.full = series.full;
    this.perPacket = series.per_packet;
    this.busy = series.cells.numbers("busy");
    this.queue = series.cells.numbers("queue");
    this.byJob = series.cells.names.includes("job_0");
    this.kind = new Uint8Array(links.rows);
    this.of = new Int32Array(links.rows);
    this.pair = new Int32Array(links.rows).fill(-1);
    for (let link = 0; link < links.rows; link++) {
      const from = links.number("from_id", link);
      const to = links.number("to_id", link);
      this.kind[link] = links.text("from_kind", link) === "node" ? 1 : links.text("to_kind", link) === "node" ? 2 : 0;
      const row = [rowOfRouter.get(from), rowOfNode.get(from), rowOfNode.get(to)][this.kind[link]!];
      this.of[link] = row ?? -1;
      if (this.kind[link] !== 0) continue;
      const [one, other] = [from, to].map((id) => routers.number("group", rowOfRouter.get(id) ?? -1)) as [
        number,
        number,
      ];
      this.pair[link] = rowOfPair.get(one * groups + other) ?? -1;
    }
  }

  /** The slices that a range of time touches: the first, and the one after the last. */
  range(range: [number, number] | undefined): [number, number] {
    if (!range) return [0, this.slices];
    const first = Math.min(Math.floor(range[0] / this.width), this.slices - 1);
    return [first, Math.max(first + 1, Math.min(Math.ceil(range[1] / this.width), this.slices))];
  }

  /** Share of a window in which a link is busy, with the packets of one job or of all. */
  busyOf(link: number, range: [number, number] | undefined, job?: number): number {
    const numbers = job === undefined ? this.busy : this.series.cells.numbers(`job_${job}`);
    return this.sum(numbers, link, this.range(range)) / this.full;
  }

  /** Mean number of packets that wait for a link in a window. */
  queueOf(link: number, range: [number, number] | undefined): number {
    return this.sum(this.queue, link, this.range(range)) / this.perPacket;
  }

  /** The links that leave a router for other routers, or those to and from a node. */
  linksOf(level: "router" | "node", row: number): number[] {
    if (!this.lists) {
      const { routers, nodes } = this.run.machine;
      const lists = { router: emptyLists(routers.rows), node: emptyLists(nodes.rows) };
      this.of.forEach((of, link) => {
        lists[this.kind[link] === 0 ? "router" : "node"][of]?.push(link);
      });
      this.lists = lists;
    }
    return this.lists[level][row] ?? [];
  }

  /** Mean load and greatest load of the links of a router or node in a window. */
  loadOf(level: "router" | "node", row: number, range: [number, number] | undefined): [mean: number, most: number] {
    const loads = this.linksOf(level, row).map((link) => this.busyOf(link, range));
    return [loads.reduce((sum, load) => sum + load, 0) / loads.length, Math.max(...loads)];
  }

  private sum(numbers: Numbers, link: number, [first, last]: [number, number]): number {
    let sum = 0;
    for (let at = link * this.slices + first; at < link * this.slices + last; at++) sum += numbers[at]!;
    return sum / (last - first);
  }

  loads(range: [number, number] | undefined): Loads {
    const { routers, nodes, links } = this.run.machine;
    const window = this.range(range);
    const counts = [new Uint32Array(routers.rows), new Uint32Array(nodes.rows), new Uint32Array(nodes.rows)];
    const sums = [routers.rows, nodes.rows, nodes.rows].map((rows) => new Float64Array(rows));
    const queues = [routers.rows, nodes.rows, nodes.rows].map((rows) => new Float64Array(rows));
    const most = new Float64Array(routers.rows).fill(Number.NaN);
    for (let link = 0; link < links.rows; link++) {
      const [kind, of] = [this.kind[link]!, this.of[link]!];
      if (of < 0) continue;
      const busy = this.sum(this.busy, link, window) / this.full;
      counts[kind]![of]!++;
      sums[kind]![of]! += busy;
      queues[kind]![of]! += this.sum(this.queue, link, window) / this.perPacket;
      if (kind === 0 && !(busy <= most[of]!)) most[of] = busy;
    }
    const mean = (kind: number) => sums[kind]!.map((sum, row) => sum / counts[kind]![row]!);
    return {
      mean: mean(KINDS.indexOf("between")),
      most,
      queue: queues[0]!.map((sum, row) => (counts[0]![row] ? sum : Number.NaN)),
      sending: mean(KINDS.indexOf("sending")),
      receiving: mean(KINDS.indexOf("receiving")),
      receivingQueue: queues[2]!,
    };
  }

  pairs(range: [number, number] | undefined): PairLoads {
    const { pairs } = this.run.machine;
    const window = this.range(range);
    const [busy, busy_max, queue] = [0, 1, 2].map(() => new Float64Array(pairs.rows)) as [
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const counts = new Uint32Array(pairs.rows);
    this.pair.forEach((row, link) => {
      if (row < 0) return;
      const share = this.sum(this.busy, link, window) / this.full;
      counts[row]!++;
      busy[row]! += share;
      if (share > busy_max[row]!) busy_max[row] = share;
      queue[row]! += this.sum(this.queue, link, window) / this.perPacket;
    });
    return { busy: busy.map((sum, row) => sum / Math.max(counts[row]!, 1)), busy_max, queue };
  }

  /** The most packets that wait in any slice: at a router or for a node, and for the links of a pair of groups. */
  longest(): [spot: number, pair: number] {
    const { routers, nodes, pairs, links } = this.run.machine;
    let [longest, longestPair] = [0, 0];
    const waiting = [routers, nodes, nodes, pairs].map((table) => new Float64Array(table.rows));
    for (let slice = 0; slice < this.slices; slice++) {
      for (const of of waiting) of.fill(0);
      for (let link = 0; link < links.rows; link++) {
        const queue = this.queue[link * this.slices + slice]!;
        const [kind, of, pair] = [this.kind[link]!, this.of[link]!, this.pair[link]!];
        if (of >= 0) {
          waiting[kind]![of]! += queue;
          longest = Math.max(longest, waiting[kind]![of]!);
        }
        if (pair >= 0) {
          waiting[3]![pair]! += queue;
          longestPair = Math.max(longestPair, waiting[3]![pair]!);
        }
      }
    }
    return [longest / this.perPacket, longestPair / this.perPacket];
  }

  /** Links between routers by slice: mean load, and that of the busiest one. */
  overTime(): OverTime {
    const found: OverTime = { time: [], mean: [], most: [] };
    const links = Array.from(this.kind.keys()).filter((link) => this.kind[link] === 0);
    for (let slice = 0; slice < this.slices; slice++) {
      let [sum, most] = [0, 0];
      for (const link of links) {
        const busy = this.busy[link * this.slices + slice]!;
        sum += busy;
        if (busy > most) most = busy;
      }
      found.time.push(slice * this.width);
      found.mean.push(sum / Math.max(links.length, 1) / this.full);
      found.most.push(most / this.full);
    }
    return found;
  }
}
