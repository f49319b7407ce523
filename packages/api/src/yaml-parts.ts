import { NoList, partLength } from "./list-parts.js";
import type { SourceDocument } from "./source-document.js";
import { parseYaml } from "./yaml-source.js";

/**
 * Reads a long YAML list in parts, each a document of its own: the parser needs some fifty times the memory of what it reads, and what outlives the garbage
 * collector's young generation takes time too.
 *
 * It is cut before a line that begins with a dash. Nothing that began before can go on there, in whatever style it is written, so that parts which are lists
 * without a mistake make up the list. Where one is not, or where a part may need what stands in another (an anchor, a directive), it throws `NoList`, and what was read
 * of the parts before does not count.
 */
export function* partsOfYamlList(text: string): Generator<SourceDocument> {
  // A directive holds for what stands behind it, and a part begins without: YAML 1.1 reads words and numbers otherwise.
  if (!beginsWithDash(text) || text.includes("&") || /^%/m.test(text)) throw new NoList();
  for (let from = 0; from < text.length; ) {
    const line = text.indexOf("\n- ", from + partLength);
    const end = line === -1 ? text.length : line + 1;
    yield documentOf(text.slice(from, end), from);
    from = end;
  }
}

/** Whether the first line that says something begins with a dash: of anything else, no part is a list. */
function beginsWithDash(text: string): boolean {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, end === -1 ? text.length : end).trimEnd();
    if (line !== "" && line !== "---" && !line.startsWith("#")) return line.startsWith("-");
    from = end === -1 ? text.length : end + 1;
  }
  return false;
}

function documentOf(part: string, from: number): SourceDocument {
  const { documents, problems } = parseYaml(part, "envoy");
  const [document] = documents;
  if (problems.length > 0 || documents.length !== 1 || !Array.isArray(document?.value)) throw new NoList();
  return {
    value: document.value,
    offset: from + document.offset,
    locate: (steps) => from + document.locate(steps),
  };
}
