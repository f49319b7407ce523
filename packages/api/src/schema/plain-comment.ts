/**
 * Makes plain text of a comment in Envoy's protos, which is written for its documentation (reStructuredText):
 * paragraphs with an empty line between them, names in single backticks, links as their texts. Notes for the makers of
 * the documentation (`[#next-free-field: 6]`) go. Empty if nothing is left.
 */
export function plainComment(comment: string): string {
  const text = comment
    .replaceAll(/\[#(?:[^[\]]|\[[^\]]*\])*\]/g, "")
    .replaceAll(/``([^`]+)``/g, (_, code: string) => `\u0001${code}\u0001`)
    // :ref:`the words <anchor>`, or :ref:`anchor`; and `the words <address>`_.
    .replaceAll(/:[\w-]+:`([^`<]*?)\s*(?:<([^>]*)>)?`/g, (_, words: string, target = "") => words || target)
    .replaceAll(/`([^`<]+?)\s*<[^>]*>`__?/g, "$1")
    .replaceAll(/\*\*([^*\n]+)\*\*/g, "$1")
    .replaceAll("\u0001", "`");
  const paragraphs = text.split(/\n\s*\n/).map(paragraphOf);
  return paragraphs.filter((one) => one !== "").join("\n\n");
}

/** Lines become one, but for lists and examples. */
function paragraphOf(paragraph: string): string {
  const lines = paragraph.split("\n").filter((line) => line.trim() !== "");
  const [first = ""] = lines;
  const directive = /^\s*\.\. ([\w-]+)::\s*(.*)$/.exec(first);
  if (directive !== null) {
    const [, name = "", words = ""] = directive;
    const rest = lines.slice(1).map((line) => line.trim());
    if (name.startsWith("code") || name === "validated-code-block") return example(lines.slice(1));
    return [`${name[0]?.toUpperCase()}${name.slice(1)}:`, words, ...rest].filter((one) => one !== "").join(" ");
  }
  const isExample = lines.length > 0 && lines.every((line) => /^\s/.test(line)) && /[{}:;|]\s*$/m.test(paragraph);
  if (isExample) return example(lines);
  return lines.reduce((before, line) => {
    const next = line.trim();
    if (before === "") return next;
    return isItem(next) ? `${before}\n${next}` : `${before} ${next}`;
  }, "");
}

function isItem(line: string): boolean {
  return /^(?:[*+-]|#\.|\d+[.)])\s/.test(line);
}

/** It keeps its lines, and the spaces before them beyond those that all have. */
function example(lines: readonly string[]): string {
  const margin = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  return lines.map((line) => `  ${line.slice(margin)}`).join("\n");
}
