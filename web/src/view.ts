// The machine as a drawing that a reader can move through.

import { css, loadColour, themed } from "./colours";
import { button, h } from "./dom";
import type { Layout, Rect, Spot } from "./layout";
import type { Paint } from "./load";

/** Pixels of a node's edge from which nodes are drawn, and of a router's from which routers are. */
const NODE_FROM = 1.6;
const ROUTER_FROM = 3;

export interface ViewOptions {
  label: string;
  /** What a group of the machine is called. */
  word: string;
  layout: Layout;
  paint: Paint;
  /** A line about a spot, for the tip. */
  told: (spot: Spot) => string;
  chosen: (spot: Spot | undefined) => void;
  /** Pairs of groups that are joined by arcs: from, to, share of time busy. */
  arcs: () => [number, number, number][];
}

export class View {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly tip = h("div", { class: "tip", hidden: true });
  private scale = 1;
  private x = 0;
  private y = 0;
  private chosen: Spot | undefined;
  private pointed: Spot | undefined;
  private fitted = false;
  private waiting = false;

  constructor(private readonly options: ViewOptions) {
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": options.label, class: "machine" });
    const bar = h(
      "div",
      { class: "zoom" },
      button("+", () => this.zoom(1.5), { "aria-label": "Zoom in" }),
      button("−", () => this.zoom(1 / 1.5), { "aria-label": "Zoom out" }),
      button("whole", () => this.fit(), { "aria-label": "Show the whole machine" }),
    );
    this.element = h("div", { class: "view" }, this.canvas, bar, this.tip);
    this.listen();
    themed(() => this.paint());
    new ResizeObserver(() => {
      if (!this.fitted) this.fit();
      this.draw();
    }).observe(this.canvas);
  }

  /** Marks a spot and moves to it if it is out of sight. */
  choose(spot: Spot | undefined, tell = true): void {
    this.chosen = spot;
    const rect = spot && this.options.layout.rect(spot);
    if (rect) this.reveal(rect, spot.level);
    if (tell) this.options.chosen(spot);
    this.draw();
  }

  fit(): void {
    const { layout } = this.options;
    const { clientWidth: wide, clientHeight: high } = this.canvas;
    if (wide === 0) return;
    this.fitted = true;
    this.scale = Math.min(wide / layout.wide, high / layout.high);
    this.x = (layout.wide - wide / this.scale) / 2;
    this.y = (layout.high - high / this.scale) / 2;
    this.draw();
  }

