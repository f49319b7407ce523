import type { SourceDocument } from "../text/source-document.js";
import { parseYaml, type YamlBudget, yamlBudget } from "./yaml-source.js";

/** Thrown if the text must be read as a whole. */
export class NoList extends Error {}

/** Parts of a long list end after this many characters: their values are few enough to die young. */
const partLength = 65_536;

/** Whether a text is long enough to be read in parts. */
export function isLong(text: string): boolean {
  return text.length >= partLength;
}

/**
 * Reads a long YAML list in parts, each a separate document. The parser needs some fifty times the memory of its input,
 * and values that outlive the garbage collector's young generation take time too.
 *
 * It is cut before a line that begins with a dash. Nothing that began earlier can continue there in any style, so if
 * all parts are valid lists, together they are the list. If one is not, or if a part may depend on another (an anchor,
 * a directive), it throws `NoList`, and the results of earlier parts are dropped.
 */
export function* partsOfYamlList(text: string): Generator<SourceDocument> {
  // A directive applies to all that follows, but a part would begin without it: YAML 1.1 reads words and numbers
  // differently.
  if (!beginsWithDash(text) || text.includes("&") || /^%/m.test(text)) throw new NoList();
  const budget = yamlBudget(text.length);
  for (let from = 0; from < text.length; ) {
    const line = text.indexOf("\n- ", from + partLength);
    const end = line === -1 ? text.length : line + 1;
    yield documentOf(text.slice(from, end), from, budget);
    from = end;
  }
}

/** Whether the first line with content begins with a dash. Otherwise no part is a list. */
function beginsWithDash(text: string): boolean {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, end === -1 ? text.length : end).trimEnd();
    if (line !== "" && line !== "---" && !line.startsWith("#")) return line.startsWith("-");
    from = end === -1 ? text.length : end + 1;
  }
  return false;
}

function documentOf(part: string, from: number, budget: YamlBudget): SourceDocument {
  const { documents, problems } = parseYaml(part, "envoy", budget);
  const [document] = documents;
  if (problems.length > 0 || documents.length !== 1 || !Array.isArray(document?.value)) throw new NoList();
  return {
    value: document.value,
    offset: from + document.offset,
    locate: (steps) => from + document.locate(steps),
  };
}
