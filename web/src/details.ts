// What is told of a group, a router or a node.

import { NO_JOB, type RunData } from "./document";
import { type Child, h, name, visible } from "./dom";
import { bytes, count, factor, percent, time } from "./format";
import type { Layout, Spot } from "./layout";
import type { Paint } from "./load";
import type { Table } from "./payload";
import { many } from "./ranking";
import { seriesOf } from "./series";
import { table } from "./table";
import type { Window } from "./window";

/** Slowdown from which a job is said to be slowed down, as in the sentences of the verdict. */
const NOTABLE = 1.02;
/** Links, and pairs of groups, that are named before a reader chooses something. */
const STANDING_OUT = 3;
/** Jobs that are named for a link at most. */
const MOST_JOBS = 4;

type Fact = [label: string, shown: Child, value?: number];

export class Details {
  readonly element = h("div", { class: "details", "aria-live": "polite" });

  constructor(
    private readonly run: RunData,
    private readonly layout: Layout,
    private readonly paint: Paint,
    private readonly window: Window,
  ) {
    this.show(undefined);
  }

  /** A line for the tip. */
  line(spot: Spot): string {
    const { nodes, routers } = this.run.machine;
    const range = this.window.range;
    const load =
      range && spot.level !== "group" ? seriesOf(this.run)?.loadOf(spot.level, spot.index, range) : undefined;
    const inWindow = load && `busy ${percent(load[0])} on average, ${percent(load[1])} at most in the chosen window`;
    if (spot.level === "node") {
      const whole = `sending ${percent(nodes.number("busy_sending", spot.index))}, receiving ${percent(nodes.number("busy_receiving", spot.index))}`;
      return `node ${nodes.number("id", spot.index)}: ${this.jobName(nodes.number("job", spot.index))}, ${inWindow ?? whole}`;
    }
    if (spot.level === "router") {
      const whole = `busy ${percent(routers.number("busy", spot.index))} on average, ${percent(routers.number("busy_max", spot.index))} at most`;
      return `router ${routers.number("id", spot.index)}${this.role(spot.index)}: links to routers ${inWindow ?? whole}`;
    }
    const jobs = this.paint.jobsOf(spot.index).map(([job, many]) => `${this.jobName(job)} (${count(many)})`);
    const told = jobs.length > 6 ? `${jobs.length} jobs` : jobs.join(", ") || "no job";
    return `${this.word} ${spot.index}: ${told}`;
  }

  show(spot: Spot | undefined): void {
    if (!spot) {
      this.element.replaceChildren(
        ...this.finding(),
        h(
          "p",
          { class: "empty" },
          `Choose a ${this.word}, router or node: click, or focus the machine and use the arrow keys.`,
        ),
      );
    } else if (spot.level === "group") this.group(spot.index);
    else if (spot.level === "router") this.router(spot.index);
    else this.node(spot.index);
  }

  /** What stands out: who suffers, and where the machine is full. */
  private finding(): HTMLElement[] {
    const { hot_links: hot, pairs } = this.run.machine;
    const facts: [string, Child[]][] = [];
    const first = this.run.ranking[0];
    const by = first?.by[0];
    const cause = by ? [", waits most for ", name(by[0]), ` (${percent(by[1])} of its waiting)`] : [];
    if (first && first.slowdown !== null && first.slowdown >= NOTABLE)
      facts.push(["slowed down most", [name(this.jobName(first.job)), ` ${factor(first.slowdown)}`, ...cause]]);
    const waiting = [...this.run.ranking].sort((one, other) => (other.for_others ?? 0) - (one.for_others ?? 0))[0];
    if (waiting?.for_others)
      facts.push([
        "waits most for others",
        [name(this.jobName(waiting.job)), `, ${percent(waiting.for_others)} of the time of its packets`],
      ]);
    const jobsOf = jobsOfLinks(this.run);
    for (let row = 0; row < Math.min(hot.rows, STANDING_OUT); row++) {
      const end = (side: "from" | "to") => `${hot.text(`${side}_kind`, row)} ${hot.number(`${side}_id`, row)}`;
      const jobs = jobsOf?.(hot.number("link", row));
      const told = `${end("from")} to ${end("to")} (${hot.text("class", row)}), busy ${full(busyOf(this.run, hot, row))}`;
      facts.push([row === 0 ? "busiest links" : "", [told, jobs ? `: ${jobs}` : ""]]);
    }
    const rows = pairs.where((row) => pairs.number("bytes", row) > 0);
    rows.sort((one, other) => pairs.number("busy", other) - pairs.number("busy", one));
    rows.slice(0, STANDING_OUT).forEach((row, at) => {
      const ends = `${this.word} ${pairs.number("from_group", row)} to ${pairs.number("to_group", row)}`;
      const loads = `busy ${full(pairs.number("busy", row))} on average, ${full(pairs.number("busy_max", row))} at most`;
      facts.push([at === 0 ? `busiest ${this.word}s` : "", [`${ends}, ${loads}`]]);
    });
    if (facts.length === 0) return [];
    const list = h(
      "dl",
      { class: "finding" },
      ...facts.flatMap(([label, told]) => [h("dt", {}, label), h("dd", {}, ...told)]),
    );
    return [h("h3", {}, "What stands out"), list];
  }

