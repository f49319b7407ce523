/** How wide help may be. */
export const helpWidth = 80;

/**
 * Breaks the lines of a help text that are too wide. Paragraphs are filled; the comment of an example goes below its
 * command, and the command goes on in the next line, as a shell reads it.
 */
export function fitHelp(text: string, width: number = helpWidth): string {
  return text
    .split(/(\n{2,})/)
    .map((block) => (block.split("\n").some((line) => line.length > width) ? fitBlock(block, width) : block))
    .join("");
}

/** `  $ xdskit serve      serves ./config` */
const example = /^( {2}\$ .*?\S)(?: {2,}(\S.*))?$/;

function fitBlock(block: string, width: number): string {
  const lines: string[] = [];
  for (const line of block.split("\n")) {
    const before = lines.at(-1);
    const isProse = /^\S/.test(line) && !/:$/.test(before ?? "");
    // Lines of a paragraph that follow each other.
    if (isProse && before !== undefined && /^\S/.test(before)) lines[lines.length - 1] = `${before} ${line}`;
    else lines.push(line);
  }
  // All examples of a list look alike.
  const isWide = lines.some((line) => example.test(line) && line.length > width);
  return lines.flatMap((line) => (isWide || line.length > width ? fitLine(line, width) : [line])).join("\n");
}

function fitLine(line: string, width: number): readonly string[] {
  const [, command, comment] = example.exec(line) ?? [];
  if (command !== undefined) {
    const below = comment === undefined ? [] : filled(comment, width, "      ", "");
    return [...filled(command.trim(), width, "      ", " \\", "  "), ...below];
  }
  // What follows a comment that was too long before, or a term with its meaning.
  const indent = /^ *(?:\S+ {2,})?/.exec(line)?.[0] ?? "";
  if (indent.length > width / 2) return filled(line.trim(), width, "      ", "");
  return filled(line.slice(indent.length), width, " ".repeat(indent.length), "", indent);
}

/** Words in lines; `end` is behind each line but the last. */
function filled(text: string, width: number, indent: string, end: string, first = indent): readonly string[] {
  const lines: string[] = [];
  let line = "";
  // A command is not broken within quotes.
  for (const word of text.match(end === "" ? /\S+/g : /(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? []) {
    const before = lines.length === 0 ? first : indent;
    const longer = line === "" ? `${before}${word}` : `${line} ${word}`;
    if (line !== "" && longer.length + end.length > width) {
      lines.push(`${line}${end}`);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}
