// Elements. All that comes from a run becomes text, never markup.

export type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);

/** An element with attributes (`on...` are listeners) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  decorate(element, attributes, children);
  return element;
}

// The name of the namespace looks like an address, of which a report has none.
const SVG = ["ht", "tp:/", "/www.w3.", "org/2000/svg"].join("");

/** An element of a drawing. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  decorate(element, attributes, children);
  return element;
}

function decorate(element: Element, attributes: Record<string, Value>, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  }
}

/** Text of a user in a run of other text: its direction does not reach beyond it. */
export function name(text: string): HTMLElement {
  return h("bdi", {}, visible(text));
}

/** Control characters and marks of direction as escapes, so that they can be seen and do nothing. */
export function visible(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be shown
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A sentence; what stands in backticks is a name, and is set as one. */
export function prose(text: string): Child[] {
  return visible(text)
    .split("`")
    .map((part, index) => (index % 2 === 1 ? h("bdi", { class: "quoted" }, part) : part));
}

/** A button that a reader can press. */
export function button(text: string, pressed: () => void, attributes: Record<string, Value> = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick: pressed, ...attributes }, text);
}

/** A choice with a label; calls `chosen` with the value. */
export function choice(
  label: string,
  options: [value: string, text: string][],
  chosen: (value: string) => void,
  value?: string,
): HTMLLabelElement {
  const select = h(
    "select",
    { "aria-label": label, onchange: () => chosen(select.value) },
    ...options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return h("label", {}, `${label} `, select);
}

let count = 0;

/** A section with a heading that links in the page can name. */
export function section(title: string, ...children: Child[]): HTMLElement {
  const id = `section-${title
    .toLowerCase()
    .replace(/[^a-z]+/g, "-")
    .replace(/-$/, "")}`;
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

/** A figure with a caption that names it. */
export function figure(caption: string, ...children: Child[]): HTMLElement {
  const id = `figure-${count++}`;
  return h("figure", { "aria-labelledby": id }, h("figcaption", { id }, caption), ...children);
}