  /** What a group of this machine is called. */
  private get word(): string {
    return this.run.machine.group_name;
  }

  private group(group: number): void {
    const { pairs } = this.run.machine;
    const routers = this.layout.routersOf[group] ?? [];
    const nodes = routers.reduce((sum, router) => sum + this.layout.nodesOf[router]!.length, 0);
    const facts: Fact[] = [
      ["routers", count(routers.length), routers.length],
      ["nodes", count(nodes), nodes],
    ];
    for (const [direction, other] of [
      ["from", "to"],
      ["to", "from"],
    ] as const) {
      const rows = pairs.where((row) => pairs.number(`${direction}_group`, row) === group);
      const sum = rows.reduce((total, row) => total + pairs.number("bytes", row), 0);
      const busiest = rows.sort((a, b) => pairs.number("busy", b) - pairs.number("busy", a))[0];
      const told =
        busiest === undefined
          ? ""
          : `; busiest ${other} ${this.word} ${pairs.number(`${other}_group`, busiest)}, ${percent(pairs.number("busy", busiest))}`;
      facts.push([`bytes ${direction === "from" ? "sent to" : "from"} ${this.word}s`, `${bytes(sum)}${told}`, sum]);
    }
    const traffic = this.run.traffic ? this.window.ofGroup(this.run, group) : undefined;
    const jobs = new Map(this.paint.jobsOf(group));
    const rows = this.run.jobs
      .map((job, index) => ({
        job,
        index,
        nodes: jobs.get(index) ?? 0,
        bytesIn: traffic?.[index]?.bytesIn ?? 0,
        bytesOut: traffic?.[index]?.bytesOut ?? 0,
      }))
      .filter((row) => row.nodes > 0 || row.bytesIn + row.bytesOut > 0);
    const load = traffic
      ? ([
          {
            title: "bytes in",
            value: (row: (typeof rows)[number]) => row.bytesIn,
            show: (row: (typeof rows)[number]) => bytes(row.bytesIn),
          },
          {
            title: "bytes out",
            value: (row: (typeof rows)[number]) => row.bytesOut,
            show: (row: (typeof rows)[number]) => bytes(row.bytesOut),
          },
        ] as const)
      : [];
    this.set(
      `${this.word} ${group}`,
      facts,
      table({
        caption: traffic
          ? `Jobs, and their traffic over global links${this.window.range ? " in the chosen window" : ""}`
          : "Jobs",
        file: `${this.word}-${group}-jobs`,
        rows,
        columns: [
          { title: "job", value: (row) => row.job.name, head: true },
          { title: "nodes", value: (row) => row.nodes, show: (row) => count(row.nodes) },
          ...load,
        ],
        empty: `No job has nodes in this ${this.word}.`,
      }),
    );
  }

