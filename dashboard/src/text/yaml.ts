/** A line of YAML, with the field that it begins. */
export interface YamlLine {
  readonly text: string;
  /** The message that the field is in, as its `@type` says; empty where none does. */
  readonly message: string;
  /** The steps from there, without positions in lists: `["filter_chains", "filters"]`. */
  readonly path: readonly string[];
  /** The whole way from the resource, as errors write it: `endpoints[0].priority`. */
  readonly field: string;
  /** Where its key stands in the text; undefined: it begins no field. */
  readonly key: { readonly from: number; readonly to: number } | undefined;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** JSON as YAML, in the style of the files that people write: two spaces, quotes only where they are needed. */
export function yamlLines(json: unknown): readonly YamlLine[] {
  const lines: YamlLine[] = [];
  if (isScalar(json as Json))
    lines.push({ text: scalar(json as Json), message: "", path: [], field: "", key: undefined });
  else write(json as Json, 0, { message: "", path: [], field: "" }, lines, "");
  return lines;
}

export function yamlText(json: unknown): string {
  return `${yamlLines(json)
    .map(({ text }) => text)
    .join("\n")}\n`;
}

/** Where a line is. */
type Around = Pick<YamlLine, "message" | "path" | "field">;

/** `lead` stands before the first line: the dash of a list's item. */
function write(json: Json, indent: number, around: Around, lines: YamlLine[], lead: string): void {
  let first = lead;
  const begin = (): string => {
    const text = first === "" ? " ".repeat(indent) : first;
    first = "";
    return text;
  };
  if (Array.isArray(json)) {
    for (const [index, item] of json.entries()) {
      const dash = `${begin()}- `;
      const here = { ...around, field: `${around.field}[${index}]` };
      if (isScalar(item)) lines.push({ text: `${dash}${scalar(item)}`, ...here, key: undefined });
      else write(item, indent + 2, here, lines, dash);
    }
    return;
  }
  const inside = { ...around, ...messageOf(json) };
  for (const [name, value] of Object.entries(json as Readonly<Record<string, Json>>)) {
    const start = begin();
    const label = scalar(name);
    const field = around.field === "" ? name : `${around.field}.${name}`;
    const here = { ...inside, path: [...inside.path, name], field };
    const key = { from: start.length, to: start.length + label.length };
    if (isScalar(value)) {
      pushText(`${start}${label}: `, value, indent + 2, here, key, lines);
      continue;
    }
    lines.push({ text: `${start}${label}:`, ...here, key });
    // A list stands below its key without a step to the right, as kubectl writes it.
    write(value, Array.isArray(value) ? indent : indent + 2, here, lines, "");
  }
}

/** The line that begins a field, from 0; -1: there is none. Keys of maps stand in brackets (`metadata[some.key]`). */
export function lineOfField(lines: readonly YamlLine[], field: string): number {
  const plain = (text: string) => text.replaceAll(/\[(?!\d+\])([^\]]*)\]/g, ".$1");
  return lines.findIndex((line) => line.field === plain(field));
}

function messageOf(json: Json): Pick<YamlLine, "message" | "path"> | undefined {
  const type = (json as Readonly<Record<string, Json>>)["@type"];
  return typeof type === "string" ? { message: type.slice(type.lastIndexOf("/") + 1), path: [] } : undefined;
}

function pushText(
  start: string,
  value: Json,
  indent: number,
  around: Around,
  key: YamlLine["key"],
  lines: YamlLine[],
): void {
  if (!isBlock(value)) {
    lines.push({ text: `${start}${scalar(value)}`, ...around, key });
    return;
  }
  const ends = value.endsWith("\n");
  lines.push({ text: `${start}|${ends ? "" : "-"}`, ...around, key });
  const body = ends ? value.slice(0, -1) : value;
  for (const line of body.split("\n")) lines.push({ text: `${" ".repeat(indent)}${line}`, ...around, key: undefined });
}

/** Whether it reads better on lines of its own, where all of it can stand there. */
function isBlock(value: Json): value is string {
  if (typeof value !== "string" || !value.includes("\n")) return false;
  return !/^\s|\n\n$|[^\n\x20-\x7e\u00a0-\uffff]/.test(value);
}

function isScalar(json: Json): boolean {
  if (json === null || typeof json !== "object") return true;
  return Object.keys(json).length === 0;
}

function scalar(value: Json): string {
  if (typeof value === "string") return isPlain(value) ? value : JSON.stringify(value);
  return JSON.stringify(value);
}

/** Whether YAML reads it as this very text. */
function isPlain(text: string): boolean {
  // A duration: `0.25s`.
  if (/^\d+(\.\d+)?s$/.test(text)) return true;
  if (!/^[A-Za-z_./][\w./ :@*-]*$/.test(text) || /: |:$| #|\s$/.test(text)) return false;
  return !/^(true|false|null|yes|no|on|off|y|n|~|\.inf|\.nan)$/i.test(text);
}
