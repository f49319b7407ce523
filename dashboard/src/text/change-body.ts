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
  if (/^\s*[[{]/.test(text)) return { body: jsonBody(text), contentType: "application/json", lines: 0, columns: 0 };
  if (/^(upsert|delete):/m.test(text)) return { body: text, contentType: "application/yaml", lines: 0, columns: 0 };
  const documents: string[][] = [[]];
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    if (/^---(\s|$)/.test(line)) documents.push([""]);
    else documents.at(-1)?.push(line);
  }
  const lines = ["upsert:", ...documents.flatMap(asItems)];
  return { body: lines.join("\n"), contentType: "application/yaml", lines: 1, columns: 2 };
}

/** JSON that cannot be read goes out as it is: the API says where it is wrong. */
function jsonBody(text: string): string {
  try {
    const json = JSON.parse(text) as unknown;
    if (Array.isArray(json)) return JSON.stringify({ upsert: json });
    const { upsert, delete: gone, resources } = json as Readonly<Record<string, unknown>>;
    if (upsert !== undefined || gone !== undefined) return text;
    return JSON.stringify({ upsert: Array.isArray(resources) ? resources : [json] });
  } catch {
    return text;
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
