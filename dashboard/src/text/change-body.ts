/** A change as it is sent, and how to find its places in what was typed. */
export interface ChangeBody {
  readonly body: string;
  readonly contentType: "application/json" | "application/yaml";
  /** How many lines and columns the body has before what was typed. */
  readonly lines: number;
  readonly columns: number;
}

/**
 * Makes the body of a change from what people paste: a change (`upsert`, `delete`), resources in YAML as in files, one
 * or several with `---` between them, as a list or below `resources:`, or JSON. Each line stays on a line of its own,
 * so that errors have their place.
 */
export function changeBody(text: string): ChangeBody {
  if (/^(upsert|delete):/m.test(text)) return { body: text, contentType: "application/yaml", lines: 0, columns: 0 };
  const documents: string[][] = [[]];
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    if (/^---(\s|$)/.test(line)) documents.push([""]);
    else documents.at(-1)?.push(line);
  }
  const isJson = (lines: readonly string[]) => /^\s*[[{]/.test(lines.join("\n"));
  const given = documents.filter((lines) => lines.some((line) => line.trim() !== ""));
  if (given.length > 0 && given.every(isJson)) return jsonBody(text, documents);
  const lines = ["upsert:", ...documents.flatMap((one) => (isJson(one) ? jsonItems(one) : asItems(one)))];
  return { body: lines.join("\n"), contentType: "application/yaml", lines: 1, columns: 2 };
}

/** JSON that cannot be read goes out as it is: the API says where it is wrong. */
function jsonBody(text: string, documents: readonly (readonly string[])[]): ChangeBody {
  const asItIs: ChangeBody = { body: text, contentType: "application/json", lines: 0, columns: 0 };
  const lines = ['{"upsert":['];
  let hasItems = false;
  try {
    for (const own of documents) {
      const joined = own.join("\n");
      if (joined.trim() === "") {
        lines.push(...own);
        continue;
      }
      const json = JSON.parse(joined) as unknown;
      if (isChange(json)) return asItIs;
      // As text, so that each line stays where it is. What stands below `resources` moves.
      const inside = Array.isArray(json) ? joined.replace(/^\s*\[/, keepLines).replace(/\]\s*$/, keepLines) : joined;
      const items = itemsOf(json);
      const body = hasResources(json) ? items.map((item) => JSON.stringify(item)).join(",") : inside;
      const padded = [...body.split("\n"), ...Array<string>(own.length).fill("")].slice(0, own.length);
      if (items.length > 0 && hasItems) padded[0] = `,${padded[0] ?? ""}`;
      hasItems ||= items.length > 0;
      lines.push(...padded);
    }
  } catch {
    return asItIs;
  }
  return { body: [...lines, "]}"].join("\n"), contentType: "application/json", lines: 1, columns: 0 };
}

/** The same without what is not a line break. */
function keepLines(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}

function isChange(json: unknown): boolean {
  const { upsert, delete: gone } = (json ?? {}) as Readonly<Record<string, unknown>>;
  return !Array.isArray(json) && (upsert !== undefined || gone !== undefined);
}

function hasResources(json: unknown): boolean {
  return Array.isArray((json as Readonly<Record<string, unknown>> | null)?.resources);
}

function itemsOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json;
  return hasResources(json) ? (json as { readonly resources: readonly unknown[] }).resources : [json];
}

/** A document in JSON among others in YAML, which reads JSON as well. */
function jsonItems(lines: readonly string[]): readonly string[] {
  try {
    const json = JSON.parse(lines.join("\n")) as unknown;
    if (!Array.isArray(json) && !hasResources(json)) return asItems(lines.map((line) => line.replaceAll("\t", "  ")));
    const items = itemsOf(json).map((item) => `- ${JSON.stringify(item)}`);
    return [...items, ...Array<string>(Math.max(0, lines.length - items.length)).fill("")];
  } catch {
    return asItems(lines);
  }
}

/** The lines of a document as items of a list. */
function asItems(lines: readonly string[]): readonly string[] {
  const isContent = (line: string) => line.trim() !== "" && !line.trimStart().startsWith("#");
  const first = lines.findIndex(isContent);
  const begins = lines[first];
  if (begins === undefined) return lines.map(() => "");
  if (/^resources:\s*$/.test(begins)) return lines.map((line, index) => (index === first ? "" : `  ${line}`));
  if (begins.startsWith("- ")) return lines.map((line) => `  ${line}`);
  return lines.map((line, index) => (index < first ? "" : `${index === first ? "- " : "  "}${line}`));
}
