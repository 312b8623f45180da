// Reads the data of a report (python/odonata/report/payload.py describes the format).

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

type Kind = "u8" | "u16" | "u32" | "f64";
type Header = [kind: Kind, offset: number, texts?: string[]];

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

/** Named columns of one length. */
export class Table {
  constructor(
    readonly rows: number,
    private readonly columns: ReadonlyMap<string, { numbers: Numbers; texts: string[] | undefined }>,
  ) {}

  get names(): string[] {
    return [...this.columns.keys()];
  }

  /** The numbers of a column; those of texts are places in the list of texts. */
  numbers(name: string): Numbers {
    const column = this.columns.get(name);
    if (!column) throw new Error(`no column ${name}`);
    return column.numbers;
  }

  number(name: string, row: number): number {
    return this.numbers(name)[row] ?? Number.NaN;
  }

  text(name: string, row: number): string {
    const column = this.columns.get(name);
    return column?.texts?.[column.numbers[row] ?? -1] ?? "";
  }

  /** A value as it is written to a file: a text, a number, or nothing. */
  value(name: string, row: number): string | number | null {
    const column = this.columns.get(name);
    if (column?.texts) return this.text(name, row);
    const number = this.number(name, row);
    return Number.isNaN(number) ? null : number;
  }

  /** The numbers of the rows for which `test` holds. */
  where(test: (row: number) => boolean): number[] {
    const found: number[] = [];
    for (let row = 0; row < this.rows; row++) if (test(row)) found.push(row);
    return found;
  }
}

/** The document in the element `data` of the page. */
export async function unpack(base64: string): Promise<unknown> {
  const text = atob(base64.trim());
  // Uint8Array.from would take ten times as long.
  const packed = new Uint8Array(text.length);
  for (let at = 0; at < packed.length; at++) packed[at] = text.charCodeAt(at);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return restored(header, bytes.subarray(4 + length));
}

function restored(value: unknown, body: Uint8Array): unknown {
  if (Array.isArray(value)) return value.map((inner) => restored(inner, body));
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string, unknown>;
  if ("$columns" in object) return table(object as { $rows: number; $columns: Record<string, Header> }, body);
  return Object.fromEntries(Object.entries(object).map(([key, inner]) => [key, restored(inner, body)]));
}

function table(told: { $rows: number; $columns: Record<string, Header> }, body: Uint8Array): Table {
  const columns = Object.entries(told.$columns).map(
    ([name, [kind, offset, texts]]) => [name, { numbers: column(kind, offset, told.$rows, body), texts }] as const,
  );
  return new Table(told.$rows, new Map(columns));
}

function column(kind: Kind, offset: number, rows: number, body: Uint8Array): Numbers {
  const type = KINDS[kind];
  const size = type.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(rows * size);
  for (let byte = 0; byte < size; byte++) {
    const from = offset + byte * rows;
    for (let row = 0; row < rows; row++) bytes[row * size + byte] = body[from + row] ?? 0;
  }
  return new type(bytes.buffer);
}
