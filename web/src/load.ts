// What the machine is coloured by.

import { jobColour, loadColour } from "./colours";
import { type Machine, NO_JOB, type RunData } from "./document";
import type { Layout, Spot } from "./layout";
import type { Table } from "./payload";
import { type Loads, seriesOf } from "./series";
import type { Window } from "./window";

export type By = "job" | "busy" | "busiest" | "queue" | "stalled" | "traffic";

/** The values at the end of each scale of colours, the same for all shown runs; loads of a chosen window, which can be
 * fuller than the whole run, are shown up to 100 %. */
export interface Tops {
  busy: number;
  busiest: number;
  queue: number;
  stalled: number;
  pairs: { busy: number; busy_max: number; queue: number; bytes: number; stalled_ps: number };
}

/** Loads are shown up to 100 %, or up to the greatest if it is less than half of that. */
function loadTop(greatest: number): number {
  return greatest >= 0.5 || greatest <= 0 ? 1 : greatest;
}

export function topsOf(runs: RunData[]): Tops {
  const most = (of: (machine: Machine) => Table, ...columns: string[]) =>
    Math.max(...runs.flatMap(({ machine }) => columns.map((column) => greatest(of(machine), column))));
  const nodes = most((machine) => machine.nodes, "busy_sending", "busy_receiving");
  const pairs = (column: string) => most((machine) => machine.pairs, column);
  const routers = (column: string) => most((machine) => machine.routers, column);
  const series = runs.map(seriesOf).filter((one) => one !== undefined);
  const longest = series.map((one) => one.longest());
  return {
    busy: loadTop(Math.max(nodes, routers("busy"))),
    busiest: loadTop(Math.max(nodes, routers("busy_max"))),
    queue: Math.max(...longest.map(([spot]) => spot), 1),
    stalled: Math.max(
      routers("stalled_ps"),
      most((machine) => machine.nodes, "stalled_ps"),
      1,
    ),
    pairs: {
      busy: loadTop(pairs("busy")),
      busy_max: loadTop(pairs("busy_max")),
      queue: Math.max(...longest.map(([, pair]) => pair), 1),
      bytes: Math.max(pairs("bytes"), 1),
      stalled_ps: Math.max(pairs("stalled_ps"), 1),
    },
  };
}

function greatest(table: Table, column: string): number {
  let most = 0;
  for (const value of table.numbers(column)) if (value > most) most = value;
  return most;
}

/** Colours of a run's machine; loads of all shown runs have one scale. */
export class Paint {
  by: By = "job";
  /** Only this job keeps its colour. */
  highlighted: number | undefined;
  private groupJobs: number[][] = [];
  private routerJobs: number[] = [];
  private traffic: number[] = [];
  private loads: Loads | undefined;

  constructor(
    private readonly run: RunData,
    private readonly layout: Layout,
    private readonly window: Window,
    private readonly tops: Tops,
  ) {
    const { nodes } = run.machine;
    this.groupJobs = layout.routersOf.map(() => []);
    const most: number[] = [];
    layout.nodesOf.forEach((of, router) => {
      const counts = new Map<number, number>();
      for (const node of of) {
        const job = nodes.number("job", node);
        counts.set(job, (counts.get(job) ?? 0) + 1);
      }
      const group = this.groupJobs[run.machine.routers.number("group", router)];
      for (const [job, many] of counts) if (group) group[job] = (group[job] ?? 0) + many;
      most[router] = [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? NO_JOB;
    });
    this.routerJobs = layout.homes.map((home) => most[home]!);
  }

  /** Nodes of each job in a group. */
  jobsOf(group: number): [job: number, nodes: number][] {
    const found: [number, number][] = [];
    this.groupJobs[group]?.forEach((many, job) => {
      if (job !== NO_JOB) found.push([job, many]);
    });
    return found;
  }

  /**
   * Works out what is shown of the chosen window: the traffic of each group, as a share of the greatest, and the load
   * of routers and nodes if the run recorded it over time.
   */
  refresh(): void {
    const asked = this.by === "queue" || (this.window.range && (this.by === "busy" || this.by === "busiest"));
    this.loads = asked ? seriesOf(this.run)?.loads(this.window.range) : undefined;
    const totals = this.window.byGroup(this.run);
    const top = Math.max(...totals, 1);
    this.traffic = totals.map((total) => total / top);
  }

  /** Whether the colours show the chosen window, not the whole run. */
  get ofWindow(): boolean {
    return this.window.range !== undefined && (this.by === "traffic" || this.loads !== undefined);
  }

  colour(spot: Spot): string | undefined {
    if (this.by === "job") return this.ofJob(spot);
    if (this.by === "traffic") return spot.level === "group" ? loadColour(this.traffic[spot.index] ?? 0) : undefined;
    return loadColour(this.load(spot));
  }

  private ofJob(spot: Spot): string | undefined {
    if (spot.level === "group") return undefined;
    const job = spot.level === "node" ? this.run.machine.nodes.number("job", spot.index) : this.routerJobs[spot.index]!;
    return this.colourOf(job);
  }

  /** The colour of a job, or that of no job while another one is highlighted. */
  colourOf(job: number): string {
    return jobColour(this.highlighted === undefined || job === this.highlighted ? job : NO_JOB);
  }

  /** From 0 to 1; NaN where nothing is known. */
  load(spot: Spot): number {
    const { routers, nodes } = this.run.machine;
    if (spot.level === "group") {
      const rows = this.layout.routersOf[spot.index] ?? [];
      const loads = rows.map((index) => this.load({ level: "router", index })).filter((load) => !Number.isNaN(load));
      if (loads.length === 0) return Number.NaN;
      return this.by === "busiest" ? Math.max(...loads) : loads.reduce((sum, load) => sum + load, 0) / loads.length;
    }
    const { loads } = this;
    if (this.by === "queue") {
      const waiting = spot.level === "router" ? loads?.queue : loads?.receivingQueue;
      return (waiting?.[spot.index] ?? Number.NaN) / this.tops.queue;
    }
    if (loads) {
      if (spot.level === "node") return Math.max(loads.sending[spot.index]!, loads.receiving[spot.index]!);
      return (this.by === "busy" ? loads.mean : loads.most)[spot.index]!;
    }
    if (spot.level === "router") {
      if (this.by === "busy") return routers.number("busy", spot.index) / this.tops.busy;
      if (this.by === "busiest") return routers.number("busy_max", spot.index) / this.tops.busiest;
      return routers.number("stalled_ps", spot.index) / this.tops.stalled;
    }
    if (this.by === "stalled") return nodes.number("stalled_ps", spot.index) / this.tops.stalled;
    const busy = Math.max(nodes.number("busy_sending", spot.index), nodes.number("busy_receiving", spot.index));
    return busy / (this.by === "busy" ? this.tops.busy : this.tops.busiest);
  }
}