  private router(row: number): void {
    const { routers, links } = this.run.machine;
    const id = routers.number("id", row);
    const jobs = new Map<number, number>();
    for (const node of this.layout.nodesOf[row]!) {
      const job = this.run.machine.nodes.number("job", node);
      jobs.set(job, (jobs.get(job) ?? 0) + 1);
    }
    const told = [...jobs].map(([job, many]) => `${this.jobName(job)} (${many})`).join(", ");
    const ports = links.where(
      (link) => links.text("from_kind", link) === "router" && links.number("from_id", link) === id,
    );
    this.set(
      `router ${id}${this.role(row)}`,
      [
        [this.word, count(routers.number("group", row))],
        ["nodes", told || "none"],
        [
          "busy, links to routers",
          `${percent(routers.number("busy", row))} on average, ${percent(routers.number("busy_max", row))} at most`,
          routers.number("busy", row),
        ],
        ["bytes to routers", bytes(routers.number("bytes", row)), routers.number("bytes", row)],
        ["packets waited", time(routers.number("stalled_ps", row)), routers.number("stalled_ps", row)],
      ],
      ...this.overTime("router", row, `router-${id}`),
      linkTable(this.run, `Ports of router ${id}`, `router-${id}-ports`, links, ports),
    );
  }

  private node(row: number): void {
    const { nodes } = this.run.machine;
    const id = nodes.number("id", row);
    const number = (column: string) => nodes.number(column, row);
    this.set(
      `node ${id}`,
      [
        ["job", name(this.jobName(number("job")))],
        ["router", count(number("router")), number("router")],
        [this.word, count(this.layout.groupOf({ level: "node", index: row }))],
        ["sent", `${bytes(number("sent"))}, NIC busy ${percent(number("busy_sending"))}`, number("sent")],
        ["received", `${bytes(number("received"))}, busy ${percent(number("busy_receiving"))}`, number("received")],
        ["packets waited in the NIC", time(number("stalled_ps")), number("stalled_ps")],
      ],
      ...this.overTime("node", row, `node-${id}`),
    );
  }

  /** The links of a router or a node in the chosen window, by job, if the run recorded loads over time. */
  private overTime(level: "router" | "node", row: number, file: string): HTMLElement[] {
    const series = seriesOf(this.run);
    if (!series) return [];
    const { range } = this.window;
    const { links } = this.run.machine;
    const own = series.linksOf(level, row);
    const load = (job: number) => own.reduce((sum, link) => sum + series.busyOf(link, undefined, job), 0);
    const all = series.byJob ? this.run.jobs.map((job, index) => [job.name, index] as const) : [];
    // Of many jobs, those that use these links most.
    const jobs = many(this.run)
      ? all
          .map((job) => ({ job, load: load(job[1]) }))
          .filter((one) => one.load > 0)
          .sort((one, other) => other.load - one.load)
          .slice(0, MOST_JOBS)
          .map((one) => one.job)
      : all;
    const share = (title: string, job?: number) => ({
      title,
      value: (link: number) => series.busyOf(link, range, job),
      show: (link: number) => percent(series.busyOf(link, range, job)),
    });
    return [
      table({
        caption: `Load of its links ${range ? "in the chosen window" : "in the whole run"}`,
        file: `${file}-load`,
        rows: [...own],
        columns: [
          { title: "to", value: (link) => `${links.text("to_kind", link)} ${links.number("to_id", link)}`, head: true },
          share("busy"),
          ...jobs.map(([title, job]) => share(`by ${title}`, job)),
          {
            title: "packets waiting",
            value: (link) => series.queueOf(link, range),
            show: (link) => series.queueOf(link, range).toFixed(2),
            hint: "mean number of packets that wait for the link; not counted in NICs",
          },
        ],
        empty: "No link of this kind works.",
      }),
    ];
  }

  private set(title: string, facts: Fact[], ...more: Child[]): void {
    const list = h("dl", {});
    for (const [label, shown, value] of facts) {
      list.append(h("dt", {}, label), h("dd", { "data-fact": label, "data-value": value }, shown));
    }
    this.element.replaceChildren(h("h3", {}, title), list, ...(more as Node[]));
  }