  draw(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  private get finest(): Spot["level"] {
    if (this.scale >= NODE_FROM) return "node";
    const router = this.options.layout.routerRects[0];
    return router && router.wide * this.scale >= ROUTER_FROM ? "router" : "group";
  }

  private paint(): void {
    const { clientWidth: wide, clientHeight: high } = this.canvas;
    const pen = this.canvas.getContext("2d");
    if (!pen || wide === 0) return;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(wide * ratio);
    this.canvas.height = Math.round(high * ratio);
    pen.setTransform(
      ratio * this.scale,
      0,
      0,
      ratio * this.scale,
      -this.x * this.scale * ratio,
      -this.y * this.scale * ratio,
    );
    const { layout } = this.options;
    const finest = this.finest;
    layout.groups.forEach((rect, group) => {
      if (rect && this.visible(rect)) this.group(pen, rect, group, finest);
    });
    this.arcs(pen);
    // Names lie on the links.
    layout.groups.forEach((rect, group) => {
      if (rect && this.visible(rect)) this.title(pen, rect, group);
    });
    for (const [spot, colour] of [
      [this.pointed, css("ink")],
      [this.chosen, css("mark")],
    ] as const) {
      const marked = spot && layout.rect(spot);
      if (marked) frame(pen, marked, colour, 2.5 / this.scale);
    }
  }

  private group(pen: CanvasRenderingContext2D, rect: Rect, group: number, finest: Spot["level"]): void {
    const { layout, paint } = this.options;
    const shade = paint.colour({ level: "group", index: group });
    const whole = paint.by === "traffic" || finest === "group";
    pen.fillStyle = (whole ? shade : undefined) ?? css("block");
    pen.fillRect(rect.x, rect.y, rect.wide, rect.high);
    if (finest === "group") {
      if (paint.by === "job") this.shares(pen, rect, group);
      return;
    }
    const quiet = css("router");
    // The rails of a chassis lie on the block of its first router.
    const routers = [...(layout.routersOf[group] ?? [])];
    routers.sort((one, other) => Number(layout.homes[one] !== one) - Number(layout.homes[other] !== other));
    for (const router of routers) {
      const place = layout.routerRects[router]!;
      if (!this.visible(place)) continue;
      const colour = paint.colour({ level: "router", index: router });
      const nodes = layout.nodesOf[router]!;
      if (finest === "router") {
        if (layout.homes[router] !== router && paint.by === "job") continue;
        pen.fillStyle = (nodes.length > 0 || paint.by !== "job" ? colour : undefined) ?? quiet;
        pen.fillRect(place.x, place.y, place.wide, place.high);
        continue;
      }
      if (layout.hasRails && nodes.length > 0) {
        pen.fillStyle = css("nothing");
        pen.fillRect(place.x - 0.15, place.y - 0.15, place.wide + 0.3, place.high + 0.3);
      }
      const strip = layout.strip(router);
      pen.fillStyle = (paint.by === "job" ? undefined : colour) ?? quiet;
      pen.fillRect(strip.x, strip.y, strip.wide, strip.high);
      nodes.forEach((node, at) => {
        const square = layout.node(router, at);
        pen.fillStyle = paint.colour({ level: "node", index: node }) ?? quiet;
        pen.fillRect(square.x, square.y, square.wide, square.high);
      });
    }
  }

  /** A group that is too small for its routers: a stripe for each job, as wide as its share of the nodes. */
  private shares(pen: CanvasRenderingContext2D, rect: Rect, group: number): void {
    const { layout, paint } = this.options;
    const total = (layout.routersOf[group] ?? []).reduce((sum, router) => sum + layout.nodesOf[router]!.length, 0);
    let x = rect.x;
    for (const [job, nodes] of paint.jobsOf(group)) {
      pen.fillStyle = paint.colourOf(job);
      pen.fillRect(x, rect.y, (rect.wide * nodes) / total, rect.high);
      x += (rect.wide * nodes) / total;
    }
  }

  private title(pen: CanvasRenderingContext2D, rect: Rect, group: number): void {
    if (rect.wide * this.scale < 22) return;
    const size = Math.min(13 / this.scale, 2.2);
    if (size * this.scale < 7) return;
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.font = `600 ${size}px system-ui, sans-serif`;
    const text = rect.wide * this.scale > 70 ? `${this.options.word} ${group}` : String(group);
    pen.strokeStyle = css("paper");
    pen.lineWidth = 3 / this.scale;
    pen.lineJoin = "round";
    pen.strokeText(text, rect.x, rect.y - 0.35);
    pen.fillStyle = css("ink");
    pen.fillText(text, rect.x, rect.y - 0.35);
  }

  private arcs(pen: CanvasRenderingContext2D): void {
    const { layout } = this.options;
    for (const [from, to, busy] of this.options.arcs()) {
      const [one, other] = [layout.groups[from], layout.groups[to]];
      if (!one || !other) continue;
      const [ax, ay] = centre(one);
      const [bx, by] = centre(other);
      // Bent to the right of its direction, so that both directions can be seen.
      const [cx, cy] = [(ax + bx) / 2 - (by - ay) * 0.18, (ay + by) / 2 + (bx - ax) * 0.18];
      const width = (0.8 + 2 * Math.min(busy, 1)) / this.scale;
      for (const [colour, thick] of [
        [css("paper"), width + 1.2 / this.scale],
        [arcColour(busy), width],
      ] as const) {
        pen.strokeStyle = colour;
        pen.lineWidth = thick;
        pen.beginPath();
        pen.moveTo(ax, ay);
        pen.quadraticCurveTo(cx, cy, bx, by);
        pen.stroke();
      }
      const angle = Math.atan2(by - cy, bx - cx);
      const size = 5 / this.scale + width;
      pen.fillStyle = arcColour(busy);
      pen.beginPath();
      pen.moveTo(bx, by);
      pen.lineTo(bx - size * Math.cos(angle - 0.4), by - size * Math.sin(angle - 0.4));
      pen.lineTo(bx - size * Math.cos(angle + 0.4), by - size * Math.sin(angle + 0.4));
      pen.fill();
    }
  }

  private visible(rect: Rect): boolean {
    const [right, bottom] = [
      this.x + this.canvas.clientWidth / this.scale,
      this.y + this.canvas.clientHeight / this.scale,
    ];
    return rect.x < right && rect.x + rect.wide > this.x && rect.y < bottom && rect.y + rect.high > this.y;
  }

  private reveal(rect: Rect, level: Spot["level"]): void {
    const least = level === "node" ? 8 : level === "router" ? 4 : 0;
    const { clientWidth: wide, clientHeight: high } = this.canvas;
    if (wide === 0) return;
    const tooSmall = this.scale < least;
    if (tooSmall) this.scale = least;
    const inside =
      rect.x >= this.x &&
      rect.y >= this.y &&
      rect.x + rect.wide <= this.x + wide / this.scale &&
      rect.y + rect.high <= this.y + high / this.scale;
    if (inside && !tooSmall) return;
    const [x, y] = centre(rect);
    this.x = x - wide / this.scale / 2;
    this.y = y - high / this.scale / 2;
  }

  private zoom(factor: number, left = this.canvas.clientWidth / 2, top = this.canvas.clientHeight / 2): void {
    const [x, y] = [this.x + left / this.scale, this.y + top / this.scale];
    this.scale = Math.min(Math.max(this.scale * factor, 0.02), 60);
    this.x = x - left / this.scale;
    this.y = y - top / this.scale;
    this.draw();
  }

  private spot(event: MouseEvent): Spot | undefined {
    const finest = this.options.paint.by === "traffic" ? "group" : this.finest;
    return this.options.layout.at(this.x + event.offsetX / this.scale, this.y + event.offsetY / this.scale, finest);
  }

  private listen(): void {
    const { canvas, tip } = this;
    let from: { x: number; y: number; moved: boolean } | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from) {
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        if (!from.moved && Math.hypot(dx, dy) < 4) return;
        this.x -= dx / this.scale;
        this.y -= dy / this.scale;
        from = { x: event.clientX, y: event.clientY, moved: true };
        this.draw();
        return;
      }
      const spot = this.spot(event);
      tip.hidden = spot === undefined;
      if (spot) {
        tip.textContent = this.options.told(spot);
        const left = Math.min(event.offsetX + 14, canvas.clientWidth - tip.offsetWidth - 4);
        tip.style.left = `${Math.max(left, 4)}px`;
        tip.style.top = `${event.offsetY + 16}px`;
      }
      if (!same(spot, this.pointed)) {
        this.pointed = spot;
        this.draw();
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (from && !from.moved) this.choose(this.spot(event));
      from = undefined;
    });
    canvas.addEventListener("pointerleave", () => {
      tip.hidden = true;
      this.pointed = undefined;
      this.draw();
    });
    // The wheel moves the page unless the machine has the focus.
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (document.activeElement !== canvas && !event.ctrlKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else if (event.key === "0") this.fit();
      else if (event.key === "Escape") this.choose(undefined);
      else if (!this.walk(event.key)) return;
      event.preventDefault();
    });
  }

  /** Arrow keys: to the neighbours, down into a group or router, and up again. */
  private walk(key: string): boolean {
    if (!["ArrowLeft", "ArrowRight", "ArrowDown", "ArrowUp"].includes(key)) return false;
    const { layout } = this.options;
    const here = this.chosen;
    if (!here) {
      this.choose({ level: "group", index: 0 });
      return true;
    }
    const router =
      here.level === "node" ? layout.rowOfRouter.get(layout.machine.nodes.number("router", here.index)) : undefined;
    if (key === "ArrowDown") {
      const inside =
        here.level === "group"
          ? layout.routersOf[here.index]
          : here.level === "router"
            ? layout.nodesOf[here.index]
            : [];
      const first = inside?.[0];
      if (first !== undefined) this.choose({ level: here.level === "group" ? "router" : "node", index: first });
    } else if (key === "ArrowUp") {
      if (here.level === "node" && router !== undefined) this.choose({ level: "router", index: router });
      else if (here.level === "router") this.choose({ level: "group", index: layout.groupOf(here) });
    } else {
      const all =
        here.level === "group"
          ? layout.groups.map((_, group) => group)
          : here.level === "router"
            ? layout.routersOf[layout.groupOf(here)]!
            : layout.nodesOf[router!]!;
      const next = all[all.indexOf(here.index) + (key === "ArrowRight" ? 1 : -1)];
      if (next !== undefined) this.choose({ level: here.level, index: next });
    }
    return true;
  }
}

/** The colour of a link: that of its load, never so near to the paper that a thin line is lost. */
function arcColour(busy: number): string {
  return loadColour(0.3 + 0.7 * Math.min(busy, 1)) ?? css("ink");
}

function centre(rect: Rect): [number, number] {
  return [rect.x + rect.wide / 2, rect.y + rect.high / 2];
}

function frame(pen: CanvasRenderingContext2D, rect: Rect, colour: string, width: number): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.strokeRect(rect.x - width / 2, rect.y - width / 2, rect.wide + width, rect.high + width);
}

function same(one: Spot | undefined, other: Spot | undefined): boolean {
  return one?.level === other?.level && one?.index === other?.index;
}