  private role(row: number): string {
    const { routers, leaves, columns } = this.run.machine;
    const place = routers.number("place", row);
    if (leaves !== null) return place < leaves ? ` (leaf ${place})` : ` (spine ${place - leaves})`;
    return columns === null ? "" : ` (row ${Math.floor(place / columns)}, column ${place % columns})`;
  }

  private jobName(job: number): string {
    return job === NO_JOB ? "no job" : visible(this.run.jobs[job]?.name ?? "");
  }
}

/** A share of the time; what was granted but not sent at the end of a run is more than all of it. */
function full(share: number): string {
  return percent(Math.min(share, 1));
}

/** Share of the run in which a link was busy: its bytes over its bandwidth. */
export function busyOf(run: RunData, links: Table, row: number): number {
  const bandwidth = bandwidthOf(run, links.text("class", row));
  return links.number("bytes", row) / (bandwidth * Math.max(run.sim_time_ps, 1) * 1e-12);
}

/** The jobs that use a link, from its number, with their shares; nothing if the run has not recorded them. */
function jobsOfLinks(run: RunData): ((link: number) => string) | undefined {
  const series = seriesOf(run);
  if (!series?.byJob) return undefined;
  const rowOf = new Map(Array.from(run.machine.links.numbers("link"), (link, row) => [link, row]));
  return (link) => {
    const row = rowOf.get(link);
    if (row === undefined) return "";
    const busy = run.jobs.map((_, job) => series.busyOf(row, undefined, job));
    const whole = busy.reduce((sum, one) => sum + one, 0);
    return busy
      .map((one, job) => ({ share: one / whole, name: visible(run.jobs[job]!.name) }))
      .filter(({ share }) => share > 0)
      .sort((one, other) => other.share - one.share)
      .slice(0, MOST_JOBS)
      .map(({ share, name: job }) => `${job} ${Math.round(100 * share)} %`)
      .join(", ");
  };
}

function bandwidthOf(run: RunData, of: string): number {
  const { classes } = run.machine;
  return classes.number("bandwidth", classes.where((row) => classes.text("class", row) === of)[0] ?? -1);
}

/** Links as a table; of links to and from nodes, also the job of the node. */
export function linkTable(
  run: RunData,
  caption: string,
  file: string,
  links: Table,
  rows: number[],
  jobs = false,
): HTMLElement {
  const end = (side: "from" | "to") => (row: number) =>
    `${links.text(`${side}_kind`, row)} ${links.number(`${side}_id`, row)}`;
  const jobOf = (row: number) => {
    const { nodes } = run.machine;
    const id = links.number(links.text("from_kind", row) === "node" ? "from_id" : "to_id", row);
    const found = nodes.where((node) => nodes.number("id", node) === id)[0];
    const job = found === undefined ? NO_JOB : nodes.number("job", found);
    return job === NO_JOB ? "" : (run.jobs[job]?.name ?? "");
  };
  const number = (title: string, column: string, show: (value: number) => string, hint?: string) => ({
    title,
    key: column,
    value: (row: number) => links.number(column, row),
    show: (row: number) => show(links.number(column, row)),
    hint,
  });
  const shares = jobsOfLinks(run);
  return table({
    caption,
    file,
    rows,
    columns: [
      { title: "from", value: end("from"), head: true },
      number("port", "from_port", count, "port of the router, or NIC of the node"),
      { title: "to", value: end("to") },
      { title: "class", value: (row) => links.text("class", row) },
      {
        title: "busy",
        value: (row) => busyOf(run, links, row),
        show: (row) => percent(busyOf(run, links, row)),
        hint: "bytes over bandwidth and length of the run; beyond 100 % by what was granted but not sent",
      },
      number("bytes", "bytes", bytes),
      number("packets", "packets", count),
      number(
        "waited",
        "stalled_ps",
        time,
        "time in which a packet waited for room in the next buffer, summed over the virtual channels",
      ),
      ...(jobs ? [{ title: "job of the node", value: jobOf }] : []),
      ...(shares
        ? [
            {
              title: "jobs",
              value: (row: number) => shares(links.number("link", row)),
              hint: "share of each job in the time that the link is busy",
            },
          ]
        : []),
    ],
    empty: "No link carried anything.",
  });
}
